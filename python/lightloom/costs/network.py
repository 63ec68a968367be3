"""The input of a bill, from a resolved experiment: the cluster as integers, and one fabric's
table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

from lightloom import _core

Table = Mapping[str, Any]


@dataclass(frozen=True)
class Network:
    """One fabric and the servers that it connects."""

    kind: str
    racks: int
    servers_per_rack: int
    server_rate: Fraction
    """The rate of a server at load 1 [b/s]."""
    fabric: Table
    """The resolved table of the fabric."""

    @property
    def servers(self) -> int:
        """The number of servers."""
        return self.racks * self.servers_per_rack

    @property
    def rack_rate(self) -> Fraction:
        """The rate of all servers of a rack together [b/s]."""
        return self.servers_per_rack * self.server_rate

    @property
    def bandwidth(self) -> Fraction:
        """The rate of all servers together [b/s]."""
        return self.servers * self.server_rate

    @property
    def has_rack_switches(self) -> bool:
        """Whether racks have a switch; a rack of one server is that server and needs none."""
        return self.servers_per_rack > 1

    def rate(self, key: str) -> int:
        """Returns a data rate of the fabric's table [b/s]."""
        return int(_core.control_rate(f"fabric.{key}", self.fabric[key]))

    def ratio(self, key: str = "oversubscription") -> Fraction:
        """Returns a ratio of the table, exactly as written."""
        return Fraction(str(self.fabric.get(key, 1)))


def network_of(resolved: Table, fabric: Table) -> Network:
    """Returns one fabric of a resolved experiment."""
    cluster = resolved["cluster"]
    servers = int(cluster.get("servers_per_rack", 1))
    if "server_rate" in cluster:
        rate = Fraction(_core.control_rate("cluster.server_rate", cluster["server_rate"]))
    else:
        rack = _core.control_rate("cluster.rack_rate", cluster["rack_rate"])
        rate = Fraction(rack, servers)
    return Network(str(fabric["kind"]), int(cluster["racks"]), servers, rate, fabric)


def root(number: Fraction) -> Fraction:
    """Returns the square root; exact if it is rational, else to 15 digits."""
    found = Fraction(isqrt(number.numerator), isqrt(number.denominator))
    return (
        found
        if found * found == number
        else Fraction(float(number) ** 0.5).limit_denominator(10**15)
    )
