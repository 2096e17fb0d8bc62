"""The verbs of CUBE: their table, and an action read with its defaults."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from primitives.grid import DIRECTION_NAMES
from worlds.api import Action, ArgSpec, Cell, Json, VerbSpec
from worlds.cube.board import GOAL_FACE
from worlds.cube.state import FACES

__all__ = ["Call", "block_of", "is_in_limits", "read_call", "verb_table"]

_BLOCK = ArgSpec("block", "id", is_required=True)
_FACE = ArgSpec("face", "choice", choices=FACES, default=FACES[GOAL_FACE])
_TIMEOUT = ArgSpec("timeout", "int", 1, 100, default=30)


def _steps(high: int, default: int) -> ArgSpec:
    return ArgSpec("steps", "int", 1, high, default=default)


def verb_table(agents: int) -> tuple[VerbSpec, ...]:
    """All verbs with their arguments and limits, for a team of `agents`."""
    return (
        VerbSpec(
            "move",
            (
                ArgSpec("direction", "choice", choices=DIRECTION_NAMES, is_required=True),
                _steps(10, 1),
            ),
            "take that many actions in one direction, whatever stands there",
        ),
        VerbSpec("wait", (_steps(50, 1),), "stay for that many steps"),
        VerbSpec(
            "navigate",
            (_BLOCK, _FACE, ArgSpec("cell", "cell"), _TIMEOUT),
            "walk to a contact cell of a face, or to the one given as cell",
        ),
        VerbSpec(
            "push",
            (_BLOCK, _steps(20, 1), ArgSpec("face", "choice", choices=FACES)),
            "push that many steps from a face (left out: the one you stand on, else left)",
        ),
        VerbSpec(
            "rendezvous",
            (_BLOCK, _FACE, ArgSpec("count", "int", 1, agents), _TIMEOUT),
            "wait at a face until count agents are in place (left out: as many as it weighs)",
        ),
        VerbSpec("yield", (_BLOCK, _steps(10, 2)), "walk away until that many cells lie between"),
    )


def is_in_limits(action: Action, verbs: Sequence[VerbSpec]) -> bool:
    """Whether verb and arguments are those of the table; whether a block exists is not asked."""
    spec = next((verb for verb in verbs if verb.name == action.verb), None)
    if spec is None or not set(action.args) <= {arg.name for arg in spec.args}:
        return False
    return all(
        _fits(arg, action.args[arg.name]) if arg.name in action.args else not arg.is_required
        for arg in spec.args
    )


def _fits(arg: ArgSpec, value: Json) -> bool:
    if arg.type == "int":
        return type(value) is int and arg.low <= value <= arg.high
    if arg.type == "choice":
        return value in arg.choices
    if arg.type == "cell":
        is_pair = isinstance(value, list | tuple) and len(value) == 2
        return is_pair and all(type(part) is int for part in value)
    return isinstance(value, str) or type(value) is int


_BLANK: Mapping[str, Json] = {
    "face": None,
    "cell": None,
    "steps": 0,
    "direction": DIRECTION_NAMES[0],
    "timeout": 0,
}
_DEFAULTS: Mapping[str, Mapping[str, Json]] = {
    verb.name: {**_BLANK, **{arg.name: arg.default for arg in verb.args if not arg.is_required}}
    for verb in verb_table(1)
}


class Call(NamedTuple):
    """A verb with its arguments filled in; `block` is -1 for verbs without one."""

    verb: str
    block: int
    face: int | None
    steps: int
    direction: int
    cell: Cell | None
    crew: int
    timeout: int

    def aim(self, cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
        """The cells of the face that count: the one asked for, or all."""
        return cells if self.cell is None else (self.cell,)


def block_of(reference: Json, blocks: int) -> int | None:
    """The block that `block_3`, `3` or 3 names among 0..blocks-1, else None."""
    digits = reference.removeprefix("block_") if isinstance(reference, str) else reference
    if isinstance(digits, str):
        digits = int(digits) if digits.isdecimal() and len(digits) < 6 else None
    if type(digits) is not int or not 0 <= digits < blocks:
        return None
    return digits


def read_call(action: Action, weights: Sequence[int], agents: int) -> Call | None:
    """An action whose arguments are in their limits, with its defaults.

    weights: of all blocks. agents: in the team. None for a block that does not exist.
    """
    given = {name: value for name, value in action.args.items() if value is not None}
    block = block_of(given["block"], len(weights)) if "block" in given else -1
    if block is None:
        return None
    filled = {**_DEFAULTS[action.verb], **given}
    face, cell = filled["face"], filled["cell"]
    weight = weights[block] if block >= 0 else 0
    return Call(
        action.verb,
        block,
        None if face is None else FACES.index(face),
        filled["steps"],
        DIRECTION_NAMES.index(filled["direction"]),
        None if cell is None else (cell[0], cell[1]),
        given.get("count", min(weight, agents)),
        filled["timeout"],
    )
