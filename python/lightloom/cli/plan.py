"""`plan`: circuits or a schedule from a demand matrix."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from lightloom import console
from lightloom.errors import ConfigError, refusal

if TYPE_CHECKING:
    from lightloom.control.plans import Plan
    from lightloom.control.proofs import AssignmentProof, MatchingProof

ROWS = 8
"""Circuits or slots that are printed."""
OPTIONS = {"up": "hysteresis"}
"""What an argument of the Python function is called here, where that differs."""
PERIOD = (
    "bvn, eclipse, round-robin: how long the schedule lasts (what the busiest port needs "
    "and a quarter, at least 5 nights a slot); hydra: in which time a circuit carries its "
    "demand (what the heaviest pair takes)."
)


def _option(text: str, metavar: str | None = None, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=text)


Time = "TIME"


def plan(
    demand: Annotated[
        Path, typer.Argument(metavar="DEMAND", help="A matrix: .csv, .npy or .parquet.")
    ],
    algorithm: Annotated[str, _option("One of the names above.", "NAME", "--algorithm", "-a")],
    out: Annotated[
        Path | None, _option("Write the plan as JSON.", "FILE.json", "--out", "-o")
    ] = None,
    picture: Annotated[
        Path | None, _option("Draw demand and plan, as FILE.svg, .pdf or .png.", "FILE")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON only.")] = False,
    unit: Annotated[
        str, _option('What one of the matrix\'s numbers stands for, like "1 MB".', "BYTES")
    ] = "1 B",
    rate: Annotated[str | None, _option('Of a circuit, like "100 Gb/s" (10 Gb/s).', "RATE")] = None,
    night: Annotated[
        str | None, _option('Darkness at the start of each slot, like "20 us" (10 us).', Time)
    ] = None,
    period: Annotated[
        str | None,
        _option(PERIOD, Time),
    ] = None,
    day: Annotated[
        str | None, _option("round-robin: how long each slot is lit, instead.", Time)
    ] = None,
    shortest: Annotated[
        str | None, _option("bvn, eclipse: no shorter slot, night included (5 nights).", Time)
    ] = None,
    max_slots: Annotated[
        int | None, _option("bvn, eclipse: no more slots (1000; eclipse 256).", "N")
    ] = None,
    scaling: Annotated[
        str | None, _option("bvn: how demand is scaled (sinkhorn).", "sinkhorn|quickstuff")
    ] = None,
    packet_rate: Annotated[
        str | None,
        _option("solstice: of the packet network beside the circuits (none).", "RATE"),
    ] = None,
    step: Annotated[
        float | None, _option("eclipse: how fine days are tried (0.1).", "FLOAT")
    ] = None,
    planes: Annotated[int | None, _option("hydra: parallel switches (4).", "N")] = None,
    ports: Annotated[int | None, _option("hydra: ports of a rack on each plane (1).", "N")] = None,
    radix: Annotated[int | None, _option("hydra: ports of each switch (enough).", "N")] = None,
    hops: Annotated[int | None, _option("hydra: the most circuits of a path (4).", "N")] = None,
    without_ports: Annotated[
        bool,
        typer.Option("--without-ports", help="hydra: go on when no port is free any more."),
    ] = False,
    vlans: Annotated[
        bool, typer.Option("--vlans", help="hydra: put every path on a VLAN, few as can be.")
    ] = False,
    symmetric: Annotated[
        bool,
        typer.Option("--symmetric", help="edmonds: entries are weights of undirected circuits."),
    ] = False,
    hysteresis: Annotated[
        Path | None,
        _option(
            "edmonds: circuits that are up, to be kept among equals: a plan, or a list of "
            'pairs, as in [[0, 1], [2, 3]] or [["a", "b"]]; nodes are found by name.',
            "CURRENT.json",
        ),
    ] = None,
    bonus: Annotated[
        str | None,
        _option("edmonds: how much more a circuit of --hysteresis counts.", "BYTES"),
    ] = None,
) -> None:
    """Plan circuits or a schedule for a demand matrix.

    \b
    edmonds      circuits that stay, both ways, and a proof that none carry more
    assignment   the same, each way by itself
    hydra        circuits on several switches, and paths over them
    bvn          a schedule in which time follows demand
    solstice     a schedule that serves everything soon, packets beside it
    eclipse      a schedule that carries what a greedy choice can in a period
    round-robin  a schedule in which every pair has its turn, whatever the demand

    Defaults are in parentheses; options that an algorithm does not have are refused.
    """
    with console.guarded():
        from lightloom.control.plans import write

        given = {
            "rate": rate,
            "night": night,
            "period": period,
            "day": day,
            "shortest": shortest,
            "max_slots": max_slots,
            "scaling": scaling,
            "packet_rate": packet_rate,
            "step": step,
            "planes": planes,
            "ports": ports,
            "radix": radix,
            "hops": hops,
            "without_ports": without_ports or None,
            "vlans": vlans or None,
            "symmetric": symmetric or None,
            "up": hysteresis,
            "bonus": bonus,
        }
        options = {key: value for key, value in given.items() if value is not None}
        _check_outputs(demand, out, picture)
        with _working(json):
            made = _make(demand, algorithm, unit, options)
            files = {} if out is None else {out: made.text().encode()}
            if picture is not None:
                files[picture] = made.drawn(picture.suffix.lower())
            written = write(files)
        if json:
            typer.echo(made.text(), nl=False)
            return
        _print(made, demand, "" if out else "; -o FILE.json writes them")
        if written:
            console.say("wrote " + " ".join(map(str, written)))


def _working(json: bool) -> AbstractContextManager[object]:
    """A sign of life on terminals."""
    screen = console.err()
    return screen.status("planning") if screen.is_terminal and not json else nullcontext()


def _check_outputs(demand: Path, out: Path | None, picture: Path | None) -> None:
    """Refuses files that cannot be written, before anything is computed."""
    from lightloom.control.plans import PICTURES

    for option, path in (("-o", out), ("--picture", picture)):
        if path is not None and path.is_dir():
            raise refusal(option, path, "is a directory", "name a file")
        if path is not None and path.exists() and demand.exists() and path.samefile(demand):
            raise refusal(option, path, "is the demand itself", "name another file")
        if path is not None:
            console.check_output(path.parent)
    if picture is not None and picture.suffix.lower() not in PICTURES:
        limit, remedy = "its name does not tell the format", f"use {', '.join(PICTURES)}"
        raise refusal("--picture", picture, limit, remedy)
    if out is not None and out == picture:
        raise refusal("--picture", picture, "is the file of -o, too", "name two files")


def _make(path: Path, algorithm: str, unit: str, options: dict[str, Any]) -> Plan:
    """Reads what is named, and plans."""
    from lightloom import _core
    from lightloom.control.current import read_circuits
    from lightloom.control.files import placed, read_demand
    from lightloom.control.planners import check_options, plan

    try:
        check_options(algorithm, options)
        if "bonus" in options and "up" not in options:
            limit = "no --hysteresis says which circuits it would count for"
            raise refusal("bonus", options["bonus"], limit, "name them, or leave it out")
        if "bonus" in options:
            options["bonus"] = _core.control_bytes("bonus", options["bonus"])
        demand = read_demand(path, unit=unit)
        if "up" in options:
            options["up"] = read_circuits(options["up"], demand)
    except ConfigError as problem:
        raise _flagged(problem) from None
    try:
        return plan(demand, algorithm, **options)
    except ConfigError as problem:
        of_demand = (problem.key or "").startswith("demand")
        raise placed(path, problem, demand.place) if of_demand else _flagged(problem) from None


def _flagged(problem: ConfigError) -> ConfigError:
    """The same refusal, its option named as it is written on the command line."""
    from lightloom.control.planners import ALGORITHMS, parameters

    known = {"algorithm", "unit"}.union(*map(parameters, ALGORITHMS))
    key = (problem.key or "").partition("[")[0]
    if key not in known:
        return problem
    flag = "--" + OPTIONS.get(key, key).replace("_", "-")
    return refusal(flag, problem.value, problem.limit or "", problem.remedy or "")


def _print(made: Plan, path: Path, hint: str) -> None:
    """The figures, and the first circuits or slots."""
    matrix = made.demand.matrix
    pairs, total = int((matrix > 0).sum()), console.size(int(matrix.sum()))
    console.say(f"{path.name}: {len(matrix):,} nodes, {pairs:,} pairs, {total}")
    facts = console.plain_table()
    facts.show_header = False
    facts.add_column(style="bold")
    facts.add_column()
    for name, text in _facts(made).items():
        facts.add_row("  " + name, text)
    console.out().print(facts)
    console.say("")
    left, what = _print_circuits(made) if made.schedule is None else _print_slots(made)
    if left > 0:
        console.say(f"and {left:,} more {what}{hint}")


def _facts(made: Plan) -> dict[str, str]:
    figures = made.figures
    share = f"{console.size(figures['carried_bytes'])}, {_percent(figures['coverage'])}"
    facts = {made.algorithm: _what(made)}
    if "topology" in made.details:
        facts |= _served(made)
    elif figures["weight"] is not None:
        facts["weight"] = f"{share} of the demand"
    elif figures["duty_cycle"] is not None:
        facts["duty cycle"] = f"{figures['duty_cycle']:.4f}"
        facts["carried"] = f"{share} of the demand in one period"
    if made.proof is not None:
        facts["optimum"] = _proved(made, made.proof)
    elif figures["objective"] == "completion_ps":
        soon = console.seconds(figures["completion_ps"] * 1e-12)
        ratio = figures["completion_ps"] / figures["bound"]
        facts["all served"] = f"after {soon}, at most {ratio:.3f} x the optimum"
    elif figures["optimal"]:
        facts["optimum"] = "reached: nothing carries more in this period"
    elif figures["bound"]:
        ratio = figures["carried_bytes"] / figures["bound"]
        facts["bound"] = f"{console.size(figures['bound'])}: at least {ratio:.3f} x the optimum"
    if "kept" in made.details:
        facts["kept"] = f"{made.details['kept']} of {len(made.options['up'])} circuits"
    return facts


def _served(made: Plan) -> dict[str, str]:
    """What multihop paths serve."""
    topology, figures = made.details["topology"], made.figures
    served, hops = topology.served, topology.hops
    share = f"{console.size(figures['carried_bytes'])}, {_percent(figures['coverage'])}"
    mean = hops[served].mean() if served.any() else 0
    facts = {
        "carried": f"{share} of the demand in {made.options['period']}",
        "pairs": f"{served.sum():,} of {len(served):,} served, over {mean:.2f} hops on average",
    }
    if "vlans" in made.details:
        found = made.details["vlans"]
        facts["VLANs"] = f"{len(found.members):,}, at least {found.lower_bound:,} are needed"
    return facts


def _what(made: Plan) -> str:
    if made.details.get("topology") is not None:
        planes = _count(made.options["planes"], "plane")
        return f"{_count(made.figures['circuits'], 'circuit')} on {planes}"
    if made.schedule is None:
        return _count(made.figures["circuits"], "circuit")
    length = console.seconds(made.schedule.period_ps * 1e-12)
    night = console.seconds(made.schedule.night_ps * 1e-12)
    nights = f"nights of {night}" if made.schedule.night_ps else "no nights"
    return f"{_count(made.schedule.slots, 'slot')} in {length}, {nights}"


def _proved(made: Plan, proof: MatchingProof | AssignmentProof) -> str:
    from lightloom.control.proofs import MatchingProof

    problem = proof.problem()
    if problem is not None:
        return f"NOT proved: {problem}"
    text = f"proved: dual bound = weight = {proof.bound:,}"
    if isinstance(proof, MatchingProof):
        text += f" ({len(proof.y):,} duals, {len(proof.blossoms):,} odd sets)"
    if made.figures["weight"] != proof.bound:
        text += ", where circuits that are up count more"
    return text


def _print_circuits(made: Plan) -> tuple[int, str]:
    """The heaviest; returns how many are left, of what."""
    table = made.circuits
    if table is None:
        return 0, "circuits"
    rows = console.plain_table()
    rows.add_column("from" if table.directed else "circuit")
    rows.add_column("to" if table.directed else "")
    if table.plane is not None:
        rows.add_column("plane", justify="right")
    rows.add_column("carries", justify="right")
    order = sorted(range(len(table)), key=lambda at: (-table.carried[at], at))
    for at in order[:ROWS]:
        ends = [_node(made, table.a[at]), _node(made, table.b[at])]
        ends += [] if table.plane is None else [str(table.plane[at])]
        rows.add_row(*map(Text, ends), console.size(int(table.carried[at])))
    console.out().print(rows)
    return len(table) - ROWS, "circuits"


def _print_slots(made: Plan) -> tuple[int, str]:
    """The first; returns how many are left, of what."""
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
        shown = [f"{_node(made, i)}>{_node(made, outputs[i])}" for i in most if sent[i]]
        rows.add_row(
            str(slot),
            console.seconds(int(schedule.starts_ps[slot]) * 1e-12) if slot else "0 s",
            console.seconds(int(schedule.days_ps[slot]) * 1e-12),
            console.size(int(sent.sum())),
            Text("  ".join(shown)),
        )
    console.out().print(rows)
    return schedule.slots - ROWS, "slots"


def _node(made: Plan, node: int) -> str:
    return made.demand.names[node] if made.demand.names else str(node)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
