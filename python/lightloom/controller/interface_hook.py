"""A hook that disables interfaces of top-of-rack switches over gNMI before their circuit goes dark.

Traffic enters a cross-connect at its A port. The interface at this port is therefore disabled
before the cross-connect is removed, and enabled after a new one was added. An interface whose port
has no cross-connect stays disabled, so that no packet is sent into a dark port. Interfaces of kept
cross-connects are not changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from lightloom.controller.config import DrainTable, positive_s
from lightloom.controller.hooks import HookError
from lightloom.controller.interfaces import Interface, Targets, by_target, read_interfaces
from lightloom.controller.racks import Racks
from lightloom.errors import ConfigError
from lightloom.switches.drivers._gnmi_client import GnmiClient, path_of, update_of
from lightloom.switches.ports import Pair, Port, name_of, port_of
from lightloom.switches.protocol import SwitchError

POLL_S = 0.05
STATUS = {True: "UP", False: "DOWN"}
SHOWN = 3
"""Number of failures that a message names."""


class InterfaceHook:
    """Disables and enables the interfaces at A ports."""

    def __init__(self, table: DrainTable) -> None:
        """Reads the table of interfaces; contacts no switch yet.

        Raises:
            ConfigError: if the table or a line of its file is invalid.
        """
        self._file = table.interfaces
        self._origin = table.origin
        self._wait_s = positive_s("drain.timeout", table.timeout)
        self._targets = Targets(table.credentials, self._wait_s)
        self._interfaces = _interfaces_of(table)

    def check(self, switch: str, racks: Racks) -> None:
        """Refuses racks whose A port has no interface.

        Raises:
            ConfigError: naming one.
        """
        for name in racks.names:
            port = racks.a_port(name)
            if (switch, port) not in self._interfaces:
                limit = f"no interface at port {port} of {switch}, which rack {name} is on"
                remedy = f"add a line {switch},{port},gnmi://HOST:PORT,INTERFACE"
                raise ConfigError(f"{self._file}: {limit}; {remedy}")

    def start(self, check: Callable[[], None]) -> None:
        """Does nothing: connections to switches are opened when they are needed."""

    def drain(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Disables the interfaces of these cross-connects, and waits until they are down."""
        self._set(switch, pairs, enabled=False)

    def enter(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Enables the interfaces of these cross-connects, and waits until they are up."""
        self._set(switch, pairs, enabled=True)

    def forget(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing: an interface whose port has no cross-connect stays disabled."""

    def keep(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing: the configuration of an interface outlives its switch's restart."""

    def stop(self) -> None:
        """Does nothing."""

    def _set(self, switch: str, pairs: Sequence[Pair], *, enabled: bool) -> None:
        work = by_target([self._at(switch, pair) for pair in pairs])

        def act(client: GnmiClient, names: list[str]) -> None:
            client.set(
                update=[update_of(self._path(n, "config", "enabled"), enabled) for n in names]
            )
            self._wait(client, names, enabled=enabled)

        results = self._targets.each(work, act)
        failures = [str(one) for one in results.values() if isinstance(one, Exception)]
        if failures:
            more = f", and {len(failures) - SHOWN} more" if len(failures) > SHOWN else ""
            raise HookError(f"interfaces: {'; '.join(failures[:SHOWN])}{more}")

    def _at(self, switch: str, pair: Pair) -> Interface:
        port = Port("A", pair[0])
        found = self._interfaces.get((switch, port))
        if found is None:
            raise HookError(
                f"{self._file}: no interface at port {port} of {switch}, and traffic may enter "
                f"{name_of(pair)} there; add a line {switch},{port},gnmi://HOST:PORT,INTERFACE"
            )
        return found

    def _wait(self, client: GnmiClient, names: Sequence[str], *, enabled: bool) -> None:
        """Waits until the state of interfaces, up or down, matches their configuration."""
        until = time.monotonic() + self._wait_s
        for name in names:
            while (said := client.get(self._path(name, "state", "admin-status"), None)) is not None:
                if said == STATUS[enabled]:
                    break
                if time.monotonic() >= until:
                    limit = f"admin-status is {said} after {self._wait_s:g} s"
                    raise SwitchError(
                        f"{client.target}: {name}: {limit}, not {STATUS[enabled]}; check the switch"
                    )
                time.sleep(POLL_S)
            else:
                limit = "it has no admin-status"
                raise SwitchError(f"{client.target}: {name}: {limit}; check the name")

    def _path(self, name: str, *steps: str) -> object:
        return path_of("interfaces", ("interface", name), *steps, origin=self._origin)


def _interfaces_of(table: DrainTable) -> dict[tuple[str, Port], Interface]:
    found: dict[tuple[str, Port], Interface] = {}
    for where, (switch, text), interface in read_interfaces(table.interfaces, ["switch", "port"]):
        port = port_of(text)
        if port is None or port.side != "A":
            limit = "traffic enters a cross-connect at its A port"
            raise ConfigError(f"{where}: port = {text}: {limit}; write a port such as 1A")
        if (switch, port) in found or interface in found.values():
            listed = f"{port} of {switch}" if (switch, port) in found else str(interface)
            raise ConfigError(f"{where}: {listed} is there already; list it once")
        found[switch, port] = interface
    return found
