"""The users of a switch: names and passwords from a file or the environment."""

from __future__ import annotations

import hmac
import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path

from lightloom.errors import refusal
from lightloom.storage import reading

USER = "LIGHTLOOM_SWITCH_USER"
PASSWORD = "LIGHTLOOM_SWITCH_PASSWORD"
FILE = "LIGHTLOOM_SWITCH_CREDENTIALS"
DEFAULT_USER = "admin"


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.2"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


@dataclass(frozen=True)
class Credentials:
    """A user and a password; the password is never printed."""

    user: str = DEFAULT_USER
    password: str | None = None
    """None if no password was given; an emulated switch then accepts every password."""

    def __repr__(self) -> str:
        return f"Credentials(user={self.user!r})"

    def admit(self, user: str, password: str) -> bool:
        """Returns whether a client may use the switch."""
        if self.password is None:
            return True
        same = hmac.compare_digest(password.encode(), self.password.encode())
        return same and hmac.compare_digest(user.encode(), self.user.encode())


def read_credentials(file: Path | None = None, user: str | None = None) -> Credentials:
    """Reads credentials from a file (first line the user, second the password), else from the
    environment.

    Args:
        file: replaces the file that the environment names.
        user: the user in the address of the switch, which overrides the other user.

    Raises:
        ConfigError: if the file lacks these lines.
    """
    named = file or (Path(os.environ[FILE]) if os.environ.get(FILE) else None)
    if named is None:
        name = user or os.environ.get(USER) or DEFAULT_USER
        return Credentials(name, os.environ.get(PASSWORD))
    lines = reading.text(named).splitlines()
    if len(lines) < 2 or not lines[0].strip():
        limit = "must hold a user in the first line and a password in the second"
        raise refusal("credentials", named, limit, "write both")
    return Credentials(user or lines[0].strip(), lines[1])
