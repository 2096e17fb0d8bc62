"""The commands about this machine: bench, doctor. They need none of the packages they look for."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

from cognitive.errors import MissingPrerequisite
from lab import doctor
from lab.cli_options import DONE, FAILED, MISSING
from lab.commands import Console


def bench(options: Namespace, console: Console) -> int:
    """Run the benchmarks of the repository this package lies in."""
    root = Path(__file__).parents[1]
    if not (root / "benchmarks" / "run.py").is_file():
        raise MissingPrerequisite(
            "the benchmarks are in the repository, not in the installed package; clone it and run "
            "`make setup`, then `cooplab bench` there"
        )
    given = {"--json": options.json, "--agents": options.agents}
    more = [word for flag, value in given.items() if value for word in (flag, value)]
    words = [options.part or "all", *(["--quick"] if options.quick else []), *more]
    done = subprocess.run([sys.executable, "-m", "benchmarks.run", *words], cwd=root, check=False)
    return DONE if done.returncode == 0 else FAILED


def examine(options: Namespace, console: Console) -> int:
    """Say what works here."""
    found = doctor.examine()
    if options.endpoint:
        probing = import_module("lab.probing")
        found += probing.endpoint(options.endpoint, options.model, options.key_env)
    if options.json:
        console.out(json.dumps(doctor.as_data(found), indent=2))
    else:
        console.out(doctor.report(found))
    return DONE if doctor.is_fit(found) else MISSING


HANDLERS: Mapping[str, Callable[[Namespace, Console], int]] = {"bench": bench, "doctor": examine}
