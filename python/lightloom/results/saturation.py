"""How much a fabric carries: the load at which it saturates, by bisection.

A load is carried if the window of a run at it is `stable`: bytes came as they would to flows
that have the network to themselves, but for 2 % or chance, and no flow was stuck when the run
ended (docs/results.md). Between a load that is carried and one that is not
the search halves, until they lie as close as asked; a fabric that carries the
highest load to try is not searched further.

The *saturation throughput* is what is accepted in one window: that at a tenth beyond
the lowest load that was not carried, which is tried last. Near that load itself queues
grow so slowly that a window sees less than the network can do. Far beyond it a network
may deliver more while what it owes piles up (a shared loop-back buffer under a hot spot
does); that does not count. A network that delivers less there than it carried, by more
than both intervals, collapses: of such the window at the highest load carried counts.
The largest of several windows is never taken: it would be the luckiest of them.
A search by windows that are too short to deny a load (`window_rules`) reports that.

Its interval holds two doubts: chance within the window, and how close the search came. What is
accepted a tenth beyond saturation in one window is not what a network accepts in the long run:
some links are idle by chance while queues still grow. The interval reaches from what was
accepted of the highest load carried to the lowest load that was not, or by chance further.
"""

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
"""Times the lowest load that is not carried, the network is surely saturated."""

NEVER_CARRIED = 1e-5
"""Below this share of the highest load the search gives up."""


@dataclass(frozen=True)
class Saturation:
    """What the search found; loads and throughputs relate to what all servers can
    send."""

    throughput: float
    """What was accepted in the window at `at`."""
    half_width: float | None
    """Half of its interval: the 95 % interval of the window, and the distance to what was accepted
    of `carried` and to `not_carried`; None where the window is too short for an interval."""
    busiest: float
    """What the server that heard most then heard, relative to its own rate."""
    carried: float | None
    """The highest load found to be carried; None if none was."""
    not_carried: float | None
    """The lowest load found not to be; None if the highest to try was carried."""
    tolerance: float
    """How close these two lie, relative to the higher."""
    at: float = 0.0
    """The load of that window: a tenth beyond `not_carried`, or `carried` if the network
    collapses beyond; the highest to try, if it was carried."""
    tried: list[list[Any]] = field(default_factory=list)
    """Each load tried up to there, in order, with what was accepted and whether it was
    carried."""
    is_told: bool = True
    """Whether the window at `not_carried` is long enough to deny that load: a window that is short
    beside its flows or the cycle of the fabric's circuits misses loads that are carried."""

    @property
    def low(self) -> float:
        """Where its interval begins; 0 without one."""
        return 0.0 if self.half_width is None else self.throughput - self.half_width

    @property
    def high(self) -> float:
        """Where it ends; infinite without one."""
        return math.inf if self.half_width is None else self.throughput + self.half_width

    def to_json(self) -> dict[str, Any]:
        """As `saturation.json` has it."""
        return asdict(self)


def search(measure: Callable[[float], Window], up_to: float, tolerance: float) -> Saturation:
    """Finds the saturation of what `measure` measures at a load, `window` of the
    summary, for loads up to `up_to`.

    >>> def queue(load):  # that serves half of what can be sent
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
        return bool(tried[load]["stable"])

    low, high = 0.0, up_to
    if carried(up_to):
        return _found(tried, up_to, up_to, None, tolerance)
    # What is accepted of too much is most often what is carried at most.
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
    at = low if low and _collapses(tried[low], tried[beyond]) else beyond
    return _found(near, at, low or None, high, tolerance)


def _collapses(carried: Window, beyond: Window) -> bool:
    """Whether less is accepted beyond saturation than was carried, not by chance alone."""
    widths = [window["accepted_half_width"] for window in (carried, beyond)]
    if None in widths:
        return False
    return bool(carried["accepted"] - beyond["accepted"] > sum(widths))


def pooled(found: Sequence[Saturation]) -> Saturation | None:
    """Of several seeds the mean, with Student's interval over them and no less than the seeds' own
    on average: how close a search comes does not improve by repeating it."""
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
        tried=[[load, w["accepted"], w["stable"]] for load, w in tried.items()],
        is_told=high is None or window_rules.can_deny([tried[high]]),
    )
