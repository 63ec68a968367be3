"""Faults of an emulated switch, injected by command or by schedule.

| kind | effect |
|---|---|
| `stuck` | the mirror of `port` does not move: new cross-connects there never settle, and fail |
| `failed` | `port` fails: its cross-connect goes dark |
| `slow` | settling takes `factor` times as long |
| `partial` | the next bulk change ends with an error after its first half |
| `cut-before`, `cut-after` | the next change's connection ends before, or after, it is applied |
| `silent` | the next change is applied, but never answered |
| `reboot-cold`, `reboot-warm` | the control plane does not answer for the reboot time |
| `intruder` | another client deletes `remove` and adds `add`, which replaces holders of its ports |
| `stale` | `add` appears in the status without a configuration |
| `clear` | all faults end, also those that wait for a change; with `port`, only those of the port |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lightloom.switches._values import refused
from lightloom.switches.ports import Pair, Port, Size, ends_of, name_of, port_of, read_pairs
from lightloom.units.durations import duration_ps

KINDS = (
    "stuck",
    "failed",
    "slow",
    "partial",
    "cut-before",
    "cut-after",
    "silent",
    "reboot-cold",
    "reboot-warm",
    "intruder",
    "stale",
    "clear",
)
OF_PORTS = ("stuck", "failed")
OF_CONNECTIONS = ("cut-before", "cut-after", "silent")
"""Faults of the connection that carries the next change."""
SLOW_FACTOR = 10.0
"""Default factor by which a fault lengthens settling."""
_KEYS: dict[str, tuple[str, ...]] = {
    "stuck": ("port",),
    "failed": ("port",),
    "slow": ("factor",),
    "intruder": ("add", "remove"),
    "stale": ("add",),
    "clear": ("port",),
}
"""The keys of each kind besides `kind` and `at`; kinds that are not listed have none."""


@dataclass(frozen=True)
class Fault:
    """One fault."""

    kind: str
    """One of `KINDS`."""
    at_ps: int = 0
    """Time after the start of the switch at which the fault occurs [ps]; a fault on command occurs
    at once."""
    port: Port | None = None
    """Where."""
    factor: float = SLOW_FACTOR
    """Of settling times."""
    add: tuple[Pair, ...] = ()
    """Cross-connects that are created."""
    remove: tuple[Pair, ...] = ()
    """Cross-connects that another client deletes."""


def read_fault(key: str, table: Mapping[str, Any], *, scheduled: bool = True) -> Fault:
    """Reads a fault from a table of a TOML file or a JSON command.

    Args:
        key: the key of the table.
        table: the keys of the fault.
        scheduled: whether it may have a time; a fault by command occurs at once.

    Raises:
        ConfigError: naming the key below `key`.
    """
    kind = table.get("kind")
    if kind not in KINDS:
        raise refused(f"{key}.kind", kind, f"must be one of {', '.join(KINDS)}", "choose one")
    known = ("kind", *(("at",) if scheduled else ()), *_KEYS.get(str(kind), ()))
    for name in table:
        if name not in known:
            limit = f"{kind} has the keys {', '.join(known)}"
            raise refused(f"{key}.{name}", table[name], limit, "leave it out")
    at = table.get("at", "0 s")
    fault = Fault(
        kind=str(kind),
        at_ps=duration_ps(f"{key}.at", str(at)),
        port=_port(key, table),
        factor=_factor(key, table),
        add=_pairs(key, table, "add"),
        remove=_pairs(key, table, "remove"),
    )
    if kind in OF_PORTS and fault.port is None:
        raise refused(f"{key}.port", None, f"{kind} happens at a port", 'write port = "7A"')
    if kind in ("stale", "intruder") and not (fault.add or fault.remove):
        raise refused(f"{key}.add", None, f"{kind} needs cross-connects", "write some")
    return fault


def check_fault(key: str, fault: Fault, size: Size) -> None:
    """Refuses a fault of a port that the switch does not have.

    Raises:
        ConfigError: naming the key below `key`.
    """
    for name, ports in (
        ("port", [] if fault.port is None else [fault.port]),
        ("add", [end for pair in fault.add for end in ends_of(pair)]),
        ("remove", [end for pair in fault.remove for end in ends_of(pair)]),
    ):
        for port in ports:
            if not size.has(port):
                limit = f"does not exist on a switch of {size} ports"
                raise refused(f"{key}.{name}", str(port), limit, "choose another")


def _port(key: str, table: Mapping[str, Any]) -> Port | None:
    if "port" not in table:
        return None
    port = port_of(str(table["port"]))
    if port is None:
        raise refused(f"{key}.port", table["port"], "not a port", 'write a port such as "7A"')
    return port


def _factor(key: str, table: Mapping[str, Any]) -> float:
    value = table.get("factor", SLOW_FACTOR)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1e6:
        raise refused(f"{key}.factor", value, "above 0 and at most 1e6", "write a number")
    return float(value)


def _pairs(key: str, table: Mapping[str, Any], name: str) -> tuple[Pair, ...]:
    """Returns the cross-connects of a key; created ones may use each port only once."""
    listed = table.get(name, [])
    if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
        raise refused(f"{key}.{name}", listed, "must be a list", 'write ["1A-29B"]')
    pairs = read_pairs(f"{key}.{name}", listed)
    seen: dict[Port, Pair] = {}
    for pair in pairs if name == "add" else ():
        for port in ends_of(pair):
            if seen.setdefault(port, pair) != pair:
                limit = f"port {port} is in {name_of(seen[port])}, too"
                raise refused(f"{key}.{name}", name_of(pair), limit, "use each port once")
    return tuple(pairs)
