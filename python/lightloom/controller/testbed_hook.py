"""A hook that drains traffic and lets it in by the forwarding of a Linux testbed: by OpenFlow rules
of its servers, or by tables of its rack switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lightloom.controller.hooks import HookError
from lightloom.switches.ports import Pair
from lightloom.testbed.bed import Testbed
from lightloom.testbed.host import exhaust
from lightloom.testbed.optical_switch import kernel_plane_of

RackPair = tuple[int, int]


class TestbedHook:
    """Sends the traffic of racks over bidirectional circuits, and removes it from others."""

    __test__ = False  # its name begins as those of tests do

    def __init__(self, bed: Testbed) -> None:
        """Changes nothing."""
        self._plane = kernel_plane_of(bed)
        self._racks = bed.setup.layout.racks
        self._drained: set[RackPair] = set()

    def start(self, check: Callable[[], None]) -> None:
        """Does nothing, because the testbed is already up."""

    def drain(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Moves the traffic to the electrical network; returns when none is in transit over
        these."""
        ends = sorted({self._ends(pair)[0] for pair in pairs})
        if ends:
            self._drained |= {*ends}
            self._carry_out(self._plane.forwarding.drain(ends, {"routes": []}))

    def enter(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Moves traffic to the circuits that are lit now."""
        lit = self._lit()
        entering = {self._ends(pair)[0] for pair in pairs}
        forwarding = self._plane.forwarding
        new = {ends: plane for ends, plane in lit.items() if ends in entering}
        self._carry_out(forwarding.route(_routes(new)))
        self._carry_out(forwarding.enter(sorted(self._drained), _routes(lit), False))
        self._drained.clear()

    def forget(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing, because the next `enter` clears the drained state."""

    def keep(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing."""

    def stop(self) -> None:
        """Does nothing, because the testbed stays up."""

    def _ends(self, pair: Pair) -> tuple[RackPair, int]:
        a, b = ((port - 1) % self._racks for port in pair)
        return (min(a, b), max(a, b)), (pair[0] - 1) // self._racks

    def _lit(self) -> dict[RackPair, int]:
        """The pairs of racks with a bidirectional circuit, and its plane."""
        lit = self._plane.lit
        both = [(a, b, plane) for a, b, plane in lit if a < b and (b, a, plane) in lit]
        return {(a, b): plane for a, b, plane in sorted(both, reverse=True)}

    @staticmethod
    def _carry_out(work: Iterator[float]) -> None:
        try:
            exhaust(work)
        except OSError as problem:
            raise HookError(f"testbed: {problem}") from None


def _routes(circuits: dict[RackPair, int]) -> dict[str, list[dict[str, list[int]]]]:
    ways = [{"racks": [a, b], "planes": [plane]} for (a, b), plane in sorted(circuits.items())]
    return {"routes": ways}
