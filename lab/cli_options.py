"""Commands, options, exit codes and help texts of the command line, as tables."""

from __future__ import annotations

from typing import NamedTuple

DONE, FAILED, BAD_INPUT, MISSING, STOPPED, DIFFERS, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
EXITS = {
    DONE: "done",
    FAILED: "a run ended by error, or a defect of ours",
    BAD_INPUT: "bad input: arguments, config, paths, damaged folder",
    MISSING: "something needed is not installed",
    STOPPED: "stopped early but resumable: limits, endpoint down",
    DIFFERS: "the replay differs from the record",
    INTERRUPTED: "ctrl-C; resumable",
}
HELP_WIDTH = 24


class Option(NamedTuple):
    """One option: its flag (or metavar of a positional), value, sentence, and default in words."""

    flag: str
    value: str
    text: str
    note: str = ""
    kind: str = "one"
    """one, many (repeatable), flag, number, real, place (positional), places (any number)."""
    choices: tuple[str, ...] = ()


class Command(NamedTuple):
    """One subcommand as its help shows it."""

    name: str
    summary: str
    usage: str
    text: str
    options: tuple[Option, ...]
    examples: tuple[str, ...]
    exits: tuple[int, ...]


def _limits(what: str) -> tuple[Option, ...]:
    return (
        Option("--max-calls", "N", f"end {what}, resumable, after N model calls", kind="number"),
        Option("--max-tokens", "N", f"end {what}, resumable, after N tokens", kind="number"),
        Option("--max-money", "X", f"end {what}, resumable, once X is spent", kind="real"),
    )


def _models(whom: str) -> tuple[Option, ...]:
    return (
        Option("--model", "NAME", f"a language model plays for {whom}"),
        Option(
            "--endpoint", "URL", "address of every model (OpenAI's interface)", "default OpenAI's"
        ),
        Option("--key-env", "VARIABLE", "variable with the key of --endpoint", "default no key"),
    )


_SET = Option(
    "--set", "KEY=VALUE", "one setting, dotted; repeatable", "see `--dry-run`", kind="many"
)
_WHERE = Option(
    "--where", "KEY=VALUE[,VALUE]", "only runs with one of these values; repeatable", kind="many"
)
_QUIET = Option("--quiet", "", "no progress", kind="flag")
DEBUG = Option("--debug", "", "show where an error came from", kind="flag")
_HELP = Option("--help", "", "show this and exit", kind="flag")

RUN = Command(
    "run",
    "play one episode and record it",
    "[PRESET|FILE.toml] [OPTIONS]",
    "Play one episode and record it. Without PRESET: cube-quorum, scripted planners, no key "
    "needed.",
    (
        Option("preset", "PRESET|FILE.toml", "a shipped preset or a settings file", kind="place"),
        _SET,
        *_models("every agent"),
        Option("--seed", "N", "world, chance and order of everything", "default 0", "number"),
        Option("--out", "DIR", "run folder", "default runs/<run_key>"),
        Option("--resume", "DIR", "go on with a partial or stopped run"),
        Option(
            "--replies",
            "MODE",
            "record, replay, fill, live: where answers of models come from",
            "default record",
            choices=("record", "replay", "fill", "live"),
        ),
        *_limits("the run"),
        Option("--window", "", "show it while it plays (needs a display)", kind="flag"),
        _QUIET,
        Option(
            "--dry-run",
            "",
            "print the resolved settings and the most calls they can cost",
            kind="flag",
        ),
    ),
    (
        "cooplab run macrafter-paper --set topology.kind=centralized --set repair=on --seed 3",
        "cooplab run my.toml --set planner=mini --max-calls 200 --window",
    ),
    (DONE, FAILED, BAD_INPUT, MISSING, STOPPED, INTERRUPTED),
)
SWEEP = Command(
    "sweep",
    "play a grid of episodes, resume, never twice",
    "PRESET|FILE.toml [OPTIONS]",
    "Play every run of a sweep that is not finished yet; the same command again goes on.",
    (
        Option("source", "PRESET|FILE.toml", "a shipped sweep or a sweep file", kind="place"),
        Option("--out", "DIR", "folder of the runs", "default: `out` of the file"),
        Option("--workers", "N", "runs at a time; 0: one a core", "default 0", "number"),
        Option(
            "--backend",
            "NAME",
            "serial, processes, ray: where runs are played",
            "default processes",
            choices=("serial", "processes", "ray"),
        ),
        Option("--ray-address", "A", "cluster to join", "default: one on this machine"),
        Option("--retry-failed", "", "play failed runs again", kind="flag"),
        Option(
            "--rerun-damaged", "", "play runs again whose summary contradicts them", kind="flag"
        ),
        Option("--only", "KEY=VALUE", "only runs with this value; repeatable", kind="many"),
        Option("--planner", "NAME", "plays for every agent of every run: scripted, greedy, …"),
        *_models("every agent of every run"),
        *_limits("the sweep"),
        _QUIET,
        Option("--dry-run", "", "list the runs, which exist, and the most calls", kind="flag"),
    ),
    (
        "cooplab sweep repair.toml --workers 8",
        "cooplab sweep repair.toml --backend ray --ray-address auto",
    ),
    (DONE, FAILED, BAD_INPUT, MISSING, STOPPED, INTERRUPTED),
)
TABLE = Command(
    "table",
    "tables of finished runs: means, matched pairs, LaTeX",
    "[PATH…] [OPTIONS]",
    "Print a table of the finished runs below PATH.",
    (
        Option("paths", "PATH", "folders to look in", "default results runs", "places"),
        Option("--rows", "AXES", "axes whose values are rows", "default topology"),
        Option("--group", "AXES", "axes whose values are blocks", "default agents,planner,repair"),
        Option(
            "--columns",
            "KEYS",
            "metrics, or paper, constraints, cost, repair, prediction, all",
            "default paper",
        ),
        Option(
            "--spread",
            "WHAT",
            "sd, ci95, both: what stands behind ±",
            "default sd",
            choices=("sd", "ci95", "both"),
        ),
        Option("--ci", "KIND", "t, normal: kind of interval", "default t", choices=("t", "normal")),
        _WHERE,
        Option("--compare", "AXIS=A,B", "matched pairs of runs that differ in AXIS alone"),
        Option("--published", "", "append numbers of the papers, marked †", kind="flag"),
        Option(
            "--format",
            "FORM",
            "text, markdown, latex, csv, json",
            "default text",
            choices=("text", "markdown", "latex", "csv", "json"),
        ),
        Option("--out", "FILE", "write the table here", "default standard output"),
        Option("--parquet", "FILE", "write a row a run, every metric (extra analysis)"),
        Option("--csv", "FILE", "the same as CSV (extra analysis)"),
    ),
    (
        "cooplab table results --columns paper,constraints --format latex --published",
        "cooplab table results --compare topology=individual,centralized "
        "--where world=cube-v1:quorum",
    ),
    (DONE, BAD_INPUT, MISSING),
)
PLOT = Command(
    "plot",
    "figures of the papers and ours",
    "PATH… --figure NAME [OPTIONS]",
    "Draw a figure of the finished runs below PATH, with a CSV of every value beside it.",
    (
        Option("paths", "PATH", "folders to look in", kind="places"),
        Option(
            "--figure",
            "NAME",
            "traces, case, timeline, tradeoff, repair, prediction, scaling, ablations",
            "needed",
            choices=(
                "traces",
                "case",
                "timeline",
                "tradeoff",
                "repair",
                "prediction",
                "scaling",
                "ablations",
            ),
        ),
        Option(
            "--format",
            "FORM",
            "png, svg, pdf",
            "default png",
            choices=("png", "svg", "pdf"),
        ),
        Option("--out", "FILE", "file of the figure", "default <figure>.<format>"),
        _WHERE,
        Option(
            "--strips",
            "WHICH",
            "all, paper: strips of constraints, participation left out in paper",
            "default all",
            choices=("all", "paper"),
        ),
        Option(
            "--axis",
            "WHAT",
            "ms, step: what runs along the timeline",
            "default ms",
            choices=("ms", "step"),
        ),
        Option("--agents", "LIST", "agents of the timeline, as 0-11,40", "default all"),
        Option("--published", "", "add the papers' numbers, dashed in grey", kind="flag"),
    ),
    (
        "cooplab plot results --figure traces --format pdf",
        "cooplab plot runs/first --figure timeline --axis step",
    ),
    (DONE, BAD_INPUT, MISSING),
)
REPLAY = Command(
    "replay",
    "look at a recorded run",
    "RUN [OPTIONS]",
    "Look at a recorded run in a window, or read or check it in the terminal.",
    (
        Option("run", "RUN", "a run folder", kind="place"),
        Option("--step", "N", "print what happened up to step N, and the board", kind="number"),
        Option("--speed", "N", "steps a second, 1 to 60, in the window", "default 8", "number"),
        Option(
            "--check",
            "",
            "play again from the recorded replies and compare byte for byte",
            kind="flag",
        ),
        Option("--prompt", "AGENT:DECISION", "print a recorded prompt and its answer"),
    ),
    ("cooplab replay runs/first --step 40", "cooplab replay runs/first --check"),
    (DONE, FAILED, BAD_INPUT, MISSING, DIFFERS),
)
EXPORT = Command(
    "export",
    "video, picture or one-file page of a run",
    "RUN --format F [OPTIONS]",
    "Write a video, a picture or a one-file page of a run.",
    (
        Option("run", "RUN", "a run folder", kind="place"),
        Option(
            "--format", "F", "mp4, gif, png, html", "needed", choices=("mp4", "gif", "png", "html")
        ),
        Option("--out", "FILE", "file to write", "default RUN/replay.<format>"),
        Option("--fps", "N", "steps a second of a video, 1 to 60", "default 8", "number"),
        Option("--scale", "N", "pixels a cell, 1 to 64", "default 16", "number"),
        Option("--from", "S", "first step", "default 0", "number"),
        Option("--to", "S", "last step", "default the last", "number"),
        Option("--step", "N", "step of a picture", "default the last", "number"),
        Option(
            "--panel",
            "WHICH",
            "map, full: the map, or the whole window",
            "default map",
            choices=("map", "full"),
        ),
    ),
    (
        "cooplab export runs/first --format html",
        "cooplab export runs/first --format gif --from 20 --to 60 --scale 24",
    ),
    (DONE, BAD_INPUT, MISSING),
)
BENCH = Command(
    "bench",
    "speed, as ratios within one run",
    "[worlds|loop|repair|render|all] [OPTIONS]",
    "Measure speed beside a baseline of the same run.",
    (
        Option(
            "part",
            "PART",
            "worlds, loop, repair, render, all",
            "default all",
            "place",
            ("worlds", "loop", "repair", "render", "all"),
        ),
        Option("--quick", "", "fewer rounds: under a minute", kind="flag"),
        Option("--json", "FILE", "write the figures here, too"),
        Option("--agents", "N,…", "team sizes", "default those of each row"),
    ),
    ("cooplab bench worlds --quick", "cooplab bench repair --agents 3,64"),
    (DONE, FAILED, BAD_INPUT, MISSING),
)
DOCTOR = Command(
    "doctor",
    "what works on this machine",
    "[OPTIONS]",
    "Say what works on this machine, what is missing and how to install it.",
    (
        Option("--endpoint", "URL", "also try a model service, with some 15 short calls"),
        Option("--model", "NAME", "model to try there", "default the first it lists"),
        Option("--key-env", "VARIABLE", "environment variable with its key", "default no key"),
        Option("--json", "", "as JSON", kind="flag"),
    ),
    ("cooplab doctor", "cooplab doctor --json --endpoint http://localhost:8080/v1"),
    (DONE, BAD_INPUT, MISSING),
)
COMMANDS = {
    command.name: command for command in (RUN, SWEEP, TABLE, PLOT, REPLAY, EXPORT, BENCH, DOCTOR)
}
EXAMPLES = (
    "cooplab run cube-quorum --set repair=on --out runs/first",
    "cooplab sweep paper-table-2 --dry-run",
    "cooplab table results --compare repair=off,on",
)


# --- help ----------------------------------------------------------------------------------------


def main_help() -> str:
    """What `cooplab --help` prints."""
    lines = [
        "Usage: cooplab COMMAND [ARGS]...",
        "  A laboratory for cooperation between language-model agents.",
        "Commands:",
        *(f"  {command.name:<10} {command.summary}" for command in COMMANDS.values()),
        "Examples:",
        *(f"  {example}" for example in EXAMPLES),
    ]
    return "\n".join(lines)


def command_help(command: Command) -> str:
    """What `cooplab COMMAND --help` prints."""
    lines = [
        f"Usage: cooplab {command.name} {command.usage}",
        f"  {command.text}",
    ]
    places = [option for option in command.options if option.kind.startswith("place")]
    if places:
        lines += ["Arguments:", *map(_option_line, places)]
    flags = [option for option in command.options if not option.kind.startswith("place")]
    lines += ["Options:", *map(_option_line, (*flags, DEBUG, _HELP))]
    lines += ["Examples:", *(f"  {example}" for example in command.examples)]
    lines += ["Exit codes:", *(f"  {code:<4} {EXITS[code]}" for code in command.exits)]
    return "\n".join(lines)


def _option_line(option: Option) -> str:
    is_place = option.kind.startswith("place")
    name = option.value if is_place else f"{option.flag} {option.value}".rstrip()
    note = f"  [{option.note}]" if option.note else ""
    return f"  {name:<{HELP_WIDTH}} {option.text}{note}"
