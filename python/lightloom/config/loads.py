"""One story of loads, in the words of every table: a load is asked for, flows are drawn, and
of what they are a part is delivered while they arrive.

All three are shares of the servers' capacity, R. What is drawn and what is delivered are over
the same time, until the last flow arrives, so that the second never exceeds the first; a
run that goes on until all is delivered changes neither. `goodput_normalized` is over the
whole run: it falls as long as a run waits for its last flow. Where a window was measured, what was
accepted in it says more than either: the network was warm, and is not waited for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LEGEND = "Load delivered: until the last flow arrives, of R, what all servers can send."
GOODPUT = "Goodput: over the whole run, of R, what all servers can send."


def asked(experiment: Mapping[str, Any]) -> float | None:
    """The load that an experiment asks for."""
    load = experiment.get("workload", {}).get("load")
    numeric = isinstance(load, int | float) and not isinstance(load, bool)
    return float(load) if numeric else None


def whole(experiment: Mapping[str, Any]) -> float | None:
    """The load that a workload asks for, of a mix the sum of its parts; None where a part has
    none.

    >>> whole({"workload": {"load": 0.1, "mix": [{"load": 0.3}, {"flows": 5}]}})
    0.4
    """
    parts = experiment.get("workload", {}).get("mix")
    if not parts:
        return asked(experiment)
    given = [load for part in parts if (load := of_part(part, asked(experiment))) is not None]
    return sum(given) if len(given) == len(parts) else None


def named(experiment: Mapping[str, Any], *, swept: bool) -> float | None:
    """The load that the run of an experiment is called by: the whole, or that which other loads of
    a sweep stand in place of, where parts of a mix have loads of their own.

    >>> mix = {"workload": {"load": 0.2, "mix": [{}, {"load": 0.3}]}}
    >>> named(mix, swept=False), named(mix, swept=True)
    (0.5, 0.2)
    """
    return asked(experiment) if swept and varied(experiment) is not None else whole(experiment)


def of_part(part: Mapping[str, Any], common: float | None) -> float | None:
    """The load of a part of a mix: its own, or the common one where its arrivals follow from a
    load; None where they do not.

    >>> of_part({"arrivals": {"kind": "poisson", "every": "1 ms"}}, 0.3)
    """
    if not _follow_load(part.get("arrivals", "poisson")):
        return None
    return asked({"workload": {"load": common, **part}})


def of_what(experiment: Mapping[str, Any]) -> str:
    """What `workload.load` is the load of: the workload, or the parts of a mix that give none.

    >>> of_what({"workload": {"load": 0.1, "mix": [{"load": 0.3}, {}]}})
    'of part 2'
    """
    common, others = _parts(experiment)
    if not common:
        return "of the workload"
    return f"of {_numbers(common)}" if others else "of each part"


def varied(experiment: Mapping[str, Any]) -> str | None:
    """Which parts of a mix other loads change, and which not; None where all change.

    >>> varied({"workload": {"load": 0.1, "mix": [{"load": 0.3}, {}, {}]}})
    'Loads are those of parts 2 and 3 of the mix; part 1 stays the same.'
    """
    common, others = _parts(experiment)
    if not common or not others:
        return None
    stay = "stays" if len(others) == 1 else "stay"
    return f"Loads are those of {_numbers(common)} of the mix; {_numbers(others)} {stay} the same."


def _parts(experiment: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    """The parts of a mix that have the common load, and the others; numbers from 1."""
    parts = experiment.get("workload", {}).get("mix") or []
    common: list[int] = []
    others: list[int] = []
    for number, part in enumerate(parts, 1):
        follows = _follow_load(part.get("arrivals", "poisson")) and part.get("load") is None
        (common if follows else others).append(number)
    return common, others


def _numbers(parts: Sequence[int]) -> str:
    """Parts by their numbers, as words."""
    *first, last = map(str, parts)
    return f"parts {', '.join(first)} and {last}" if first else f"part {last}"


def _follow_load(arrivals: Any) -> bool:
    """Whether the times of arrivals follow from a load."""
    table = arrivals if isinstance(arrivals, Mapping) else {"kind": arrivals}
    no_load = table.get("kind") in ("at-once", "at_once", "file")
    return not no_load and "every" not in table and "gap" not in table


def flow_count(workload: Mapping[str, Any]) -> int | None:
    """How many flows a resolved workload draws, of a mix all parts together; None where that is
    not known before, as of jobs."""
    parts = workload.get("mix")
    counts = [part.get("flows") for part in parts or [workload]]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def drawn(summary: Mapping[str, Any]) -> float | None:
    """The load of the flows as drawn; None where flows arrive at once or wait for each
    other."""
    value = summary.get("load_offered")
    return None if value is None else float(value)


def delivered(summary: Mapping[str, Any]) -> float | None:
    """What of it was delivered while flows arrived; None where there is no such load."""
    value = summary.get("load_delivered")
    return None if value is None else float(value)


def accepted(summary: Mapping[str, Any]) -> float | None:
    """What was accepted in the window; None where none was measured."""
    window = summary.get("window")
    return _number(window.get("accepted")) if isinstance(window, Mapping) else None


def sustained(summary: Mapping[str, Any]) -> float | None:
    """What a fabric is priced by: what was accepted in the window, or the goodput of the whole run
    where none was measured.

    >>> sustained({"window": {"accepted": 0.48}, "goodput_normalized": 0.44})
    0.48
    """
    through = accepted(summary)
    return _number(summary.get("goodput_normalized")) if through is None else through


def workload(summary: Mapping[str, Any], wanted: float | None) -> str:
    """The requested and the actual load, the same for every fabric.

    >>> workload({"load_offered": 0.2831}, 0.5)
    'load 0.283 drawn (0.5 asked for)'
    """
    load = drawn(summary)
    if load is None:
        return "no load defined"
    return f"load {load:.3f} drawn" + ("" if wanted is None else f" ({wanted:g} asked for)")


def run(summary: Mapping[str, Any]) -> str | None:
    """What was drawn and delivered in a run; None where there is no load."""
    load, through = drawn(summary), delivered(summary)
    if load is None or through is None:
        return None
    return f"{load:.3f} drawn, {through:.3f} delivered by the last arrival"


def _number(value: Any) -> float | None:
    """A figure; of several seeds, which stand as a table, their mean."""
    value = value.get("mean") if isinstance(value, Mapping) else value
    return None if value is None else float(value)
