"""The command face: injects faults and returns the state of the switch over HTTP.

| request | answer |
|---|---|
| `POST /faults` with a fault as JSON | 204 |
| `GET /state` | the connections and ports that are not blocked, as JSON |
| `GET /loss/1A-29B` | the factory insertion loss of a path [dB] |
| `POST /packets` with `{"gap": "10 us", "length": "120 ns"}` | 204; packets enter every A port |
| `GET /packets` | packets sent and arrived for each A port, as JSON |

It has no login, and listens on loopback only. A connection carries one request. It also answers
while the switch is booting; faults of connections do not affect it.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from lightloom.errors import ConfigError
from lightloom.switches.access import is_loopback
from lightloom.switches.changes import RefusedError
from lightloom.switches.faults import check_fault, read_fault
from lightloom.switches.host import Host
from lightloom.switches.packets import Stream
from lightloom.switches.ports import ends_of, pair_of
from lightloom.switches.states import PortStatus, Status
from lightloom.units.durations import duration_ps

LONGEST = 256 << 10
"""The longest body [bytes]."""
WAIT_S = 10.0
"""The longest wait for a request [s]."""
_TEXTS = {200: "OK", 204: "No Content", 400: "Bad Request", 404: "Not Found"}


class _BadError(Exception):
    """Raised if a request is refused."""


async def listen(host: Host, address: str, port: int) -> asyncio.Server:
    """Serves commands."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, TimeoutError, asyncio.IncompleteReadError):
            try:
                request = await asyncio.wait_for(_request(reader), WAIT_S)
                status, answer = _answer(host, *request)
            except (_BadError, ConfigError, RefusedError) as problem:
                status, answer = 400, {"error": str(problem)}
            writer.write(_response(status, answer))
            await asyncio.wait_for(writer.drain(), WAIT_S)
        writer.close()

    return await asyncio.start_server(connected, address, port)


async def _request(reader: asyncio.StreamReader) -> tuple[str, str, bytes]:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.LimitOverrunError:
        raise _BadError("the header of the request is too long") from None
    words = head[0].split()
    if len(words) != 3:
        raise _BadError("not an HTTP request")
    fields = dict(line.lower().split(":", 1) for line in head[1:] if ":" in line)
    name = re.sub(r":\d+$", "", fields.get("host", "127.0.0.1").strip()).strip("[]")
    if "origin" in fields or not is_loopback(name):
        raise _BadError("a page of a browser may not command the switch")
    length = fields.get("content-length", "0").strip()
    if not length.isdecimal() or len(length) > 9 or int(length) > LONGEST:
        raise _BadError(f"Content-Length: at most {LONGEST} bytes")
    return words[0], words[1], await reader.readexactly(int(length))


def _answer(host: Host, method: str, path: str, body: bytes) -> tuple[int, Any]:
    if (method, path) == ("POST", "/faults"):
        fault = read_fault("fault", _table(body), scheduled=False)
        check_fault("fault", fault, host.design.size)
        host.strike(fault)
        return 204, None
    if (method, path) == ("GET", "/state"):
        return 200, state(host)
    if (method, path) == ("POST", "/packets"):
        host.machine.send_packets(host.now, _stream(body))
        return 204, None
    if (method, path) == ("GET", "/packets"):
        counts = host.machine.packets(host.now)
        return 200, {f"{a}A": asdict(found) for a, found in counts.items()}
    if method == "GET" and path.startswith("/loss/"):
        return 200, {"loss_dB": _loss_db(host, path.removeprefix("/loss/"))}
    return 404, {"error": "POST /faults or /packets, GET /state, /packets or /loss/1A-29B"}


def _loss_db(host: Host, name: str) -> float:
    pair = pair_of(name)
    if pair is None:
        raise _BadError(f"{name[:40]}: not a path; write its A and B port: /loss/1A-29B")
    for port in ends_of(pair):
        if not host.design.size.has(port):
            raise _BadError(f"port {port} does not exist on {host.design.size} ports")
    return host.design.optics.loss_db(pair)


def _table(body: bytes) -> dict[str, Any]:
    try:
        table = json.loads(body)
    except (ValueError, RecursionError):
        raise _BadError("the body is not JSON") from None
    if not isinstance(table, dict):
        raise _BadError("the body is not a JSON object")
    return table


def _stream(body: bytes) -> Stream:
    table, usual = _table(body), Stream()
    unknown = sorted(set(table) - {"gap", "length"})
    if unknown:
        raise _BadError(f"{unknown[0]}: no such key; gap and length are")
    for key, value in table.items():
        if not isinstance(value, str):
            raise _BadError(f'{key}: must be text with a unit, such as "10 us"')
    gap = duration_ps("gap", table["gap"]) if "gap" in table else usual.gap_ps
    length = duration_ps("length", table["length"]) if "length" in table else usual.length_ps
    if not 0 < length <= gap:
        raise _BadError("length: must be above 0 and at most the gap")
    return Stream(gap, length)


def state(host: Host) -> dict[str, Any]:
    """Returns the connections, and the ports that are not blocked."""
    machine, now = host.machine, host.now
    ports = [machine.port(now, port) for port in host.design.size.ports()]
    return {
        "now_ps": now,
        "up": machine.is_up(now),
        "connections": [
            {
                "name": one.name,
                "a": one.pair[0],
                "b": one.pair[1],
                "status": one.status.value,
                "reason": one.reason,
                "configured": one.configured,
                "times_ps": None if one.status in _UNLIT else machine.times(now, one.name),
            }
            for one in machine.connections(now)
        ],
        "ports": {
            str(seen.port): {"status": seen.status.value, "output_dbm": seen.output_dbm}
            for seen in ports
            if seen.status is not PortStatus.BLOCKED
        },
    }


_UNLIT = (Status.INVALID, Status.PENDING_DELETION)
"""States in which a connection has no times; another connection of the same name may have times."""


def _response(status: int, answer: Any) -> bytes:
    body = b"" if answer is None else json.dumps(answer).encode() + b"\n"
    head = f"HTTP/1.1 {status} {_TEXTS[status]}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
