"""The table `[testbed]` of an experiment: what only the testbed needs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lightloom.errors import refusal


class Application(BaseModel):
    """A program that runs on hosts."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    kind: Literal["iperf3", "nbdcopy", "mpi", "command"]
    name: str = ""
    source: int = Field(0, alias="from", ge=0)
    """The host that sends, or that a command runs on."""
    to: int | None = Field(None, ge=0)
    """The host that receives."""
    begin: str = "0 s"
    duration: str = "10 s"
    """How long iperf3 sends."""
    streams: int = Field(1, ge=1, le=64)
    udp: str | None = None
    """The rate of UDP packets, such as "200 Mb/s"; TCP without it."""
    bytes: str = "256 MB"
    """What nbdcopy moves."""
    command: str | list[str] = ""
    """What a host runs, or by `mpi` a rank of each host."""
    limit: str = "120 s"
    """It is ended after so long."""


class Case(BaseModel):
    """The same once more, with other keys."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1)
    set: list[str] = Field(default_factory=list)
    """As `--set` takes them."""


class Table(BaseModel):
    """The table `[testbed]`."""

    model_config = ConfigDict(extra="forbid")

    time_scale: float = Field(1.0, ge=1.0, le=10_000.0)
    """Times of the fabric are so many times longer."""
    settle_after: str | None = None
    """After it stops sending into a circuit a rack switch waits so long before it goes dark; as
    long as its queue takes unless given."""
    sample: str = "50 ms"
    """The time from one sample of the counters to the next."""
    application: list[Application] = Field(default_factory=list)
    case: list[Case] = Field(default_factory=list)
    """Runs one after the other; a single one without."""


def read_table(raw: Any) -> Table:
    """The table, checked by itself.

    Raises:
        ConfigError: naming the key.
    """
    try:
        return Table.model_validate(raw)
    except ValidationError as problem:
        first = problem.errors()[0]
        key = ".".join(["testbed", *(str(part) for part in first["loc"])])
        if first["type"] == "extra_forbidden":
            known = ", ".join(Table.model_fields)
            raise refusal(key, first["input"], "no such key", f"known: {known}") from None
        raise refusal(key, first["input"], first["msg"].lower(), "correct it") from None
