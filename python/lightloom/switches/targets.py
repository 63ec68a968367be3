"""Opens a driver by URL: `scpi://host:5025`, `sonic://user@host`, `gnmi://host`,
`file:plan.json`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from lightloom.errors import refusal
from lightloom.switches.access import Credentials, read_credentials
from lightloom.switches.protocol import CircuitSwitch

FORMS = (
    "scpi://HOST, sonic://USER@HOST, gnmi://HOST, tl1://USER@HOST, netconf://USER@HOST, file:PATH"
)
USUAL_PORTS = {"scpi": 5025, "sonic": 22, "gnmi": 9339, "tl1": 3082, "netconf": 830}
"""TCP ports of the drivers."""


@dataclass(frozen=True)
class Target:
    """The address of a switch."""

    text: str
    """As its user wrote it."""
    scheme: str
    """The name of the driver."""
    host: str = ""
    """Name or address."""
    port: int | None = None
    """TCP port; None for the default port."""
    user: str | None = None
    """The user name of the login."""
    options: Mapping[str, str] | None = None
    """The options after `?` of the URL."""
    path: Path = Path()
    """The path of a target that is a file."""

    @property
    def tcp_port(self) -> int:
        """Returns its TCP port; the default port if the address has none."""
        return self.port or USUAL_PORTS[self.scheme]

    @property
    def place(self) -> tuple[str, str, int | None]:
        """Returns driver, host and TCP port, or the file; equal if two addresses lead to the same
        interface."""
        if self.scheme == "file":
            return self.scheme, str(self.path.absolute()), None
        host = "127.0.0.1" if self.host == "localhost" else self.host
        return self.scheme, host, self.tcp_port


def is_target(text: str) -> bool:
    """Returns whether a text is the address of a switch rather than a file name.

    >>> is_target("scpi://127.0.0.1:5025"), is_target("old.json")
    (True, False)
    """
    return text.startswith("file:") or "://" in text


def parse_target(text: str) -> Target:
    """The address of a switch.

    Raises:
        ConfigError: if the text is not an address, or contains a password.

    >>> parse_target("gnmi://10.0.0.7?model=sonic-db").options
    {'model': 'sonic-db'}
    """
    if text.startswith("file:"):
        return Target(text, "file", path=Path(text.removeprefix("file:").removeprefix("//")))
    try:
        parts = urlsplit(text)
    except ValueError:
        limit = "not an address: an IPv6 address stands in brackets"
        raise refusal("TARGET", text, limit, "correct it") from None
    if parts.scheme not in _OPTIONS:
        raise refusal("TARGET", text, f"must be one of {FORMS}", "correct it")
    if parts.password is not None:
        hidden = text.replace(parts.password, "…")
        limit = "others on this machine read passwords on a command line"
        raise refusal("TARGET", hidden, limit, "use --credentials FILE or the environment")
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise refusal("TARGET", text, "its port must be a number from 1 to 65535", "correct it")
    if not parts.hostname:
        raise refusal("TARGET", text, "names no host", f"write {FORMS}")
    if parts.path not in ("", "/") or parts.fragment:
        rest = parts.path + (f"#{parts.fragment}" if parts.fragment else "")
        raise refusal("TARGET", text, f"nothing is at {rest} of a switch", "leave it out")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    for key, value in options.items():
        known = _OPTIONS[parts.scheme]
        if value not in known.get(key, ()):
            limit = ", ".join(f"{name}={'|'.join(values)}" for name, values in known.items())
            raise refusal("TARGET", text, f"options: {limit or 'none'}", f"correct {key}")
    user = None if parts.username is None else unquote(parts.username)
    return Target(text, parts.scheme, parts.hostname, port, user, options)


def open_target(text: str, credentials: Path | None = None) -> CircuitSwitch:
    """Opens the driver for an address.

    Args:
        text: the address.
        credentials: a file with a user and a password, which replaces that of the environment.

    Raises:
        ConfigError: if the address is invalid.
        SwitchError: if the switch does not answer.
    """
    target = parse_target(text)
    if target.scheme == "file":
        from lightloom.switches.stored import StoredSwitch

        return StoredSwitch(target.path)
    return _OPENERS[target.scheme](target, read_credentials(credentials, target.user))


def _scpi(target: Target, _: Credentials) -> CircuitSwitch:
    from lightloom.switches.drivers.scpi import ScpiSwitch

    return ScpiSwitch(target.host, target.tcp_port)


def _sonic(target: Target, credentials: Credentials) -> CircuitSwitch:
    from lightloom.switches.drivers.sonic import SonicSwitch

    options = target.options or {}
    return SonicSwitch(
        target.host,
        target.tcp_port,
        credentials,
        ignore_host_key=_IGNORES.get(options.get("hostkey", "")),
        mode=options.get("mode", "safe"),
        save=options.get("save", "yes") == "yes",
    )


def _gnmi(target: Target, credentials: Credentials) -> CircuitSwitch:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # gRPC would write to the terminal
    from lightloom.switches.drivers.gnmi import GnmiSwitch

    options = target.options or {}
    return GnmiSwitch(
        target.host,
        target.tcp_port,
        credentials,
        model=options.get("model", ""),
        tls={"on": True, "off": False}.get(options.get("tls", "")),
    )


def _tl1(target: Target, credentials: Credentials) -> CircuitSwitch:
    from lightloom.switches.drivers.tl1 import Tl1Switch

    names = (target.options or {}).get("ports", "calient")
    return Tl1Switch(target.host, target.tcp_port, credentials, port_names=names)


def _netconf(target: Target, credentials: Credentials) -> CircuitSwitch:
    from lightloom.switches.drivers.netconf import NetconfSwitch

    options = target.options or {}
    return NetconfSwitch(
        target.host,
        target.tcp_port,
        credentials,
        ignore_host_key=_IGNORES.get(options.get("hostkey", "")),
        datastore=options.get("datastore", "running"),
    )


_IGNORES = {"ignore": True, "check": False}
_OPENERS: dict[str, Callable[[Target, Credentials], CircuitSwitch]] = {
    "scpi": _scpi,
    "sonic": _sonic,
    "gnmi": _gnmi,
    "tl1": _tl1,
    "netconf": _netconf,
}
_OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "scpi": {},
    "sonic": {"hostkey": ("check", "ignore"), "mode": ("safe", "update"), "save": ("yes", "no")},
    "gnmi": {"model": ("ocp", "sonic-db"), "tls": ("on", "off")},
    "tl1": {"ports": ("calient", "number")},
    "netconf": {"hostkey": ("check", "ignore"), "datastore": ("running", "candidate")},
}
