"""What a file says is lit: cross-connects of a switch, or directions of light by rack."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from lightloom.errors import ConfigError

PAIR = re.compile(r"(\d{1,6})([Aa]?)-(\d{1,6})([Bb]?)")
"""A cross-connect as SONiC names it, `1A-29B`."""


class Joined(NamedTuple):
    """A cross-connect."""

    a: int
    """The A port."""
    b: int
    """The B port."""
    where: str
    """Its place in the file, for refusals."""


class Lit(NamedTuple):
    """A direction of light."""

    plane: int
    """The switch."""
    source: str
    """The rack that sends, by name."""
    destination: str
    """The rack that receives."""
    ports: tuple[int, int] | None
    """The A port and the B port, if the file names them."""


def joined_of(path: Path, where: str, text: str) -> Joined:
    """The cross-connect of a name.

    Raises:
        ConfigError: naming the place, for anything else.
    """
    found = PAIR.fullmatch(text.strip())
    if found is None:
        raise wrong(path, where, f"`{text}` is no cross-connect", "write it like 1A-29B")
    return Joined(int(found[1]), int(found[3]), where)


def port_of(path: Path, where: str, text: object, side: str) -> int:
    """The number of a port as SONiC names it: `7A`, or `7` on a switch of one side.

    Raises:
        ConfigError: naming the place, for anything else.
    """
    found = re.fullmatch(r"(\d{1,6})([AaBb]?)", str(text).strip())
    if found is None or found[2].upper() not in ("", side):
        raise wrong(path, where, f"`{text}` is no {side} port", f"write it like 7{side}")
    return int(found[1])


def wrong(path: Path, where: str, limit: str, remedy: str) -> ConfigError:
    """A refusal of something in a file."""
    return ConfigError(f"{path}{where}: {limit}; {remedy}")
