"""The notebook display of a plan: its quality, its heaviest circuits or first slots, and a picture
of them."""

from __future__ import annotations

from lightloom.control.circuit_table import CircuitTable
from lightloom.control.plan_figures import carries, figures_of_plan, node, title
from lightloom.control.plans import Plan
from lightloom.control.schedules import Schedule
from lightloom.notebook.page import page, picture
from lightloom.plotting import PlanPlots
from lightloom.units import formats
from lightloom.units.counts import counted

ROWS = 8
"""Number of circuits or slots that are shown."""
Table = tuple[list[str], list[list[str]], str]


def html(plan: Plan) -> str:
    """Returns a plan as HTML."""
    plots, told = PlanPlots(plan), title(plan)
    figure = plots.circuits() if plan.schedule is None else plots.schedule()
    columns, rows, more = chosen(plan)
    return page(
        "plan.html.j2",
        title=told,
        facts=figures_of_plan(plan),
        columns=columns,
        rows=rows,
        more=more,
        picture=picture(figure, told),
    )


def chosen(plan: Plan) -> Table:
    """Returns the headings, the first rows, and a note on the number of other rows."""
    if plan.schedule is not None:
        return slots(plan, plan.schedule)
    assert plan.circuits is not None
    return circuits(plan, plan.circuits)


def circuits(plan: Plan, table: CircuitTable) -> Table:
    """The circuits with the most traffic."""
    order = sorted(range(len(table)), key=lambda at: (-table.carried[at], at))
    planes = table.plane
    rows = [
        [node(plan, table.a[at]), node(plan, table.b[at])]
        + ([] if planes is None else [str(planes[at])])
        + [formats.size(int(table.carried[at]))]
        for at in order[:ROWS]
    ]
    ends = ["from", "to"] if table.directed else ["circuit", ""]
    heading = [*ends, *([] if planes is None else ["plane"]), carries(plan)]
    return heading, rows, _more(len(table), "circuits")


def slots(plan: Plan, schedule: Schedule) -> Table:
    """The first slots."""
    carried = plan.details["carried"].sum(axis=1)
    rows = [
        [
            str(slot),
            formats.seconds(int(schedule.starts_ps[slot]) * 1e-12) if slot else "0 s",
            formats.seconds(int(schedule.days_ps[slot]) * 1e-12),
            formats.size(int(carried[slot])),
        ]
        for slot in range(min(schedule.slots, ROWS))
    ]
    return ["slot", "starts", "day", "carries"], rows, _more(schedule.slots, "slots")


def _more(count: int, what: str) -> str:
    left = f'and {counted(count - ROWS, "more " + what[:-1])}: to_pandas("{what}")'
    return left if count > ROWS else ""
