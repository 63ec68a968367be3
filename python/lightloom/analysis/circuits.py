"""Notes on a run with circuits: whether it lasted long enough for circuits, how often the policy
decided, and whether circuits carry more than the electrical network beside them.

The notes are derived from the resolved experiment, the time at which the run ended, and whether a
circuit was ever lit and used. They apply to any fabric whose table has the keys that are read here;
no fabric is named. Failures are ignored, because they can only delay circuits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom import _core
from lightloom.analysis.note import Note
from lightloom.config import networks
from lightloom.errors import ConfigError
from lightloom.results.columns import numbers

if TYPE_CHECKING:
    from lightloom.results.result import Result

Table = Mapping[str, Any]

#: Keys of the shortest times before the first decision, and from there until circuits are lit.
UNTIL_DECIDED = ("interval", "computation_delay")
UNTIL_LIT = ("reconfiguration_delay", "settle", "link_up")
#: The order of a change in which routes are installed while circuits come up.
ROUTED = "three-substeps"

#: Remedies that prolong a run that did not end at a given time, by `run.stop`.
OTHERWISE = {
    "last-arrival": "set run.stop to a longer time",
    "drain": "offer traffic for longer",
    "measured": "lengthen run.measure",
}


def notes(result: Result) -> Iterator[Note]:
    """Yields doubts about the figures of one run of a fabric with circuits; none for other
    fabrics."""
    if result.circuits is not None:
        yield from slow_circuits(result.experiment, result.experiment["fabric"][0])


def leading_notes(result: Result) -> Iterator[Note]:
    """Yields notes that precede the figures of a run: its circuits had too little time, or its
    interval is long."""
    if result.circuits is not None:
        fabric, summary = result.experiment["fabric"][0], result.summary
        lit, carried = result.circuits.num_rows > 0, bool(summary.get("circuit_share"))
        ended_s, arrived_s = summary["simulated_s"], _arrived_s(result)
        times_s = (numbers(result.flows["finish_ps"]) - numbers(result.flows["arrival_ps"])) * 1e-12
        flow_s = slowest_of_jobs_s(summary, times_s)
        yield from doubts(result.experiment, fabric, ended_s, lit, carried, arrived_s, flow_s)


def notes_beside_a_verdict(result: Result) -> Iterator[Note]:
    """Yields the notes of `leading_notes`, except those on the interval, which the verdict of a
    comparison contains."""
    if result.circuits is not None:
        fabric, summary = result.experiment["fabric"][0], result.summary
        lit, carried = result.circuits.num_rows > 0, bool(summary.get("circuit_share"))
        yield from _too_short(result.experiment, fabric, summary["simulated_s"], lit, carried)


def doubts(
    experiment: Table,
    fabric: Table,
    ended_s: float,
    lit: bool,
    carried: bool,
    arrived_s: float | None = None,
    job_flow_s: tuple[float, float] | None = None,
) -> Iterator[Note]:
    """Yields the notes of `leading_notes` from separate data: the resolved experiment and its table
    of the fabric, the end of the run [s], whether a circuit was ever lit, and whether one carried
    data; the other arguments as for `interval_finding`."""
    if "interval" not in fabric:
        return
    short = list(_too_short(experiment, fabric, ended_s, lit, carried))
    yield from short
    if not short:
        longer = _longer(experiment, ended_s)
        found = interval_finding(fabric, ended_s, arrived_s, job_flow_s, longer)
        if found is not None:
            yield found.note


def interval_finding(
    fabric: Table,
    ended_s: float,
    arrived_s: float | None = None,
    job_flow_s: tuple[float, float] | None = None,
    longer: str = "let the traffic last longer",
) -> Finding | None:
    """Returns the fabric's finding on its interval, given how the run ended: its policy decides on
    circuits once or never, or only after all flows have arrived, or flows of a job wait for the
    decision.

    Args:
        fabric: its resolved table.
        ended_s: when the run ended [s].
        arrived_s: time of the last arrival [s], if arrivals do not depend on other flows.
        job_flow_s: duration of the slowest flow of its jobs, and the time that the largest would
            take alone [s].
        longer: the remedy that prolongs the run.

    >>> fabric = {"kind": "cthrough", "interval": "1 s"}
    >>> [bool(interval_finding(fabric, end)) for end in (1.0, 2.0, 2.5)]
    [True, True, False]
    >>> interval_finding(fabric, 9.0, arrived_s=0.25).value
    '1 s'
    """
    if "interval" not in fabric:
        return None
    flow = None if job_flow_s is None else (_ps(job_flow_s[0]), _ps(job_flow_s[1]))
    arrived = None if arrived_s is None else _ps(arrived_s)
    try:
        found = _core.findings_of_run(json.dumps(fabric), _ps(ended_s), arrived, flow, longer)
    except ConfigError:
        return None  # another version wrote the table, which this one cannot read
    of_interval = [one for one in json.loads(found) if one["parameter"] == "interval"]
    return Finding(**of_interval[0]) if of_interval else None


@dataclass(frozen=True)
class Finding:
    """A value of a fabric's table that limits the results of a run."""

    parameter: str
    value: str
    effect: str
    remedy: str

    @property
    def note(self) -> Note:
        """The finding as a note on a run."""
        return Note(
            "interval",
            parameter=self.parameter,
            value=self.value,
            effect=self.effect,
            remedy=self.remedy,
        )


def slowest_of_jobs_s(summary: Table, times_s: Any) -> tuple[float, float] | None:
    """Duration of the slowest flow, and the time that the largest would take alone [s], of a run
    with jobs only; non-finite times are excluded."""
    alone, known = summary.get("largest_alone_s"), times_s[np.isfinite(times_s)]
    if not summary.get("jobs") or summary.get("load_offered") is not None or alone is None:
        return None
    return (float(known.max()), float(alone)) if known.size else None


def _arrived_s(result: Result) -> float | None:
    """Time of the last arrival [s]; None if all flows arrive at once or wait for each other."""
    arrivals = numbers(result.flows["arrival_ps"])
    if result.summary.get("load_offered") is None or not arrivals.size:
        return None
    return min(float(arrivals.max()) * 1e-12, float(result.summary["simulated_s"]))


def _too_short(
    experiment: Table, fabric: Table, ended_s: float, lit: bool, carried: bool
) -> Iterator[Note]:
    """Notes that a run ended before any circuit could be lit, or before traffic could enter one."""
    if "interval" not in fabric:
        return
    cluster = experiment.get("cluster", {})
    ended, decided = _ps(ended_s), decided_ps(fabric)
    remedy = f"{_longer(experiment, ended_s)}, or shorten"
    if not lit and ended <= soonest_ps(fabric):
        later = soonest_ps(fabric) - decided
        after = f", and lit {_core.control_time_text(later)} later" if later else ""
        first = f"{_core.control_time_text(decided)}{after}"
        yield Note("no circuit lit", ended_s=ended_s, first=first, remedy=remedy)
    elif lit and not carried and ended <= soonest_used_ps(cluster, fabric):
        later = soonest_used_ps(cluster, fabric) - decided
        first, later_text = map(_core.control_time_text, (decided, later))
        yield Note("no circuit used", ended_s=ended_s, first=first, later=later_text, remedy=remedy)


def slow_circuits(experiment: Table, fabric: Table) -> Iterator[Note]:
    """Notes that circuits carry no more than the tree beside them, either all of a rack together or
    each alone, from a resolved experiment and its table of the fabric."""
    tree = networks.tree_rate(experiment.get("cluster", {}), fabric)
    circuit, planes = networks.circuit_rate(fabric), fabric.get("planes", 1)
    if circuit is None or tree is None:
        return
    if circuit * planes <= tree:
        yield Note("slow circuits", circuits_bps=circuit * planes, tree_bps=tree)
    elif circuit < tree:
        yield Note("slow circuit", circuit_bps=circuit, tree_bps=tree)


def decided_ps(fabric: Table) -> int:
    """Time of the first decision on circuits [ps]: one interval after the start, plus the
    computation time of the decision."""
    return _sum_ps(fabric, UNTIL_DECIDED)


def soonest_ps(fabric: Table) -> int:
    """Earliest time at which a circuit can be lit [ps]: the first decision, plus the time that
    mirrors and transceivers need. For a schedule, whose nights are that time, it is the end of the
    first night."""
    policy = fabric.get("policy")
    if isinstance(policy, Mapping) and "night" in policy:
        return decided_ps(fabric) + _sum_ps(policy, ("night",))
    return decided_ps(fabric) + _sum_ps(fabric, UNTIL_LIT)


def soonest_used_ps(cluster: Table, fabric: Table) -> int:
    """Earliest time at which traffic can enter a circuit [ps]: it is lit, and its routes are
    installed if the fabric installs routes."""
    if "retag" not in fabric or fabric.get("order", ROUTED) != ROUTED:
        return soonest_ps(fabric)
    rules = _core.control_time("fabric.rule", fabric["rule"]) * _rules(cluster, fabric)
    installed = max(_core.control_time("fabric.retag", fabric["retag"]), rules)
    return max(soonest_ps(fabric), decided_ps(fabric) + installed)


def _rules(cluster: Table, fabric: Table) -> int:
    """Number of rules that are installed one after the other for the routes of the first change:
    the configured number, else that of one pair of racks."""
    servers, given = int(cluster.get("servers_per_rack", 1)), fabric.get("rules")
    if fabric.get("pushing") != "parallel":
        return 2 * servers if given is None else int(given)
    return 1 if given is None else -(-int(given) // (servers * int(cluster["racks"])))


def _sum_ps(fabric: Table, keys: Iterable[str]) -> int:
    return sum(_known_ps(key, fabric[key]) for key in keys if key in fabric)


def _known_ps(key: str, time: Any) -> int:
    """A configured time, or the first of the recorded ones; 0 if it is measured."""
    if isinstance(time, list):
        return _known_ps(key, time[0]) if time else 0
    return 0 if time == "measured" else _core.control_time(key, time)


def _longer(experiment: Table, ended_s: float) -> str:
    """Remedy that prolongs the run, depending on what ended it."""
    run = experiment.get("run", {})
    stop, limit = run.get("stop"), run.get("limit")
    if (
        limit is not None
        and _ps(ended_s) >= _core.control_time("run.limit", limit)
        and (stop in OTHERWISE or limit != stop)
        and not _follows_window(run, limit)
    ):
        return "lengthen run.limit"
    if run.get("measure") is not None:
        return "lengthen run.measure"
    return OTHERWISE.get(str(stop), "lengthen run.stop")


def _follows_window(run: Table, limit: str) -> bool:
    """Whether a limit is the default for a window: the end of the window plus its length."""
    if run.get("measure") is None:
        return False
    warm_up, measure = (
        _core.control_time(f"run.{key}", run.get(key) or "0 s") for key in ("warm_up", "measure")
    )
    return bool(_core.control_time("run.limit", limit) == warm_up + 2 * measure)


def _ps(time_s: float) -> int:
    return round(time_s * 1e12)
