"""Hand-made moments on a 9 by 9 CUBE board with the goal in column 8."""

from cognitive.protocols import Moment, PlanView
from cognitive.schemas import reply_models
from repair.config import repair_config
from repair.gate import RepairGate
from repair.ledger import Ledger
from repair.predict import make_predictor
from worlds.api import Action, World
from worlds.cube.config import configure
from worlds.cube.generate import from_drawing
from worlds.cube.rules import CubeRules
from worlds.cube.skills import CubeSkills
from worlds.cube.tasks import CubeTasks
from worlds.cube.text import CubeText

IDLE = ("none", [("wait", {"steps": 40})])


def mv(steps, direction="right"):
    return ("move", {"direction": direction, "steps": steps})


def wait(steps):
    return ("wait", {"steps": steps})


def push(steps, block=0):
    return ("push", {"block": block, "steps": steps, "face": "left"})


def board(agents, blocks):
    """agents: cells. blocks: (weight, row, column) of the top-left cell."""
    rows = [["."] * 8 + ["|"] for _ in range(9)]
    for number, (weight, row, column) in enumerate(blocks):
        for r in range(row, row + weight):
            for c in range(column, column + weight):
                rows[r][c] = chr(ord("A") + number)
    for agent, (row, column) in enumerate(agents):
        assert rows[row][column] == ".", (agent, row, column)
        rows[row][column] = str(agent)
    config = configure(None, agents=len(agents), side=9, require_movable=False)
    world = World(
        "cube-v1",
        config,
        CubeRules(config),
        CubeText(config),
        CubeSkills(config),
        CubeTasks(config),
        None,
    )
    return world, from_drawing("\n".join("".join(row) for row in rows), config)


def plan_views(plans):
    """plans: per agent (task, [(verb, args)]), committed and about to start; None: no plan."""
    views = []
    for agent, plan in enumerate(plans):
        if plan is None:
            views.append(PlanView(agent, "W", None, "none", (), 0, None, "none"))
            continue
        task, actions = plan
        steps = tuple(Action(verb, args) for verb, args in actions)
        views.append(PlanView(agent, "W", f"{agent}.1", task, steps, 0, None, "pending"))
    return tuple(views)


def moment(state, plans, t=0, left_ms=None, left_calls=None):
    return Moment(t, 0, state, plan_views(plans), left_ms, left_calls)


def predictor(world, seed=0, last_step=200, **settings):
    return make_predictor(world, repair_config({"mode": "repair", **settings}), seed, last_step)


def gate_of(world, seed=0, last_step=200, **settings):
    config = repair_config({"mode": "repair", **settings})
    schemas = reply_models(world.skills.verbs)
    ledger = Ledger()
    return RepairGate(
        world, config, make_predictor(world, config, seed, last_step), schemas, seed, ledger
    )


def lines_of(lines, kind):
    return [line for line in lines if line["e"] == kind]
