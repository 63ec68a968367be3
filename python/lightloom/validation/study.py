"""Parts of figure scripts: variations of an experiment, medians or confidence intervals over seeds,
and lines on panels."""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, inf, isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import lightloom
from lightloom.validation.estimate import Estimate, across, pooled
from lightloom.validation.of_bounds import figure
from lightloom.validation.simulate import Case, Summary, simulate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Runs(Generic[Key]):
    """Summaries by key, one for each seed."""

    summaries: Mapping[Key, Sequence[Summary]]

    def value(self, key: Key, path: str) -> float | None:
        """Returns the median over the seeds of a figure such as `fct.short.p99_us`, marked if it is
        a bound (`of_bounds`); None if the fabric does not have the figure."""
        values = [v for v in (figure(s, path) for s in self.summaries[key]) if v is not None]
        return statistics.median(values) if values else None

    def ratio(self, key: Key, base: Key, path: str) -> float:
        """Returns the median over the seeds of the ratio of a figure to that of another run with
        the same traffic, marked if one of them is a bound (`of_bounds`)."""
        pairs = zip(self.summaries[key], self.summaries[base], strict=True)
        found: float = statistics.median(figure(a, path) / figure(b, path) for a, b in pairs)
        return found

    def paired(self, key: Key, base: Key, path: str) -> Estimate:
        """Returns the mean over the seeds of the ratio of a figure to that of another run with the
        same traffic, with its interval; variation that both owe to the traffic cancels. If a figure
        of the other run is 0, the interval is infinite."""
        both = zip(self.summaries[key], self.summaries[base], strict=True)
        pairs = [(figure(a, path), figure(b, path)) for a, b in both]
        if any(b == 0 for _, b in pairs):
            return Estimate(0.0, inf)
        return across([a / b for a, b in pairs])

    def row(self, keys: Iterable[Key], path: str, scale: float = 1.0) -> list[Estimate]:
        """Returns the means over the seeds of a figure for each key, times `scale`."""
        return [self.across(key, path).times(scale) for key in keys]

    def line(self, keys: Iterable[Key], path: str, scale: float = 1.0) -> list[float | None]:
        """Returns a figure for each key, times `scale`."""
        values = (self.value(key, path) for key in keys)
        return [None if value is None else value * scale for value in values]

    def latency(self, key: Key) -> Estimate | None:
        """Returns the mean latency in the window of `run.measure` [us]; None if the load was not
        carried, because the latency then depends only on the length of the window, or if some flows
        of the window were unfinished. All seeds together show a smaller deficit than the 2 % that a
        single window is allowed."""
        windows = self._windows(key)
        if any(w.get("flows_unfinished") for w in windows):
            return None
        offered, accepted = self.offered(key), self.accepted(key)
        lack = offered.value - accepted.value
        if not all(w["stable"] for w in windows) or (
            lack > hypot(offered.half_width, accepted.half_width)
        ):
            return None
        return _together(windows, "mean_us", "half_width_us")

    def carried_latency(self, key: Key) -> Estimate:
        """Returns the mean latency at a load that must be carried."""
        found = self.latency(key)
        if found is None:
            raise LookupError(f"the load is not carried: {key}")
        return found

    def accepted(self, key: Key) -> Estimate:
        """The load accepted in the window."""
        return _together(self._windows(key), "accepted", "accepted_half_width")

    def offered(self, key: Key) -> Estimate:
        """The load offered in the window."""
        return _together(self._windows(key), "offered", "offered_half_width")

    def across(self, key: Key, path: str) -> Estimate:
        """Returns the mean over the seeds of a figure, with its interval."""
        return across([figure(s, path) for s in self.summaries[key]])

    def _windows(self, key: Key) -> list[Summary]:
        return [s["window"] for s in self.summaries[key]]


def _together(windows: Sequence[Summary], value: str, width: str) -> Estimate:
    """Returns a figure over all seeds, by batch means. If a window is too short for an interval,
    the variation between seeds is used; if batches are correlated, it is used if it is wider. Two
    seeds show too little variation: if they have no intervals of their own, the interval is
    infinite."""
    widths = [w[width] for w in windows]
    if len(windows) > 2 and None in widths:
        return across([w[value] for w in windows])
    pairs = zip(windows, widths, strict=True)
    found = pooled([Estimate(w[value], inf if h is None else h) for w, h in pairs])
    if len(windows) > 2 and any(w["correlated"] for w in windows):
        scatter = across([w[value] for w in windows])
        return max(found, scatter, key=lambda e: e.half_width)
    return found


def vary(
    setup: Path,
    cases: Mapping[Key, tuple[Sequence[str], str]],
    *,
    flows: int | None = None,
    seeds: Iterable[int],
    workers: int,
) -> Runs[Key]:
    """Runs an experiment once for each key and seed; a case is a list of settings and the label of
    the fabric to run. `flows` is the number of flows, except for jobs and traces, which have their
    own."""
    seeds = list(seeds)
    runs: dict[tuple[Key, int], Case] = {}
    for key, (overrides, label) in cases.items():
        for seed in seeds:
            size = [] if flows is None else [f"workload.flows={flows}"]
            settings = [*size, f"run.seed={seed}", *overrides]
            runs[key, seed] = (lightloom.load(setup, settings), label)
    summaries = simulate(runs, workers)
    return Runs({key: [summaries[key, seed] for seed in seeds] for key in cases})


#: Largest number of values of x that are all labelled on the axis.
FEW = 5
Points = Sequence[float | Estimate | None]
#: A line of theory: x and y; None where it is undefined.
Curve = tuple[Sequence[float], Sequence[float | None]]


def panel(
    title: str,
    x: tuple[str, Sequence[float]],
    y: str,
    lines: Mapping[str, Points],
    *,
    theory: Mapping[str, Curve] | None = None,
    log_x: bool = False,
    log_y: bool = False,
) -> dict[str, Any]:
    """Returns one panel of a figure as plain data. `x` is its label and values, `y` a label,
    `lines` the curves by name, with intervals where they exist. A curve of `theory` with the name
    of a line is drawn in its colour, and the points of the line are then not joined; one with
    another name is a line of its own."""
    return {
        "title": title,
        "x_label": x[0],
        "x": list(x[1]),
        "y_label": y,
        "lines": {name: [_value(v) for v in values] for name, values in lines.items()},
        "half_widths": {name: [_width(v) for v in values] for name, values in lines.items()},
        "theory": {name: [list(a), list(b)] for name, (a, b) in (theory or {}).items()},
        "log_x": log_x,
        "log_y": log_y,
    }


def _value(point: float | Estimate | None) -> float | None:
    return point.value if isinstance(point, Estimate) else point


def _width(point: float | Estimate | None) -> float:
    """Half of the interval; 0 if there is none, or if it is infinite."""
    width = point.half_width if isinstance(point, Estimate) else 0.0
    return width if isfinite(width) else 0.0


def draw(panels: Sequence[Mapping[str, Any]]) -> Figure:
    """Draws panels side by side, at most two in a row, in the style of reports."""
    from matplotlib.figure import Figure

    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.1 * rows), layout="constrained")
    for axes, data in zip(figure.subplots(rows, columns, squeeze=False).flat, panels, strict=False):
        _draw_panel(axes, data)
    for axes in figure.axes[len(panels) :]:
        axes.set_visible(False)
    return figure


def _draw_panel(axes: Axes, data: Mapping[str, Any]) -> None:
    _draw_points(axes, data)
    _draw_theory(axes, data)
    _set_axes(axes, data)
    # Legend: measured curves first, in their order.
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    shown = sorted(handles, key=lambda name: [*data["lines"], name].index(name))
    axes.legend(
        [handles[name] for name in shown],
        shown,
        frameon=False,
        fontsize="x-small",
        labelspacing=0.3,
    )


def _draw_points(axes: Axes, data: Mapping[str, Any]) -> None:
    from lightloom.plotting import style

    for slot, (name, values) in enumerate(data["lines"].items()):
        widths = data["half_widths"][name]
        points = [p for p in zip(data["x"], values, widths, strict=True) if p[1] is not None]
        if not points:
            continue
        look = style.look(slot)
        dash = (0, look.dash) if look.dash else "-"
        x, y, width = zip(*points, strict=True)
        axes.errorbar(
            x,
            y,
            # On a logarithmic axis no error bar may end at zero.
            yerr=[[min(w, 0.99 * v) for v, w in zip(y, width, strict=True)], width]
            if any(width)
            else None,
            label=name,
            color=style.LIGHT[look.colour],
            linestyle="none" if name in data["theory"] else dash,
            marker=look.marker[1],
            markersize=4,
            capsize=2,
            elinewidth=1,
        )


def _draw_theory(axes: Axes, data: Mapping[str, Any]) -> None:
    """Draws lines without points, on or below which measured points should lie."""
    from lightloom.plotting import style

    measured = list(data["lines"])
    bounds = 0
    for name, (x, y) in data["theory"].items():
        values = [nan if v is None else v for v in y]
        if name in measured:
            colour = style.LIGHT[style.look(measured.index(name)).colour]
            axes.plot(x, values, color=colour, linewidth=1.2)
        else:
            dash = ((2, 2), (6, 2, 1, 2), (1, 2), (6, 3))[bounds % 4]
            bounds += 1
            axes.plot(x, values, color="#777777", linestyle=(0, dash), linewidth=1.2, label=name)
    if any(name in measured for name in data["theory"]):
        axes.plot([], [], color="#777777", linewidth=1.2, label="theory")


def _set_axes(axes: Axes, data: Mapping[str, Any]) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set(xlabel=data["x_label"], ylabel=data["y_label"])
    axes.set_xscale("log" if data["log_x"] else "linear")
    axes.set_yscale("log" if data["log_y"] else "linear")
    axes.set_title(data["title"], fontsize="medium", loc="left")
    for axis, logarithmic in ((axes.xaxis, data["log_x"]), (axes.yaxis, data["log_y"])):
        if logarithmic:
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter("{x:g}")
    if len(data["x"]) <= FEW:
        axes.set_xticks(data["x"])
    if not data["log_y"]:
        axes.set_ylim(min(0.0, 1.05 * axes.dataLim.y0), max(0.0, 1.05 * axes.dataLim.y1))
    axes.grid(True, alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
