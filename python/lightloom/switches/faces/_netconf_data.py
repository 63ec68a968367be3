"""The data of the NETCONF face: trees to read, edits of `cross-connects` and ports."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

from lightloom.switches.changes import BrokenError, RefusedError, wish
from lightloom.switches.host import Host
from lightloom.switches.netconf_text import BASE, OPTICAL, local
from lightloom.switches.ports import Pair, Port, name_of
from lightloom.switches.states import Admin, PortStatus, Status

_OPERATION = f"{{{BASE}}}operation"
_OF_PROTOCOL = ("operation-not-supported", "lock-denied", "in-use", "unknown-namespace")
_OF_RPC = ("malformed-message", "missing-attribute")
_OPERATIONS = ("merge", "replace", "create", "delete", "remove")


class WrongError(Exception):
    """An rpc-error."""

    def __init__(self, tag: str, text: str, session: int | None = None) -> None:
        """`session` is the one that holds a lock."""
        self._tag, self._session = tag, session
        super().__init__(text)

    def xml(self) -> str:
        """The element."""
        text = str(self).replace("&", "&amp;").replace("<", "&lt;")
        kind = "protocol" if self._tag in _OF_PROTOCOL else "application"
        kind = "rpc" if self._tag in _OF_RPC else kind
        info = ""
        if self._session is not None:
            info = f"<error-info><session-id>{self._session}</session-id></error-info>"
        return (
            f"<rpc-error><error-type>{kind}</error-type><error-tag>{self._tag}</error-tag>"
            f"<error-severity>error</error-severity><error-message>{text}</error-message>"
            f"{info}</rpc-error>"
        )


class Store:
    """Running, and the candidate of one session."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._candidate: set[Pair] | None = None
        self._ports: dict[Port, Admin] = {}

    def config(self, datastore: str) -> list[ET.Element]:
        """The configuration."""
        pairs = self._held()
        if datastore == "candidate" and self._candidate is not None:
            pairs = self._candidate
        return [self._cross_connects(sorted(pairs)), self._port_config()]

    def state(self) -> list[ET.Element]:
        """The configuration and the state."""
        return [
            self._product(),
            self._cross_connects(sorted(self._held())),
            self._port_config(),
            self._powers(),
            self._attenuators(),
        ]

    async def edit(self, datastore: str, operation: ET.Element) -> None:
        """An `<edit-config>`.

        Raises:
            WrongError: if it is refused; nothing has changed then.
        """
        default, config = "merge", None
        for element in operation:
            if local(element) == "default-operation":
                default = (element.text or "").strip()
            elif local(element) == "config":
                config = element
        if config is None or default not in ("merge", "replace", "none"):
            raise WrongError("invalid-value", "config and default-operation (merge, replace, none)")
        running = self._held()
        base = running
        if datastore == "candidate" and self._candidate is not None:
            base = self._candidate
        pairs, ports = {*base}, dict[Port, Admin]()
        for element in config:
            self._edit_one(element, default, pairs, ports)
        self._check(pairs)
        if datastore == "candidate":
            self._candidate = pairs
            self._ports |= ports
            return
        await self._apply(running, pairs)
        self._set_ports(ports)

    async def commit(self) -> None:
        """Makes the candidate the running configuration."""
        if self._candidate is not None:
            await self._apply(self._held(), self._candidate)
        self._set_ports(self._ports)
        self.discard()

    def discard(self) -> None:
        """Forgets the candidate."""
        self._candidate, self._ports = None, {}

    def validate(self) -> None:
        """Checks the candidate.

        Raises:
            WrongError: if a port is in two pairs.
        """
        if self._candidate is not None:
            self._check(self._candidate)

    async def _apply(self, before: set[Pair], after: set[Pair]) -> None:
        gone = sorted(before - after)
        new = sorted(after - before)
        if not gone and not new:
            return
        try:
            await self._host.change(
                lambda machine, now: machine.change(
                    now, gone, map(wish, new), lenient=True, stale=True
                )
            )
        except (RefusedError, BrokenError) as problem:
            raise WrongError("operation-failed", str(problem)) from None

    def _edit_one(
        self, element: ET.Element, default: str, pairs: set[Pair], ports: dict[Port, Admin]
    ) -> None:
        operation = _operation(element, default)
        for one in element.iter():
            if not one.tag.startswith(f"{{{OPTICAL}}}"):
                name = one.tag.rpartition("}")[0].lstrip("{")
                raise WrongError("unknown-namespace", f"{local(one)[:40]} in {name[:80]}")
        if local(element) == "cross-connects":
            if operation in ("replace", "delete", "remove"):
                pairs.clear()
            if operation not in ("delete", "remove"):
                below = "merge" if operation == "replace" else operation
                for entry in element:
                    self._edit_pair(entry, _operation(entry, below), pairs)
        elif local(element) == "port-config":
            for entry in element:
                _operation(entry, operation)
                port, admin = self._port_entry(entry)
                ports[port] = admin
        else:
            raise WrongError("unknown-element", f"{local(element)[:40]} cannot be written")

    def _edit_pair(self, entry: ET.Element, operation: str, pairs: set[Pair]) -> None:
        if local(entry) not in ("pair", "pairs"):
            raise WrongError("unknown-element", f"{local(entry)[:40]} in cross-connects")
        leaves = {local(leaf): (leaf.text or "").strip() for leaf in entry}
        a = self._number(leaves.get("ingress", ""), "A")
        own = next((pair for pair in pairs if pair[0] == a), None)
        if operation in ("delete", "remove"):
            if own is None and operation == "delete":
                raise WrongError("data-missing", f"ingress {a} has no cross-connect")
            pairs.discard(own or (0, 0))
            return
        if operation == "none":
            if own is None:
                raise WrongError("data-missing", f"ingress {a} has no cross-connect")
            return
        if "egress" not in leaves:
            raise WrongError("missing-element", f"ingress {a} has no egress")
        b = self._number(leaves["egress"], "B")
        if operation == "create" and own is not None:
            raise WrongError("data-exists", f"ingress {a} has a cross-connect")
        pairs.discard(own or (0, 0))
        pairs.add((a, b))

    def _port_entry(self, entry: ET.Element) -> tuple[Port, Admin]:
        leaves = {local(leaf): (leaf.text or "").strip() for leaf in entry}
        size, text = self._host.design.size, leaves.get("port-id", "")
        number = int(text) if text.isdecimal() and len(text) < 6 else 0
        states = {"ENABLED": Admin.NORMAL, "DISABLED": Admin.POWERED_OFF}
        if not 1 <= number <= size.a + size.b or leaves.get("status") not in states:
            raise WrongError("invalid-value", "port-id, and status ENABLED or DISABLED")
        port = Port("A", number) if number <= size.a else Port("B", number - size.a)
        return port, states[leaves["status"]]

    def _set_ports(self, ports: dict[Port, Admin]) -> None:
        for port, admin in ports.items():
            self._host.machine.set_admin(self._host.now, port, admin)

    def _number(self, text: str, side: str) -> int:
        size = self._host.design.size
        number = int(text) if text.isdecimal() and len(text) < 6 else 0
        number -= size.a if side == "B" else 0
        if not size.has(Port(side, number)):
            role = "ingress" if side == "A" else "egress"
            raise WrongError("invalid-value", f"{role} {text[:20]} is not on {size} ports")
        return number

    def _check(self, pairs: set[Pair]) -> None:
        seen: dict[int, Pair] = {}
        for pair in sorted(pairs):
            if seen.setdefault(pair[1], pair) != pair:
                other = name_of(seen[pair[1]])
                raise WrongError("data-not-unique", f"egress of {name_of(pair)} is in {other}, too")

    def _held(self) -> set[Pair]:
        """What is set up: the model has no status beside it, so a stale entry is one of these."""
        listed = self._host.machine.connections(self._host.now)
        return {one.pair for one in listed if one.status not in _NOT_HELD}

    def _cross_connects(self, pairs: list[Pair]) -> ET.Element:
        after = self._host.design.size.a
        rows = [("pair", {"ingress": str(a), "egress": str(b + after)}) for a, b in pairs]
        return _tree("cross-connects", rows)

    def _seen(self) -> Iterator[tuple[int, Any]]:
        machine, now = self._host.machine, self._host.now
        for number, port in enumerate(self._host.design.size.ports(), 1):
            yield number, machine.port(now, port)

    def _port_config(self) -> ET.Element:
        rows = []
        for number, seen in self._seen():
            status = "ENABLED" if seen.admin is Admin.NORMAL else "DISABLED"
            status = "FAILED" if seen.status is PortStatus.FAILED else status
            leaves = {"port-id": str(number), "label": seen.label, "status": status}
            if seen.peer is not None:
                after = self._host.design.size.a if seen.peer.side == "B" else 0
                leaves["peer-port"] = str(seen.peer.number + after)
            rows.append(("port", leaves))
        return _tree("port-config", rows)

    def _powers(self) -> ET.Element:
        rows = []
        for number, seen in self._seen():
            power = seen.input_dbm if seen.port.side == "A" else seen.output_dbm
            rows.append(("port", {"port-id": str(number), "power": f"{power:.2f}"}))
        return _tree("opm-power", rows)

    def _attenuators(self) -> ET.Element:
        rows = [
            ("port", {"port-id": str(number), "atten-mode": "VOA_MODE_NONE"})
            for number, seen in self._seen()
            if seen.port.side == "B"
        ]
        return _tree("voa", rows)

    def _product(self) -> ET.Element:
        design = self._host.design
        root = _tree("product-information", [])
        leaves = {
            "manufacturer": "Lightloom",
            "model-name": f"N-EMU-{design.size}-{design.name}",
            "serial-number": f"{design.seed:06d}",
            "software-version": "1.0",
        }
        for name, text in leaves.items():
            ET.SubElement(root, f"{{{OPTICAL}}}{name}").text = text
        return root


_NOT_HELD = (Status.INVALID, Status.PENDING_DELETION)


def _operation(element: ET.Element, default: str) -> str:
    """What an element asks for. Public clients write the attribute without its namespace."""
    for name in element.attrib:
        if name not in (_OPERATION, "operation"):
            raise WrongError("unknown-attribute", f"{local(element)[:40]} has no {name[-40:]}")
    found = element.get(_OPERATION, element.get("operation", default))
    if found not in (*_OPERATIONS, "none"):
        raise WrongError("bad-attribute", f"operation {found[:20]}")
    return found


def _tree(name: str, rows: list[tuple[str, dict[str, str]]]) -> ET.Element:
    root = ET.Element(f"{{{OPTICAL}}}{name}")
    for row, leaves in rows:
        entry = ET.SubElement(root, f"{{{OPTICAL}}}{row}")
        for leaf, text in leaves.items():
            ET.SubElement(entry, f"{{{OPTICAL}}}{leaf}").text = text
    return root


def subtree(trees: list[ET.Element], operation: ET.Element) -> str:
    """What the subtree filter of a request selects (RFC 6241 §6), as text."""
    ET.register_namespace("", OPTICAL)
    wanted = next((element for element in operation if local(element) == "filter"), None)
    if wanted is not None and wanted.get("type", "subtree") != "subtree":
        raise WrongError("bad-attribute", "filters are subtrees: XPath is not supported")
    if wanted is None:
        found = trees
    else:
        picked = (_select(tree, pattern) for pattern in wanted for tree in trees)
        found = [tree for tree in picked if tree is not None]
    return "".join(ET.tostring(tree, encoding="unicode") for tree in found)


def _select(tree: ET.Element, pattern: ET.Element) -> ET.Element | None:
    """The part of a tree that a pattern selects; None if it selects nothing."""
    namespace = pattern.tag.rpartition("}")[0].lstrip("{")
    if local(tree) != local(pattern) or namespace not in ("", BASE, OPTICAL):
        return None
    if len(pattern) == 0:
        wanted = (pattern.text or "").strip()
        return tree if not wanted or (tree.text or "").strip() == wanted else None
    matches = [one for one in pattern if len(one) == 0 and (one.text or "").strip()]
    if not all(any(_select(below, one) is not None for below in tree) for one in matches):
        return None
    chosen = ET.Element(tree.tag)
    if len(matches) == len(pattern):
        chosen.extend(tree)
        return chosen
    for below in tree:
        picked = (_select(below, one) for one in pattern)
        part = next((one for one in picked if one is not None), None)
        if part is not None:
            chosen.append(part)
    return chosen
