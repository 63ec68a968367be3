"""What to know of a run before its circuits are judged: whether it lasted long enough
for any, how often they were decided on, and whether they carry more than the tree beside them.

Told from the resolved experiment, the time at which the run ended and whether a
circuit was ever lit and used. Any fabric with the keys that are read here is understood; no
fabric is named. Faults are not looked at: they can only make circuits later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.config import networks
from lightloom.results.columns import numbers
from lightloom.units.formats import rate, seconds

if TYPE_CHECKING:
    from lightloom.results.result import Result

Table = Mapping[str, Any]

#: What passes at the least before the first decision, and then until circuits are lit, by key.
UNTIL_DECIDED = ("interval", "computation_delay")
UNTIL_LIT = ("reconfiguration_delay", "settle", "link_up")
#: The order of a change in which routes are installed while circuits come up.
ROUTED = "three-substeps"

#: Policies that decide the same at every interval, whatever there is to send.
STANDING = ("fixed", "rotation")

#: How to make a run last that did not end at a given time, by `run.stop`.
OTHERWISE = {
    "last-arrival": "set run.stop to a longer time",
    "drain": "offer traffic for longer",
    "measured": "lengthen run.measure",
}


def notes(result: Result) -> Iterator[str]:
    """What weakens the figures of one run of a fabric with circuits; nothing for others."""
    if result.circuits is not None:
        yield from slow_circuits(result.experiment, result.experiment["fabric"][0])


def leading_notes(result: Result) -> Iterator[str]:
    """What is printed before the figures of a run: that its circuits had too little time, or that
    they were decided on once or never."""
    if result.circuits is not None:
        fabric, summary = result.experiment["fabric"][0], result.summary
        lit, carried = result.circuits.num_rows > 0, bool(summary.get("circuit_share"))
        ended_s, arrived_s = summary["simulated_s"], _arrived_s(result)
        yield from doubts(result.experiment, fabric, ended_s, lit, carried, arrived_s)


def doubts(
    experiment: Table,
    fabric: Table,
    ended_s: float,
    lit: bool,
    carried: bool,
    arrived_s: float | None = None,
) -> Iterator[str]:
    """The same from its parts: the resolved experiment and the fabric's table of it, when the run
    ended [s], whether a circuit was ever lit, and carried anything, and when the last flow arrived
    [s], if flows arrive at times of their own."""
    if "interval" not in fabric:
        return
    short = list(_too_short(experiment, fabric, ended_s, lit, carried))
    yield from short
    rare = rare_decisions(fabric, ended_s, arrived_s)
    if rare is not None and not short:
        yield f"{rare}; shorten fabric.interval, or {rare.longer(experiment)}"


@dataclass(frozen=True)
class RareDecisions:
    """A policy that decides on circuits once or never, or when all flows have arrived."""

    interval_ps: int
    ended_s: float
    decisions: int
    """How many are in force before the run ends."""
    arrived_s: float | None
    """When the last flow arrived, if no decision is in force before; else None."""

    def __str__(self) -> str:
        return f"the policy {self.often}: {self.why}"

    @property
    def often(self) -> str:
        """How often, as a verb: `decides once`."""
        if self.decisions == 0:
            return "never decides on circuits"
        if self.arrived_s is not None:
            return "first decides on circuits when all flows have arrived"
        return "decides on circuits once"

    @property
    def why(self) -> str:
        """The interval, and what is too short for it."""
        interval = f"fabric.interval is {_core.control_time_text(self.interval_ps)}"
        if self.decisions and self.arrived_s is not None:
            return f"{interval}, and the last flow arrives after {seconds(self.arrived_s)}"
        return f"{interval}, and the run ends after {seconds(self.ended_s)}"

    def longer(self, experiment: Table) -> str:
        """How to give the policy more time."""
        if self.decisions and self.arrived_s is not None:
            return "offer traffic for longer"
        return _longer(experiment, self.ended_s)


def rare_decisions(
    fabric: Table, ended_s: float, arrived_s: float | None = None
) -> RareDecisions | None:
    """A policy that decides once or never before the run ends [s], or only after the last flow
    arrived [s]; None where it decides more often, or always decides the same.

    >>> fabric = {"interval": "1 s"}
    >>> [getattr(rare_decisions(fabric, end), "decisions", None) for end in (1.0, 1.5, 2.0, 2.5)]
    [0, 1, 1, None]
    >>> print(rare_decisions(fabric, 9.0, arrived_s=0.25).often)
    first decides on circuits when all flows have arrived
    """
    policy = fabric.get("policy")
    kind = policy.get("kind") if isinstance(policy, Mapping) else policy
    if "interval" not in fabric or kind in STANDING:
        return None
    interval = _core.control_time("fabric.interval", fabric["interval"])
    decided, ended = decided_ps(fabric), _ps(ended_s)
    # A decision that takes longer than the interval delays the next.
    apart = max(interval, decided - interval)
    # One at the very end has no effect.
    decisions = 0 if ended <= decided else 1 + (ended - 1 - decided) // apart
    late = arrived_s is not None and _ps(arrived_s) <= decided
    if decisions > 1 and not late:
        return None
    return RareDecisions(interval, ended_s, decisions, arrived_s if late else None)


def _arrived_s(result: Result) -> float | None:
    """When the last flow arrived [s]; None where all arrive at once or wait for each other."""
    arrivals = numbers(result.flows["arrival_ps"])
    if result.summary.get("load_offered") is None or not arrivals.size:
        return None
    return min(float(arrivals.max()) * 1e-12, float(result.summary["simulated_s"]))


def _too_short(
    experiment: Table, fabric: Table, ended_s: float, lit: bool, carried: bool
) -> Iterator[str]:
    """Says that a run ended before any circuit could be lit, or before traffic could enter."""
    cluster = experiment.get("cluster", {})
    ended, decided = _ps(ended_s), decided_ps(fabric)
    remedy = f"{_longer(experiment, ended_s)}, or shorten"
    if not lit and ended <= soonest_ps(fabric):
        after = ""
        if later := soonest_ps(fabric) - decided:
            after = f", and lit {_core.control_time_text(later)} later"
        yield (
            f"the run ended after {seconds(ended_s)}, before any circuit could be lit: they are "
            f"first decided on after {_core.control_time_text(decided)}{after}; {remedy} "
            "fabric.interval"
        )
    elif lit and not carried and ended <= soonest_used_ps(cluster, fabric):
        later = soonest_used_ps(cluster, fabric) - decided
        yield (
            f"the run ended after {seconds(ended_s)}, before any traffic could enter a circuit: "
            f"they are first decided on after {_core.control_time_text(decided)}, and routes over "
            f"them are installed {_core.control_time_text(later)} later; {remedy} fabric.interval, "
            "fabric.retag or fabric.rule"
        )


def slow_circuits(experiment: Table, fabric: Table) -> Iterator[str]:
    """Says that circuits carry no more than the tree beside them: all of a rack together, or each
    alone; of a resolved experiment and the fabric's table of it."""
    tree = networks.tree_rate(experiment.get("cluster", {}), fabric)
    circuit, planes = networks.circuit_rate(fabric), fabric.get("planes", 1)
    if circuit is None or tree is None:
        return
    if circuit * planes <= tree:
        yield (
            f"all circuits of a rack carry {rate(circuit * planes)}, the tree beside them carries "
            f"{rate(tree)} for it: circuits are no faster; raise fabric.circuit_rate or "
            "fabric.oversubscription"
        )
    elif circuit < tree:
        yield (
            f"a circuit carries {rate(circuit)}, the tree beside it up to {rate(tree)} for a rack: "
            "two racks that one circuit joins may be slower by it than by the tree; lower "
            "fabric.planes, or raise fabric.circuit_rate or fabric.oversubscription"
        )


def decided_ps(fabric: Table) -> int:
    """When circuits are first decided on [ps]: an interval after the start, and the time that
    the decision takes."""
    return _sum_ps(fabric, UNTIL_DECIDED)


def soonest_ps(fabric: Table) -> int:
    """When a circuit can be lit at the soonest [ps]: decided on, and with the time that mirrors
    and transceivers take; of a schedule, whose nights are that time, with the first of them."""
    policy = fabric.get("policy")
    if isinstance(policy, Mapping) and "night" in policy:
        return decided_ps(fabric) + _sum_ps(policy, ("night",))
    return decided_ps(fabric) + _sum_ps(fabric, UNTIL_LIT)


def soonest_used_ps(cluster: Table, fabric: Table) -> int:
    """When traffic can enter a circuit at the soonest [ps]: lit, and with its routes, which are
    installed meanwhile where the fabric installs any."""
    if "retag" not in fabric or fabric.get("order", ROUTED) != ROUTED:
        return soonest_ps(fabric)
    rules = _core.control_time("fabric.rule", fabric["rule"]) * _rules(cluster, fabric)
    installed = max(_core.control_time("fabric.retag", fabric["retag"]), rules)
    return max(soonest_ps(fabric), decided_ps(fabric) + installed)


def _rules(cluster: Table, fabric: Table) -> int:
    """Rules that are pushed one after the other until the routes of a first change are there:
    as many as are given, else those of one pair of racks."""
    servers, given = int(cluster.get("servers_per_rack", 1)), fabric.get("rules")
    if fabric.get("pushing") != "parallel":
        return 2 * servers if given is None else int(given)
    return 1 if given is None else -(-int(given) // (servers * int(cluster["racks"])))


def _sum_ps(fabric: Table, keys: Iterable[str]) -> int:
    return sum(_known_ps(key, fabric[key]) for key in keys if key in fabric)


def _known_ps(key: str, time: Any) -> int:
    """A time that is given, or the first of those on record; 0 for one that is measured."""
    if isinstance(time, list):
        return _known_ps(key, time[0]) if time else 0
    return 0 if time == "measured" else _core.control_time(key, time)


def _longer(experiment: Table, ended_s: float) -> str:
    """How to make the run last, by what ended it."""
    run = experiment.get("run", {})
    stop, limit = run.get("stop"), run.get("limit")
    if (
        limit is not None
        and _ps(ended_s) >= _core.control_time("run.limit", limit)
        and (stop in OTHERWISE or limit != stop)
    ):
        return "lengthen run.limit"
    if run.get("measure") is not None:
        return "lengthen run.measure"
    return OTHERWISE.get(str(stop), "lengthen run.stop")


def _ps(time_s: float) -> int:
    return round(time_s * 1e12)
