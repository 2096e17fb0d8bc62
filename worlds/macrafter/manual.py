"""The manual that agents of MA-Crafter are given, and the sentence of every reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from worlds.macrafter.concepts import SUMMARIES
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.state import VITAL_CAP
from worlds.macrafter.table import SWITCHED, CollectRow, Table

__all__ = ["REASON_SENTENCES", "manual_text"]

REASON_SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "none": "Nothing stood in the way.",
        "wall": "The next cell is outside the map.",
        "agent": "An agent stands on the next cell.",
        "creature": "A creature stands on the next cell.",
        "ground": "The next cell cannot be walked on.",
        "nothing_in_reach": "Nothing that can be collected is in reach.",
        "not_in_reach": "The target is not in reach from here.",
        "too_few_participants": "It needs {need} capable participants in the same step, "
        "{participation} took part.",
        "missing_tool": "It needs {tool}, which you do not hold.",
        "missing_items": "The items it uses up are missing.",
        "no_station": "Not all the stations it needs stand beside you.",
        "occupied": "Something stands on that cell.",
        "wrong_ground": "It cannot be placed on that ground.",
        "out_of_bounds": "That cell is outside the map.",
        "not_ripe": "The plant is not ripe.",
        "no_yield": "The grass gave no sapling this time.",
        "hit": "The creature was hit and is not beaten.",
        "no_arguments": "A gift needs a recipient, an item and a quantity.",
        "no_such_recipient": "There is no such living recipient other than you.",
        "not_shareable": "Health, food, drink and energy cannot be given.",
        "too_far": "The recipient is too far away for a gift.",
        "nothing_to_give": "You hold none of that item.",
        "recipient_full": "The recipient cannot carry more of it.",
        "not_tired": "Your energy is full, so you cannot sleep.",
        "no_room": "The world holds no more creatures or plants.",
        "waiting": "Everybody at the target waited; nobody acted.",
        "success": "It succeeded.",
        "unknown_reference": "{reference} is not in your knowledge.",
        "timeout": "Gave up after {steps} steps.",
        "blocked": "No progress for {steps} steps: others are in the way.",
        "no_path": "No walkable path leads there.",
        "target_lost": "{target} is no longer where it was last seen.",
        "nothing_unknown": "No known walkable cell borders on unseen ground on that side.",
        "lava_ahead": "The next cell is lava; entering it kills.",
        "no_place": "No cell beside you can take it.",
        "station_busy": "Another agent holds the station.",
        "unknown_verb": 'There is no verb "{verb}".',
        "missing_argument": "The argument {field} is missing.",
        "extra_argument": "There is no argument {field}.",
        "bad_argument": "{field}: {value} is not one of {limits}.",
    }
)
"""Sentence of every reason, with the facts that its place of origin gives."""

_HEAD = """MA-Crafter (macrafter-v1): gather, build, survive as a team of {agents}.
Map: {rows} x {columns} cells (row, column), (0,0) top left; up lowers the row, right raises the \
column. You see {view_rows} x {view_columns} cells around you and remember the ground you saw. \
Grass, path and sand can be walked on; a cell holds one agent or creature. Lava kills whoever \
steps on it.
Step: everybody acts at the same time; gathering, making, placing and giving come before moving. \
Moving turns you in that direction and enters the cell if it is free; of two who want one cell the \
smaller id gets it.
Gathering acts on what you face, within {reach} in a straight line. A source that needs several \
agents gives only if that many do it in the same step, from different sides, each holding the \
tool; then every capable participant gets the full amount. One agent less, or one without the \
tool, and nothing happens. After a try your view says how many it needed and how many were capable \
and acting (participation), in reach (spatial), acting (temporal), holding the tool (dependency).
"""

_MIDDLE = """Making needs the stations in the 3 x 3 block around you and uses items up; tools last.
Giving reaches {gifts}; gifts can be used from the next step on. You carry at most {cap} of an item.
Score: a success counts unit score x {credit}.
"""

_VITALS = """Health, food, drink and energy (in reports: vitals, in this order) are at most \
{vital}. Food and drink fall about every \
25 and 20 steps, energy every 30; at 0 of any, health falls instead of rising. Cows and ripe \
plants feed, water quenches, sleep restores energy (11 steps a unit, you see nothing but your \
cell and wake when it is full or you are hurt). At health 0 you are gone, with all you carry.
"""

_ZOMBIES = """Zombies come on grass, most in the dark; one beside you takes 2 health every 6 \
steps, 7 from a sleeper. Fight back or leave; sleep only where nothing can reach you.
"""
_SKELETONS = "Skeletons live on paths in the dark rock and shoot arrows that take 2 health.\n"

_VERBS = """Ids: {ids}, cell@row,column for any cell. Only what you know can be named.
Verbs (default in brackets); each goes on step by step until it is done or fails with a reason; \
then the rest of the plan is dropped:
- wait or noop steps 1-50 (1).
- move direction, steps 1-10 (1): one way, whatever is there; stops before known lava.
- navigate target, cell (any cell from which it is reached), timeout 1-200 (64): walk there.
- explore direction (any), timeout 1-100 (30): walk to the nearest place with unseen ground.
- collect target (an id, or {names}), steps 1-10 (3): turn to it and take it; with too few \
participants it tries again, `steps` times.
- attack target (a creature), timeout 1-50 (20): follow and hit it until it is beaten.
- craft item, steps 1-10 (1).
- place object, steps 1-10 (1): on the cell you face, else beside you.
- share recipient (an agent), item, quantity (1).
- sleep: until your energy is full or you are hurt.
- rendezvous target, count (as many as it needs), timeout 1-100 (30): wait beside it until that \
many agents are within reach; all who wait there go on in the same step.
Team work: navigate to the target, rendezvous, then collect.
"""


def manual_text(config: MacrafterConfig, table: Table) -> str:
    """Rules, table, verbs and concepts under these settings, in less than 6000 characters."""
    rows, columns = config.shape
    facts = {
        "agents": config.agents,
        "rows": rows,
        "columns": columns,
        "view_rows": config.view[0],
        "view_columns": config.view[1],
        "reach": _cells(config.reach),
        "gifts": "any teammate" if config.share_radius is None else _cells(config.share_radius),
        "cap": config.item_cap,
        "credit": "agents needed" if config.credit == "required" else "capable participants",
        "vital": VITAL_CAP,
        "ids": "tree@row,column (so every source and station), cow_7 (a creature), agent_2",
        "names": ", ".join(_collected(config, table)),
    }
    parts = [
        _HEAD,
        *_sources(config, table),
        *_creatures(config, table),
        *_makes(table),
        *_places(config, table),
        _MIDDLE,
        _VITALS if config.vitals else "",
        _ZOMBIES if config.zombies else "",
        _SKELETONS if config.skeletons else "",
        _VERBS,
    ]
    concepts = "\n".join(f"- {name}: {summary}." for name, summary in SUMMARIES.items())
    return "".join(parts).format(**facts) + "Concepts:\n" + concepts


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


def _is_on(config: MacrafterConfig, key: str) -> bool:
    return key not in SWITCHED or bool(config.__dict__[SWITCHED[key]])


def _collected(config: MacrafterConfig, table: Table) -> Iterator[str]:
    for name, row in table.collect.items():
        if _is_on(config, f"collect.{name}"):
            yield name if row.gives == "drink" else row.gives
    yield from (name for name in ("cow", "plant") if _is_on(config, f"creature.{name}"))


def _people(count: int) -> str:
    return "1 agent" if count == 1 else f"{count} agents"


def _sources(config: MacrafterConfig, table: Table) -> Iterator[str]:
    rows = (row for name, row in table.collect.items() if _is_on(config, f"collect.{name}"))
    yield f"Sources ('75 a unit' is a unit score): {'; '.join(map(_source, rows))}.\n"


def _source(row: CollectRow) -> str:
    text = f"{row.source} gives {row.gives} {row.amount}, {_people(row.agents)}"
    if row.tool:
        text += f" with {row.tool}"
    if row.chance < 1:
        text += f", by chance {row.chance:g}"
    return f"{text}, {row.unit_score:g} a unit" if row.unit_score else text


def _creatures(config: MacrafterConfig, table: Table) -> Iterator[str]:
    rows = [row for kind, row in table.creature.items() if _is_on(config, f"creature.{kind}")]
    if not rows:
        return
    texts = []
    for row in rows:
        gives = f", gives {row.gives} {row.amount}" if row.gives else ""
        texts.append(f"{row.kind} {_people(row.agents)}, health {row.health}{gives}")
    yield f"Creatures: {'; '.join(texts)}. A hit takes 1, with a wood, stone, iron sword 2, 3, 5.\n"


def _uses(uses: Mapping[str, int]) -> str:
    return " ".join(f"{item} {count}" for item, count in uses.items())


def _makes(table: Table) -> Iterator[str]:
    texts = []
    for row in table.make.values():
        people = f", {_people(row.agents)}" if row.agents > 1 else ""
        stations = " and ".join(row.stations)
        texts.append(f"{row.item} ({_uses(row.uses)}; {stations}{people})")
    yield f"Make: {', '.join(texts)}.\n"


def _places(config: MacrafterConfig, table: Table) -> Iterator[str]:
    texts = []
    for name, row in table.place.items():
        if _is_on(config, f"place.{name}"):
            people = f", {_people(row.agents)}" if row.agents > 1 else ""
            texts.append(f"{name} ({_uses(row.uses)}; on {', '.join(row.on)}{people})")
    yield f"Place: {', '.join(texts)}.\n"
