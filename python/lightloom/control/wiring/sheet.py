"""The content of an output, independent of its dialect: rows of light, and the action for each row
if one plan replaces another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lightloom.control.plans import Plan
from lightloom.control.ports.lights import Action, Row
from lightloom.control.wiring.plans import lights_of
from lightloom.errors import refusal

SIDES = 2


@dataclass(frozen=True)
class Sheet:
    """The rows of a plan, or of a change of plans; rows to break come before rows to make."""

    rows: Sequence[Row]
    """All rows."""
    wired: bool
    """Whether ports are known."""
    size: int | None = None
    """The number of A ports of a switch with two sides, if its size was given."""
    sided: bool = True
    """Whether A and B ports are numbered separately."""
    times: Sequence[tuple[int, int]] | None = None
    """The start and the day of each slot of a schedule [ps]."""
    changes: bool = False
    """Whether this is a change of plans."""
    undoes: bool = False
    """Whether this reverses a change that may have been made only partly."""
    save: bool = False
    """Whether the switch is to keep the configuration over a cold start."""
    others: Sequence[tuple[int, int]] = ()
    """The A and B ports of cross-connects at ports of no rack, which a change does not touch."""

    @property
    def planes(self) -> list[int]:
        """The planes of the rows."""
        return sorted({row.light.plane for row in self.rows})

    def a_name(self, port: int) -> str:
        """The name of an A port: `7A`; `7` if the switch has one side."""
        return f"{port}A" if self.sided else str(port)

    def b_name(self, port: int) -> str:
        """The name of a B port: `7B`; `7` if the switch has one side."""
        return f"{port}B" if self.sided else str(port)

    def pairs(self, action: Action | None) -> list[tuple[int, int]]:
        """The A port and the B port of each row with an action."""
        rows = (row.light.ports for row in self.rows if row.action == action)
        return [ports for ports in rows if ports is not None]

    def to_make(self) -> list[tuple[int, int]]:
        """The ports to connect, in a plan or in a change."""
        return self.pairs("make") if self.changes else self.pairs(None)

    def all_pairs(self) -> list[tuple[int, int]]:
        """The ports of all cross-connects that the switch is to have, including those that belong
        to no rack, for a dialect whose file replaces all of them."""
        return [*self.to_make(), *self.others]


def sheet_of(plan: Plan, *, plane: int | None = None, slot: int | None = None) -> Sheet:
    """Returns the rows of a plan.

    Args:
        plan: circuits or a schedule.
        plane: only rows of this plane.
        slot: only rows of this slot.

    Raises:
        ConfigError: if the plan does not have that `plane` or `slot`.
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
    """The cross-connects of no rack on the switch that a change concerns."""
    if plan.change is None or plane not in (None, plan.change.old.plane or 0):
        return ()
    return plan.change.old.others


def undone(sheet: Sheet) -> Sheet:
    """Returns the reverse of a change, or of a plan on an empty switch: break and make are
    exchanged."""
    back: dict[Action | None, Action] = {"make": "break", None: "break", "break": "make"}
    rows = [row._replace(action=back.get(row.action, "keep")) for row in sheet.rows]
    order = ("break", "make", "keep")
    rows.sort(key=lambda row: order.index(row.action or "keep"))
    return replace(sheet, rows=rows, changes=True, undoes=True)


def before(sheet: Sheet) -> Sheet:
    """Returns the state before a change, as a plan."""
    rows = [row._replace(action=None) for row in sheet.rows if row.action != "make"]
    return replace(sheet, rows=rows, changes=False)


def _beyond(key: str, value: int, what: str, count: int) -> Exception:
    limit = f"the plan has {what}s 0 to {count - 1}" if count > 1 else f"the plan has {what} 0 only"
    return refusal(key, value, limit, "choose one of them")
