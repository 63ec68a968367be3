"""The ports of the NETCONF face: `port-config`, `opm-config`, `opm-power` and `voa`."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from lightloom.switches.faces._netconf_error import WrongError
from lightloom.switches.host import Host
from lightloom.switches.netconf_text import OPTICAL, local
from lightloom.switches.optics import Monitor
from lightloom.switches.ports import LABEL, Port, is_label
from lightloom.switches.states import Admin, PortSeen, PortStatus

EDITED = {
    "port-config": ("port-id", "status", "label", "peer-port"),
    "opm-config": ("port-id", "wavelength", "offset"),
}
"""The writable containers of ports, and their leaves."""
_STATES = {"ENABLED": Admin.NORMAL, "DISABLED": Admin.POWERED_OFF}
_SET = {"port-enab": Admin.NORMAL, "port-disab": Admin.POWERED_OFF}
_LIGHT_NM_THZ = 299_792.458
"""The speed of light [nm THz]."""
_WAVELENGTHS_NM = (1260.0, 1675.0)
_LARGEST_OFFSET_DB = 60.0


@dataclass(frozen=True)
class PortEdit:
    """A change of a port; None leaves a setting as it is."""

    port: Port
    admin: Admin | None = None
    label: str | None = None
    wavelength_nm: float | None = None
    offset_db: float | None = None


class Ports:
    """The ports of one switch."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def edit_of(self, container: str, entry: ET.Element) -> PortEdit:
        """Returns the change that an entry of a container requests.

        Raises:
            WrongError: if a leaf cannot have the value.
        """
        leaves = leaves_of(entry)
        unknown = [name for name in leaves if name not in EDITED[container]]
        if local(entry) != "port" or unknown:
            raise WrongError("unknown-element", f"{(unknown or [local(entry)])[0][:40]}")
        if leaves.get("peer-port"):
            raise WrongError("invalid-value", "peer-port follows from the cross-connects")
        port = self._port(leaves.get("port-id", ""))
        if container == "opm-config":
            low, high = _WAVELENGTHS_NM
            wavelength = _number(leaves, "wavelength", low, high)
            offset = _number(leaves, "offset", -_LARGEST_OFFSET_DB, _LARGEST_OFFSET_DB)
            return PortEdit(port, wavelength_nm=wavelength, offset_db=offset)
        status, label = leaves.get("status"), leaves.get("label")
        if status is not None and status not in _STATES:
            raise WrongError("invalid-value", "status is ENABLED or DISABLED")
        if label is not None and not is_label(label):
            raise WrongError("invalid-value", f"label: {LABEL}")
        return PortEdit(port, None if status is None else _STATES[status], label)

    def states_of(self, operation: ET.Element) -> list[PortEdit]:
        """Returns the changes of a `port-set-state` in the form that ONOS' driver sends.

        Raises:
            WrongError: if it names no port to enable or disable.
        """
        if not len(operation):
            raise WrongError("missing-element", "port-enab or port-disab")
        for leaf in operation:
            if local(leaf) not in _SET:
                raise WrongError("unknown-element", f"{local(leaf)[:40]} in port-set-state")
        return [
            PortEdit(self._port((leaf.text or "").strip()), _SET[local(leaf)]) for leaf in operation
        ]

    def carry_out(self, edits: Iterable[PortEdit]) -> None:
        """Makes changes."""
        machine = self._host.machine
        for edit in edits:
            if edit.admin is not None:
                machine.set_admin(self._host.now, edit.port, edit.admin)
            if edit.label is not None:
                machine.labels[edit.port] = edit.label
            monitor = machine.monitors.get(edit.port, Monitor())
            if edit.wavelength_nm is not None:
                monitor = replace(monitor, wavelength_nm=edit.wavelength_nm)
            if edit.offset_db is not None:
                monitor = replace(monitor, offset_db=edit.offset_db)
            machine.monitors[edit.port] = monitor

    def config(self) -> ET.Element:
        """`port-config`."""
        rows = []
        for number, seen in self._seen():
            status = "ENABLED" if seen.admin is Admin.NORMAL else "DISABLED"
            status = "FAILED" if seen.status is PortStatus.FAILED else status
            leaves = {"port-id": str(number), "label": seen.label, "status": status}
            if seen.peer is not None:
                after = self._host.design.size.a if seen.peer.side == "B" else 0
                leaves["peer-port"] = str(seen.peer.number + after)
            rows.append(("port", leaves))
        return tree_of("port-config", rows)

    def monitor_config(self) -> ET.Element:
        """`opm-config`."""
        factory = _LIGHT_NM_THZ / self._host.design.optics.frequency_thz
        rows = []
        for number, seen in self._seen():
            monitor = self._host.machine.monitors.get(seen.port, Monitor())
            leaves = {
                "port-id": str(number),
                "wavelength": f"{monitor.wavelength_nm or factory:.2f}",
                "offset": f"{monitor.offset_db:.2f}",
            }
            rows.append(("port", leaves))
        return tree_of("opm-config", rows)

    def powers(self) -> ET.Element:
        """`opm-power`."""
        rows = []
        for number, seen in self._seen():
            power = seen.input_dbm if seen.port.side == "A" else seen.output_dbm
            rows.append(("port", {"port-id": str(number), "power": f"{power:.2f}"}))
        return tree_of("opm-power", rows)

    def attenuators(self) -> ET.Element:
        """Returns the container `voa`, which is empty."""
        rows = [
            ("port", {"port-id": str(number), "atten-mode": "VOA_MODE_NONE"})
            for number, seen in self._seen()
            if seen.port.side == "B"
        ]
        return tree_of("voa", rows)

    def _port(self, text: str) -> Port:
        size = self._host.design.size
        number = int(text) if text.isdecimal() and len(text) < 6 else 0
        if not 1 <= number <= size.a + size.b:
            raise WrongError("invalid-value", f"port {text[:20]} is not on {size} ports")
        return Port("A", number) if number <= size.a else Port("B", number - size.a)

    def _seen(self) -> Iterator[tuple[int, PortSeen]]:
        machine, now = self._host.machine, self._host.now
        for number, port in enumerate(self._host.design.size.ports(), 1):
            yield number, machine.port(now, port)


def leaves_of(entry: ET.Element) -> dict[str, str]:
    """Returns the leaves of an entry by name.

    Raises:
        WrongError: if a leaf occurs twice.
    """
    found: dict[str, str] = {}
    for leaf in entry:
        if local(leaf) in found:
            raise WrongError("bad-element", f"{local(leaf)[:40]} occurs twice")
        found[local(leaf)] = (leaf.text or "").strip()
    return found


def tree_of(name: str, rows: Iterable[tuple[str, Mapping[str, str]]]) -> ET.Element:
    """Returns a container with a list of entries, each with its leaves."""
    root = ET.Element(f"{{{OPTICAL}}}{name}")
    for row, leaves in rows:
        entry = ET.SubElement(root, f"{{{OPTICAL}}}{row}")
        for leaf, text in leaves.items():
            ET.SubElement(entry, f"{{{OPTICAL}}}{leaf}").text = text
    return root


def _number(leaves: Mapping[str, str], name: str, low: float, high: float) -> float | None:
    if name not in leaves:
        return None
    try:
        value = float(leaves[name])
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        raise WrongError("invalid-value", f"{name} {leaves[name][:20]}: {low:g} to {high:g}")
    return value
