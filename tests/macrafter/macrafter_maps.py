"""The maps of MA-Crafter once more, in plain Python, written apart from the kernels."""

import math
from collections import deque

import numpy as np
from macrafter_oracle import Stream

MASK = (1 << 64) - 1
WALKABLE = ("grass", "path", "sand")


class Noise:
    """OpenSimplex noise as a plain sum over lattice points."""

    def __init__(self, seed):
        def turn(state):
            return (state * 6364136223846793005 + 1442695040888963407) & MASK

        state, source, self.perm = seed, list(range(256)), [0] * 256
        for _ in range(3):
            state = turn(state)
        for i in range(255, -1, -1):
            state = turn(state)
            signed = state - (1 << 64) if state >> 63 else state
            r = (signed + 31) % (i + 1)
            self.perm[i], source[r] = source[r], source[i]

    def gradient(self, i, j, k):
        p = self.perm
        q, m = divmod(p[(p[(p[i & 255] + j) & 255] + k) & 255] % 24, 3)
        x = (-1 if q % 2 == 0 else 1) * (11 if m == 0 else 4)
        y = (1 if q // 2 % 2 == 0 else -1) * (11 if m == 1 else 4)
        z = (1 if q < 4 else -1) * (11 if m == 2 else 4)
        return x, y, z

    def __call__(self, x, y, z):
        skew = (x + y + z) / 6
        base = [math.floor(v - skew) for v in (x, y, z)]
        total = 0.0
        for i in range(base[0] - 1, base[0] + 3):
            for j in range(base[1] - 1, base[1] + 3):
                for k in range(base[2] - 1, base[2] + 3):
                    shift = (i + j + k) / 3
                    d = x - i - shift, y - j - shift, z - k - shift
                    a = 2 - d[0] * d[0] - d[1] * d[1] - d[2] * d[2]
                    if a > 1e-9:  # else rounding decides whether 0 is above 0
                        g = self.gradient(i, j, k)
                        total += a**4 * (g[0] * d[0] + g[1] * d[1] + g[2] * d[2])
        return total / 103


def draw_terrain(height, width, stream):
    """Materials by cell, and the cells of tunnels."""
    noise = Noise(stream.below(2**31 - 1))
    material, tunnels = {}, set()
    for row in range(height):
        for column in range(width):
            name, is_tunnel = draw_cell(noise, stream, row, column, height // 2, width // 2)
            material[row, column] = name
            if is_tunnel:
                tunnels.add((row, column))
    return material, tunnels


def draw_cell(noise, stream, row, column, middle_row, middle_column):
    def n(z, s):
        return noise(column / s, row / s, z)

    away = math.hypot(row - middle_row, column - middle_column)
    start = 1 / (1 + math.exp(-(4 - away + 2 * n(8, 3))))
    water = n(3, 15) + 0.15 * n(3, 5) + 0.1 - 2 * start
    mountain = (n(0, 15) + 0.3 * n(0, 5)) / 1.3 - 4 * start - 0.3 * water
    u = stream.uniform
    if start > 0.5:
        return "grass", False
    if mountain > 0.15:
        if mountain > 0.3 and n(6, 7) > 0.15:
            return "path", False
        if noise(2 * column / 3, row / 15, 7) > 0.4 or noise(column / 15, 2 * row / 3, 7) > 0.4:
            return "path", True
        if n(1, 8) > 0 and u() > 0.85:
            return "coal", False
        if n(2, 6) > 0.4 and u() > 0.75:
            return "iron", False
        if mountain > 0.18 and u() > 0.994:
            return "diamond", False
        return ("lava" if mountain > 0.3 and n(6, 5) > 0.35 else "stone"), False
    if 0.25 < water <= 0.35 and n(4, 9) > -0.2:
        return "sand", False
    if water > 0.3:
        return "water", False
    return ("tree" if n(5, 7) > 0 and u() > 0.8 else "grass"), False


def regions(material, passable):
    """4-connected sets of passable cells, by first cell in row-major order."""
    left, found = {cell for cell, name in material.items() if name in passable}, []
    for cell in sorted(left):
        if cell in left:
            left.discard(cell)
            region, queue = {cell}, deque([cell])
            while queue:
                r, c = queue.popleft()
                for near in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
                    if near in left:
                        left.discard(near)
                        region.add(near)
                        queue.append(near)
            found.append(region)
    return found


def chosen_region(material, config, table):
    passable = set(WALKABLE)
    for name in ("tree", "stone"):
        if table.collect[name].agents <= config.agents:
            passable.add(name)
    found = regions(material, passable)
    if config.spawn == "together":
        height, width = max(material)[0] + 1, max(material)[1] + 1
        middle = height // 2, width // 2
        return next((region for region in found if middle in region), set())
    return max(found, key=lambda region: sum(material[c] == "grass" for c in region))


def spawn(material, region, config, stream):
    """Cells of the agents, or None."""
    if config.spawn == "together":
        height, width = max(material)[0] + 1, max(material)[1] + 1
        grass = [c for c in region if material[c] == "grass"]
        grass.sort(key=lambda c: ((c[0] - height // 2) ** 2 + (c[1] - width // 2) ** 2, c))
        return grass[: config.agents] if len(grass) >= config.agents else None
    where = region if config.ensure_solvable else set(material)
    grass = sorted(c for c in where if material[c] == "grass")
    if len(grass) < config.agents:
        return None
    return [grass.pop(stream.below(len(grass))) for _ in range(config.agents)]


def shortages(material, region, config, table):
    """Sources of which there are fewer usable cells than wanted: name -> (usable, wanted)."""
    use = dict.fromkeys(("wood", "stone", "coal", "iron", "diamond"), 0)
    for tool in ("wood_pickaxe", "stone_pickaxe", "iron_pickaxe"):
        for item, count in table.make[tool].uses.items():
            use[item] += config.agents * count
    for station in ("table", "furnace"):
        for item, count in table.place[station].uses.items():
            use[item] += count
    wanted = {
        name: max(1, math.ceil(use[rule.gives] / (rule.amount * rule.agents)))
        for name, rule in table.collect.items()
        if name in ("tree", "stone", "coal", "iron", "diamond")
    }
    if config.vitals:
        wanted["water"] = 1
    usable = dict.fromkeys(wanted, 0)
    for cell, name in material.items():
        if name in wanted and len(stand_cells(cell, region, config.reach)) >= (
            table.collect[name].agents
        ):
            usable[name] += 1
    return {k: (usable[k], wanted[k]) for k in wanted if usable[k] < wanted[k]}


def stand_cells(cell, region, reach):
    cells = []
    for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        for steps in range(1, reach + 1):
            near = cell[0] + steps * down, cell[1] + steps * right
            if near not in region:
                break
            cells.append(near)
    return cells


def creatures(material, tunnels, agents, config, stream):
    """(kind, cell), row-major."""
    found = []
    for cell in sorted(material):
        if material[cell] not in WALKABLE or cell in agents:
            continue
        away = min(math.dist(cell, agent) for agent in agents)
        if config.cows and away > 3 and material[cell] == "grass" and stream.uniform() > 0.985:
            found.append(("cow", cell))
        elif config.zombies and away > 10 and stream.uniform() > 0.993:
            found.append(("zombie", cell))
        elif config.skeletons and cell in tunnels and stream.uniform() > 0.95:
            found.append(("skeleton", cell))
    return found


def make_world(config, table, seed):
    """(material, agents, creatures, tries) of a start state, or None."""
    root = Stream.seeded(seed)
    for attempt in range(config.solvable_tries):
        stream = root.fork(100 + attempt)
        material, tunnels = draw_terrain(*config.shape, stream)
        region = chosen_region(material, config, table)
        agents = spawn(material, region, config, stream)
        if agents is None:
            continue
        if config.ensure_solvable and shortages(material, region, config, table):
            continue
        return material, agents, creatures(material, tunnels, agents, config, stream), attempt
    return None


def as_array(material):
    """[H, W] of names."""
    height, width = max(material)[0] + 1, max(material)[1] + 1
    names = [[material[row, column] for column in range(width)] for row in range(height)]
    return np.array(names)
