"""From a question to the messages that are sent: sections, each within its cap.

Lengths are characters. A section over its cap drops whole lines, the last ones unless its rule
says otherwise, and adds "(k more)". The sum of all caps, and of what three re-asks can add, is
MAX_PROMPT for any number of agents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from cognitive.errors import ConfigError, PromptTooLong
from cognitive.memory import render
from cognitive.messages import KINDS, LOW
from cognitive.parsing import Finding, shown_back, without_thinking
from cognitive.plans import NO_PLAN_TASK
from cognitive.prompts.shapes import example_of, shape_of
from cognitive.prompts.templates import FOLDER, Template, load_template, topology_sentences
from cognitive.prompts.words import (
    body_text,
    call_text,
    clipped,
    digest,
    fit,
    outline,
    quoted,
    ranges,
    some,
    verb_line,
)
from cognitive.protocols import Question
from worlds.api import AgentView, Json, VerbSpec

__all__ = [
    "CAPS",
    "MAX_OUTPUT",
    "MAX_PROMPT",
    "SECTIONS",
    "SHORT_CAPS",
    "PromptBuilder",
    "prompt_hash",
    "prompt_length",
]

CAPS: Mapping[str, int] = {
    "role": 400,
    "header": 240,
    "manual": 6000,
    "verbs": 1600,
    "reply_rules": 1600,
    "orders": 600,
    "view": 6000,
    "last_outcome": 800,
    "own_plan": 600,
    "memory": 2000,
    "team": 3000,
    "messages": 3000,
    "repair": 3000,
    "question": 400,
}
"""Most characters of each section, heading included."""

SHORT_CAPS: Mapping[str, int] = {
    **CAPS,
    "manual": 1500,
    "verbs": 900,
    "orders": 400,
    "view": 1000,
    "last_outcome": 300,
    "own_plan": 400,
    "memory": 300,
    "team": 400,
    "messages": 500,
    "repair": 900,
}
"""The same for small models, whose thinking takes minutes on full prompts."""

ASK_CAPS: Mapping[str, int] = {"rules": 10000, "view": 12000, "question": 3000}
"""The same for the questions of dialogue worlds."""

REPLY_SHOWN, FINDINGS_SHOWN, RE_ASKS = 2000, 1200, 3
MAX_PROMPT = sum(CAPS.values()) + RE_ASKS * (REPLY_SHOWN + FINDINGS_SHOWN)

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "plan": ("header", "orders", "view", "last_outcome", "memory", "team", "messages"),
    "interrupt": (
        "header", "orders", "view", "last_outcome", "own_plan", "memory", "team", "messages",
    ),
    "directive": ("header", "view", "last_outcome", "own_plan", "memory", "team", "messages"),
    "acknowledge": ("header", "orders", "view", "last_outcome", "own_plan", "messages"),
    "statement": ("header", "view", "last_outcome", "memory", "team", "messages"),
    "repair_intention": ("header", "view", "last_outcome", "own_plan", "repair", "messages"),
    "repair_revision": (
        "header", "orders", "view", "last_outcome", "own_plan", "team", "repair", "messages",
    ),
}  # fmt: skip
"""Sections of the user's message of each kind, beside the question."""

MAX_OUTPUT: Mapping[str, int] = {
    "plan": 1024,
    "interrupt": 1024,
    "directive": 2048,
    "acknowledge": 256,
    "statement": 512,
    "repair_intention": 256,
    "repair_revision": 1024,
}
"""Most tokens of a reply of each kind."""

_FACTS: Mapping[str, frozenset[str]] = {
    "plan": frozenset({"max_actions", "tasks"}),
    "interrupt": frozenset({"max_actions", "tasks"}),
    "directive": frozenset({"tasks"}),
    "statement": frozenset({"tasks"}),
    "repair_revision": frozenset({"max_actions", "tasks"}),
}
_MORE = 20
_NAMES = 120
"""Most characters of the agents, or cells, that are named in one line of orders."""
TASK_NAMES = 100
"""Most characters of the tasks that are named as examples in a question."""
_SECTION_NAMES: Mapping[str, frozenset[str]] = {
    "role": frozenset({"name", "agents", "topology", "place", "leader"}),
    "participant": frozenset(),
    "reply_rules": frozenset({"shape", "example"}),
    "header": frozenset({"name", "kind", "step", "stage", "left"}),
    "orders": frozenset({"sender", "text"}),
}
_TEXT = frozenset({"text"})
_SYSTEM = frozenset({"manual", "verbs", "role", "reply_rules"})
_ASK = frozenset({"rules", "view", "question"})
_STAGES = {"R": "you have no plan", "I": "you were interrupted", "W": "waiting", "X": "executing"}
_UNITS = {
    "steps": "{} steps",
    "ms": "{} ms of the team's time",
    "agent_ms": "{} ms of your own time",
}


def prompt_length(messages: tuple[Json, ...]) -> int:
    """Characters of all contents together."""
    return sum(len(message["content"]) for message in messages)


def prompt_hash(messages: tuple[Json, ...]) -> str:
    """First 16 hex digits of the SHA-256 of the canonical messages."""
    text = json.dumps(messages, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:16]


class PromptBuilder:
    """Fills the templates of a folder. Raises ConfigError if one of them is not as it must be.

    manual: of the world; "" for dialogue worlds, whose rules come with each question. caps: most
    characters of each section.
    """

    def __init__(
        self,
        manual: str = "",
        max_actions: int = 8,
        folder: Path = FOLDER,
        caps: Mapping[str, int] = CAPS,
    ) -> None:
        self._caps = caps
        self._folder = folder
        self._manual = manual
        self._max_actions = max_actions
        self._system = load_template("system", _SYSTEM, folder)
        self._kinds = {kind: _kind_template(kind, folder) for kind in SECTIONS}
        self._ask = load_template("ask", _ASK, folder)
        names = {name for names in SECTIONS.values() for name in names} | _SYSTEM
        self._sections = {name: _section(name, folder) for name in sorted(names)}
        self._participant = _section("participant", folder)
        self._rules = _section("rules", folder)
        self._topologies = topology_sentences(folder)

    def short(self) -> PromptBuilder:
        """The same with prompts for small models."""
        return PromptBuilder(self._manual, self._max_actions, self._folder, SHORT_CAPS)

    def messages(self, question: Question) -> tuple[Json, ...]:
        """The messages of a question. Raises PromptTooLong past MAX_PROMPT."""
        kind = question.ask.kind
        if kind in SECTIONS and question.view is not None:
            system, user = self._embodied(question, question.view)
        else:
            system, user = self._asked(question)
        messages = [_message("system", system), _message("user", user)]
        for entry in question.tries:
            messages += _tried(entry)
        length = prompt_length(tuple(messages))
        if length > MAX_PROMPT:
            raise PromptTooLong(f"{length} characters; a prompt has at most {MAX_PROMPT}")
        return tuple(messages)

    # --- agents of an embodied world --------------------------------------------------------

    def _embodied(self, question: Question, view: AgentView) -> tuple[str, str]:
        kind = question.ask.kind
        system = self._system.lay_out(
            {
                "manual": self._capped("manual", self._manual.splitlines()),
                "verbs": self._verbs(view.verbs),
                "role": self._role(question),
                "reply_rules": self._reply_rules(question, view),
            }
        )
        values = {name: _BODIES[name](self, question, view) for name in SECTIONS[kind]}
        names_tasks = "tasks" in _FACTS.get(kind, ())
        tasks = _task_names(view) if names_tasks else ""
        facts = {"max_actions": str(self._max_actions), "tasks": tasks}
        return system, self._kinds[kind].lay_out(values | facts)

    def _verbs(self, verbs: tuple[VerbSpec, ...]) -> str:
        """The verb table; explained where the manual is silent and there is room for it."""
        lines = [verb_line(verb) for verb in verbs]
        room = self._caps["verbs"] - self._sections["verbs"].length
        is_told = all(verb.name in self._manual for verb in verbs)
        if is_told or len("\n".join(lines)) > room:
            lines = [verb_line(verb, is_explained=False) for verb in verbs]
        return self._capped("verbs", lines)

    def _capped(self, name: str, lines: list[str], **more: str) -> str:
        """A section with as many of the lines as its cap allows; "" without lines."""
        template = self._sections[name]
        if not lines:
            return ""
        room = self._caps[name] - template.length - sum(map(len, more.values()))
        return template.fill({"text": fit(lines, room), **more})

    def _role(self, question: Question) -> str:
        memory, context = question.memory, question.ask.context
        filled = self._sections["role"].fill(
            {
                "name": f"agent_{memory['agent']}",
                "agents": str(memory["agents"]),
                "topology": self._topologies.get(memory["topology"] or "", ""),
                "place": _place_text(context),
                "leader": _leader_text(memory, context),
            }
        )
        tidy = "\n".join(" ".join(line.split()) for line in filled.splitlines())
        return fit(tidy.splitlines(), self._caps["role"])

    def _reply_rules(self, question: Question, view: AgentView | None) -> str:
        schema = question.ask.schema
        if schema is None:
            raise ConfigError(f"question {question.scope} has no reply schema")
        ask = question.ask
        worker = next(iter(ask.context.get("workers", ())), 1)
        example = None if view is None else example_of(ask.kind, view.verbs, worker)
        shown = json.dumps(example, ensure_ascii=False)
        filled = self._sections["reply_rules"].fill(
            {"shape": shape_of(schema), "example": "" if example is None else f"Example: {shown}"}
        )
        return fit(filled.strip().splitlines(), self._caps["reply_rules"])

    def _header(self, question: Question, view: AgentView) -> str:
        memory = question.memory
        left = memory["left"]
        parts = [
            form.format(left[name]) for name, form in _UNITS.items() if left.get(name) is not None
        ]
        filled = self._sections["header"].fill(
            {
                "name": f"agent_{memory['agent']}",
                "kind": question.ask.kind,
                "step": str(memory["step"]),
                "stage": _STAGES[memory["stage"]],
                "left": ", ".join(parts) or "no limit",
            }
        )
        return fit(filled.splitlines(), self._caps["header"])

    def _view(self, question: Question, view: AgentView) -> str:
        room = self._caps["view"] - self._sections["view"].length
        return self._capped("view", view.describe(room).splitlines())

    def _orders(self, question: Question, view: AgentView) -> str:
        orders = question.orders
        if not orders:
            return ""
        agent = question.ask.agent
        lines = _order_lines(orders["assignments"], agent)
        sender = "yourself" if orders["sender"] == agent else f"agent_{orders['sender']}"
        return self._capped("orders", lines, sender=f"{sender}, step {orders['step']}")

    def _last_outcome(self, question: Question, view: AgentView) -> str:
        last = question.memory["last"]
        return self._capped("last_outcome", [last["text"]] if last else [])

    def _own_plan(self, question: Question, view: AgentView) -> str:
        plan = question.memory["own_plan"]
        if plan is None:
            return ""
        aim = "no task" if plan["task"] == NO_PLAN_TASK else f"for {plan['task']}"
        lines = [f"Plan {plan['plan']}, {aim}:"]
        for place, action in enumerate(plan["actions"]):
            state = "done" if place < plan["index"] else "to do"
            state = "now" if place == plan["index"] else state
            lines.append(f"{place + 1}. {call_text(action)} ({state})")
        return self._capped("own_plan", lines)

    def _memory(self, question: Question, view: AgentView) -> str:
        room = self._caps["memory"] - self._sections["memory"].length
        new = _new(question)
        events = [
            entry
            for entry in question.memory["events"]
            if entry["kind"] != "message_read" or entry["message"]["id"] not in new
        ]
        return self._capped("memory", render(events, room).splitlines())

    def _team(self, question: Question, view: AgentView) -> str:
        """What is new stands under messages, and nowhere else."""
        step, new = question.memory["step"], _new(question)
        team = question.memory["team"].items()
        entries = [entry for entry in team if entry[1]["message"] not in new]
        entries.sort(key=lambda entry: (-entry[1]["step"], int(entry[0])))
        lines = (_team_line(int(agent), entry, step) for agent, entry in entries)
        return self._counted("team", lines, [entry["task"] for _, entry in entries])

    def _messages(self, question: Question, view: AgentView) -> str:
        """Urgent ones first, then the newest; plain consent is counted in one line."""
        read = sorted(question.messages or (), key=lambda m: (-KINDS.get(m["kind"], LOW), -m["id"]))
        told = [message for message in read if not _is_consent(message)]
        consents = [message for message in read if _is_consent(message)]
        shown = question.orders if "orders" in SECTIONS[question.ask.kind] else None
        lines = [
            *(_message_line(message, question.ask.agent, shown) for message in told),
            *_consent_lines(consents),
        ]
        tasks = [(m["body"] or {}).get("task") or "other matters" for m in told]
        tasks += ["other matters"] * (len(lines) - len(told))
        return self._counted("messages", iter(lines), tasks)

    def _repair(self, question: Question, view: AgentView) -> str:
        """What is new of what members said stands under messages."""
        new = {(m["sender"], m["text"]) for m in question.messages or ()}
        return self._capped("repair", _repair_lines(question.ask.context, new))

    def _counted(self, name: str, lines: Iterator[str], tasks: list[str]) -> str:
        """The first lines that fit, and a line that counts the rest by task.

        tasks: one for each line; lines are made only as far as they can be shown.
        """
        room = self._caps[name] - self._sections[name].length
        shown: list[str] = []
        used = -1
        for line in lines:
            shown.append(line)
            used += len(line) + 1
            if used > room:
                break
        if used <= room:
            return self._capped(name, shown)
        while True:
            shown.pop()
            rest = clipped(digest(tasks[len(shown) :]), room // 2)
            text = "\n".join([*shown, rest])
            if len(text) <= room:
                return self._sections[name].fill({"text": text})

    # --- participants of a dialogue world ---------------------------------------------------

    def _asked(self, question: Question) -> tuple[str, str]:
        context = question.ask.context
        missing = [name for name in sorted(_ASK) if name not in context]
        if missing:
            raise ConfigError(f"question {question.scope}: context without {', '.join(missing)}")
        system = self._system.lay_out(
            {
                "manual": "",
                "verbs": "",
                "role": self._participant.fill({}),
                "reply_rules": self._reply_rules(question, None),
            }
        )
        texts = {name: outline(context[name]) for name in _ASK}
        parts = {n: fit(texts[n].splitlines(), ASK_CAPS[n]) for n in _ASK if texts[n].strip()}
        values = {
            "rules": self._rules.fill({"text": parts["rules"]}) if "rules" in parts else "",
            "view": self._sections["view"].fill({"text": parts["view"]}) if "view" in parts else "",
            "question": parts.get("question", ""),
        }
        return system, self._ask.lay_out(values)


_BODIES: Mapping[str, Callable[[PromptBuilder, Question, AgentView], str]] = {
    "header": PromptBuilder._header,
    "orders": PromptBuilder._orders,
    "view": PromptBuilder._view,
    "last_outcome": PromptBuilder._last_outcome,
    "own_plan": PromptBuilder._own_plan,
    "memory": PromptBuilder._memory,
    "team": PromptBuilder._team,
    "messages": PromptBuilder._messages,
    "repair": PromptBuilder._repair,
}


# --- lines ---------------------------------------------------------------------------------------


def _new(question: Question) -> set[int]:
    """The messages that are read with this question."""
    return {message["id"] for message in question.messages or ()}


def _task_names(view: AgentView) -> str:
    """Some of the tasks the agent knows, so that it sees how they are named."""
    names = ["none", *(task.id for task in view.known())]
    kept = 1
    while kept < len(names) and len(", ".join(names[: kept + 1])) <= TASK_NAMES:
        kept += 1
    more = f" and {len(names) - kept} more" if kept < len(names) else ""
    return f"{', '.join(names[:kept])}{more}"


def _leader_text(memory: Json, context: Mapping[str, Json]) -> str:
    """Who leads, and who is next above in a tree of leaders."""
    leader, above = memory["leader"], context.get("leader")
    if leader is None:
        return ""
    if leader == memory["agent"]:
        return "You lead."
    if above is None or above == leader:
        return f"agent_{leader} leads."
    return f"agent_{leader} leads; your orders come from agent_{above}."


def _place_text(context: Mapping[str, Json]) -> str:
    """Where an agent stands in the round, or whom it leads."""
    if "workers" in context:
        return f"You give orders to {ranges(context['workers'])}."
    if "place" in context and "of" in context:
        return f"You are number {context['place']} of {context['of']} in this round."
    return ""


def _team_line(agent: int, entry: Json, step: int) -> str:
    age = step - entry["step"]
    when = f"{age} step{'s' if age > 1 else ''} ago" if age else "now"
    said = {"task": entry["task"], "actions": entry["actions"], "note": entry["note"]}
    told = body_text({**(entry["sheet"] or {}), **said})
    return f"agent_{agent} ({entry['kind']}, {when}): {told}"


def _is_consent(message: Json) -> bool:
    """Whether a message says no more than that orders were accepted."""
    return bool(message["kind"] == "ack" and not message["text"])


def _consent_lines(messages: list[Json]) -> Iterator[str]:
    for step in sorted({message["step"] for message in messages}, reverse=True):
        agents = sorted({message["sender"] for message in messages if message["step"] == step})
        yield f"{ranges(agents)} ack (step {step}): accepted"


def _message_line(message: Json, reader: int, orders: Json) -> str:
    """One line of a message; `orders` are those that the reader is shown in a section."""
    sender = "system" if message["sender"] < 0 else f"agent_{message['sender']}"
    text = quoted(message["text"]) if message["text"] else ""
    said = "; ".join(part for part in (text, _message_body(message, reader, orders)) if part)
    return f"{sender} {message['kind']} (step {message['step']}): {said}"


def _message_body(message: Json, reader: int, orders: Json) -> str:
    body = message["body"]
    if message["kind"] != "directive" or not body:
        return body_text(body)
    is_shown = orders is not None and (
        orders["sender"], orders["assignments"],
    ) == (message["sender"], body["assignments"])  # fmt: skip
    return "see orders" if is_shown else "; ".join(_own_orders(body["assignments"], reader))


def _order_lines(assignments: list[Json], agent: int) -> list[str]:
    """What `agent` is to do, then what the others are; equal orders are drawn together."""
    groups: dict[str, list[int]] = {}
    for assignment in assignments:
        if agent not in assignment["agents"]:
            told = _assignment_text(assignment, assignment["cells"])
            groups.setdefault(told, []).extend(assignment["agents"])
    others = [f"{ranges(sorted(agents), _NAMES)}: {told}" for told, agents in groups.items()]
    return [*_own_orders(assignments, agent), *others]


def _own_orders(assignments: list[Json], agent: int) -> list[str]:
    lines = []
    for assignment in assignments:
        agents, cells = assignment["agents"], assignment["cells"]
        if agent in agents:
            told = _assignment_text(assignment, cells and [cells[agents.index(agent)]])
            others = sorted(other for other in agents if other != agent)
            partners = f" (with {ranges(others, _NAMES)})" if others else ""
            lines.append(f"You{partners}: {told}")
    return lines or ["You: plan as you like."]


def _assignment_text(assignment: Json, cells: list[Json]) -> str:
    parts = [f"task {quoted(assignment['task'])}, role {quoted(assignment['role'])}"]
    if cells:
        named = some([(f"[{row},{column}]", 1) for row, column in cells], _NAMES)
        parts.append(f"{'cell' if len(cells) == 1 else 'cells'} {named}")
    if assignment["by_step"] is not None:
        parts.append(f"by step {assignment['by_step']}")
    if assignment["instruction"]:
        parts.append(quoted(assignment["instruction"]))
    return ", ".join(parts)


def _repair_lines(context: Mapping[str, Json], new: set[tuple[int, str]]) -> list[str]:
    need = context["need"]
    lines = [
        f"Predicted to fail: {context['task']}, which needs {need} agent{'s' if need > 1 else ''}; "
        f"cause: {context['cause']}. In this channel: {', '.join(context['members'])}."
    ]
    lines += [f"- {line}" for line in context["failing"]]
    if context["still_failing"]:
        lines.append(f"The last proposals still fail at: {', '.join(context['still_failing'])}")
    lines += [line for line in context["guidance"].splitlines() if line]
    lines += [
        f"agent_{speaker} said {quoted(text)}"
        for speaker, text in context["statements"]
        if (speaker, text) not in new
    ]
    lines += [f"Foreseen: {line}" for line in context["evidence"]]
    lines += [f"Plan of {line}" for line in context["plans"]]
    return lines


def _tried(entry: Json) -> list[Json]:
    reply = entry["reply"]
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False, default=str)
    findings = tuple(Finding(found["code"], found["text"]) for found in entry["findings"])
    shown = clipped(without_thinking(text).strip(), REPLY_SHOWN) or "(empty)"
    return [
        _message("assistant", shown),
        _message("user", clipped(shown_back(findings), FINDINGS_SHOWN)),
    ]


def _message(role: str, content: str) -> Json:
    return {"role": role, "content": content}


# --- templates -----------------------------------------------------------------------------------


def _section(name: str, folder: Path) -> Template:
    names = _SECTION_NAMES.get(name, _TEXT)
    template = load_template(f"section_{name}", names, folder)
    if template.length > CAPS.get(name, MAX_PROMPT) // 2:
        raise ConfigError(f"template section_{name}: {template.length} characters leave no room")
    return template


def _kind_template(kind: str, folder: Path) -> Template:
    names = frozenset(SECTIONS[kind]) | _FACTS.get(kind, frozenset())
    template = load_template(kind, names, folder)
    room = CAPS["question"] - (TASK_NAMES + _MORE if "tasks" in names else 0)
    if template.tail_length > room:
        raise ConfigError(
            f"template {kind}: the question has {template.tail_length} characters; at most {room}"
        )
    return template
