"""The rack of a host, by its name, its address or a prefix that contains the address."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lightloom.control.demand.source import source_of
from lightloom.control.demand.tables import Rows
from lightloom.control.names import printable
from lightloom.errors import ConfigError
from lightloom.units.counts import counted

HOST = ("host", "address", "prefix", "ip", "name", "server")
RACK = ("rack", "tor", "node")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass
class HostMap:
    """The racks of hosts.

    A listed name or address takes precedence over a prefix, a longer prefix over a shorter one. The
    name of a rack stands for the rack itself unless it is listed.
    """

    name: str
    """The name of its file in messages."""
    racks: list[str] = field(default_factory=list)
    """The racks in the order of the file, without duplicates."""
    hosts: dict[str, str] = field(default_factory=dict)
    """Name or address → rack."""
    prefixes: dict[tuple[int, int], dict[int, str]] = field(default_factory=dict)
    """Version of the protocol and length of the prefix → number of the network → rack."""
    _found: dict[str, str | None] = field(default_factory=dict)

    def rack_of(self, host: str) -> str | None:
        """Returns the rack of a host; None if it is unknown."""
        if host not in self._found:
            self._found[host] = self._look_up(host)
        return self._found[host]

    def _look_up(self, host: str) -> str | None:
        address = _address(host)
        key = host if address is None else str(address)
        if key in self.hosts:
            return self.hosts[key]
        if address is None:
            return host if host in {*self.racks} else None
        for (version, length), networks in self.prefixes.items():
            if version == address.version:
                network = int(address) >> (address.max_prefixlen - length)
                if network in networks:
                    return networks[network]
        return None

    def add(self, where: str, host: str, rack: str) -> None:
        """Adds a line of the file."""
        if not host or not rack:
            missing = "host" if not host else "rack"
            raise ConfigError(f"{where}: no {missing}; give every line a host and its rack")
        other = self._put(where, host, rack)
        if other != rack:
            limit = f"`{host}` is in `{rack}` here, and in `{other}` above"
            raise ConfigError(f"{where}: {limit}; list every host once")
        if rack not in self.racks:
            self.racks.append(rack)

    def _put(self, where: str, host: str, rack: str) -> str:
        """Returns the rack of the host, which may be that of an earlier line."""
        network = _network(where, host) if "/" in host else None
        if network is None:
            address = _address(host)
            return self.hosts.setdefault(host if address is None else str(address), rack)
        shift = network.max_prefixlen - network.prefixlen
        known = self.prefixes.setdefault((network.version, network.prefixlen), {})
        return known.setdefault(int(network.network_address) >> shift, rack)

    def networks(self) -> dict[str, list[Network]]:
        """The addresses and prefixes of each rack, without hosts that have only a name."""
        found: dict[str, list[Network]] = {rack: [] for rack in self.racks}
        for host, rack in self.hosts.items():
            if (address := _address(host)) is not None:
                found[rack].append(ipaddress.ip_network(address))
        for (version, length), numbers in self.prefixes.items():
            kind = ipaddress.IPv4Network if version == 4 else ipaddress.IPv6Network
            bits = 32 if version == 4 else 128
            for number, rack in numbers.items():
                found[rack].append(kind((number << (bits - length), length)))
        return found

    def longest_first(self) -> None:
        """Sorts prefixes so that longer ones are looked up first."""
        self.prefixes = dict(sorted(self.prefixes.items(), reverse=True))


def read_hosts(path: str | Path) -> HostMap:
    """Reads a map: CSV lines with a host, an address or a prefix, and its rack.

    A first line may name the columns (`host`, `address` or `prefix`; `rack`); other columns are
    then ignored. Without it there are two columns, in this order.

    Raises:
        ConfigError: if a line is invalid; it names file and line.
        OSError: if the file cannot be opened.
    """
    source = source_of(path)
    rows = Rows(source)
    found, columns = HostMap(source.name), None
    for row in rows:
        cells = [printable(cell.strip()) for cell in row]
        if columns is None:
            columns = _columns(rows.where(), cells)
            if columns[0] >= 0:
                continue
            columns = (0, 1)
        if len(cells) <= max(columns):
            limit = counted(len(cells), "cell")
            raise ConfigError(f"{rows.where()}: {limit}; give every line a host and its rack")
        found.add(rows.where(), cells[columns[0]], cells[columns[1]])
    if not found.racks:
        raise ConfigError(f"{source.name}: no hosts in it; give a line `address,rack` for each")
    found.longest_first()
    return found


def _columns(where: str, cells: Sequence[str]) -> tuple[int, int]:
    """The indices of the columns that a first line names; (-1, -1) if it names none."""
    named = [cell.lower() for cell in cells]
    host = next((named.index(name) for name in HOST if name in named), -1)
    rack = next((named.index(name) for name in RACK if name in named), -1)
    if host >= 0 and rack >= 0:
        return host, rack
    if len(cells) != 2 or host >= 0 or rack >= 0:
        limit = f"{counted(len(cells), 'column')}, of which no two are called host and rack"
        raise ConfigError(f"{where}: {limit}; name them in the first line: host,rack")
    return -1, -1


def _address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _network(where: str, host: str) -> Network:
    try:
        return ipaddress.ip_network(host)
    except ValueError as problem:
        if "host bits" in str(problem):
            right = ipaddress.ip_network(host, strict=False)
            limit, remedy = "has bits set beyond its length", f"write {right}"
        else:
            limit, remedy = "no prefix", "write it like 10.1.2.0/24 or 2001:db8::/64"
        raise ConfigError(f"{where}: {host}: {limit}; {remedy}") from None
