"""The optical switches of a testbed as one `CircuitSwitch`, for a controller of real switches.

A rack's port on plane p is number p × racks + rack + 1 on either side.
"""

from __future__ import annotations

import time
from collections.abc import Collection

from lightloom.switches.ports import Pair, Port, Size, name_of
from lightloom.switches.protocol import (
    WAIT_S,
    CrossConnect,
    Description,
    Outcome,
    Reading,
    SwitchError,
    check_pairs,
    difference,
)
from lightloom.switches.states import Status
from lightloom.testbed.bed import Testbed
from lightloom.testbed.forwarding import Hop
from lightloom.testbed.host import exhaust
from lightloom.testbed.kernel import KernelPlane
from lightloom.testbed.setup import scaled_ps


class OpticalSwitch:
    """The switches of a testbed that is up and whose own controller has not started.

    Its methods are called by the thread that made the testbed.
    """

    def __init__(self, bed: Testbed) -> None:
        """Creates the switch; changes no circuit.

        Raises:
            TypeError: if circuits of the testbed are days of a schedule.
        """
        self._plane = kernel_plane_of(bed)
        self._racks = bed.setup.layout.racks
        ports = self._racks * bed.setup.layout.planes
        self._size = Size(ports, ports)
        self._settle_ps = scaled_ps(bed.setup, bed.setup.dark_ps)

    def describe(self) -> Description:
        """Returns the properties of the switch."""
        return Description(
            "testbed:",
            "in process",
            "testbed",
            self._size,
            self._settle_ps,
            bidirectional=False,
            reports_status=True,
        )

    def read(self) -> Reading:
        """Its cross-connects; all existing ones have light."""
        lit = sorted(self._pair(hop) for hop in self._plane.lit)
        return Reading([CrossConnect(pair, name_of(pair), Status.CONNECTED) for pair in lit])

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = WAIT_S
    ) -> Outcome:
        """Deletes, then creates connections, and waits for the switching time of the mirrors.

        Raises:
            SwitchError: if a port is in use, or two ports belong to different planes.
        """
        check_pairs(remove, add, self._size)
        gone, new, kept = difference(self.read(), remove, add)
        held = {*self.read().pairs} - {*gone}
        for pair in new:
            self._check(pair, held)
        began = time.monotonic()
        exhaust(self._plane.carry_out("dark", self._circuits(gone)))
        if new:
            exhaust(self._plane.carry_out("light", self._circuits(new)))
        return Outcome(gone, new, kept, True, time.monotonic() - began)

    def _check(self, pair: Pair, held: Collection[Pair]) -> None:
        sides = [(port - 1) // self._racks for port in pair]
        if sides[0] != sides[1]:
            text = f"testbed: {name_of(pair)}: the ports are of different optical switches"
            raise SwitchError(f"{text}; name ports of one", Outcome())
        for other in held:
            if other[0] == pair[0] or other[1] == pair[1]:
                text = f"testbed: {name_of(pair)}: {name_of(other)} holds one of its ports"
                raise SwitchError(f"{text}; remove it first", Outcome())

    def _circuits(self, pairs: Collection[Pair]) -> dict[str, object]:
        hops = [
            ((a - 1) % self._racks, (b - 1) % self._racks, (a - 1) // self._racks) for a, b in pairs
        ]
        return {"circuits": hops, "directed": True}

    def _pair(self, hop: Hop) -> Pair:
        a, b, plane = hop
        first = plane * self._racks + 1
        return first + a, first + b

    def power(self) -> dict[Port, float] | None:
        """Returns None, because there are no power monitors."""
        return None

    def close(self) -> None:
        """Nothing is open."""


def kernel_plane_of(bed: Testbed) -> KernelPlane:
    """The kernel plane of a testbed.

    Raises:
        TypeError: if it has the user-space plane.
    """
    if not isinstance(bed.plane, KernelPlane):
        raise TypeError("the circuits of the user-space plane last for days of a schedule")
    return bed.plane
