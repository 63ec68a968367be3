"""What to know of a run before its circuits are judged: whether it lasted long enough
for any, and whether they carry more than the tree beside them.

Told from the resolved experiment, the time at which the run ended and whether a
circuit was ever lit and used. Any fabric with the keys that are read here is understood; no
fabric is named. Faults are not looked at: they can only make circuits later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lightloom import _core, networks
from lightloom.console import rate, seconds

if TYPE_CHECKING:
    from lightloom.results import Result

Table = Mapping[str, Any]

#: What passes at the least before the first decision, and then until circuits are lit, by key.
UNTIL_DECIDED = ("interval", "computation_delay")
UNTIL_LIT = ("reconfiguration_delay", "settle", "link_up")
#: The order of a change in which routes are installed while circuits come up.
ROUTED = "three-substeps"

#: How to make a run last that did not end at a given time, by `run.stop`.
OTHERWISE = {
    "last-arrival": "set run.stop to a longer time",
    "drain": "offer traffic for longer",
    "measured": "lengthen run.measure",
}


def notes(result: Result) -> Iterator[str]:
    """What weakens the figures of one run of a fabric with circuits; nothing for others."""
    if result.circuits is not None:
        fabric, summary = result.experiment["fabric"][0], result.summary
        lit, carried = result.circuits.num_rows > 0, bool(summary.get("circuit_share"))
        yield from doubts(result.experiment, fabric, summary["simulated_s"], lit, carried)


def doubts(
    experiment: Table, fabric: Table, ended_s: float, lit: bool, carried: bool
) -> Iterator[str]:
    """The same from its parts: the resolved experiment and the fabric's table of it,
    when the run ended [s], whether a circuit was ever lit, and carried anything."""
    cluster = experiment.get("cluster", {})
    if "interval" in fabric:
        yield from _too_short(experiment, fabric, ended_s, lit, carried)
    yield from _slow(fabric, networks.tree_rate(cluster, fabric))


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


def _slow(fabric: Table, tree: float | None) -> Iterator[str]:
    """Says that circuits carry no more than the tree beside them [b/s]: all of a rack together,
    or each alone."""
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
    return OTHERWISE.get(str(stop), "lengthen run.stop")


def _ps(time_s: float) -> int:
    return round(time_s * 1e12)
