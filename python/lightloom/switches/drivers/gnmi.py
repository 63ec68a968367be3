"""The driver for gNMI: OCP's model of optical circuit switches, and SONiC's databases.

A change is one Set. A switch may refuse it as a whole, or accept it and report a part as INVALID;
the driver then deletes its own INVALID connections and reports the reason. Capabilities shows which
model the switch has; `?model=ocp|sonic-db` overrides it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from lightloom.switches.access import Credentials
from lightloom.switches.drivers import _sonic_tables
from lightloom.switches.drivers._gnmi_client import (
    CA,
    GnmiClient,
    bare,
    path_of,
    update_of,
    without_modules,
)
from lightloom.switches.drivers._sonic_tables import port_states, statuses
from lightloom.switches.ports import Pair, Port, Size, ends_of, name_of, pair_of, port_of
from lightloom.switches.protocol import (
    NO_STATUS,
    WAIT_S,
    CrossConnect,
    Description,
    Outcome,
    Reading,
    SwitchError,
    before_a_change,
    check_before_sending,
    difference,
    power_of,
    understood,
)
from lightloom.switches.states import PortStatus, Status
from lightloom.switches.waiting import wait_until_settled

__all__ = ["CA", "GnmiSwitch"]

_OCP = "ocp-ocs-optical-switch-connections"


class Model(Protocol):
    """A data model: the paths to read and to write."""

    dialect: str
    has_power: bool

    def connections(self, get: Any) -> list[CrossConnect]:
        """Returns the cross-connects."""

    def ports(self, get: Any) -> dict[Port, tuple[PortStatus, float | None]]:
        """Returns the state of each port, and the power that enters it (A) or leaves it (B)."""

    def all_ports(self, get: Any) -> list[Port]:
        """Returns the ports of the switch."""

    def losses(self, get: Any) -> dict[Pair, float]:
        """Returns the factory table [dB]; empty if the model has none."""

    def is_bidirectional(self, get: Any) -> bool | None:
        """Returns whether one cross-connect carries light in both directions; None if the model
        does not report it."""

    def deletions(self, found: Sequence[CrossConnect]) -> list[Any]:
        """Returns the paths to delete for these cross-connects."""

    def additions(self, pairs: Sequence[Pair], taken: Mapping[str, Pair]) -> list[Any]:
        """Returns updates that create cross-connects; `taken` has the names already in use."""


class GnmiSwitch:
    """A switch that speaks gNMI."""

    def __init__(
        self,
        host: str,
        port: int = 9339,
        credentials: Credentials | None = None,
        *,
        model: str = "",
        tls: bool | None = None,
    ) -> None:
        self._client = GnmiClient(host, port, credentials, tls=tls)
        self._target = self._client.target
        self._model: Model = _MODELS[model or self._ask_model()](self._target)
        self._size: Size | None = None

    def describe(self) -> Description:
        """Returns the properties of the switch."""
        return Description(
            self._target,
            self._model.dialect,
            "",
            self._ports(),
            bidirectional=self._model.is_bidirectional(self._client.get),
            reports_status=True,
            reports_power=self._model.has_power,
        )

    def read(self) -> Reading:
        """Returns its present cross-connects and ports."""
        ports = {port: status for port, (status, _) in self._model.ports(self._client.get).items()}
        return Reading(self._model.connections(self._client.get), ports)

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = WAIT_S
    ) -> Outcome:
        """Sends one Set, and waits until the new cross-connects have settled."""
        started = time.monotonic()
        with before_a_change():
            check_before_sending(remove, add, self._ports())
            before = self._connections()
        gone, new, kept = difference(before, remove, add)
        if not gone and not new:
            return Outcome([], [], kept, True, time.monotonic() - started)
        going = {*gone}
        leaving = [one for one in before.cross_connects if one.pair in going and one.configured]
        stale = self._adopt_stale(before, gone, new)
        leaving += stale
        gone = sorted({*gone, *(one.pair for one in stale)})
        left = {one.name for one in leaving}
        taken = {one.name: one.pair for one in before.cross_connects if one.name not in left}
        update = self._model.additions(new, taken)
        try:
            self._client.set(delete=self._model.deletions(leaving), update=update)
        except SwitchError as problem:
            # A refused Set changes nothing, but stale entries may have been created before it.
            raise SwitchError(str(problem), None if stale else problem.done) from None
        done = Outcome(gone, new, kept)
        try:
            return wait_until_settled(self._connections, done, started, wait_s)
        except SwitchError as problem:
            invalid = self._drop_invalid(new)
            done = Outcome(gone, [pair for pair in new if pair not in invalid], kept)
            raise SwitchError(f"{self._target}: {problem}", done) from None

    def power(self) -> Mapping[Port, float] | None:
        """Returns the measured power that enters A ports and leaves B ports [dBm]."""
        if not self._model.has_power:
            return None
        found = self._model.ports(self._client.get)
        return {port: power for port, (_, power) in found.items() if power is not None}

    def factory_losses(self) -> Mapping[Pair, float]:
        """Returns the factory table [dB]; OCP's model has none."""
        return self._model.losses(self._client.get)

    def close(self) -> None:
        """Ends the connection."""
        self._client.close()

    def _connections(self) -> Reading:
        return Reading(self._model.connections(self._client.get))

    def _ports(self) -> Size:
        if self._size is None:
            ports = self._model.all_ports(self._client.get)
            a = max((port.number for port in ports if port.side == "A"), default=0)
            b = max((port.number for port in ports if port.side == "B"), default=0)
            self._size = Size(a, b)
        return self._size

    def _adopt_stale(
        self, before: Reading, gone: Collection[Pair], new: Collection[Pair]
    ) -> list[CrossConnect]:
        """Creates configurations for stale entries that are to be deleted or hold a needed port:
        without one, they cannot be deleted."""
        wanted = {port for pair in new for port in ends_of(pair)}
        stale = [
            one
            for one in before.cross_connects
            if not one.configured
            and one.pair not in new
            and (one.pair in gone or wanted & {*ends_of(one.pair)})
        ]
        if stale:
            self._client.set(update=self._model.additions([one.pair for one in stale], {}))
        return stale

    def _drop_invalid(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Deletes connections that the switch accepted as INVALID, as the client must."""
        found = self._connections().cross_connects
        invalid = [one for one in found if one.pair in pairs and one.status is Status.INVALID]
        if invalid:
            self._client.set(delete=self._model.deletions(invalid))
        return [one.pair for one in invalid]

    def _ask_model(self) -> str:
        return "ocp" if _OCP in self._client.models() else "sonic-db"


class _Ocp:
    """OCP's model."""

    dialect = "gNMI, OCP OCS model"
    has_power = True

    def __init__(self, target: str) -> None:
        self._target = target

    def connections(self, get: Any) -> list[CrossConnect]:
        with understood(self._target, self.dialect):
            rows = without_modules(get(path_of("connections"), {})).get("port-connection", [])
            return [one for row in rows if (one := self._connection(row)) is not None]

    def _connection(self, row: Mapping[str, Any]) -> CrossConnect | None:
        """Returns a connection; None for an INVALID one that names no ports of a switch."""
        state = row.get("state", row.get("config", {}))
        status = Status(bare(state["status"])) if "status" in state else None
        ends = [str(state.get(f"{end}-port-name")) for end in ("input", "output")]
        a, b = map(port_of, ends)
        if a is None or b is None or (a.side, b.side) != ("A", "B"):
            if status is Status.INVALID:
                return None
            raise ValueError(f"ports {ends[0]} and {ends[1]}, not such as 1A and 29B")
        pair, reason = (a.number, b.number), str(state.get("status-reason", ""))
        configured = "config" in row or status is Status.PENDING_DELETION
        return CrossConnect(pair, str(row["name"]), status, reason, configured)

    def ports(self, get: Any) -> dict[Port, tuple[PortStatus, float | None]]:
        found = {}
        with understood(self._target, self.dialect):
            for row in without_modules(get(path_of("components"), {})).get("component", []):
                port = port_of(str(row.get("name", "")))
                state = row.get("ocp-ocs-port", {}).get("state", {})
                if port is None or not state:
                    continue
                status = bare(str(state.get("status", "")))
                known = status in PortStatus.__members__
                power = state.get(f"{'input' if port.side == 'A' else 'output'}-optical-power")
                found[port] = (
                    PortStatus(status) if known else PortStatus.UNKNOWN,
                    None if power is None else power_of(power),
                )
        return found

    def all_ports(self, get: Any) -> list[Port]:
        return [*self.ports(get)]

    def losses(self, get: Any) -> dict[Pair, float]:
        return {}

    def is_bidirectional(self, get: Any) -> bool | None:
        found = get(path_of("optical-switch", "state", "bidirectional"), None)
        return found if isinstance(found, bool) else None

    def deletions(self, found: Sequence[CrossConnect]) -> list[Any]:
        return [path_of("connections", ("port-connection", one.name)) for one in found]

    def additions(self, pairs: Sequence[Pair], taken: Mapping[str, Pair]) -> list[Any]:
        entries = []
        for pair in pairs:
            a, b = map(str, ends_of(pair))
            name, at = name_of(pair), 1
            while taken.get(name, pair) != pair:  # the name belongs to another client's connection
                at += 1
                name = f"{name_of(pair)}~{at}"
            config = {"name": name, "input-port-name": a, "output-port-name": b}
            entries.append({"name": name, "config": config})
        path = path_of("connections")
        return [update_of(path, {"port-connection": entries})] if entries else []


class _SonicDb:
    """SONiC's databases."""

    dialect = "gNMI, sonic-db"
    has_power = False

    def __init__(self, target: str) -> None:
        self._target = target

    def connections(self, get: Any) -> list[CrossConnect]:
        found = []
        with understood(self._target, self.dialect):
            config = get(_table("CONFIG_DB", "OCS_CROSS_CONNECT"), {})
            rows = _rows(get(_table("STATE_DB", "OCS_CROSS_CONNECT_TABLE"), {}))
            by_sides = all("a_side_status" in row for row in rows)
            states = statuses(rows, {} if by_sides else self._port_states(get))
            listed = [*config, *(_sonic_tables.key_of(row) for row in rows)]
            for name in dict.fromkeys(listed):
                pair = pair_of(name)
                if pair is not None:  # a configured entry without a state is INVALID
                    status, reason = states.get(pair, (Status.INVALID, NO_STATUS))
                    found.append(CrossConnect(pair, name, status, reason, name in config))
        return found

    def ports(self, get: Any) -> dict[Port, tuple[PortStatus, float | None]]:
        with understood(self._target, self.dialect):
            return {port: (state, None) for port, state in self._port_states(get).items()}

    def all_ports(self, get: Any) -> list[Port]:
        with understood(self._target, self.dialect):
            listed = get(_table("CONFIG_DB", "OCS_PORT"), {})
            return [port for name in listed if (port := port_of(name)) is not None]

    def losses(self, get: Any) -> dict[Pair, float]:
        with understood(self._target, self.dialect):
            table = get(_table("STATE_DB", "OCS_FACTORY_INSERTION_LOSS"), {})
            return _sonic_tables.losses(_rows(table))

    def _port_states(self, get: Any) -> dict[Port, PortStatus]:
        return port_states(_rows(get(_table("STATE_DB", "OCS_PORT_TABLE"), {})))

    def is_bidirectional(self, get: Any) -> bool | None:
        return None

    def deletions(self, found: Sequence[CrossConnect]) -> list[Any]:
        return [_table("CONFIG_DB", "OCS_CROSS_CONNECT", one.name) for one in found]

    def additions(self, pairs: Sequence[Pair], taken: Mapping[str, Pair]) -> list[Any]:
        found = []
        for pair in pairs:
            a, b = map(str, ends_of(pair))
            path = _table("CONFIG_DB", "OCS_CROSS_CONNECT", name_of(pair))
            found.append(update_of(path, {"a_side": a, "b_side": b}))
        return found


def _table(database: str, *steps: str) -> Any:
    return path_of(database, "localhost", *steps, origin="sonic-db")


def _rows(table: Mapping[str, Mapping[str, Any]]) -> list[_sonic_tables.Row]:
    """Returns the entries of a table, each with its key before its fields."""
    return [
        {"": key, **{name.lower(): str(value) for name, value in row.items()}}
        for key, row in table.items()
    ]


_MODELS: dict[str, Callable[[str], Model]] = {"ocp": _Ocp, "sonic-db": _SonicDb}
