"""`CONTROLLER.toml`: the switches, the demand, the policy and the limits of a controller."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lightloom import reading
from lightloom.durations import duration_ps
from lightloom.errors import ConfigError, refusal
from lightloom.policy_registry import find
from lightloom.switches.targets import parse_target

LOOPBACK = ("127.0.0.1", "::1", "localhost")


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class SwitchTable(_Keys):
    """A switch and the racks on it."""

    name: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")
    """Its name in the controller."""
    url: str
    """Its address: scpi://HOST:PORT, sonic://USER@HOST, gnmi://HOST, tl1://, netconf://."""
    ports: Path
    """Port map: rack, A port, B port (CSV)."""
    credentials: Path | None = None
    """File with a user and a password, a line each."""


class PrometheusTable(_Keys):
    """A Prometheus server that has the demand."""

    url: str
    """Its address: http://HOST:9090."""
    query: str
    """Query whose series have a label for the source and one for the destination, such as
    `sum by (src, dst) (rate(flow_bytes_total[1m]))`."""
    span: str = "5 min"
    """The query covers so much time up to now."""
    step: str = "30 s"
    """Distance between the samples of a series."""
    unit: str = "B/s"
    """Unit of a sample: a rate, or an amount such as "B"."""
    columns: str | None = None
    """Labels if they are not src and dst: "src=NAME,dst=NAME"."""


class DemandTable(_Keys):
    """Where demand comes from; clients may always send it to `POST /demand`."""

    folder: Path | None = None
    """Folder of demand matrices (CSV, NPY); the newest file counts."""
    prometheus: PrometheusTable | None = None
    """Prometheus server, asked at every interval."""
    older: str = "1 h"
    """Demand that is older than this is not used."""


class LimitsTable(_Keys):
    """Limits on what a policy may change."""

    dwell: str = "0 s"
    """Least time that a circuit stays lit."""
    gain: float = Field(0.0, ge=0.0, le=1.0)
    """Least increase of the share of demand between joined racks."""
    dark_per_hour: str | None = None
    """Most dark time of a switch in an hour, summed over changes. Default: no limit."""
    quiet: list[str] = Field(default_factory=list)
    """Times of day, such as "22:00-06:00" (UTC), in which a policy changes nothing."""


class ControllerTable(_Keys):
    """The file."""

    name: str = "controller"
    """Its name in logs and on the dashboard."""
    mode: Literal["advise", "act"] = "advise"
    """Whether the policy's plans are only shown, or carried out."""
    interval: str = "10 s"
    """Time from one decision of the policy to the next."""
    store: str = "controller.db"
    """File of an SQLite database, or the URL of a PostgreSQL database."""
    listen: str = "127.0.0.1:8400"
    """Address and port of the HTTP interface."""
    tls_certificate: Path | None = None
    """Certificate (PEM) of the HTTP interface; needed for other addresses than loopback."""
    tls_key: Path | None = None
    """Its key."""
    unowned: Literal["report", "remove"] = "report"
    """Whether cross-connects without an owner are reported or removed."""
    policy: dict[str, Any] | str | None = None
    """Policy as in a fabric: a name, or a table with `kind` or `file`. Default: none decides."""
    hook: str | None = None
    """URL of the hook that drains traffic from circuits and restores it."""
    lease: str = "10 s"
    """Length of the role's lease if several controllers share a PostgreSQL database."""
    demand: DemandTable = Field(default_factory=lambda: DemandTable())
    limits: LimitsTable = Field(default_factory=lambda: LimitsTable(gain=0.0))
    switch: list[SwitchTable] = Field(min_length=1)

    @property
    def host(self) -> str:
        """Address that it listens on."""
        return self.listen.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        """Port that it listens on."""
        return int(self.listen.rpartition(":")[2])

    @property
    def store_url(self) -> str:
        """The store as SQLAlchemy names it."""
        return self.store if "://" in self.store else f"sqlite:///{self.store}"

    @property
    def policy_table(self) -> dict[str, Any] | None:
        """The policy as a table."""
        return {"kind": self.policy} if isinstance(self.policy, str) else self.policy


def read_config(path: Path) -> ControllerTable:
    """The configuration of a file; paths in it are relative to the file.

    Raises:
        ConfigError: naming the file and the key.
    """
    try:
        table = tomllib.loads(reading.text(path))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise ConfigError(f"{path}: not TOML ({problem}); correct it") from None
    try:
        return config_of(table, path.parent)
    except ConfigError as problem:
        raise ConfigError(f"{path}: {problem}") from None


def config_of(table: Mapping[str, Any], folder: Path = Path()) -> ControllerTable:
    """The configuration of a table of keys.

    Raises:
        ConfigError: naming the key.
    """
    try:
        config = ControllerTable.model_validate(table)
    except ValidationError as problem:
        first = problem.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = ", ".join(_known(first["loc"]))
            raise refusal(key, first["input"], "no such key", f"known: {known}") from None
        if first["type"] == "missing":
            raise refusal(key, "(missing)", "it is needed", "write it") from None
        raise refusal(key, first["input"], first["msg"].lower(), "correct it") from None
    _check(config)
    return _placed(config, folder)


def _known(location: tuple[int | str, ...]) -> list[str]:
    tables: dict[str, type[BaseModel]] = {
        "switch": SwitchTable,
        "demand": DemandTable,
        "limits": LimitsTable,
    }
    model = tables.get(str(location[0]), ControllerTable) if len(location) > 1 else ControllerTable
    return list(model.model_fields)


def _check(config: ControllerTable) -> None:
    names = [switch.name for switch in config.switch]
    for name in names:
        if names.count(name) > 1:
            raise refusal("switch.name", name, "two switches have this name", "rename one")
    for at, switch in enumerate(config.switch):
        try:
            parse_target(switch.url)
        except ConfigError as problem:
            raise refusal(
                f"switch[{at}].url", switch.url, problem.limit or "", problem.remedy or ""
            ) from None
    if duration_ps("interval", config.interval) <= 0:
        raise refusal("interval", config.interval, "must be above 0", "write 10 s")
    prometheus = config.demand.prometheus
    for key, value in (
        ("limits.dwell", config.limits.dwell),
        ("limits.dark_per_hour", config.limits.dark_per_hour),
        ("demand.older", config.demand.older),
        ("demand.prometheus.span", None if prometheus is None else prometheus.span),
        ("demand.prometheus.step", None if prometheus is None else prometheus.step),
        ("lease", config.lease),
    ):
        if value is not None:
            duration_ps(key, value)
    if prometheus is not None and config.demand.folder is not None:
        limit = "demand comes from one source"
        raise refusal("demand.folder", config.demand.folder, limit, "remove it or prometheus")
    for text in config.limits.quiet:
        quiet_minutes(text)
    _check_listen(config)
    if config.policy_table is not None:
        named = config.policy_table.get("kind") or config.policy_table.get("file")
        try:
            find(str(named))
        except ConfigError as problem:
            limit, remedy = problem.limit or "", problem.remedy or ""
            raise refusal("policy", named, limit.replace("algorithm", "policy"), remedy) from None


def _check_listen(config: ControllerTable) -> None:
    text = config.listen
    if not re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}", text) or config.port > 65535:
        raise refusal("listen", text, "not an address and a port", "write 127.0.0.1:8400")
    if config.host not in LOOPBACK and config.tls_certificate is None:
        limit = "others could read tokens"
        raise refusal("listen", text, limit, "add tls_certificate and tls_key, or use 127.0.0.1")
    if (config.tls_certificate is None) != (config.tls_key is None):
        limit = "a certificate needs its key"
        raise refusal("tls_key", config.tls_key or "(missing)", limit, "give both")


def quiet_minutes(text: str) -> tuple[int, int]:
    """Start and end of a quiet time in minutes of the day.

    Raises:
        ConfigError: if it is none.

    >>> quiet_minutes("22:00-06:30")
    (1320, 390)
    """
    found = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)", text)
    if found is None:
        raise refusal("limits.quiet", text, "not two times of day", 'write "22:00-06:00"')
    first, second, third, fourth = map(int, found.groups())
    return 60 * first + second, 60 * third + fourth


def _placed(config: ControllerTable, folder: Path) -> ControllerTable:
    def at(path: Path | None) -> Path | None:
        return None if path is None else folder / path

    switches = [
        one.model_copy(update={"ports": folder / one.ports, "credentials": at(one.credentials)})
        for one in config.switch
    ]
    store = config.store if "://" in config.store else str(folder / config.store)
    update: dict[str, Any] = {
        "switch": switches,
        "store": store,
        "tls_certificate": at(config.tls_certificate),
        "tls_key": at(config.tls_key),
        "demand": config.demand.model_copy(update={"folder": at(config.demand.folder)}),
    }
    policy = config.policy_table
    if policy is not None and "file" in policy:
        path, _, name = str(policy["file"]).rpartition(":")
        update["policy"] = {**policy, "file": f"{folder / path}:{name}"}
    return config.model_copy(update=update)
