"""Sheets of cells as text, markdown, LaTeX, CSV or JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any, NamedTuple

NA = "–"
SMALLEST_P = 0.0001
FORMATS = ("text", "markdown", "latex", "csv", "json")


class Cell(NamedTuple):
    """A printed value; the best of its column is marked."""

    text: str
    is_best: bool = False


class Sheet(NamedTuple):
    """One block of a table: printed cells, and the same numbers unrounded, a record a row."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Sequence[Cell], ...]
    data: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()


def number(value: float | None, decimals: int) -> str:
    """`value` with that many decimals, never as a negative zero; NA for None."""
    if value is None:
        return NA
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text


def p_value(value: float | None) -> str:
    """Four decimals; `<.0001` below that."""
    return "<.0001" if value is not None and value < SMALLEST_P else number(value, 4)


def render(sheets: Sequence[Sheet], form: str) -> str:
    """All sheets in one of FORMATS, ending in a line end."""
    if form == "csv":
        return _csv(sheets)
    if form == "json":
        return json.dumps(_records(sheets), indent=2, ensure_ascii=False) + "\n"
    one = {"text": _text, "markdown": _markdown, "latex": _latex}[form]
    return "\n".join(one(sheet) for sheet in sheets)


def _records(sheets: Sequence[Sheet]) -> list[dict[str, Any]]:
    return [{"table": sheet.title, **entry} for sheet in sheets for entry in sheet.data]


def _csv(sheets: Sequence[Sheet]) -> str:
    found = _records(sheets)
    names = dict.fromkeys(name for entry in found for name in entry)
    file = StringIO()
    writer = csv.DictWriter(file, list(names), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return file.getvalue()


def _text(sheet: Sheet) -> str:
    lines = [list(sheet.columns)]
    lines += [[cell.text + ("*" if cell.is_best else "") for cell in row] for row in sheet.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    body = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([sheet.title, *body, *sheet.notes]) + "\n"


def _markdown(sheet: Sheet) -> str:
    def line(texts: Sequence[str]) -> str:
        return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"

    rows = [
        line([f"**{cell.text}**" if cell.is_best else cell.text for cell in row])
        for row in sheet.rows
    ]
    head = [line(sheet.columns), line(["---"] * len(sheet.columns))]
    notes = ["", *(f"{note}  " for note in sheet.notes)] if sheet.notes else []
    return "\n".join([f"**{sheet.title}**", "", *head, *rows, *notes]) + "\n"


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "±": r"$\pm$",
    "–": "--",
    "—": "---",
    "†": r"$^\dagger$",
    "²": r"$^2$",
    "·": r"$\cdot$",
}


def latex_text(text: str) -> str:
    """`text` with everything LaTeX would read as a command made printable."""
    return "".join(_LATEX.get(character, character) for character in text)


def _latex(sheet: Sheet) -> str:
    def line(texts: Sequence[str]) -> str:
        return " & ".join(texts) + r" \\"

    rows = [
        line(
            [
                rf"\textbf{{{latex_text(cell.text)}}}" if cell.is_best else latex_text(cell.text)
                for cell in row
            ]
        )
        for row in sheet.rows
    ]
    notes = [rf"\\ {{\footnotesize {latex_text(note)}}}" for note in sheet.notes]
    return "\n".join(
        [
            r"% needs \usepackage{graphicx}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(sheet.title)}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{'l' * len(sheet.columns)}}}",
            r"\hline",
            line([latex_text(title) for title in sheet.columns]),
            r"\hline",
            *rows,
            r"\hline",
            r"\end{tabular}}",
            *notes,
            r"\end{table}",
            "",
        ]
    )
