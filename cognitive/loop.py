"""The one loop: an embodied world, its agents, their dialogues, step by step until the run ends."""

from __future__ import annotations

import asyncio
import traceback
from typing import Any, NamedTuple

from cognitive.agents import Team
from cognitive.budget import Ledger
from cognitive.clock import Recall, WallClock
from cognitive.desk import NOTHING_RECALLED, Desk, RunEnds, Stop, Trouble
from cognitive.dialogue import Respond
from cognitive.errors import CooplabError, RecordError
from cognitive.events import SCHEMA, EventLog
from cognitive.phase import Rounds
from cognitive.plans import Played, play_step
from cognitive.protocols import Gate, Moment, PlanView, Sink
from cognitive.schemas import reply_models
from cognitive.settings import EpisodeSettings
from cognitive.topologies import Structure
from worlds.api import AgentId, Ask, Attempt, Dialogue, Json, Report, World

__all__ = ["PRODUCT", "Ending", "NoGate", "play", "run"]

PRODUCT = "cooplab"


class NoGate:
    """A gate that never opens anything."""

    def review(self, moment: Moment) -> tuple[tuple[Dialogue[Any], ...], tuple[Json, ...]]:
        """No channel, no event."""
        return (), ()

    def observe(
        self, t: int, attempts: tuple[Attempt, ...], plans: tuple[PlanView, ...]
    ) -> tuple[Json, ...]:
        """No event."""
        return ()

    def close(self, t: int) -> tuple[Json, ...]:
        """No event."""
        return ()


class Ending(NamedTuple):
    """How a run ended; the fields of `run_ended`, and the error if there was one.

    ended_by: `stopped`, `error`, `endpoint`, `world`, `steps`, `calls`, `tokens`, `money`,
    `team_ms` or `agent_ms`. stages: per agent the ms in each stage.
    """

    ended_by: str
    detail: str
    steps: int
    now_ms: int
    score: float
    counters: Json
    usage: Json
    stages: list[dict[str, int]]
    error: Exception | None


def run(
    world: World,
    settings: EpisodeSettings,
    topology: Structure,
    respond: Respond,
    gate: Gate,
    sink: Sink,
    *,
    ledger: Ledger | None = None,
    stop: Stop | None = None,
    trouble: Trouble | None = None,
    recall: Recall = NOTHING_RECALLED,
) -> Ending:
    """Play an episode from beginning to end; as `play`, where no event loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise CooplabError("an event loop is running here: await cognitive.loop.play(...) instead")
    return asyncio.run(
        play(
            world, settings, topology, respond, gate, sink,
            ledger=ledger, stop=stop, trouble=trouble, recall=recall,
        )
    )  # fmt: skip


async def play(
    world: World,
    settings: EpisodeSettings,
    topology: Structure,
    respond: Respond,
    gate: Gate,
    sink: Sink,
    *,
    ledger: Ledger | None = None,
    stop: Stop | None = None,
    trouble: Trouble | None = None,
    recall: Recall = NOTHING_RECALLED,
) -> Ending:
    """Play an episode from beginning to end.

    respond: who answers an ask. gate: reviews committed plans (`NoGate()` for none). sink: takes
    events and frames; it is flushed every step and left open. ledger: books of calls, tokens and
    money, shared with a client stack; made from the limits if not given. stop: ends the run early
    when called. trouble: takes the text of errors. recall: what was measured in a run that is
    played again; wall clocks run from where it ends. Planners are left open.

    An error of world, dialogue or gate ends the run and is in the ending; one of the sink, and a
    RecordError, are raised.
    """
    episode = _Episode(
        world, settings, topology, respond, gate, sink,
        ledger or Ledger(settings.limits), stop or Stop(), trouble, recall,
    )  # fmt: skip
    return await episode.play()


class _Episode:
    """One run in progress."""

    def __init__(
        self,
        world: World,
        settings: EpisodeSettings,
        topology: Structure,
        respond: Respond,
        gate: Gate,
        sink: Sink,
        ledger: Ledger,
        stop: Stop,
        trouble: Trouble | None,
        recall: Recall,
    ) -> None:
        self._world = world
        self._settings = settings
        self._limits = settings.limits
        self._topology = topology
        self._respond = respond
        self._gate = gate
        self._sink = sink
        self._ledger = ledger
        self._stop = stop
        self._trouble = trouble
        self._state = world.rules.reset(settings.seed)
        self._team = Team(world, self._state, settings, EventLog(sink))
        self._desk = Desk(
            self._team.write, ledger, stop, settings.tries, settings.clock == "wall", trouble,
            recall,
        )  # fmt: skip
        schemas = reply_models(world.skills.verbs, settings.free_talk)
        self._recall = recall
        self._rounds = Rounds(self._team, topology, respond, self._desk, schemas, recall)
        self._ended: str | None = None
        self._is_truncated = False
        self._is_realtime = settings.pace == "realtime"
        self._clock = WallClock() if self._is_realtime and settings.clock == "wall" else None

    async def play(self) -> Ending:
        """Step until something ends the run, then close it."""
        self._open()
        error: Exception | None = None
        try:
            while True:
                await self._step()
        except RunEnds as end:
            ended_by, detail = end.ended_by, end.detail
        except RecordError:
            raise
        except Exception as problem:  # noqa: BLE001
            ended_by, detail, error = "error", type(problem).__name__, problem
        finally:
            await self._rounds.release()
            await self._desk.shut()
        if error is not None:
            self._note_error(error)
        self._rounds.cut_rest(0 if ended_by == "stopped" else None)
        return self._close(ended_by, detail, error)

    def _open(self) -> None:
        settings, topology = self._settings, self._topology
        planners = [
            self._respond(Ask(agent, "plan", None)).name
            for agent in range(self._world.rules.agents)
        ]
        self._team.write(
            "run_started", 0, PRODUCT, SCHEMA, self._world.id, settings.preset,
            self._world.rules.agents, settings.seed, settings.config_digest,
            {"kind": topology.kind, "options": dict(topology.options)}, settings.interrupts,
            {
                "kind": settings.pace, "step_ms": settings.ms_per_step,
                "while_thinking": settings.while_thinking, "clock": settings.clock,
            },
            planners, self._limits.as_json(),
        )  # fmt: skip
        self._sink.frame(0, self._world.rules.frame(self._state))

    # --- one step --------------------------------------------------------------------------------

    async def _step(self) -> None:
        team = self._team
        team.new_phase()
        self._test_before()
        if self._clock is not None and team.now_ms > self._recall.until_ms:
            await self._desk.until_stopped(self._clock.sleep_until(team.now_ms))
        team.deliver(team.now_ms)
        team.retry_idle()
        await self._decide()
        await self._review()
        self._test_before()
        team.start_plans()
        self._play()
        self._test_after()

    async def _decide(self) -> None:
        """Everybody who must decide does so, as far as the pace waits for it."""
        if self._is_realtime:
            await self._rounds.boundary()
            return
        await self._rounds.phase()
        self._team.now_ms = max(self._team.now_ms, self._team.latest_wait_ms())

    async def _review(self) -> None:
        """The gate sees what was committed, and may open channels, which may commit again."""
        team = self._team
        for _ in range(self._settings.max_reviews):
            if not team.has_new_plans:
                return
            team.has_new_plans = False
            channels, events = self._gate.review(self._moment())
            self._write_all(events)
            if not channels:
                return
            self._rounds.open_channels(channels)
            await self._decide()
        if team.has_new_plans:
            team.has_new_plans = False
            team.write("review_limit", team.now_ms, None, "max_reviews")

    def _moment(self) -> Moment:
        team, limits = self._team, self._limits
        left_ms = limits.team_ms - team.now_ms if limits.team_ms else None
        return Moment(
            team.step, team.now_ms, self._state, team.plan_views(), left_ms,
            self._ledger.left_calls,
        )  # fmt: skip

    def _play(self) -> None:
        """The world steps; what it brought is written, settled and shown."""
        team, before_ms, present = self._team, self._team.now_ms, self._team.living
        played = play_step(self._world, self._state, team.executing())
        team.step += 1
        team.now_ms += self._settings.ms_per_step
        if self._limits.team_ms:
            team.now_ms = min(team.now_ms, self._limits.team_ms)
        team.began_ms.append(team.now_ms)
        report = self._world.rules.report(self._state)
        team.take_in(played, report, before_ms)
        self._depart(report)
        self._observe(report, present, played)
        self._sink.frame(team.step, self._world.rules.frame(self._state))
        team.mark_budgets(self._ledger, {"steps": team.step, "team_ms": team.now_ms})
        self._sink.flush()
        self._is_truncated = bool(played.stepped.truncated[0])
        self._ended = report.ended

    def _depart(self, report: Report) -> None:
        """Agents leave that are gone for another reason than the end of the episode."""
        gone = tuple(entry for entry in report.gone if entry[1] != report.ended)
        if gone:
            self._team.depart(gone, self._topology.leader)

    def _observe(self, report: Report, present: tuple[AgentId, ...], played: Played) -> None:
        if isinstance(self._gate, NoGate):
            return
        views = self._team.played_views(present, played.ended)
        self._write_all(self._gate.observe(self._team.step, report.attempts, views))

    def _write_all(self, events: tuple[Json, ...]) -> None:
        for event in events:
            self._team.log.write_draft(event, self._team.step, self._team.now_ms)

    # --- ends ------------------------------------------------------------------------------------

    def _test_before(self) -> None:
        team, limits = self._team, self._limits
        if self._stop.is_asked:
            raise RunEnds("stopped")
        if limits.team_ms and team.now_ms >= limits.team_ms:
            raise RunEnds("team_ms")
        if limits.agent_ms and all(team.is_spent(team.agents[i]) for i in team.living):
            raise RunEnds("agent_ms")

    def _test_after(self) -> None:
        team, limits = self._team, self._limits
        if self._ended is not None or not team.living:
            raise RunEnds("world", self._ended or "all_gone")
        if self._is_truncated or (limits.steps and team.step >= limits.steps):
            raise RunEnds("steps")
        if limits.team_ms and team.now_ms >= limits.team_ms:
            raise RunEnds("team_ms")

    def _note_error(self, error: Exception) -> None:
        name = type(error).__name__
        if self._trouble is not None:
            text = "".join(traceback.format_exception(error))
            self._trouble(
                {"where": "run", "code": "error", "exception": name, "text": str(error),
                 "traceback": text}
            )  # fmt: skip
        self._team.write("error", self._team.now_ms, "run", "error", name)

    def _close(self, ended_by: str, detail: str, error: Exception | None) -> Ending:
        """Expired messages, plans, the gate, `run_ended`."""
        team = self._team
        team.now_ms = max(team.now_ms, *team.book.since_ms)
        if ended_by == "team_ms":
            team.now_ms = self._limits.team_ms
        ms = team.now_ms
        if ended_by in ("calls", "tokens", "money") and self._ledger.mark_reached(ended_by):
            limit = getattr(self._limits, ended_by)
            team.write("budget", ms, ended_by, self._ledger.used[ended_by], limit)
        team.expire(ms)
        team.end_plans(ms)
        self._write_all(self._gate.close(team.step))
        ending = Ending(
            ended_by, detail, team.step, ms, team.score, self._counters(), self._usage(),
            team.book.durations(ms), error,
        )  # fmt: skip
        team.write(
            "run_ended", ms, ended_by, detail, ending.score, ending.counters, ending.usage,
            ending.stages,
        )  # fmt: skip
        self._sink.flush()
        return ending

    def _counters(self) -> Json:
        return {
            "decisions": self._desk.decided,
            "plans": self._team.plans_committed,
            **self._team.counters.as_json(),
        }

    def _usage(self) -> Json:
        return {
            "calls": self._desk.calls,
            **self._desk.usage._asdict(),
            "money": self._ledger.used["money"],
        }
