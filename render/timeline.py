"""One run over time: what the world did, and of each agent stages, plans, actions and messages."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from cognitive.errors import ConfigError
from render.figures import new_figure, save
from render.replay import RecordedRun
from render.sprites import REPAIR_COLOR, STAGE_COLORS
from render.story import ChannelRecord, PlanRecord, Story
from worlds.api import AgentId

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["AXES", "Interval", "draw", "intervals"]

AXES = ("ms", "step")
LANES: Mapping[str, float] = {"stage": 0.12, "plan": 0.36, "action": 0.6, "message": 0.84}
"""Where the middle of each lane is, as a share of the agent's height."""
THICKNESS = 0.2
MOST_LANES = 12
MOST_AGENTS = 40
"""Up to so many agents single lanes can be asked for; more give shares of agents by default."""
WIDTH = 11.0
AGENT_HEIGHT = 0.62
LETTER_WIDTH = 0.062
"""Inches of a letter of a label, for what fits into a block."""
LABEL_GAP = 0.25
"""Inches between two labels of channels; one that is nearer to the last is left out."""
PLAN_COLORS = {"failed": "#F6C9BD", "interrupted": "#E6E3DA"}
PLAN_COLOR, NEW_COLOR, RESUMED_COLOR, END_COLOR = "#BFE3C6", "#009E73", "#F0E442", "#CC0000"
ACTION_COLORS = {"failed": "#F6C9BD", "cancelled": "#EFEDE7"}
ACTION_COLOR = "#DCE6F2"
FROZEN_COLOR = "#BBBBBB"
DENSITY_COLUMNS = 600
MS = 1000


class Interval(NamedTuple):
    """A row of the CSV twin; agent -1: of the world or of a channel. Steps and ms include both."""

    lane: str
    agent: AgentId
    label: str
    detail: str
    from_step: int
    to_step: int
    from_ms: int
    to_ms: int


def draw(
    run: RecordedRun,
    out: Path | str,
    axis: str = "ms",
    agents: Sequence[AgentId] | None = None,
    format: str = "png",
) -> tuple[Path, Path]:
    """Draw the timeline of a run and write its CSV twin; returns both paths.

    out: path, its ending is replaced. axis: `ms`, seconds of the cognitive clock, or `step`.
    agents: whose lanes; None: the first 12, above 40 agents the share of agents in each stage.
    Raises ConfigError on another axis, agent or format, MissingPrerequisite without matplotlib.
    """
    if axis not in AXES:
        raise ConfigError(f'axis = "{axis}": allowed {", ".join(AXES)}')
    for agent in agents or ():
        if not 0 <= agent < run.agents:
            raise ConfigError(f"agent = {agent}: allowed 0 to {run.agents - 1}")
    is_density = agents is None and run.agents > MOST_AGENTS
    shown = tuple(range(min(run.agents, MOST_LANES))) if agents is None else tuple(agents)
    if len(shown) > MOST_AGENTS:
        raise ConfigError(f"{len(shown)} agents: allowed at most {MOST_AGENTS} in one timeline")
    picture = _Timeline(run, axis, shown)
    return save(picture.density if is_density else picture.lanes, Path(out), format)


# --- data ----------------------------------------------------------------------------------------


def intervals(run: RecordedRun, agents: Sequence[AgentId], axis: str) -> list[Interval]:
    """All that the lanes show, the world first, then by agent, then the channels.

    On the axis `step` a stage lasts whole steps, each the one the agent spent most of that step in.
    """
    story = run.story
    found = [*_world(story)]
    for agent in agents:
        found += _stages(story, agent) if axis == "ms" else _shown_stages(story, agent)
        for plan in story.plans_of[agent]:
            found += _plan(story, plan)
        found += _messages(story, agent)
    found += [_channel(story, channel) for channel in story.channels]
    return found


def _world(story: Story) -> Iterator[Interval]:
    for step in range(story.steps + 1):
        low, high = story.span(step)
        label = "frozen" if high > low + _step_ms(story) else "step"
        yield Interval("environment", -1, label, "", step, step, low, high)


def _step_ms(story: Story) -> int:
    pace = story.start.get("pace")
    return int(pace.get("step_ms", 0)) if isinstance(pace, dict) else 0


def _stages(story: Story, agent: AgentId) -> Iterator[Interval]:
    entries = story.stages[agent]
    for place, entry in enumerate(entries):
        after = entries[place + 1] if place + 1 < len(entries) else None
        to_step = story.steps if after is None else after.step
        to_ms = story.last_ms if after is None else after.ms
        row = (entry.step, to_step, entry.ms, to_ms)
        yield Interval("stage", agent, entry.stage, entry.reason, *row)


def _shown_stages(story: Story, agent: AgentId) -> Iterator[Interval]:
    entries = [story.stage_at(agent, step) for step in range(story.steps + 1)]
    letters = [entry.stage if entry is not None else "" for entry in entries]
    first = 0
    for letter, same in itertools.groupby(letters):
        after = first + len(list(same))
        if letter:
            low, high = story.span(first)[0], story.span(after - 1)[1]
            yield Interval("stage", agent, letter, "", first, after, low, high)
        first = after


def _plan(story: Story, plan: PlanRecord) -> Iterator[Interval]:
    to_step = story.steps if plan.ended_step is None else plan.ended_step
    to_ms = story.last_ms if plan.ended_ms is None else plan.ended_ms
    detail = plan.status + (f": {plan.reason}" if plan.reason else "")
    row = (plan.step, to_step, plan.ms, to_ms)
    yield Interval("plan", plan.agent, f"{plan.id} {plan.task}", detail, *row)
    for ms, step in plan.resumed:
        yield Interval("resumed", plan.agent, plan.id, "", step, step, ms, ms)
    for action in plan.actions:
        if action.started_step is not None and action.started_ms is not None:
            end = to_step if action.ended_step is None else action.ended_step
            end_ms = to_ms if action.ended_ms is None else action.ended_ms
            row = (action.started_step, end, action.started_ms, end_ms)
            yield Interval("action", plan.agent, action.text, action.status, *row)


def _messages(story: Story, agent: AgentId) -> Iterator[Interval]:
    for message in story.messages:
        if message.sender == agent:
            to = ",".join(map(str, message.recipients))
            row = (message.step, message.step, message.ms, message.ms)
            yield Interval("sent", agent, f"{message.kind} to {to}", "", *row)
        for one in message.deliveries:
            if agent in one.recipients:
                effect = "interrupted" if agent in one.interrupted else "buffered"
                label = f"{message.kind} from {message.sender}"
                row = (one.step, one.step, one.ms, one.ms)
                yield Interval("received", agent, label, effect, *row)


def _channel(story: Story, channel: ChannelRecord) -> Interval:
    to_step = channel.step if channel.ended_step is None else channel.ended_step
    to_ms = story.last_ms if channel.ended_ms is None else channel.ended_ms
    members = ",".join(map(str, channel.members))
    detail = f"{channel.target or 'let go'}, members {members}, {channel.outcome}"
    row = (channel.step, to_step, channel.ms, to_ms)
    return Interval("repair", -1, channel.label, detail, *row)


# --- the picture ---------------------------------------------------------------------------------


class _Timeline:
    def __init__(self, run: RecordedRun, axis: str, agents: tuple[AgentId, ...]) -> None:
        self._run = run
        self._axis = axis
        self._agents = agents
        story = run.story
        self._right = max(story.last_ms / MS if axis == "ms" else story.steps + 1.0, 1e-3)

    def lanes(self) -> tuple[Figure, list[Mapping[str, Any]]]:
        """Four lanes an agent below the world's, channels as boxes over their members."""
        rows = intervals(self._run, self._agents, self._axis)
        figure = new_figure(WIDTH, AGENT_HEIGHT * (len(self._agents) + 1) + 0.6)
        axes = figure.add_subplot()
        self._draw_world(axes, [row for row in rows if row.lane == "environment"])
        for place, agent in enumerate(self._agents, 1):
            own = [row for row in rows if row.agent == agent]
            self._draw_agent(axes, place, agent, own)
        self._draw_channels(axes, [row for row in rows if row.lane == "repair"])
        axes.set_ylim(len(self._agents) + 1.02, 0)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        count = f"{self._run.agents} agents"
        if len(self._agents) < self._run.agents:
            count += f", {len(self._agents)} of them shown"
        self._finish(axes, count)
        return figure, [row._asdict() for row in rows]

    def density(self) -> tuple[Figure, list[Mapping[str, Any]]]:
        """The share of agents in each stage over x, for runs of many agents."""
        figure = new_figure(WIDTH, 3.0)
        axes = figure.add_subplot()
        xs, shares = self._shares()
        axes.stackplot(xs, shares, colors=list(STAGE_COLORS.values()), labels=list(STAGE_COLORS))
        for at, stage in enumerate(STAGE_COLORS):
            widest = _inner_widest(shares[at])
            middle = shares[:at, widest].sum() + shares[at, widest] / 2
            if shares[at, widest] > 0.1:
                ink = "black" if stage == "W" else "white"
                axes.text(xs[widest], middle, stage, color=ink, ha="center", va="center")
        rows = [_channel(self._run.story, channel) for channel in self._run.story.channels]
        stars = [self._span(row)[0] for row in rows]
        axes.plot(stars, [1.03] * len(stars), "*", color=REPAIR_COLOR, mec="k", clip_on=False)
        axes.set_ylim(0, 1)
        axes.set_ylabel("share of agents")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=7)
        self._finish(axes, f"{self._run.agents} agents")
        twin: list[Mapping[str, Any]] = []
        for place, x in enumerate(xs.tolist()):
            share = {stage: float(shares[at, place]) for at, stage in enumerate(STAGE_COLORS)}
            twin.append({self._axis: x} | share)
        return figure, twin

    def _shares(self) -> tuple[ndarray, ndarray]:
        """x [N] float64 and shares [stages, N] float64 of agents."""
        story, order = self._run.story, list(STAGE_COLORS)
        if self._axis == "step":
            xs = np.arange(story.steps + 1, dtype=float)
            counts = np.zeros((len(order), len(xs)))
            for agent in range(story.agents):
                for step in range(len(xs)):
                    entry = story.stage_at(agent, step)
                    if entry is not None:
                        counts[order.index(entry.stage), step] += 1
            return xs, counts / max(1, story.agents)
        moments = np.linspace(0, story.last_ms, DENSITY_COLUMNS)
        counts = np.zeros((len(order), DENSITY_COLUMNS))
        for entries in story.stages:
            starts = np.array([entry.ms for entry in entries])
            codes = np.array([order.index(entry.stage) for entry in entries])
            now = codes[np.maximum(0, np.searchsorted(starts, moments, "right") - 1)]
            counts[now, np.arange(DENSITY_COLUMNS)] += 1
        return moments / MS, counts / max(1, story.agents)

    def _finish(self, axes: Axes, count: str) -> None:
        axes.set_xlim(0, self._right)
        axes.set_xlabel("cognitive clock, s" if self._axis == "ms" else "step")
        story = self._run.story
        score = story.score_at(story.steps)
        title = f"{self._run.name}: {count}, {story.steps} steps, score {score:g}"
        axes.set_title(title, loc="left", pad=20)

    # --- lanes ---

    def _span(self, row: Interval) -> tuple[float, float]:
        """Left and right end on the axis; on steps an interval reaches to where the next begins."""
        if self._axis == "ms":
            return row.from_ms / MS, row.to_ms / MS
        return float(row.from_step), float(max(row.to_step, row.from_step + 1))

    def _bars(
        self,
        axes: Axes,
        rows: Iterable[Interval],
        y: float,
        color: Callable[[Interval], str],
        **style: Any,
    ) -> None:
        """A block for each row, with its label inside as far as it fits."""
        shown = [(row, *self._span(row)) for row in rows]
        spans = [(left, right - left) for _, left, right in shown]
        band = (y - THICKNESS / 2, THICKNESS)
        axes.broken_barh(spans, band, facecolors=[color(row) for row, _, _ in shown], **style)

    def _labels(self, axes: Axes, rows: Iterable[Interval], y: float, color: str = "black") -> None:
        for row in rows:
            left, right = self._span(row)
            room = int((right - left) / self._right * WIDTH * 0.8 / LETTER_WIDTH)
            text = row.label if len(row.label) <= room else row.label[: room - 1] + "…"
            if room > 1 or (room == 1 and len(row.label) == 1):
                ink = "black" if row.label == "W" else color
                place = ((left + right) / 2, y)
                axes.text(*place, text, fontsize=5, ha="center", va="center", color=ink)

    def _draw_world(self, axes: Axes, rows: list[Interval]) -> None:
        frozen = [row for row in rows if row.label == "frozen"]
        self._bars(axes, frozen, 0.5, lambda row: FROZEN_COLOR, linewidth=0)
        axes.vlines([self._span(row)[0] for row in rows], 0.3, 0.7, color="black", linewidth=0.5)
        self._name(axes, 0.5, "world", -0.04, 7)

    def _draw_agent(self, axes: Axes, top: int, agent: AgentId, rows: list[Interval]) -> None:
        axes.axhline(top - 0.02, color="#DDDDDD", linewidth=0.5)
        self._name(axes, top + 0.48, f"agent {agent}", -0.04, 7)
        for lane, y in LANES.items():
            self._name(axes, top + y, lane, -0.002, 4.5)
        by_lane = {name: [row for row in rows if row.lane == name] for name in _LANE_NAMES}
        y = top + LANES["stage"]
        self._bars(axes, by_lane["stage"], y, lambda row: STAGE_COLORS[row.label], linewidth=0)
        self._labels(axes, by_lane["stage"], y, "white")
        self._draw_plans(axes, top + LANES["plan"], by_lane["plan"], by_lane["resumed"])
        y = top + LANES["action"]
        thin = {"edgecolor": "#888888", "linewidth": 0.2}
        self._bars(axes, by_lane["action"], y, lambda row: _color(ACTION_COLORS, row), **thin)
        self._labels(axes, by_lane["action"], y)
        self._draw_messages(axes, top + LANES["message"], by_lane["sent"], "^", -0.05)
        self._draw_messages(axes, top + LANES["message"], by_lane["received"], "v", 0.05)

    def _draw_plans(
        self, axes: Axes, y: float, plans: list[Interval], resumed: list[Interval]
    ) -> None:
        thin = {"edgecolor": "#888888", "linewidth": 0.2}
        failed = [row for row in plans if _status(row) == "failed"]
        others = [row for row in plans if _status(row) != "failed"]
        self._bars(axes, others, y, lambda row: _color(PLAN_COLORS, row), **thin)
        self._bars(axes, failed, y, lambda row: PLAN_COLORS["failed"], hatch="////", **thin)
        ended = [row for row in plans if _status(row) not in ("pending", "executing")]
        low, high = y - 0.11, y + 0.11
        ends = [self._span(row)[1] for row in ended]
        axes.vlines(ends, low, high, color=END_COLOR, linewidth=1)
        axes.vlines([self._span(row)[0] for row in plans], low, high, color=NEW_COLOR, linewidth=1)
        self._labels(axes, plans, y)
        xs = [self._span(row)[0] for row in resumed]
        style: dict[str, Any] = {
            "s": 7,
            "c": RESUMED_COLOR,
            "edgecolors": "k",
            "linewidths": 0.3,
            "zorder": 3,
        }
        axes.scatter(xs, [low] * len(xs), marker="D", **style)

    def _draw_messages(
        self, axes: Axes, y: float, rows: list[Interval], marker: str, shift: float
    ) -> None:
        xs = [self._span(row)[0] for row in rows]
        fill = ["black" if row.detail == "interrupted" else "white" for row in rows]
        style: dict[str, Any] = {"s": 8, "edgecolors": "k", "linewidths": 0.4, "zorder": 3}
        style["clip_on"] = False
        axes.scatter(xs, [y + shift] * len(xs), marker=marker, c=fill, **style)

    def _draw_channels(self, axes: Axes, rows: list[Interval]) -> None:
        """A box over the lanes of each member, and a star with the channel's name above."""
        labelled = -1.0
        for row, channel in zip(rows, self._run.story.channels, strict=True):
            left, right = self._span(row)
            for agent in channel.members:
                if agent in self._agents:
                    band = (self._agents.index(agent) + 1, 0.96)
                    axes.broken_barh(
                        [(left, right - left)], band, facecolor=REPAIR_COLOR, alpha=0.3,
                        edgecolor=REPAIR_COLOR, linewidth=0.8,
                    )  # fmt: skip
            if labelled < 0 or (left - labelled) / self._right * WIDTH > LABEL_GAP:
                axes.text(left, -0.1, row.label, fontsize=5.5, ha="center", va="bottom")
                labelled = left
        stars = [self._span(row)[0] for row in rows]
        style: dict[str, Any] = {
            "color": REPAIR_COLOR,
            "mec": "k",
            "mew": 0.4,
            "ms": 7,
            "clip_on": False,
        }
        axes.plot(stars, [0.08] * len(stars), linestyle="", marker="*", **style)

    @staticmethod
    def _name(axes: Axes, y: float, text: str, x: float, size: float) -> None:
        """A name left of the axis."""
        place = axes.get_yaxis_transform()
        color = "black" if size > 5 else "#777777"
        style: dict[str, Any] = {"fontsize": size, "color": color, "ha": "right", "va": "center"}
        axes.text(x, y, text, transform=place, **style)


_LANE_NAMES = ("stage", "plan", "resumed", "action", "sent", "received")


def _inner_widest(shares: ndarray) -> int:
    """The middle one of the places, off the ends, where the share [N] is about its largest."""
    margin = len(shares) // 20
    inner = shares[margin : len(shares) - margin] if len(shares) > 2 * margin else shares
    wide = np.flatnonzero(inner >= inner.max() - 0.02)
    return margin + int(wide[len(wide) // 2])


def _status(row: Interval) -> str:
    return row.detail.partition(":")[0]


def _color(colors: Mapping[str, str], row: Interval) -> str:
    return colors.get(_status(row), PLAN_COLOR if row.lane == "plan" else ACTION_COLOR)
