"""Names, addresses and links of a testbed, without creating anything.

The MAC address of a host is 02:4c, then its rack in two bytes and its number in the rack in two
bytes; the data planes read it. Its IP address contains the rack in the second and third byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

PREFIX = "lightloom"
"""Prefix of the names of all namespaces."""
DEVICE = "eth0"
"""The device in a host's namespace."""
UPLINK = "uplink"
"""The host's end of its link if Open vSwitch is between the link and the device."""
NETWORK = "10.0.0.0/8"


def rack_prefix(rack: int) -> tuple[str, str]:
    """The common prefix of the MAC addresses of a rack's hosts, and its mask.

    >>> rack_prefix(3)
    ('02:4c:00:03:00:00', 'ff:ff:ff:ff:00:00')
    """
    return Host(0, rack, 0).mac, "ff:ff:ff:ff:00:00"


@dataclass(frozen=True)
class Host:
    """A host of the testbed."""

    index: int
    """Number of the server in the experiment."""
    rack: int
    number: int
    """Its number in the rack."""

    @property
    def address(self) -> str:
        """Its IP address."""
        return f"10.{self.rack >> 8}.{self.rack & 255}.{self.number + 1}"

    @property
    def mac(self) -> str:
        """Its MAC address."""
        parts = (2, 0x4C, *self.rack.to_bytes(2, "big"), *self.number.to_bytes(2, "big"))
        return ":".join(f"{part:02x}" for part in parts)

    @property
    def port(self) -> str:
        """The other end of its link, at the rack switch."""
        return f"h{self.rack}.{self.number}"


@dataclass(frozen=True)
class Port:
    """An interface of the fabric's namespace, in the form of the kernel plane."""

    name: str
    rack: int
    role: str
    """host, tor-electrical, tor-optical, core or ocs."""
    number: int = 0
    """The number of the host in its rack, or of the optical switch."""

    @property
    def node(self) -> str:
        """The owner of the port: a rack switch, the electrical network or an optical switch."""
        if self.role == "ocs":
            return f"optical switch {self.number}"
        return "core" if self.role == "core" else f"rack {self.rack}"


@dataclass(frozen=True)
class Layout:
    """The racks and hosts of a named testbed."""

    name: str
    racks: int
    hosts_per_rack: int
    planes: int
    electrical: bool

    @property
    def hosts(self) -> list[Host]:
        """All hosts, by their index."""
        per = self.hosts_per_rack
        return [Host(i, i // per, i % per) for i in range(self.racks * per)]

    def namespace(self, host: Host) -> str:
        """The network namespace of a host."""
        return f"{PREFIX}-{self.name}-{host.rack}-{host.number}"

    @property
    def fabric(self) -> str:
        """The network namespace of rack switches and networks."""
        return f"{PREFIX}-{self.name}-fabric"

    @property
    def namespaces(self) -> list[str]:
        """All of them."""
        return [self.fabric, *(self.namespace(host) for host in self.hosts)]

    def uplinks(self) -> Iterator[tuple[Port, Port]]:
        """The links between rack switches and networks, both ends of each."""
        for rack in range(self.racks):
            if self.electrical:
                yield Port(f"e{rack}", rack, "tor-electrical"), Port(f"E{rack}", rack, "core")
            for plane in range(self.planes):
                ends = Port(f"o{rack}.{plane}", rack, "tor-optical", plane)
                yield ends, Port(f"O{rack}.{plane}", rack, "ocs", plane)

    def ports(self) -> list[Port]:
        """All interfaces of the fabric's namespace."""
        hosts = [Port(host.port, host.rack, "host", host.number) for host in self.hosts]
        return hosts + [end for ends in self.uplinks() for end in ends]
