"""Packets through an emulated switch: a stream into each A port, and the number that arrives.

Packets of a stream begin every `gap_ps`, and each takes `length_ps`. A packet arrives if the link
of its cross-connect is up for all of that time: from the end of settling, relock and link-up until
the cross-connect is deleted or fails. Packets are not buffered: a packet at a dark path is lost, as
behind a sender that is not aware of the change. Counts are computed from the times of the links, so
a running stream costs no time.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field

from lightloom.switches.ports import Pair


@dataclass(frozen=True)
class Stream:
    """The stream of packets into each A port."""

    gap_ps: int = 10_000_000
    """Time from the start of a packet to the start of the next [ps]."""
    length_ps: int = 120_000
    """Duration of one packet [ps]: 1,500 B at 100 Gb/s."""


@dataclass
class Counted:
    """Packet counts of one A port."""

    sent: int = 0
    """Number of packets that have ended."""
    delivered: int = 0
    """Number of packets that arrived."""
    to: dict[int, int] = field(default_factory=dict)
    """B port → number of packets that arrived there."""
    silence_ps: int = 0
    """The longest time without an arrival [ps]: between two arrivals, from the start to the first,
    or from the last until now."""

    @property
    def lost(self) -> int:
        """Returns the number of packets that did not arrive."""
        return self.sent - self.delivered


class Counter:
    """Counts the packets of a stream from a time on."""

    def __init__(self, stream: Stream, since_ps: int) -> None:
        self.stream = stream
        self.since_ps = since_ps
        self._up: dict[Pair, int] = {}
        self._found: dict[int, Counted] = {}
        self._last: dict[int, int] = {}

    def note(self, now: int, up: Mapping[Pair, int]) -> None:
        """Sets the links that are or will be up from now on, each with the time at which it comes
        up [ps]."""
        for pair, since in [*self._up.items()]:
            if up.get(pair) != since:
                self._close(pair, since, now)
                del self._up[pair]
        for pair, since in up.items():
            if pair not in self._up:
                self._up[pair] = since
                self._found.setdefault(pair[0], Counted())

    def counts(self, now: int) -> dict[int, Counted]:
        """Returns A port → its packets up to now, for ports that have had a cross-connect."""
        found = copy.deepcopy(self)
        found.note(now, {})
        for a, one in found._found.items():
            one.sent = self._ended_by(now)
            one.silence_ps = max(one.silence_ps, now - found._last.get(a, self.since_ps))
        return dict(sorted(found._found.items()))

    def _ended_by(self, now: int) -> int:
        """Returns the number of packets that have ended."""
        return max(0, (now - self.since_ps - self.stream.length_ps) // self.stream.gap_ps + 1)

    def _close(self, pair: Pair, up: int, down: int) -> None:
        """Counts the packets of a link that was up."""
        first = max(0, -((self.since_ps - up) // self.stream.gap_ps))
        end = self._ended_by(down)
        if end <= first:
            return
        one = self._found[pair[0]]
        one.delivered += end - first
        one.to[pair[1]] = one.to.get(pair[1], 0) + end - first
        before = self._last.get(pair[0], self.since_ps)
        arrived = self._arrival(first)
        between = self.stream.gap_ps if end - first > 1 else 0
        one.silence_ps = max(one.silence_ps, arrived - before, between)
        self._last[pair[0]] = self._arrival(end - 1)

    def _arrival(self, packet: int) -> int:
        return self.since_ps + packet * self.stream.gap_ps + self.stream.length_ps
