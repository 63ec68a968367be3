"""Rules of the operator for `plan`, and the comparison with an earlier plan: the options, and their
output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from lightloom.cli import console
from lightloom.errors import refusal
from lightloom.units import formats
from lightloom.units.counts import counted
from lightloom.units.durations import DARK_TIME, duration_ps

if TYPE_CHECKING:
    from lightloom.control.changes import Change, OldPlan, Pair
    from lightloom.control.files import Demand
    from lightloom.control.plans import Plan
    from lightloom.control.rules import Rules
    from lightloom.control.wiring import PortMap
    from lightloom.policies.registry import Policy

RULES = "Rules"
CHANGES = "Changes"
LOST = 3
"""Largest number of circuits that are listed individually."""
ROWS = 12
"""Largest number of circuits that are printed."""

Pin = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A:B",
        help="This circuit must exist, for any demand; A:B[:PLANE] with several planes. No other "
        "circuit uses its ports. May be repeated.",
        rich_help_panel=RULES,
    ),
]
Forbid = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A:B",
        help="No circuit may join these two racks, in either direction. May be repeated.",
        rich_help_panel=RULES,
    ),
]
Down = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PORT",
        help="Do not use a rack, RACK:PLANE, or with --port-map a port of the switch, "
        "like 7A. May be repeated.",
        rich_help_panel=RULES,
    ),
]
Diff = Annotated[
    str | None,
    typer.Option(
        metavar="OLD|TARGET",
        help="Compare with the plan that is up: a file of -o, a list of pairs, or with a port map "
        "a switch such as scpi://HOST:5025, or its CONFIG_DB, OCP YANG or "
        "`show ocs cross-connect config`. Prints the circuits to break, make and keep, and how "
        "long pairs are dark. With a port map, -o writes the change: breaks first, then makes.",
        rich_help_panel=CHANGES,
    ),
]
Dark = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="With --diff: time from a command until its circuits carry traffic: mirrors, "
        f"transceivers, routes ({DARK_TIME}).",
        rich_help_panel=CHANGES,
    ),
]
Over = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="With --diff: the time that the demand covers, to compute the part that would have "
        "moved in the dark time (hydra: --period).",
        rich_help_panel=CHANGES,
    ),
]


@dataclass(frozen=True)
class Operator:
    """The rules, and the present circuits."""

    pin: list[str]
    """Pinned circuits."""
    forbid: list[str]
    """Pairs that are kept apart."""
    down: list[str]
    """Ports that must not be used."""
    diff: str | None = None
    """The plan that is in effect, or the address of the switch that has it."""
    dark: str | None = None
    """Time from a command until its circuits carry data."""
    over: str | None = None
    """The duration of the demand."""

    @classmethod
    def of(
        cls, pin: list[str] | None, forbid: list[str] | None, down: list[str] | None, **given: Any
    ) -> Operator:
        """Makes an object from the options."""
        return cls(pin or [], forbid or [], down or [], **given)

    def check(self) -> None:
        """Raises an error for options without effect, and for invalid times."""
        for key in ("dark", "over"):
            value = getattr(self, key)
            if value is not None and self.diff is None:
                limit = "has no effect without --diff, which names the lit circuits"
                raise refusal(key, value, limit, "name a plan, or leave it out")
            if value is not None and duration_ps(key, value) <= 0:
                raise refusal(key, value, "above 0", "give the time that it takes")

    def rules(
        self, demand: Demand, policy: Policy, options: dict[str, Any], ports: PortMap | None
    ) -> Rules:
        """Returns the rules for the racks of a demand."""
        from lightloom.control.rules import read_rules
        from lightloom.control.rules.heed import planes_of
        from lightloom.control.wiring import names_of

        typed = {"pin": self.pin, "forbid": self.forbid, "down": self.down}
        planes = planes_of(policy, options)
        return read_rules(names_of(demand), **typed, planes=planes, ports=ports)

    def notes(self, made: Plan) -> Iterator[str]:
        """Notes on ports that are down without effect, and on circuits that are broken because a
        rack has no demand."""
        from lightloom.control.rules import idle
        from lightloom.control.wiring import names_of

        if made.wiring is not None:
            told = (idle(text, names_of(made.demand), made.wiring.ports) for text in self.down)
            yield from (f"note: {line}: nothing to leave out" for line in told if line)
        if made.change is not None:
            yield from _failed(made.change)
            yield from _lost(made.change)

    def finished(
        self,
        made: Plan,
        ports: PortMap | None,
        plane: int | None = None,
        old: OldPlan | None = None,
    ) -> Plan:
        """Returns the plan on its ports, compared with the present circuits, which are read unless
        given."""
        from lightloom.control.changes import changed
        from lightloom.control.wiring import wired

        if self.diff is None:
            return made if ports is None else wired(made, ports)
        over = self.over or made.options.get("period")
        directed = made.circuits is not None and made.circuits.directed
        return changed(
            made,
            old or self.old(made.demand, ports, plane, directed=directed),
            switch_ps=duration_ps("dark", self.dark or DARK_TIME),
            over_ps=None if over is None else duration_ps("over", over),
            ports=ports,
        )

    def keep_lit(self, demand: Demand, options: dict[str, Any], old: OldPlan, plane: int) -> None:
        """Adds the lit circuits to the options of a policy that keeps some, so that a change
        leaves circuits alone that neither demand nor a rule concerns."""
        from lightloom.control.wiring import names_of

        place = {name: at for at, name in enumerate(names_of(demand))}
        pairs = [pair for pair in old.pairs(plane) if place.keys() >= {*pair}]
        if pairs:
            options["up"] = [(place[a], place[b]) for a, b in pairs]

    def old(
        self, demand: Demand, ports: PortMap | None, plane: int | None, *, directed: bool
    ) -> OldPlan:
        """Reads the present circuits, from a file or from the switch."""
        from lightloom.cli.plan_switch import is_switch, read_lit
        from lightloom.control.changes import read_old_plan
        from lightloom.control.lit import Ports
        from lightloom.control.wiring import names_of

        assert self.diff is not None
        if is_switch(self.diff) and ports is not None:
            return read_lit(self.diff, ports, names_of(demand), plane, directed=directed)
        lit = Ports(ports, plane)
        return read_old_plan(Path(self.diff), demand, directed=directed, ports=lit)


def show_change(change: Change) -> None:
    """Prints the circuits to break and to make, the number that stays, and the dark times of
    racks."""
    console.say("")
    counts = _counts(change)
    told = ", ".join(f"{count:,} to {action}" for action, count in counts.items())
    lit = change.old.file if "://" in change.old.file else Path(change.old.file).name
    console.say(f"from {lit}: {told}")
    dark = {(pair.a, pair.b): pair for pair in change.pairs}
    rows = console.plain_table()
    several = any(circuit.plane for circuit in change.circuits)
    for name in ("", "circuit", "", *(["plane"] if several else []), "has", "dark", "unmoved"):
        rows.add_column(name, justify="left" if name in ("", "circuit") else "right")
    moving = [circuit for circuit in change.circuits if circuit.action != "keep"]
    for circuit in moving[:ROWS]:
        pair = dark.get((circuit.a, circuit.b)) or dark[circuit.b, circuit.a]
        plane = [str(circuit.plane)] if several else []
        cells = [circuit.action, circuit.a, circuit.b, *plane, formats.size(circuit.bytes)]
        rows.add_row(*map(Text, [*cells, _dark(pair), _unmoved(pair)]))
    if moving:
        console.out().print(rows)
    if len(moving) > ROWS:
        console.say(f"and {len(moving) - ROWS:,} more to break or make")
    for line in _told(change):
        console.say(line)


def _failed(change: Change) -> Iterator[str]:
    """Lists cross-connects between racks that carry no light, and what to do if they stay."""
    dark = change.old.dark
    found = [(light.ports, action) for light, action in change.lights if light.ports in dark]
    for ports, action in found[:LOST]:
        if ports is not None:
            remedy = "look at its ports, or delete it and create it again"
            ending = f"; {remedy}" if action == "keep" else ", and the plan breaks it"
            yield f"warning: {ports[0]}A-{ports[1]}B is {dark[ports]}{ending}"
    if len(found) > LOST:
        yield f"warning: the same applies to {counted(len(found) - LOST, 'more cross-connect')}"


def _lost(change: Change) -> Iterator[str]:
    """Lists circuits that are broken because a rack has no demand, and how to keep them."""
    pairs = {
        (circuit.a, circuit.b): next(rack for rack in (circuit.a, circuit.b) if rack in change.went)
        for circuit in change.circuits
        if circuit.action == "break" and {circuit.a, circuit.b} & {*change.went}
    }
    for (a, b), rack in [*pairs.items()][:LOST]:
        yield f"note: no demand for {rack}, so its circuit {a}:{b} is broken; to keep it, give it"
        yield f"      a record of 0 bytes, or list it in --map, and give --pin {a}:{b}"
    if len(pairs) > LOST:
        yield f"note: the same applies to {counted(len(pairs) - LOST, 'more circuit')}"


def _counts(change: Change) -> dict[str, int]:
    found = {"break": 0, "make": 0, "keep": 0}
    for circuit in change.circuits:
        found[circuit.action] += 1
    return found


def _dark(pair: Pair) -> str:
    if pair.dark_ps is None:
        return "from now on"
    return formats.seconds(pair.dark_ps * 1e-12) if pair.dark_ps else "never"


def _unmoved(pair: Pair) -> str:
    """States the demand that would have moved during the dark time."""
    return "-" if pair.dark_bytes is None else formats.size(pair.dark_bytes)


def _told(change: Change) -> Iterator[str]:
    before, after = map(formats.size, change.joined)
    yield f"demand between racks that a circuit joins: {before} before, {after} after"
    needed = [light.ports for light, action in change.lights if action != "break"]
    a_needed, b_needed = ({ports[side] for ports in needed if ports} for side in (0, 1))
    in_way = [pair for pair in change.old.others if pair[0] in a_needed or pair[1] in b_needed]
    if in_way:
        several = counted(len(in_way), "other cross-connect")
        names = ", ".join(f"{a}A-{b}B" for a, b in in_way[:LOST])
        more = f" and {len(in_way) - LOST} more" if len(in_way) > LOST else ""
        yield f"{several} at ports that the plan needs: --apply deletes {names}{more}"
    alone = len(change.old.others) - len(in_way)
    if alone:
        several = counted(alone, "cross-connect")
        yield f"{several} at ports that the port map does not have: left alone"
    for what, racks in (("came", change.came), ("went", change.went)):
        if racks:
            yield f"racks that {what}: {', '.join(racks)}"
