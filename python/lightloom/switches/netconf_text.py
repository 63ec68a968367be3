"""Messages of NETCONF over SSH: framing (RFC 6242) and safe XML.

XML with a document type is refused, because it could define entities, which NETCONF does not use.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

BASE = "urn:ietf:params:xml:ns:netconf:base:1.0"
OPTICAL = "http://www.polatis.com/yang/optical-switch"
CHUNKED = "urn:ietf:params:netconf:base:1.1"
LONGEST = 4 << 20
"""The longest message [bytes]."""
DEEPEST = 50
"""Largest nesting depth of elements."""
_END = b"]]>]]>"
_CHUNK = re.compile(rb"\n#([1-9][0-9]{0,9})\n")

_BEGUN = re.compile(rb"(\n(#(#|[1-9][0-9]{0,9})?)?)?")
"""Matches bytes that may be the incomplete header of a chunk."""


class BadMessageError(ValueError):
    """Raised if the framing or the XML of a message is refused."""


class Framer:
    """Cuts a stream of bytes into messages."""

    def __init__(self) -> None:
        self.chunked = False
        """Whether both sides support chunked framing."""
        self._buffer = bytearray()
        self._message = bytearray()

    def feed(self, data: bytes) -> None:
        """Appends received bytes.

        Raises:
            BadMessageError: if a message is too long.
        """
        self._buffer += data
        if len(self._buffer) + len(self._message) > LONGEST:
            raise BadMessageError(f"a message of more than {LONGEST} bytes")

    def next(self) -> str | None:
        """Returns the next complete message; None if there is none.

        Raises:
            BadMessageError: if the framing is broken, or it is not UTF-8.
        """
        raw = self._next_chunked() if self.chunked else self._next_delimited()
        if raw is None:
            return None
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise BadMessageError("not UTF-8") from None

    def _next_delimited(self) -> bytes | None:
        end = self._buffer.find(_END)
        if end < 0:
            return None
        raw = bytes(self._buffer[:end])
        del self._buffer[: end + len(_END)]
        return raw

    def _next_chunked(self) -> bytes | None:
        # Deleting from the front of a bytearray is cheap, so many small chunks take no more time
        # than one.
        while True:
            if self._buffer.startswith(b"\n##\n"):
                del self._buffer[:4]
                raw, self._message = bytes(self._message), bytearray()
                return raw
            found = _CHUNK.match(self._buffer)
            if found is None:
                if not _BEGUN.fullmatch(self._buffer):
                    raise BadMessageError("broken chunks")
                return None
            size = int(found[1])
            if size > LONGEST:
                raise BadMessageError(f"a chunk of more than {LONGEST} bytes")
            if len(self._buffer) < found.end() + size:
                return None
            self._message += self._buffer[found.end() : found.end() + size]
            del self._buffer[: found.end() + size]


def framed(text: str, *, chunked: bool) -> bytes:
    """Returns a message with its framing."""
    raw = text.encode()
    return b"\n#%d\n%s\n##\n" % (len(raw), raw) if chunked else raw + _END


def parsed(text: str) -> ET.Element:
    """Returns the root element of a message.

    Raises:
        BadMessageError: if the message is not XML, has a document type, or is nested too deeply.
    """
    if "<!" in text.replace("<!--", "").replace("<![CDATA[", ""):
        raise BadMessageError("a document type or an entity, which NETCONF does not have")
    builder: Any = ET.XMLPullParser(["start", "end"])
    depth = 0
    root: ET.Element | None = None
    try:
        builder.feed(text.lstrip())
        builder.close()
        events: list[Any] = [*builder.read_events()]
        for event, element in events:
            root = element if root is None else root
            depth += 1 if event == "start" else -1
            if depth > DEEPEST:
                raise BadMessageError(f"more than {DEEPEST} elements within each other")
    except ET.ParseError as problem:
        raise BadMessageError(f"not XML ({problem})") from None
    if root is None:
        raise BadMessageError("no element")
    return root


def local(element: ET.Element) -> str:
    """Returns the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def hello(capabilities: list[str], session: int | None = None) -> str:
    """A `<hello>`."""
    listed = "".join(f"<capability>{name}</capability>" for name in capabilities)
    own = "" if session is None else f"<session-id>{session}</session-id>"
    return f'<hello xmlns="{BASE}"><capabilities>{listed}</capabilities>{own}</hello>'
