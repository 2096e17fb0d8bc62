"""Run the benchmarks: `python -m benchmarks.run [PART] [--quick] [--json FILE] [--agents N,...]`.

Without PART, and not quick, the table goes to benchmarks/results.md as well.
"""

from __future__ import annotations

import argparse
import inspect
import json
import platform
import sys
import time
from importlib import import_module
from pathlib import Path

from benchmarks.timing import Row, show

HERE = Path(__file__).parent
PARTS = {
    "worlds": ("cube", "macrafter", "threads"),
    "loop": ("loop",),
    "repair": ("repair",),
    "render": ("render",),
    "lab": ("records",),
}
HEAD = """# Speed

Figures of one `make bench` on a small shared machine ({machine}, Python {python}), CPU time,
medians of interleaved rounds. The baseline is measured in the same rounds: CPU microseconds of a
fixed pure-Python loop of 10,000 turns, unless a row names another peer. Compare ratios; absolute
times on shared machines mean little.

| what | figure | unit | baseline | ratio | must | aim | met |
|---|---|---|---|---|---|---|---|
"""


def main() -> int:
    """Measure the parts asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run")
    parser.add_argument("part", nargs="?", default="all", choices=["all", *PARTS])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--agents", default="")
    options = parser.parse_args()
    agents = tuple(int(word) for word in options.agents.split(",") if word)
    wanted = PARTS if options.part == "all" else {options.part: PARTS[options.part]}
    found: list[Row] = []
    for name in (name for names in wanted.values() for name in names):
        began = time.perf_counter()
        rows = _rows(name, options.quick, agents)
        show(rows)
        found += rows
        print(f"-- {name}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps([row._asdict() for row in found], indent=2) + "\n")
    if options.part == "all" and not options.quick and not agents:
        (HERE / "results.md").write_text(_page(found))
    return 0


def _rows(name: str, is_quick: bool, agents: tuple[int, ...]) -> list[Row]:
    """The rows of one module; team sizes go to those that take them."""
    rows = import_module(f"benchmarks.{name}").rows
    more = {"agents": agents} if agents and "agents" in inspect.signature(rows).parameters else {}
    return list(rows(is_quick, **more))


def _page(rows: list[Row]) -> str:
    head = HEAD.format(machine=platform.machine(), python=platform.python_version())
    return head + "".join(map(_line, rows))


def _line(row: Row) -> str:
    met = {True: "yes", False: "no", None: ""}[row.is_met]
    must, aim = (("" if bar is None else f"{bar:g}") for bar in (row.must, row.aim))
    return (
        f"| {row.name} | {row.figure:.4g} | {row.unit} | {row.baseline:.4g} | {row.ratio:.4g} "
        f"| {must} | {aim} | {met} |\n"
    )


if __name__ == "__main__":
    sys.exit(main())
