"""The data of the NETCONF face: trees to read, and edits of `cross-connects`."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping

from lightloom.switches.changes import BrokenError, RefusedError, requested
from lightloom.switches.faces._netconf_error import WrongError
from lightloom.switches.faces._netconf_ports import EDITED, PortEdit, Ports, leaves_of, tree_of
from lightloom.switches.host import Host
from lightloom.switches.machine import Machine
from lightloom.switches.netconf_text import BASE, OPTICAL, local
from lightloom.switches.ports import Pair, Port, name_of
from lightloom.switches.states import Status

Containers = Mapping[str, Callable[[], ET.Element]]
"""Container name → function that builds it, called only if a request needs the container."""
MOST_ELEMENTS = 512
"""Largest number of elements of a filter. Each is compared with all entries of a container, and all
faces wait meanwhile."""
MOST_SELECTED = 16
"""Largest number of containers that a filter selects."""
_OPERATION = f"{{{BASE}}}operation"
_OPERATIONS = ("merge", "replace", "create", "delete", "remove")


class Store:
    """The running datastore, and the candidate of one session."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._candidate: set[Pair] | None = None
        self._edits: list[PortEdit] = []

    @property
    def is_modified(self) -> bool:
        """Returns whether the candidate has uncommitted changes."""
        return self._candidate is not None or bool(self._edits)

    def config(self, datastore: str) -> Containers:
        """The configuration."""
        pairs = self._held()
        if datastore == "candidate" and self._candidate is not None:
            pairs = self._candidate
        ports = Ports(self._host)
        return {
            "cross-connects": lambda: self._cross_connects(sorted(pairs)),
            "port-config": ports.config,
            "opm-config": ports.monitor_config,
        }

    def state(self) -> Containers:
        """Returns the configuration and the state."""
        ports = Ports(self._host)
        return {
            "product-information": self._product,
            **self.config("running"),
            "opm-power": ports.powers,
            "voa": ports.attenuators,
        }

    async def edit(self, datastore: str, operation: ET.Element) -> None:
        """Applies an `<edit-config>`.

        Raises:
            WrongError: if the edit is refused; nothing has changed then.
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
        pairs, edits = {*base}, list[PortEdit]()
        for element in config:
            self._edit_one(element, default, pairs, edits)
        self._check(pairs)
        if datastore == "candidate":
            self._candidate = pairs
            self._edits += edits
            return
        await self._apply(running, pairs, edits)

    async def commit(self) -> None:
        """Makes the candidate the running configuration."""
        running = self._held()
        after = running if self._candidate is None else self._candidate
        await self._apply(running, after, self._edits)
        self.discard()

    def discard(self) -> None:
        """Discards the candidate."""
        self._candidate, self._edits = None, []

    def validate(self) -> None:
        """Checks the candidate.

        Raises:
            WrongError: if a port is in two pairs.
        """
        if self._candidate is not None:
            self._check(self._candidate)

    async def _apply(self, before: set[Pair], after: set[Pair], edits: list[PortEdit]) -> None:
        gone = sorted(before - after)
        new = sorted(after - before)
        if not gone and not new and not edits:
            return

        def carry_out(machine: Machine, now: int) -> None:
            if gone or new:
                machine.change(now, gone, map(requested, new), lenient=True, stale=True)
            Ports(self._host).carry_out(edits)

        try:
            await self._host.change(carry_out)
        except (RefusedError, BrokenError) as problem:
            raise WrongError("operation-failed", str(problem)) from None

    def _edit_one(
        self, element: ET.Element, default: str, pairs: set[Pair], edits: list[PortEdit]
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
        elif local(element) in EDITED:
            for entry in element:
                if _operation(entry, operation) not in ("merge", "replace", "none"):
                    raise WrongError("operation-not-supported", "ports can only be changed")
                edits.append(Ports(self._host).edit_of(local(element), entry))
        else:
            raise WrongError("unknown-element", f"{local(element)[:40]} cannot be written")

    def _edit_pair(self, entry: ET.Element, operation: str, pairs: set[Pair]) -> None:
        if local(entry) not in ("pair", "pairs"):
            raise WrongError("unknown-element", f"{local(entry)[:40]} in cross-connects")
        leaves = leaves_of(entry)
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
        """Returns the configured pairs.

        The model has no status of pairs, so stale entries are included.
        """
        listed = self._host.machine.connections(self._host.now)
        return {one.pair for one in listed if one.status not in _NOT_HELD}

    def _cross_connects(self, pairs: list[Pair]) -> ET.Element:
        after = self._host.design.size.a
        rows = [("pair", {"ingress": str(a), "egress": str(b + after)}) for a, b in pairs]
        return tree_of("cross-connects", rows)

    def _product(self) -> ET.Element:
        design = self._host.design
        root = tree_of("product-information", [])
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
    """Returns the operation that an element requests.

    Public clients write the attribute without its namespace.
    """
    for name in element.attrib:
        if name not in (_OPERATION, "operation"):
            raise WrongError("unknown-attribute", f"{local(element)[:40]} has no {name[-40:]}")
    found = element.get(_OPERATION, element.get("operation", default))
    if found not in (*_OPERATIONS, "none"):
        raise WrongError("bad-attribute", f"operation {found[:20]}")
    return found


def subtree(containers: Containers, operation: ET.Element) -> str:
    """Returns the data that the subtree filter of a request selects (RFC 6241 §6), as text."""
    ET.register_namespace("", OPTICAL)
    wanted = next((element for element in operation if local(element) == "filter"), None)
    if wanted is not None and wanted.get("type", "subtree") != "subtree":
        raise WrongError("bad-attribute", "filters are subtrees: XPath is not supported")
    if wanted is None:
        found = [build() for build in containers.values()]
    else:
        named = [pattern for pattern in wanted if local(pattern) in containers]
        if len(named) > MOST_SELECTED or sum(1 for _ in wanted.iter()) > MOST_ELEMENTS:
            raise WrongError("too-big", "a filter has too many elements; send several requests")
        picked = (_select(containers[local(pattern)](), pattern) for pattern in named)
        found = [tree for tree in picked if tree is not None]
    return "".join(ET.tostring(tree, encoding="unicode") for tree in found)


def _select(tree: ET.Element, pattern: ET.Element) -> ET.Element | None:
    """Returns the part of a tree that a pattern selects; None if it selects nothing."""
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
