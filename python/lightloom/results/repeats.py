"""Figures of an experiment that is simulated with several seeds (`run.repeat`).

A figure of a repeated run is the mean over the seeds with its interval. A *gathered* summary has
the keys of a summary; each number is replaced by a table of `mean`, `half_width` (of the 95 %
interval, Student's t over the seeds) and `n`, the number of seeds that have the figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lightloom.units.intervals import CONFIDENCE, Interval, over_runs

Summary = dict[str, Any]

#: Booleans that are true only if they are true for every seed; all others are true if any is.
_HOLD_TOGETHER = frozenset({"stable"})
#: Figures that have a mean only if every seed has them: limits, and figures of jobs that ended. The
#: seeds in which a job ended are the fast ones, so their mean alone would be biased.
_OF_ALL = frozenset({"low", "high", "from", "until", "finish_s", "seconds", "per_s", "efficiency"})
#: Settings, not figures: equal in all seeds.
_SETTINGS = frozenset({"threads", "from_bytes", "below_bytes"})


#: Keys that are not figures and are equal for every seed.
SAME = ("fabric", "label", "version", "build", "inputs")


def same_flows(experiment: Mapping[str, Any]) -> bool:
    """Whether every seed has the same flows, as with a trace. Intervals over seeds then cover only
    what the fabrics draw at random, not the variation of traffic."""
    workload = experiment.get("workload")
    return isinstance(workload, Mapping) and "trace" in workload


#: Kinds of jobs whose flows, sizes and servers do not depend on the seed.
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
    """Returns the smallest shape of an untruncated Pareto distribution of sizes whose variance is
    infinite (shape at most 2); None if all variances are finite. Student's t supposes finite
    variance.

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


def gathered(summaries: Sequence[Mapping[str, Any]]) -> Summary:
    """Combines the summaries of one fabric's seeds into one; figures get intervals.

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
    """Combines tables with the same keys into one; numbers get intervals."""
    made: dict[str, Any] = _joined(tables, with_intervals=True)
    return made


def means(summaries: Sequence[Mapping[str, Any]]) -> Summary:
    """Combines the summaries of one fabric's seeds into one with the same keys. Each figure is the
    mean over the seeds that have it; `seed` is the first seed.

    >>> means([{"seed": 1, "hops_mean": 2.0}, {"seed": 2, "hops_mean": 4.0}])
    {'seed': 1, 'hops_mean': 3.0}
    """
    made: Summary = _joined(summaries, with_intervals=False)
    if "seed" in made:
        made["seed"] = summaries[0]["seed"]
    return made


def interval(summaries: Sequence[Mapping[str, Any]], path: str) -> Interval | None:
    """Returns the mean over seeds of the figure at a dotted path, with its interval; None if no
    seed has the figure.

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
    """Combines the values of all seeds into one."""
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
