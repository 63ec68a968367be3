"""Ports and cross-connects of a switch with two sides: A ports (ingress) and B ports (egress)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lightloom.errors import refusal

Pair = tuple[int, int]
"""A cross-connect: its A port and its B port, both counted from 1."""

LARGEST = 1024
"""Number of ports on each side of the largest switch (SONiC's limit)."""
LABEL = "at most 64 letters, digits, blanks or .:/#~()[]+@=-_"
"""Pattern of a port label that no interface has to quote."""
_LABEL = re.compile(r"[\w .:/#~()\[\]+@=-]{0,64}", re.ASCII)
_PORT = re.compile(r"([1-9][0-9]{0,3})([AB])")
_PAIR = re.compile(r"([1-9][0-9]{0,3})A-([1-9][0-9]{0,3})B")
_ONE = re.compile(r"([0-9]+)([ABab])-([0-9]+)([ABab])")
_RANGE = re.compile(r"([0-9]+)([ABab])\.\.([0-9]+)([ABab])-([0-9]+)([ABab])\.\.([0-9]+)([ABab])")


@dataclass(frozen=True, order=True)
class Port:
    """One port."""

    side: str
    """"A" or "B"."""
    number: int
    """Counted from 1."""

    def __str__(self) -> str:
        return f"{self.number}{self.side}"


@dataclass(frozen=True)
class Size:
    """Number of ports of a switch on each side."""

    a: int
    b: int

    def __str__(self) -> str:
        return f"{self.a}x{self.b}"

    def has(self, port: Port) -> bool:
        """Returns whether the switch has this port."""
        return 1 <= port.number <= (self.a if port.side == "A" else self.b)

    def ports(self) -> list[Port]:
        """Returns all ports: the A side, then the B side."""
        a = [Port("A", number) for number in range(1, self.a + 1)]
        return a + [Port("B", number) for number in range(1, self.b + 1)]


def size_of(key: str, text: str) -> Size:
    """Reads a size such as `32x32`.

    Raises:
        ConfigError: naming `key`, if the text is invalid.

    >>> size_of("ports", "16x32")
    Size(a=16, b=32)
    """
    found = re.fullmatch(r"\s*(\d{1,5})\s*x\s*(\d{1,5})\s*", str(text))
    if found is None:
        raise refusal(key, text, "must be A ports x B ports", 'write a size such as "32x32"')
    a, b = int(found[1]), int(found[2])
    if not (1 <= a <= LARGEST and 1 <= b <= LARGEST):
        raise refusal(key, text, f"1 to {LARGEST} ports on each side", "choose another size")
    return Size(a, b)


def is_label(text: str) -> bool:
    """Returns whether a port may have this label."""
    return _LABEL.fullmatch(text) is not None


def ends_of(pair: Pair) -> tuple[Port, Port]:
    """Returns both ports of a cross-connect."""
    return Port("A", pair[0]), Port("B", pair[1])


def name_of(pair: Pair) -> str:
    """Returns SONiC's name of a cross-connect.

    >>> name_of((1, 29))
    '1A-29B'
    """
    return f"{pair[0]}A-{pair[1]}B"


def pair_of(name: str) -> Pair | None:
    """Returns the cross-connect of this name; None if the text is not such a name.

    >>> pair_of("1A-29B"), pair_of("1-29")
    ((1, 29), None)
    """
    found = _PAIR.fullmatch(name)
    return None if found is None else (int(found[1]), int(found[2]))


def port_of(name: str) -> Port | None:
    """Returns the port of this name; None if the text is not a port.

    >>> port_of("29B")
    Port(side='B', number=29)
    """
    found = _PORT.fullmatch(name)
    return None if found is None else Port(found[2], int(found[1]))


def read_pairs(key: str, texts: Iterable[str]) -> list[Pair]:
    """Reads cross-connects as users write them: `1A-29B`, `1A-2B,3A-4B`, `1A..4A-5B..8B`.

    Raises:
        ConfigError: naming `key`, if the text is invalid.

    >>> read_pairs("add", ["1A-2B,4A..5A-7B..8B"])
    [(1, 2), (4, 7), (5, 8)]
    """
    found: list[Pair] = []
    for text in texts:
        for part in text.split(","):
            pairs = expand(part.strip())
            if not pairs:
                limit = "not a cross-connect"
                if ".." in part:
                    limit = "not as many A as B ports, both in ascending order"
                raise refusal(key, part, limit, "write A and B port: 1A-29B, or 1A..4A-5B..8B")
            found += pairs
    return found


def expand(text: str) -> list[Pair]:
    """Returns the cross-connects of one item of a list; none if it is malformed.

    >>> expand("1A..3A-11B..13B"), expand("1b-1a")
    ([(1, 11), (2, 12), (3, 13)], [])
    """
    one = _ONE.fullmatch(text)
    if one is not None and (one[2] + one[4]).upper() == "AB":
        return [(int(one[1]), int(one[3]))]
    several = _RANGE.fullmatch(text)
    if several is None or "".join(several.group(2, 4, 6, 8)).upper() != "AABB":
        return []
    first_a, last_a, first_b, last_b = (int(several[at]) for at in (1, 3, 5, 7))
    many = last_a - first_a + 1
    if many != last_b - first_b + 1 or not 1 <= many <= LARGEST:
        return []
    return [(first_a + at, first_b + at) for at in range(many)]
