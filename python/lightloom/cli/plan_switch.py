"""`plan --diff TARGET --apply`: reads the circuits of a switch, and sets those of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from lightloom.cli import console
from lightloom.errors import ConfigError, refusal

if TYPE_CHECKING:
    from lightloom.control.changes import OldPlan
    from lightloom.control.plans import Plan
    from lightloom.control.wiring import PortMap
    from lightloom.switches.ports import Pair, Size

APPLYING = "Changes"

Apply = Annotated[
    bool,
    typer.Option(
        "--apply",
        help="With --diff TARGET: change the switch, after asking.",
        rich_help_panel=APPLYING,
        show_default=False,
    ),
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        "-y",
        help="With --apply: do not ask.",
        rich_help_panel=APPLYING,
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Applying:
    """Whether a plan is to be applied to a switch."""

    target: str | None
    """The address of the switch."""
    apply: bool
    """Whether to change the switch."""
    yes: bool
    """Whether to change it without confirmation."""
    plane: int | None = None
    """The plane of the plan that is this switch."""

    def check(self, ports: object, alone: bool) -> None:
        """Raises an error for options that have no effect or exclude each other."""
        if self.yes and not self.apply:
            raise refusal("--yes", "(given)", "it confirms --apply", "leave it out")
        if self.apply and self.target is None:
            limit = "no --diff names a switch"
            raise refusal("--apply", "(given)", limit, "give --diff scpi://HOST:PORT")
        if self.apply and alone:
            limit = "--json and --as print the plan and nothing else"
            raise refusal("--apply", "(given)", limit, "leave one of them out")
        if self.target is not None and ports is None:
            limit = "a switch has ports, and the plan has racks"
            raise refusal("--port-map", "(missing)", limit, "name a port map with --port-map")

    def finish(self, made: Plan) -> None:
        """Changes the switch if requested.

        Raises:
            ConfigError: if standard input is not a terminal and `--yes` is missing.
        """
        if self.apply and self.target is not None:
            _apply(made, self.target, self.yes, self.plane or 0)


def is_switch(text: str | None) -> bool:
    """Whether `--diff` names a switch rather than a file."""
    from lightloom.switches.targets import is_target

    return text is not None and is_target(text)


def read_lit(
    target: str, ports: PortMap, names: Sequence[str], plane: int | None, *, directed: bool
) -> OldPlan:
    """Returns the present circuits of a switch between racks of a port map, as a plan.

    Args:
        target: the address of the switch.
        ports: the port map.
        names: the names of the racks of the demand.
        plane: the plane of the port map that is this switch.
        directed: whether circuits of the plan are directed.

    Raises:
        ConfigError: if the port map has several planes and none is given, or the switch does not
            answer.
    """
    from lightloom.control.changes import OldPlan
    from lightloom.control.differences.old_plan import OldLight
    from lightloom.control.wiring import SwitchSize
    from lightloom.switches.protocol import SwitchError
    from lightloom.switches.targets import open_target
    from lightloom.switches.waiting import find_dark

    if ports.planes > 1 and plane is None:
        limit = f"{ports.file} has {ports.planes} planes, and {target} is one switch"
        raise refusal("--diff", target, limit, "choose its plane with --plane")
    try:
        switch = open_target(target)
        try:
            size, reading = switch.describe().size, switch.read()
            dark = find_dark(switch, reading, reading.pairs)
        finally:
            switch.close()
    except SwitchError as problem:
        raise ConfigError(f"--diff: {problem}") from None
    pairs, on = reading.pairs, plane or 0
    _check_ports(ports, on, size, target)
    senders, receivers = _racks(ports, on)
    lights = [
        OldLight(on, senders[a], receivers[b], (a, b))
        for a, b in pairs
        if a in senders and b in receivers and senders[a] != receivers[b]
    ]
    racks = [*dict.fromkeys([*names, *(light.source for light in lights)])]
    own = SwitchSize(size.a, size.b)
    others = sorted({*pairs} - {light.ports for light in lights})
    return OldPlan(target, lights, racks, directed, own, plane, others, dark)


def _check_ports(ports: PortMap, plane: int, size: Size, target: str) -> None:
    """Refuses a port map that names ports which the switch does not have."""
    from lightloom.switches.ports import ends_of

    if ports.size is not None:
        return  # checked where the plan is compared with the switch
    for row in (row for row in ports.ports if row.plane == plane):
        for port in ends_of((row.a, row.b)):
            if not size.has(port):
                limit = f"`{row.rack}` is at port {port}, and {target} has {size} ports"
                remedy = "correct the port map, or name another switch"
                raise refusal("--port-map", ports.file, limit, remedy)


def _racks(ports: PortMap, plane: int) -> tuple[dict[int, str], dict[int, str]]:
    """The rack at each A port and at each B port of a plane."""
    own = [port for port in ports if port.plane == plane]
    return {port.a: port.rack for port in own}, {port.b: port.rack for port in own}


def steps(made: Plan, lit: Sequence[Pair], plane: int) -> tuple[list[Pair], list[Pair]]:
    """Returns the cross-connects to delete, and all that are wanted.

    Cross-connects that the plan does not have are deleted if they connect two ports of the port
    map, or use a port that the plan needs. Other cross-connects on the switch are not touched.
    """
    from lightloom.control.wiring import lights_of

    own = (light for light in lights_of(made) if light.plane == plane)
    wanted = [light.ports for light in own if light.ports is not None]
    senders, receivers = _racks(made.wiring.ports, plane) if made.wiring is not None else ({}, {})
    a_needed, b_needed = {a for a, _ in wanted}, {b for _, b in wanted}
    gone = [
        (a, b)
        for a, b in lit
        if (a, b) not in wanted
        and ((a in senders and b in receivers) or a in a_needed or b in b_needed)
    ]
    return gone, wanted


def _apply(made: Plan, target: str, yes: bool, plane: int) -> None:
    from lightloom.cli import switch as switch_command
    from lightloom.switches.feasibility import check_change
    from lightloom.switches.protocol import Outcome, SwitchError, before_a_change, difference
    from lightloom.switches.targets import open_target

    try:
        with before_a_change():
            switch = open_target(target)
        try:
            with before_a_change():
                size, reading = switch.describe().size, switch.read()
            gone, wanted = steps(made, reading.pairs, plane)
            check_change(size, reading, gone, wanted, ("--diff", "--port-map"))
            going, coming, kept = difference(reading, gone, wanted)
            console.say("")
            switch_command.print_change(going, coming, kept)
            if not going and not coming:
                console.say("nothing changed")
                switch_command.check_lit(switch, reading, Outcome(kept=kept))
                return
            if not yes and not switch_command.confirmed(target):
                raise typer.Exit(console.EXIT_FAILED)
            done = switch.change(gone, wanted)
            switch_command.print_outcome(done)
            switch_command.check_lit(switch, reading, done)
        finally:
            switch.close()
    except SwitchError as problem:
        console.stop(switch_command.problem_text(problem), console.EXIT_FAILED)
