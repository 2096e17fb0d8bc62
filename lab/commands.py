"""How the command line finds the work of a command, and how it tells of errors."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Protocol

from cognitive.errors import (
    ClientError,
    ConfigError,
    CooplabError,
    MissingPrerequisite,
    RecordError,
)
from lab import settings
from lab.cli_options import BAD_INPUT, FAILED, MISSING, STOPPED
from worlds.errors import LayoutError, UnknownWorld

_BAD_INPUT = (ConfigError, RecordError, LayoutError, UnknownWorld)
_BAD_PATH = (FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError)
_MODULES = {
    "run": "lab.commands_play",
    "sweep": "lab.commands_sweep",
    "table": "lab.commands_show",
    "plot": "lab.commands_show",
    "replay": "lab.commands_show",
    "export": "lab.commands_show",
    "bench": "lab.commands_check",
    "doctor": "lab.commands_check",
}


class Console(Protocol):
    """Where commands write."""

    @property
    def is_terminal(self) -> bool: ...

    def out(self, text: str) -> None: ...

    def note(self, text: str) -> None: ...

    def progress(self, text: str) -> None: ...


def explain(problem: Exception) -> tuple[int, list[str]]:
    """Exit code and sentences of an error."""
    sentences = str(problem).split("\n")
    if isinstance(problem, MissingPrerequisite):
        return MISSING, sentences
    if isinstance(problem, _BAD_INPUT):
        return BAD_INPUT, sentences
    if isinstance(problem, (*_BAD_PATH, PermissionError)):
        return BAD_INPUT, [f"{problem.filename}: {problem.strerror}"]
    if isinstance(problem, ClientError):
        return STOPPED, sentences
    if isinstance(problem, CooplabError):
        return FAILED, sentences
    return FAILED, [
        f"{type(problem).__name__}: {problem}; this is a defect of cooplab, please report it with "
        "the output of --debug"
    ]


def handler(name: str) -> Callable[[Namespace, Console], int]:
    """The function of a command. Raises MissingPrerequisite if a package cannot be loaded."""
    try:
        found: Callable[[Namespace, Console], int] = import_module(_MODULES[name]).HANDLERS[name]
    except ImportError as problem:
        raise MissingPrerequisite(
            f"{problem.name or problem} cannot be loaded; install it with: pip install cooplab "
            "(`cooplab doctor` says what is missing)"
        ) from problem
    return found


# --- arguments that several commands share -------------------------------------------------------


def names_of(text: str | None) -> tuple[str, ...]:
    """A list separated by commas."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def where_of(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """`KEY=VALUE[,VALUE]` as a table. Raises ConfigError."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not equals or not names_of(values):
            raise ConfigError(f'"{text}" is no filter; allowed KEY=VALUE[,VALUE]')
        found[key.strip()] = (*found.get(key.strip(), ()), *names_of(values))
    return found


def millionths(amount: float | None) -> int:
    """Money as budgets count it; 0 for none."""
    return round((amount or 0) * 1e6)


def need_display(instead: str) -> None:
    """Raise MissingPrerequisite, with what to do instead, where no window can be shown."""
    if not settings.has_display():
        raise MissingPrerequisite(f"no display for a window (DISPLAY is not set); {instead}")
