"""What to know of a run before its circuits are judged: whether it lasted long enough
for any, and whether they carry more than the tree beside them.

Told from the resolved experiment, the time at which the run ended and whether a
circuit was ever lit. Any fabric with the keys that are read here is understood; no
fabric is named. Faults are not looked at: they can only make circuits later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.console import rate, seconds

if TYPE_CHECKING:
    from lightloom.results import Result

Table = Mapping[str, Any]

#: What passes at the least before the first circuits carry light, by key.
UNTIL_LIT = ("interval", "computation_delay", "reconfiguration_delay", "settle", "link_up")

#: How to make a run last that did not end at a given time, by `run.stop`.
OTHERWISE = {
    "last-arrival": "set run.stop to a longer time",
    "drain": "offer traffic for longer",
    "measured": "lengthen run.measure",
}


def notes(result: Result) -> Iterator[str]:
    """What weakens the figures of one run of a fabric with circuits; nothing for others."""
    if result.circuits is not None:
        fabric = result.experiment["fabric"][0]
        lit = result.circuits.num_rows > 0
        yield from doubts(result.experiment, fabric, result.summary["simulated_s"], lit)


def doubts(experiment: Table, fabric: Table, ended_s: float, lit: bool) -> Iterator[str]:
    """The same from its parts: the resolved experiment and the fabric's table of it,
    when the run ended [s], whether a circuit was ever lit."""
    if not lit and "interval" in fabric and _ps(ended_s) <= soonest_ps(fabric):
        yield (
            f"the run ended after {seconds(ended_s)}, before any circuit could be lit: they are "
            f"first decided on after {fabric['interval']}; {_longer(experiment, ended_s)}, or "
            "shorten fabric.interval"
        )
    circuits, tree = _rates(experiment.get("cluster", {}), fabric)
    if circuits is not None and tree is not None and circuits <= tree:
        yield (
            f"all circuits of a rack carry {rate(circuits)}, the tree beside them carries "
            f"{rate(tree)} for it: circuits are no faster; raise fabric.circuit_rate or "
            "fabric.oversubscription"
        )


def soonest_ps(fabric: Table) -> int:
    """When a circuit can be lit at the soonest [ps]: after the first interval, the
    decision, and the time that mirrors and transceivers take."""
    return sum(_known_ps(key, fabric[key]) for key in UNTIL_LIT if key in fabric)


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


def _rates(cluster: Table, fabric: Table) -> tuple[float | None, float | None]:
    """What all circuits of a rack carry, and what the tree carries for it [b/s]; None
    where that is not known."""
    needed = ("circuit_rate", "oversubscription")
    if any(key not in fabric for key in needed) or "server_rate" not in cluster:
        return None, None
    circuit = _core.control_rate("fabric.circuit_rate", fabric["circuit_rate"])
    server = _core.control_rate("cluster.server_rate", cluster["server_rate"])
    offered = server * cluster.get("servers_per_rack", 1)
    return float(circuit * fabric.get("planes", 1)), offered / fabric["oversubscription"]
