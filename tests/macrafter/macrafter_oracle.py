"""The rules of MA-Crafter once more, in plain Python, written apart from the kernels.

It reads like the rules do: dictionaries, groups, sorted lists. It shares with the product the
names of things and the rows of the technology table, and no function.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from worlds.macrafter.state import ACHIEVEMENTS, ACTIONS, CREATURES, ITEMS, MATERIALS, REASONS

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
STEP = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
NAMES = ("up", "down", "left", "right")
BACK = {"up": "down", "down": "up", "left": "right", "right": "left"}
WALKABLE = {"grass", "path", "sand"}
THINGS = (*ITEMS, "table", "furnace", "cow", "zombie", "skeleton", "arrow", "plant")
NEAR, TRYING, CAPABLE, ACTING, CREDITED = 1, 2, 4, 8, 16


def mix(x):
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


class Stream:
    def __init__(self, key, counter=0):
        self.key, self.counter = key, counter

    @classmethod
    def seeded(cls, seed):
        return cls(mix((seed + GOLDEN) & MASK))

    def fork(self, label):
        return Stream(mix((mix(self.key) + (label + 1) * GOLDEN) & MASK))

    def uniform(self):
        self.counter += 1
        return (mix((self.key + self.counter * GOLDEN) & MASK) >> 11) * 2.0**-53

    def below(self, n):
        return int(self.uniform() * n)

    def chance(self, p):
        return p > 0 and (p >= 1 or self.uniform() < p)


@dataclass
class Agent:
    id: int
    cell: tuple
    facing: str = "down"
    alive: bool = True
    asleep: bool = False
    items: dict = field(default_factory=dict)
    last_health: int = 9
    hunger: int = 0
    thirst: int = 0
    fatigue: int = 0
    recovery: int = 0
    wins: dict = field(default_factory=dict)
    known: object = None


@dataclass
class Creature:
    kind: str
    cell: tuple
    health: int
    serial: int
    born: int
    facing: str = "down"
    timer: int = 0


@dataclass
class Row:
    task: int
    need: int
    participation: int
    spatial: int
    temporal: int
    dependency: int
    dependency_need: int
    members: int
    in_place: int
    result: int
    reason: str
    action: int
    item: str
    cell: tuple
    score: float = 0.0

    def numbers(self):
        return [
            self.task, self.need, self.participation, self.spatial, self.temporal,
            self.dependency, self.dependency_need, self.members, self.in_place, self.result,
            REASONS.index(self.reason), self.action, THINGS.index(self.item), *self.cell,
        ]  # fmt: skip


def distance(a, b):
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def add(cell, facing):
    return cell[0] + STEP[facing][0], cell[1] + STEP[facing][1]


class Oracle:
    """One world. `load` takes the start from a state of the product, a batch of one."""

    def __init__(self, config, table):
        self.config, self.table = config, table

    def load(self, state):
        self.height, self.width = state.material.shape[1:]
        self.stream = Stream(*(int(x) for x in state.stream[0]))
        self.step_count, self.light = int(state.step[0]), float(state.light[0])
        self.material = {
            (r, c): MATERIALS[state.material[0, r, c]]
            for r in range(self.height)
            for c in range(self.width)
        }
        self.agents = [self._load_agent(state, a) for a in range(state.is_alive.shape[1])]
        self.creatures = {
            int(k): Creature(
                CREATURES[state.creature_kind[0, k]],
                tuple(state.creature_cell[0, k].tolist()),
                int(state.creature_health[0, k]),
                int(state.creature_serial[0, k]),
                int(state.creature_born[0, k]),
                NAMES[state.creature_facing[0, k]],
                int(state.creature_timer[0, k]),
            )
            for k in np.flatnonzero(state.creature_kind[0])
        }
        self.slots = state.creature_kind.shape[1]
        self.next_serial, self.score = int(state.next_serial[0]), float(state.score[0])
        self.truncated = bool(state.is_truncated[0])
        self.objects = {a.cell: ("agent", a.id) for a in self.agents if a.alive}
        self.objects |= {c.cell: ("creature", k) for k, c in self.creatures.items()}
        return self

    def _load_agent(self, state, a):
        items = dict(zip(ITEMS, state.inventory[0, a].tolist(), strict=True))
        wins = dict(zip(ACHIEVEMENTS, state.achievements[0, a].tolist(), strict=True))
        return Agent(
            a,
            tuple(state.agent_cell[0, a].tolist()),
            NAMES[state.agent_facing[0, a]],
            bool(state.is_alive[0, a]),
            bool(state.is_asleep[0, a]),
            items,
            int(state.last_health[0, a]),
            *state.counters[0, a].tolist(),
            wins,
            state.known[0, a].copy(),
        )

    def cap(self, item):
        return 9 if item in ITEMS[:4] else self.config.item_cap

    def live(self):
        return [agent for agent in self.agents if agent.alive]

    def nearest(self, cell):
        """(distance, agent), ties by smallest id."""
        pairs = [(distance(agent.cell, cell), agent.id) for agent in self.live()]
        return min(pairs) if pairs else (10**9, None)

    # --- the step --------------------------------------------------------------------------------

    def step(self, actions, declared, arguments):
        config = self.config
        self.step_count += 1
        phase = (self.step_count / 300) % 1 + 0.3
        light = 1 - abs(math.cos(math.pi * phase)) ** 3
        self.light = round(light, 6) if config.day_night else 1.0
        count = len(self.agents)
        self.outcome, self.reason = ["idle"] * count, ["none"] * count
        self.harm, self.given, self.rewards = (
            [set() for _ in range(count)],
            [0] * count,
            [0.0] * count,
        )
        self.rows, self.row_of, self.part = [], [-1] * count, [0] * count
        self.first = [False] * count
        health = [agent.items["health"] for agent in self.agents]
        self.acts = [
            ACTIONS[n] if a.alive else "noop" for n, a in zip(actions, self.agents, strict=True)
        ]
        for agent in self.live():
            if agent.asleep:
                if agent.items["energy"] < 9:
                    self.acts[agent.id] = "sleep"
                else:
                    agent.asleep = False
                    self.win(agent, "wake_up")
        self.collect(declared)
        self.craft()
        self.place()
        self.share(arguments)
        self.move()
        for agent in self.live():
            if self.acts[agent.id] == "sleep":
                agent.asleep = agent.items["energy"] < 9
                self.finish(agent, None if agent.asleep else "not_tired")
        self.needs()
        self.walk_creatures()
        if config.balance and self.step_count % 10 == 0:
            self.balance()
        self.end(health)
        self.see()

    def win(self, agent, name):
        if name is not None:
            agent.wins[name] += 1
            if agent.wins[name] == 1:
                self.first[agent.id] = True

    def give(self, agent, item, amount):
        agent.items[item] = min(agent.items[item] + amount, self.cap(item))

    def finish(self, agent, failure):
        self.outcome[agent.id] = "failed" if failure else "done"
        self.reason[agent.id] = failure or "none"

    # --- collect ---------------------------------------------------------------------------------

    def source_row(self, material):
        if material == "grass" and not self.config.plants:
            return None
        return self.table.collect.get(material)

    def look_along(self, agent):
        """The task faced by an agent that does `do`: ("cell", cell), ("creature", slot), None."""
        cell = agent.cell
        for _ in range(self.config.reach):
            cell = add(cell, agent.facing)
            if cell not in self.material:
                break
            if cell in self.objects:
                kind, which = self.objects[cell]
                if kind == "creature" and self.creatures[which].kind != "arrow":
                    return "creature", which
                break
            ground = self.material[cell]
            if ground == "grass":
                continue
            if ground in self.table.collect:
                return "cell", cell
            if ground not in ("sand", "path"):
                break
        ahead = add(agent.cell, agent.facing)
        is_grass = self.material.get(ahead) == "grass" and ahead not in self.objects
        if self.config.plants and is_grass and "grass" in self.table.collect:
            return "cell", ahead
        return None

    def declared_target(self, number):
        cells = self.height * self.width
        if number < 0:
            return None
        if number < cells:
            cell = divmod(number, self.width)
            return ("cell", cell) if self.source_row(self.material[cell]) else None
        for slot, creature in self.creatures.items():
            if creature.serial == number - cells and creature.kind in self.table.creature:
                return "creature", slot
        return None

    def number(self, target):
        kind, which = target
        if kind == "cell":
            return which[0] * self.width + which[1]
        return self.height * self.width + self.creatures[which].serial

    def collect(self, declared):
        members = {}
        for agent in self.live():
            act = self.acts[agent.id]
            if act.startswith(("make_", "place_")):
                continue
            target = self.look_along(agent) if act == "do" else None
            part = ACTING
            if target is None:
                target = self.declared_target(declared[agent.id])
                part = TRYING if act == "do" else 0
                if act == "do":
                    self.finish(agent, "not_in_reach" if target else "nothing_in_reach")
            if target:
                members.setdefault(target, []).append((agent, part))
        for target in sorted(members, key=self.number):
            self.resolve(target, members[target])

    def resolve(self, target, members):
        if target[0] == "cell":
            ground, cell = self.material[target[1]], target[1]
            rule, tool = self.table.collect[ground], self.table.collect[ground].tool
            item = rule.gives
        else:
            creature = self.creatures[target[1]]
            rule, tool, cell, item = (
                self.table.creature[creature.kind],
                None,
                creature.cell,
                creature.kind,
            )
        able = [a for a, _ in members if tool is None or a.items[tool] > 0]
        near = [a for a, _ in members if distance(a.cell, cell) <= self.config.reach]
        acting = [a for a, part in members if part & ACTING]
        trying = [a for a, part in members if part & TRYING]
        joint = [a for a in acting if a in able]
        row = Row(
            self.number(target), rule.agents, len(joint), len(near), len(acting) + len(trying),
            len(able), rule.agents if tool else 0, len(members),
            sum(distance(a.cell, cell) <= self.config.reach for a in self.live()),
            0, "waiting", 0 if target[0] == "cell" else 1, item, cell,
        )  # fmt: skip
        for agent, part in members:
            bits = part | (NEAR if agent in near else 0) | (CAPABLE if agent in able else 0)
            self.part[agent.id], self.row_of[agent.id] = bits, len(self.rows)
        self.rows.append(row)
        if not acting:
            row.result, row.reason = (1, "not_in_reach") if trying else (0, "waiting")
        elif len(joint) < rule.agents:
            row.result = 1
            row.reason = "too_few_participants" if len(acting) < rule.agents else "missing_tool"
            self.answer(acting, joint, "too_few_participants")
        elif target[0] == "cell":
            self.take(target[1], rule, row, acting, joint)
        else:
            self.attack(target[1], rule, row, acting, joint)

    def answer(self, acting, joint, failure):
        for agent in acting:
            self.finish(agent, failure if agent in joint else "missing_tool")

    def take(self, cell, rule, row, acting, joint):
        if not self.stream.chance(rule.chance):
            row.result, row.reason = 3, "no_yield"
            self.answer(acting, joint, "no_yield")
            return
        row.result = 4 if rule.leaves != rule.source else 3
        self.material[cell] = rule.leaves
        self.reward(rule, row, acting, joint)
        if rule.base_score > 0:
            credited = rule.agents if self.config.credit == "required" else len(joint)
            row.score = rule.unit_score * rule.amount * credited
            self.score += row.score
            if self.config.reward == "score":
                for agent in joint:
                    self.rewards[agent.id] += row.score / len(joint)

    def reward(self, rule, row, acting, joint):
        row.reason = "success"
        self.answer(acting, joint, None)
        for agent in joint:
            self.part[agent.id] |= CREDITED
            if rule.gives:
                self.give(agent, rule.gives, rule.amount)
            if rule.gives == "drink":
                agent.thirst = 0
            if getattr(rule, "kind", None) == "cow":
                agent.hunger = 0
            self.win(agent, rule.achievement)

    def attack(self, slot, rule, row, acting, joint):
        creature = self.creatures[slot]
        if creature.kind == "plant":
            if creature.timer <= 300:
                row.result, row.reason = 2, "not_ripe"
                self.answer(acting, joint, "not_ripe")
                return
            creature.timer = 0
            row.result = 3
            self.reward(rule, row, acting, joint)
            return
        swords = {"iron_sword": 5, "stone_sword": 3, "wood_sword": 2}
        for agent in joint:
            creature.health -= max([1, *(d for s, d in swords.items() if agent.items[s] > 0)])
        if creature.health <= 0:
            self.remove(slot)
            row.result = 4
            self.reward(rule, row, acting, joint)
        else:
            row.result, row.reason = 3, "hit"
            for agent in acting:
                self.outcome[agent.id], self.reason[agent.id] = "done", "hit"

    def remove(self, slot):
        del self.objects[self.creatures.pop(slot).cell]

    # --- craft and place -------------------------------------------------------------------------

    def around(self, cell):
        """The 3 x 3 block, row-major."""
        block = [(cell[0] + i, cell[1] + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        return [c for c in block if c in self.material]

    def craft(self):
        """Groups as they are described: for each station cell, everyone near and not grouped."""
        groups, grouped = [], set()
        for name, rule in self.table.make.items():
            crew = [a for a in self.live() if self.acts[a.id] == f"make_{name}"]
            fit = []
            for agent in crew:
                grounds = {self.material[c] for c in self.around(agent.cell)}
                if set(rule.stations) <= grounds:
                    fit.append(agent)
                else:
                    groups.append((name, rule, None, [agent]))
            cells = sorted(
                {
                    c
                    for a in fit
                    for c in self.around(a.cell)
                    if self.material[c] == rule.stations[-1]
                }
            )
            if rule.agents == 1:
                for agent in fit:
                    first = next(c for c in cells if c in self.around(agent.cell))
                    groups.append((name, rule, first, [agent]))
                continue
            for cell in cells:
                here = [a for a in fit if a.id not in grouped and cell in self.around(a.cell)]
                grouped |= {a.id for a in here}
                if here:
                    groups.append((name, rule, cell, here))
        for name, rule, cell, crew in sorted(groups, key=lambda group: group[3][0].id):
            failure = "no_station" if cell is None else None
            if self.try_recipe(2, name, rule, cell, crew, failure):
                for agent in crew:
                    self.give(agent, name, 1)

    def place(self):
        done = set()
        for agent in self.live():
            act = self.acts[agent.id]
            if not act.startswith("place_") or agent.id in done:
                continue
            name = act.removeprefix("place_")
            rule, cell = self.table.place[name], add(agent.cell, agent.facing)
            crew = [agent]
            if rule.agents > 1:
                crew = [
                    a
                    for a in self.live()
                    if self.acts[a.id] == act and add(a.cell, a.facing) == cell
                ]
            done |= {a.id for a in crew}
            failure = None
            if cell not in self.material:
                failure, cell = "out_of_bounds", None
            elif cell in self.objects:
                failure = "occupied"
            elif self.material[cell] not in rule.on:
                failure = "wrong_ground"
            if self.try_recipe(3, name, rule, cell, crew, failure):
                if name == "plant":
                    self.spawn("plant", cell, self.table.creature["plant"].health)
                else:
                    self.material[cell] = name

    def try_recipe(self, action, name, rule, cell, crew, failure):
        covered = all(sum(a.items[i] for a in crew) >= n for i, n in rule.uses.items())
        near = failure != "no_station"
        if failure is None and len(crew) < rule.agents:
            failure = "too_few_participants"
        if failure is None and not covered:
            failure = "missing_items"
        if (
            failure is None
            and action == 3
            and name == "plant"
            and len(self.creatures) == self.slots
        ):
            failure = "no_room"
        n = len(crew)
        joint = n if near and covered else 0
        row = Row(
            -1 if cell is None else cell[0] * self.width + cell[1],
            rule.agents, joint, n if near else 0, n, n if covered else 0, rule.agents, n, n,
            1 if joint < rule.agents else 2 if failure else 3,
            failure or "success", action, name, cell or (-1, -1),
        )  # fmt: skip
        self.rows.append(row)
        for agent in crew:
            bits = ACTING | (NEAR if near else 0) | (CAPABLE if covered else 0)
            self.part[agent.id] = bits | (0 if failure else CREDITED)
            self.row_of[agent.id] = len(self.rows) - 1
            self.finish(agent, failure)
        if failure:
            return False
        for item, due in rule.uses.items():
            for agent in crew:
                paid = min(due, agent.items[item])
                agent.items[item] -= paid
                due -= paid
        for agent in crew:
            self.win(agent, rule.achievement)
        return True

    # --- share, move -----------------------------------------------------------------------------

    def share(self, arguments):
        givers = [a for a in self.live() if self.acts[a.id] == "share"]
        stock = {a.id: dict(a.items) for a in givers}
        for giver in givers:
            recipient, item, quantity = arguments[giver.id]
            failure, amount = None, 0
            if recipient == -1:
                failure = "no_arguments"
            elif recipient == giver.id or not self.agents[recipient].alive:
                failure = "no_such_recipient"
            elif item < 4:
                failure = "not_shareable"
            else:
                other, name = self.agents[recipient], ITEMS[item]
                radius = self.config.share_radius
                room = self.cap(name) - other.items[name]
                amount = min(quantity, stock[giver.id][name], room)
                if radius is not None and distance(giver.cell, other.cell) > radius:
                    failure = "too_far"
                elif min(quantity, stock[giver.id][name]) <= 0:
                    failure = "nothing_to_give"
                elif room <= 0:
                    failure = "recipient_full"
                else:
                    giver.items[name] -= amount
                    other.items[name] += amount
                    self.given[giver.id] = amount
            self.finish(giver, failure)

    def move(self):
        for agent in self.live():
            act = self.acts[agent.id]
            if not act.startswith("move_"):
                continue
            agent.facing = act.removeprefix("move_")
            cell, failure = add(agent.cell, agent.facing), None
            if cell not in self.material:
                failure = "wall"
            elif cell in self.objects:
                failure = self.objects[cell][0]
            elif self.material[cell] not in WALKABLE | {"lava"}:
                failure = "ground"
            self.finish(agent, failure)
            if failure is None:
                del self.objects[agent.cell]
                agent.cell = cell
                self.objects[cell] = ("agent", agent.id)
                if self.material[cell] == "lava":
                    agent.items["health"] = 0
                    self.harm[agent.id].add("lava")

    # --- needs -----------------------------------------------------------------------------------

    def needs(self):
        for agent in self.live():
            items = agent.items
            if items["health"] <= 0:
                continue
            if self.config.vitals:
                before = items["health"]
                self.age(agent)
                if items["health"] < before:
                    self.harm[agent.id].add("needs")
            for item in ITEMS:
                items[item] = max(0, min(items[item], self.cap(item)))
            if items["health"] < agent.last_health:
                agent.asleep = False
            agent.last_health = items["health"]

    @staticmethod
    def age(agent):
        items, asleep = agent.items, agent.asleep
        agent.hunger += 1 if asleep else 2
        if agent.hunger > 50:
            agent.hunger, items["food"] = 0, items["food"] - 1
        agent.thirst += 1 if asleep else 2
        if agent.thirst > 40:
            agent.thirst, items["drink"] = 0, items["drink"] - 1
        agent.fatigue = min(agent.fatigue - 1, 0) if asleep else agent.fatigue + 1
        if agent.fatigue < -10:
            agent.fatigue, items["energy"] = 0, items["energy"] + 1
        if agent.fatigue > 30:
            agent.fatigue, items["energy"] = 0, items["energy"] - 1
        fine = items["food"] > 0 and items["drink"] > 0 and (items["energy"] > 0 or asleep)
        agent.recovery += (4 if asleep else 2) if fine else (-1 if asleep else -2)
        if agent.recovery > 50:
            agent.recovery, items["health"] = 0, items["health"] + 1
        if agent.recovery < -30:
            agent.recovery, items["health"] = 0, items["health"] - 1

    # --- creatures -------------------------------------------------------------------------------

    def spawn(self, kind, cell, health, facing="down", born=None):
        free = [k for k in range(self.slots) if k not in self.creatures]
        if not free:
            return
        born = self.step_count if born is None else born
        self.creatures[free[0]] = Creature(kind, cell, health, self.next_serial, born, facing)
        self.objects[cell] = ("creature", free[0])
        self.next_serial += 1

    def step_creature(self, slot, facing):
        """Whether the creature moved."""
        if facing is None:
            return False
        creature = self.creatures[slot]
        cell = add(creature.cell, facing)
        if cell in self.objects or self.material.get(cell) not in WALKABLE:
            return False
        del self.objects[creature.cell]
        creature.cell, creature.facing = cell, facing
        self.objects[cell] = ("creature", slot)
        return True

    @staticmethod
    def toward(here, there, long):
        down, right = there[0] - here[0], there[1] - here[1]
        vertical = ("down" if down > 0 else "up") if down else None
        horizontal = ("right" if right > 0 else "left") if right else None
        if abs(down) >= abs(right):
            return vertical if long else horizontal
        return horizontal if long else vertical

    def stroll(self, slot):
        self.step_creature(slot, NAMES[self.stream.below(4)])

    def walk_creatures(self):
        radius = self.config.active_radius
        for slot in range(self.slots):
            creature = self.creatures.get(slot)
            if creature is None or creature.born == self.step_count:
                continue
            away, who = self.nearest(creature.cell)
            if radius is not None and away >= radius:
                continue
            getattr(self, f"act_{creature.kind}")(slot, creature, away, who)

    def act_cow(self, slot, creature, away, who):
        if self.stream.chance(0.5):
            self.stroll(slot)

    def act_zombie(self, slot, creature, away, who):
        if away <= 8 and self.stream.chance(0.9):
            long = self.stream.chance(0.8)
            self.step_creature(slot, self.toward(creature.cell, self.agents[who].cell, long))
        else:
            self.stroll(slot)
        away, who = self.nearest(creature.cell)
        if away <= 1:
            if creature.timer > 0:
                creature.timer -= 1
            else:
                self.agents[who].items["health"] -= 7 if self.agents[who].asleep else 2
                self.harm[who].add("zombie")
                creature.timer = 5

    def act_skeleton(self, slot, creature, away, who):
        creature.timer = max(0, creature.timer - 1)
        there = self.agents[who].cell if who is not None else None
        if away <= 3:
            ahead = self.toward(creature.cell, there, self.stream.chance(0.6))
            if ahead and self.step_creature(slot, BACK[ahead]):
                return
        if away <= 5 and self.stream.chance(0.5):
            facing = self.toward(creature.cell, there, True)
            cell = add(creature.cell, facing)
            if creature.timer == 0 and self.is_open(cell) and cell not in self.objects:
                self.spawn("arrow", cell, 0, facing)
                creature.timer = 4
        elif away <= 8 and self.stream.chance(0.3):
            self.step_creature(slot, self.toward(creature.cell, there, self.stream.chance(0.6)))
        elif self.stream.chance(0.2):
            self.stroll(slot)

    def is_open(self, cell):
        return self.material.get(cell) in WALKABLE | {"water", "lava"}

    def act_arrow(self, slot, creature, away, who):
        cell = add(creature.cell, creature.facing)
        if cell in self.objects:
            kind, hit = self.objects[cell]
            if kind == "agent":
                self.agents[hit].items["health"] -= 2
                self.harm[hit].add("arrow")
            elif self.creatures[hit].kind == "arrow":
                self.remove(hit)
            else:
                self.creatures[hit].health -= 2
                if self.creatures[hit].health <= 0:
                    self.remove(hit)
            self.remove(slot)
        elif self.is_open(cell):
            del self.objects[creature.cell]
            creature.cell = cell
            self.objects[cell] = ("creature", slot)
        else:
            if self.material.get(cell) in ("table", "furnace"):
                self.material[cell] = "path"
            self.remove(slot)

    def act_plant(self, slot, creature, away, who):
        creature.timer = min(creature.timer + 1, 301)
        beside = [self.objects.get(add(creature.cell, facing)) for facing in NAMES]
        kinds = [self.creatures[o[1]].kind for o in beside if o and o[0] == "creature"]
        if {"cow", "zombie", "skeleton"} & set(kinds):
            creature.health -= 1
        if creature.health <= 0:
            self.remove(slot)

    def balance(self):
        config = self.config
        for top in range(0, self.height, 12):
            for left in range(0, self.width, 12):
                cells = [
                    (r, c)
                    for r in range(top, min(top + 12, self.height))
                    for c in range(left, min(left + 12, self.width))
                ]
                night = math.floor(3.5 - 3 * self.light)
                evening = math.floor(1.5 + self.light)
                grass = [c for c in cells if self.material[c] == "grass"]
                path = [c for c in cells if self.material[c] == "path"]
                low = 0 if len(grass) < 50 else night
                if config.zombies:
                    self.balance_kind("zombie", cells, grass, low, night, 0.3, 0.4, 6, 0)
                low = 0 if len(path) < 6 else 1
                if config.skeletons:
                    self.balance_kind("skeleton", cells, path, low, 2, 0.1, 0.1, 7, 7)
                low = 0 if len(grass) < 30 else 1
                if config.cows:
                    self.balance_kind("cow", cells, grass, low, evening, 0.01, 0.1, 5, 5)

    def balance_kind(self, kind, cells, ground, low, high, p, q, near, far):
        inside = set(cells)
        slots = sorted(k for k, c in self.creatures.items() if c.kind == kind and c.cell in inside)
        if len(slots) < low and self.stream.chance(p):
            cell = ground[self.stream.below(len(ground))]
            if cell not in self.objects and self.nearest(cell)[0] >= near:
                self.spawn(kind, cell, self.table.creature[kind].health)
        elif len(slots) > high and self.stream.chance(q):
            slot = slots[self.stream.below(len(slots))]
            if self.nearest(self.creatures[slot].cell)[0] >= far:
                self.remove(slot)

    # --- end -------------------------------------------------------------------------------------

    def end(self, health):
        for agent in self.live():
            if agent.items["health"] <= 0:
                del self.objects[agent.cell]
                agent.cell, agent.alive, agent.asleep = (-1, -1), False, False
                agent.items["health"] = 0
                for item in ITEMS[4:]:
                    agent.items[item] = 0
            if self.config.reward == "crafter":
                gain = (agent.items["health"] - health[agent.id]) / 10
                self.rewards[agent.id] = gain + self.first[agent.id]
        self.truncated = bool(self.live()) and self.step_count >= self.config.max_steps

    def see(self):
        up, left = self.config.view[0] // 2, self.config.view[1] // 2
        for agent in self.live():
            row, column = agent.cell
            cells = [agent.cell]
            if not agent.asleep:
                cells = [
                    (r, c)
                    for r in range(row - up, row + up + 1)
                    for c in range(column - left, column + left + 1)
                    if (r, c) in self.material
                ]
            for cell in cells:
                agent.known[cell] = MATERIALS.index(self.material[cell])
