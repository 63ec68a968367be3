"""What an output of a plan says, whatever its dialect: rows of light, and what becomes of
each where one plan takes the place of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from lightloom.control.wiring.lights import Light, lights_of
from lightloom.errors import refusal

if TYPE_CHECKING:
    from lightloom.control.plans import Plan

Action = Literal["break", "make", "keep"]
SIDES = 2


class Row(NamedTuple):
    """A direction of light."""

    light: Light
    """Sender and receiver, at which ports."""
    action: Action | None = None
    """The fate of it; None where nothing was before."""


@dataclass(frozen=True)
class Sheet:
    """A plan, or a change of plans, row by row: what is to go before what is to come."""

    rows: Sequence[Row]
    """Everything that is to be said."""
    wired: bool
    """Whether ports are known."""
    size: int | None = None
    """A ports of a switch [count] of two sides, if its size was given."""
    sided: bool = True
    """Whether A and B ports are counted apart."""
    times: Sequence[tuple[int, int]] | None = None
    """Of a schedule: when each slot starts and how long it is lit [ps]."""
    changes: bool = False
    """Whether this is a change of plans."""
    undoes: bool = False
    """Whether it takes back what may be half done: any part of it may hold already."""
    save: bool = False
    """Whether a switch is to keep it over a cold start."""
    others: Sequence[tuple[int, int]] = ()
    """The A and B ports of cross-connects at ports of no rack, which a change leaves alone."""

    @property
    def planes(self) -> list[int]:
        """The planes that are spoken of."""
        return sorted({row.light.plane for row in self.rows})

    def a_name(self, port: int) -> str:
        """What an A port is called: `7A`, or `7` where there is one side."""
        return f"{port}A" if self.sided else str(port)

    def b_name(self, port: int) -> str:
        """What a B port is called."""
        return f"{port}B" if self.sided else str(port)

    def pairs(self, action: Action | None) -> list[tuple[int, int]]:
        """The A port and the B port of each row of an action."""
        rows = (row.light.ports for row in self.rows if row.action == action)
        return [ports for ports in rows if ports is not None]

    def to_make(self) -> list[tuple[int, int]]:
        """The ports that are to be joined, whether something was before or not."""
        return self.pairs("make") if self.changes else self.pairs(None)

    def all_pairs(self) -> list[tuple[int, int]]:
        """The ports of all cross-connects that the switch is to have, those of no rack included:
        for a dialect whose file replaces all of them."""
        return [*self.to_make(), *self.others]


def sheet_of(plan: Plan, *, plane: int | None = None, slot: int | None = None) -> Sheet:
    """The rows of a plan.

    Args:
        plan: circuits or a schedule.
        plane: that of one plane only.
        slot: that of one slot only.

    Raises:
        ConfigError: of `plane` or `slot`: one that the plan does not have.
    """
    schedule = plan.schedule
    rows = plan.change.rows() if plan.change else [Row(light) for light in lights_of(plan)]
    if plane is not None:
        planes = plan.options.get("planes", 1)
        if not 0 <= plane < planes:
            raise _beyond("plane", plane, "plane", planes)
        rows = [row for row in rows if row.light.plane == plane]
    times = None
    if schedule is not None:
        times = list(zip(schedule.starts_ps.tolist(), schedule.days_ps.tolist(), strict=True))
    if slot is not None:
        if schedule is None:
            limit = "circuits of this plan stay; only schedules have slots"
            raise refusal("slot", slot, limit, "leave it out")
        if not 0 <= slot < schedule.slots:
            raise _beyond("slot", slot, "slot", schedule.slots)
        rows = [row for row in rows if row.light.slot == slot]
    sheet = Sheet(
        rows,
        wired=plan.wiring is not None,
        times=times,
        changes=plan.change is not None,
        others=_others(plan, plane),
    )
    if plan.wiring is None:
        return sheet
    size = plan.wiring.ports.size
    sided = plan.wiring.ports.sides == SIDES
    return replace(sheet, size=size.a if size and sided else None, sided=sided)


def _others(plan: Plan, plane: int | None) -> Sequence[tuple[int, int]]:
    """The cross-connects of no rack on the switch that a change is for."""
    if plan.change is None or plane not in (None, plan.change.old.plane or 0):
        return ()
    return plan.change.old.others


def undone(sheet: Sheet) -> Sheet:
    """What takes a change back, or a plan that nothing was before: made is broken, broken
    is made."""
    back: dict[Action | None, Action] = {"make": "break", None: "break", "break": "make"}
    rows = [row._replace(action=back.get(row.action, "keep")) for row in sheet.rows]
    order = ("break", "make", "keep")
    rows.sort(key=lambda row: order.index(row.action or "keep"))
    return replace(sheet, rows=rows, changes=True, undoes=True)


def before(sheet: Sheet) -> Sheet:
    """What was lit before a change, as a plan."""
    rows = [row._replace(action=None) for row in sheet.rows if row.action != "make"]
    return replace(sheet, rows=rows, changes=False)


def _beyond(key: str, value: int, what: str, count: int) -> Exception:
    limit = f"the plan has {what}s 0 to {count - 1}" if count > 1 else f"the plan has {what} 0 only"
    return refusal(key, value, limit, "choose one of them")
