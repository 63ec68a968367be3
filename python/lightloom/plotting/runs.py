"""Figures of results and comparisons: completion times, and what changes over time or load.

Curves of several seeds are means, in the band of their 95 % confidence intervals. A `style` is
one of `lightloom.plotting.STYLES`, such as "acm-column": as wide as there, in letters of its size.
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
    "fct": ("no flow had arrived when the run ended", "let the run go on: run.stop"),
    "queues": ("nothing ever waits in these networks", "plot goodput or utilisation"),
    "idle": (
        "nothing waited when it was sampled",
        "let the run go on: run.stop, or set run.sample",
    ),
    "load": ("nothing was simulated at several loads", "set compare.loads"),
    "size": ("no flow had arrived when the run ended", "let the run go on: run.stop"),
    "time": ("there is no such column in the time series", "plot what there is"),
}


class RunPlots:
    """The figures of a result, of its seeds, or of a comparison.

    >>> comparison.plot.fct_ccdf(flows="short").savefig("tail.pdf")  # doctest: +SKIP
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def fct_cdf(
        self, flows: Flows = "all", *, ax: Axes | None = None, style: str | None = None
    ) -> Figure:
        """The share of flows that took no longer [% of those that arrived], against their
        completion time [s, logarithmic]; a curve that ends in an arrow left flows unfinished.

        Args:
            flows: all of them, or the short ones, under 100 KB.
            ax: where to draw; a figure of its own unless given.
            style: where a figure of its own is to stand; as large as in the report unless given.

        Raises:
            ConfigError: if there is nothing to show, no such style, or one beside `ax`.
        """
        return self._distribution("fct_cdf", distributions.cumulative, flows, (ax, style))

    def fct_ccdf(
        self, flows: Flows = "all", *, ax: Axes | None = None, style: str | None = None
    ) -> Figure:
        """The share of flows that took at least as long [%], against their completion time
        [s], both logarithmic: the tail. Where flows are unfinished, it runs between the curve,
        as if they never arrived, and the dotted line, as they take at least their age.

        Args, errors: as of `fct_cdf`.
        """
        return self._distribution("fct_ccdf", distributions.complementary, flows, (ax, style))

    def fct_by_size(self, *, style: str | None = None) -> Figure:
        """Median and 99th percentile of completion times [s] by the size of flows [B], in bins
        of half a decade; an arrow is a bound.

        Args:
            style: where it is to stand; as large as in the report unless given.

        Raises:
            ConfigError: if there is nothing to show, or no such style.
        """
        return self._whole("fct_by_size", figures.by_size, "size", style)

    def by_load(self, *, style: str | None = None) -> Figure:
        """99th percentile of short flows' completion times [s], and the load delivered [% of
        what servers can send], at each of `[compare].loads`.

        Args:
            style: where it is to stand; as large as in the report unless given.

        Raises:
            ConfigError: if there is nothing to show, or no such style.
        """
        return self._whole("by_load", figures.by_load, "load", style)

    def queues(
        self, nodes: Queues = "worst", *, ax: Axes | None = None, style: str | None = None
    ) -> Figure:
        """Bytes that wait inside the network [B] over time [s]: the peak sample in each drawn
        interval.

        Args:
            nodes: at the node with most, or at all together.
            ax: where to draw; a figure of its own unless given.
            style: where a figure of its own is to stand; as large as in the report unless given.

        Raises:
            ConfigError: if there is nothing to show, no such style, or one beside `ax`.
        """
        _choice("nodes", nodes, ("worst", "all"))
        workload = workload_of(self._runs)
        waiting = bool(over_time.queues(workload))
        title, column = {
            "worst": ("Queue at the worst node", "queued_bytes_worst"),
            "all": ("Queues of all nodes together", "queued_bytes"),
        }[nodes]
        made = _over_time(workload, title, "queue", column, "peak") if waiting else None
        # Networks without queues, such as those of rates, have no peak; others may have been idle.
        peaks = [fabric.get("queue_peak_bytes") for fabric in workload.fabrics]
        why = "queues" if all(peak is None for peak in peaks) else "idle"
        return self._shown("queues", made, why, workload, (ax, style))

    def goodput(self, *, ax: Axes | None = None, style: str | None = None) -> Figure:
        """Bits delivered over what all servers can send [%] over time [s], each the mean of a
        drawn interval.

        Args, errors: `ax`, `style` and errors as of `queues`.
        """
        workload = workload_of(self._runs)
        made = _over_time(workload, "Goodput", "goodput", "goodput_normalized", "mean")
        return self._shown("goodput", made, "time", workload, (ax, style))

    def utilisation(self, *, ax: Axes | None = None, style: str | None = None) -> Figure:
        """Bits carried by all links, over what they can carry [%] over time [s], each the mean
        of a drawn interval.

        Args, errors: `ax`, `style` and errors as of `queues`.
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
        """A panel as a figure. Many curves over time have a panel each, on the same axes."""
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
    """How large a figure of its own is."""
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
