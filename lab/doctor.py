"""What works on this machine: a list of findings, each ok, missing or broken."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module, metadata, util
from pathlib import Path
from typing import Any, Literal, NamedTuple

from lab.settings import has_display

State = Literal["ok", "missing", "broken"]
OLDEST_PYTHON = (3, 11)
CORE = ("numpy", "numba", "pydantic", "scipy")
EXTRAS = {
    "llm": ("openai",),
    "gui": ("pygame",),
    "rl": ("pettingzoo", "gymnasium"),
    "analysis": ("polars", "matplotlib", "networkx"),
    "video": ("imageio", "imageio_ffmpeg"),
    "cluster": ("ray",),
}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts", "~/.fonts")
LEAST_DISK_GB = 1.0


class Finding(NamedTuple):
    """One line of the report; `is_needed` if nothing plays without it."""

    name: str
    state: State
    text: str
    is_needed: bool = False


def examine() -> list[Finding]:
    """Every finding, what is needed first; imports nothing that may be missing."""
    found = [_python(), *(_library(name) for name in CORE), _compiler(), _cores(), _disk()]
    found += [_extra(name, packages) for name, packages in EXTRAS.items()]
    found += [_display(), _chromium(), _fonts()]
    return found


def is_fit(findings: list[Finding]) -> bool:
    """Whether episodes can be played here."""
    return all(finding.state == "ok" for finding in findings if finding.is_needed)


def report(findings: list[Finding]) -> str:
    """The findings as text, a line each."""
    width = max(len(finding.name) for finding in findings)
    return "\n".join(f"{f.state:<8} {f.name:<{width}}  {f.text}" for f in findings)


def as_data(findings: list[Finding]) -> list[dict[str, Any]]:
    """The findings as JSON."""
    return [finding._asdict() for finding in findings]


def _python() -> Finding:
    is_new = sys.version_info[:2] >= OLDEST_PYTHON
    text = f"{platform.python_version()} ({platform.system()} {platform.machine()})"
    if not is_new:
        text += f"; {'.'.join(map(str, OLDEST_PYTHON))} or newer is needed"
    return Finding("python", "ok" if is_new else "broken", text, True)


def _library(name: str) -> Finding:
    if util.find_spec(name) is None:
        return Finding(name, "missing", "install with: pip install cooplab", True)
    return _loaded(name, lambda: metadata.version(name), True)


def _loaded(name: str, describe: Callable[[], str], is_needed: bool = False) -> Finding:
    """Import a package for real: an installed one may still not load."""
    try:
        import_module(name)
        return Finding(name, "ok", describe(), is_needed)
    except (ImportError, OSError, metadata.PackageNotFoundError) as problem:
        return Finding(name, "broken", f"{type(problem).__name__}: {problem}", is_needed)


def _compiler() -> Finding:
    """Compiled code is kept beside the sources, or where numba is told to keep it."""
    if util.find_spec("numba") is None:
        return Finding("compiler", "missing", "numba is not installed", True)
    numba = import_module("numba")
    folder = Path(numba.config.CACHE_DIR or Path(__file__).parents[1] / "primitives")
    if not os.access(folder, os.W_OK):
        text = f"{folder} cannot be written: code is compiled anew in every process"
        return Finding("compiler", "broken", text)
    files = len(list(folder.rglob("*.nbi")))
    return Finding("compiler", "ok", f"cache in {folder}, {files} functions in it", True)


def _cores() -> Finding:
    return Finding("cores", "ok", str(os.cpu_count() or 1))


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    is_writable = os.access(Path.cwd(), os.W_OK)
    if not is_writable:
        return Finding("disk", "broken", "this folder cannot be written; choose another with --out")
    state: State = "ok" if free >= LEAST_DISK_GB else "broken"
    return Finding("disk", state, f"{free:.1f} GB free here")


def _extra(name: str, packages: tuple[str, ...]) -> Finding:
    absent = [package for package in packages if util.find_spec(package) is None]
    if absent:
        text = f"{', '.join(absent)}; install with: pip install 'cooplab[{name}]'"
        return Finding(f"extra {name}", "missing", text)
    versions = [f"{package} {_version(package)}" for package in packages]
    return Finding(f"extra {name}", "ok", ", ".join(versions))


def _version(package: str) -> str:
    try:
        return metadata.version(package.replace("_", "-"))
    except metadata.PackageNotFoundError:
        return "of unknown version"


def _display() -> Finding:
    if has_display():
        return Finding("display", "ok", "windows can be shown")
    return Finding("display", "missing", "no window; pictures, videos and pages work without")


def _chromium() -> Finding:
    path = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    if path is None:
        return Finding("chromium", "missing", "only tests of the page use it; any browser shows it")
    return Finding("chromium", "ok", path)


def _fonts() -> Finding:
    for folder in _font_folders():
        count = sum(1 for _ in folder.rglob("*.[to]t[fc]"))
        if count:
            return Finding("fonts", "ok", f"{count} in {folder}")
    return Finding("fonts", "missing", "none found; figures and windows bring their own")


def _font_folders() -> Iterator[Path]:
    for name in FONT_FOLDERS:
        folder = Path(name).expanduser()
        if folder.is_dir():
            yield folder
