"""Made-up runs for the tests: a folder as a run leaves it, without any world or agent played."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cognitive.events import EVENT_FIELDS
from render.replay import FrameEncoder

CUBE_LEGEND = {"agent_cell": {}, "block_cell": {"-1": "delivered"}, "block_weight": {}, "board": {}}


CROWD_WEIGHTS = (8, 7, 7, *(6,) * 4, *(5,) * 8, *(4,) * 16, *(3,) * 32, *(2,) * 64, *(1,) * 129)
VERBS = (("navigate", {"target": "there"}), ("wait", {"steps": 2}), ("push", {"steps": 3}))


class Events:
    """Writes events as the loop does, on a clock that the caller moves."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.step = 0
        self.ms = 0

    def __call__(self, e: str, ms: int | None = None, **fields: Any) -> None:
        assert fields.keys() == set(EVENT_FIELDS[e]), (e, fields.keys(), EVENT_FIELDS[e])
        now = self.ms if ms is None else ms
        line = {"v": 1, "n": len(self.lines), "e": e, "step": self.step, "ms": now}
        self.lines.append(line | {name: fields[name] for name in EVENT_FIELDS[e]})


class Play:
    """A made-up episode: agents walk to tasks under plans, talk in a chain, repair now and then."""

    def __init__(self, agents: int, steps: int, seed: int, has_repair: bool = True) -> None:
        self.agents, self.steps = agents, steps
        self.random = np.random.default_rng(seed)
        self.events = Events()
        self.frames: list[dict[str, np.ndarray]] = []
        self.stage = ["R"] * agents
        self.plan: list[str | None] = [None] * agents
        self.ends = [0] * agents
        self.done: dict[str, int] = {}
        self.made = [0] * agents
        self.counts = {"decision": 0, "dialogue": 0, "message": 0, "repair": 0}
        self.score = 0.0
        self.has_repair = has_repair

    # --- to be given by a world ---

    world = ""
    legend: ClassVar[dict[str, Any]] = {}

    def layers(self) -> dict[str, np.ndarray]:
        raise NotImplementedError

    def tasks(self) -> list[str]:
        raise NotImplementedError

    def move(self) -> None:
        raise NotImplementedError

    # --- the story ---

    def number(self, name: str) -> int:
        self.counts[name] += 1
        return self.counts[name] - 1

    def to(self, agent: int, stage: str, reason: Any = None) -> None:
        self.events("stage", agent=agent, **{"from": self.stage[agent], "to": stage}, reason=reason)
        self.stage[agent] = stage

    def decide(self, agent: int, dialogue: int, kind: str) -> int:
        decision = self.number("decision")
        self.events(
            "decision_started",
            decision=decision,
            dialogue=dialogue,
            agent=agent,
            kind=kind,
            planner="scripted",
            prompt_hash="0" * 16,
            prompt_chars=1200,
            read=[],
            try_limit=4,
        )
        self.events.ms += 1500
        usage = {"prompt": 300, "completion": 50, "total": 350, "estimated": False}
        self.events(
            "decision_ended",
            decision=decision,
            outcome="answered",
            value={},
            tries=[],
            usage=usage,
            charge_ms=1500,
            reasons=[],
        )
        return decision

    def commit(self, agent: int, decision: int, task: str) -> None:
        self.made[agent] += 1
        plan = f"{agent}.{self.made[agent]}"
        actions = [{"verb": "navigate", "args": {"target": task}}]
        actions += [{"verb": verb, **args} for verb, args in VERBS[1:]]
        self.events(
            "plan_committed",
            plan=plan,
            agent=agent,
            decision=decision,
            task=task,
            actions=actions,
            note=f"I take {task} with whoever comes",
            replaces=self.plan[agent],
        )
        if self.plan[agent]:
            self.close_plan(agent, "interrupted", {"code": "repaired", "facts": {}})
        self.plan[agent] = plan
        self.ends[agent] = self.events.step + int(self.random.integers(3, 9))
        self.to(agent, "W")

    def close_plan(self, agent: int, status: str, reason: Any) -> None:
        self.events(
            "plan_ended",
            plan=self.plan[agent],
            agent=agent,
            status=status,
            reason=reason,
            done=1,
            of=3,
            task_result="advanced" if status == "success" else "none",
        )
        self.plan[agent] = None

    def say(self, sender: int, recipients: list[int], kind: str, dialogue: int, text: str) -> None:
        message = self.number("message")
        self.events(
            "message_sent",
            message=message,
            dialogue=dialogue,
            sender=sender,
            recipients=recipients,
            kind=kind,
            text=text,
            body=None,
            reply_to=None,
        )
        hit = [a for a in recipients if kind == "proposal" and self.stage[a] == "X" and a % 4 == 1]
        effects = ["interrupted" if agent in hit else "buffered" for agent in recipients]
        self.events(
            "message_delivered",
            message=message,
            recipients=recipients,
            effects=effects,
            due_ms=self.events.ms,
        )
        for agent in hit:
            self.to(agent, "I", "message")

    def phase(self) -> None:
        needing = [agent for agent in range(self.agents) if self.stage[agent] == "R"]
        if not needing:
            return
        dialogue = self.number("dialogue")
        self.events(
            "dialogue_opened",
            dialogue=dialogue,
            kind="chain",
            members=needing,
            needing=needing,
            clock_ms=self.events.ms,
            cause="topology",
            leader=None,
        )
        choices = self.tasks()
        for agent in needing:
            decision = self.decide(agent, dialogue, "plan")
            task = choices[int(self.random.integers(len(choices)))] if choices else "none"
            self.commit(agent, decision, task)
            later = list(range(agent + 1, min(self.agents, agent + 6)))
            if later:
                text = f"agent_{agent} goes for {task}. <b>Who comes along?</b>"
                self.say(agent, later, "proposal", dialogue, text)
        for agent in [a for a in range(self.agents) if self.stage[a] == "I"]:
            decision = self.decide(agent, dialogue, "interrupt")
            self.events("plan_resumed", plan=self.plan[agent], agent=agent, decision=decision)
            self.to(agent, "W")
        self.events("dialogue_closed", dialogue=dialogue, waves=len(needing), result=None)

    def repair(self) -> None:
        live = [agent for agent in range(self.agents) if self.plan[agent]]
        if not self.has_repair or self.events.step % 9 != 4 or len(live) < 2 or not self.tasks():
            return
        members = sorted(int(a) for a in self.random.choice(live, min(3, len(live)), False))
        repair, dialogue, task = self.number("repair"), self.number("dialogue"), self.tasks()[0]
        self.forecast(repair, task, members)
        self.events(
            "repair_opened",
            repair=repair,
            forecast=repair,
            dialogue=dialogue,
            task=task,
            target=task,
            strategy="synchronise",
            members=members,
            cohort=[[agent, [1, 1], 3] for agent in members],
            arrival=4,
            verified=True,
        )
        for agent in members:
            self.to(agent, "I", "repair")
        for agent in members:
            self.decide(agent, dialogue, "repair_intention")
            others = [other for other in members if other != agent]
            text = f"I can be at {task} in 4 steps and will wait for the others."
            self.say(agent, others, "repair_statement", dialogue, text)
        for agent in members:
            self.commit(agent, self.decide(agent, dialogue, "repair_revision"), task)
        self.events(
            "repair_closed",
            repair=repair,
            outcome="accepted",
            proposals=1,
            waves=[{"a1": True, "a2": True, "a3": True, "failing": []}],
            v_before=0,
            v_after=2000,
            answers=6,
            calls=0,
            tokens=0,
            sends=3,
            deliveries=6,
            clock_ms=6000,
            charged_ms=9000,
        )

    def forecast(self, number: int, task: str, members: list[int]) -> None:
        evidence = [[a, a % 2, 0, 1, [2, 3], 4 + a] for a in members]
        self.events(
            "repair_predicted",
            forecast=number,
            task=task,
            need=2,
            group=[[a, self.plan[a]] for a in members],
            rollouts=8,
            support=8,
            held=[0, 1, 0, 8],
            succeeded=0,
            first=self.events.step + 2,
            last=self.events.step + 6,
            status="decided",
            cause="temporal",
            evidence=evidence,
            predictor="simulate",
            alarm=True,
            verdict="fails",
            truncated=False,
            provisional=False,
        )

    def start(self) -> None:
        self.events(
            "run_started",
            product="cooplab 0.1.0",
            schema=1,
            world=self.world,
            preset="made-up",
            agents=self.agents,
            seed=0,
            config_digest="0" * 64,
            topology={"kind": "chain", "options": {}},
            policy="always",
            pace={"kind": "lockstep", "step_ms": 0},
            planners=["scripted"] * self.agents,
            budgets={},
        )

    def act(self) -> None:
        """The first action starts with the plan, the next one a step later."""
        for agent in range(self.agents):
            plan = self.plan[agent]
            if plan is None:
                continue
            if plan not in self.done:
                self.events("plan_started", plan=plan)
            index = self.done.setdefault(plan, -1) + 1
            if index < len(VERBS):
                if index > 0:
                    self.end_action(agent, "done", None)
                verb, args = VERBS[index]
                self.done[plan] = index
                self.events("action_started", plan=plan, index=index, verb=verb, args=args)

    def end_action(self, agent: int, status: str, reason: Any) -> None:
        plan = self.plan[agent]
        self.events(
            "action_ended",
            plan=plan,
            index=self.done[plan],
            status=status,
            reason=reason,
            steps=1,
        )

    def advance(self) -> None:
        for agent in range(self.agents):
            if self.stage[agent] == "W":
                self.to(agent, "X", "start")
        self.move()
        self.events.step += 1
        self.act()
        if self.events.step % 6 == 0:
            self.score += 2
            self.events(
                "score",
                task=(self.tasks() or ["none"])[0],
                points=2.0,
                credited=list(range(min(3, self.agents))),
                total=self.score,
            )
        living = list(range(self.agents))
        self.events(
            "step", primitives=[1] * self.agents, rewards=[0.0] * self.agents, living=living
        )
        for agent in range(self.agents):
            if self.plan[agent] and self.ends[agent] <= self.events.step:
                failed = bool(self.random.integers(3) == 0)
                facts = {"need": 2, "participation": 1}
                reason = {"code": "insufficient_force", "facts": facts} if failed else None
                self.end_action(agent, "failed" if failed else "done", reason)
                self.close_plan(agent, "failed" if failed else "success", reason)
                self.to(agent, "R", "plan_failed" if failed else "plan_success")

    def play(self) -> None:
        self.start()
        self.frames.append(self.layers())
        for _ in range(self.steps):
            self.phase()
            self.repair()
            self.advance()
            self.frames.append(self.layers())
        self.events(
            "run_ended",
            ended_by="steps",
            detail=None,
            score=self.score,
            counters={},
            usage={},
            stages=[],
        )

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        self.play()
        config = {"schema": 1, "world": {"id": self.world}, "agents": self.agents, "seed": 0}
        (folder / "config.json").write_text(json.dumps(config, sort_keys=True))
        lines = (json.dumps(line, separators=(",", ":")) + "\n" for line in self.events.lines)
        (folder / "events.jsonl").write_text("".join(lines))
        encoder = FrameEncoder(self.world, self.legend)
        coded = (encoder.encode(step, layers) for step, layers in enumerate(self.frames))
        (folder / "frames.jsonl").write_bytes(b"".join(coded))
        metrics = {
            "score": self.score,
            "steps": float(self.steps),
            "messages": 12.0,
            "violation_spatial": None,
        }
        summary = {
            "schema": 1,
            "is_finished": True,
            "run_key": folder.name,
            "ended_by": "steps",
            "metrics": metrics,
        }
        (folder / "summary.json").write_text(json.dumps(summary))
        return folder


class CubePlay(Play):
    """Blocks in a board; agents step toward the left face of a block."""

    world = "cube-v1"
    legend = CUBE_LEGEND

    def __init__(
        self,
        agents: int = 3,
        steps: int = 40,
        seed: int = 0,
        side: int = 15,
        weights: tuple[int, ...] = (1, 1, 1, 2, 2, 2, 3, 3, 3),
        **more: Any,
    ) -> None:
        super().__init__(agents, steps, seed, **more)
        self.side = side
        rows = self.random.permutation(side)[:agents]
        self.cells = np.stack([rows, np.zeros(agents, int)], 1).astype(np.int16)
        self.weights = np.array(weights, np.int16)
        self.blocks = self.place()

    def place(self) -> np.ndarray:
        taken = np.zeros((self.side, self.side), bool)
        cells = []
        for weight in self.weights.tolist():
            while True:
                row, column = self.random.integers(1, self.side - weight - 1, 2).tolist()
                area = taken[row : row + weight, column : column + weight]
                if not area.any():
                    taken[row : row + weight, column : column + weight] = True
                    cells.append((row, column))
                    break
        return np.array(cells, np.int16).reshape(-1, 2)

    def layers(self) -> dict[str, np.ndarray]:
        board = np.array([self.side, self.side, self.side - 1], np.int16)
        return {
            "agent_cell": self.cells.copy(),
            "block_cell": self.blocks.copy(),
            "block_weight": self.weights.copy(),
            "board": board,
        }

    def tasks(self) -> list[str]:
        return [f"block_{b}_left" for b, cell in enumerate(self.blocks.tolist()) if cell[0] >= 0]

    def move(self) -> None:
        taken = {tuple(cell) for cell in self.cells.tolist()}
        for agent in range(self.agents):
            step = [(0, 1), (1, 0), (-1, 0), (0, -1)][int(self.random.integers(4))]
            row, column = self.cells[agent] + step
            inside = 0 <= row < self.side and 0 <= column < self.side - 1
            if inside and (row, column) not in taken and not self.covers(row, column):
                taken.discard(tuple(self.cells[agent].tolist()))
                taken.add((int(row), int(column)))
                self.cells[agent] = row, column

    def covers(self, row: int, column: int) -> bool:
        low, high = self.blocks, self.blocks + self.weights[:, None]
        inside = (low[:, 0] <= row) & (row < high[:, 0]) & (low[:, 1] <= column)
        return bool((inside & (column < high[:, 1])).any())


MATERIALS = (
    "outside",
    "water",
    "grass",
    "stone",
    "path",
    "sand",
    "tree",
    "lava",
    "coal",
    "iron",
    "diamond",
    "table",
    "furnace",
)
OBJECTS = ("none", *("-",) * 12, "agent", "cow", "zombie", "skeleton", "arrow", "plant")
ITEMS = (
    "health",
    "food",
    "drink",
    "energy",
    "sapling",
    "wood",
    "stone",
    "coal",
    "iron",
    "diamond",
    "wood_pickaxe",
    "stone_pickaxe",
    "iron_pickaxe",
    "wood_sword",
    "stone_sword",
    "iron_sword",
)


def named(names: tuple[str, ...]) -> dict[str, str]:
    return {str(number): name for number, name in enumerate(names) if name != "-"}


MACRAFTER_LEGEND = {
    "material": named(MATERIALS),
    "object": named(OBJECTS),
    "inventory": named(ITEMS),
    "agent_facing": named(("up", "down", "left", "right")),
}


class MacrafterPlay(Play):
    """A map with everything on it; agents wander, carry things, one sleeps, it gets dark."""

    world = "macrafter-v1"
    legend = MACRAFTER_LEGEND

    def __init__(
        self, agents: int = 3, steps: int = 40, seed: int = 0, side: int = 64, **more: Any
    ) -> None:
        super().__init__(agents, steps, seed, **more)
        y, x = np.indices((side, side)) / side
        height = np.sin(7 * y + seed) + np.cos(9 * x + 2 * y) + np.sin(23 * x * y)
        self.material = np.full((side, side), MATERIALS.index("grass"), np.uint8)
        for low, name in ((0.7, "stone"), (1.3, "path"), (1.6, "stone"), (2.1, "lava")):
            self.material[height > low] = MATERIALS.index(name)
        self.material[height < -1.1] = MATERIALS.index("sand")
        self.material[height < -1.4] = MATERIALS.index("water")
        chance = self.random.random((side, side))
        grass, stone = self.material == 2, self.material == 3
        self.material[grass & (chance > 0.88)] = MATERIALS.index("tree")
        for low, name in ((0.8, "coal"), (0.9, "iron"), (0.97, "diamond")):
            self.material[stone & (chance > low)] = MATERIALS.index(name)
        free = np.argwhere(self.material == 2)
        free = free[self.random.permutation(len(free))]
        self.cells = free[:agents].astype(np.int16)
        self.material[tuple(free[agents])] = MATERIALS.index("table")
        self.material[tuple(free[agents + 1])] = MATERIALS.index("furnace")
        self.object = np.zeros((side, side), np.uint8)
        for place, cell in enumerate(free[agents + 2 : agents + 2 + side]):
            self.object[tuple(cell)] = 14 + place % 5
        self.facing = np.ones(agents, np.uint8)
        self.inventory = np.zeros((agents, len(ITEMS)), np.int16)
        self.inventory[:, :4] = 9
        self.object_facing = self.random.integers(0, 4, (side, side)).astype(np.uint8)

    def layers(self) -> dict[str, np.ndarray]:
        asleep = np.zeros(self.agents, np.uint8)
        asleep[self.agents - 1] = self.events.step % 10 > 6
        objects = self.object.copy()
        objects[tuple(self.cells.T)] = 13
        light = 100 if self.events.step < 20 else max(10, 100 - 5 * (self.events.step - 20))
        return {
            "material": self.material.copy(),
            "object": objects,
            "object_facing": self.object_facing.copy(),
            "agent_cell": self.cells.copy(),
            "agent_facing": self.facing.copy(),
            "is_alive": np.ones(self.agents, np.uint8),
            "is_asleep": asleep,
            "inventory": self.inventory.copy(),
            "light": np.array([light], np.uint8),
        }

    def tasks(self) -> list[str]:
        found = np.argwhere((self.material >= 8) & (self.material <= 10))[:40].tolist()
        return [f"{MATERIALS[self.material[r, c]]}@{r},{c}" for r, c in found]

    def move(self) -> None:
        steps = [(-1, 0), (1, 0), (0, -1), (0, 1)]
        taken = {tuple(cell) for cell in self.cells.tolist()}
        for agent in range(self.agents):
            self.facing[agent] = way = int(self.random.integers(4))
            cell = tuple((self.cells[agent] + steps[way]).tolist())
            inside = all(0 <= part < len(self.material) for part in cell)
            if inside and cell not in taken and self.material[cell] in (2, 4, 5):
                taken.add(cell)
                self.cells[agent] = cell
        self.inventory[self.random.integers(self.agents), self.random.integers(4, 16)] += 1
        self.inventory[:, 1:3] = 9 - self.events.step // 12
