"""What `make demo` does: check, play, compare, draw; into a folder, needing no key.

`python -m lab.demo FOLDER`. Run again, it plays nothing and draws anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lab.cli import Console, app
from lab.runs import Run, load, read_runs

UNCOORDINATED = ("--where", "planner=uncoordinated")
COMPARED = "score,violation_participation,violation_spatial,violation_temporal,messages,decision_s"
LOOK_AT = {
    "table.md": "means of every team, repair off against on, and how good its forecasts are",
    "results.parquet": "a row a run with every metric, for your own analysis",
    "traces.png": "constraints met, tasks worked on and score over the steps, a cell a team",
    "case.png": "one run with repair: where channels opened and what came of them",
    "timeline.png": "the same run from inside: stages, plans, actions, messages of each agent",
    "repair.png": "matched seeds, from repair off to on",
    "replay.html": "the same run to click through, in any browser",
    "replay.gif": "the same run as a film",
}


class _PartFailed(Exception):
    """A part of the demo ended with another exit code than 0."""

    def __init__(self, code: int) -> None:
        super().__init__(f"exit code {code}")
        self.code = code


def demo(folder: Path, console: Console) -> int:
    """Do all of it; the exit code of the first part that fails, else 0."""
    runs = folder / "runs"
    try:
        _do("doctor")
        _do("sweep", "demo", "--out", str(runs))
        _tables(folder, runs)
        _figures(folder, runs)
    except _PartFailed as failed:
        return failed.code
    console.out("\nIn " + str(folder) + ":")
    for name, text in LOOK_AT.items():
        console.out(f"  {name:<16} {text}")
    return 0


def _do(*words: str) -> None:
    code = app(words)
    if code:
        raise _PartFailed(code)


def _tables(folder: Path, runs: Path) -> None:
    """Print the tables, and keep them as markdown."""
    tables = {
        "means": (),
        "pairs": ("--compare", "repair=off,on", "--columns", COMPARED, *UNCOORDINATED),
        "forecasts": ("--columns", "prediction", "--where", "repair=watch,on"),
    }
    texts = []
    for name, options in tables.items():
        _do("table", str(runs), *options)
        part = folder / f".{name}.md"
        _do("table", str(runs), *options, "--format", "markdown", "--out", str(part))
        texts.append(part.read_text(encoding="utf-8"))
        part.unlink()
    (folder / "table.md").write_text("\n".join(texts), encoding="utf-8")
    load([runs]).write_parquet(folder / "results.parquet")


def _figures(folder: Path, runs: Path) -> None:
    """Draw the figures of many runs, and everything of one with repair."""
    case = str(_case(runs).folder)
    drawings = {
        "traces": (str(runs), *UNCOORDINATED),
        "repair": (str(runs), *UNCOORDINATED),
        "case": (case,),
        "timeline": (case,),
    }
    for name, words in drawings.items():
        _do("plot", *words, "--figure", name, "--out", str(folder / f"{name}.png"))
    for form in ("html", "gif"):
        _do("export", case, "--format", form, "--out", str(folder / f"replay.{form}"))


def _case(runs: Path) -> Run:
    """The run with most accepted channels, ties to the lowest seed."""
    repaired = [run for run in read_runs([runs]) if run.axes["repair"] == "on"]
    return min(repaired, key=lambda run: (-(run.metrics["accepted"] or 0), run.seed))


if __name__ == "__main__":
    sys.exit(demo(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"), Console()))
