"""Asking a run to end early: from a signal, a driver, another thread."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """A request to stop, from a signal or a driver; may come from another thread."""

    def __init__(self) -> None:
        self._asked = 0
        self._guard = threading.Lock()
        self._listeners: list[Callable[[], None]] = []

    @property
    def is_asked(self) -> bool:
        """Whether a stop was asked for."""
        return self._asked > 0

    @property
    def is_hard(self) -> bool:
        """Whether it was asked for twice."""
        return self._asked > 1

    def ask(self) -> None:
        """Ask; listeners are told the first time."""
        with self._guard:
            self._asked += 1
            listeners = list(self._listeners) if self._asked == 1 else []
        for tell in listeners:
            tell()

    def listen(self, tell: Callable[[], None]) -> None:
        """Have `tell` called, from whatever thread, once a stop is asked for."""
        with self._guard:
            is_late = self._asked > 0
            self._listeners.append(tell)
        if is_late:
            tell()

    def forget(self, tell: Callable[[], None]) -> None:
        """Take back `listen`."""
        with self._guard:
            self._listeners.remove(tell)

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Ask on ctrl-C or a termination signal; the second one breaks off at once."""

        def asked(number: int, frame: FrameType | None) -> None:
            self.ask()
            if self.is_hard:
                raise KeyboardInterrupt

        before = {
            number: signal.signal(number, asked) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
