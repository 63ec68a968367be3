"""`switch`: an emulated optical circuit switch, and one switch by its address."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from lightloom.cli import console
from lightloom.errors import refusal
from lightloom.units import formats

if TYPE_CHECKING:
    from lightloom.switches.config import Setup
    from lightloom.switches.protocol import CircuitSwitch, Description, Outcome, Reading


commands = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@commands.callback()
def switch() -> None:
    """Emulate an optical circuit switch; show, read, change or test one by its address."""


TargetOf = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="scpi://HOST:PORT, sonic://USER@HOST, gnmi://HOST, tl1://USER@HOST, "
        "netconf://USER@HOST, or file:PATH.",
    ),
]
Secrets = Annotated[
    Path | None,
    typer.Option(
        "--credentials",
        metavar="FILE",
        help="User in the first line, password in the second; otherwise "
        "LIGHTLOOM_SWITCH_USER and LIGHTLOOM_SWITCH_PASSWORD.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Add = Annotated[
    list[str] | None,
    typer.Option(metavar="PAIRS", help="Create: 1A-29B, 1A-2B,3A-4B or 1A..4A-5B..8B."),
]
Remove = Annotated[list[str] | None, typer.Option(metavar="PAIRS", help="Delete, likewise.")]
Wait = Annotated[
    float,
    typer.Option(
        metavar="SECONDS", help="Longest time to wait for settling; for an answer at most 30 s."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@commands.command()
def serve(
    file: Annotated[Path, typer.Argument(metavar="SWITCH.toml", help="The switch and its faces.")],
) -> None:
    """Serve an emulated switch until it is interrupted."""
    from lightloom.switches.config import read_setup

    with console.guarded():
        setup = read_setup(file)
        if not setup.faces:
            raise refusal(
                f"{file}: faces", "(none)", "the switch listens nowhere", "add [faces.scpi]"
            )
        asyncio.run(_serve(setup))


@commands.command()
def show(target: TargetOf, credentials: Secrets = None, json: Json = False) -> None:
    """Show the description of a switch, its cross-connects, and its ports in use."""
    from lightloom.switches.protocol import before_a_change

    with _opened(target, credentials) as found:
        with before_a_change():
            about, reading, power = found.describe(), found.read(), found.power()
        if json:
            failed_ports = {"failed_ports": _failed(reading)}
            console.print_json(_described(about) | failed_ports | _listed(reading, power))
            return
        for name, value in _told(about).items():
            console.say(f"{name:15}{value}")
        if failed := _failed(reading):
            console.say(f"{'failed ports':15}{', '.join(failed)}")
        console.say("")
        _print_cross_connects(reading, power)


@commands.command()
def read(target: TargetOf, credentials: Secrets = None, json: Json = False) -> None:
    """Print the cross-connects of a switch, one per line."""
    from lightloom.switches.protocol import before_a_change

    with _opened(target, credentials) as found:
        with before_a_change():
            reading = found.read()
        if json:
            console.print_json(_listed(reading, None))
            return
        for one in reading.cross_connects:
            status = "" if one.status is None else f" {one.status.value}"
            stale = "" if one.configured else " stale"
            console.say(f"{one.pair[0]}A-{one.pair[1]}B{status}{stale}")


@commands.command()
def change(
    target: TargetOf,
    add: Add = None,
    remove: Remove = None,
    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="All requested cross-connects: a plan or a list."),
    ] = None,
    credentials: Secrets = None,
    wait: Wait = 60.0,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Create and delete cross-connects, and wait until they have settled."""
    from lightloom.cli.switch_test import check_wait
    from lightloom.switches.feasibility import check_change
    from lightloom.switches.ports import read_pairs
    from lightloom.switches.protocol import before_a_change, difference
    from lightloom.switches.stored import read_wanted

    with console.guarded():
        check_wait(wait)
    with _opened(target, credentials) as found:
        new, gone = read_pairs("--add", add or []), read_pairs("--remove", remove or [])
        if to is None and not new and not gone:
            raise refusal("--add", "(missing)", "no change is given", "name cross-connects")
        if to is not None and (new or gone):
            limit = "it lists all cross-connects"
            raise refusal("--to", to, limit, "leave --add and --remove out")
        with before_a_change():
            size, reading = found.describe().size, found.read()
        if to is not None:
            new = read_wanted(to)
            gone = [pair for pair in reading.pairs if pair not in new]
        keys = ("--remove", "--add") if to is None else ("--to", f"--to {to}")
        check_change(size, reading, gone, new, keys)
        going, coming, kept = difference(reading, gone, new)
        if not json:
            print_change(going, coming, kept)
        if (going or coming) and not yes and not confirmed(target):
            raise typer.Exit(console.EXIT_FAILED)
        done = found.change(gone, new, wait_s=wait)
        print_outcome(done, json=json)
        check_lit(found, reading, done)


@commands.command("test")
def run_test(
    targets: Annotated[
        list[str],
        typer.Argument(metavar="TARGET…", help="One or more addresses, as for `switch show`."),
    ],
    credentials: Secrets = None,
    wait: Wait = 60.0,
    bulk: Annotated[
        int, typer.Option(metavar="N", help="Number of cross-connects in the bulk.")
    ] = 512,
    faults: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The command face of an emulated switch: test reboots, too; with --plan, count "
            "packets.",
        ),
    ] = None,
    plan: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Change between two plans or more under traffic, instead of the other checks. "
            "Repeat for each.",
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(metavar="N", help="With --plan: number of changes to each; 5 by default."),
    ] = None,
    client: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="With --plan: a program that runs in parallel, such as iperf3; its end and its "
            "last line are shown.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Test a switch and its driver: conformance, switching time, change under light and traffic.

    It uses only free ports, or those of the plans, and deletes the cross-connects that it has
    created. Several targets, such as all faces of one switch, are tested in turn and shown in one
    table.
    """
    from lightloom.cli import switch_test

    asked = switch_test.Asked(credentials, wait, bulk, faults, plan or [], rounds, client)
    with console.guarded():
        switch_test.check(asked)
    found = {}
    for target in targets:
        if len(targets) > 1 and not json:
            console.say(target)
        with _opened(target, credentials) as opened:
            found[target] = switch_test.run(opened, target, asked, say=not json)
    switch_test.report(found, json=json)


async def _serve(setup: Setup) -> None:
    """Serves until SIGINT or SIGTERM, and prints the addresses."""
    from lightloom.switches.server import serving

    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    host = f"[{setup.listen}]" if ":" in setup.listen else setup.listen
    async with serving(setup) as (_, ports):
        for kind, port in ports.items():
            console.say(f"{kind:8} {host}:{port}")
        size = setup.design.size
        console.say(f"{setup.design.name}: {size} ports; Ctrl-C ends it")
        sys.stdout.flush()
        await over.wait()


@contextmanager
def _opened(target: str, credentials: Path | None) -> Iterator[CircuitSwitch]:
    """Opens the driver of an address; its errors end the command with exit code 1."""
    from lightloom.switches.protocol import SwitchError, before_a_change
    from lightloom.switches.targets import open_target

    with console.guarded():
        try:
            with before_a_change():
                found = open_target(target, credentials)
            try:
                yield found
            finally:
                found.close()
        except SwitchError as problem:
            console.stop(problem_text(problem), console.EXIT_FAILED)


def problem_text(problem: Any) -> str:
    """Formats an error of a switch, with the steps that had been done."""
    done = problem.done
    if done is None:
        return f"{problem} (its effect is not known)"
    if not (done.added or done.removed):
        return f"{problem} (nothing was changed)"
    return f"{problem} ({len(done.removed)} deleted, {len(done.added)} created)"


def confirmed(target: str) -> bool:
    """Whether the user confirms.

    Raises:
        ConfigError: if standard input is not a terminal.
    """
    if not sys.stdin.isatty():
        limit = "standard input is no terminal, so the command cannot ask"
        raise refusal("--yes", "(missing)", limit, "give --yes to change it")
    return typer.confirm(f"Change {target}?", err=True)


def check_lit(switch: CircuitSwitch, reading: Reading, done: Outcome) -> None:
    """Ends the command with exit code 1 if a cross-connect that was kept carries no light.

    Raises:
        SwitchError: if the switch does not answer.
    """
    from lightloom.switches.ports import name_of
    from lightloom.switches.protocol import SwitchError
    from lightloom.switches.waiting import find_dark

    try:
        dark = find_dark(switch, reading, done.kept)
    except SwitchError as problem:
        raise SwitchError(str(problem), done) from None
    if dark:
        first = min(dark)
        remedy = "look at its ports, or delete it and create it again"
        console.stop(f"{name_of(first)} is {dark[first]}; {remedy}", console.EXIT_FAILED)


def print_change(going: Any, coming: Any, kept: Any) -> None:
    """Prints the effect of a change."""
    from lightloom.switches.ports import name_of

    for verb, pairs in (("delete", going), ("create", coming)):
        for pair in pairs:
            console.say(f"{verb} {name_of(pair)}")
    console.say(f"{len(going)} to delete, {len(coming)} to create, {len(kept)} to keep")


def print_outcome(done: Outcome, *, json: bool = False) -> None:
    """Prints the result of a change."""
    from lightloom.switches.ports import name_of

    if json:
        table = {key: [*map(name_of, getattr(done, key))] for key in ("removed", "added", "kept")}
        console.print_json({**table, "settled": done.settled, "seconds": done.seconds})
        return
    if not (done.added or done.removed):
        console.say("nothing changed")
        return
    settled = "settled" if done.settled else "the interface does not report whether it settled"
    console.say(f"changed in {formats.seconds(done.seconds)}; {settled}")


def _described(about: Any) -> dict[str, Any]:
    settle = about.settle_ps
    return {
        "target": about.target,
        "dialect": about.dialect,
        "model": about.model,
        "ports": str(about.size) if about.reports_size else None,
        "settling": None if settle is None else formats.seconds(settle * 1e-12),
        "bidirectional": about.bidirectional,
        "status": about.reports_status,
        "power": about.reports_power,
    }


def _told(about: Description) -> dict[str, str]:
    """The properties of a switch and of its interface, as text."""
    directions = {
        True: "one cross-connect carries light both ways",
        False: "light goes from A to B",
        None: "not reported",
    }
    reported = {True: "reported", False: "not reported"}
    found = _described(about)
    return {
        **{name: found[name] or "-" for name in ("target", "dialect", "model")},
        "ports": found["ports"] or "not reported",
        "settling time": found["settling"] or "not reported",
        "direction": directions[about.bidirectional],
        "states": reported[about.reports_status],
        "power": reported[about.reports_power],
    }


def _failed(reading: Reading) -> list[str]:
    """The ports that have failed, by name."""
    from lightloom.switches.states import PortStatus

    ports = reading.ports
    return [str(port) for port in sorted(ports) if ports[port] is PortStatus.FAILED]


def _listed(reading: Reading, power: Any) -> dict[str, Any]:
    from lightloom.switches.ports import Port

    rows = []
    for one in reading.cross_connects:
        rows.append(
            {
                "a": one.pair[0],
                "b": one.pair[1],
                "name": one.name,
                "status": one.status,
                "reason": one.reason,
                "stale": not one.configured,
                "output_dbm": (power or {}).get(Port("B", one.pair[1])),
            }
        )
    return {"cross_connects": rows}


def _print_cross_connects(reading: Reading, power: Any) -> None:
    rows = _listed(reading, power)["cross_connects"]
    if not rows:
        console.say("no cross-connects")
        return
    table = console.plain_table()
    for name in ("cross-connect", "status", "reason", "output"):
        table.add_column(name, justify="right" if name == "output" else "left")
    for row in rows:
        output = "-" if row["output_dbm"] is None else f"{row['output_dbm']:.2f} dBm"
        status = str(row["status"] or "-") + (" (stale)" if row["stale"] else "")
        name = f"{row['a']}A-{row['b']}B"
        table.add_row(*map(Text, (name, status, row["reason"] or "-", output)))
    console.out().print(table)
