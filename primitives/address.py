"""Arrays by address, for compiled calls that are made once a step from Python.

Handing an array to compiled code costs about 90 ns, so a state of forty arrays costs more than a
step of a small world. An address costs nothing; the caller keeps the arrays alive.
"""

from collections.abc import Callable, Iterable
from typing import Any, cast

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy import ndarray


def _pointer(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


pointer = cast(Callable[[int], Any], intrinsic(_pointer))
"""Inside compiled code: an address as what `numba.carray` takes."""


def addresses(arrays: Iterable[ndarray]) -> list[int]:
    """Where the data of each array begins."""
    return [array.__array_interface__["data"][0] for array in arrays]
