"""Demand from counters of interfaces, read over gNMI from the switches of the racks.

`/interfaces/interface[name=…]/state/counters` (OpenConfig) contains the bytes that an interface has
received and sent since its start. The bytes that each rack sent and received in the last `span` are
the difference of two readings, summed over its interfaces. If they are further apart than `span`,
the difference is scaled to it. The demand of each pair is estimated by gravity, as with
`lightloom plan --estimate gravity`.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import numpy as np

from lightloom.control.demand.gravity import from_sums
from lightloom.controller.config import CountersTable, positive_s
from lightloom.controller.interfaces import Interface, Targets, by_target, read_interfaces
from lightloom.controller.matrices import Seen, matrix_of_names
from lightloom.controller.racks import Racks
from lightloom.errors import ConfigError
from lightloom.switches.drivers._gnmi_client import GnmiClient, path_of
from lightloom.switches.protocol import SwitchError

KEY = "demand.counters"
LEAVES = ("in-octets", "out-octets")
MOST = 2**64
Octets = tuple[int, int]
"""Received and sent [bytes]."""
Totals = dict[Interface, Octets]


class Counters:
    """The counters of the interfaces of all racks."""

    def __init__(self, table: CountersTable, interval: str) -> None:
        """Reads the table of interfaces; contacts no switch yet.

        Args:
            table: the table of the configuration.
            interval: the controller's interval, in which counters are read once for all switches.

        Raises:
            ConfigError: if the table or a line of its file is invalid.
        """
        self._file = table.interfaces
        self._origin = table.origin
        self._span_s = positive_s(f"{KEY}.span", table.span)
        self._interval_s = positive_s("interval", interval)
        self._fresh_s = self._interval_s / 2
        self._targets = Targets(table.credentials, positive_s(f"{KEY}.timeout", table.timeout))
        self._racks = _racks_of(table)
        self._names = sorted({*self._racks.values()})
        self._raw: Totals = {}
        self._totals: Totals = dict.fromkeys(self._racks, (0, 0))
        self._readings: deque[tuple[float, Totals]] = deque()
        self._failed: tuple[float, ConfigError] | None = None
        self._lock = threading.Lock()

    def check(self, racks: Racks) -> None:
        """Refuses racks without an interface.

        Raises:
            ConfigError: naming one.
        """
        for name in racks.names:
            if name not in self._names:
                limit = f"no interface of rack {name}, which is in {racks.file}"
                raise ConfigError(f"{self._file}: {limit}; add a line {name},gnmi://HOST,INTERFACE")

    def latest(self, racks: Racks, now: float) -> Seen | None:
        """The demand of the last `span`, or of the time since the first reading after the start or
        after an outage; None before the second reading.

        Raises:
            ConfigError: naming a switch that does not answer, or an interface without counters.
        """
        with self._lock:
            self._renew(now)
            if len(self._readings) < 2:
                return None
            (began, first), (at, last) = self._readings[0], self._readings[-1]
        sums = np.zeros((2, len(self._names)))
        for interface, rack in self._racks.items():
            place = self._names.index(rack)
            for way in (0, 1):
                sums[way, place] += last[interface][way] - first[interface][way]
        span_s = min(self._span_s, at - began)
        sums *= span_s / (at - began)
        return Seen(self._matrix(sums, racks), at, "gNMI counters", span_s)

    def _matrix(self, sums: Any, racks: Racks) -> list[list[int]]:
        if not sums.any():
            return [[0] * len(racks.names) for _ in racks.names]
        matrix = from_sums(str(self._file), self._names, out=sums[1], came=sums[0])
        return matrix_of_names(matrix.tolist(), self._names, racks, str(self._file))

    def _renew(self, now: float) -> None:
        """Reads the counters, unless this was just done for another switch."""
        if self._failed is not None and now - self._failed[0] < self._fresh_s:
            raise self._failed[1]
        if self._readings and now - self._readings[-1][0] < self._fresh_s:
            return
        try:
            self._read(now)
            self._failed = None
        except ConfigError as problem:
            self._failed = now, problem
            raise

    def _read(self, now: float) -> None:
        """Adds a reading, and drops readings that are no longer needed."""
        found = self._targets.each(by_target([*self._racks]), self._counters)
        raw: Totals = {}
        for target, result in found.items():
            if isinstance(result, Exception):
                raise ConfigError(f"{KEY}: {result}") from None
            for name, octets in result.items():
                raw[Interface(target, name)] = octets
        if self._raw:
            for interface, octets in raw.items():
                before, total = self._raw[interface], self._totals[interface]
                # A counter that has decreased was reset to 0.
                gained = [b - a if b >= a else b for a, b in zip(before, octets, strict=True)]
                self._totals[interface] = (total[0] + gained[0], total[1] + gained[1])
        self._raw = raw
        self._readings.append((now, {**self._totals}))
        begins = now - self._span_s
        while len(self._readings) > 2 and (
            self._readings[1][0] <= begins or self._readings[0][0] < begins - self._interval_s
        ):
            self._readings.popleft()

    def _counters(self, client: GnmiClient, names: list[str]) -> dict[str, Octets]:
        return {name: self._octets(client, name) for name in names}

    def _octets(self, client: GnmiClient, name: str) -> Octets:
        steps = ("interfaces", ("interface", name), "state", "counters")
        found = client.get(path_of(*steps, origin=self._origin), None)
        leaves = _bare(found)
        if set(leaves) == {"counters"}:
            leaves = _bare(leaves["counters"])
        came, sent = (_octet(client.target, name, leaf, leaves.get(leaf)) for leaf in LEAVES)
        return came, sent


def _racks_of(table: CountersTable) -> dict[Interface, str]:
    found: dict[Interface, str] = {}
    for where, (rack,), interface in read_interfaces(table.interfaces, ["rack"]):
        if interface in found:
            raise ConfigError(f"{where}: {interface} is there already; list it once")
        found[interface] = rack
    if len({*found.values()}) < 2:
        raise ConfigError(f"{table.interfaces}: fewer than two racks; list those of the port map")
    return found


def _bare(found: Any) -> dict[str, Any]:
    """The members of an object, with names without the module (`openconfig-interfaces:`)."""
    if not isinstance(found, dict):
        return {}
    return {str(name).rpartition(":")[2]: value for name, value in found.items()}


def _octet(target: str, interface: str, leaf: str, value: Any) -> int:
    """A counter, which JSON represents as text because it has 64 bits."""
    text = str(value)
    if isinstance(value, bool) or not (text.isascii() and text.isdigit()) or int(text) >= MOST:
        shown = "(missing)" if value is None else text[:60]
        limit = "a counter of octets is needed"
        remedy = "check the name of the interface"
        raise SwitchError(f"{target}: {interface}: {leaf} = {shown}: {limit}; {remedy}")
    return int(text)
