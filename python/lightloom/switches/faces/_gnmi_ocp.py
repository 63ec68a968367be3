"""The OCP model of optical circuit switches (0.8, revision 2026-08-28) as a tree of JSON.

Certain: the containers, leaves and values of the model's draft. Assumptions: ports are named
as SONiC names them (`1A`, `29B`), the origin of paths (any is accepted but `sonic-db`), and
the identity of a port's type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lightloom.switches.changes import Requested
from lightloom.switches.faces._gnmi_edits import (
    Edits,
    MalformedError,
    Path,
    bare,
    check_keys,
    check_label,
)
from lightloom.switches.faces._gnmi_paths import ANY
from lightloom.switches.host import Host
from lightloom.switches.ports import Port, port_of
from lightloom.switches.states import Admin, PortSeen, PortStatus, Recovery, Seen, Status

MODELS = (
    ("ocp-ocs-optical-switch", "Open Compute Project", "2026-08-28"),
    ("ocp-ocs-optical-switch-connections", "Open Compute Project", "2026-08-28"),
)
"""Name, organisation and revision."""
LISTS = ("port-connection", "component")
"""Elements with the key `name`."""
_NAME = re.compile(r"[\w .:/#~()\[\]+@=,-]{1,64}", re.ASCII)
"""Pattern of a connection's name that no face has to quote."""
_RECOVERIES = {
    Recovery.MAINTAIN: "MAINTAIN",
    Recovery.RESTORE: "RESTORE",
    Recovery.RESTORE_SAVED: "RESTORE",
    Recovery.REMOVE: "REMOVE",
}


def tree(host: Host) -> dict[str, Callable[[Path], Any]]:
    """Returns the top-level containers; each is built only if a path leads to it."""
    return {
        "optical-switch": lambda path: _switch(host),
        "connections": lambda path: _connections(host, path),
        "components": lambda path: _components(host, path),
    }


def _switch(host: Host) -> dict[str, Any]:
    design, size = host.design, host.design.size
    own = {
        "bidirectional": design.bidirectional,
        "cold-boot-recovery": _RECOVERIES[design.recovery],
    }
    groups = [("A", "INPUT_ONLY", "B", size.a), ("B", "OUTPUT_ONLY", "A", size.b)]
    return {
        "config": own,
        "state": own
        | {
            "connection-recovery-capability": ["MAINTAIN", "RESTORE", "REMOVE"],
            "port-groups": [
                {
                    "name": name,
                    "direction": "ANY" if design.bidirectional else direction,
                    "connection-groups": [other],
                    "ports": many,
                }
                for name, direction, other, many in groups
            ],
        },
    }


def _connections(host: Host, path: Path) -> dict[str, Any]:
    machine, now = host.machine, host.now
    wanted = _named(path)
    seen = [one for one in _unique(machine.connections(now)) if wanted in (ANY, one.name)]
    return {
        "last-change-time": str(machine.changed_ps // 1000),
        "port-connection": [_connection(one) for one in seen],
    }


def _unique(listed: Sequence[Seen]) -> Sequence[Seen]:
    """Returns one entry for each name, which is the key; of two, the one that is being deleted is
    omitted."""
    found: dict[str, Seen] = {}
    for one in listed:
        found.setdefault(one.name, one)  # entries that are being deleted come last
    return [*found.values()]


def _named(path: Path) -> str:
    """Returns the entry of a list to which a path leads; `ANY` for all."""
    return path[1][1].get("name", ANY) if len(path) > 1 else ANY


def _connection(one: Seen) -> dict[str, Any]:
    own = {
        "name": one.name,
        "input-port-name": str(one.ends[0]),
        "output-port-name": str(one.ends[1]),
    }
    state = own | {
        "status": one.status.value,
        "status-reason": one.reason,
        "last-updated": str(one.updated_ps // 1000),
    }
    has_config = one.configured and one.status is not Status.PENDING_DELETION
    return {"name": one.name, "state": state} | ({"config": own} if has_config else {})


def _components(host: Host, path: Path) -> dict[str, Any]:
    wanted = _named(path)
    ports = [port for port in host.design.size.ports() if wanted in (ANY, str(port))]
    machine, now = host.machine, host.now
    is_up = machine.is_up(now)
    seen = (machine.port(now, port) for port in ports)
    return {"component": [_component(one, is_up) for one in seen]}


def _component(one: PortSeen, is_up: bool) -> dict[str, Any]:
    name = str(one.port)
    own = {"enabled": one.admin is Admin.NORMAL, "alias": one.label, "description": ""}
    status = one.status if is_up else PortStatus.UNKNOWN
    connection: dict[str, Any] = {"connected": one.status is PortStatus.TUNED}
    if one.peer is not None:
        connection["peer"] = str(one.peer)
    return {
        "name": name,
        "config": {"name": name},
        "state": {"name": name, "type": "ocp-ocs-port"},
        "ocp-ocs-port": {
            "config": own,
            "state": {
                "group": one.port.side,
                "index": one.port.number,
                "status": status.value,
                "input-optical-power": f"{one.input_dbm:.2f}",
                "output-optical-power": f"{one.output_dbm:.2f}",
                "connection": connection,
            },
        },
    }


def delete(host: Host, path: Path, edits: Edits) -> None:
    """Deletes connections.

    Raises:
        MalformedError: if the path leads to anything else.
    """
    check_keys(path, LISTS)
    names = [name for name, _ in path]
    if names in (["connections"], ["connections", "port-connection"]):
        key = path[-1][1].get("name", ANY)
        if key == ANY:
            edits.remove += [one.name for one in host.machine.connections(host.now)]
        else:
            edits.remove.append(key)
        return
    raise MalformedError(f"cannot delete {'/'.join(names)}")


def write(host: Host, path: Path, value: Any, edits: Edits, *, replaces: bool) -> None:
    """Adds an update or a replacement to the edits.

    Raises:
        MalformedError: if the path is read-only or the value has the wrong form.
    """
    check_keys(path, LISTS)
    names = [name for name, _ in path]
    if names[:1] == ["connections"]:
        _write_connections(path[1:], value, edits, replaces)
    elif names[:1] == ["components"]:
        _write_port(host, path, value, edits)
    elif names[:2] == ["optical-switch", "config"]:
        _write_switch(host, names[2:], value, edits)
    else:
        raise MalformedError(f"cannot write {'/'.join(names) or '/'}")


def _write_connections(path: Path, value: Any, edits: Edits, replaces: bool) -> None:
    if not path or (path[0][0] == "port-connection" and not path[0][1]):
        listed = value if path else _field(value, "port-connection")
        if not isinstance(listed, list):
            raise MalformedError("port-connection must be a list")
        edits.wipe |= replaces
        for entry in listed:
            name = _field(entry, "name")
            edits.merge(_text(name), _config(entry))
        return
    name = path[0][1].get("name")
    if path[0][0] != "port-connection" or name is None:
        raise MalformedError("expected connections/port-connection[name=…]")
    below = [step for step, _ in path[1:]]
    if replaces and below in ([], ["config"]):
        edits.whole.add(name)
    if not below:
        edits.merge(name, _config(value))
    elif below == ["config"]:
        edits.merge(name, _leaves(value))
    elif below[0] == "config" and len(below) == 2:
        edits.merge(name, {below[1]: value})
    else:
        raise MalformedError(f"cannot write {'/'.join(below)} of a connection: it is state")


def _write_port(host: Host, path: Path, value: Any, edits: Edits) -> None:
    names = [name for name, _ in path]
    port = port_of(path[1][1].get("name", "")) if len(path) > 1 else None
    if port is None or not host.design.size.has(port):
        raise MalformedError("no such port")
    if names[2:4] != ["ocp-ocs-port", "config"] or len(names) > 5:
        raise MalformedError("of a port, only ocp-ocs-port/config can be written")
    leaves = {names[4]: value} if len(names) == 5 else _leaves(value)
    for leaf, one in leaves.items():
        if leaf == "enabled" and isinstance(one, bool):
            admin = Admin.NORMAL if one else Admin.FORCE_BLOCKED
            edits.after.append(_setting_admin(host, port, admin))
        elif leaf in ("alias", "description") and isinstance(one, str):
            check_label(leaf, one)
            if leaf == "alias":
                edits.after.append(_setting_label(host, port, one))
        else:
            raise MalformedError(f"ocp-ocs-port/config has no such leaf or value: {leaf}")


def _write_switch(host: Host, below: list[str], value: Any, edits: Edits) -> None:
    leaves = {below[0]: value} if below else _leaves(value)
    for leaf, one in leaves.items():
        found = [key for key, text in _RECOVERIES.items() if text == one]
        if leaf == "cold-boot-recovery" and found:
            edits.after.append(_setting_recovery(host, found[0]))
        elif leaf != "bidirectional" or one != host.design.bidirectional:
            raise MalformedError(f"optical-switch/config/{leaf} cannot be {one}")


def _setting_admin(host: Host, port: Port, admin: Admin) -> Callable[[], None]:
    return lambda: host.machine.set_admin(host.now, port, admin)


def _setting_label(host: Host, port: Port, label: str) -> Callable[[], None]:
    return lambda: host.machine.labels.__setitem__(port, label)


def _setting_recovery(host: Host, recovery: Recovery) -> Callable[[], None]:
    def act() -> None:
        host.machine.design = replace(host.machine.design, recovery=recovery)

    return act


def requested_of(name: str, leaves: Mapping[str, Any]) -> Requested:
    """Returns the connection that leaves describe.

    Raises:
        MalformedError: if an end is missing or is not a port.
    """
    if not _NAME.fullmatch(name):
        raise MalformedError(
            "name: 1 to 64 letters, digits, blanks or . : / # ~ ( ) [ ] + @ = , - _"
        )
    for leaf in leaves:
        if leaf not in ("name", "input-port-name", "output-port-name"):
            raise MalformedError(f"a connection has no leaf {leaf}")
    if leaves.get("name", name) != name:
        raise MalformedError(f"name {leaves['name']} differs from the key {name}")
    ends = [port_of(str(leaves.get(f"{end}-port-name", ""))) for end in ("input", "output")]
    if ends[0] is None or ends[1] is None:
        raise MalformedError(
            f"{name}: input-port-name and output-port-name must be ports such as 1A"
        )
    return Requested(name, ends[0], ends[1])


def _config(entry: Any) -> dict[str, Any]:
    leaves = _leaves(entry)
    return _leaves(leaves["config"]) if "config" in leaves else leaves


def _leaves(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedError("expected a JSON object")
    return {bare(key): one for key, one in value.items()}


def _field(value: Any, name: str) -> Any:
    leaves = _leaves(value)
    if name not in leaves:
        raise MalformedError(f"{name} is missing")
    return leaves[name]


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise MalformedError("name must be text")
    return value
