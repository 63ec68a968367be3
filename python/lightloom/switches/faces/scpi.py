"""The SCPI face: the commands of Polatis switches over TCP.

Certain, as public client code uses them: `:oxc:swit:conn:add|sub|only|stat?|port?`,
`:oxc:swit:disc:all`, `:oxc:swit:size?`, `:oxc:swit:port:dis|enab|stat?`, `:pmon:pow?`,
`:syst:err?`, `*idn?`; input ports count from 1, output ports on after them. Assumptions: the
numbers of errors (those of the SCPI standard), and the treatment of a port in use by `add`
(`add_in_use`).
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable, Sequence

from lightloom.switches.changes import BrokenError, Conflict, RefusedError, requested
from lightloom.switches.faces._streams import Session, start
from lightloom.switches.host import Host
from lightloom.switches.ports import LARGEST, Pair, Port
from lightloom.switches.states import Admin, PortStatus, Status

KEYWORDS = {
    "switch": "swit",
    "connect": "conn",
    "connection": "conn",
    "disconnect": "disc",
    "state": "stat",
    "disable": "dis",
    "enable": "enab",
    "system": "syst",
    "error": "err",
    "power": "pow",
    "pmonitor": "pmon",
}
"""Long forms of keywords."""
NO_ERROR = '0,"No error"'
COMPLETE = 1
"""The event that all commands before `*opc` are complete (IEEE 488.2)."""
EVENTS = {"1": 32, "2": 16, "3": 8}
"""The event of an error by the first digit of its number: command, execution, device (SCPI)."""
ERRORS_WAIT = 4
"""The bit of `*stb?` that is set if the error queue is not empty (SCPI)."""
OVERFLOW = '-350,"Queue overflow"'
MOST_ERRORS = 32
"""Largest number of errors that are kept for `:syst:err?`."""
MOST_ITEMS = 2 * LARGEST
"""Largest number of ports in a list: those of the largest switch."""
_LISTS = re.compile(r"\(@([0-9,: ]*)\)")
_OPEN = re.compile(r"\(@[0-9,: ]*\)(\s*,\s*\(@[0-9,: ]*\))?")


class ScpiError(Exception):
    """An error for the queue of `:syst:err?`."""

    def __init__(self, number: int, text: str, detail: str = "") -> None:
        safe = detail.replace('"', "'")
        super().__init__(f'{number},"{text}{"; " if safe else ""}{safe}"')


async def listen(
    host: Host, address: str, port: int, add_in_use: Conflict = Conflict.REFUSE
) -> asyncio.Server:
    """Serves SCPI."""

    async def serve(session: Session) -> None:
        interpreter = Interpreter(host, add_in_use)
        async for line in session.messages():
            answers = await interpreter.line(line.strip("\r \t"))
            if answers:
                await session.send(";".join(answers) + "\n")

    return await start(host, address, port, b"\n", serve, '-363,"Input buffer overrun; {}"\n')


class Interpreter:
    """The commands of one connection."""

    def __init__(self, host: Host, add_in_use: Conflict) -> None:
        self._host, self._add_in_use = host, add_in_use
        self._errors: deque[str] = deque()
        self._queries: dict[str, Callable[[str], str]] = {
            "*idn": self._identity,
            "*esr": self._events,
            "*stb": lambda _: str(ERRORS_WAIT if self._errors else 0),
            "*tst": lambda _: "0",
            "oxc:swit:size": lambda _: f"{host.design.size.a},{host.design.size.b}",
            "oxc:swit:conn:stat": self._connections,
            "oxc:swit:conn:port": self._peer,
            "oxc:swit:port:stat": self._port_states,
            "pmon:pow": self._powers,
            "syst:err": lambda _: self._errors.popleft() if self._errors else NO_ERROR,
            "syst:err:all": self._all_errors,
        }
        self._queries["syst:err:next"] = self._queries["syst:err"]
        self._seen = 0
        """Events since the last `*esr?`."""
        self._completes = False
        """Whether `*opc` has requested an event for the time when all connections have settled."""

    async def line(self, line: str) -> list[str]:
        """Returns the answers to the queries of one line; other commands have no answer."""
        answers, path = [], ""
        for part in _commands(line):
            header, _, argument = part.partition(" ")
            name = _canonical(header, path)
            if not name.startswith("*"):
                path = name.rpartition(":")[0]
            try:
                answer = await self._command(name, argument.strip())
            except ScpiError as problem:
                self._note(problem)
                continue
            if answer is not None:
                answers.append(answer)
        return answers

    def _note(self, problem: ScpiError) -> None:
        """Appends an error to the queue; if it is full, its last error becomes "queue overflow"
        (SCPI 1999)."""
        self._seen |= EVENTS[str(problem)[1]]
        if len(self._errors) == MOST_ERRORS:
            self._errors[-1] = OVERFLOW
        else:
            self._errors.append(str(problem))

    async def _command(self, name: str, argument: str) -> str | None:
        self._host.check_up()
        if name == "*opc?":
            await self._host.settled()
            return "1"
        if name.endswith("?") and name[:-1] in self._queries:
            return self._queries[name[:-1]](argument)
        if name == "*cls":
            self._errors.clear()
            self._seen, self._completes = 0, False
        elif name == "*wai":
            await self._host.settled()
        elif name == "*opc":
            self._completes = True
        elif name in ("oxc:swit:disc:all", "*rst"):
            await self._change([], [], wipe=True)
        elif name in ("oxc:swit:conn:add", "oxc:swit:conn:only"):
            await self._change([], self._pairs(argument), wipe=name.endswith("only"))
        elif name == "oxc:swit:conn:sub":
            await self._change(self._existing(argument), [], wipe=False)
        elif name in ("oxc:swit:port:dis", "oxc:swit:port:enab"):
            await self._set_ports(argument, name.endswith("enab"))
        elif name:
            raise ScpiError(-113, "Undefined header", name)
        return None

    async def _change(self, gone: Sequence[Pair], new: Sequence[Pair], *, wipe: bool) -> None:
        conflict = Conflict.REFUSE if wipe else self._add_in_use
        try:
            await self._host.change(
                lambda machine, now: machine.change(
                    now, gone, map(requested, new), conflict=conflict, wipe=wipe, stale=True
                )
            )
        except RefusedError as problem:
            raise ScpiError(-221, "Settings conflict", str(problem)) from None
        except BrokenError as problem:
            raise ScpiError(-310, "System error", str(problem)) from None

    async def _set_ports(self, argument: str, enable: bool) -> None:
        ports = self._ports(argument)
        admin = Admin.NORMAL if enable else Admin.POWERED_OFF
        for port in ports:
            self._host.machine.set_admin(self._host.now, port, admin)

    # Answers

    def _events(self, _: str) -> str:
        """Returns the events since the last query (IEEE 488.2)."""
        machine, now = self._host.machine, self._host.now
        if self._completes and machine.pending_until(now) <= now:
            self._seen, self._completes = self._seen | COMPLETE, False
        found, self._seen = self._seen, 0
        return str(found)

    def _identity(self, _: str) -> str:
        design = self._host.design
        return f"Lightloom,N-EMU-{design.size}-{design.name},{design.seed:06d},1.0"

    def _connections(self, _: str) -> str:
        seen = self._host.machine.connections(self._host.now)
        pairs = [one.pair for one in seen if one.status not in _NOT_HELD]
        a = ",".join(str(pair[0]) for pair in pairs)
        return f"(@{a}),(@{','.join(str(self._number(Port('B', pair[1]))) for pair in pairs)})"

    def _peer(self, argument: str) -> str:
        peer = self._host.machine.port(self._host.now, self._port(argument)).peer
        return f'"{"" if peer is None else self._number(peer)}"'

    def _port_states(self, argument: str) -> str:
        ports = self._ports(argument) if argument else self._host.design.size.ports()
        return f"({','.join(map(self._state, ports))})"

    def _state(self, port: Port) -> str:
        seen = self._host.machine.port(self._host.now, port)
        if seen.status is PortStatus.FAILED:
            return "F"
        return "E" if seen.admin is Admin.NORMAL else "D"

    def _powers(self, argument: str) -> str:
        found = []
        for port in self._ports(argument):
            seen = self._host.machine.port(self._host.now, port)
            found.append(seen.input_dbm if port.side == "A" else seen.output_dbm)
        return f"({','.join(f'{power:.2f}' for power in found)})"

    def _all_errors(self, _: str) -> str:
        found = ",".join(self._errors) or NO_ERROR
        self._errors.clear()
        return found

    # Arguments

    def _number(self, port: Port) -> int:
        return port.number + (self._host.design.size.a if port.side == "B" else 0)

    def _port(self, text: str) -> Port:
        size = self._host.design.size
        number = int(text) if text.isdecimal() and len(text) < 6 else 0
        if not 1 <= number <= size.a + size.b:
            raise ScpiError(-222, "Data out of range", f"port {text[:20]}")
        return Port("A", number) if number <= size.a else Port("B", number - size.a)

    def _ports(self, argument: str) -> list[Port]:
        lists = _lists(argument)
        if len(lists) != 1:
            raise ScpiError(-109, "Missing parameter", "one list of ports (@1,2)")
        return [self._port(text) for text in lists[0]]

    def _pairs(self, argument: str) -> list[Pair]:
        lists = _lists(argument)
        if len(lists) != 2 or len(lists[0]) != len(lists[1]):
            raise ScpiError(-109, "Missing parameter", "two lists of as many ports (@1),(@17)")
        sides = [[self._port(text) for text in side] for side in lists]
        for a, b in zip(*sides, strict=True):
            if (a.side, b.side) != ("A", "B"):
                numbers = f"{self._number(a)} and {self._number(b)}"
                raise ScpiError(-222, "Data out of range", f"no ingress and egress port: {numbers}")
        return [(a.number, b.number) for a, b in zip(*sides, strict=True)]

    def _existing(self, argument: str) -> list[Pair]:
        """Returns the connections to delete; `(@1,2),(@)` lists them by ingress port only."""
        machine, now = self._host.machine, self._host.now
        lists = _lists(argument)
        if len(lists) != 2 or lists[1]:
            return self._pairs(argument)
        pairs = []
        for port in map(self._port, lists[0]):
            peer = machine.port(now, port).peer
            if peer is None:
                raise ScpiError(-221, "Settings conflict", f"port {port} is not connected")
            a, b = (port, peer) if port.side == "A" else (peer, port)
            pairs.append((a.number, b.number))
        return pairs


_NOT_HELD = (Status.INVALID, Status.PENDING_DELETION)


def _commands(line: str) -> list[str]:
    return [part.strip() for part in line.split(";") if part.strip()]


def _canonical(header: str, path: str) -> str:
    """Returns a header in short lower-case keywords; one without a colon is relative to `path`.

    >>> _canonical(":OXC:SWITch:CONNect:PORT?", ""), _canonical("stat?", "oxc:swit:conn")
    ('oxc:swit:conn:port?', 'oxc:swit:conn:stat?')
    """
    query = "?" if header.endswith("?") else ""
    words = header.rstrip("?").lower().lstrip(":").split(":")
    name = ":".join(KEYWORDS.get(word, word) for word in words) + query
    is_relative = path and not header.startswith((":", "*")) and len(words) == 1
    return f"{path}:{name}" if is_relative else name


def _lists(argument: str) -> list[list[str]]:
    """Returns the lists of ports in an argument; `(@1:3)` is a range.

    >>> _lists("(@1,2),(@17:18)")
    [['1', '2'], ['17', '18']]
    """
    if not _OPEN.fullmatch(argument):
        raise ScpiError(-109, "Missing parameter", "lists of ports such as (@1,2),(@17,18)")
    found: list[list[str]] = []
    for text in _LISTS.findall(argument):
        items: list[str] = []
        for item in filter(None, (part.strip() for part in text.split(","))):
            first, colon, last = item.partition(":")
            is_range = colon and first.isdecimal() and last.isdecimal() and len(first + last) < 12
            many = max(int(last) - int(first) + 1, 0) if is_range else 1
            if len(items) + many > MOST_ITEMS:  # a short text may describe millions of ports
                raise ScpiError(-223, "Too much data", f"a list has at most {MOST_ITEMS} ports")
            items += [str(int(first) + at) for at in range(many)] if is_range else [item]
        found.append(items)
    return found
