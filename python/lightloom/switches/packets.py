"""What clients of an emulated switch see: a stream of packets into each A port, and which of them
arrive.

Packets of a stream begin every `gap_ps`, and each takes `length_ps`. One arrives if the link of its
cross-connect is up for all of that time: from the end of settling, relock and link-up until the
cross-connect is deleted or fails. Nothing waits: what meets a dark path is lost, as behind a sender
that does not know of the change. Counts follow from the times of the links, so a stream costs
nothing while it lasts.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field

from lightloom.switches.ports import Pair


@dataclass(frozen=True)
class Stream:
    """The packets that each A port is sent."""

    gap_ps: int = 10_000_000
    """From the begin of a packet to that of the next [ps]."""
    length_ps: int = 120_000
    """Duration of one packet [ps]: 1,500 B at 100 Gb/s."""


@dataclass
class Counted:
    """Packets of one A port."""

    sent: int = 0
    """That have ended [count]."""
    delivered: int = 0
    """That arrived [count]."""
    to: dict[int, int] = field(default_factory=dict)
    """B port → that arrived there [count]."""
    silence_ps: int = 0
    """The longest time between two that arrived, or since the begin, or until now [ps]."""

    @property
    def lost(self) -> int:
        """That did not arrive [count]."""
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
        """The links that are up or will be [when, ps], from now on."""
        for pair, since in [*self._up.items()]:
            if up.get(pair) != since:
                self._close(pair, since, now)
                del self._up[pair]
        for pair, since in up.items():
            if pair not in self._up:
                self._up[pair] = since
                self._found.setdefault(pair[0], Counted())

    def counts(self, now: int) -> dict[int, Counted]:
        """A port → its packets until now, of ports that have had a cross-connect by then."""
        found = copy.deepcopy(self)
        found.note(now, {})
        for a, one in found._found.items():
            one.sent = self._ended_by(now)
            one.silence_ps = max(one.silence_ps, now - found._last.get(a, self.since_ps))
        return dict(sorted(found._found.items()))

    def _ended_by(self, now: int) -> int:
        """Packets that have ended [count]."""
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
