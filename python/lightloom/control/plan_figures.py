"""Descriptions of a plan: its kind, the demand that it carries, and its quality."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lightloom.control.proofs import AssignmentProof, MatchingProof
from lightloom.units import formats
from lightloom.units.counts import counted

if TYPE_CHECKING:
    from lightloom.control.plans import Plan


def title(plan: Plan) -> str:
    """Returns the kind, the size and the quality of a plan on one line."""
    figures = plan.figures
    share = f"{100 * figures['coverage']:.1f} % of the demand"
    if plan.schedule is not None:
        count = f"{plan.schedule.slots} slots" if plan.schedule.slots != 1 else "1 slot"
        length = formats.seconds(plan.schedule.period_ps * 1e-12)
        duty = f"duty cycle {figures['duty_cycle']:.3f}"
        return f"{plan.algorithm}: {count} in {length}, {duty}, {share} carried"
    best = ", which is the optimum" if figures["optimal"] else ""
    return f"{plan.algorithm}: {figures['circuits']} circuits for {share}{best}"


def figures_of_plan(made: Plan) -> dict[str, str]:
    """Returns label → figure as text."""
    figures = made.figures
    share = f"{formats.size(figures['carried_bytes'])}, {_percent(figures['coverage'])}"
    found = {made.algorithm: _what(made)}
    if "topology" in made.details:
        found |= _served(made)
    elif figures["weight"] is not None:
        found["weight"] = f"{share} of the demand"
    elif figures["duty_cycle"] is not None:
        found["duty cycle"] = _duty(figures["duty_cycle"])
        found["carried"] = f"{share} of the demand in one period"
    if made.proof is not None:
        found["optimum"] = _proved(made, made.proof)
    elif figures["objective"] == "completion_ps":
        soon = formats.seconds(figures["completion_ps"] * 1e-12)
        ratio = figures["completion_ps"] / figures["bound"]
        found["all served"] = f"after {soon}{_in_packets(made)}, at most {ratio:.3f} x the optimum"
    elif figures["optimal"]:
        found["optimum"] = "reached: nothing carries more in this period"
    elif figures["bound"]:
        ratio = figures["carried_bytes"] / figures["bound"]
        found["bound"] = f"{formats.size(figures['bound'])}: at least {ratio:.3f} x the optimum"
    if "rules" in made.details:
        found["rules"] = _rules(made.details["rules"])
    if "kept" in made.details:
        found["kept"] = f"{made.details['kept']} of {counted(len(made.options['up']), 'circuit')}"
    return found


def _in_packets(made: Plan) -> str:
    """The condition under which all demand is served by the completion time. A matrix shows neither
    packets nor the number of flows of a pair, each of which may end with a partial packet."""
    packet = made.options.get("packet")
    return "" if packet is None else f" in packets of {packet}, with one flow per pair"


def _duty(share: float) -> str:
    """Formats a duty cycle with as many digits as distinguish it from 1 if there are nights.

    >>> _duty(1.0), _duty(0.75), _duty(0.99996)
    ('1', '0.7500', '0.99996')
    """
    if share == 1:
        return "1"
    digits = max(4, math.ceil(-math.log10(1 - share))) if share else 4
    return f"{share:.{digits}f}"


def _served(made: Plan) -> dict[str, str]:
    """The figures of multihop paths."""
    topology, figures = made.details["topology"], made.figures
    served, hops = topology.served, topology.hops
    share = f"{formats.size(figures['carried_bytes'])}, {_percent(figures['coverage'])}"
    mean = hops[served].mean() if served.any() else 0
    facts = {
        "carried": f"{share} of the demand in {formats.seconds(figures['period_ps'] * 1e-12)}",
        "paths": f"{served.sum():,} of {len(served):,} found, over {mean:.2f} hops on average",
    }
    few = made.details["below_threshold"]
    if few["pairs"]:
        below = f"{_count(few['pairs'], 'pair')} below {made.options['threshold']}"
        facts["electrical"] = f"{below}, {formats.size(few['bytes'])} in total"
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
    length = formats.seconds(made.schedule.period_ps * 1e-12)
    night = formats.seconds(made.schedule.night_ps * 1e-12)
    nights = f"nights of {night}" if made.schedule.night_ps else "no nights"
    return f"{_count(made.schedule.slots, 'slot')} in {length}, {nights}"


def _proved(made: Plan, proof: MatchingProof | AssignmentProof) -> str:
    problem = proof.problem()
    if problem is not None:
        return f"NOT proved: {problem}"
    bound = made.figures["bound"]
    text = "proved: dual bound = weight"
    if bound is not None:
        text += f" = {bound:,}"
    if isinstance(proof, MatchingProof):
        text += f" ({counted(len(proof.y), 'dual')}, {counted(len(proof.blossoms), 'odd set')})"
    if bound is None:
        text += ", with a bonus for lit circuits"
    return text


def _rules(table: dict[str, Any]) -> str:
    """Describes rules on one line."""
    pinned, apart, down = (len(table[key]) for key in ("pin", "forbid", "down"))
    parts = [
        f"{pinned} pinned" if pinned else "",
        f"{apart} {'pair' if apart == 1 else 'pairs'} kept apart" if apart else "",
        f"{down} {'port' if down == 1 else 'ports'} down" if down else "",
    ]
    return ", ".join(part for part in parts if part)


def carries(made: Plan) -> str:
    """Describes `CircuitTable.carried` for the plan."""
    if "topology" in made.details:
        return "reserved each way"
    return "carries" if made.circuits is None or made.circuits.directed else "carries both ways"


def node(made: Plan, number: int) -> str:
    """The name of a node."""
    return made.demand.names[number] if made.demand.names else str(number)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
