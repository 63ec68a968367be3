"""The command line that SONiC generates from the data model `sonic-ocs`.

Certain, as the generator (`sonic-cli-gen`) and the instructions of the public virtual OCS show: the
commands; `add` of an existing entry and `update` or `delete` of a missing one are errors; a
successful change prints nothing; the columns of the tables; the words for states. An option:
hyphens in the states of a port, as developer guide 0.2 writes them. Assumptions: an entry that the
emulated switch refuses (a side is missing, differs from the id or is in use) fails the validation;
a physical path is its two ports.
"""

from __future__ import annotations

from collections.abc import Sequence

from lightloom.switches.changes import BrokenError, RefusedError, requested
from lightloom.switches.faces._sonic_text import Answer, Handler, table, usage
from lightloom.switches.host import Host
from lightloom.switches.ports import LABEL, Pair, is_label, name_of, pair_of, port_of
from lightloom.switches.states import Admin, PortSeen, PortStatus, Status

_SIDES = ("--a-side", "--b-side")
_STATUS = {Status.CONNECTED: "enabled", Status.INVALID: "invalid"}
_STATES = {
    "normal": Admin.NORMAL,
    "force_blocked": Admin.FORCE_BLOCKED,
    "force-blocked": Admin.FORCE_BLOCKED,
    "powered_off": Admin.POWERED_OFF,
    "powered-off": Admin.POWERED_OFF,
}


class Generated:
    """The generated commands of one switch."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def handlers(self) -> dict[tuple[str, ...], Handler]:
        """Returns the handler of each command by the words of the command."""
        return {
            ("config", "ocs-cross-connect", "add"): self._add,
            ("config", "ocs-cross-connect", "update"): self._update,
            ("config", "ocs-cross-connect", "delete"): self._delete,
            ("config", "ocs-port", "update"): self._update_port,
            ("config", "ocs-port"): self._update_port,
            ("show", "ocs-cross-connect"): self._show_config,
            ("show", "ocs-cross-connect-table"): self._show_status,
            ("show", "ocs-port"): self._show_port_config,
            ("show", "ocs-port-table"): self._show_port_status,
        }

    async def _add(self, words: Sequence[str]) -> Answer:
        read = _arguments(words, _SIDES)
        if read is None:
            return usage("config ocs-cross-connect add ID --a-side PORT --b-side PORT")
        name, sides = read
        if pair_of(name) in self._held():
            return _error(f"{name} already exists")
        pair = pair_of(name)
        if pair is None or name != "-".join(sides.get(side, "") for side in _SIDES):
            return _invalid("a_side and b_side must be ports such as 1A and 29B, and the id 1A-29B")
        return await self._change([], [pair])

    async def _update(self, words: Sequence[str]) -> Answer:
        read = _arguments(words, _SIDES)
        if read is None:
            return usage("config ocs-cross-connect update ID [--a-side PORT] [--b-side PORT]")
        name, sides = read
        if not sides:
            return _error(f"No field/values to update {name}")
        if pair_of(name) not in self._held():
            return _error(f"{name} does not exist")
        held = dict(zip(_SIDES, name.split("-"), strict=True))
        if {**held, **sides} != held:
            return _invalid(f"{name} is between the ports of its id")
        return Answer("")

    async def _delete(self, words: Sequence[str]) -> Answer:
        read = _arguments(words, ())
        if read is None:
            return usage("config ocs-cross-connect delete ID")
        pair = pair_of(read[0])
        if pair is None or pair not in self._held():
            return _error(f"{read[0]} does not exist")
        return await self._change([pair], [])

    async def _change(self, gone: Sequence[Pair], new: Sequence[Pair]) -> Answer:
        try:
            await self._host.change(
                lambda machine, now: machine.change(now, gone, map(requested, new))
            )
        except RefusedError as problem:
            return _invalid(str(problem))
        except BrokenError as problem:
            return _error(str(problem))
        return Answer("")

    async def _update_port(self, words: Sequence[str]) -> Answer:
        read = _arguments(words, ("--config-status", "--label"))
        if read is None:
            return usage("config ocs-port update PORT [--config-status STATE] [--label TEXT]")
        name, values = read
        port = port_of(name)
        if not values:
            return _error(f"No field/values to update {name}")
        if port is None or not self._host.design.size.has(port):
            return _error(f"{name} does not exist")
        state, label = values.get("--config-status"), values.get("--label")
        if state is not None and state not in _STATES:
            return _invalid(f"config_status {state[:20]} is none of {', '.join(_STATES)}")
        if label is not None and not is_label(label):
            return _invalid(f"label: {LABEL}")
        if label is not None:
            self._host.machine.labels[port] = label
        if state is not None:
            self._host.machine.set_admin(self._host.now, port, _STATES[state])
        return Answer("")

    def _held(self) -> set[Pair]:
        """Returns the configured cross-connects."""
        listed = self._host.machine.connections(self._host.now)
        leaving = Status.PENDING_DELETION
        return {one.pair for one in listed if one.configured and one.status is not leaving}

    async def _show_config(self, _: Sequence[str]) -> Answer:
        rows = [(name_of(pair), *name_of(pair).split("-")) for pair in sorted(self._held())]
        return table(("CROSS CONNECT ID", "A SIDE", "B SIDE"), rows)

    async def _show_status(self, _: Sequence[str]) -> Answer:
        listed = self._host.machine.connections(self._host.now)
        rows = [
            (name_of(one.pair), _STATUS.get(one.status, "disabled"), ", ".join(map(str, one.ends)))
            for one in sorted(listed, key=lambda one: one.pair)
            if one.status is not Status.PENDING_DELETION
        ]
        return table(("CROSS CONNECT ID", "STATUS", "PHYSICAL PATH"), rows)

    async def _show_port_config(self, _: Sequence[str]) -> Answer:
        rows = [(str(seen.port), seen.label, seen.admin.value) for seen in self._ports()]
        return table(("SIMPLEX PORT ID", "LABEL", "CONFIG STATUS"), rows)

    async def _show_port_status(self, _: Sequence[str]) -> Answer:
        rows = [
            (str(seen.port), "Duplex LC", "0", str(seen.peer or ""), _oper_status(seen))
            for seen in self._ports()
        ]
        pin = "CONNECTOR PIN"
        head = ("SIMPLEX PORT ID", "CONNECTOR TYPE", pin, "TARGET SIMPLEX PORT ID", "OPER STATUS")
        return table(head, rows, [pin])

    def _ports(self) -> list[PortSeen]:
        machine, now = self._host.machine, self._host.now
        ports = sorted(self._host.design.size.ports(), key=lambda port: (port.number, port.side))
        return [machine.port(now, port) for port in ports]


def _oper_status(seen: PortSeen) -> str:
    if seen.admin is Admin.POWERED_OFF and seen.status is not PortStatus.FAILED:
        return "powered_off"
    return "connected" if seen.status is PortStatus.TUNED else seen.status.lower()


def _arguments(words: Sequence[str], known: Sequence[str]) -> tuple[str, dict[str, str]] | None:
    """Returns the key and the options of a command, which may be in any order; None if they are
    invalid.

    >>> _arguments(["1A-2B", "--a-side", "1A", "--b-side=2B"], _SIDES)
    ('1A-2B', {'--a-side': '1A', '--b-side': '2B'})
    """
    keys, values = [], dict[str, str]()
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        if not word.startswith("--"):
            keys.append(word)
        elif name not in known:
            return None
        else:
            found = value if equals else next(left, None)
            if found is None:
                return None
            values[name] = found
    return (keys[0], values) if len(keys) == 1 else None


def _error(text: str) -> Answer:
    return Answer(f"Error: {text[:400]}\nAborted!\n", 1)


def _invalid(text: str) -> Answer:
    return _error(f"Failed to validate configuration: {text}")
