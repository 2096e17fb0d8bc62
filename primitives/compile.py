"""The one place where compiler options are set."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile `function` to machine code: cached on disk, IEEE arithmetic, serial, no GIL."""
    return cast(F, numba.njit(cache=True, fastmath=False, nogil=True)(function))


def inlined(function: F) -> F:
    """As `kernel`, and always expanded into its callers; for tiny functions of inner loops."""
    return cast(F, numba.njit(cache=True, fastmath=False, nogil=True, inline="always")(function))


def modular(function: F) -> F:
    """As `kernel`, for unsigned arithmetic modulo 2**64, which machine code does silently.

    Run as plain Python (NUMBA_DISABLE_JIT=1) numpy would warn of every overflow.
    """
    if numba.config.DISABLE_JIT:
        return cast(F, np.errstate(over="ignore")(function))
    return kernel(function)
