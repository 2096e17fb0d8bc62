"""A sink for tests."""


class Kept:
    """Keeps events and forgets frames."""

    def __init__(self):
        self.events = []

    def event(self, line):
        self.events.append(line)

    def frame(self, step, layers):
        return None

    def flush(self):
        return None

    def close(self):
        return None
