"""SONiC's command line on an optical circuit switch, both generations, without a transport.

Certain, as the HLD and public clients use them: the commands, the modes `update` (default),
`safe` and `overwrite`, lists and ranges (`1A..4A-5B..8B`), the columns of the tables, an
answer with "cross-connect succeeded", "existing cross-connect 1A-2B" for a refusal of
`safe`. Assumptions: the rest of each sentence, and exit codes. The generated command line is in
`_sonic_generated`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from lightloom.switches.changes import BrokenError, Conflict, RefusedError, requested
from lightloom.switches.faces._losses import listed_losses
from lightloom.switches.faces._sonic_generated import Generated
from lightloom.switches.faces._sonic_text import Answer, Handler, table, usage
from lightloom.switches.faults import Fault
from lightloom.switches.host import Host
from lightloom.switches.ports import (
    LABEL,
    LARGEST,
    Pair,
    ends_of,
    expand,
    is_label,
    name_of,
    port_of,
)
from lightloom.switches.states import Admin, PortSeen, Seen, Status

LONGEST = 64 << 10
"""The longest command [characters]."""
_MODES = ("update", "safe", "overwrite")
_STATES = {"normal": Admin.NORMAL, "force_blocked": Admin.FORCE_BLOCKED}


class Cli:
    """The command line of one switch."""

    def __init__(self, host: Host, generation: str = "both") -> None:
        self._host = host
        first: dict[tuple[str, ...], Handler] = {
            ("config", "ocs", "cross-connect", "add"): self._add,
            ("config", "ocs", "cross-connect", "delete"): self._delete,
            ("config", "ocs", "port", "label"): self._label,
            ("config", "ocs", "port", "state"): self._state,
            ("show", "ocs", "cross-connect", "status"): self._show_status,
            ("show", "ocs", "cross-connect"): self._show_config,
            ("show", "ocs", "port", "status"): self._show_port_status,
            ("show", "ocs", "port"): self._show_port_config,
            ("show", "ocs", "factory-insertion-loss"): self._show_losses,
        }
        self._handlers: dict[tuple[str, ...], Handler] = {
            ("config", "save"): self._save,
            ("show", "version"): self._show_version,
            ("reboot",): lambda _: self._reboot("reboot-cold"),
            ("warm-reboot",): lambda _: self._reboot("reboot-warm"),
        }
        if generation in ("both", "first"):
            self._handlers |= first
        if generation in ("both", "generated"):
            self._handlers |= Generated(host).handlers()

    async def run(self, line: str) -> Answer:
        """Carries out one command."""
        if len(line) > LONGEST:
            return Answer("Error: command too long\n", 2)
        try:
            words = shlex.split(line)
        except ValueError as problem:
            return Answer(f"Error: {problem}\n", 2)
        if words and words[0] == "sudo":
            words = words[1:]
        for many in range(min(4, len(words)), 0, -1):
            handler = self._handlers.get(tuple(words[:many]))
            if handler is not None:
                rest = words[many:]
                if words[0] == "show" and rest and rest != ["config"]:
                    return usage(" ".join(words[:many]))
                return await handler(rest)
        if not words:
            return Answer("")
        return Answer(f'Error: No such command "{" ".join(words[:3])[:80]}".\n', 2)

    # config

    async def _add(self, words: Sequence[str]) -> Answer:
        mode = words[1] if len(words) > 1 else "update"
        if mode not in _MODES or not 1 <= len(words) <= 2:
            return usage("add <A port>-<B port>[,…] [update|safe|overwrite]")
        pairs, wrong = _pairs(words[0])
        if wrong:
            return Answer(f"Invalid cross-connect {wrong}\n", 1)
        return await self._change([], pairs, mode, words[0])

    async def _delete(self, words: Sequence[str]) -> Answer:
        if len(words) != 1:
            return usage("delete <A port>-<B port>[,…]")
        pairs, wrong = _pairs(words[0])
        if wrong:
            return Answer(f"Invalid cross-connect {wrong}\n", 1)
        return await self._change(pairs, [], "safe", words[0])

    async def _change(
        self, gone: Sequence[Pair], new: Sequence[Pair], mode: str, said: str
    ) -> Answer:
        conflict = Conflict.REPLACE if mode == "update" else Conflict.REFUSE
        try:
            await self._host.change(
                lambda machine, now: machine.change(
                    now, gone, map(requested, new), conflict=conflict, wipe=mode == "overwrite"
                )
            )
        except (RefusedError, BrokenError) as problem:
            return Answer(f"Error: cross-connect failed: {problem}\n", 1)
        verb = "delete" if gone else "add"
        return Answer(f"{verb} {said[:200]} cross-connect succeeded\n")

    async def _label(self, words: Sequence[str]) -> Answer:
        port = port_of(words[0]) if len(words) == 2 else None
        if port is None or not self._host.design.size.has(port):
            return Answer(f"Invalid port {words[0] if words else ''}\n", 1)
        if not is_label(words[1]):
            return Answer(f"Invalid label: {LABEL}\n", 1)
        self._host.machine.labels[port] = words[1]
        return Answer(f"port {port} label succeeded\n")

    async def _state(self, words: Sequence[str]) -> Answer:
        port = port_of(words[0]) if len(words) == 2 else None
        if port is None or not self._host.design.size.has(port):
            return Answer(f"Invalid port {words[0] if words else ''}\n", 1)
        if words[1] not in _STATES:
            return Answer(f"Invalid state {words[1][:20]}: one of {', '.join(_STATES)}\n", 1)
        self._host.machine.set_admin(self._host.now, port, _STATES[words[1]])
        return Answer(f"port {port} state succeeded\n")

    async def _save(self, _: Sequence[str]) -> Answer:
        self._host.machine.save(self._host.now)
        return Answer("Running command: /usr/local/bin/sonic-cfggen -d --print-data\n")

    async def _reboot(self, kind: str) -> Answer:
        self._host.strike(Fault(kind))
        return Answer("rebooting\n")

    # show

    async def _show_config(self, words: Sequence[str]) -> Answer:
        if [*words] not in ([], ["config"]):
            return usage("show ocs cross-connect config|status")
        listed = self._host.machine.connections(self._host.now)
        held = [one for one in listed if one.configured and one.status not in _LEAVING]
        rows = [(name_of(one.pair), *_sides(one)) for one in held]
        return table(("id", "a_side", "b_side"), rows)

    async def _show_status(self, _: Sequence[str]) -> Answer:
        machine, now = self._host.machine, self._host.now
        rows = []
        for one in machine.connections(now):
            if one.status in (*_LEAVING, Status.INVALID):
                continue
            states = [machine.port(now, end).status.lower() for end in ends_of(one.pair)]
            rows.append((name_of(one.pair), *_sides(one), *states))
        head = ("id", "a_side", "b_side", "a_side_status", "b_side_status")
        return table(head, rows)

    async def _show_port_config(self, _: Sequence[str]) -> Answer:
        rows = [(str(seen.port), seen.label, seen.admin.value) for seen in self._ports()]
        return table(("id", "label", "state"), rows)

    async def _show_port_status(self, _: Sequence[str]) -> Answer:
        head = ("id", "connector_type", "connector_pin", "target_simplex_port_id", "status")
        rows = [
            (
                str(seen.port),
                "LC UPC",
                "2" if seen.port.side == "A" else "1",
                "" if seen.peer is None else str(seen.peer),
                seen.status.lower(),
            )
            for seen in self._ports()
        ]
        return table(head, rows)

    async def _show_losses(self, _: Sequence[str]) -> Answer:
        optics = self._host.design.optics
        rows = [
            (
                name_of(pair),
                f"{optics.frequency_thz:g}",
                f"{optics.temperature_c:g}",
                f"{optics.loss_db(pair):g}",
                f"{optics.accuracy_db:g}",
            )
            for pair in listed_losses(self._host)
        ]
        head = ("id", "frequency_THz", "temperature_C", "loss_dB", "accuracy_dB")
        return table(head, rows, head[1:])

    async def _show_version(self, _: Sequence[str]) -> Answer:
        size = self._host.design.size
        return Answer(f"SONiC Software Version: emulated by Lightloom\nHwSKU: OCS-{size}\n")

    def _ports(self) -> list[PortSeen]:
        machine, now = self._host.machine, self._host.now
        ports = sorted(self._host.design.size.ports(), key=lambda port: (port.number, port.side))
        return [machine.port(now, port) for port in ports]


_LEAVING = (Status.PENDING_DELETION,)


def _sides(one: Seen) -> tuple[str, str]:
    return f"{one.pair[0]}A", f"{one.pair[1]}B"


def _pairs(text: str) -> tuple[list[Pair], str]:
    """Returns the cross-connects of a list, or the malformed item."""
    found: list[Pair] = []
    for item in text.split(","):
        pairs = expand(item)
        if not pairs:
            return [], item[:80] or "(empty)"
        found += pairs
        if len(found) > LARGEST:  # a short text may describe millions of pairs
            return [], f"list: at most {LARGEST} in one command"
    return found, ""
