"""What may be set, what it means and what is allowed; and the only reader of the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from cognitive.clients.secrets import Secret
from cognitive.errors import ConfigError

SEED_LIMIT = 2**63
COUNT = 10**12
LOCAL_ADDRESS = "COOPLAB_LOCAL_URL"
"""Variable with the address of the embedded model; one is started where it is not set."""
ENDPOINT_ADDRESS = "COOPLAB_ENDPOINT"
"""Variable with the address that `--endpoint` names; no config holds an address."""


# --- the environment -----------------------------------------------------------------------------


def variable(name: str, planner: str) -> str:
    """The environment variable `name`. Raises ConfigError, naming the planner, if it is not set."""
    value = os.environ.get(name, "")
    if not value:
        raise ConfigError(f'planner "{planner}" needs the variable {name}')
    return value


def secret(name: str, planner: str) -> Secret | None:
    """The key in the variable `name`, hidden; None for a service that needs none (empty name)."""
    return Secret(variable(name, planner)) if name else None


def endpoint_variables(planner: Mapping[str, Any]) -> tuple[str, Secret | None]:
    """Address ("" for the default one) and key of a planner's endpoint; others need neither."""
    if planner["kind"] != "llm":
        return "", None
    name, address = planner["name"], planner["base_url_env"]
    return (variable(address, name) if address else ""), secret(planner["api_key_env"], name)


def local_address() -> str:
    """Where the embedded model is served; "" if it is not."""
    return os.environ.get(LOCAL_ADDRESS, "")


def set_local_address(address: str) -> None:
    """Tell this process and its children where the embedded model is served; "" for nowhere."""
    if address:
        os.environ[LOCAL_ADDRESS] = address
    else:
        os.environ.pop(LOCAL_ADDRESS, None)


def set_endpoint_address(address: str) -> None:
    """Tell this process and its children the address that `--endpoint` names."""
    os.environ[ENDPOINT_ADDRESS] = address


def has_display() -> bool:
    """Whether windows can be shown: a display, or a driver named for pygame."""
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"))


def single_thread() -> None:
    """Keep libraries of this process and its children to one thread each."""
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


# --- checks --------------------------------------------------------------------------------------


class Check(NamedTuple):
    """What a value may be: the words of it, and the test."""

    allowed: str
    test: Callable[[Any], bool]


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def whole(low: int, high: int) -> Check:
    """An integer from `low` to `high`."""
    return Check(f"{low} to {high}", lambda value: _is_int(value) and low <= value <= high)


def real(low: float, high: float) -> Check:
    """A number from `low` to `high`."""
    return Check(
        f"{low:g} to {high:g}",
        lambda value: (isinstance(value, float) or _is_int(value)) and low <= value <= high,
    )


def one_of(*names: str) -> Check:
    """One of a few words."""
    return Check(", ".join(names), lambda value: isinstance(value, str) and value in names)


def span(low: int, high: int) -> Check:
    """An integer, or a range [low, high] of integers."""
    inner = whole(low, high).test
    return Check(
        f"{low} to {high}, or a range [low, high] of these",
        lambda value: (
            inner(value)
            or (
                isinstance(value, list)
                and len(value) == 2
                and all(map(inner, value))
                and value[0] <= value[1]
            )
        ),
    )


def or_none(check: Check) -> Check:
    """What `check` allows, or the word none."""
    return Check(f"{check.allowed}, or none", lambda value: value == NONE or check.test(value))


NONE = "none"
FLAG = Check("true, false", lambda value: isinstance(value, bool))
TEXT = Check("a text", lambda value: isinstance(value, str))
TABLE = Check("a table", lambda value: isinstance(value, Mapping))
TEXTS = Check(
    "a list of texts",
    lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
)


class Setting(NamedTuple):
    """One setting: its name, default, what is allowed, and a sentence about it."""

    name: str
    default: Any
    check: Check
    meaning: str


# --- the sections --------------------------------------------------------------------------------

TOP = (
    Setting("seed", 0, whole(0, SEED_LIMIT - 1), "world, chance and order of everything"),
    Setting("label", "", TEXT, "a name of yours; enters no digest"),
)
TEAM = Setting("agents", None, whole(1, 1024), "size of the team; none: that of the world's preset")

INTERRUPTS = (
    Setting(
        "policy",
        "always",
        one_of("always", "waiting-only", "priority", "never"),
        "which messages interrupt whom",
    ),
    Setting("max_interrupts", 2, whole(0, COUNT), "interrupts of one agent in one phase"),
)
MESSAGES = (
    Setting("delay_ms", 0, span(0, COUNT), "time from sending to delivery, on the cognitive clock"),
    Setting("delay_steps", 0, whole(0, COUNT), "world steps from sending to delivery"),
    Setting("drop", 0.0, real(0, 1), "chance that a message is lost, per recipient"),
)
CLOCK = (
    Setting("kind", "virtual", one_of("virtual", "wall"), "virtual charges, or measured time"),
    Setting("pace", "lockstep", one_of("lockstep", "realtime"), "whether the world waits"),
    Setting("step_ms", None, whole(0, COUNT), "a step; none: 0 in lockstep, 500 in realtime"),
    Setting(
        "while_thinking",
        "continue",
        one_of("continue", "stay"),
        "what an interrupted agent's body does meanwhile, in realtime",
    ),
)
STEP_MS = {"lockstep": 0, "realtime": 500}

BUDGET = (
    Setting("steps", 200, whole(0, COUNT), "world steps; 0 means no limit, here and below"),
    Setting("team_ms", 0, whole(0, COUNT), "the cognitive clock"),
    Setting("agent_ms", 0, whole(0, COUNT), "charges of one agent"),
    Setting("calls", 0, whole(0, COUNT), "requests sent to an endpoint"),
    Setting("tokens", 0, whole(0, COUNT), "prompt and completion tokens"),
    Setting("money", 0, whole(0, COUNT), "in millionths, by the planner's prices"),
)

FREE_TALK = Setting("free_talk", False, FLAG, "plans may carry messages to neighbours")
"""An option of every topology but `individual`; the others stand with the topologies."""

LATENCY = (
    Setting(
        "model", "fixed", one_of("tokens", "fixed", "wall", "recorded"), "how a try is charged"
    ),
    Setting("fixed_ms", 1500, whole(1, COUNT), "charge of `fixed`"),
    Setting("base", 500, whole(0, COUNT), "ms of `tokens` before the first token"),
    Setting("rate", 50, whole(1, COUNT), "tokens a second of `tokens`"),
    Setting("cap", 30000, whole(1, COUNT), "most that `tokens` charges"),
)
LATENCY_OF = {"llm": "tokens", "human": "wall"}
"""Latency models of planners that are not charged by `fixed`."""

PLANNERS: Mapping[str, tuple[Setting, ...]] = {
    "scripted": (),
    "greedy": (Setting("heeds_guidance", False, FLAG, "answers as scripted in repair channels"),),
    "random": (),
    "human": (),
    "llm": (
        Setting("model", None, TEXT, "name of the model, as the endpoint knows it"),
        Setting("base_url_env", "", TEXT, "variable with the endpoint's address; empty: OpenAI"),
        Setting("api_key_env", "OPENAI_API_KEY", TEXT, "variable with the key; empty: none needed"),
        Setting("service", "openai", one_of("openai", "azure"), "kind of service"),
        Setting("azure_deployment", "", TEXT, "Azure's deployment; empty: the model's name"),
        Setting("api_version", "", TEXT, "version of Azure's interface"),
        Setting(
            "schema_level",
            "json_schema",
            one_of("json_schema", "json_object", "text"),
            "structured output to begin with",
        ),
        Setting(
            "token_parameter",
            "max_completion_tokens",
            one_of("max_completion_tokens", "max_tokens"),
            "name of the output limit to begin with",
        ),
        Setting("temperature", 0.7, or_none(real(0, 2)), "of sampling; none leaves it out"),
        Setting("seed", NONE, or_none(whole(0, COUNT)), "of sampling; none leaves it out"),
        Setting(
            "output_cap",
            NONE,
            or_none(whole(16, 65536)),
            "most tokens of a reply; none: 256 to 2048, by the kind of question",
        ),
        Setting(
            "size",
            "full",
            one_of("full", "small"),
            "small: short prompts and replies, for small models",
        ),
        Setting("extra_body", {}, TABLE, "further fields of every request"),
        Setting("connect_s", 5.0, real(0.01, 600), "seconds to reach the service"),
        Setting("attempt_s", 60.0, real(0.01, 3600), "seconds for one request"),
        Setting("try_s", 120.0, real(0.01, 3600), "seconds for an answer, retries included"),
        Setting("attempts", 5, whole(1, 100), "requests for one answer before giving up"),
        Setting("concurrency", 16, whole(1, 4096), "requests in flight at once"),
        Setting("price_in", 0.0, real(0, 1e6), "money for a million prompt tokens"),
        Setting("price_out", 0.0, real(0, 1e6), "money for a million completion tokens"),
    ),
}
SECTIONS: Mapping[str, tuple[Setting, ...]] = {
    "interrupts": INTERRUPTS,
    "messages": MESSAGES,
    "clock": CLOCK,
    "budget": BUDGET,
}
TOP_NAMES = (
    "agents",
    "seed",
    "label",
    "world",
    "topology",
    "planner",
    *SECTIONS,
    "repair",
)


# --- reading -------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """A value as a settings file would have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def unknown_setting(section: str, name: str, known: Sequence[str], whole: str = "a run") -> str:
    """The finding for a key that does not exist; `section` is empty at the top of a `whole`."""
    close = get_close_matches(name, known, 1, 0.0)[0] if known else "none"
    key, place = (f"{section}.{name}", f"[{section}]") if section else (name, whole)
    return f'unknown setting "{key}"; {place} has: {", ".join(known) or "none"} (closest: {close})'


def read_value(setting: Setting, section: str, value: Any, findings: list[str]) -> Any:
    """`value`, or the default after adding a finding."""
    if value is None or setting.check.test(value):
        return setting.default if value is None else value
    key = f"{section}.{setting.name}" if section else setting.name
    findings.append(f"{key} = {shown(value)}: allowed {setting.check.allowed}")
    return setting.default


def read_section(
    section: str, settings: Sequence[Setting], table: Any, findings: list[str]
) -> dict[str, Any]:
    """Every setting of a section, from `table` or by default; whatever is wrong is a finding."""
    if not isinstance(table, Mapping):
        findings.append(f"{section} = {shown(table)}: allowed a table")
        table = {}
    names = tuple(setting.name for setting in settings)
    findings += [unknown_setting(section, name, names) for name in table if name not in names]
    return {
        setting.name: read_value(setting, section, table.get(setting.name), findings)
        for setting in settings
    }
