"""Scripts, sinks and short forms for the tests of the loop."""

from stub_world import stub_world

from cognitive.budget import Ledger, Limits, Metered, Quote
from cognitive.desk import NOTHING_RECALLED
from cognitive.loop import NoGate, run
from cognitive.protocols import Answer, Latency, Usage
from cognitive.settings import EpisodeSettings
from cognitive.topologies import make_topology

_SHORT = {"w": "work", "b": "break", "d": "die", "s": "skip"}


def plan(text, task="none", **more):
    """`w2` is one work(2); `w1 b1` two actions; `!` no action."""
    actions = [
        {"verb": _SHORT.get(word[0], word[0]), "k": int(word[1:])}
        for word in text.split()
        if word != "!"
    ]
    return {"task": task, "actions": actions, **more}


def replan(text):
    return {"choice": "replan", "plan": plan(text)}


RESUME = {"choice": "resume"}
ACCEPT = {"answer": "accept"}
OBJECT = {"answer": "object", "code": "unsafe"}


def directive(own, agents):
    return {"own": own, "assignments": [{"agents": list(agents), "task": "none", "role": "free"}]}


def say(text="I work."):
    return {"text": text, "task": "none", "partners": 0}


class Script(Metered):
    """Replies by agent, or by (agent, kind); the last one of a list is given again and again.

    A reply is a dict, a plan in short form, text for the reader, or an exception to raise.
    tokens: completion tokens by agent, for the latency model `tokens`.
    """

    name = "script"

    def __init__(self, replies, latency=None, tokens=None, default=None):
        self.latency = latency or Latency()
        self.questions = []
        self._replies = {key: list(value) for key, value in replies.items()}
        self._tokens = tokens or {}
        self._default = default

    def quote(self, question):
        return Quote("0" * 16, 0, calls=1)

    def bill(self, usage):
        return 0

    async def answer(self, question):
        self.questions.append(question)
        agent, kind = question.ask.agent, question.ask.kind
        reply = self._next((agent, kind), agent)
        if isinstance(reply, Exception):
            raise reply
        completion = self._tokens.get(agent, 0)
        usage = Usage(0, completion, completion)
        if isinstance(reply, Answer):
            return reply
        return Answer(plan(reply) if _is_short(reply) else reply, None, usage, 0, "text")

    async def close(self):
        return None

    def _next(self, *keys):
        for key in keys:
            if key in self._replies:
                replies = self._replies[key]
                return replies.pop(0) if len(replies) > 1 else replies[0]
        if self._default is None:
            raise KeyError(f"no reply for {keys}")
        return self._default(*keys[0])


def _is_short(reply):
    return isinstance(reply, str) and not reply.startswith(("{", "?"))


class Memory:
    """A sink that keeps everything."""

    def __init__(self):
        self.events = []
        self.frames = []

    def event(self, line):
        self.events.append(line)

    def frame(self, step, layers):
        self.frames.append(step)

    def flush(self):
        return None

    def close(self):
        return None

    def of(self, *types):
        return [line for line in self.events if line["e"] in types]


class Played:
    """A finished run: events, the script that answered, the ending."""

    def __init__(self, sink, script, ending):
        self.sink = sink
        self.events = sink.events
        self.script = script
        self.ending = ending

    def of(self, *types):
        return self.sink.of(*types)

    def log(self, agent):
        """The stage log of an agent as `R0@0 W1500@0 ...`."""
        entries = ["R0@0"]
        for line in self.of("stage"):
            if line["agent"] == agent:
                entries.append(f"{line['to']}{line['ms']}@{line['step']}")
        return " ".join(entries)

    @property
    def end(self):
        return f"{self.ending.now_ms}@{self.ending.steps}"

    @property
    def counts(self):
        """calls, sends, deliveries, interrupts."""
        counters = self.ending.counters
        interrupts = sum(counters["interrupts"].values())
        calls = self.ending.usage["calls"]
        return calls, counters["sends"], counters["deliveries"], interrupts

    def plans(self):
        """plan id -> (status, reason code, step)."""
        return {
            line["plan"]: (
                line["status"], line["reason"] and line["reason"]["code"], line["step"],
            )
            for line in self.of("plan_ended")
        }  # fmt: skip


def play_stub(
    agents, topology, replies, *, steps=200, options=None, gate=None, latency=None, tokens=None,
    limits=None, end_step=0, default=None, sink=None, stop=None, recall=NOTHING_RECALLED,
    **settings,
):  # fmt: skip
    """Play the stub world with a script."""
    script = replies if isinstance(replies, Script) else Script(replies, latency, tokens, default)
    sink = sink or Memory()
    limits = Limits(**{"steps": steps, **(limits or {})})
    ending = run(
        stub_world(agents, end_step),
        EpisodeSettings(limits=limits, **settings),
        make_topology(topology, agents, **(options or {})),
        lambda ask: script,
        gate or NoGate(),
        sink,
        ledger=Ledger(limits),
        stop=stop,
        recall=recall,
    )
    if ending.error is not None:
        raise ending.error
    return Played(sink, script, ending)
