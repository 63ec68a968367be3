"""The load at which a fabric saturates, found by bisection.

A load is carried if the window of a run at that load is `stable`: the accepted bytes differ by at
most 2 %, or by chance, from those that the flows would deliver alone in the network, no flow was
stuck when the run ended, and the backlog of no part of the traffic grows (docs/results.md). The
search halves the interval between the highest load that is carried and the lowest load that is not,
until their distance is within the tolerance. If the highest load to try is carried, the search ends
there.

The *saturation throughput* is the load accepted in a single window: the one at 1.1 times the lowest
load that was not carried, which is tried last. Near that load itself, queues grow so slowly that
the window shows less than the capacity of the network. Far beyond it, a network may deliver more
while its backlog grows (a shared loop-back buffer under a hot spot does); that throughput does not
count. If the network delivers less at 1.1 times than it carried, by more than both intervals, it
collapses; then, and if only the backlog of a part of the traffic grows at the lowest load that was
not carried, the window at the highest carried load counts. The largest of several windows is never
used, because it would be biased upwards. A search whose windows are too short to deny a load
(`window_rules`) reports that.

The interval contains two uncertainties: chance within the window, and the tolerance of the search.
The load accepted at 1.1 times saturation in one window differs from the load that a network accepts
in the long run, because some links are idle by chance while queues still grow. The interval reaches
from the load accepted at the highest carried load to the lowest load that was not carried; it is
wider if the confidence interval of the window is."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from lightloom.results import window_rules
from lightloom.units.intervals import over_runs

Window = Mapping[str, Any]

BEYOND = 1.1
"""Factor on the lowest load that is not carried; the network is certainly saturated there."""

NEVER_CARRIED = 1e-5
"""Share of the highest load below which the search gives up."""


@dataclass(frozen=True)
class Saturation:
    """The result of a search. Loads and throughputs are fractions of the servers' capacity."""

    throughput: float
    """The load accepted in the window at the load `at`."""
    half_width: float | None
    """Half of the interval: the larger of the 95 % interval of the window and the distances to the
    load accepted at `carried` and to `not_carried`; None if the window is too short for an
    interval."""
    busiest: float
    """The load received by the busiest server in that window ÷ the server's rate."""
    carried: float | None
    """The highest load that was carried; None if none was."""
    not_carried: float | None
    """The lowest load that was not carried; None if the highest load to try was carried."""
    tolerance: float
    """Largest distance between these two loads, relative to the higher."""
    at: float = 0.0
    """The load of that window: 1.1 times `not_carried`; `carried` if the network collapses beyond;
    the highest load to try if it was carried."""
    tried: list[list[Any]] = field(default_factory=list)
    """The loads that were tried, in the order of the search, without those above 1.1 times
    `not_carried`; each with the load accepted and whether it was carried."""
    is_told: bool = True
    """Whether the window at `not_carried` is long enough to deny that load. A window that is short
    compared with its flows or with the cycle of the fabric's circuits can miss loads that are
    carried."""

    @property
    def low(self) -> float:
        """Lower end of the interval; 0 without one."""
        return 0.0 if self.half_width is None else self.throughput - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval; infinite without one."""
        return math.inf if self.half_width is None else self.throughput + self.half_width

    def to_json(self) -> dict[str, Any]:
        """Returns the form of `saturation.json`."""
        return asdict(self)


def search(measure: Callable[[float], Window], up_to: float, tolerance: float) -> Saturation:
    """Returns the saturation of loads up to `up_to`. `measure` returns the `window` of the summary
    of a run at a given load.

    >>> def queue(load):  # serves half of the servers' capacity
    ...     accepted = min(load, 0.5)
    ...     return {"accepted": accepted, "accepted_half_width": 0.0,
    ...             "accepted_busiest": accepted, "stable": load < 0.5}
    >>> found = search(queue, up_to=1.0, tolerance=0.02)
    >>> found.throughput, found.carried < 0.5 <= found.not_carried
    (0.5, True)
    >>> found.half_width == found.not_carried - 0.5
    True
    """
    tried: dict[float, Window] = {}

    def carried(load: float) -> bool:
        tried[load] = measure(load)
        return is_carried(tried[load])

    low, high = 0.0, up_to
    if carried(up_to):
        return _found(tried, up_to, up_to, None, tolerance)
    # The load accepted under overload is usually close to the highest load carried.
    guess = tried[up_to]["accepted"]
    probes = [guess * (1 - tolerance), guess * (1 + 2 * tolerance)]
    while high - low > tolerance * high and high > NEVER_CARRIED * up_to:
        inside = [p for p in probes if low < p < high]
        load = inside[0] if inside else (low + high) / 2
        probes = inside[1:]
        load = float(f"{load:.6g}")
        if not low < load < high:
            break
        if carried(load):
            low = load
        else:
            high = load
    beyond = min(float(f"{BEYOND * high:.6g}"), up_to)
    if beyond not in tried:
        carried(beyond)
    near = {p: w for p, w in tried.items() if p <= beyond}
    in_part = high in tried and tried[high]["stable"]
    at = low if low and (in_part or _collapses(tried[low], tried[beyond])) else beyond
    return _found(near, at, low or None, high, tolerance)


def is_carried(window: Window) -> bool:
    """Whether the load of a window that is `judged` was carried."""
    return bool(window["stable"]) and not window_rules.is_overloaded([window])


def _collapses(carried: Window, beyond: Window) -> bool:
    """Whether the load accepted beyond saturation is less than was carried, by more than chance."""
    widths = [window["accepted_half_width"] for window in (carried, beyond)]
    if None in widths:
        return False
    return bool(carried["accepted"] - beyond["accepted"] > sum(widths))


def pooled(found: Sequence[Saturation]) -> Saturation | None:
    """The mean over several seeds, with Student's interval over them, which is at least the mean of
    the seeds' own intervals: repeating a search does not make its tolerance smaller."""
    throughput = over_runs(s.throughput for s in found)
    busiest = over_runs(s.busiest for s in found)
    if throughput is None or busiest is None:
        return None
    own = [s.half_width for s in found if s.half_width is not None]
    widths = [throughput.half_width, statistics.fmean(own) if len(own) == len(found) else None]
    known = [width for width in widths if width is not None]
    half = None if throughput.half_width is None and not own else max(known)
    return replace(
        found[0],
        throughput=throughput.mean,
        half_width=half,
        busiest=busiest.mean,
        is_told=all(s.is_told for s in found),
    )


def _found(
    tried: Mapping[float, Window],
    at: float,
    low: float | None,
    high: float | None,
    tolerance: float,
) -> Saturation:
    counts = tried[at]
    accepted, half = counts["accepted"], counts["accepted_half_width"]
    below = [] if low is None else [accepted - tried[low]["accepted"]]
    above = [] if high is None else [high - accepted]
    return Saturation(
        throughput=accepted,
        half_width=None if half is None else max(half, *below, *above, 0.0),
        busiest=counts["accepted_busiest"],
        at=at,
        carried=low,
        not_carried=high,
        tolerance=tolerance,
        tried=[[load, w["accepted"], is_carried(w)] for load, w in tried.items()],
        is_told=high is None or window_rules.can_deny([tried[high]]),
    )
