"""What `plan` prints for people."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from lightloom import console
from lightloom.cli.plan_changes import show_change, told_rules

if TYPE_CHECKING:
    from lightloom.control.plans import Plan
    from lightloom.control.proofs import AssignmentProof, MatchingProof

ROWS = 8
"""Circuits or slots that are printed."""


def show(made: Plan, path: Path, hint: str) -> None:
    """The figures, and the first circuits or slots."""
    matrix = made.demand.matrix
    pairs, total = int((matrix > 0).sum()), console.size(int(matrix.sum()))
    name = "standard input" if str(path) == "-" else path.name
    console.say(f"{name}: {len(matrix):,} nodes, {pairs:,} pairs, {total}")
    for line in () if made.demand.reading is None else made.demand.reading.lines():
        console.say(f"  {line}")
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
    if made.change is not None:
        show_change(made.change)


def _facts(made: Plan) -> dict[str, str]:
    figures = made.figures
    share = f"{console.size(figures['carried_bytes'])}, {_percent(figures['coverage'])}"
    facts = {made.algorithm: _what(made)}
    if "topology" in made.details:
        facts |= _served(made)
    elif figures["weight"] is not None:
        facts["weight"] = f"{share} of the demand"
    elif figures["duty_cycle"] is not None:
        facts["duty cycle"] = _duty(figures["duty_cycle"])
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
    if "rules" in made.details:
        facts["rules"] = told_rules(made.details["rules"])
    if "kept" in made.details:
        facts["kept"] = f"{made.details['kept']} of {len(made.options['up'])} circuits"
    return facts


def _duty(share: float) -> str:
    """As many digits as tell it from 1, where there are nights.

    >>> _duty(1.0), _duty(0.75), _duty(0.99996)
    ('1', '0.7500', '0.99996')
    """
    if share == 1:
        return "1"
    digits = max(4, math.ceil(-math.log10(1 - share))) if share else 4
    return f"{share:.{digits}f}"


def _served(made: Plan) -> dict[str, str]:
    """What multihop paths serve."""
    topology, figures = made.details["topology"], made.figures
    served, hops = topology.served, topology.hops
    share = f"{console.size(figures['carried_bytes'])}, {_percent(figures['coverage'])}"
    mean = hops[served].mean() if served.any() else 0
    facts = {
        "carried": f"{share} of the demand in {console.seconds(figures['period_ps'] * 1e-12)}",
        "paths": f"{served.sum():,} of {len(served):,} found, over {mean:.2f} hops on average",
    }
    few = made.details["below_threshold"]
    if few["pairs"]:
        below = f"{_count(few['pairs'], 'pair')} below {made.options['threshold']}"
        facts["electrical"] = f"{below}, {console.size(few['bytes'])} in all"
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
    bound = made.figures["bound"]
    text = "proved: dual bound = weight"
    if bound is not None:
        text += f" = {bound:,}"
    if isinstance(proof, MatchingProof):
        text += f" ({len(proof.y):,} duals, {len(proof.blossoms):,} odd sets)"
    if bound is None:
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
    rows.add_column(_carries(made), justify="right")
    joins = cross_connects(made)
    if joins:
        rows.add_column("ports")
    order = sorted(range(len(table)), key=lambda at: (-table.carried[at], at))
    for at in order[:ROWS]:
        ends = [_node(made, table.a[at]), _node(made, table.b[at])]
        ends += [] if table.plane is None else [str(table.plane[at])]
        ports = [joins[at]] if joins else []
        rows.add_row(*map(Text, ends), console.size(int(table.carried[at])), *ports)
    console.out().print(rows)
    return len(table) - ROWS, "circuits"


def cross_connects(made: Plan) -> dict[int, str]:
    """The ports of every circuit, as switches name cross-connects; empty without any."""
    from lightloom.control.wiring.lights import numbered_lights

    if made.wiring is None:
        return {}
    ports, found = made.wiring.ports, dict[int, str]()
    for at, light in numbered_lights(made):
        if light.ports is not None:
            joined = f"{ports.a_name(light.ports[0])}-{ports.b_name(light.ports[1])}"
            found[at] = f"{found[at]}  {joined}" if at in found else joined
    return found


def _carries(made: Plan) -> str:
    """What is said of each circuit: `CircuitTable.carried`."""
    if "topology" in made.details:
        return "reserved each way"
    return "carries" if made.circuits is None or made.circuits.directed else "carries both ways"


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
