"""The content of a file: cross-connects of a switch, or directions of light by rack."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from lightloom.errors import ConfigError

PAIR = re.compile(r"(\d{1,6})([Aa]?)-(\d{1,6})([Bb]?)")
"""A cross-connect in SONiC's form, `1A-29B`."""


class Joined(NamedTuple):
    """A cross-connect."""

    a: int
    """The A port."""
    b: int
    """The B port."""
    where: str
    """Its position in the file, for error messages."""


class Lit(NamedTuple):
    """A direction of light."""

    plane: int
    """The number of the switch."""
    source: str
    """The name of the sending rack."""
    destination: str
    """The name of the receiving rack."""
    ports: tuple[int, int] | None
    """The A port and the B port, if the file names them."""


def joined_of(path: Path, where: str, text: str) -> Joined:
    """Parses the name of a cross-connect.

    Raises:
        ConfigError: if it is invalid; it names the position.
    """
    found = PAIR.fullmatch(text.strip())
    if found is None:
        raise wrong(path, where, f"`{text}` is not a cross-connect", "write it like 1A-29B")
    return Joined(int(found[1]), int(found[3]), where)


def port_of(path: Path, where: str, text: object, side: str) -> int:
    """Parses the name of a port in SONiC's form: `7A`, or `7` on a switch with one side.

    Raises:
        ConfigError: if it is invalid; it names the position.
    """
    found = re.fullmatch(r"(\d{1,6})([AaBb]?)", str(text).strip())
    if found is None or found[2].upper() not in ("", side):
        raise wrong(path, where, f"`{text}` is no {side} port", f"write it like 7{side}")
    return int(found[1])


def wrong(path: Path, where: str, limit: str, remedy: str) -> ConfigError:
    """Returns an error at a position of a file."""
    return ConfigError(f"{path}{where}: {limit}; {remedy}")
