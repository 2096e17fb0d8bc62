"""The command line: help, sentences, exit codes, and that asking for help is cheap."""

import json
import re
import subprocess
import sys
import time

import pytest

from lab import cli_options, config, records
from lab.cli import app

COMMANDS = tuple(cli_options.COMMANDS)


def run(capsys, *words):
    """Exit code, standard output and standard error of a command."""
    code = app(list(words))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


# --- help ----------------------------------------------------------------------------------------


def test_the_first_help_lists_every_command_with_examples(capsys):
    code, text, errors = run(capsys, "--help")
    assert code == 0 and not errors and text.startswith("Usage: cooplab COMMAND [ARGS]...\n")
    for name in COMMANDS:
        assert re.search(rf"^  {name} +\S", text, re.MULTILINE), name
    assert text.count("  cooplab ") == 3 and run(capsys)[1] == text


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_is_whole(capsys, name):
    code, text, errors = run(capsys, name, "--help")
    command = cli_options.COMMANDS[name]
    assert code == 0 and not errors and text.startswith(f"Usage: cooplab {name} ")
    for option in command.options:
        assert (option.flag if option.flag.startswith("--") else option.value) in text, option
        for choice in option.choices:
            assert choice in option.text, f"{option.flag}: {choice} is not named"
    assert text.partition("Examples:\n")[2].count(f"  cooplab {name}") == 2
    for code in command.exits:
        assert re.search(rf"^  {code} +\S", text, re.MULTILINE), code


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_can_be_parsed(name):
    from lab.cli import parse

    for example in cli_options.COMMANDS[name].examples:
        words = example.split()
        assert words[:2] == ["cooplab", name]
        parse(cli_options.COMMANDS[name], words[2:])


def test_help_imports_neither_the_compiler_nor_the_window_and_is_quick():
    script = (
        "import sys\nfrom lab.cli import app\napp(['run', '--help'])\n"
        "heavy = {'numba', 'numpy', 'pygame', 'pydantic', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    fastest = 9.0
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
        fastest = min(fastest, time.perf_counter() - began)
    assert fastest <= 0.4, fastest


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["rum"], 2, r'no command "rum"; commands: run, sweep, .* \(closest: run\)'),
        (
            ["run", "cube-qorum"],
            2,
            r'no preset or file "cube-qorum"; presets: cube-chain, .* \(closest: cube-quorum\)',
        ),
        (
            ["run", "--set", "repair.taus=1"],
            2,
            r'unknown setting "repair\.taus"; \[repair\] has: mode, predictor, .* \(closest: tau\)',
        ),
        (["run", "--set", "agents=0"], 2, r"agents = 0: allowed 1 to 1024"),
        (["run", "--set", "agents"], 2, r'"agents" is no assignment; allowed KEY=VALUE'),
        (["run", "--seed", "x"], 2, r".*--seed.*'x'.*; see `cooplab run --help`"),
        (["run", "--sed", "1"], 2, r".*--sed.*; see `cooplab run --help`"),
        (["run", "--replies", "old"], 2, r".*'old'.*record.*replay.*fill.*live.*"),
        (["run", "missing.toml"], 2, r"no file missing\.toml"),
        (["run", "--resume", "nowhere"], 2, r"nowhere/config\.json: no such file"),
        (["sweep", "grid.toml"], 2, r"no file grid\.toml"),
        (["sweep"], 2, r"sweep needs a PRESET or FILE\.toml; presets: ablations, .*"),
        (["table", "nowhere"], 2, r"no folder nowhere"),
        (["table"], 2, r"no finished run below results, runs \(no such folders\)"),
        (["table", "--columns", "scor"], 2, r'unknown column "scor"; .* \(closest: score\)'),
        (["table", ".", "--rows", "teams"], 2, r'unknown axis "teams"; axes: world, .*'),
        (["table", ".", "--where", "a"], 2, r'"a" is no filter; allowed KEY=VALUE\[,VALUE\]'),
        (["table", ".", "--compare", "repair=on"], 2, r'--compare "repair=on": allowed AXIS=A,B.*'),
        (["plot", "."], 2, r"plot needs --figure; figures: .*"),
        (["replay", "nowhere"], 2, r"nowhere is no run folder"),
        (["replay"], 2, r"RUN is missing: the folder of a run"),
        (["export", "."], 2, r"\. is no run folder"),
        (["bench", "all", "--agents"], 2, r".*--agents.*"),
    ],
)
def test_bad_input_is_one_sentence_and_a_code(capsys, tmp_path, monkeypatch, words, code, sentence):
    monkeypatch.chdir(tmp_path)
    found, text, errors = run(capsys, *words)
    assert (found, text) == (code, ""), (found, text, errors)
    assert re.fullmatch(rf"cooplab: error: {sentence}\n", errors), errors
    assert not list(tmp_path.iterdir())


def test_a_team_too_small_names_the_switch(capsys):
    code, _, errors = run(capsys, "run", "macrafter-paper", "--set", "agents=2", "--dry-run")
    assert code == 2 and errors.startswith("cooplab: error: macrafter-v1: "), errors
    assert "the team has 2" in errors and 'excess_requirements = "lower"' in errors


def test_a_missing_key_is_named_before_anything_starts(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MINI_KEY", raising=False)
    planner = 'kind = "llm"\nmodel = "m"\napi_key_env = "MINI_KEY"\n'
    (tmp_path / "my.toml").write_text(f'planner = "mini"\n[planners.mini]\n{planner}')
    code, _, errors = run(capsys, "run", "my.toml")
    assert (code, errors) == (2, 'cooplab: error: planner "mini" needs the variable MINI_KEY\n')
    axes = '[axes]\nplanner = ["mini"]\n'
    (tmp_path / "grid.toml").write_text(f"{axes}[planners.mini]\n{planner}")
    code, _, errors = run(capsys, "sweep", "grid.toml")
    assert (code, errors) == (2, 'cooplab: error: planner "mini" needs the variable MINI_KEY\n')
    code, text, _ = run(capsys, "sweep", "grid.toml", "--dry-run")
    assert code == 0 and "1 to play" in text


def test_all_findings_are_shown_a_line_each(capsys):
    code, _, errors = run(capsys, "run", "--set", "agents=0", "--set", "budget.step=3")
    assert code == 2 and errors.count("cooplab: error: ") == 2, errors


def test_a_window_needs_a_display(capsys, tmp_path, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    code, _, errors = run(capsys, "run", "--window")
    assert code == 3 and "no display for a window" in errors, errors


def test_debug_shows_where_an_error_came_from(capsys):
    code, _, errors = run(capsys, "run", "--debug", "--set", "agents=0")
    assert code == 2 and "Traceback" in errors and "cooplab: error: agents = 0" in errors


def test_a_defect_asks_to_be_reported(capsys, monkeypatch):
    def broken(kind):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(config, "preset_names", broken)
    code, _, errors = run(capsys, "run")
    assert code == 1 and "oops" in errors and "please report it" in errors, errors


# --- from end to end -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a few short runs, played through the command line."""
    root = tmp_path_factory.mktemp("home")
    for repair in ("off", "on"):
        for seed in ("0", "1"):
            words = ["run", "--set", f"repair={repair}", "--set", "budget.steps=10"]
            out = str(root / "runs" / f"{repair}{seed}")
            assert app([*words, "--seed", seed, "--out", out, "--quiet"]) == 0
    return root


def test_run_says_what_came_of_it(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, text, errors = run(capsys, "run", "--set", "budget.steps=3")
    assert code == 0 and not errors
    assert re.fullmatch(r"score 0\.0 · steps 3\.0 .*\nfinished by steps: runs/cube-.*\n", text), (
        text
    )
    code, _, errors = run(capsys, "run", "--set", "budget.steps=3")
    assert code == 2 and "holds a finished run; choose --out or --resume" in errors


def test_dry_run_prints_the_config_and_runs_nothing(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, text, _ = run(capsys, "run", "--dry-run")
    whole, _, rest = text.partition("\nrun key: ")
    assert code == 0 and not list(tmp_path.iterdir())
    assert json.loads(whole)["budget"]["steps"] == 200 and "most model calls: 0" in rest


def test_table_and_its_files(capsys, home):
    code, text, _ = run(capsys, "table", str(home), "--compare", "repair=off,on")
    assert code == 0 and "repair on minus off, matched seeds" in text
    out = home / "table.md"
    words = ("--format", "markdown", "--out", str(out), "--parquet", str(home / "all.parquet"))
    assert run(capsys, "table", str(home), *words)[:2] == (0, "")
    assert out.read_text().count("| Centralized |") == 2
    assert (home / "all.parquet").stat().st_size > 1000


def test_replay_checks_shows_a_step_and_finds_a_change(capsys, home, tmp_path, monkeypatch):
    folder = home / "runs" / "on0"
    assert run(capsys, "replay", str(folder), "--check")[0] == 0
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    code, text, _ = run(capsys, "replay", str(folder), "--step", "4")
    assert code == 0 and text.startswith("step 4 of 10 · ") and text.count("agent ") >= 3
    assert run(capsys, "replay", str(folder), "--step", "11")[0] == 2
    assert run(capsys, "replay", str(folder))[0] == 3
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    frames = (copy / records.FRAMES).read_bytes()
    (copy / records.FRAMES).write_bytes(frames[:-1].replace(b'"step":10', b'"step":11') + b"\n")
    code, _, errors = run(capsys, "replay", str(copy), "--check")
    assert code == 5 and "frames.jsonl, line 11: " in errors, errors


def test_replay_of_a_prompt_needs_a_model(capsys, home):
    folder = str(home / "runs" / "on0")
    code, _, errors = run(capsys, "replay", folder, "--prompt", "0:d0")
    assert code == 2 and "only what is sent to models is recorded" in errors, errors
    code, _, errors = run(capsys, "replay", folder, "--prompt", "7:d0")
    assert code == 2 and "agent 7 has no decision d0; it has none" in errors, errors


def test_export_and_its_refusals(capsys, home):
    folder, out = str(home / "runs" / "on0"), home / "film.gif"
    code, text, _ = run(capsys, "export", folder, "--format", "gif", "--to", "3", "--out", str(out))
    assert (code, text) == (0, f"{out}\n") and out.read_bytes().startswith(b"GIF89a")
    code, _, errors = run(capsys, "export", folder, "--format", "gif", "--step", "3")
    assert (code, errors) == (2, "cooplab: error: --step: not for format gif\n")
    code, _, errors = run(capsys, "export", folder)
    assert code == 2 and "export needs --format" in errors


def test_doctor_says_what_works(capsys):
    code, text, _ = run(capsys, "doctor", "--json", "--endpoint", "http://127.0.0.1:9")
    found = {finding["name"]: finding["state"] for finding in json.loads(text)}
    assert code == 0 and found["python"] == found["numba"] == "ok"
    assert found["endpoint"] == "broken" and "chromium" in found and "extra gui" in found


def test_the_doctor_works_where_nothing_is_installed():
    script = (
        "import sys\n"
        "for name in ('numba', 'numpy', 'pydantic', 'polars'): sys.modules[name] = None\n"
        "from lab.cli import app\nprint(app(['run', '--dry-run']), app(['doctor']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert "missing  numba " in done.stdout and done.stdout.endswith("3 3\n"), done.stdout
    assert re.fullmatch(r"cooplab: error: \S+ cannot be loaded; install it with: .*\n", done.stderr)


def test_a_pipe_that_closes_is_no_error():
    command = f"{sys.executable} -m lab.cli --help | true; exit ${{PIPESTATUS[0]}}"
    assert subprocess.run(["bash", "-c", command], check=False).returncode == 0
