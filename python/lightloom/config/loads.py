"""The loads of a run, with the same terms in every table: requested, drawn and delivered.

All three are fractions of the capacity of the servers, R. The load drawn and the load delivered
cover the same time, until the last flow arrives; so the second never exceeds the first, and it does
not depend on how long the run then drains. `goodput_normalized` covers the whole run; it falls
while the run waits for its last flow. If a window was measured, the load accepted in it is the best
of these figures: the network was in a steady state, and draining is excluded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LEGEND = "Load delivered: until the last flow arrives, of R, what all servers can send."
GOODPUT = "Goodput: over the whole run, of R, what all servers can send."


def asked(experiment: Mapping[str, Any]) -> float | None:
    """The load that an experiment requests."""
    load = experiment.get("workload", {}).get("load")
    numeric = isinstance(load, int | float) and not isinstance(load, bool)
    return float(load) if numeric else None


def whole(experiment: Mapping[str, Any]) -> float | None:
    """Returns the load that a workload requests; for a mix, the sum over its parts, or None if a
    part has no load.

    >>> whole({"workload": {"load": 0.1, "mix": [{"load": 0.3}, {"flows": 5}]}})
    0.4
    """
    parts = experiment.get("workload", {}).get("mix")
    if not parts:
        return asked(experiment)
    given = [load for part in parts if (load := of_part(part, asked(experiment))) is not None]
    return sum(given) if len(given) == len(parts) else None


def named(experiment: Mapping[str, Any], *, swept: bool) -> float | None:
    """Returns the load that names a run of an experiment: the whole load; or, if a sweep varies it
    and parts of a mix have loads of their own, the load of the other parts.

    >>> mix = {"workload": {"load": 0.2, "mix": [{}, {"load": 0.3}]}}
    >>> named(mix, swept=False), named(mix, swept=True)
    (0.5, 0.2)
    """
    return asked(experiment) if swept and varied(experiment) is not None else whole(experiment)


def of_part(part: Mapping[str, Any], common: float | None) -> float | None:
    """Returns the load of a part of a mix: its own, or the common one, if its arrivals follow from
    a load; None if they do not.

    >>> of_part({"arrivals": {"kind": "poisson", "every": "1 ms"}}, 0.3)
    """
    if not _follow_load(part.get("arrivals", "poisson")):
        return None
    return asked({"workload": {"load": common, **part}})


def of_what(experiment: Mapping[str, Any]) -> str:
    """Names the flows that `workload.load` applies to: the workload, or parts of a mix without a
    load.

    >>> of_what({"workload": {"load": 0.1, "mix": [{"load": 0.3}, {}]}})
    'of part 2'
    """
    common, others = _parts(experiment)
    if not common:
        return "of the workload"
    return f"of {_numbers(common)}" if others else "of each part"


def varied(experiment: Mapping[str, Any]) -> str | None:
    """States which parts of a mix other loads change, and which not; None if they change all.

    >>> varied({"workload": {"load": 0.1, "mix": [{"load": 0.3}, {}, {}]}})
    'Loads are those of parts 2 and 3 of the mix; part 1 stays the same.'
    """
    common, others = _parts(experiment)
    if not common or not others:
        return None
    stay = "stays" if len(others) == 1 else "stay"
    return f"Loads are those of {_numbers(common)} of the mix; {_numbers(others)} {stay} the same."


def _parts(experiment: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    """The numbers (from 1) of the parts of a mix that have the common load, and of the others."""
    parts = experiment.get("workload", {}).get("mix") or []
    common: list[int] = []
    others: list[int] = []
    for number, part in enumerate(parts, 1):
        follows = _follow_load(part.get("arrivals", "poisson")) and part.get("load") is None
        (common if follows else others).append(number)
    return common, others


def _numbers(parts: Sequence[int]) -> str:
    """Lists numbers of parts as text."""
    *first, last = map(str, parts)
    return f"parts {', '.join(first)} and {last}" if first else f"part {last}"


def _follow_load(arrivals: Any) -> bool:
    """Whether the arrival times follow from a load."""
    table = arrivals if isinstance(arrivals, Mapping) else {"kind": arrivals}
    no_load = table.get("kind") in ("at-once", "at_once", "file")
    return not no_load and "every" not in table and "gap" not in table


def flow_count(workload: Mapping[str, Any]) -> int | None:
    """Returns the number of flows that a resolved workload draws, for a mix the sum over its parts;
    None if it is not known in advance, as for jobs."""
    parts = workload.get("mix")
    counts = [part.get("flows") for part in parts or [workload]]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def drawn(summary: Mapping[str, Any]) -> float | None:
    """The load of the flows as drawn; None if flows arrive at once or depend on each other."""
    value = summary.get("load_offered")
    return None if value is None else float(value)


def delivered(summary: Mapping[str, Any]) -> float | None:
    """The load delivered while flows arrived; None if there is no such load."""
    value = summary.get("load_delivered")
    return None if value is None else float(value)


def accepted(summary: Mapping[str, Any]) -> float | None:
    """The load accepted in the window; None if none was measured."""
    window = summary.get("window")
    return _number(window.get("accepted")) if isinstance(window, Mapping) else None


def sustained(summary: Mapping[str, Any]) -> float | None:
    """The load by which a fabric is priced: that accepted in the window, or the goodput of the
    whole run if no window was measured.

    >>> sustained({"window": {"accepted": 0.48}, "goodput_normalized": 0.44})
    0.48
    """
    through = accepted(summary)
    return _number(summary.get("goodput_normalized")) if through is None else through


def workload(summary: Mapping[str, Any], wanted: float | None) -> str:
    """Formats the requested and the actual load, which are the same for every fabric.

    >>> workload({"load_offered": 0.2831}, 0.5)
    'load 0.283 drawn (0.5 asked for)'
    """
    load = drawn(summary)
    if load is None:
        return "no load defined"
    return f"load {load:.3f} drawn" + ("" if wanted is None else f" ({wanted:g} asked for)")


def run(summary: Mapping[str, Any]) -> str | None:
    """Formats the load drawn and the load delivered in a run; None if there is no load."""
    load, through = drawn(summary), delivered(summary)
    if load is None or through is None:
        return None
    return f"{load:.3f} drawn, {through:.3f} delivered by the last arrival"


def _number(value: Any) -> float | None:
    """Returns a figure; of several seeds, for which it is a table, the mean."""
    value = value.get("mean") if isinstance(value, Mapping) else value
    return None if value is None else float(value)
