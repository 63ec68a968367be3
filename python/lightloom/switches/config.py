"""`SWITCH.toml`: an emulated switch and its faces.

Every key has a default; an unknown key is refused.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lightloom.config import toml_errors
from lightloom.errors import ConfigError
from lightloom.storage import reading
from lightloom.switches._values import refused
from lightloom.switches.access import Credentials, is_loopback, read_credentials
from lightloom.switches.changes import Conflict
from lightloom.switches.design import Design
from lightloom.switches.faults import Fault, check_fault, read_fault
from lightloom.switches.optics import Optics
from lightloom.switches.ports import Size, size_of
from lightloom.switches.states import Recovery
from lightloom.units.durations import duration_ps

FACES = {"scpi": 5025, "tl1": 3082, "ssh": 2222, "netconf": 8830, "gnmi": 9339, "command": 8100}
"""The faces and their default ports; those below 1024 are moved up."""
TIMES = ("settle", "deviation", "release", "relock", "link_up", "cold_boot", "warm_boot")
_OPTICS = {
    "loss_min_db": (0.0, 50.0),
    "loss_max_db": (0.0, 50.0),
    "launch_dbm": (-50.0, 50.0),
    "accuracy_db": (0.0, 50.0),
    "frequency_thz": (1.0, 1000.0),
    "temperature_c": (-100.0, 200.0),
}
"""Keys of optics, and the range of each."""
_TOP = ("name", "ports", "seed", "listen", "credentials", "recovery", "bidirectional")
_TABLES = ("timing", "optics", "faces", "fault")
_OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "scpi": {"add_in_use": ("refuse", "replace")},
    "tl1": {"ent_in_use": ("refuse", "replace"), "port_names": ("calient", "number")},
    "ssh": {"generation": ("both", "first", "generated"), "host_key": ()},
    "netconf": {"host_key": ()},
    "gnmi": {
        "invalid": ("refuse", "accept"),
        "port_state": ("config_status", "state"),
        "tls_certificate": (),
        "tls_key": (),
    },
    "command": {},
}
"""Options of each face: their values, the first of which is the default; () for a path."""


@dataclass(frozen=True)
class Face:
    """One interface of an emulated switch."""

    kind: str
    """One of `FACES`."""
    port: int
    """TCP port; 0 for a free one."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of its dialect."""

    def conflict(self, option: str) -> Conflict:
        """The rule of an interface for ports that are in use."""
        return Conflict(self.options[option])


@dataclass(frozen=True)
class Setup:
    """An emulated switch and where it listens."""

    design: Design = field(default_factory=Design)
    """The switch."""
    listen: str = "127.0.0.1"
    """Address of this machine."""
    faces: tuple[Face, ...] = ()
    """Its interfaces."""
    credentials: Credentials = field(default_factory=Credentials)
    """The users of interfaces with a login."""


def read_setup(path: Path) -> Setup:
    """Reads an emulated switch from a file.

    Raises:
        ConfigError: naming the file and the key.
    """
    try:
        text = reading.text(path)
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise toml_errors.refused(path, text, problem) from None
    except (UnicodeDecodeError, RecursionError) as problem:
        raise ConfigError(f"{path}: not TOML ({problem}); correct it") from None
    try:
        return setup_of(table, path.parent)
    except ConfigError as problem:
        raise ConfigError(f"{path}: {problem}") from None


def setup_of(table: Mapping[str, Any], folder: Path = Path()) -> Setup:
    """Builds an emulated switch from a table of keys.

    Args:
        table: keys and values, as in the file.
        folder: the folder to which relative paths refer.

    Raises:
        ConfigError: naming the key.
    """
    _check_keys("", table, (*_TOP, *_TABLES))
    named = table.get("credentials")
    listen = _text("listen", table.get("listen", "127.0.0.1"))
    setup = Setup(
        _design(table),
        listen,
        tuple(_faces(_table("faces", table), folder)),
        read_credentials(None if named is None else folder / _text("credentials", named)),
    )
    _check_listen(setup)
    return setup


def _check_listen(setup: Setup) -> None:
    if is_loopback(setup.listen):
        return
    if setup.credentials.password is None:
        limit = "other machines reach it, and there is no password"
        raise refused("listen", setup.listen, limit, "name a file of credentials")
    kinds = [face.kind for face in setup.faces if face.kind in ("command", "scpi")]
    if kinds:
        limit = f"these faces have no login: {', '.join(kinds)}"
        remedy = "leave them out, or listen on 127.0.0.1"
        raise refused("listen", setup.listen, limit, remedy)
    if any(face.kind == "gnmi" and "tls_key" not in face.options for face in setup.faces):
        limit = "other machines could read passwords on the way to the face gnmi"
        remedy = "name tls_key and tls_certificate, or listen on 127.0.0.1"
        raise refused("listen", setup.listen, limit, remedy)


def _design(table: Mapping[str, Any]) -> Design:
    timing = _table("timing", table)
    _check_keys("timing.", timing, (*TIMES, "device", "give_up_settles", "retry_invalid"))
    design = _of_device(timing.get("device"))
    times = {
        f"{key}_ps": duration_ps(f"timing.{key}", _text(f"timing.{key}", timing[key]))
        for key in TIMES
        if key in timing
    }
    seed = _integer("seed", table.get("seed", 1), 0, 2**32 - 1)
    size = size_of("ports", _text("ports", table.get("ports", "32x32")))
    return replace(
        design,
        size=size,
        name=_name(table.get("name", "ocs")),
        seed=seed,
        recovery=_choice("recovery", table.get("recovery", "restore"), [*map(str, Recovery)]),
        bidirectional=_boolean("bidirectional", table.get("bidirectional", False)),
        give_up_settles=_integer(
            "timing.give_up_settles", timing.get("give_up_settles", 20), 1, 10**6
        ),
        retry_invalid=_boolean("timing.retry_invalid", timing.get("retry_invalid", True)),
        optics=_optics(_table("optics", table), seed),
        faults=tuple(_faults(table.get("fault", []), size)),
        **times,
    )


def _of_device(name: Any) -> Design:
    """Returns a design with the settling times of a device model."""
    if name is None:
        return Design()
    from lightloom.devices import photonics

    models = {model["name"]: model for model in photonics.switches()}
    if name not in models:
        limit = f"must be one of {', '.join(models)}"
        raise refused("timing.device", name, limit, "choose one")
    model = models[str(name)]
    spread = model["deviation"]
    return Design(
        settle_ps=duration_ps("timing.device", model["settle"]),
        deviation_ps=0 if spread is None else duration_ps("timing.device", spread),
    )


def _optics(table: Mapping[str, Any], seed: int) -> Optics:
    _check_keys("optics.", table, tuple(_OPTICS))
    values = {key: _number(f"optics.{key}", value, *_OPTICS[key]) for key, value in table.items()}
    optics = Optics(seed=seed, **values)
    if optics.loss_min_db > optics.loss_max_db:
        limit = f"at most loss_max_db, which is {optics.loss_max_db:g}"
        raise refused("optics.loss_min_db", optics.loss_min_db, limit, "correct both")
    return optics


def _faults(listed: Any, size: Size) -> Iterator[Fault]:
    if not (isinstance(listed, list) and all(isinstance(table, dict) for table in listed)):
        raise refused("fault", listed, "must be a list of tables", "write [[fault]]")
    for at, table in enumerate(listed):
        fault = read_fault(f"fault[{at}]", table)
        check_fault(f"fault[{at}]", fault, size)
        yield fault


def _faces(table: Mapping[str, Any], folder: Path) -> Any:
    _check_keys("faces.", table, tuple(FACES))
    for kind in table:
        own = _table(kind, table, "faces.")
        options = _OPTIONS[kind]
        _check_keys(f"faces.{kind}.", own, ("port", *options))
        port = _integer(f"faces.{kind}.port", own.get("port", FACES[kind]), 0, 65535)
        chosen = {}
        for key, values in options.items():
            if values:
                chosen[key] = _choice(f"faces.{kind}.{key}", own.get(key, values[0]), values)
            elif key in own:
                chosen[key] = str(folder / _text(f"faces.{kind}.{key}", own[key]))
        if ("tls_key" in chosen) != ("tls_certificate" in chosen):
            limit = "a certificate and its key belong together"
            missing = "tls_key" if "tls_key" not in own else "tls_certificate"
            raise refused(f"faces.{kind}.{missing}", None, limit, "name both files")
        yield Face(kind, port, chosen)


def _check_keys(prefix: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            limit = f"no such key; known are {', '.join(known)}"
            raise refused(f"{prefix}{key}", table[key], limit, "correct it, or leave it out")


def _table(key: str, table: Mapping[str, Any], prefix: str = "") -> Mapping[str, Any]:
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise refused(f"{prefix}{key}", found, "must be a table of keys", "name each key")
    return found


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise refused(key, value, "must be text", "put it in quotes")
    return value


def _name(value: Any) -> str:
    name = _text("name", value)
    if not (name.isascii() and name.replace("-", "").replace("_", "").isalnum() and len(name) < 64):
        raise refused("name", name, "letters, digits, - and _ only", "choose another")
    return name


def _integer(key: str, value: Any, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise refused(key, value, f"must be a whole number from {least} to {most}", "correct it")
    return value


def _number(key: str, value: Any, least: float, most: float) -> float:
    if type(value) not in (int, float) or not least <= value <= most:
        raise refused(key, value, f"must be a number from {least:g} to {most:g}", "correct it")
    return float(value)


def _boolean(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise refused(key, value, "must be true or false", "correct it")
    return value


def _choice(key: str, value: Any, values: Any) -> Any:
    if value not in values:
        raise refused(key, value, f"must be one of {', '.join(values)}", "choose one")
    return Recovery(value) if key == "recovery" else value
