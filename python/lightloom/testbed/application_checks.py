"""Checks of `[[testbed.application]]` before anything is built: hosts, times, sizes, commands."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from lightloom import _core
from lightloom.config.testbed import Application
from lightloom.errors import refusal
from lightloom.units.durations import duration_ps

SECOND_PS = 1_000_000_000_000
WITH_RECEIVER = ("iperf3", "nbdcopy", "memcached")
WITH_COMMAND = ("command", "mpi", "dask")


def check_application(where: str, application: Application, hosts: int) -> None:
    """Refuses an application that cannot run on this number of hosts.

    Args:
        where: its key, with which an error begins.
        application: its table.
        hosts: number of hosts.

    Raises:
        ConfigError: naming the key.
    """
    _check_hosts(where, application, hosts)
    _check_ranks(where, application)
    _check_times(where, application)
    if application.udp is not None:
        _core.control_rate(f"{where}.udp", application.udp)
    size = int(_core.control_bytes(f"{where}.bytes", application.bytes))
    if application.kind == "nbdcopy" and size == 0:
        limit = "nothing would be transferred"
        raise refusal(f"{where}.bytes", application.bytes, limit, 'write a size such as "10 MB"')
    if application.kind in WITH_COMMAND and not words_of(application, where):
        raise refusal(f"{where}.command", '""', "nothing to run", "give a command")


def check_names(applications: Sequence[Application]) -> None:
    """Refuses two applications of one name, which would write the same files.

    Raises:
        ConfigError: naming the key of the second.
    """
    first: dict[str, int] = {}
    for at, application in enumerate(applications):
        name = name_of(at, application)
        if name in first:
            limit = f"application {first[name]} has this name as well"
            raise refusal(f"testbed.application[{at}].name", f'"{name}"', limit, "choose another")
        first[name] = at


def name_of(at: int, application: Application) -> str:
    """The name of an application in files and results.

    >>> name_of(2, Application(kind="iperf3"))
    'iperf3-2'
    """
    plain = "".join(c if c.isalnum() or c in "-_" else "-" for c in application.name)
    return plain or f"{application.kind}-{at}"


def words_of(application: Application, where: str = "testbed.application") -> list[str]:
    """The words of its command line.

    Raises:
        ConfigError: if a quotation does not end.
    """
    given = application.command
    if not isinstance(given, str):
        return list(given)
    try:
        return shlex.split(given)
    except ValueError as problem:
        remedy = "close the quotation, or write a list of words"
        raise refusal(f"{where}.command", given, str(problem).lower(), remedy) from None


def _check_hosts(where: str, application: Application, hosts: int) -> None:
    ends = [("from", application.source), ("to", application.to)]
    for key, host in [*ends, *(("hosts", host) for host in application.hosts)]:
        if host is not None and not 0 <= host < hosts:
            limit = f"the hosts are 0 to {hosts - 1}"
            raise refusal(f"{where}.{key}", host, limit, "name a host that exists")
    if application.kind in WITH_RECEIVER and application.to is None:
        raise refusal(f"{where}.to", "(missing)", "a receiver is needed", "name a host")
    if application.to == application.source:
        limit = "a host sends to another"
        raise refusal(f"{where}.to", application.to, limit, "name another host")


def _check_ranks(where: str, application: Application) -> None:
    if not application.hosts:
        return
    if application.kind not in ("mpi", "dask"):
        limit = f"{application.kind} has neither ranks nor workers"
        raise refusal(f"{where}.hosts", application.hosts, limit, "remove it")
    if application.kind == "mpi" and application.source != application.hosts[0]:
        limit = "mpirun runs on the first of its hosts"
        raise refusal(f"{where}.from", application.source, limit, f"{application.hosts[0]}")


def _check_times(where: str, application: Application) -> None:
    _, duration, most = (
        duration_ps(f"{where}.{key}", getattr(application, key))
        for key in ("begin", "duration", "limit")
    )
    if most == 0:
        limit = "the program would not run"
        raise refusal(f"{where}.limit", application.limit, limit, 'write a time such as "60 s"')
    if application.kind not in ("iperf3", "memcached"):
        return
    given = f"{where}.duration"
    if duration == 0:
        limit = "nothing would be sent"
        raise refusal(given, application.duration, limit, 'write a time such as "5 s"')
    if application.kind == "iperf3" and duration % SECOND_PS:
        raise refusal(given, application.duration, "iperf3 sends for whole seconds", "round it")
    if duration >= most:
        limit = f"the program is terminated after testbed.application.limit, {application.limit}"
        raise refusal(given, application.duration, limit, f"lower it, or raise {where}.limit")
