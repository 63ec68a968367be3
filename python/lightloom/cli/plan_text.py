"""The text output of `plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from lightloom.cli import console
from lightloom.cli.plan_changes import show_change
from lightloom.control.plan_figures import carries, figures_of_plan, node
from lightloom.units import formats
from lightloom.units.counts import counted

if TYPE_CHECKING:
    from lightloom.control.plans import Plan

ROWS = 8
"""Largest number of circuits or slots that are printed."""


def show(made: Plan, path: Path, hint: str) -> None:
    """Prints the figures, and the first circuits or slots."""
    matrix = made.demand.matrix
    pairs, total = int((matrix > 0).sum()), formats.size(int(matrix.sum()))
    name = "standard input" if str(path) == "-" else path.name
    console.say(f"{name}: {counted(len(matrix), 'node')}, {counted(pairs, 'pair')}, {total}")
    for line in () if made.demand.reading is None else made.demand.reading.lines():
        console.say(f"  {line}")
    rows = console.plain_table()
    rows.show_header = False
    rows.add_column(style="bold")
    rows.add_column()
    for name, text in figures_of_plan(made).items():
        rows.add_row("  " + name, text)
    console.out().print(rows)
    console.say("")
    left, what = _print_circuits(made) if made.schedule is None else _print_slots(made)
    if left > 0:
        console.say(f"and {counted(left, 'more ' + what[:-1])}{hint}")
    if made.change is not None:
        show_change(made.change)


def _print_circuits(made: Plan) -> tuple[int, str]:
    """Prints the circuits with most demand; returns the number and kind of the others."""
    table = made.circuits
    if table is None:
        return 0, "circuits"
    rows = console.plain_table()
    rows.add_column("from" if table.directed else "circuit")
    rows.add_column("to" if table.directed else "")
    if table.plane is not None:
        rows.add_column("plane", justify="right")
    rows.add_column(carries(made), justify="right")
    joins = cross_connects(made)
    if joins:
        rows.add_column("ports")
    order = sorted(range(len(table)), key=lambda at: (-table.carried[at], at))
    for at in order[:ROWS]:
        ends = [node(made, table.a[at]), node(made, table.b[at])]
        ends += [] if table.plane is None else [str(table.plane[at])]
        ports = [joins[at]] if joins else []
        rows.add_row(*map(Text, ends), formats.size(int(table.carried[at])), *ports)
    console.out().print(rows)
    return len(table) - ROWS, "circuits"


def cross_connects(made: Plan) -> dict[int, str]:
    """The ports of every circuit, in the form in which switches name cross-connects; empty without
    ports."""
    if made.wiring is None:
        return {}
    ports, found = made.wiring.ports, dict[int, str]()
    for at, light in made.numbered_lights():
        if light.ports is not None:
            joined = f"{ports.a_name(light.ports[0])}-{ports.b_name(light.ports[1])}"
            found[at] = f"{found[at]}  {joined}" if at in found else joined
    return found


def _print_slots(made: Plan) -> tuple[int, str]:
    """Prints the first slots; returns the number and kind of the others."""
    schedule = made.schedule
    if schedule is None:
        return 0, "slots"
    rows = console.plain_table()
    for name in ("slot", "starts", "day", "carries"):
        rows.add_column(name, justify="right")
    rows.add_column("circuits that carry most")
    carried = made.details["carried"]
    for slot in range(min(schedule.slots, ROWS)):
        outputs, sent = schedule.permutations[slot], carried[slot]
        most = sorted(range(schedule.ports), key=lambda i: (-sent[i], i))[:3]
        shown = [f"{node(made, i)}>{node(made, outputs[i])}" for i in most if sent[i]]
        rows.add_row(
            str(slot),
            formats.seconds(int(schedule.starts_ps[slot]) * 1e-12) if slot else "0 s",
            formats.seconds(int(schedule.days_ps[slot]) * 1e-12),
            formats.size(int(sent.sum())),
            Text("  ".join(shown)),
        )
    console.out().print(rows)
    return schedule.slots - ROWS, "slots"
