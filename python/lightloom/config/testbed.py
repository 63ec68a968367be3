"""The table `[testbed]` of an experiment, which only the testbed reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lightloom import _core
from lightloom.config.own_tables import TESTBED
from lightloom.config.refused import first_of
from lightloom.errors import refusal

LARGEST_SCALE = 10_000.0
"""The largest `testbed.time_scale`."""


class Application(BaseModel):
    """A program that runs on hosts."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, use_attribute_docstrings=True)

    kind: Literal["iperf3", "nbdcopy", "memcached", "mpi", "dask", "command"]
    """The program: a bulk transfer, a block copy (VM migration), consecutive requests to a
    memcached, an MPI program with one rank on each host, a program that uses a Dask cluster with
    one worker on each host, or any command on one host."""
    name: str = ""
    """Name of the program in the results. Default: its kind and number."""
    source: int = Field(0, alias="from", ge=0)
    """Number of the host that sends, or that runs the command."""
    to: int | None = Field(None, ge=0)
    """Number of the host that receives, or that runs the memcached; required for iperf3, nbdcopy
    and memcached."""
    begin: str = "0 s"
    """Start time [s], counted from the start of the controller."""
    duration: str = "10 s"
    """Time for which iperf3 sends, in whole seconds, or for which memcached receives requests
    [s]."""
    streams: int = Field(1, ge=1, le=64)
    """Number of parallel connections of iperf3."""
    udp: str | None = None
    """Rate at which iperf3 sends UDP packets [b/s], such as "200 Mb/s".

    Default: iperf3 uses TCP.
    """
    bytes: str = "256 MB"
    """Size of the data that nbdcopy transfers [B]."""
    command: str | list[str] = ""
    """Command line of `command`, `mpi` and `dask`."""
    hosts: list[int] = Field(default_factory=list)
    """Numbers of the hosts that run one rank of `mpi` or one worker of `dask` each.

    Default: all hosts.
    """
    limit: str = "120 s"
    """Time limit of the program, after which it is terminated [s]."""


class Case(BaseModel):
    """One of several runs, with its own values of some keys."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    name: str = Field(min_length=1)
    """Name of the case in the output, and folder of its results."""
    set: list[str] = Field(default_factory=list)
    """Keys with their values, `KEY=VALUE` as for `--set`."""


class Table(BaseModel):
    """The table `[testbed]`: keys that only the Linux testbed uses."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    time_scale: float = Field(1.0, ge=1.0, le=LARGEST_SCALE)
    """Factor on all times of the fabric (days, nights, intervals, delays)."""
    settle_after: str | None = None
    """Time between the last packet that a rack switch sends into a circuit and the end of the
    circuit's light [s]. Default: the time in which the queue of the uplink empties."""
    sample: str = "50 ms"
    """Time between samples of the counters [s]."""
    capture: str | None = None
    """Number of bytes of each packet that are written to `capture.pcapng` [B], such as "128 B".

    Default: no packets are captured.
    """
    forwarding: Literal["servers", "racks"] | None = None
    """Selection of the packets that use circuits: OpenFlow rules of Open vSwitch on the servers tag
    them ("servers", only for HydRA), or rack switches look up every packet ("racks"). Default:
    "servers" for HydRA, "racks" for other fabrics."""
    application: list[Application] = Field(default_factory=list)
    """Programs that run on the hosts."""
    case: list[Case] = Field(default_factory=list)
    """Runs with other values of some keys, one after another. Default: a single run."""


#: Key of a list of tables → model of its entries.
_PARTS: dict[str, type[BaseModel]] = {"application": Application, "case": Case}


def read_table(raw: Any) -> Table:
    """Reads and checks the table.

    Raises:
        ConfigError: if a key is unknown (the message names the nearest key) or a value is invalid.
    """
    if not isinstance(raw, Mapping):
        raise refusal(TESTBED, raw, "not a table", f"write [{TESTBED}] above its keys")
    try:
        return Table.model_validate(dict(raw))
    except ValidationError as problem:
        loc = problem.errors()[0]["loc"]
        known = _keys_of(_PARTS.get(str(loc[0]), Table) if len(loc) > 1 else Table)
        raise first_of(problem, known, f"{TESTBED}.") from None


def _keys_of(model: type[BaseModel]) -> list[str]:
    """The keys of a table, as users write them."""
    return [field.alias or name for name, field in model.model_fields.items()]


def kept_bytes(given: str) -> int:
    """Returns the number of bytes of each packet that a capture keeps.

    Raises:
        ConfigError: if the amount is smaller than a header, or larger than tcpdump accepts.
    """
    found = int(_core.control_bytes("testbed.capture", given))
    if not 64 <= found <= 65_535:
        limit = "must be from 64 B to 65,535 B of each packet"
        raise refusal("testbed.capture", given, limit, 'use "128 B" for the headers')
    return found
