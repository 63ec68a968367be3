"""Independent references of the controller's rules: the owner of a port, and the changes that a
policy may make."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lightloom.controller.config import LimitsTable
from lightloom.switches.ports import Pair
from lightloom.units.durations import duration_ps

Request = tuple[int, float, Pair, str]
"""Rank, start time, cross-connect, owner."""
DAY_S = 86_400.0
HOUR_S = 3_600.0


def chosen(
    requests: Sequence[Request], lit: Collection[Pair] = (), drift: Collection[Pair] = ()
) -> dict[Pair, str]:
    """Returns the target cross-connects with their owners.

    A circuit has all its directions or none; circuits of the highest rank come first, then the
    oldest ones. A circuit with a port that is occupied by `drift` is excluded.
    """
    found: dict[Pair, str] = {}
    circuits = []
    for circuit in sorted(_circuits(requests), key=lambda ways: max(map(_place, ways))):
        ways = [(pair, owner) for _, _, pair, owner in circuit]
        if all(pair in found or _is_free(pair, found) for pair, _ in ways):
            found = {**dict(ways), **found}
            circuits.append(ways)
    there = [pair for pair in drift if pair not in found]
    free = [c for c in circuits if all(pair in lit or _is_free(pair, there) for pair, _ in c)]
    return {pair: found[pair] for circuit in free for pair, _ in circuit}


def _circuits(requests: Sequence[Request]) -> list[list[Request]]:
    """Returns the requests of each owner, with both directions between two racks in one list; rack
    1 is at the ports 1."""
    found: dict[tuple[str, Collection[int]], list[Request]] = {}
    for request in requests:
        _, _, pair, owner = request
        found.setdefault((owner, frozenset(pair)), []).append(request)
    return [*found.values()]


def _place(request: Request) -> tuple[int, float, Pair]:
    return -request[0], request[1], request[2]


def _is_free(pair: Pair, others: Collection[Pair]) -> bool:
    return all(pair[0] != a and pair[1] != b for a, b in others)


class Limited:
    """The limits of a policy in seconds."""

    def __init__(self, table: LimitsTable, settle_s: float) -> None:
        self.dwell_s = duration_ps("dwell", table.dwell) / 1e12
        self.gain = table.gain
        dark = table.dark_per_hour
        self.dark_s = None if dark is None else duration_ps("dark", dark) / 1e12
        self.settle_s = settle_s
        self.quiet: list[tuple[float, float]] = []
        for text in table.quiet:
            hours = [part.split(":") for part in text.split("-")]
            start, end = (3600.0 * int(hour) + 60.0 * int(minute) for hour, minute in hours)
            self.quiet.append((start, end))


def permitted(
    limited: Limited,
    now: float,
    spans: Sequence[tuple[float, float]],
    given_up: Mapping[Pair, float],
    gained: float,
    *,
    darkens: bool,
) -> str | None:
    """Returns the reason why a change of a policy must not begin now; None if it may.

    Args:
        limited: its limits; quiet times are within a day.
        now: seconds since 1970.
        spans: when changes of the policy before kept dark what it gave up.
        given_up: cross-connects that the policy wanted so far, and since when.
        gained: more of the demand is between joined racks.
        darkens: whether it removes something that the policy wanted so far.
    """
    if any(start <= now % DAY_S < end for start, end in limited.quiet):
        return "quiet hours"
    if any(now - since < limited.dwell_s - 0.1 for since in given_up.values()):
        return f"dwell of {given_up}"
    if gained < limited.gain - 1e-9:
        return f"gain {gained}"
    if limited.dark_s is not None and darkens:
        within = [(max(start, now - HOUR_S), end) for start, end in spans if end > now - HOUR_S]
        spent = sum(end - start for start, end in within)
        if spent + limited.settle_s > limited.dark_s + 0.1:
            return f"dark time: {spent} s are spent"
    return None
