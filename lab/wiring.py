"""A run put together from its config: world, topology, planners, gate, and their books."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cognitive.budget import Ledger, Limits
from cognitive.clients.base import Client
from cognitive.dialogue import Respond
from cognitive.loop import NoGate
from cognitive.planners.greedy import GreedyPlanner
from cognitive.planners.human import HumanPlanner, LineReader
from cognitive.planners.llm import LlmPlanner
from cognitive.planners.random import RandomPlanner
from cognitive.planners.replay import ReplayPlanner, recorded_answers
from cognitive.planners.scripted import scripted_for
from cognitive.prompts.build import PromptBuilder
from cognitive.protocols import Answer, Gate, Latency, Moment, Planner, PlanView, Question, Sink
from cognitive.schemas import reply_models
from cognitive.settings import EpisodeSettings
from cognitive.topologies import Structure, make_topology
from lab import config as configs
from lab import records
from lab.endpoints import Guard, Write, make_client
from lab.settings import NONE
from repair.config import RepairConfig
from repair.gate import Price, RepairGate
from repair.ledger import Ledger as RepairLedger
from repair.predict import make_predictor
from worlds.api import Ask, Attempt, Dialogue, Json, World

Config = Mapping[str, Any]


class Replies(NamedTuple):
    """Where answers of models and people come from, and where they are written.

    mode: record, replay, fill, live. cassette: its file. write: appends a line to it; note: to the
    wall facts of calls. events: of the run so far, with what people answered. show: shows a prompt
    to a person.
    """

    mode: str
    cassette: Path
    write: Write
    note: Write
    events: tuple[Json, ...] = ()
    show: Callable[[str], None] = lambda text: None
    concurrency: int = 0
    read: Callable[[], Awaitable[str]] | None = None


class Parts(NamedTuple):
    """Everything `cognitive.loop.play` is given, and what listens to its events."""

    world: World
    settings: EpisodeSettings
    topology: Structure
    respond: Respond
    gate: Gate
    ledger: Ledger
    listeners: tuple[Sink, ...]
    clients: tuple[Client, ...]
    watch: Stopwatch

    async def close(self) -> None:
        """Close all clients."""
        for client in self.clients:
            await client.close()


# --- time ----------------------------------------------------------------------------------------


class Stopwatch:
    """Wall seconds in which something is going on, by name; overlapping times count once."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {"replies": 0.0, "repair": 0.0}
        self.reviews = 0
        """How often the gate has reviewed plans."""
        self.review_seconds = 0.0
        self._busy: dict[str, int] = dict.fromkeys(self.seconds, 0)
        self._since: dict[str, float] = {}

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        """Count the time of a block."""
        if not self._busy[name]:
            self._since[name] = time.perf_counter()
        self._busy[name] += 1
        try:
            yield
        finally:
            self._busy[name] -= 1
            if not self._busy[name]:
                self.seconds[name] += time.perf_counter() - self._since[name]


class TimedClient:
    """A client whose waiting is timed."""

    def __init__(self, inner: Client, watch: Stopwatch) -> None:
        self._inner = inner
        self._watch = watch

    async def complete(self, request: Any, scope: str) -> Any:
        """Ask."""
        with self._watch.timing("replies"):
            return await self._inner.complete(request, scope)

    async def close(self) -> None:
        """Close what is below."""
        await self._inner.close()


class TimedGate:
    """A gate whose reviews are timed."""

    def __init__(self, inner: Gate, watch: Stopwatch) -> None:
        self._inner = inner
        self._watch = watch

    def review(self, moment: Moment) -> tuple[tuple[Dialogue[Any], ...], tuple[Json, ...]]:
        """Review."""
        began = time.perf_counter()
        with self._watch.timing("repair"):
            found = self._inner.review(moment)
        self._watch.reviews += 1
        self._watch.review_seconds += time.perf_counter() - began
        return found

    def observe(
        self, t: int, attempts: tuple[Attempt, ...], plans: tuple[PlanView, ...]
    ) -> tuple[Json, ...]:
        """Observe."""
        with self._watch.timing("repair"):
            return self._inner.observe(t, attempts, plans)

    def close(self, t: int) -> tuple[Json, ...]:
        """Close."""
        return self._inner.close(t)


# --- the parts -----------------------------------------------------------------------------------


def wire(config: Config, replies: Replies, guard: Guard) -> Parts:
    """Make every part of the run that `config` describes. Raises ConfigError."""
    world = configs.make_world(config)
    episode = episode_settings(config)
    ledger = Ledger(episode.limits)
    watch = Stopwatch()
    planners, clients = _planners(config, world, replies, guard, ledger, watch)
    topology = dict(config["topology"])
    topology.pop("free_talk")
    gate, listeners = _gate(config, world, episode, watch)

    def respond(ask: Ask) -> Planner:
        return planners[ask.agent % len(planners)]

    return Parts(
        world,
        episode,
        make_topology(topology.pop("kind"), config["agents"], **topology),
        respond,
        gate,
        ledger,
        listeners,
        clients,
        watch,
    )


def episode_settings(config: Config) -> EpisodeSettings:
    """How the loop is to play the run."""
    clock, messages = config["clock"], config["messages"]
    delay = messages["delay_ms"]
    return EpisodeSettings(
        seed=config["seed"],
        preset=config["world"]["preset"],
        config_digest=records.config_digest(config),
        limits=Limits(**config["budget"]),
        pace=clock["pace"],
        step_ms=clock["step_ms"],
        while_thinking=clock["while_thinking"],
        clock=clock["kind"],
        interrupts=config["interrupts"]["policy"],
        max_interrupts=config["interrupts"]["max_interrupts"],
        drop=messages["drop"],
        delay_ms=tuple(delay) if isinstance(delay, list) else delay,
        delay_steps=messages["delay_steps"],
        free_talk=config["topology"]["free_talk"],
    )


def _planners(
    config: Config,
    world: World,
    replies: Replies,
    guard: Guard,
    ledger: Ledger,
    watch: Stopwatch,
) -> tuple[list[Planner], tuple[Client, ...]]:
    """One planner for each section of the config, and the clients behind them."""
    prompts = PromptBuilder(world.text.manual())
    planners: list[Planner] = []
    clients: list[Client] = []
    for section in config["planner"]:
        latency = Latency(**section["latency"])
        kind = section["kind"]
        if kind == "llm":
            client, profile = make_client(
                section,
                latency,
                replies.mode,
                replies.cassette,
                replies.write,
                replies.note,
                ledger,
                guard,
                replies.concurrency,
            )
            timed = TimedClient(client, watch)
            clients.append(timed)
            cap = section["output_cap"]
            planners.append(
                LlmPlanner(
                    timed, profile, prompts, latency, output_cap=None if cap == NONE else cap
                )
            )
        elif kind == "human":
            person = HumanPlanner(prompts, replies.show, replies.read or LineReader())
            planners.append(Remembered(person, replies.events))
        elif kind == "greedy":
            planners.append(GreedyPlanner(latency, section["heeds_guidance"]))
        elif kind == "random":
            planners.append(RandomPlanner(latency))
        else:
            planners.append(scripted_for(world, latency))
    return planners, tuple(clients)


class Remembered:
    """A planner whose recorded answers are given again before it is asked anew."""

    def __init__(self, inner: Planner, events: Iterable[Json]) -> None:
        self.name = inner.name
        self.latency = inner.latency
        self._inner = inner
        known = tuple(events)
        self._recorded = frozenset(recorded_answers(known))
        self._replay = ReplayPlanner(known, inner.name)

    async def answer(self, question: Question) -> Answer:
        """The recorded answer of this decision, or a new one."""
        decision = question.scope.rsplit("/", 2)[1]
        who: Planner = self._replay if decision in self._recorded else self._inner
        return await who.answer(question)

    async def close(self) -> None:
        """Close the planner behind."""
        await self._inner.close()


def _gate(
    config: Config, world: World, episode: EpisodeSettings, watch: Stopwatch
) -> tuple[Gate, tuple[Sink, ...]]:
    """The gate, and the sinks through which it hears of the run."""
    section = {key: value for key, value in config["repair"].items() if key != "name"}
    repair = RepairConfig(**{**section, "tau": tuple(section["tau"])})
    if repair.mode == "off":
        return NoGate(), ()
    limits = [n for n in (episode.limits.steps, config["world"].get("max_steps", 0)) if n]
    predictor = make_predictor(
        world,
        repair,
        episode.seed,
        min(limits, default=0),
        episode.while_thinking == "continue",
    )
    ledger = RepairLedger()
    gate = RepairGate(
        world,
        repair,
        predictor,
        reply_models(world.skills.verbs, episode.free_talk),
        episode.seed,
        ledger,
        _price(config),
        config["world"].get("navigation") == "global",
    )
    return TimedGate(gate, watch), (ledger,)


def _price(config: Config) -> Price:
    """The least that an answer in a channel costs."""
    charges = [configs.least_charge(planner["latency"]) for planner in config["planner"]]
    is_model = any(planner["kind"] == "llm" for planner in config["planner"])
    return Price(min(charges), int(is_model))
