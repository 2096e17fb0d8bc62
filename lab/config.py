"""From a preset, a file and assignments to the whole resolved config of one run.

A resolved config is plain JSON with every default filled in: what `config.json` holds, and all a
run depends on besides its replies.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, fields
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cognitive.errors import ConfigError
from cognitive.topologies.make import TOPOLOGIES, canonical_kind, make_topology
from lab import records, settings
from lab.serving import SHIPPED_PLANNERS
from repair.config import ABLATIONS, RepairConfig, repair_config
from worlds import registry
from worlds.api import World
from worlds.errors import WorldError

PRESETS = Path(__file__).parent / "presets"
PRODUCT = f"cooplab {version('cooplab')}"
DEFAULT_PRESET = "cube-quorum"
RUN_TABLES = ("world", "topology", "planner", "repair", *settings.SECTIONS)
SUGAR = {
    "world": "id",
    "topology": "kind",
    "planner": "name",
    "interrupts": "policy",
    "repair": "name",
}
"""Sections that may be one word, and the key that word is the value of."""
ALIASES = {"pace": "clock.pace"}
RESETS = ("world.id", "topology.kind", "planner.kind")
"""Keys that make the other keys of their section meaningless when they change."""
MAY_CHANGE = (
    "budget",
    "label",
    "product",
    "planner.base_url_env",
    "planner.api_key_env",
    "planner.concurrency",
    "planner.connect_s",
    "planner.attempt_s",
    "planner.try_s",
    "planner.attempts",
)
"""What may differ when a run is resumed."""
TRIES, ROW_MS = 4, 1500


# --- files and assignments -----------------------------------------------------------------------


def preset_names(kind: str) -> tuple[str, ...]:
    """Names of the shipped presets: `kind` is `run` or `sweep`."""
    found = {path.stem: path for path in PRESETS.glob("*.toml")}
    is_sweep = {name: "axes" in _toml(path) for name, path in found.items()}
    return tuple(sorted(name for name in found if is_sweep[name] == (kind == "sweep")))


def read_source(name: str, kind: str) -> dict[str, Any]:
    """The table of a shipped preset, or of the TOML file at a path. Raises ConfigError."""
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        if not path.is_file():
            raise ConfigError(f"no file {name}")
        return _on_preset(_toml(path), path.name) if kind == "run" else _toml(path)
    return _shipped(name, kind, "preset or file")


def _shipped(name: str, kind: str, what: str = "preset") -> dict[str, Any]:
    names = preset_names(kind)
    if name in names:
        return _toml(PRESETS / f"{name}.toml")
    close = get_close_matches(name, names, 1, 0.0)[0]
    listed = ", ".join(names)
    raise ConfigError(f'no {what} "{name}"; presets: {listed} (closest: {close})')


def _on_preset(table: dict[str, Any], file: str) -> dict[str, Any]:
    """The settings of a file on top of the shipped preset that its key `preset` names, if any."""
    name = table.pop("preset", None)
    if name is None:
        return table
    try:
        raw = _shipped(str(name), "run")
    except ConfigError as problem:
        raise ConfigError(f"{file}: {problem}") from None
    for section, value in table.items():
        is_table = isinstance(value, Mapping) and section in RUN_TABLES
        for key, inner in _resets_first(section, value) if is_table else [(section, value)]:
            assign(raw, key, inner)
    return raw


def _resets_first(section: str, table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Dotted keys and values of a section, those first that make the others meaningless."""
    found = [(f"{section}.{name}", value) for name, value in table.items()]
    return sorted(found, key=lambda entry: entry[0] not in RESETS)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path.name}: {problem}") from None


def parse_assignment(text: str) -> tuple[str, Any]:
    """Key and value of `KEY=VALUE`; the value is TOML, or else a text."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f'"{text}" is no assignment; allowed KEY=VALUE')
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()


def assign(table: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key in the raw settings of a run; a section of one word becomes a table."""
    key = ALIASES.get(key, key)
    section, _, name = key.partition(".")
    if not name:
        table[section] = value
        return
    if not isinstance(table.get(section), dict):
        table[section] = _expanded(section, table.get(section))
    if key in RESETS and table[section].get(name) != value:
        table[section] = {}
    if section == "world" and name.startswith("overrides."):
        table[section].setdefault("overrides", {})[name.partition(".")[2]] = value
        return
    _assign_inner(table[section], name.split("."), value)


def _assign_inner(table: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for name in path[:-1]:
        if not isinstance(table.get(name), dict):
            table[name] = {}
        table = table[name]
    table[path[-1]] = value


def _expanded(section: str, value: Any) -> dict[str, Any]:
    """The table a one-word section stands for."""
    if value is None:
        return {}
    if section == "world" and isinstance(value, str):
        id, _, preset = value.partition(":")
        return {"id": id, "preset": preset} if preset else {"id": id}
    if section in SUGAR and isinstance(value, str):
        return {SUGAR[section]: value}
    raise ConfigError(f"{section} = {settings.shown(value)}: allowed a table")


# --- resolving -----------------------------------------------------------------------------------


def resolve(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The whole config that raw settings mean. Raises ConfigError with every finding, a line each.

    raw: sections of a run as a preset or file has them, `planners` with named planners, and
    `defaults` with what the preset of a world changes of topologies and repair.
    """
    findings = [
        settings.unknown_setting("", name, settings.TOP_NAMES)
        for name in raw
        if name not in (*settings.TOP_NAMES, "planners", "defaults")
    ]
    base = {
        setting.name: settings.read_value(setting, "", raw.get(setting.name), findings)
        for setting in (*settings.TOP, settings.TEAM)
    }
    world, made = _world(raw.get("world"), base["agents"], findings)
    agents = made.rules.agents if made else base["agents"] or 1
    defaults = _defaults(world)
    resolved = {
        "product": PRODUCT,
        "schema": records.SUMMARY_SCHEMA,
        **base,
        "agents": agents,
        "world": world,
        "topology": _topology(raw.get("topology"), defaults, agents, findings),
        "planner": _planners(raw, agents, made, findings),
        **{name: _section(name, raw, findings) for name in settings.SECTIONS},
        "repair": _repair(raw.get("repair", "off"), defaults, findings),
    }
    _clock(resolved["clock"], findings)
    if findings:
        raise ConfigError("\n".join(dict.fromkeys(findings)))
    return resolved


def _section(name: str, raw: Mapping[str, Any], findings: list[str]) -> dict[str, Any]:
    table = raw.get(name, {})
    if isinstance(table, str):
        table = _try_expanded(name, table, findings)
    return settings.read_section(name, settings.SECTIONS[name], table, findings)


def _try_expanded(section: str, value: Any, findings: list[str]) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    try:
        return _expanded(section, value)
    except ConfigError as problem:
        findings.append(str(problem))
        return {}


def _clock(clock: dict[str, Any], findings: list[str]) -> None:
    pace = clock["pace"]
    if clock["step_ms"] is None:
        clock["step_ms"] = settings.STEP_MS[pace]
    if pace == "realtime" and clock["step_ms"] < 1:
        findings.append(f"clock.step_ms = {clock['step_ms']}: allowed from 1 in pace realtime")


def _world(
    raw: Any, agents: int | None, findings: list[str]
) -> tuple[dict[str, Any], World | None]:
    """The world's section with every field of its config, and the world."""
    table = {"id": "cube-v1", **_try_expanded("world", raw, findings)}
    try:
        id, _, short = str(table.pop("id")).partition(":")
        preset = str(table.pop("preset", "") or short or registry.presets(id)[0])
        plain = registry.make(id, preset)
        if not isinstance(plain, World):
            raise ConfigError(f"{id} is a world of dialogues; it has a command of its own")
    except (WorldError, ConfigError) as problem:
        findings.append(str(problem))
        return {"id": "", "preset": ""}, None
    names = [field.name for field in fields(plain.config) if field.name != "seed"]
    unknown = [name for name in table if name not in names]
    known = ("id", "preset", *names)
    findings += [settings.unknown_setting("world", name, known) for name in unknown]
    _team(table, agents, plain, findings)
    made = plain
    try:
        kept = {name: table[name] for name in table if name in names}
        made = _built(id, preset, kept)
    except (WorldError, ConfigError) as problem:
        findings.append(f"{id}: {problem}")
    full = {name: value for name, value in asdict(made.config).items() if name in names}
    return {"id": id, "preset": preset, **_plain(full)}, made


def _built(id: str, preset: str, table: Mapping[str, Any]) -> World:
    made = registry.make(id, preset, **table)
    assert isinstance(made, World)
    return made


def make_world(config: Mapping[str, Any]) -> World:
    """The world of a resolved config."""
    table = dict(config["world"])
    return _built(table.pop("id"), table.pop("preset"), table)


def _team(table: dict[str, Any], agents: int | None, plain: World, findings: list[str]) -> None:
    """Hand the size of the team to the world: as `n` where a curriculum sets everything."""
    whole = {**asdict(plain.config), **table}
    name = "n" if whole.get("n") is not None else "agents"
    own = table.get(name)
    if agents is not None and own is not None and own != agents:
        findings.append(f"agents = {agents} and world.{name} = {own}: give one of them")
    table[name] = agents if agents is not None else own or plain.rules.agents


def _plain(value: Any) -> Any:
    """JSON of a config: tuples as lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _defaults(world: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the shipped preset of this world and preset changes of other sections."""
    path = PRESETS / f"{world['id'].rpartition('-v')[0]}-{world['preset']}.toml"
    table: Mapping[str, Any] = _toml(path).get("defaults", {}) if path.is_file() else {}
    return table


def _topology(
    raw: Any, defaults: Mapping[str, Any], agents: int, findings: list[str]
) -> dict[str, Any]:
    table = {"kind": "individual", **_try_expanded("topology", raw, findings)}
    given = str(table.pop("kind"))
    try:
        kind = canonical_kind(given)
    except ConfigError as problem:
        findings.append(str(problem))
        return {"kind": given}
    options = {**defaults.get("topology", {}).get(kind, {}), **table}
    talk = options.pop("free_talk", False)
    known = (*TOPOLOGIES[kind], "free_talk")
    unknown = [name for name in options if name not in known]
    findings += [settings.unknown_setting("topology", name, known) for name in unknown]
    kept = {name: value for name, value in options.items() if name not in unknown}
    try:
        kept = dict(make_topology(kind, agents, **kept).options)
    except ConfigError as problem:
        findings.append(str(problem))
    talks = settings.read_value(settings.FREE_TALK, "topology", talk, findings)
    return {"kind": kind, **_plain(kept), "free_talk": talks}


def _planners(
    raw: Mapping[str, Any], agents: int, world: World | None, findings: list[str]
) -> list[dict[str, Any]]:
    """One planner for everybody, or one for each agent."""
    named = raw.get("planners", {})
    given = raw.get("planner", "scripted")
    entries = given if isinstance(given, list) else [given]
    if len(entries) not in (1, agents):
        findings.append(f"planner has {len(entries)} entries: allowed 1 or {agents}, one per agent")
    planners = [_planner(entry, named, findings) for entry in entries]
    if world is not None and world.policy is None:
        findings += [
            f"planner scripted: {world.id} has no scripted play"
            for planner in planners
            if planner["kind"] == "scripted"
        ]
    return planners


def _planner(entry: Any, named: Mapping[str, Any], findings: list[str]) -> dict[str, Any]:
    table = _try_expanded("planner", entry, findings)
    name = table.pop("name", table.get("kind", "scripted"))
    named = {**SHIPPED_PLANNERS, **named}
    if name in named:
        table = {**named[name], **table}
    elif name not in settings.PLANNERS and "kind" not in table:
        known = (*settings.PLANNERS, *named)
        findings.append(f'planner = "{name}": allowed {", ".join(known)}, or a table')
        return {"name": name, "kind": "scripted"}
    kind = table.pop("kind", name)
    if kind not in settings.PLANNERS:
        allowed = ", ".join(settings.PLANNERS)
        findings.append(f'planner.kind = "{kind}": allowed {allowed}')
        return {"name": name, "kind": kind}
    if not re.fullmatch(r"[A-Za-z0-9.-]+", str(name)):
        findings.append(f'planner.name = "{name}": allowed letters, digits, "." and "-"')
    latency = _latency(kind, table.pop("latency", {}), findings)
    options = settings.read_section("planner", settings.PLANNERS[kind], table, findings)
    if kind == "llm" and not options["model"]:
        findings.append(f'planner "{name}": model is missing; allowed a name the endpoint knows')
    return {"name": name, "kind": kind, **options, "latency": latency}


def _latency(kind: str, raw: Any, findings: list[str]) -> dict[str, Any]:
    table = {"model": raw} if isinstance(raw, str) else raw
    found = settings.read_section("planner.latency", settings.LATENCY, table, findings)
    if isinstance(table, Mapping) and "model" not in table:
        found["model"] = settings.LATENCY_OF.get(kind, found["model"])
    return found


def _repair(raw: Any, defaults: Mapping[str, Any], findings: list[str]) -> dict[str, Any]:
    """The whole repair section, and the name of the ablation it is."""
    table = _try_expanded("repair", raw, findings)
    base = table.pop("name", None)
    own = defaults.get("repair", {})
    try:
        if base is not None:
            repair_config(str(base))
        found = repair_config({**ABLATIONS.get(str(base), {}), **table}, own)
    except ConfigError as problem:
        findings.append(str(problem))
        return {"name": "off", **_plain(asdict(RepairConfig()))}
    names = [name for name in ABLATIONS if repair_config(name, own) == found]
    return {"name": names[0] if names else "custom", **_plain(asdict(found))}


def reopened(stored: Mapping[str, Any]) -> dict[str, Any]:
    """A resolved config as raw settings again, to be changed and resolved."""
    dropped = ("product", "schema", "agents")
    raw = {key: deepcopy(stored[key]) for key in stored if key not in dropped}
    raw["repair"].pop("name")
    if len(raw["planner"]) == 1:
        raw["planner"] = raw["planner"][0]
    return raw


# --- what a config says --------------------------------------------------------------------------


def differences(old: Any, new: Any, at: str = "") -> list[tuple[str, Any, Any]]:
    """(dotted key, old value, new value) wherever two configs differ, in sorted order."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        keys = sorted({*old, *new})
        inner = [
            differences(old.get(key), new.get(key), f"{at}.{key}" if at else key) for key in keys
        ]
        return [found for one in inner for found in one]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = zip(old, new, strict=True)
        return [found for one, other in pairs for found in differences(one, other, at)]
    return [] if old == new else [(at, old, new)]


def is_resumable_as(key: str) -> bool:
    """Whether a difference in this dotted key is allowed when a run is resumed."""
    return any(key == allowed or key.startswith(f"{allowed}.") for allowed in MAY_CHANGE)


def planner_of(config: Mapping[str, Any], agent: int) -> Mapping[str, Any]:
    """The planner's section of one agent."""
    planners: list[Mapping[str, Any]] = config["planner"]
    return planners[agent % len(planners)]


def remarks(config: Mapping[str, Any]) -> tuple[str, ...]:
    """What is allowed and yet likely not meant."""
    agents, team_ms = config["agents"], config["budget"]["team_ms"]
    kind = config["topology"]["kind"]
    if kind in ("chain", "ring") and team_ms and agents * ROW_MS > team_ms:
        return (
            f"{kind} with {agents} agents takes {agents} decisions in a row, about "
            f"{agents * ROW_MS} ms; budget.team_ms is {team_ms}",
        )
    return ()


def most_calls(config: Mapping[str, Any]) -> int | None:
    """A bound on the model calls of a run, transport retries included; None without a limit.

    A plan costs a step, so a step has at most one full round, and each agent is interrupted at
    most `max_interrupts` times in it. A limit of the clock bounds the tries of each agent by the
    least that one is charged, and one more that is cut.
    """
    models = [p for p in (planner_of(config, a) for a in range(config["agents"])) if "model" in p]
    if not models:
        return 0
    budget, repair = config["budget"], config["repair"]
    bounds = []
    if budget["steps"]:
        per_agent = _asks_per_agent(config["topology"]) + config["interrupts"]["max_interrupts"]
        channels = repair["max_channels"] if repair["mode"] == "repair" else 0
        in_channels = channels * (repair["rounds"] + repair["revisions"])
        bounds.append(config["agents"] * (budget["steps"] * per_agent + in_channels) * TRIES)
    least = min(least_charge(planner["latency"]) for planner in models)
    for name in ("team_ms", "agent_ms"):
        if budget[name]:
            bounds.append(config["agents"] * (budget[name] // least + 1))
    calls = [min(bounds) * max(planner["attempts"] for planner in models)] if bounds else []
    return min((*calls, *([budget["calls"]] if budget["calls"] else ())), default=None)


def least_charge(latency: Mapping[str, Any]) -> int:
    """The least that a try is charged, in ms."""
    fields = {"fixed": "fixed_ms", "tokens": "base"}
    return max(1, latency[fields[latency["model"]]]) if latency["model"] in fields else 1


def _asks_per_agent(topology: Mapping[str, Any]) -> int:
    """Asks of one agent in a full round, at most."""
    fixed = {"individual": 1, "centralized": 3, "chain": 1, "ring": 2, "hierarchy": 2}
    return fixed.get(topology["kind"], 0) or 1 + topology.get("rounds", 0)
