"""Rules of OpenFlow switches for circuits: the switches that send over each A port, and their
rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lightloom.control.demand.hosts import Network, read_hosts
from lightloom.controller.config import OpenFlowTable
from lightloom.controller.tables import read_rows
from lightloom.errors import ConfigError
from lightloom.switches.openflow import NORMAL, Match, Removal, Rule
from lightloom.switches.ports import Port, port_of

NEEDED = ("switch", "port", "datapath", "circuit", "electrical")
LAST_PORT = 0xFFFFFF00
"""Largest number of a physical port; higher numbers are reserved."""
BAND = 66
"""Priorities of a sender: two for each length of a prefix."""


@dataclass(frozen=True)
class Way:
    """An output port, and a VLAN tag that is pushed first."""

    port: int
    vlan: int | None = None


@dataclass(frozen=True)
class Sender:
    """An OpenFlow switch that sends over an A port or over the electrical network."""

    datapath: int
    circuit: Way
    electrical: Way
    priority: int

    def use(self, to: Network) -> Rule:
        """The rule that sends the traffic for a prefix over the circuit."""
        return self._rule(to, self.circuit, 0)

    def avoid(self, to: Network) -> Rule:
        """The rule that sends this traffic over the electrical network, with precedence over
        `use`."""
        return self._rule(to, self.electrical, 1)

    def _rule(self, to: Network, way: Way, above: int) -> Rule:
        # A longer prefix has precedence, whatever the kind of rule.
        priority = self.priority + 2 * to.prefixlen + above
        match = Match(ipv4_dst=(str(to.network_address), str(to.netmask)))
        return Rule(priority, match, way.port, way.vlan)


def removal_of(rule: Rule) -> Removal:
    """The message that removes a rule."""
    return Removal(rule.priority, rule.match)


Place = tuple[str, Port]
"""A circuit switch and one of its A ports."""


def read_senders(table: OpenFlowTable) -> dict[Place, list[Sender]]:
    """The OpenFlow switches at each A port.

    Raises:
        ConfigError: naming file and line.
    """
    found: dict[Place, list[Sender]] = {}
    for where, given in read_rows(table.rules, NEEDED):
        place, sender = _sender(where, given, table.priority)
        _check_others(where, found, place, sender)
        found.setdefault(place, []).append(sender)
    return found


def _sender(where: str, given: dict[str, str], priority: int) -> tuple[Place, Sender]:
    port = port_of(given.get("port", ""))
    if port is None or port.side != "A":
        limit = "traffic enters a cross-connect at its A port"
        raise ConfigError(f"{where}: port = {given.get('port')}: {limit}; write a port such as 1A")
    text = given.get("datapath", "")
    try:
        datapath = int(text.replace(":", ""), 16)
    except ValueError:
        datapath = -1
    if not 0 <= datapath < 1 << 64:
        limit = "not a datapath ID"
        raise ConfigError(f"{where}: datapath = {text}: {limit}; write 16 hexadecimal digits")
    own = _number(where, given, "priority", 1, 60_000) or priority
    sender = Sender(datapath, _way(where, given, "circuit"), _way(where, given, "electrical"), own)
    if sender.circuit == sender.electrical:
        limit = "both ways are the same"
        raise ConfigError(f"{where}: electrical: {limit}; give another port or electrical_vlan")
    return (given.get("switch", ""), port), sender


def _way(where: str, given: dict[str, str], name: str) -> Way:
    vlan = _number(where, given, f"{name}_vlan", 1, 4094)
    if given.get(name, "").lower() == "normal":
        return Way(NORMAL, vlan)
    port = _number(where, given, name, 1, LAST_PORT)
    if port is None:
        raise ConfigError(f"{where}: no {name}; give an output port, or normal")
    return Way(port, vlan)


def _number(where: str, given: dict[str, str], name: str, least: int, most: int) -> int | None:
    text = given.get(name, "")
    if not text:
        return None
    if not text.isdecimal() or not least <= int(text) <= most:
        raise ConfigError(f"{where}: {name} = {text}: must be from {least} to {most}; correct it")
    return int(text)


def _check_others(
    where: str, found: dict[Place, list[Sender]], place: Place, sender: Sender
) -> None:
    """Refuses an OpenFlow switch that would use the same rule for two circuits."""
    for other, senders in found.items():
        for one in senders:
            if one.datapath != sender.datapath:
                continue
            at = f"datapath {one.datapath:016x} at port {other[1]} of {other[0]}"
            if other == place or other[0] == place[0]:
                raise ConfigError(f"{where}: {at} is there already; list it once for a switch")
            if abs(one.priority - sender.priority) < BAND:
                limit = f"{at} has priority {one.priority}, too near {sender.priority}"
                raise ConfigError(f"{where}: {limit}; give priorities that differ by {BAND}")


def read_networks(file: Path) -> dict[str, Sequence[Network]]:
    """The prefixes of each rack.

    Raises:
        ConfigError: if the file is invalid, or no rule can match a prefix.
    """
    try:
        hosts = read_hosts(file)
    except OSError as problem:
        raise ConfigError(f"{file}: {problem.strerror}; name a CSV file") from None
    found: dict[str, Sequence[Network]] = {}
    for rack, networks in hosts.networks().items():
        for network in networks:
            if network.version != 4:
                limit = "rules match IPv4 addresses"
                raise ConfigError(f"{file}: {network}: {limit}; leave it out")
        found[rack] = networks
    return found
