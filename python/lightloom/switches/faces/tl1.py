"""The TL1 face: commands of Calient switches over TCP.

Certain, as public clients use them: `ACT-USER::USER:CTAG::PASSWORD;`,
`ENT-CRS::SRC,DST:CTAG::GROUP,1WAY;`, `DLT-CRS::SRC,DST:CTAG::,GROUP,NAME;`,
`RTRV-CRS:::::ALL;` with rows `SRCPORT=…,DSTPORT=…,GRPNAME=…,CONNNAME=…,CONNTYPE=…`,
`RTRV-PORT`, `RTRV-NE`; completion codes COMPLD and DENY; a port is an input and an output.
Assumptions: `&` joins several ports (as TL1 has it), error codes and their comments (those of
GR-831), a command without a tag is answered with the tag 0, the
fields of a port, that a port is called `1.CARD.PORT` with 8 ports on a card
(`port_names = "number"` counts them instead), and what ENT-CRS does with a port in use
(`ent_in_use`). CANC-CRS, which darkens a cross-connect and keeps it, is refused.
"""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Awaitable, Callable, Sequence

from lightloom.switches.access import Credentials
from lightloom.switches.changes import BrokenError, RefusedError, requested
from lightloom.switches.config import Face
from lightloom.switches.faces._streams import Session, start
from lightloom.switches.host import Host
from lightloom.switches.ports import Pair, Port, Size, name_of
from lightloom.switches.states import Status
from lightloom.switches.tl1_names import aid_of, number_of

BROKEN = "\r\n\n   -\r\nM  0 DENY\r\n   IISP\r\n   /* {} */\r\n;"
"""The last message before a connection with malformed framing is closed."""
LONGEST_TAG = 6
"""The longest correlation tag [characters]."""
Rows = list[str]


class DeniedError(Exception):
    """Raised if a command is refused."""

    def __init__(self, code: str, reason: str) -> None:
        """`code` is from GR-831; the reason becomes a comment, so `;` in it is replaced."""
        super().__init__(f"{code}: {reason}")
        self.rows = [code, f"/* {reason.replace(';', ',').replace('*/', '* /')} */"]


async def listen(host: Host, credentials: Credentials, address: str, face: Face) -> asyncio.Server:
    """Serves TL1."""

    async def serve(session: Session) -> None:
        interpreter = Interpreter(host, credentials, face)
        async for command in session.messages():
            await session.send(await interpreter.run(command.strip()))

    return await start(host, address, face.port, b";", serve, BROKEN)


class Interpreter:
    """The commands of one connection."""

    def __init__(self, host: Host, credentials: Credentials, face: Face) -> None:
        self._host, self._credentials = host, credentials
        self._names = face.options["port_names"]
        self._conflict = face.conflict("ent_in_use")
        self._user = ""
        self._handlers: dict[str, Callable[[Sequence[str]], Awaitable[Rows]]] = {
            "ENT-CRS": self._enter,
            "DLT-CRS": self._delete,
            "RTRV-CRS": self._retrieve,
            "ACT-CRS": self._activate,
            "RTRV-PORT": self._ports,
            "RTRV-PORT-SUM": self._port_summaries,
            "DLT-CRS-ALL": self._delete_all,
            "RTRV-NE": self._element,
        }

    async def run(self, command: str) -> str:
        """Returns the answer to one command, without its `;`."""
        blocks = command.split(":")
        verb = blocks[0].upper()
        blocks += [""] * (6 - len(blocks))
        ctag = blocks[3] or "0"
        if not (ctag.isascii() and ctag.isalnum() and len(ctag) <= LONGEST_TAG):
            problem = DeniedError("IICT", f"a tag has 1 to {LONGEST_TAG} letters or digits")
            return self._framed("0", "DENY", problem.rows)
        try:
            rows = await self._answer(verb, blocks)
        except DeniedError as problem:
            return self._framed(ctag, "DENY", problem.rows)
        return self._framed(ctag, "COMPLD", [f'"{row}"' for row in rows])

    async def _answer(self, verb: str, blocks: Sequence[str]) -> Rows:
        self._host.check_up()
        if verb == "ACT-USER":
            if not self._credentials.admit(blocks[2], blocks[5]):
                raise DeniedError("PIUI", "unknown user or password")
            self._user = blocks[2] or "user"
            return []
        if not self._user:
            raise DeniedError("PLNA", "Login Not Active")
        if verb == "CANC-USER":
            self._user = ""
            return []
        if verb not in self._handlers:
            raise DeniedError("IICM", f"{verb[:20]} is not a command here")
        return await self._handlers[verb](blocks)

    def _framed(self, ctag: str, code: str, rows: Sequence[str]) -> str:
        now = datetime.datetime.now(datetime.UTC).strftime("%y-%m-%d %H:%M:%S")
        body = "".join(f"   {row}\r\n" for row in rows)
        return f"\r\n\n   {self._host.design.name} {now}\r\nM  {ctag} {code}\r\n{body};"

    async def _enter(self, blocks: Sequence[str]) -> Rows:
        kind = [*blocks[5].split(","), "", ""][1].upper() or "1WAY"
        if kind not in ("1WAY", "2WAY"):
            raise DeniedError("IDNV", f"{kind[:10]} is neither 1WAY nor 2WAY")
        pairs = self._pairs(blocks[2])
        if kind == "2WAY":
            pairs = [*dict.fromkeys([*pairs, *((b, a) for a, b in pairs)])]
        await self._change([], pairs)
        return []

    async def _delete(self, blocks: Sequence[str]) -> Rows:
        name = blocks[5].split(",")[-1]
        pairs = self._pairs(blocks[2] or _ends_of(name))
        if "-" in name and ">" not in name:  # a bidirectional connection
            held = self._configured()
            pairs += [(b, a) for a, b in pairs if (b, a) in held and a != b]
        await self._change(pairs, [])
        return []

    async def _change(self, gone: Sequence[Pair], new: Sequence[Pair]) -> None:
        try:
            await self._host.change(
                lambda machine, now: machine.change(
                    now, gone, map(requested, new), conflict=self._conflict, stale=True
                )
            )
        except RefusedError as problem:
            raise DeniedError("SROF", f"Failed: {problem}") from None
        except BrokenError as problem:
            raise DeniedError("SROF", f"Failed: {problem}") from None

    async def _retrieve(self, blocks: Sequence[str]) -> Rows:
        rows = []
        name = blocks[5].split(",")[-1]
        aids = blocks[2] or ("" if name.upper() == "ALL" else _ends_of(name))
        wanted = None if aids in ("", "0", "ALL") else {*self._pairs(aids)}
        for one in self._host.machine.connections(self._host.now):
            if one.status in (Status.INVALID, Status.PENDING_DELETION):
                continue
            if wanted is not None and one.pair not in wanted:
                continue
            a, b = (aid_of(number, self._names) for number in one.pair)
            condition = "OK" if one.status is Status.CONNECTED else "FAIL"
            rows.append(
                f"{a}>{b}:SRCPORT={a},DSTPORT={b},GRPNAME=SYSTEM,CONNNAME={a}>{b},CONNTYPE=1WAY,"
                f"AS=IS,OS=RDY,OC={condition},PS=UPR,AL=CL,STATE={one.status.value}"
            )
        if wanted is not None and not rows:
            raise DeniedError("SROF", "Invalid Connection")
        return rows

    async def _delete_all(self, _: Sequence[str]) -> Rows:
        await self._change(sorted(self._held()), [])
        return []

    async def _activate(self, blocks: Sequence[str]) -> Rows:
        """Accepts the command without effect, because ENT-CRS has already activated the
        connection."""
        held = self._configured()
        for pair in self._pairs(blocks[2]):
            if pair not in held:
                raise DeniedError("SROF", f"Failed: {name_of(pair)} does not exist")
        return []

    async def _port_summaries(self, blocks: Sequence[str]) -> Rows:
        """Returns the light of each port, and its cross-connects."""
        names: dict[int, list[str]] = {}
        for a, b in sorted(self._held()):
            own = f"{aid_of(a, self._names)}>{aid_of(b, self._names)}"
            for number in {a, b}:
                names.setdefault(number, []).append(own)
        size, machine, now = self._host.design.size, self._host.machine, self._host.now
        rows = []
        for number in self._asked(blocks[2]):
            fields = [f"ALIAS={machine.labels.get(Port('A', number), '')}"]
            for side, kind in (("A", "IN"), ("B", "OUT")):
                if size.has(Port(side, number)):
                    seen = machine.port(now, Port(side, number))
                    power = seen.input_dbm if side == "A" else seen.output_dbm
                    fields.append(f"{kind}PWR={power:.2f}")
            listed = [*names.get(number, []), "", ""][:2]
            for at, connection in enumerate(listed, 1):
                state = "ACT" if connection else ""
                fields.append(f"CONNNAME{at}={connection},CONNSTATE{at}={state}")
            rows.append(f"{aid_of(number, self._names)}:{','.join(fields)}")
        return rows

    def _held(self) -> set[Pair]:
        listed = self._host.machine.connections(self._host.now)
        free = (Status.INVALID, Status.PENDING_DELETION)
        return {one.pair for one in listed if one.status not in free}

    def _asked(self, aids: str) -> Sequence[int]:
        """Returns the ports that a command names; all if it names none."""
        size = self._host.design.size
        if aids in ("", "0", "ALL"):
            return range(1, max(size.a, size.b) + 1)
        numbers = self._numbers(aids)
        if max(numbers) > max(size.a, size.b):
            raise DeniedError("IIAC", f"Invalid port: the switch has {size} ports")
        return numbers

    def _configured(self) -> set[Pair]:
        listed = self._host.machine.connections(self._host.now)
        return {one.pair for one in listed if one.configured}

    async def _ports(self, blocks: Sequence[str]) -> Rows:
        size, machine, now = self._host.design.size, self._host.machine, self._host.now
        rows = []
        for number in self._asked(blocks[2]):
            fields = []
            for side, kind in (("A", "IN"), ("B", "OUT")):
                port = Port(side, number)
                if size.has(port):
                    seen = machine.port(now, port)
                    power = seen.input_dbm if side == "A" else seen.output_dbm
                    fields.append(f"{kind}STATUS={seen.status},{kind}POWER={power:.2f}")
            rows.append(f"{aid_of(number, self._names)}:PORT,{','.join(fields)}")
        return rows

    async def _element(self, blocks: Sequence[str]) -> Rows:
        design = self._host.design
        chassis = f"EMU-{design.size}"
        serial = f"{design.seed:06d}"
        return [f"SERIALNUMBER={serial},SWPACKAGE=1.0,STATUS=IS,CHASSISTYPE={chassis}"]

    def _pairs(self, aids: str) -> list[Pair]:
        sides = [self._numbers(side) for side in aids.split(",")]
        if len(sides) != 2 or len(sides[0]) != len(sides[1]):
            raise DeniedError("IIAC", "as many source as destination ports, such as 1.1.1,1.1.2")
        pairs = [*zip(*sides, strict=True)]
        size: Size = self._host.design.size
        for a, b in pairs:
            if not (size.has(Port("A", a)) and size.has(Port("B", b))):
                raise DeniedError("IIAC", f"Invalid port: the switch has {size} ports")
        return pairs

    def _numbers(self, aids: str) -> list[int]:
        found = [number_of(aid, self._names) for aid in aids.split("&")]
        numbers = [number for number in found if number is not None]
        if len(numbers) < len(found):
            raise DeniedError("IIAC", f"Invalid port: {aids[:40]}")
        return numbers


def _ends_of(name: str) -> str:
    """Returns the address of the ports in a cross-connect's name.

    >>> _ends_of("1.1.1>1.1.2"), _ends_of("1.1.1-1.1.2")
    ('1.1.1,1.1.2', '1.1.1,1.1.2')
    """
    return name.replace(">", ",").replace("-", ",")
