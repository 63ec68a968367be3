"""Figures of a plan: its demand, its circuits or its schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lightloom.control.arrays import Integers
from lightloom.control.plan_figures import carries
from lightloom.errors import refusal
from lightloom.plotting import backend_matplotlib, plan_picture
from lightloom.plotting.picture import Picture, check_axes

if TYPE_CHECKING:
    from lightloom.control.plans import Plan

SQUARE = (4.2, 3.3)
"""Size of a matrix with its colour scale [inches]."""
TOLD = {
    "one period": "Carried in one period",
    "carries": "Carried by circuits",
    "carries both ways": "Carried by circuits, both ways together",
    "reserved each way": "Reserved on circuits, each way",
}


class PlanPlots:
    """The figures of a plan.

    >>> plan("examples/demand-8.csv", "edmonds").plot.circuits().savefig("plan.pdf")
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def demand(self, *, ax: Axes | None = None) -> Figure:
        """Draws the demand [B] from each node (row) to each other node (column), on a logarithmic
        colour scale. Entries with a circuit have a frame if there is space for frames.

        Args:
            ax: the axes to draw on. Default: a new figure.
        """
        return self._matrix(ax, lambda axes: plan_picture.Heat(self._plan).draw(axes))

    def circuits(self, *, ax: Axes | None = None) -> Figure:
        """Draws the demand that circuits carry [B] from each node (row) to each other node
        (column), in the colours of the demand: `CircuitTable.carried`, over all planes; undirected
        circuits have the same value in both entries. For a schedule, the demand that it carries in
        one period.

        Args:
            ax: the axes to draw on. Default: a new figure.
        """
        told = TOLD["one period" if self._plan.schedule is not None else carries(self._plan)]
        matrix = carried(self._plan)
        return self._matrix(
            ax, lambda axes: plan_picture.Heat(self._plan).cells(axes, matrix, told)
        )

    def schedule(self) -> Figure:
        """Draws the lit times of each input with the used share of its circuit, and the share of
        the demand [%] that is carried by each time, over one period [s to ps, as the axis states].

        Raises:
            ConfigError: if the plan is not a schedule.
        """
        if self._plan.schedule is None:
            limit = "its circuits stay as they are"
            raise refusal("plot.schedule", self._plan.algorithm, limit, "plot circuits")
        with matplotlib.rc_context(_settings()):
            figure = Picture(figsize=SQUARE, layout="constrained")
            plan_picture.timeline(figure, self._plan, self._plan.schedule)
        return figure

    def overview(self) -> Figure:
        """Draws demand and circuits or schedule side by side, as `Plan.picture` writes them."""
        with matplotlib.rc_context(_settings()):
            return plan_picture.draw(self._plan, kind=Picture)

    def _matrix(self, ax: Axes | None, draw: Any) -> Figure:
        check_axes(ax)
        if ax is not None:
            draw(ax)
            figure = ax.get_figure(root=True)
            assert figure is not None
            return figure
        with matplotlib.rc_context(_settings()):
            made = Picture(figsize=SQUARE, layout="constrained")
            draw(made.subplots())
        return made


def carried(plan: Plan) -> Integers:
    """Returns the demand that circuits carry: N × N, row = source [bytes]."""
    found = np.zeros_like(plan.demand.matrix)
    if plan.schedule is not None:
        inputs = np.broadcast_to(np.arange(plan.schedule.ports), plan.schedule.permutations.shape)
        np.add.at(found, (inputs, plan.schedule.permutations), plan.details["carried"])
    if plan.circuits is not None:
        table = plan.circuits
        np.add.at(found, (table.a, table.b), table.carried)
        if not table.directed:
            np.add.at(found, (table.b, table.a), table.carried)
    return found


def _settings() -> Any:
    return backend_matplotlib.settings() | {"axes.titlesize": 8}
