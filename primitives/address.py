"""Arrays by address, for compiled calls that are made once a step from Python.

Handing an array to compiled code costs about 90 ns, so a state of forty arrays costs more than a
step of a small world. An address costs nothing; the caller keeps the arrays alive.
"""

from collections.abc import Callable, Iterable
from ctypes import addressof, c_char
from typing import Any, cast

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj
from numpy import ndarray

_arrays: Any = arrayobj
_tools: Any = cgutils


def addresses(arrays: Iterable[ndarray]) -> list[int]:
    """Where the data of each array begins."""
    return [_address(array) for array in arrays]


def _address(array: Any) -> int:
    try:
        return addressof(c_char.from_buffer(array))
    except (TypeError, ValueError):  # read-only, or without entries: three times slower
        return int(array.__array_interface__["data"][0])


def _array_at(typing_context: Any, address: Any, shape: Any, dtype: Any) -> Any:
    array_type = types.Array(dtype.dtype, len(shape), "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = _arrays.make_array(array_type)(context, builder)
        item = context.get_abi_sizeof(context.get_data_type(array_type.dtype))
        item_size = context.get_constant(types.intp, item)
        extents = [
            context.cast(builder, extent, kind, types.intp)
            for extent, kind in zip(_tools.unpack_tuple(builder, arguments[1]), shape, strict=True)
        ]
        strides = [item_size]
        for extent in extents[:0:-1]:
            strides.insert(0, builder.mul(strides[0], extent))
        _arrays.populate_array(
            array,
            data=builder.inttoptr(arguments[0], array.data.type),
            shape=extents,
            strides=strides,
            itemsize=item_size,
            meminfo=None,
        )
        return array._getvalue()

    return array_type(address, shape, dtype), generate


array_at = cast(Callable[..., Any], intrinsic(_array_at))
"""Inside compiled code: the C-contiguous array of that shape and dtype at an address."""
