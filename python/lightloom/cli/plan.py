"""`plan`: circuits or a schedule from a demand matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from lightloom import _core
from lightloom.cli import console
from lightloom.cli.demand_options import Columns, Estimate, Format, Hosts, Strict, Unit
from lightloom.cli.flags import Own, flagged, flagging, own_options
from lightloom.cli.plan_changes import Dark, Diff, Down, Forbid, Operator, Over, Pin
from lightloom.cli.plan_options import with_options
from lightloom.cli.plan_outputs import (
    As,
    Json,
    Out,
    Outputs,
    Picture,
    Plane,
    PortColumns,
    Ports,
    Save,
    Size,
    Slot,
    Undo,
)
from lightloom.cli.plan_switch import Apply, Applying, Yes, is_switch
from lightloom.errors import ConfigError, refusal
from lightloom.policies.files import is_file

if TYPE_CHECKING:
    from lightloom.control.plans import Plan

T = TypeVar("T")
OF_DEMAND = ("DEMAND", "--unit", "--format", "--map", "--columns", "--strict", "--estimate")
"""Arguments that select the demand."""


Matrix = Annotated[
    Path | None,
    typer.Argument(
        metavar="DEMAND",
        help="A matrix, records (src,dst,bytes), an export of flows, or series of Prometheus: "
        ".csv, .json, .npy or .parquet; - for standard input.",
    ),
]
Algorithm = Annotated[
    str | None,
    typer.Option("--algorithm", "-a", metavar="NAME", help="One of the names above."),
]
Log = Annotated[
    Path | None,
    typer.Option(
        metavar="LOG.jsonl",
        help="Instead of a matrix: replay the log of a controller (run.controller_log) with the "
        "policy, or with its own, and print the differences.",
    ),
]


@with_options
def plan(
    demand: Matrix = None,
    algorithm: Algorithm = None,
    replay: Log = None,
    out: Out = None,
    picture: Picture = None,
    json: Json = False,
    as_: As = None,
    port_map: Ports = None,
    port_columns: PortColumns = None,
    switch_size: Size = None,
    plane: Plane = None,
    slot: Slot = None,
    save: Save = False,
    undo: Undo = None,
    pin: Pin = None,
    forbid: Forbid = None,
    down: Down = None,
    diff: Diff = None,
    dark: Dark = None,
    over: Over = None,
    apply: Apply = False,
    yes: Yes = False,
    unit: Unit = None,
    format: Format = None,
    map: Hosts = None,
    columns: Columns = None,
    strict: Strict = False,
    estimate: Estimate = None,
    set_: Own = None,
    **given: Any,
) -> None:
    """Plan circuits or a schedule for a demand: one decision of a policy.

    POLICIES

    PATH:CLASS is a policy of your own in a Python file.
    """
    with console.guarded():
        options = {key: value for key, value in given.items() if value is not None}
        told = {"unit": unit, "format": format, "map": map, "columns": columns, "strict": strict}
        told["estimate"] = estimate
        written = {"port_map": port_map, "switch_size": switch_size, "plane": plane, "slot": slot}
        written |= {"port_columns": port_columns, "save": save}
        laid = {"pin": pin, "forbid": forbid, "down": down}
        change: dict[str, Any] = {"diff": diff, "over": over, "dark": dark}
        if replay is not None:
            others: dict[str, object] = {"DEMAND": demand, "-o": next(iter(out or ()), None)}
            others["--undo"] = next(iter(undo or ()), None)
            others |= _by_flag({"picture": picture, **told, "as": as_, **written, **change, **laid})
            others |= _by_flag({"apply": apply or None, "yes": yes or None})
            _check_replay(others, algorithm, set_ or [])
            _replay(replay, algorithm, options | own_options(set_ or [], algorithm or ""), json)
            return
        matrix, name = _named("DEMAND", demand), _named("--algorithm", algorithm)
        options |= own_options(set_ or [], name)
        outputs = Outputs.of(json, as_, out=out, undo=undo, picture=picture, **written)
        operator = Operator.of(**laid, **change)
        applying = Applying(diff if is_switch(diff) else None, apply, yes, plane)
        with flagging():
            reads = bool({"up", "circuits"} & options.keys()) or diff is not None
            outputs.check(matrix, reads=reads)
            operator.check()
        applying.check(port_map, outputs.alone)
        _plan(matrix, name, told, options, outputs, operator, applying)


def _plan(
    demand: Path,
    algorithm: str,
    told: dict[str, Any],
    options: dict[str, Any],
    outputs: Outputs,
    operator: Operator,
    applying: Applying,
) -> None:
    """Plans, writes the requested files, and prints."""
    from lightloom.storage.staging import write_files

    with _working(outputs.alone):
        made = _make(demand, algorithm, told, options, outputs, operator)
        with flagging():
            alone, files = outputs.printed(made), outputs.files(made)
        written = write_files(files)
    if alone is not None:
        read = made.demand.reading
        lost = () if read is None else (f"note: {line}" for line in read.losses())
        for line in (*lost, *outputs.notes(made), *operator.notes(made)):
            console.err().print(line, markup=False)
        typer.echo(alone, nl=False)
        return
    from lightloom.cli.plan_text import show

    show(made, demand, "" if outputs.out else "; -o FILE.json writes them")
    if outputs.out:
        for line in _night(made, options):
            console.say(line)
    for line in (*outputs.notes(made), *operator.notes(made)):
        console.say(line)
    if written:
        console.say("wrote " + " ".join(map(str, written)))
    applying.finish(made)


def _night(made: Plan, options: dict[str, Any]) -> Iterator[str]:
    """Notes the night of a written schedule if no option gives it."""
    if made.schedule is None or is_file(made.algorithm) or {"night", "schedule"} & options.keys():
        return
    night = _core.control_time_text(made.schedule.night_ps)
    bounded = "shortest" in made.options
    slots = ' --shortest "61 us"' if bounded else ""
    yield f"note: planned for a night of {night}; switches with longer ones refuse it"
    yield f'      (for Mordia give --night "11.5 us"{slots})'
    if not bounded:
        yield "      (it refuses slots under 61 us, which this algorithm may plan)"


def _named(option: str, value: T | None) -> T:
    """Returns a required value."""
    if value is None:
        raise refusal(option, "(missing)", "must be given", "see `lightloom plan --help`")
    return value


def _by_flag(options: Mapping[str, object]) -> dict[str, object]:
    """Returns options by their names on the command line; None for those that are not given."""
    flags = {f"--{key.replace('_', '-')}": value for key, value in options.items()}
    return {flag: None if value is False else value for flag, value in flags.items()}


def _check_replay(others: Mapping[str, object], algorithm: str | None, set_: list[str]) -> None:
    """Raises an error for options that have no effect on a replay."""
    for option, value in others.items():
        if value is not None:
            limit = "a replay prints its result"
            if option in OF_DEMAND:
                limit = "a replay has the demand of its log, in bytes"
            raise refusal(option, value, limit, "leave it out")
    if set_ and algorithm is None:
        limit = "the log's own policy has its options"
        raise refusal("--set", f'"{set_[0]}"', limit, "name a policy with --algorithm")


def _replay(log: Path, algorithm: str | None, options: dict[str, Any], json: bool) -> None:
    """Replays a log with a policy, and prints the result."""
    from lightloom.cli.replay import show
    from lightloom.control.replays import replay

    with flagging(), _working(json):
        made = replay(log, algorithm, **options)
    if json:
        console.print_json(made)
    else:
        show(made, log, algorithm)


@contextmanager
def _working(json: bool) -> Iterator[None]:
    """Shows activity on terminals; the output of policies meanwhile goes to standard error."""
    screen = console.err()
    status = screen.status("planning") if screen.is_terminal and not json else nullcontext()
    with console.aside(), status:
        yield


def _make(
    path: Path,
    algorithm: str,
    told: dict[str, Any],
    options: dict[str, Any],
    outputs: Outputs,
    operator: Operator,
) -> Plan:
    """Reads the named files, and plans."""
    from lightloom.control.current import read_circuits
    from lightloom.control.files import placed, read_demand
    from lightloom.control.lit import Ports
    from lightloom.control.planned import read_schedule
    from lightloom.control.planners import plan
    from lightloom.control.wiring import names_of
    from lightloom.policies.registry import find

    with flagging():
        policy = find(algorithm)
        policy.check(algorithm, options)
        if "bonus" in options and "up" not in options:
            limit = "has no effect without --hysteresis, which names the lit circuits"
            raise refusal("bonus", options["bonus"], limit, "name them, or leave it out")
        ports = outputs.port_map(policy, options)
        demand = read_demand(path, **told)
        rules = operator.rules(demand, policy, options, ports)
        if ports is not None:
            ports.require(names_of(demand), down=rules.down)
        for key in {"up", "circuits"} & options.keys():
            options[key] = read_circuits(
                options[key],
                demand,
                on_planes=key == "circuits",
                ports=Ports(ports, outputs.plane),
                directed=options.get("directed") is True,
            )
        if "schedule" in options:
            options["schedule"] = read_schedule(options["schedule"], demand)
    try:
        old = None
        if operator.diff is not None and "up" in policy.options and "up" not in options:
            old = operator.old(demand, ports, outputs.plane, directed=False)
            operator.keep_lit(demand, options, old, outputs.plane or 0)
        made = plan(demand, algorithm, rules=rules, **options)
        return operator.finished(made, ports, outputs.plane, old)
    except ConfigError as problem:
        of_demand = (problem.key or "").startswith("demand")
        raise placed(path, problem, demand.place) if of_demand else flagged(problem) from None
