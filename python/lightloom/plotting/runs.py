"""Figures of results and comparisons: completion times, and figures over time or load.

Curves of several seeds are means with the band of their 95 % confidence intervals. A `style` is one
of `lightloom.plotting.STYLES`, such as "acm-column"; it sets the width and the size of text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lightloom.analysis.model import Workload
from lightloom.errors import refusal
from lightloom.plotting import distributions, figures, over_time
from lightloom.plotting.bands import caption_seeds
from lightloom.plotting.compared import Runs, workload_of
from lightloom.plotting.files import titled
from lightloom.plotting.picture import check_axes, drawn, drawn_on
from lightloom.plotting.sheet import REPORT, Sheet
from lightloom.plotting.spec import Figure as Spec
from lightloom.plotting.spec import Panel
from lightloom.plotting.styles import find

Flows = Literal["all", "short"]
Queues = Literal["worst", "all"]
Place = tuple[Axes | None, str | None]
"""Given axes, or a style."""

NOTHING = {
    "fct": ("no flow had arrived when the run ended", "lengthen the run: run.stop"),
    "queues": ("nothing ever waits in these networks", "plot goodput or utilisation"),
    "idle": (
        "nothing waited when it was sampled",
        "lengthen the run: run.stop, or set run.sample",
    ),
    "load": ("nothing was simulated at several loads", "set compare.loads"),
    "size": ("no flow had arrived when the run ended", "lengthen the run: run.stop"),
    "time": ("there is no such column in the time series", "plot what there is"),
}


class RunPlots:
    """The figures of a result, of a repeated result, or of a comparison.

    >>> comparison.plot.fct_ccdf(flows="short").savefig("tail.pdf")  # doctest: +SKIP
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def fct_cdf(
        self, flows: Flows = "all", *, ax: Axes | None = None, style: str | None = None
    ) -> Figure:
        """Draws the share of flows that took no longer than a time [% of those that arrived],
        against the completion time [s, logarithmic]. If flows are unfinished, the curve ends in an
        arrow.

        Args:
            flows: all flows, or the short ones, under 100 KB.
            ax: the axes to draw on. Default: a new figure.
            style: the style of a new figure. Default: the size of the report's figures.

        Raises:
            ConfigError: if there is no data, no such style, or both `style` and `ax` are given.
        """
        return self._distribution("fct_cdf", distributions.cumulative, flows, (ax, style))

    def fct_ccdf(
        self, flows: Flows = "all", *, ax: Axes | None = None, style: str | None = None
    ) -> Figure:
        """Draws the share of flows that took at least a time [%], against the completion time [s],
        both logarithmic: the tail. If flows are unfinished, the share lies between the curve, for
        flows that never finish, and the dotted line, for flows that take their age.

        Arguments and errors are those of `fct_cdf`.
        """
        return self._distribution("fct_ccdf", distributions.complementary, flows, (ax, style))

    def fct_by_size(self, *, style: str | None = None) -> Figure:
        """Draws median and 99th percentile of completion times [s] by flow size [B], in bins of
        half a decade; an arrow is a bound.

        Args:
            style: the style of the figure. Default: the size of the report's figures.

        Raises:
            ConfigError: if there is no data, or no such style.
        """
        return self._whole("fct_by_size", figures.by_size, "size", style)

    def by_load(self, *, style: str | None = None) -> Figure:
        """Draws the 99th percentile of short flows' completion times [s], and the load delivered [%
        of the servers' capacity], at each of `[compare].loads`.

        Args:
            style: the style of the figure. Default: the size of the report's figures.

        Raises:
            ConfigError: if there is no data, or no such style.
        """
        return self._whole("by_load", figures.by_load, "load", style)

    def queues(
        self, nodes: Queues = "worst", *, ax: Axes | None = None, style: str | None = None
    ) -> Figure:
        """Draws the bytes in queues inside the network [B] over time [s]: the peak sample in each
        drawn interval.

        Args:
            nodes: at the node with the longest queue, or at all nodes together.
            ax: the axes to draw on. Default: a new figure.
            style: the style of a new figure. Default: the size of the report's figures.

        Raises:
            ConfigError: if there is no data, no such style, or both `style` and `ax` are given.
        """
        _choice("nodes", nodes, ("worst", "all"))
        workload = workload_of(self._runs)
        waiting = bool(over_time.queues(workload))
        title, column = {
            "worst": ("Queue at the worst node", "queued_bytes_worst"),
            "all": ("Queues of all nodes together", "queued_bytes"),
        }[nodes]
        made = _over_time(workload, title, "queue", column, "peak") if waiting else None
        # Networks without queues, such as those of rates, have no peak; an idle network has one of
        # 0.
        peaks = [fabric.get("queue_peak_bytes") for fabric in workload.fabrics]
        why = "queues" if all(peak is None for peak in peaks) else "idle"
        return self._shown("queues", made, why, workload, (ax, style))

    def goodput(self, *, ax: Axes | None = None, style: str | None = None) -> Figure:
        """Draws the bits delivered ÷ capacity of the servers [%] over time [s]; each point is the
        mean of a drawn interval.

        Arguments `ax` and `style` and errors are those of `queues`.
        """
        workload = workload_of(self._runs)
        made = _over_time(workload, "Goodput", "goodput", "goodput_normalized", "mean")
        return self._shown("goodput", made, "time", workload, (ax, style))

    def utilisation(self, *, ax: Axes | None = None, style: str | None = None) -> Figure:
        """Draws the bits that all links carry ÷ their capacity [%] over time [s]; each point is the
        mean of a drawn interval.

        Arguments `ax` and `style` and errors are those of `queues`.
        """
        workload = workload_of(self._runs)
        made = _over_time(workload, "Link utilisation", "utilisation", "utilisation", "mean")
        return self._shown("utilisation", made, "time", workload, (ax, style))

    def _distribution(
        self,
        name: str,
        panel: Callable[[str, list[distributions.Flows]], Panel | None],
        flows: Flows,
        place: Place,
    ) -> Figure:
        _choice("flows", flows, ("all", "short"))
        read, title = {
            "all": (distributions.all_flows, "All flows"),
            "short": (distributions.short_flows, "Short flows (under 100 KB)"),
        }[flows]
        workload = workload_of(self._runs)
        made = panel(title, [read(fabric) for fabric in workload.fabrics])
        return self._shown(name, made, "fct", workload, place)

    def _shown(
        self, name: str, panel: Panel | None, why: str, workload: Workload, place: Place
    ) -> Figure:
        """Draws a panel as a figure. Many curves over time have a panel each, with the same
        axes."""
        ax, sheet = place[0], _sheet(*place)
        if panel is None:
            raise _nothing(name, workload, why)
        if ax is not None:
            return drawn_on(ax, panel)
        many = panel.x.scale == "linear" and len(over_time.slots(panel)) > over_time.FEW
        panels = over_time.multiples(panel) if many else (panel,)
        across = over_time.MULTIPLES_A_ROW if many else 1
        return drawn(Spec(name, panel.title, "", panels, across, shared=many), sheet)

    def _whole(
        self, name: str, of: Callable[[Workload], Spec | None], why: str, style: str | None
    ) -> Figure:
        sheet = _sheet(None, style)
        workload = workload_of(self._runs)
        made = of(workload)
        if made is None:
            raise _nothing(name, workload, why)
        made = replace(made, panels=titled(made.panels))
        return drawn(caption_seeds(made, workload.seeds), sheet)


def _over_time(
    workload: Workload, title: str, y_title: str, column: str, kind: over_time.Kind
) -> Panel | None:
    return over_time.panel(workload, title, y_title, column, over_time.TIME_POINTS, kind)


def _sheet(ax: Axes | None, style: str | None) -> Sheet:
    """The size of a new figure."""
    check_axes(ax)
    if style is None:
        return REPORT
    if ax is not None:
        raise refusal("style", style, "axes of yours have their size", "leave out ax or style")
    return find(style, "style")


def _choice(key: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise refusal(key, value, "no such choice", f"use {' or '.join(choices)}")


def _nothing(name: str, workload: Workload, why: str) -> Exception:
    limit, remedy = NOTHING[why]
    return refusal(f"plot.{name}", workload.name, limit, remedy)
