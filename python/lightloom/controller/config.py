"""`CONTROLLER.toml`: the switches, the demand, the policy and the limits of a controller."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lightloom.config import toml_errors
from lightloom.control.demand.columns import asked
from lightloom.control.demand.formats import FORMATS
from lightloom.control.demand.units import unit_of
from lightloom.controller.store_url import check_store_url, database_url
from lightloom.errors import ConfigError, refusal
from lightloom.policies import bits_per_second
from lightloom.policies.files import is_file
from lightloom.policies.registry import find
from lightloom.storage import reading
from lightloom.switches.openflow import UNIX, check_address
from lightloom.switches.targets import parse_target
from lightloom.units.durations import duration_ps

SOURCES = ("folder", "prometheus", "counters")
"""Sources of demand, of which a controller has one."""
HOOKS = ("hook", "drain", "openflow")
"""Tables that drain traffic; a controller has at most one of them."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
LEAST_INTERVAL_S = 0.2
"""Pause between two turns of the loop."""
LEAST_LEASE_S = 1.0
"""Shortest lease of the role, which is renewed every 0.2 s: a shorter lease might end before a
renewal."""


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class SwitchTable(_Keys):
    """A switch and the racks on it."""

    name: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")
    """Name of the switch in the controller."""
    url: str
    """Address of the switch: scpi://HOST:PORT, sonic://USER@HOST, gnmi://HOST, tl1://,
    netconf://."""
    ports: Path
    """Port map: rack, A port, B port (CSV)."""
    credentials: Path | None = None
    """File with the user on its first line and the password on its second."""
    settle: str | None = None
    """Dark time of a circuit that changes.

    Default: the value that the switch reports, otherwise the time of its last change.
    """

    @property
    def settle_s(self) -> float | None:
        """`settle` in seconds."""
        return None if self.settle is None else duration_ps("switch.settle", self.settle) / 1e12


class PrometheusTable(_Keys):
    """A Prometheus server that has the demand."""

    url: str
    """Address of the Prometheus server: http://HOST:9090."""
    query: str
    """Query whose series have a label for the source and one for the destination, such as
    `sum by (src, dst) (rate(flow_bytes_total[1m]))`."""
    span: str = "5 min"
    """Length of the time before now that the query covers [s]."""
    step: str = "30 s"
    """Time between the samples of a series [s]."""
    unit: str = "B/s"
    """Unit of a sample: a rate, or an amount such as "B"."""
    columns: str | None = None
    """Labels if they are not src and dst: "src=NAME,dst=NAME"."""


class CountersTable(_Keys):
    """Counters of the racks' interfaces, read over gNMI."""

    interfaces: Path
    """CSV with one line per interface: rack, target (gnmi://HOST:PORT), interface."""
    span: str = "1 min"
    """Length of the time before now whose traffic is the demand [s]."""
    credentials: Path | None = None
    """File with the user on its first line and the password on its second."""
    timeout: str = "5 s"
    """Longest time to wait for an answer [s]."""
    origin: Literal["", "openconfig"] = ""
    """Origin of the paths. Most servers need none."""


class DrainTable(_Keys):
    """Interfaces that are disabled over gNMI before their circuit goes dark."""

    interfaces: Path
    """CSV with one line per A port: switch, port, target (gnmi://HOST:PORT), interface."""
    credentials: Path | None = None
    """File with the user on its first line and the password on its second."""
    timeout: str = "10 s"
    """Longest time to wait for an answer, and for an interface to be up or down [s]."""
    origin: Literal["", "openconfig"] = ""
    """Origin of the paths. Most servers need none."""


class OpenFlowTable(_Keys):
    """Rules of OpenFlow switches that lead traffic onto circuits and away from them."""

    rules: Path
    """CSV with one line per switch that sends over an A port: switch, port, datapath, circuit,
    electrical, and optionally circuit_vlan, electrical_vlan, priority."""
    hosts: Path
    """CSV with the rack of each address or prefix: prefix, rack."""
    listen: str = "127.0.0.1:6653"
    """Address and port to which the switches connect, or unix:PATH."""
    timeout: str = "5 s"
    """Longest time to wait for a switch to connect, and to answer a barrier [s]."""
    settle: str = "500 ms"
    """Time from the last switch's answer until the queues of the circuits are empty [s]."""
    priority: int = Field(1000, ge=1, le=60_000)
    """Smallest priority of a rule; the length of a prefix is added to it."""


class DemandTable(_Keys):
    """The source of demand; clients may always send demand to `POST /demand`."""

    folder: Path | None = None
    """Folder of demand matrices or of flow records; the newest file counts."""
    hosts: Path | None = None
    """CSV that names the rack of each host, address or prefix in flow records."""
    format: str | None = None
    """Format of the files, such as "nfdump", "pmacct" or "sflowtool". Default: detected."""
    unit: str | None = None
    """Unit of the numbers in the files, such as "KB". Default: bytes."""
    columns: str | None = None
    """Columns of the files if they have other names: "src=NAME,dst=NAME,bytes=NAME"."""
    prometheus: PrometheusTable | None = None
    """Prometheus server, queried at every interval."""
    counters: CountersTable | None = None
    """Counters of interfaces, read at every interval."""
    older: str = "1 h"
    """Largest age of demand that is used [s]."""
    smoothing: float = Field(1.0, gt=0.0, le=1.0)
    """Weight of a new demand in the demand that the policy receives; the previous value has the
    rest."""


Interfaces = TypeVar("Interfaces", CountersTable, DrainTable)


class NetworkTable(_Keys):
    """Rates of the racks, with which a dry run simulates the next interval."""

    circuit_rate: str
    """Rate of a circuit in each direction [b/s], such as "400 Gb/s"."""
    packet_rate: str | None = None
    """Rate at which a rack sends over the packet network [b/s]. Default: no packet network."""


class LimitsTable(_Keys):
    """Limits on the changes of a policy."""

    dwell: str = "0 s"
    """Shortest time for which a circuit stays lit [s]."""
    gain: float = Field(0.0, ge=0.0, le=1.0)
    """Smallest increase of the share of demand between connected racks."""
    dark_per_hour: str | None = None
    """Largest total dark time of a switch per hour [s]. Default: no limit."""
    quiet: list[str] = Field(default_factory=list)
    """Times of day, such as "22:00-06:00" (UTC), in which a policy changes nothing."""
    when: Literal["now", "at checkpoint"] = "now"
    """Whether a policy's change waits until every job that loses a circuit is at a checkpoint."""


class ControllerTable(_Keys):
    """The file."""

    name: str = "controller"
    """Name of the controller in logs and on the dashboard."""
    mode: Literal["advise", "act"] = "advise"
    """Whether the policy's plans are only shown ("advise"), or carried out ("act")."""
    interval: str = "10 s"
    """Time from one decision of the policy to the next [s]."""
    policy_within: str = "10 s"
    """Longest time of one decision [s]. A policy that takes longer is not called again."""
    store: str = "controller.db"
    """File of an SQLite database, or postgresql://USER@HOST:PORT/DATABASE."""
    listen: str = "127.0.0.1:8400"
    """Address and port of the HTTP interface."""
    tls_certificate: Path | None = None
    """Certificate (PEM) of the HTTP interface; required for addresses other than loopback."""
    tls_key: Path | None = None
    """Private key (PEM) of the certificate."""
    unowned: Literal["report", "remove"] = "report"
    """Whether cross-connects without an owner are only reported, or removed."""
    policy: dict[str, Any] | str | None = None
    """Policy that chooses circuits, as in a fabric: a name, FILE.py:CLASS, or a table with `kind`
    or `file`. Default: no policy.

    Default: no policy.
    """
    hook: str | None = None
    """URL of the hook that drains traffic from circuits and restores it."""
    drain: DrainTable | None = None
    """Interfaces that are disabled to drain traffic, in place of `hook`: a table. Default: none."""
    openflow: OpenFlowTable | None = None
    """Rules of OpenFlow switches that are changed to drain traffic, in place of `hook`: a table.

    Default: none.
    """
    lease: str = "10 s"
    """Length of the lease of the active role, if several controllers share a PostgreSQL database
    [s]."""
    demand: DemandTable = Field(default_factory=lambda: DemandTable(smoothing=1.0))
    limits: LimitsTable = Field(default_factory=lambda: LimitsTable(gain=0.0))
    network: NetworkTable | None = None
    """Rates of the racks, for the simulation of a dry run. Default: no simulation."""
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
        return database_url(self.store)

    @property
    def policy_table(self) -> dict[str, Any] | None:
        """The policy as a table."""
        if not isinstance(self.policy, str):
            return self.policy
        return {"file" if is_file(self.policy) else "kind": self.policy}


def read_config(path: Path) -> ControllerTable:
    """The configuration of a file; paths in it are relative to the file.

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
        "prometheus": PrometheusTable,
        "counters": CountersTable,
        "drain": DrainTable,
        "network": NetworkTable,
        "openflow": OpenFlowTable,
    }
    names = [str(part) for part in location[:-1] if isinstance(part, str)]
    model = tables.get(names[-1], ControllerTable) if names else ControllerTable
    return list(model.model_fields)


def _check(config: ControllerTable) -> None:
    names = [switch.name for switch in config.switch]
    for name in names:
        if names.count(name) > 1:
            raise refusal("switch.name", name, "two switches have this name", "rename one")
    _check_addresses(config.switch)
    check_store_url(config.store)
    if positive_s("interval", config.interval) < LEAST_INTERVAL_S:
        limit = f"must be at least {1e3 * LEAST_INTERVAL_S:g} ms, the pause between two passes"
        raise refusal("interval", config.interval, limit, "write 10 s")
    positive_s("policy_within", config.policy_within)
    positive_s("demand.older", config.demand.older)
    prometheus = config.demand.prometheus
    for key, value in (
        ("limits.dwell", config.limits.dwell),
        ("limits.dark_per_hour", config.limits.dark_per_hour),
        ("demand.prometheus.span", None if prometheus is None else prometheus.span),
        ("demand.prometheus.step", None if prometheus is None else prometheus.step),
    ):
        if value is not None:
            duration_ps(key, value)
    if positive_s("lease", config.lease) < LEAST_LEASE_S:
        limit = f"must be at least {LEAST_LEASE_S:g} s: it is renewed several times"
        raise refusal("lease", config.lease, limit, "write 10 s")
    _check_demand(config.demand)
    _check_hooks(config)
    for text in config.limits.quiet:
        quiet_minutes(text)
    if config.network is not None:
        for key in ("circuit_rate", "packet_rate"):
            if (rate := getattr(config.network, key)) is not None:
                _check_rate(f"network.{key}", rate)
    _check_listen(config)
    if config.policy_table is not None:
        _check_policy(config.policy_table)


def _check_addresses(switches: Sequence[SwitchTable]) -> None:
    """Refuses an invalid address, and an address that two switches have."""
    names: dict[tuple[str, str, int | None], str] = {}
    for at, switch in enumerate(switches):
        key = f"switch[{at}].url"
        try:
            target = parse_target(switch.url)
        except ConfigError as problem:
            limit, remedy = problem.limit or "", problem.remedy or ""
            raise refusal(key, switch.url, limit, remedy) from None
        if (other := names.setdefault(target.place, switch.name)) != switch.name:
            limit = f"switch {other} has this address"
            raise refusal(key, switch.url, limit, "write one table for each switch")
        if switch.settle is not None:
            duration_ps(f"switch[{at}].settle", switch.settle)


def _check_policy(policy: Mapping[str, Any]) -> None:
    named = policy.get("kind") or policy.get("file")
    try:
        found = find(str(named))
    except ConfigError as problem:
        limit, remedy = problem.limit or "", problem.remedy or ""
        raise refusal("policy", named, limit.replace("algorithm", "policy"), remedy) from None
    if found.makes_schedule(policy):
        limit = (
            "it makes a schedule of slots, which a switch behind a management interface cannot "
            "follow"
        )
        raise refusal("policy", named, limit, "choose a policy of circuits, such as cthrough")


def _check_rate(key: str, rate: str) -> None:
    try:
        found = bits_per_second(rate)
    except ConfigError as problem:
        limit, remedy = problem.limit or "not a rate", problem.remedy or 'write "100 Gb/s"'
        raise refusal(key, rate, limit, remedy) from None
    if found <= 0:
        raise refusal(key, rate, "must be above 0", 'write "100 Gb/s"')


def _check_hooks(config: ControllerTable) -> None:
    given = [name for name in HOOKS if getattr(config, name) is not None]
    if len(given) > 1:
        value = config.hook if given[0] == "hook" else "(given)"
        raise refusal(given[0], value, "one hook drains traffic", f"remove it or {given[1]}")
    if config.hook is not None and not re.match(r"https?://[^/]", config.hook):
        raise refusal("hook", config.hook, "not an HTTP address", "write http://HOST:PORT/PATH")
    if config.drain is not None:
        positive_s("drain.timeout", config.drain.timeout)
    if config.openflow is not None:
        positive_s("openflow.timeout", config.openflow.timeout)
        duration_ps("openflow.settle", config.openflow.settle)
        check_address(config.openflow.listen, "openflow.listen")


def _check_demand(table: DemandTable) -> None:
    given = [name for name in SOURCES if getattr(table, name) is not None]
    if len(given) > 1:
        limit = "demand comes from one source"
        raise refusal(
            f"demand.{given[1]}", "(given)", limit, f"remove it, or remove demand.{given[0]}"
        )
    for name in ("hosts", "format", "unit", "columns"):
        value = getattr(table, name)
        if value is not None and table.folder is None:
            limit = "it applies to files in a folder, but there is no demand.folder"
            raise refusal(f"demand.{name}", value, limit, "remove it, or name the folder")
    if (counters := table.counters) is not None:
        positive_s("demand.counters.span", counters.span)
        positive_s("demand.counters.timeout", counters.timeout)
    if table.format is not None and table.format not in FORMATS:
        raise refusal("demand.format", table.format, "no such format", f"use {', '.join(FORMATS)}")
    try:
        asked(table.columns)
        unit_of(table.unit or "B", rates=True)
    except ConfigError as problem:
        key = f"demand.{problem.key}"
        raise refusal(key, problem.value, problem.limit or "", problem.remedy or "") from None


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


def positive_s(key: str, text: str) -> float:
    """A duration above 0 in seconds.

    Raises:
        ConfigError: naming `key`.

    >>> positive_s("interval", "1.5 s")
    1.5
    """
    found = duration_ps(key, text) / 1e12
    if found <= 0:
        raise refusal(key, text, "must be above 0", "write 10 s")
    return found


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


def _placed_interfaces(table: Interfaces, folder: Path) -> Interfaces:
    placed = {"interfaces": folder / table.interfaces}
    if table.credentials is not None:
        placed["credentials"] = folder / table.credentials
    return table.model_copy(update=placed)


def _placed_rules(table: OpenFlowTable, folder: Path) -> OpenFlowTable:
    placed: dict[str, Any] = {"rules": folder / table.rules, "hosts": folder / table.hosts}
    if table.listen.startswith(UNIX):
        placed["listen"] = f"{UNIX}{folder / table.listen.removeprefix(UNIX)}"
    return table.model_copy(update=placed)


def _placed_demand(table: DemandTable, folder: Path) -> DemandTable:
    update: dict[str, Any] = {
        name: None if (path := getattr(table, name)) is None else folder / path
        for name in ("folder", "hosts")
    }
    if (counters := table.counters) is not None:
        update["counters"] = _placed_interfaces(counters, folder)
    return table.model_copy(update=update)


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
        "demand": _placed_demand(config.demand, folder),
        "drain": None if config.drain is None else _placed_interfaces(config.drain, folder),
        "openflow": None if config.openflow is None else _placed_rules(config.openflow, folder),
    }
    policy = config.policy_table
    if policy is not None and "file" in policy:
        path, _, name = str(policy["file"]).rpartition(":")
        update["policy"] = {**policy, "file": f"{folder / path}:{name}"}
    return config.model_copy(update=update)
