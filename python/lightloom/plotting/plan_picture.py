"""A picture of a plan for a paper: the demand matrix beside its circuits, or beside the timeline of
its schedule.

The same plan gives the same bytes, in SVG, PDF and PNG.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from lightloom import _core
from lightloom.control.arrays import Integers
from lightloom.control.circuit_table import CircuitTable
from lightloom.control.plan_figures import title
from lightloom.control.plans import PICTURES, Plan
from lightloom.control.schedules import Schedule
from lightloom.errors import refusal
from lightloom.plotting.backend_matplotlib import (
    FAINT,
    INK,
    PNG_DPI,
    SETTINGS,
    drawing,
    spell_out,
    tidy,
)
from lightloom.plotting.style import LIGHT
from lightloom.units import formats, steps

PAGE, HEIGHT = 7.2, 3.3  # inches
CELLS = 250
"""Largest number of rows of a heat map; more nodes share rows."""
FRAMED = 32
"""Largest number of nodes with frames around entries, which would hide more of a larger matrix."""
RING = 48
"""Largest number of nodes on a ring."""
NAMED = 24
"""Largest number of nodes whose names are written beside an axis."""
NUMBERED = 16
"""Largest number of inputs whose outputs are written in a timeline."""
SHORT = 12
"""Largest number of characters of a title beside which others are written."""
BLUES = LinearSegmentedColormap.from_list("blues", ["#e6eef8", "#8db1dd", "#1d4ea3", "#0a1c40"])
CHOSEN = LIGHT[1]

Texts = list[str]


def render(plan: Plan, kind: str) -> bytes:
    """Returns the picture as a file of that kind: ".svg", ".pdf" or ".png"."""
    if kind not in PICTURES:
        remedy = f"use {', '.join(PICTURES)}"
        raise refusal("picture", kind or "(no ending)", "no such kind of picture", remedy)
    settings: Any = {**SETTINGS, "svg.hashsalt": plan.algorithm, "axes.titlesize": 8}
    out = io.BytesIO()
    with drawing(settings):
        figure = draw(plan)
        if kind == ".png":
            canvas: Any = FigureCanvasAgg(figure)
            canvas.print_png(out, metadata={"Software": None})
        elif kind == ".pdf":
            canvas = FigureCanvasPdf(figure)
            canvas.print_pdf(
                out, metadata={"CreationDate": None, "Producer": None, "Creator": None}
            )
        else:
            canvas = FigureCanvasSVG(figure)
            canvas.print_svg(out, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
            return tidy(out.getvalue().decode(), title(plan), plan.algorithm).encode()
    return out.getvalue()


def draw(plan: Plan, kind: type[Figure] = Figure) -> Figure:
    """Draws demand on the left, and circuits or timeline on the right, with the given figure
    class."""
    figure = kind(figsize=(PAGE, HEIGHT), dpi=PNG_DPI, layout="constrained")
    figure.suptitle(title(plan), x=0.01, ha="left", fontsize=8.5, fontweight="bold")
    halves: Any = figure.subfigures(1, 2, width_ratios=(1, 1.15))
    left, right = halves
    heat = Heat(plan)
    heat.draw(left.subplots())
    if plan.schedule is not None:
        timeline(right, plan, plan.schedule)
    elif plan.circuits is not None and len(plan.demand.matrix) <= RING:
        _ring(right.subplots(), plan, plan.circuits)
    elif plan.circuits is not None:
        heat.circuits(right.subplots(), plan.circuits)
    spell_out(figure)
    return figure


@dataclass
class Heat:
    """The demand matrix, on a logarithmic colour scale."""

    plan: Plan

    def __post_init__(self) -> None:
        matrix = self.plan.demand.matrix
        positive = matrix[matrix > 0]
        low = max(float(positive.min()), float(positive.max()) / 1e6)
        self.norm = LogNorm(low, max(float(positive.max()), low * 10))
        self.nodes = len(matrix)
        self.share = -(-self.nodes // CELLS)

    def draw(self, axes: Axes) -> None:
        """Draws the demand."""
        self.cells(axes, self.plan.demand.matrix, "Demand")

    def cells(self, axes: Axes, matrix: Integers, name: str) -> None:
        """Draws the bytes from each node to each other node, with frames around entries with
        circuits."""
        most = max(self.norm.vmax or 0.0, float(matrix.max(initial=0)))
        self.norm = LogNorm(self.norm.vmin, most)
        image = self._show(axes, _coarse(matrix, self.share))
        gap = " " if len(name) < SHORT else "\n"
        largest = f"{gap}(largest of every {self.share} × {self.share} pairs)"
        several = largest if self.share > 1 else ""
        axes.set_title(name + several)
        self._bar(axes, image)
        if self.plan.circuits is not None and self.nodes <= FRAMED:
            _rings_around(axes, self.plan.circuits, self.nodes)

    def circuits(self, axes: Axes, table: CircuitTable) -> None:
        """Draws the entries with circuits as dots at their positions in the matrix."""
        chosen = np.zeros_like(self.plan.demand.matrix)
        ends = [(table.a, table.b)] + ([] if table.directed else [(table.b, table.a)])
        for a, b in ends:
            chosen[a, b] = self.plan.demand.matrix[a, b]
        rows, columns = np.nonzero(chosen)
        order = np.argsort(chosen[rows, columns])
        rows, columns = rows[order], columns[order]
        dots = axes.scatter(
            columns,
            rows,
            c=chosen[rows, columns],
            cmap=BLUES,
            norm=self.norm,
            s=max(2.0, 900 / self.nodes),
            linewidths=0,
            rasterized=len(rows) > 2_000,
        )
        axes.set_title("Circuits")
        axes.set_xlim(-0.5, self.nodes - 0.5)
        axes.set_ylim(self.nodes - 0.5, -0.5)
        axes.set_aspect("equal")
        _node_axes(axes, self.plan.demand.names, self.nodes)
        axes.set_ylabel("")
        self._bar(axes, dots)

    def _show(self, axes: Axes, cells: NDArray[Any]) -> Any:
        extent = (-0.5, self.nodes - 0.5, self.nodes - 0.5, -0.5)
        masked = np.ma.masked_equal(cells, 0)
        axes.set_facecolor("white")
        image = axes.imshow(
            masked, cmap=BLUES, norm=self.norm, extent=extent, interpolation="nearest"
        )
        _node_axes(axes, self.plan.demand.names, self.nodes)
        return image

    def _bar(self, axes: Axes, image: Any) -> None:
        figure: Any = axes.figure
        bar = figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02, aspect=25)
        bar.outline.set_visible(False)
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: formats.size(v)))
        bar.ax.yaxis.set_minor_formatter("")
        bar.ax.tick_params(labelsize=7, length=2)


def _coarse(matrix: NDArray[Any], share: int) -> NDArray[Any]:
    """Returns the largest of every `share` × `share` entries, so that few large entries stay
    visible."""
    if share == 1:
        return matrix
    room = -len(matrix) % share
    padded = np.pad(matrix, ((0, room), (0, room)))
    blocks = len(padded) // share
    found: NDArray[Any] = padded.reshape(blocks, share, blocks, share).max(axis=(1, 3))
    return found


def _node_axes(axes: Axes, names: Texts, nodes: int) -> None:
    axes.set_xlabel("to")
    axes.set_ylabel("from")
    axes.spines[["top", "right"]].set_visible(True)
    axes.tick_params(labelsize=7, length=2)
    if names and nodes <= NAMED:
        axes.set_xticks(range(nodes), [_short(n) for n in names], rotation=90)
        axes.set_yticks(range(nodes), [_short(n) for n in names])
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))


def _short(name: str, most: int = 12) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _rings_around(axes: Axes, table: CircuitTable, nodes: int) -> None:
    """Draws frames around the entries that circuits carry."""
    a, b = table.a, table.b
    rows = a if table.directed else np.concatenate((a, b))
    columns = b if table.directed else np.concatenate((b, a))
    side = 0.8 * 72 * HEIGHT * 0.62 / nodes
    axes.scatter(
        columns,
        rows,
        marker="s",
        s=side**2,
        facecolors="none",
        edgecolors=CHOSEN,
        linewidths=max(0.5, min(1.3, side / 6)),
    )


def _ring(axes: Axes, plan: Plan, table: CircuitTable) -> None:
    """Draws nodes on a ring and circuits across it; the width shows the demand that they carry."""
    nodes = len(plan.demand.matrix)
    angle = math.pi / 2 - 2 * math.pi * np.arange(nodes) / nodes
    x, y = np.cos(angle), np.sin(angle)
    most = max(int(table.carried.max(initial=0)), 1)
    planes = table.plane if table.plane is not None else np.zeros(len(table), np.int64)
    for a, b, carried, plane in zip(table.a, table.b, table.carried, planes, strict=True):
        style = "-|>" if table.directed else "-"
        axes.add_patch(
            FancyArrowPatch(
                (x[a], y[a]),
                (x[b], y[b]),
                arrowstyle=style,
                mutation_scale=7,
                connectionstyle=f"arc3,rad={0.12 if table.directed else 0.08 * (plane % 5)}",
                linewidth=0.6 + 2.4 * float(carried) / most,
                shrinkA=4,
                shrinkB=4,
                color=_colour(int(plane)),
                alpha=0.9,
            )
        )
    axes.scatter(x, y, s=16, color=INK, zorder=3)
    if table.plane is not None:
        _legend(axes, sorted({*table.plane.tolist()}))
    texts = plan.demand.names if plan.demand.names and nodes <= NAMED else map(str, range(nodes))
    for at, text in enumerate(texts):
        side = "left" if x[at] > 0.05 else "right" if x[at] < -0.05 else "center"
        level = "bottom" if y[at] > 0.95 else "top" if y[at] < -0.95 else "center"
        place = (1.09 * x[at], 1.09 * y[at])
        axes.text(*place, _short(text), ha=side, va=level, fontsize=7 if nodes <= NAMED else 5.5)
    axes.set_title("Circuits")
    axes.set_aspect("equal")
    axes.set_xlim(-1.5, 1.5)
    axes.set_ylim(-1.25, 1.25)
    axes.axis("off")


def _legend(axes: Axes, planes: list[int]) -> None:
    """Draws the colours of the first planes."""
    shown = planes[: len(LIGHT)]
    lines = [Line2D([], [], color=_colour(plane), linewidth=2) for plane in shown]
    texts = [f"plane {plane}" for plane in shown]
    axes.legend(lines, texts, loc="lower right", fontsize=6.5, frameon=False, handlelength=1.2)


def _colour(plane: int) -> str:
    return LIGHT[(1 + plane) % len(LIGHT)]


def timeline(figure: Any, plan: Plan, schedule: Schedule) -> None:
    """Draws the output of each input over time, and the demand carried."""
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    unit, size = _time_unit(schedule.period_ps)
    carried = plan.details["carried"]
    for axes in (above, below):
        axes.tick_params(labelsize=7, length=2)
        axes.spines[["top", "right"]].set_visible(False)
    above.set_title("Schedule")
    _slots(figure, above, plan, schedule, carried, size)
    ends = (schedule.starts_ps + schedule.night_ps + schedule.days_ps) / size
    starts = (schedule.starts_ps + schedule.night_ps) / size
    total = int(plan.demand.matrix.sum())
    share = carried.sum(axis=1) / total
    done = np.cumsum(share)
    x = np.column_stack((starts, ends)).ravel()
    y = np.column_stack((done - share, done)).ravel()
    below.plot(np.concatenate(([0], x)), np.concatenate(([0], y)), color=CHOSEN, linewidth=1.4)
    below.set_ylim(0, 1.05)
    below.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    below.set_ylabel("carried")
    below.set_xlabel(f"time [{unit}]")
    below.set_xlim(0, max(schedule.period_ps / size, 1e-9))
    below.grid(True, color=FAINT)


def _slots(
    figure: Any, axes: Axes, plan: Plan, schedule: Schedule, carried: NDArray[Any], size: float
) -> None:
    """Draws inputs over time; the colour is the used share of the day, nights are white."""
    ports = schedule.ports
    room = np.asarray(_core.control_bytes_in(schedule.days_ps, plan.options["rate"]), float)
    used = carried / np.maximum(room, 1)[:, None]
    idle = schedule.permutations == np.arange(ports)
    edges, cells = [0.0], []
    for slot, start in enumerate(schedule.starts_ps):
        dawn = float(start + schedule.night_ps)
        edges += [dawn, dawn + float(schedule.days_ps[slot])]
        cells += [np.full(ports, np.nan), np.where(idle[slot], np.nan, used[slot])]
    if not cells:
        axes.text(0.5, 0.5, "no slots", transform=axes.transAxes, ha="center")
        return
    grid = np.ma.masked_invalid(np.column_stack(cells))
    mesh = axes.pcolormesh(
        np.array(edges) / size,
        np.arange(ports + 1) - 0.5,
        grid,
        cmap=BLUES,
        vmin=0,
        vmax=1,
        rasterized=True,  # vector cells would show seams
        linewidth=0,
    )
    axes.set_ylim(ports - 0.5, -0.5)
    axes.set_ylabel("input")
    if ports <= NUMBERED or (plan.demand.names and ports <= NAMED):
        names = plan.demand.names or list(map(str, range(ports)))
        small = 7 if ports <= NUMBERED else 5.5
        axes.set_yticks(range(ports), [_short(n) for n in names], fontsize=small)
    if ports <= NUMBERED:
        axes.set_ylabel("input, and its output in each slot")
        _outputs(axes, schedule, used, idle, size)
    bar = figure.colorbar(mesh, ax=axes, pad=0.02, aspect=18)
    bar.set_label("used share of the day", fontsize=7)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=7, length=2)


def _outputs(
    axes: Axes, schedule: Schedule, used: NDArray[Any], idle: NDArray[Any], size: float
) -> None:
    """Writes the output of each input where a slot is wide enough for its number."""
    shown = np.flatnonzero(schedule.days_ps > 0.03 * schedule.period_ps)
    for slot in shown:
        dawn = schedule.starts_ps[slot] + schedule.night_ps
        centre = (dawn + schedule.days_ps[slot] / 2) / size
        for port in np.flatnonzero(~idle[slot]):
            colour = "white" if used[slot, port] > 0.55 else INK
            output = str(schedule.permutations[slot, port])
            axes.text(
                centre, float(port), output, ha="center", va="center", fontsize=6, color=colour
            )


def _time_unit(period_ps: int) -> tuple[str, float]:
    unit, size = steps.step_for(period_ps * 1e-12, steps.TIMES)
    return unit, float(round(1e12 * size))
