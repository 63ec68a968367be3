"""The user-space plane as a driver of the controller: TAP devices, queues, days and nights."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lightloom import _core
from lightloom.errors import refusal
from lightloom.testbed import namespaces, shell
from lightloom.testbed.layout import DEVICE
from lightloom.testbed.measure import Observed
from lightloom.testbed.setup import Setup, policy_of, scaled_ps

FRAMES = 100_000
"""Number of frames that the plane holds (150 MB); beyond it, hosts wait."""
MTU = 1500


class UserPlane:
    """Racks on an optical switch that follows schedules."""

    def __init__(self, setup: Setup) -> None:
        """Creates the devices and starts to poll; the namespaces must exist.

        Raises:
            RuntimeError: if a tool fails.
            OSError: if the kernel refuses.
        """
        layout = setup.layout
        self._setup = setup
        self._racks = layout.racks
        hosts = [
            (shell.NAMESPACES / layout.namespace(host), host.rack, host.number)
            for host in layout.hosts
        ]
        self._plane = _core.TestbedUserPlane(
            hosts, layout.racks, setup.circuit_bps, DEVICE, MTU, FRAMES
        )
        for host in layout.hosts:
            namespaces.settle_host(layout, host, MTU, setup.buffer)
            rate = f"rate {setup.host_bps}bit burst 16kb latency 200ms"
            space = layout.namespace(host)
            # The device is shaped to the rate of the link, because its ring would overflow
            # otherwise. It gets packets instead of large segments, because a day carries only few
            # bytes.
            shell.batch("tc", [f"qdisc add dev {DEVICE} root tbf {rate}"], space)
        self.history: list[tuple[int, int, int, float, float | None]] = []
        """Permanent circuits: always empty, because this plane follows schedules."""
        self.directed = False
        self.schedules: list[tuple[float, Mapping[str, Any]]] = []
        """Schedules that were followed, with their starts [s of the monotonic clock]."""

    def carry_out(self, kind: str, body: Any) -> Iterator[float]:
        """Follows a schedule from the end of the present day on, which is the only action of this
        plane.

        Raises:
            ConfigError: if the policy returns circuits.
            OSError: if the plane cannot follow the schedule.
        """
        if kind != "follow":
            limit = "it returned permanent circuits, but Mordia's switch follows schedules"
            raise refusal("fabric.policy", policy_of(self._setup), limit, 'use kind = "hybrid"')
        night = scaled_ps(self._setup, body["night_ps"]) // 1000
        slots = [
            (slot["permutation"], scaled_ps(self._setup, slot["day_ps"]) // 1000)
            for slot in body["slots"]
        ]
        self._plane.follow(night, slots)
        self.schedules.append((time.monotonic(), body))
        yield from ()

    def report_demand(self) -> list[list[int]]:
        """Bytes in the queue of each pair of racks: rack, rack, bytes."""
        racks, waiting = self._racks, self._plane.counts()["waiting"]
        rows = ((at // racks, at % racks, size) for at, size in enumerate(waiting))
        return [[a, b, size] for a, b, size in rows if size]

    def counts(self) -> dict[str, Any]:
        """The counts of the plane."""
        found: dict[str, Any] = self._plane.counts()
        return found

    def read_counters(self) -> list[tuple[str, int]]:
        """Bytes that crossed circuits, by the racks of each pair."""
        return self._by_pair(self.counts()["carried"])

    def _by_pair(self, sizes: Sequence[int]) -> list[tuple[str, int]]:
        racks = self._racks
        pairs = ((at // racks, at % racks, size) for at, size in enumerate(sizes))
        return [(f"{a}>{b}", size) for a, b, size in pairs if a != b]

    def observe(self) -> Observed:
        """The bytes that crossed circuits, and the bytes that wait for them in the racks."""
        now, counts = time.monotonic(), self.counts()
        carried, waiting = sum(counts["carried"]), self._by_pair(counts["waiting"])
        return Observed(
            at=now,
            delivered=carried,
            carried=carried,
            losses=counts["lost"],
            queues=[(f"rack {name.partition('>')[0]}", name, size) for name, size in waiting],
            waiting=sum(size for _, size in waiting),
            offered=sum(counts["offered"]),
            at_sources=True,
        )

    def totals(self) -> dict[str, Any]:
        """Losses, share of frames in their day, and lateness of days."""
        counts = self.counts()
        between = counts["in_day"] + counts["out_of_day"]
        median, p99, p999, most = (ns / 1000 for ns in counts["lateness_ns"])
        return {
            "lost_frames": counts["lost"],
            "in_day": counts["in_day"] / between if between else None,
            "frames": counts["frames"],
            "sync_frames": counts["sync"],
            "strange_packets": counts["strange"],
            "days": counts["days"],
            "missed_days": counts["missed_days"],
            "lateness_us": {"p50": median, "p99": p99, "p99.9": p999, "max": most},
        }

    def is_alive(self) -> bool:
        """Whether its thread still polls."""
        return bool(self._plane.works())

    def stop(self) -> None:
        """Ends the thread, and with it the devices."""
        self._plane.stop()
