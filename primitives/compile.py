"""The one place where compiler options are set."""

import gc
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config

from primitives.sources import stamp_of

F = TypeVar("F", bound=Callable[..., Any])

# The cache does not tell code with bounds checks from code without.
_OPTIONS: Mapping[str, Any] = {
    # Numba makes the attributes of its config at import.
    "cache": not config.BOUNDSCHECK,  # type: ignore[attr-defined]
    "error_model": "numpy",
    "fastmath": False,
    "no_cfunc_wrapper": True,
    "nogil": True,
}
_WITHOUT_COUNTS: Mapping[str, Any] = {**_OPTIONS, "_nrt": False}
_INNER: Mapping[str, Any] = {
    **_WITHOUT_COUNTS,
    "cache": False,
    "no_cpython_wrapper": True,
}
_MERGED: Mapping[str, Any] = {**_INNER, "forceinline": True}
_EXPANDED: Mapping[str, Any] = {**_WITHOUT_COUNTS, "inline": "always"}


def _compiled(function: F, options: Mapping[str, Any]) -> F:
    """`function` with these options; its cache is stale as soon as what it calls has changed."""
    compiled: Any = numba.njit(**options)(function)
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return cast(F, compiled)
    compiled.compile = _uncollected(compiled.compile)
    if options["cache"]:
        index = compiled._cache._cache_file
        index._source_stamp = (
            index._source_stamp,
            stamp_of(Path(function.__code__.co_filename)),
        )
    return cast(F, compiled)


def _uncollected(compile_: F) -> F:
    """`compile_` without collections of garbage.

    A compiler makes millions of objects and leaves hardly any: looking for them took an eighth of
    the time.
    """

    @wraps(compile_)
    def quietly(signature: Any) -> Any:
        was_on = gc.isenabled()
        gc.disable()
        try:
            return compile_(signature)
        finally:
            if was_on:
                gc.enable()

    return cast(F, quietly)


def kernel(function: F) -> F:
    """Compile `function` to machine code: cached on disk, IEEE arithmetic, serial, no GIL."""
    return _compiled(function, _OPTIONS)


def in_place(function: F) -> F:
    """As `kernel`, for a function that allocates nothing, which the compiler then checks.

    It counts no references. Passing a state of twenty arrays from stage to stage costs 0.4 us a
    call with counting, and nearly nothing without.
    """
    return _compiled(function, _WITHOUT_COUNTS)


def expanded(function: F) -> F:
    """As `in_place`, and always written out in its callers.

    For tiny functions, and for stages that are called in one place: that spares the call, which
    hands over every array of a state, and half of the time of compiling.
    """
    return _compiled(function, _EXPANDED)


def modular(function: F) -> F:
    """As `in_place`, for unsigned arithmetic modulo 2**64, which machine code does silently.

    Run as plain Python (NUMBA_DISABLE_JIT=1) numpy would warn of every overflow.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return np.errstate(over="ignore")(function)
    return in_place(function)


def inner(function: F) -> F:
    """As `in_place`, for a function that compiled code alone calls, without a way in from Python.

    It is kept with its callers, so that it is neither wrapped nor cached by itself.
    """
    return _compiled(function, _INNER)


def merged(function: F) -> F:
    """As `inner`, and its machine code becomes part of its caller's.

    For what is called in one place with many arrays: a call hands over seven numbers and more for
    each, by way of memory.
    """
    return _compiled(function, _MERGED)
