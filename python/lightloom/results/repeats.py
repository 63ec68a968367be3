"""An experiment simulated several times, with a seed each: `run.repeat`.

A figure of a repeated run is a mean over the seeds with its interval; a *gathered*
summary has the keys of a summary, and where that has a number a table of `mean`,
`half_width` (of the 95 % interval, Student's t over the seeds) and `n`, the seeds that
have the figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lightloom.units.intervals import CONFIDENCE, Interval, over_runs

Summary = dict[str, Any]

#: Of what some seeds say and others do not, these hold only if all say so.
_HOLD_TOGETHER = frozenset({"stable"})
#: What there is of a mean only if all seeds have it: limits; and what ends of jobs say, for those
#: seeds in which a job ended are the quick ones.
_OF_ALL = frozenset({"low", "high", "from", "until", "finish_s", "seconds", "per_s", "efficiency"})
#: Settings, not figures: alike in all seeds.
_SETTINGS = frozenset({"threads", "from_bytes", "below_bytes"})


#: What is no figure, and the same for every seed.
SAME = ("fabric", "label", "version", "build", "inputs")


def same_flows(experiment: Mapping[str, Any]) -> bool:
    """Whether every seed of an experiment plays the same flows, as those of a trace: its
    intervals over seeds then hold what the fabrics draw, and nothing of other traffic."""
    workload = experiment.get("workload")
    return isinstance(workload, Mapping) and "trace" in workload


#: Kinds of jobs whose flows, sizes and servers are the same with every seed.
_FIXED_JOBS = frozenset({"vm-migration", "fft", "all-reduce", "all-to-all-collective", "pipeline"})


def drawn_traffic(experiment: Mapping[str, Any]) -> bool:
    """Whether the traffic of an experiment depends on the seed.

    >>> drawn_traffic({"workload": {"jobs": [{"kind": "all-reduce"}]}})
    False
    >>> drawn_traffic({"workload": {"jobs": ["fft", {"kind": "gups"}]}})
    True
    """
    workload = experiment.get("workload")
    if not isinstance(workload, Mapping) or "mix" in workload or not workload.get("jobs"):
        return True
    kinds = {job.get("kind") if isinstance(job, Mapping) else job for job in workload["jobs"]}
    return not kinds <= _FIXED_JOBS


def unbounded_shape(experiment: Mapping[str, Any]) -> float | None:
    """The least shape of a Pareto law of sizes that has no finite variance (2 or below) and is
    not cut off; None where all sizes have one. Intervals by Student's t suppose one.

    >>> sizes = {"kind": "pareto", "shape": 1.05, "mean": "100 KB"}
    >>> unbounded_shape({"workload": {"sizes": sizes}})
    1.05
    """
    workload = experiment.get("workload")
    if not isinstance(workload, Mapping):
        return None
    drawn = [p for p in workload.get("mix") or [workload] if p.get("mean_rule") != "truncated"]
    laws = [p.get("sizes") for p in drawn]
    shapes = [
        float(law["shape"])
        for law in laws
        if isinstance(law, Mapping) and law.get("kind") == "pareto" and law["shape"] <= 2
    ]
    return min(shapes, default=None)


def of_variance(experiment: Mapping[str, Any]) -> str | None:
    """What sizes without a finite variance do to intervals; None where all sizes have one.

    >>> of_variance({"workload": {"sizes": {"kind": "fixed", "size": "1 KB"}}})
    """
    shape = unbounded_shape(experiment)
    if shape is None:
        return None
    return (
        f"sizes have no finite variance (Pareto, shape {shape:g}): of means, load and goodput "
        "fewer than 95 of 100 intervals contain the true value; "
        'mean_rule = "truncated" with sizes.max gives sizes a variance'
    )


def gathered(summaries: Sequence[Mapping[str, Any]]) -> Summary:
    """The summaries of one fabric's seeds as one, its figures with their intervals.

    >>> gathered([{"seed": 1, "hops_mean": 2.0}, {"seed": 2, "hops_mean": 4.0}])["hops_mean"]
    {'mean': 3.0, 'half_width': 12.7..., 'n': 2}
    """
    made = joined(summaries)
    made.pop("seed", None)
    return {
        **{key: made.pop(key) for key in SAME if key in made},
        "seeds": [s["seed"] for s in summaries],
        "confidence": CONFIDENCE,
        **made,
    }


def joined(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Tables with the same keys as one, its numbers with their intervals."""
    made: dict[str, Any] = _joined(tables, with_intervals=True)
    return made


def means(summaries: Sequence[Mapping[str, Any]]) -> Summary:
    """The summaries of one fabric's seeds as one with the same keys, each figure the mean
    of those seeds that have it; `seed` is the first.

    >>> means([{"seed": 1, "hops_mean": 2.0}, {"seed": 2, "hops_mean": 4.0}])
    {'seed': 1, 'hops_mean': 3.0}
    """
    made: Summary = _joined(summaries, with_intervals=False)
    if "seed" in made:
        made["seed"] = summaries[0]["seed"]
    return made


def interval(summaries: Sequence[Mapping[str, Any]], path: str) -> Interval | None:
    """The mean over seeds of the figure at a dotted path, with its interval; None where no
    seed has it.

    >>> interval([{"fct": {"p99_us": 1.0}}, {"fct": {"p99_us": 3.0}}], "fct.p99_us").mean
    2.0
    """
    return over_runs(_number(summary, path) for summary in summaries)


def _number(summary: Mapping[str, Any], path: str) -> float | None:
    value: Any = summary
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return float(value) if _is_figure(value) else None


def _is_figure(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _joined(values: Sequence[Any], *, with_intervals: bool, key: str = "") -> Any:
    """One value for those of all seeds."""
    known = [v for v in values if v is not None]
    if not known or (key in _OF_ALL and len(known) < len(values)):
        return None
    if all(isinstance(v, Mapping) for v in known):
        keys = dict.fromkeys(key for v in known for key in v)
        return {
            key: _joined([v.get(key) for v in known], with_intervals=with_intervals, key=key)
            for key in keys
        }
    if all(isinstance(v, bool) for v in known):
        return all(known) if key in _HOLD_TOGETHER else any(known)
    if all(_is_figure(v) for v in known) and key not in _SETTINGS:
        found = over_runs(known)
        if found is None:
            return None
        return found.to_json() if with_intervals else found.mean
    return known[0] if all(v == known[0] for v in known) else known
