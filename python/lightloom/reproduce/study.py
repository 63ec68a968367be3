"""What the figure scripts are made of: a set-up varied, medians over seeds,
and lines on panels."""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import lightloom
from lightloom.console import pick
from lightloom.reproduce.simulate import Case, Summary, simulate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Runs(Generic[Key]):
    """Summaries by key, one for each seed."""

    summaries: Mapping[Key, Sequence[Summary]]

    def value(self, key: Key, path: str) -> float | None:
        """Median over the seeds of a figure such as `fct.short.p99_us`; None
        where the fabric has none."""
        values = [v for v in (pick(s, path) for s in self.summaries[key]) if v is not None]
        return statistics.median(values) if values else None

    def ratio(self, key: Key, base: Key, path: str) -> float:
        """Median over the seeds of a figure relative to another run's on the
        same traffic."""
        pairs = zip(self.summaries[key], self.summaries[base], strict=True)
        return float(statistics.median(pick(a, path) / pick(b, path) for a, b in pairs))

    def line(self, keys: Iterable[Key], path: str, scale: float = 1.0) -> list[float | None]:
        """A figure along a row of keys, times `scale`."""
        values = (self.value(key, path) for key in keys)
        return [None if value is None else value * scale for value in values]


def vary(
    setup: Path,
    cases: Mapping[Key, tuple[Sequence[str], str]],
    *,
    flows: int | None = None,
    seeds: Iterable[int],
    workers: int,
) -> Runs[Key]:
    """Runs a set-up once for each key and seed; a case is a list of overrides
    and the label of the fabric to run. `flows` is how many, but for jobs and
    traces, which know."""
    seeds = list(seeds)
    runs: dict[tuple[Key, int], Case] = {}
    for key, (overrides, label) in cases.items():
        for seed in seeds:
            size = [] if flows is None else [f"workload.flows={flows}"]
            settings = [*size, f"run.seed={seed}", *overrides]
            runs[key, seed] = (lightloom.load(setup, settings), label)
    summaries = simulate(runs, workers)
    return Runs({key: [summaries[key, seed] for seed in seeds] for key in cases})


def panel(
    title: str,
    x: tuple[str, Sequence[float]],
    y: str,
    lines: Mapping[str, Sequence[float | None]],
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> dict[str, Any]:
    """One panel of a figure as plain data: `x` is its label and values, `y` a
    label, `lines` the curves by name."""
    return {
        "title": title,
        "x_label": x[0],
        "x": list(x[1]),
        "y_label": y,
        "lines": {name: list(values) for name, values in lines.items()},
        "log_x": log_x,
        "log_y": log_y,
    }


def draw(panels: Sequence[Mapping[str, Any]]) -> Figure:
    """Panels side by side, at most two in a row; curves look as in reports."""
    from matplotlib.figure import Figure

    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.1 * rows), layout="constrained")
    for axes, data in zip(figure.subplots(rows, columns, squeeze=False).flat, panels, strict=False):
        _draw_panel(axes, data)
    return figure


def _draw_panel(axes: Axes, data: Mapping[str, Any]) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    from lightloom.report import style

    for slot, (name, values) in enumerate(data["lines"].items()):
        points = [(x, y) for x, y in zip(data["x"], values, strict=True) if y is not None]
        if points:
            look = style.look(slot)
            dash = (0, look.dash) if look.dash else "-"
            x, y = zip(*points, strict=True)
            colour, marker = style.LIGHT[look.colour], look.marker[1]
            axes.plot(x, y, label=name, color=colour, linestyle=dash, marker=marker, markersize=4)
    axes.set(xlabel=data["x_label"], ylabel=data["y_label"])
    axes.set_xscale("log" if data["log_x"] else "linear")
    axes.set_yscale("log" if data["log_y"] else "linear")
    axes.set_title(data["title"], fontsize="medium", loc="left")
    for axis, logarithmic in ((axes.xaxis, data["log_x"]), (axes.yaxis, data["log_y"])):
        if logarithmic:
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter("{x:g}")
    if not data["log_y"]:
        axes.set_ylim(bottom=0)
    axes.grid(True, alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
