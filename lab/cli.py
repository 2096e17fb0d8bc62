"""The command line. Everything that is printed is printed here.

Commands and options are tables of `lab.cli_options`; the work is done by `lab.commands`, which is
imported only once a command runs, so that `--help` is quick.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn, TextIO

from lab.cli_options import (
    BAD_INPUT,
    COMMANDS,
    DEBUG,
    DONE,
    INTERRUPTED,
    Command,
    Option,
    command_help,
    main_help,
)

# --- arguments -----------------------------------------------------------------------------------


class UsageError(Exception):
    """Arguments that do not fit a command."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `cooplab {self.prog} --help`")


def parse(command: Command, arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command. Raises UsageError."""
    parser = _Parser(prog=command.name, add_help=False, allow_abbrev=False)
    for option in (*command.options, DEBUG):
        _add(parser, option)
    options = parser.parse_args(arguments)
    return options


def _add(parser: argparse.ArgumentParser, option: Option) -> None:
    choices: dict[str, Any] = {"choices": option.choices} if option.choices else {}
    kinds: dict[str, dict[str, Any]] = {
        "one": {"default": None},
        "many": {"action": "append", "default": []},
        "flag": {"action": "store_true"},
        "number": {"type": int, "default": None},
        "real": {"type": float, "default": None},
        "place": {"nargs": "?", "default": None},
        "places": {"nargs": "*", "default": []},
    }
    parser.add_argument(option.flag, **kinds[option.kind], **choices)


# --- running -------------------------------------------------------------------------------------


class Console:
    """Where results (standard output) and everything else (standard error) go."""

    def __init__(self) -> None:
        self._is_line_open = False

    @property
    def is_terminal(self) -> bool:
        """Whether somebody watches standard error."""
        return sys.stderr.isatty()

    def out(self, text: str) -> None:
        """A result."""
        self._close_line()
        print(text, end="" if text.endswith("\n") else "\n", flush=True)

    def note(self, text: str) -> None:
        """Anything but a result."""
        self._close_line()
        print(text, file=sys.stderr, flush=True)

    def progress(self, text: str) -> None:
        """A line that the next one overwrites, on a terminal."""
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        self._is_line_open = True

    def _close_line(self) -> None:
        if self._is_line_open:
            print(file=sys.stderr)
            self._is_line_open = False


def app(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    console = Console()
    try:
        return _app(words, console)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        console.note("cooplab: stopped")
        return INTERRUPTED


def _app(words: list[str], console: Console) -> int:
    if not words or words[0] in ("--help", "-h", "help"):
        console.out(main_help())
        return DONE
    if words[0] not in COMMANDS:
        close = get_close_matches(words[0], COMMANDS, 1, 0.0)[0]
        listed = ", ".join(COMMANDS)
        console.note(
            f'cooplab: error: no command "{words[0]}"; commands: {listed} (closest: {close})'
        )
        return BAD_INPUT
    command = COMMANDS[words[0]]
    if "--help" in words[1:] or "-h" in words[1:]:
        console.out(command_help(command))
        return DONE
    return _guarded(command, words[1:], console)


def _guarded(command: Command, words: list[str], console: Console) -> int:
    """Run a command; an error becomes a sentence and an exit code."""
    try:
        options = parse(command, words)
    except UsageError as problem:
        console.note(f"cooplab: error: {problem}")
        return BAD_INPUT
    from lab import commands

    def warned(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        console.note(f"cooplab: warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = warned
        try:
            code: int = commands.handler(command.name)(options, console)
            return code
        except (Exception, KeyboardInterrupt) as problem:
            if isinstance(problem, BrokenPipeError | KeyboardInterrupt):
                raise
            if options.debug:
                console.note(traceback.format_exc())
            code, sentences = commands.explain(problem)
            for sentence in sentences:
                console.note(f"cooplab: error: {sentence}")
            return code


if __name__ == "__main__":
    sys.exit(app())
