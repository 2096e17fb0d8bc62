"""Template files with `{{name}}` placeholders, checked when they are loaded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from cognitive.errors import ConfigError

__all__ = ["FOLDER", "Template", "load_template", "topology_sentences"]

FOLDER = Path(__file__).parent
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_GAP = re.compile(r"\n{3,}")


class Template:
    """A text with named gaps. Raises ConfigError for an undefined and for an unused name."""

    def __init__(self, title: str, text: str, names: frozenset[str]) -> None:
        found = set(_PLACEHOLDER.findall(text))
        rest = _PLACEHOLDER.sub("", text)
        findings = [f"{{{{{name}}}}} is not defined" for name in sorted(found - names)]
        findings += [f"{{{{{name}}}}} is not used" for name in sorted(names - found)]
        findings += ["a brace pair is no placeholder"] if "{{" in rest or "}}" in rest else []
        if findings:
            allowed = ", ".join(sorted(names)) or "none"
            raise ConfigError(f"template {title}: {'; '.join(findings)}; names: {allowed}")
        self._text = text.strip("\n")

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with every gap filled; what is filled in is never searched for gaps."""
        return _PLACEHOLDER.sub(lambda gap: values[gap[1]], self._text)

    def lay_out(self, values: Mapping[str, str]) -> str:
        """As `fill`, with the blank lines around empty gaps drawn together."""
        return _GAP.sub("\n\n", self.fill(values)).strip("\n")

    @property
    def length(self) -> int:
        """Characters of the text with empty gaps."""
        return len(_PLACEHOLDER.sub("", self._text))

    @property
    def tail_length(self) -> int:
        """Characters after the last heading, with empty gaps."""
        return len(_PLACEHOLDER.sub("", self._text).rpartition("## ")[2])


def load_template(name: str, names: frozenset[str], folder: Path = FOLDER) -> Template:
    """The template `<name>.md` of a folder, whose placeholders must be exactly `names`."""
    path = folder / f"{name}.md"
    if not path.is_file():
        raise ConfigError(f"template {name}: there is no file {path.name}")
    return Template(name, path.read_text(encoding="utf-8"), names)


@lru_cache(maxsize=4)
def topology_sentences(folder: Path = FOLDER) -> Mapping[str, str]:
    """What agents are told about each topology; a line `name: sentence` each."""
    lines = (folder / "topologies.md").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(":") for line in lines if line.strip())
    return {name.strip(): sentence.strip() for name, _, sentence in pairs}
