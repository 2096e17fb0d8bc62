"""What one repair review costs: forecasts by simulation, and a whole review with its channel.

CPU time, medians of interleaved rounds. `python -m benchmarks.repair` prints a row a line.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from benchmarks.timing import Row, interleaved, show
from cognitive.protocols import Moment, PlanView
from cognitive.schemas import reply_models
from repair.config import repair_config
from repair.gate import RepairGate
from repair.ledger import Ledger
from repair.predict import make_predictor
from worlds.api import Failed, World
from worlds.registry import make

SETTINGS = {3: ("cube-v1:quorum", {}), 64: ("cube-v1:chain", {"n": 64})}
BARS = {3: (5.0, 2.0), 64: (100.0, 40.0)}
LAST_STEP = 500
REPEATS = 3


def committed(world: World, state: Any) -> tuple[PlanView, ...]:
    """Everybody goes alone for the task that pays most per step."""
    return tuple(_plan(world, state, agent) for agent in range(world.rules.agents))


def _plan(world: World, state: Any, agent: int) -> PlanView:
    options = []
    for task in world.tasks.known(state, agent):
        recipe = world.tasks.recipe(state, agent, task) if task.worth > 0 else None
        if recipe is not None and not isinstance(recipe, Failed):
            options.append((-task.worth / max(1, recipe.steps), task.number, task, recipe))
    *_, task, recipe = min(options, key=lambda option: option[:2])
    actions = (*recipe.prepare, *recipe.approach, *recipe.act)
    return PlanView(agent, "W", f"{agent}.1", task.id, actions, 0, None, "pending")


def predict_ms(world: World, state: Any, plans: tuple[PlanView, ...]) -> float:
    """CPU milliseconds of the forecasts of one moment, nothing remembered from before."""
    config = repair_config("on")
    began = time.process_time()
    for _ in range(REPEATS):
        make_predictor(world, config, 0, LAST_STEP).predict(state, plans, 0)
    return (time.process_time() - began) * 1000 / REPEATS


def review_ms(world: World, state: Any, plans: tuple[PlanView, ...], name: str) -> float:
    """CPU milliseconds of a review; `on` opens channels with guidance and judges it."""
    config = repair_config(name)
    schemas = reply_models(world.skills.verbs)
    began = time.process_time()
    for _ in range(REPEATS):
        predictor = make_predictor(world, config, 0, LAST_STEP)
        gate = RepairGate(world, config, predictor, schemas, 0, Ledger())
        gate.review(Moment(0, 0, state, plans, None, None))
    return (time.process_time() - began) * 1000 / REPEATS


def rows(is_quick: bool = False, agents: tuple[int, ...] = ()) -> list[Row]:
    """Reviews at 3 agents under quorum and 64 under chain, or at the team sizes asked for."""
    measures, bars = {}, {}
    for n in agents or (tuple(SETTINGS)[:1] if is_quick else tuple(SETTINGS)):
        id, more = SETTINGS.get(n, ("cube-v1:chain", {"n": n}))
        world = make(id, **more)
        assert isinstance(world, World)
        state = world.rules.reset(0)
        plans = committed(world, state)
        label = f"{id.partition(':')[2]}, {n} agents"
        must, aim = BARS.get(n, (None, None))
        name = f"repair review by simulation, {label}"
        measures[name] = partial(predict_ms, world, state, plans)
        bars[name] = (must, aim)
        for mode in ("watch", "on"):
            name = f"whole review, {mode}, {label}"
            measures[name] = partial(review_ms, world, state, plans, mode)
            bars[name] = (must, aim) if mode == "watch" else (None, None)
    for measure in measures.values():
        measure()
    return [
        Row(name, figure, "ms", base, figure * 1000 / base, *bars[name])
        for name, (figure, base) in interleaved(measures).items()
    ]


if __name__ == "__main__":
    show(rows())
