"""Tables against golden files; `python tests/lab/test_tables.py` writes these anew."""

import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from made_runs import config, write_run

from cognitive.errors import ConfigError, RecordError
from lab import layout, pairs, runs, tables

GOLDEN = Path(__file__).parent / "golden"
SUFFIX = {"text": "txt", "markdown": "md", "latex": "tex", "csv": "csv", "json": "json"}
OFF, ON = (3, 5, 4, 8, 5, 2, 6, 4), (5, 5, 9, 7, 8, 6, 13, 10)


def fill(root):
    """Individual: 5 finished; centralized: 4 of 5; chain: one run, without an attempt."""
    for seed, score in enumerate((3, 5, 4, 8, 5)):
        shares = {"violation_spatial": 0.1 * score, "score_per_step": score / 200}
        write_run(root, config(seed), {"score": float(score), "steps": 200, **shares})
    for seed, score in enumerate((12, 14, 16, 18)):
        shares = {"violation_spatial": 0.25 if seed else None, "score_per_step": score / 100}
        ends = "world" if seed else "steps"
        metrics = {"score": float(score), "steps": 100, "messages": 60 + seed, **shares}
        write_run(root, config(seed, "centralized"), metrics, ends)
    write_run(root, config(4, "centralized"), {}, "error", is_finished=False)
    write_run(root, config(0, "chain"), {"score": 18.0, "steps": 90, "score_per_step": 0.2})


def fill_pairs(root):
    for seed, (off, on) in enumerate(zip(OFF, ON, strict=True)):
        write_run(root, config(seed), {"score": float(off), "steps": 120})
        write_run(root, config(seed, repair="on"), {"score": float(on), "steps": 120})
    write_run(root, config(8), {"score": 1.0, "steps": 120})


def shown(root, form, **view):
    columns = tables.columns_of(("score", "steps", "score_per_step", "messages"))
    columns += tables.columns_of(("violation_spatial", "ended_by"))
    view = tables.View(**{"columns": columns, **view})
    return layout.render(tables.means(runs.read_runs([root]), view), form)


def compared(root, form):
    columns = tables.columns_of(("score", "steps", "violation_spatial"))
    found = pairs.matched(runs.read_runs([root]), "repair", ("off", "on"), columns)
    return layout.render(found, form)


CASES = {
    **{f"means.{SUFFIX[form]}": (fill, shown, {"form": form}) for form in layout.FORMATS},
    "means_both.txt": (fill, shown, {"form": "text", "spread": "both"}),
    "means_normal.txt": (fill, shown, {"form": "text", "spread": "ci95", "interval": "normal"}),
    "means_published.txt": (fill, shown, {"form": "text", "is_published": True}),
    "means_published.tex": (fill, shown, {"form": "latex", "is_published": True}),
    **{f"pairs.{SUFFIX[form]}": (fill_pairs, compared, {"form": form}) for form in layout.FORMATS},
}
LATEX = [name for name in CASES if name.endswith(".tex")]
DOCUMENT = r"""\documentclass{article}
\usepackage{graphicx}
\begin{document}
%s\end{document}
"""
TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|[{}$&~^_#%]|[^\\{}$&~^_#%]+", re.S)
COMMANDS = {
    r"\begin", r"\end", r"\centering", r"\caption", r"\hline", r"\textbf", r"\footnotesize",
    r"\resizebox", r"\ifdim", r"\else", r"\fi", r"\width", r"\linewidth", r"\usepackage",
    r"\textbackslash", r"\textasciitilde", r"\textasciicircum", r"\pm", r"\dagger", r"\cdot",
}  # fmt: skip
ESCAPED = {r"\\", r"\&", r"\%", r"\$", r"\#", r"\_", r"\{", r"\}"}


def produced(name, root):
    prepare, make, options = CASES[name]
    prepare(root)
    return make(root, **options)


@pytest.mark.parametrize("name", CASES)
def test_table_equals_its_golden_file(name, tmp_path):
    assert produced(name, tmp_path) == (GOLDEN / name).read_text()


@pytest.mark.parametrize("name", LATEX)
def test_latex_keeps_the_grammar(name):
    """Known commands alone, groups and environments closed in order, mathematics inside of $ $."""
    text = re.sub(r"(?<!\\)%.*\n", "", (GOLDEN / name).read_text())
    assert text.isascii(), text
    opened, environments, is_math, columns, cells = 0, [], False, 0, []
    tokens = TOKEN.findall(text)
    assert "".join(tokens) == text, "something is no token"
    for place, token in enumerate(tokens):
        if token in (r"\begin", r"\end"):
            environment = tokens[place + 2]
            if token == r"\begin":
                environments.append(environment)
            else:
                assert environments.pop() == environment
            if environment == "tabular" and token == r"\begin":
                columns, cells = len(tokens[place + 5]), [1]
        elif token == "$":
            is_math = not is_math
        elif token in "{}":
            opened += 1 if token == "{" else -1
            assert opened >= 0, text
        elif token == "&":
            assert environments[-1] == "tabular" and not is_math
            cells[-1] += 1
        elif token == r"\\" and environments[-1] == "tabular":
            assert cells[-1] == columns, (cells, columns)
            cells.append(1)
        elif token == "^" or (set(token) & set("<>") and tokens[place - 1] != r"\width"):
            assert is_math, text
        else:
            assert token not in "~_#%" and (
                not token.startswith("\\") or token in COMMANDS | ESCAPED
            ), token
    assert (opened, environments, is_math) == (0, [], False)
    assert len(cells) > 3 and cells[-1] == 1


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex on this machine")
@pytest.mark.parametrize("name", LATEX)
def test_latex_compiles_and_is_not_too_wide(name, tmp_path):
    (tmp_path / "t.tex").write_text(DOCUMENT % (GOLDEN / name).read_text())
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    tables = [line for line in done.stdout.splitlines() if line.startswith("Overfull")]
    assert not tables and (tmp_path / "t.pdf").stat().st_size > 1000, tables


def test_latex_escapes_what_is_special():
    assert layout.latex_text("50% of a_b & {c}") == r"50\% of a\_b \& \{c\}"
    assert (
        layout.latex_text("p <.0001 ~ a^b") == r"p $<$.0001 \textasciitilde{} a\textasciicircum{}b"
    )


def test_runs_of_other_configs_are_never_averaged(tmp_path):
    write_run(tmp_path, config(0), {"score": 1.0})
    write_run(tmp_path, config(0, budget={"steps": 120}), {"score": 9.0})
    write_run(tmp_path, config(0, interrupts={"policy": "never"}), {"score": 5.0})
    text = shown(tmp_path, "text", columns=tables.columns_of(("score",)))
    assert text.count("Individual") == 3 and text.count("one run") == 2, text
    assert "interrupts never" in text and re.search(r"Individual \[[0-9a-f]{8}\]", text), text


def test_one_run_found_twice_counts_once(tmp_path):
    for place in ("a", "b"):
        write_run(tmp_path / place, config(0), {"score": 1.0})
    assert len(runs.read_runs([tmp_path, tmp_path / "a"])) == 1


def test_the_order_of_folders_changes_nothing(tmp_path):
    fill(tmp_path)
    expected, paths = shown(tmp_path, "json"), sorted(tmp_path.iterdir())
    view = tables.View(columns=tables.columns_of(("score", "violation_spatial")))
    texts = set()
    for seed in range(5):
        random.Random(seed).shuffle(paths)
        texts.add(layout.render(tables.means(runs.read_runs(paths), view), "json"))
        assert tables.load(paths).equals(tables.load([tmp_path]))
    assert len(texts) == 1 and expected == shown(tmp_path, "json")


def test_nothing_finished_says_what_there_is(tmp_path):
    write_run(tmp_path, config(0), {}, "error", is_finished=False)
    write_run(tmp_path, config(1), {}, None)
    found = runs.read_runs([tmp_path])
    with pytest.raises(RecordError, match=r"no finished run below x \(1 failed, 1 partial\)"):
        runs.finished(found, [Path("x")])


def test_a_filter_takes_a_world_with_its_preset(tmp_path):
    fill(tmp_path)
    found = runs.read_runs([tmp_path])
    assert len(runs.select(found, {"world": ["cube-v1:quorum"], "topology": ["chain"]})) == 1
    assert len(runs.select(found, {"budget.steps": ["200"], "seed": ["0", "1"]})) == 5


def test_unknown_names_give_the_known_ones(tmp_path):
    with pytest.raises(ConfigError, match=r'unknown column "scor"; columns: paper, .*closest: sc'):
        tables.columns_of(["scor"])
    with pytest.raises(ConfigError, match=r'unknown axis "topologies"; axes: world, .*: topology'):
        runs.check_axes(["topologies"])


def test_pairs_need_both_sides(tmp_path):
    write_run(tmp_path, config(0, repair="on"), {"score": 1.0})
    with pytest.raises(ConfigError, match="needs finished runs of both; found only on"):
        compared(tmp_path, "text")


def test_cells_without_a_partner_are_left_out_and_counted(tmp_path):
    fill_pairs(tmp_path)
    write_run(tmp_path, config(0, "chain"), {"score": 1.0})
    text = compared(tmp_path, "text")
    assert "Chain" not in text and "1 runs of other cells have no partner" in text, text
    lonely = tmp_path / "lonely"
    write_run(lonely, config(0), {"score": 1.0})
    write_run(lonely, config(0, "chain", "on"), {"score": 1.0})
    with pytest.raises(ConfigError, match="no two runs are equal in everything else"):
        compared(lonely, "text")


def test_pairs_across_team_sizes_ignore_what_follows_from_the_size(tmp_path):
    for agents in (3, 6):
        write_run(tmp_path, config(0, agents=agents), {"score": float(agents)})
    columns = tables.columns_of(["score"])
    (sheet,) = pairs.matched(runs.read_runs([tmp_path]), "agents", ("3", "6"), columns)
    assert sheet.data[0]["n"] == 1 and sheet.data[0]["mean"] == 3.0, sheet.data


def test_published_rows_are_in_no_mean(tmp_path):
    write_run(tmp_path, config(0), {"score": 5.0})
    bare, side = (shown(tmp_path, "text", is_published=on) for on in (False, True))
    assert side.startswith(bare.splitlines()[0]) and "† GPT-5.4-mini" in side, side
    assert bare.splitlines()[2].split() == side.splitlines()[2].split()[: len(bare.split())]


def test_frame_has_a_row_a_run_with_types_and_nulls(tmp_path):
    fill(tmp_path)
    frame = tables.load([tmp_path])
    assert frame.shape[0] == 10 and frame["run_key"].is_unique().all()
    kinds = {name: str(kind) for name, kind in frame.schema.items()}
    assert [kinds[name] for name in ("topology", "agents", "seed", "score", "messages")] == [
        "String",
        "Int64",
        "Int64",
        "Float64",
        "Int64",
    ]
    assert frame["violation_spatial"].null_count() == 2


def test_json_holds_null_and_csv_an_empty_cell_for_na(tmp_path):
    fill(tmp_path)
    chain = [row for row in json.loads(shown(tmp_path, "json")) if row["topology"] == "chain"]
    assert chain[0]["violation_spatial_mean"] is None and chain[0]["score_sd"] is None
    assert "None" not in shown(tmp_path, "csv") and ",," in shown(tmp_path, "csv")


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(-0.04, 1, "0.0"), (0.05, 1, "0.1"), (None, 2, "–"), (-1.25, 2, "-1.25")],
)
def test_numbers(value, decimals, text):
    assert layout.number(value, decimals) == text


@pytest.mark.parametrize(
    ("p", "text"), [(0.00009, "<.0001"), (0.0001, "0.0001"), (0.03125, "0.0312"), (None, "–")]
)
def test_p_values(p, text):
    assert layout.p_value(p) == text


def test_the_published_file_holds_the_rows_of_the_papers():
    known = tables.published()
    assert [row["source"] for row in known["row"]] == ["Table 2"] * 4 + ["Table 8"] * 4
    assert known["row"][0]["score"] == [146.8, 141.6] and known["figure_5"]["score"] == 509
    assert {len(row) for row in known["row"]} == {16}


if __name__ == "__main__":
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            (GOLDEN / case).write_text(produced(case, Path(folder)))
    subprocess.run(["git", "diff", "--stat", str(GOLDEN)], check=False)
