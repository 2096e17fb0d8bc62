"""What compiled code rests on: its own source, and those of the kernels' modules it imports.

A cache that looked at a function's own file alone would go on using machine code made with old
versions of what that function calls.
"""

import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent
_IMPORT = re.compile(r"^\s*(?:from|import) primitives(?:\.(\w+)| import ([\w, ]+))", re.MULTILINE)

Stamp = tuple[tuple[str, int, int], ...]


def stamp_of(path: Path, package: Path = PACKAGE) -> Stamp:
    """Name, time of change in ns and size of each source that the module at `path` rests on."""
    found, waiting = {path}, [path]
    while waiting:
        for module in _imported(waiting.pop(), package):
            if module not in found:
                found.add(module)
                waiting.append(module)
    return tuple(_facts(source) for source in sorted(found))


@cache
def _imported(path: Path, package: Path) -> tuple[Path, ...]:
    """Modules of the package that a source imports by name."""
    names: list[str] = []
    for module, several in _IMPORT.findall(path.read_text()):
        names += [module] if module else [name.split()[0] for name in several.split(",")]
    paths = (package / f"{name}.py" for name in dict.fromkeys(names))
    return tuple(source for source in paths if source.exists())


@cache
def _facts(path: Path) -> tuple[str, int, int]:
    status = path.stat()
    return path.name, status.st_mtime_ns, status.st_size
