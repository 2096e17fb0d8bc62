"""The gate of the episode loop: forecasts, alarms, channels, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from cognitive.protocols import Moment, PlanView
from repair.brief import contexts
from repair.channel import Channel, Proposal, Verdict
from repair.cohort import Cohort
from repair.config import RepairConfig
from repair.forecast import Forecast, fails, groups_of
from repair.guidance import Advice, Scene, aim, recommend, with_plans
from repair.ledger import Ledger
from repair.predict import Predictor
from repair.score import Scored, Scorer
from worlds.api import AgentId, Attempt, Dialogue, Json, PlanDraft, Task, World, draw, uniform

__all__ = ["Price", "RepairGate"]


@dataclass(frozen=True)
class Price:
    """The least a repair answer costs: milliseconds on the clock, and calls to an endpoint."""

    answer_ms: int = 1500
    calls: int = 0


@dataclass(frozen=True)
class _Opening:
    """A channel about to open, and what is written about it."""

    channel: Channel
    members: tuple[AgentId, ...]
    advice: Advice
    is_verified: bool


class RepairGate:
    """Predicts before each joint step, opens channels, and scores every forecast.

    ledger must listen to the run's events: dialogue numbers, costs and ends of plans come from it.
    schemas: kind of ask -> reply model. Raises nothing of its own; an error of a predictor ends
    the run.
    """

    def __init__(
        self,
        world: World,
        config: RepairConfig,
        predictor: Predictor,
        schemas: Mapping[str, type[BaseModel]],
        seed: int,
        ledger: Ledger,
        price: Price | None = None,
        names_everything: bool = False,
    ) -> None:
        self._world = world
        self._config = config
        self._predictor = predictor
        self._schemas = schemas
        self._seed = seed
        self._ledger = ledger
        self._price = price or Price()
        self._names_everything = names_everything
        self._scorer = Scorer(ledger.plan_ends.get)
        self._forecasts = 0
        self._repairs: dict[int, int] = {}  # dialogue -> repair, channels not yet closed
        self._repair_count = 0
        self._closed_until: dict[str, int] = {}
        self._step = -1
        self._foreseen: set[tuple[str, Any]] = set()
        self._invited: set[AgentId] = set()
        self._spent_calls = 0
        self._spent_ms = 0

    # --- the protocol of the loop ---------------------------------------------------------------

    def review(self, moment: Moment) -> tuple[tuple[Dialogue[Any], ...], tuple[Json, ...]]:
        """Forecast the committed plans; return the channels to open and the events to write."""
        if moment.t != self._step:
            self._step, self._foreseen, self._invited = moment.t, set(), set()
        lines = self._closings()
        lines += map(_scored_json, self._scorer.changed(groups_of(moment.plans)))
        scene = self._scene(moment)
        fresh = [
            forecast
            for forecast in self._predictor.predict(moment.state, moment.plans, moment.t)
            if (forecast.task, forecast.group) not in self._foreseen
        ]
        self._foreseen.update((forecast.task, forecast.group) for forecast in fresh)
        numbers = {forecast.task: self._forecasts + i for i, forecast in enumerate(fresh)}
        self._forecasts += len(fresh)
        verdicts, openings, opened = self._treat(scene, moment, self._alarms(scene, fresh), numbers)
        for forecast in fresh:
            number, verdict = numbers[forecast.task], verdicts.get(forecast.task)
            lines.append(self._predicted_json(number, forecast, verdict))
        lines += opened
        return tuple(one.channel for one in openings), tuple(lines)

    def observe(
        self, t: int, attempts: tuple[Attempt, ...], plans: tuple[PlanView, ...]
    ) -> tuple[Json, ...]:
        """Take in what the kernel recorded in step t."""
        lines = self._closings()
        lines += map(_scored_json, self._scorer.observe(t, attempts))
        return tuple(lines)

    def close(self, t: int) -> tuple[Json, ...]:
        """The run ends: the last channels and forecasts are written down."""
        lines = self._closings()
        lines += map(_scored_json, self._scorer.finish())
        return tuple(lines)

    # --- alarms ----------------------------------------------------------------------------------

    def _scene(self, moment: Moment) -> Scene:
        living = set(self._world.rules.living(moment.state))
        candidates = tuple(
            view.agent
            for view in moment.plans
            if view.agent in living and view.stage in ("W", "X") and view.agent not in self._invited
        )
        return Scene(
            self._world,
            moment.state,
            moment.plans,
            moment.t,
            candidates,
            self._config,
            self._predictor,
            self._names_everything,
        )

    def _alarms(self, scene: Scene, forecasts: list[Forecast]) -> list[tuple[Forecast, Task]]:
        """Forecasts to treat, in order: larger worth, earlier attempt, smaller task."""
        found = []
        for forecast in forecasts:
            task = self._world.tasks.find(scene.state, forecast.task)
            is_eligible = forecast.is_decided and not forecast.is_provisional
            if task is not None and task.worth > 0 and is_eligible and self._rings(forecast):
                found.append((forecast, task))
        found.sort(key=lambda pair: (-pair[1].worth, pair[0].first, pair[1].number, pair[1].id))
        return found

    def _rings(self, forecast: Forecast) -> bool:
        if self._config.trigger == "random":
            chance = uniform(self._seed, "repair", "trigger", forecast.step, forecast.task)
            return chance < self._config.random_rate
        return fails(forecast, self._config)

    def _treat(
        self,
        scene: Scene,
        moment: Moment,
        alarms: list[tuple[Forecast, Task]],
        numbers: Mapping[str, int],
    ) -> tuple[dict[str, str], list[_Opening], list[Json]]:
        """A verdict for each alarm, and the channels that open."""
        verdicts: dict[str, str] = {}
        openings: list[_Opening] = []
        lines: list[Json] = []
        for forecast, task in alarms:
            verdict, opening = self._verdict(scene, moment, forecast, task, len(openings))
            verdicts[forecast.task] = verdict
            if opening is None:
                continue
            number = numbers[forecast.task]
            lines.append(self._opened_json(number, task, opening, len(openings)))
            openings.append(opening)
            self._cool(task, opening.advice.target, scene.t)
            self._invited.update(opening.members)
            told = opening.advice.plans if self._config.guidance else {}
            changed = {a: plan for a, plan in told.items() if a in opening.members}
            scene = replace(
                scene,
                plans=with_plans(scene.plans, changed),
                candidates=tuple(a for a in scene.candidates if a not in self._invited),
            )
        return verdicts, openings, lines

    def _verdict(
        self, scene: Scene, moment: Moment, forecast: Forecast, task: Task, opened: int
    ) -> tuple[str, _Opening | None]:
        if self._config.mode == "watch":
            return "watch", None
        if self._closed_until.get(self._key(task), 0) > scene.t:
            return "cooldown", None
        if any(agent in self._invited for agent in forecast.agents):
            return "busy", None
        opening = self._opening(scene, forecast, task)
        if opening is None:
            return "busy", None
        if not self._fits(moment, len(opening.members), opened):
            return "budget", None
        return "opened", opening

    def _key(self, task: Task) -> str:
        return task.id if self._config.cooldown_key == "task" else task.kind

    def _cool(self, task: Task, target: Task | None, t: int) -> None:
        for one in (task, target):
            if one is not None:
                self._closed_until[self._key(one)] = t + self._config.cooldown

    def _fits(self, moment: Moment, members: int, opened: int) -> bool:
        """Whether what is left of every budget holds one whole channel."""
        config, price = self._config, self._price
        answers = members * config.rounds + members
        calls = answers * price.calls
        clock = (members * config.rounds + 1) * price.answer_ms
        return (
            self._repair_count < config.max_channels
            and (not config.max_calls or self._spent_calls + answers <= config.max_calls)
            and (not config.max_ms or self._spent_ms + answers * price.answer_ms <= config.max_ms)
            and (moment.left_calls is None or calls * (opened + 1) <= moment.left_calls)
            and (moment.left_ms is None or clock <= moment.left_ms)
        )

    # --- channels --------------------------------------------------------------------------------

    def _opening(self, scene: Scene, forecast: Forecast, task: Task) -> _Opening | None:
        target, cohort = aim(scene, forecast, task)
        members = self._members(scene, forecast, task, target, cohort)
        if not members:
            return None
        advice = recommend(scene, forecast, task, target, cohort)
        judge = _Judge(scene, members, self._config)
        recommended = tuple(advice.plans.get(agent) for agent in members)
        is_verified = judge(recommended).is_accepted
        told = contexts(scene, forecast, task, advice, members, is_verified)
        channel = Channel(
            members,
            told,
            self._schemas,
            judge,
            judge.value_before,
            self._config.rounds,
            self._config.revisions,
            self._config.on_reject,
        )
        return _Opening(channel, members, advice, is_verified)

    def _members(
        self, scene: Scene, forecast: Forecast, task: Task, target: Task | None, cohort: Cohort
    ) -> tuple[AgentId, ...]:
        failing = set(forecast.agents) & set(scene.candidates)
        if self._config.channel == "everyone":
            return scene.candidates
        if self._config.channel == "failing":
            return tuple(sorted(failing))
        chosen = set(cohort.agents)
        if target is None or target.id != task.id:
            chosen |= failing
        if self._config.channel == "random":
            ranked = sorted(scene.candidates, key=lambda a: (self._lot(scene.t, task, a), a))
            chosen = set(ranked[: len(chosen)])
        return tuple(sorted(chosen))

    def _lot(self, t: int, task: Task, agent: AgentId) -> int:
        return draw(self._seed, "repair", "member", t, task.id, agent)

    # --- records ---------------------------------------------------------------------------------

    def _predicted_json(self, number: int, forecast: Forecast, verdict: str | None) -> Json:
        is_alarm = verdict is not None
        if not self._scorer.is_followed(forecast.task, forecast.group):
            self._scorer.follow(number, forecast.task, forecast.group, forecast.step, is_alarm)
        return {
            "e": "repair_predicted",
            "forecast": number,
            **forecast.as_json(),
            "predictor": self._config.predictor,
            "alarm": is_alarm,
            "verdict": verdict,
            "truncated": forecast.is_truncated,
            "provisional": forecast.is_provisional,
        }

    def _opened_json(self, forecast: int, task: Task, opening: _Opening, opened: int) -> Json:
        number = self._repair_count
        self._repair_count += 1
        dialogue = self._ledger.dialogues + opened
        self._repairs[dialogue] = number
        advice = opening.advice
        return {
            "e": "repair_opened",
            "repair": number,
            "forecast": forecast,
            "dialogue": dialogue,
            "task": task.id,
            "target": None if advice.target is None else advice.target.id,
            "strategy": advice.strategy,
            "members": list(opening.members),
            "cohort": [[seat.agent, list(seat.slot), seat.cost] for seat in advice.cohort.seats],
            "arrival": advice.meeting,
            "verified": opening.is_verified,
        }

    def _closings(self) -> list[Json]:
        """Events of the channels that closed since the last call."""
        lines = []
        for dialogue in [d for d in self._repairs if d in self._ledger.results]:
            result, costs = self._ledger.results[dialogue], self._ledger.costs[dialogue]
            self._spent_calls += costs.answers
            self._spent_ms += costs.charged_ms
            lines.append(
                {
                    "e": "repair_closed",
                    "repair": self._repairs.pop(dialogue),
                    **result,
                    "answers": costs.answers,
                    "calls": costs.calls,
                    "tokens": costs.tokens,
                    "sends": costs.sends,
                    "deliveries": costs.deliveries,
                    "clock_ms": costs.closed_ms - costs.opened_ms,
                    "charged_ms": costs.charged_ms,
                }
            )
        return lines


class _Judge:
    """Proposed plans -> verdict, closed over a copy of the world at opening."""

    def __init__(self, scene: Scene, members: tuple[AgentId, ...], config: RepairConfig) -> None:
        state = scene.world.rules.clone(scene.state)
        self._scene = replace(scene, state=state)
        self._members = members
        self._config = config
        self._before = self._forecasts({})
        self._failed_before = {f.task for f in self._before if fails(f, config)}
        self.value_before = self._value(self._before)

    def __call__(self, proposal: Proposal) -> Verdict:
        changed: dict[AgentId, PlanDraft] = {
            agent: draft
            for agent, draft in zip(self._members, proposal, strict=True)
            if draft is not None
        }
        after = self._forecasts(changed)
        failing = [f for f in after if fails(f, self._config)]
        own = [f for f in failing if set(f.agents) & set(self._members)]
        others = [f for f in failing if f not in own and f.task not in self._failed_before]
        value = self._value(after)
        return Verdict(
            not own,
            not others,
            value >= self.value_before,
            tuple(f.task for f in (*own, *others)),
            value,
        )

    def _forecasts(self, changed: Mapping[AgentId, PlanDraft]) -> tuple[Forecast, ...]:
        plans = with_plans(self._scene.plans, dict(changed))
        return self._scene.predictor.predict(
            self._scene.state, plans, self._scene.t, frozenset(self._members)
        )

    def _value(self, forecasts: tuple[Forecast, ...]) -> int:
        total = 0
        for forecast in forecasts:
            task = self._scene.world.tasks.find(self._scene.state, forecast.task)
            if forecast.is_decided and task is not None:
                total += int(1000 * task.worth * forecast.succeeded // forecast.support)
        return total


def _scored_json(scored: Scored) -> Json:
    return {
        "e": "repair_scored",
        "forecast": scored.forecast,
        "label": scored.label,
        "held": [int(flag) for flag in scored.held],
        "succeeded": int(scored.succeeded),
        "attempts": scored.attempts,
        "first": scored.first,
        "lead": scored.lead,
    }
