"""SONiC's databases of an optical circuit switch over gNMI (origin `sonic-db`).

Certain: the tables and fields of the HLD, and the path `/CONFIG_DB/localhost/TABLE/KEY`.
Named option: the field of a port's state is `config_status` on the public virtual OCS and
`state` in the HLD; both are accepted, and `port_state` says which one is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from lightloom.switches.changes import Requested
from lightloom.switches.faces._gnmi_edits import (
    Edits,
    MalformedError,
    Path,
    check_keys,
    check_label,
)
from lightloom.switches.faces._gnmi_paths import ANY
from lightloom.switches.faces._losses import listed_losses
from lightloom.switches.host import Host
from lightloom.switches.ports import Port, name_of, port_of
from lightloom.switches.states import Admin, Seen, Status

CROSS_CONNECTS = "OCS_CROSS_CONNECT"
PORTS = "OCS_PORT"
_CONFIG = ("CONFIG_DB", "localhost")


def tree(host: Host, port_state: str) -> dict[str, Callable[[Path], Any]]:
    """Returns the databases; a table is built only if a path leads to it."""

    def config(path: Path) -> dict[str, Any]:
        return _database(
            path,
            {
                "DEVICE_METADATA": lambda: _metadata(host),
                PORTS: lambda: _ports(host, port_state),
                CROSS_CONNECTS: lambda: _cross_connects(host),
            },
        )

    def state(path: Path) -> dict[str, Any]:
        return _database(
            path,
            {
                "OCS_PORT_TABLE": lambda: _port_states(host),
                "OCS_CROSS_CONNECT_TABLE": lambda: _cross_connect_states(host),
                "OCS_FACTORY_INSERTION_LOSS": lambda: _losses(host),
            },
        )

    return {"CONFIG_DB": config, "STATE_DB": state}


def _database(path: Path, tables: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    wanted = path[2][0] if len(path) > 2 else ANY
    return {"localhost": {name: build() for name, build in tables.items() if wanted in (ANY, name)}}


def _metadata(host: Host) -> dict[str, Any]:
    size = host.design.size
    own = {"type": "SonicOCS", "switch_type": "ocs", "hwsku": f"OCS-{size}"}
    return {"localhost": own | {"hostname": host.design.name}}


def _ports(host: Host, port_state: str) -> dict[str, Any]:
    machine, now = host.machine, host.now
    found = {}
    for port in host.design.size.ports():
        seen = machine.port(now, port)
        found[str(port)] = {"label": seen.label, port_state: seen.admin.value}
    return found


def _cross_connects(host: Host) -> dict[str, Any]:
    listed = host.machine.connections(host.now)
    held = [one for one in listed if one.configured and one.status is not Status.PENDING_DELETION]
    return {_key(one): _sides(one) for one in held}


def _cross_connect_states(host: Host) -> dict[str, Any]:
    machine, now = host.machine, host.now
    found = {}
    for one in machine.connections(now):
        if one.status in (Status.INVALID, Status.PENDING_DELETION):
            continue
        a, b = one.ends
        found[_key(one)] = _sides(one) | {
            "a_side_status": machine.port(now, a).status.lower(),
            "b_side_status": machine.port(now, b).status.lower(),
        }
    return found


def _port_states(host: Host) -> dict[str, Any]:
    machine, now = host.machine, host.now
    found = {}
    for port in host.design.size.ports():
        seen = machine.port(now, port)
        found[str(port)] = {
            "connector_type": "LC UPC",
            "connector_pin": "2" if port.side == "A" else "1",
            "target_simplex_port_id": "" if seen.peer is None else str(seen.peer),
            "status": seen.status.lower(),
        }
    return found


def _losses(host: Host) -> dict[str, Any]:
    optics = host.design.optics
    found = {}
    for pair in listed_losses(host):
        key = f"{name_of(pair)}|{optics.frequency_thz:.3f}|{optics.temperature_c:.2f}"
        loss = f"{optics.loss_db(pair):.2f}"
        found[key] = {"loss_dB": loss, "accuracy_dB": f"{optics.accuracy_db:.2f}"}
    return found


def _sides(one: Seen) -> dict[str, Any]:
    return {"a_side": str(one.ends[0]), "b_side": str(one.ends[1])}


def _key(one: Seen) -> str:
    """Returns the key of an entry, which may differ from its name in other models."""
    return f"{one.ends[0]}-{one.ends[1]}"


def delete(host: Host, path: Path, edits: Edits) -> None:
    """Deletes entries of the table of cross-connects.

    Raises:
        MalformedError: if the path leads to anything else.
    """
    steps = _config_path(path)
    if steps[0] != CROSS_CONNECTS or len(steps) > 2:
        raise MalformedError(f"cannot delete in {steps[0]}")
    if len(steps) == 1 or steps[1] == ANY:
        edits.remove += [one.name for one in host.machine.connections(host.now)]
    else:
        edits.keys.append(steps[1])


def names_of(host: Host, keys: Collection[str]) -> list[str]:
    """Returns the names of the connections with these keys."""
    wanted = {*keys}
    listed = host.machine.connections(host.now) if wanted else []
    return [one.name for one in listed if _key(one) in wanted]


def write(host: Host, path: Path, value: Any, edits: Edits, *, replaces: bool) -> None:
    """Adds an update or a replacement to the edits.

    Raises:
        MalformedError: if the path is read-only or the value has the wrong form.
    """
    steps = _config_path(path)
    if steps[0] not in (CROSS_CONNECTS, PORTS):
        raise MalformedError(f"cannot write {steps[0]}")
    if len(steps) == 1:
        rows = _object(value)
        edits.wipe |= replaces and steps[0] == CROSS_CONNECTS
    elif len(steps) == 2:
        rows = {steps[1]: value}
    else:
        rows = {steps[1]: {steps[2]: value}}
    for key, row in rows.items():
        if steps[0] == CROSS_CONNECTS:
            edits.merge(key, _object(row))
        else:
            _write_port(host, key, _object(row), edits)


def _write_port(host: Host, key: str, row: Mapping[str, Any], edits: Edits) -> None:
    port = port_of(key)
    if port is None or not host.design.size.has(port):
        raise MalformedError(f"no such port: {key[:20]}")
    for field, value in row.items():
        if field == "label" and isinstance(value, str):
            check_label(field, value)
            edits.after.append(_setting(host.machine.labels, port, value))
        elif field in ("state", "config_status") and value in [*map(str, Admin)]:
            edits.after.append(_setting_admin(host, port, Admin(value)))
        else:
            raise MalformedError(f"OCS_PORT has no such field or value: {field}")


def _setting(labels: dict[Port, str], port: Port, label: str) -> Callable[[], None]:
    return lambda: labels.__setitem__(port, label)


def _setting_admin(host: Host, port: Port, admin: Admin) -> Callable[[], None]:
    return lambda: host.machine.set_admin(host.now, port, admin)


def requested_of(name: str, fields: Mapping[str, Any]) -> Requested:
    """Returns the connection that an entry describes.

    Raises:
        MalformedError: if its key does not match its sides.
    """
    a, b = (port_of(str(fields.get(side, ""))) for side in ("a_side", "b_side"))
    unknown = [field for field in fields if field not in ("a_side", "b_side")]
    if unknown:
        raise MalformedError(f"OCS_CROSS_CONNECT has no field {unknown[0][:40]}")
    if a is None or b is None or len(fields) != 2:
        raise MalformedError(f"{name}: a_side and b_side must be ports such as 1A and 29B")
    if name != f"{a}-{b}":
        raise MalformedError(f"{name}: the key must be {a}-{b}")
    return Requested(name, a, b, named=False)


def _config_path(path: Path) -> list[str]:
    check_keys(path, ())
    steps = [name for name, _ in path]
    if tuple(steps[:2]) != _CONFIG or not 3 <= len(steps) <= 5:
        raise MalformedError("only /CONFIG_DB/localhost/TABLE[/KEY[/FIELD]] can be written")
    return steps[2:]


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedError("expected a JSON object")
    return value
