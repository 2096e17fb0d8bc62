"""What the members of a channel are told: the forecast, its evidence, and advice."""

from __future__ import annotations

from repair.config import RepairConfig
from repair.constraints import CONSTRAINTS
from repair.forecast import Forecast
from repair.guidance import Advice, Scene
from worlds.api import Action, AgentId, Json, PlanDraft, Task

__all__ = ["contexts", "shown"]

_GUIDANCE_LIMIT = 1200
_OTHERS_SHOWN = 4
_SENTENCES = {
    "synchronise": "Go to your slot, wait for the others, then act together.",
    "recruit": "More hands are needed: go to your slot, wait for the others, then act together.",
    "equip": "Somebody must become able first; then meet at the slots and act together.",
    "switch": "This task cannot be finished now; do {target} together instead.",
    "release": "No team can do this now; let the task go.",
}


def contexts(
    scene: Scene,
    forecast: Forecast,
    task: Task,
    advice: Advice,
    members: tuple[AgentId, ...],
    is_verified: bool,
) -> dict[AgentId, dict[str, Json]]:
    """The inputs of each member's questions; `guidance` and `recommended` only if it is on."""
    shared = {
        "task": task.id,
        "need": task.need,
        "step": scene.t,
        "failing": _failing(forecast, scene.config),
        "cause": forecast.cause or "none",
        "evidence": _evidence(forecast),
        "plans": _plans(scene, forecast, members),
        "members": [f"agent_{agent}" for agent in members],
    }
    told: dict[AgentId, dict[str, Json]] = {}
    for agent in members:
        own = dict(shared)
        if scene.config.guidance:
            own |= advice.as_json(agent, scene.t)
            own["verified"] = is_verified
            own["guidance"] = _guidance(advice, agent, scene.t, is_verified)
        else:
            own |= {"recommended": None, "guidance": ""}
        told[agent] = own
    return told


def shown(draft: PlanDraft) -> str:
    """A plan on one line: `task: verb(a=1), verb(b=2)`."""
    return f"{draft.task}: " + ", ".join(map(_call, draft.actions))


def _call(action: Action) -> str:
    args = ", ".join(
        f"{key}={_value(value)}" for key, value in action.args.items() if value is not None
    )
    return f"{action.verb}({args})"


def _value(value: Json) -> str:
    return f"[{value[0]},{value[1]}]" if isinstance(value, list | tuple) else str(value)


def _failing(forecast: Forecast, config: RepairConfig) -> list[str]:
    if not forecast.support:
        return []
    counts = forecast.counts or forecast.held
    return [
        f"{name}: {count} of {forecast.need} in the best try, "
        f"holds in {held} of {forecast.support} forecasts"
        for name, count, held, tau in zip(
            CONSTRAINTS, counts, forecast.held, config.tau, strict=True
        )
        if held < tau * forecast.support
    ]


def _evidence(forecast: Forecast) -> list[str]:
    lines = []
    for entry in forecast.evidence:
        flags = [
            "in place" if entry.is_in_place else "not in place",
            "trying" if entry.is_trying else "not trying",
            "able" if entry.is_able else "not seen able",
        ]
        where = "" if entry.cell is None else f" at [{entry.cell[0]},{entry.cell[1]}]"
        arrival = "" if entry.arrival is None else f", there from step {entry.arrival}"
        lines.append(f"agent_{entry.agent}{where}: {', '.join(flags)}{arrival}")
    return lines


def _plans(scene: Scene, forecast: Forecast, members: tuple[AgentId, ...]) -> list[str]:
    others = [agent for agent in forecast.agents if agent not in members][:_OTHERS_SHOWN]
    lines = []
    for agent in (*members, *others):
        view = scene.view(agent)
        rest = PlanDraft(view.task, view.actions[view.index :])
        lines.append(f"agent_{agent}: {shown(rest) if rest.actions else 'no plan'}")
    return lines


def _guidance(advice: Advice, agent: AgentId, t: int, is_verified: bool) -> str:
    """Advice as a few lines, at most 1,200 characters."""
    target = advice.target.id if advice.target is not None else "none"
    lines = [_SENTENCES[advice.strategy].format(target=target)]
    for seat in advice.cohort.seats:
        way = f"{seat.arrival} step{'' if seat.arrival == 1 else 's'} away"
        lines.append(f"agent_{seat.agent}: slot [{seat.slot[0]},{seat.slot[1]}], {way}")
    if advice.meeting is not None:
        lines.append(f"All are there after step {t + advice.meeting}; act from the next step on.")
    own = advice.plans.get(agent)
    if own is not None:
        lines.append(f"Recommended for you: {shown(own)}")
    lines += [
        f"Recommended for agent_{other}: {shown(plan)}"
        for other, plan in sorted(advice.plans.items())
        if other != agent
    ]
    lines.append("Checked by playing it ahead." if is_verified else "Not certain to work.")
    return _whole_lines(lines)


def _whole_lines(lines: list[str]) -> str:
    text = "\n".join(lines)
    while len(text) > _GUIDANCE_LIMIT:
        lines = [*lines[:-2], lines[-1]]
        text = "\n".join(lines)
    return text
