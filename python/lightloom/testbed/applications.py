"""Unmodified programs on hosts: start, time limit, and figures from their output."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lightloom import _core
from lightloom.config.testbed import Application
from lightloom.errors import refusal
from lightloom.testbed import memcached_client, priority, shell
from lightloom.testbed.application_checks import WITH_COMMAND, name_of, words_of
from lightloom.testbed.layout import DEVICE, Host, Layout
from lightloom.units.durations import duration_ps

PORT = 5201
"""Servers listen on this port and on higher ones."""
DASK_PORT = 8786
"""The scheduler of Dask listens on this port."""
DATAGRAM = 1400
"""Payload of a UDP packet of iperf3 [B]."""
OUTPUT = 10_000
"""Length of the kept end of a command's output [characters]."""
GRACE_S = 1.0
"""Processes have so long to end after SIGTERM."""
HEAD_START_S = 0.3
"""Time by which a server starts before its client."""
NEEDS = {
    "iperf3": ("iperf3",),
    "nbdcopy": ("nbdcopy", "nbdkit"),
    "memcached": ("memcached",),
    "mpi": ("mpirun",),
    "dask": (),
    "command": (),
}
"""Programs that each kind of application needs."""


@dataclass
class Running:
    """An application on the testbed."""

    table: Application
    name: str
    source: Host
    to: Host | None
    commands: list[tuple[str, list[str], float]]
    """Namespace, command line and start [s] of each process; the last process is the one that
    measures."""
    folder: Path
    began: float | None = None
    """Start of the last process [s of the monotonic clock]."""
    ended: float | None = None
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    timed_out: bool = False

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.ended is not None

    @property
    def code(self) -> int | None:
        """The exit code of the process that measures."""
        return self.processes[-1].returncode if self.over and self.processes else None

    def poll(self, now: float, since: float) -> bool:
        """Starts a process that is due, or terminates all after the end of the last or the time
        limit; waits for nothing.

        Returns:
            Whether another process may be due now.
        """
        if self.ended is not None:
            self._kill_late(now)
            return False
        if len(self.processes) < len(self.commands):
            space, command, at = self.commands[len(self.processes)]
            if now < since + at:
                return False
            self._begin(space, command)
            return len(self.processes) < len(self.commands)
        limit = duration_ps("limit", self.table.limit) / 1e12
        self.timed_out = self.began is not None and now > self.began + limit
        if self.processes[-1].poll() is not None or self.timed_out:
            self.timed_out = self.processes[-1].returncode is None
            self.ended = time.monotonic()
            self._signal(signal.SIGTERM)
        return False

    def _kill_late(self, now: float) -> None:
        """Ends processes by force that were terminated long ago."""
        assert self.ended is not None
        if now > self.ended + GRACE_S:
            self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        for process in self.processes:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)

    def _begin(self, space: str, command: Sequence[str]) -> None:
        number = len(self.processes)
        # They end when this process ends, even if it is killed.
        begun = [*priority.usual_priority(), "setpriv", "--pdeathsig", "KILL", *command]
        line = shell.namespace_command(space, begun)
        out = self.folder / f"{self.name}.{number}.out"
        err = self.folder / f"{self.name}.{number}.err"
        with out.open("wb") as output, err.open("wb") as errors:
            self.processes.append(
                subprocess.Popen(
                    line,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    start_new_session=True,
                )
            )
        if len(self.processes) == len(self.commands):
            self.began = time.monotonic()

    def end(self) -> None:
        """Ends its processes, and waits for them."""
        self._signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(timeout=GRACE_S)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait(timeout=5)

    def output(self) -> str:
        """Returns the output of the process that measures."""
        path = self.folder / f"{self.name}.{len(self.commands) - 1}.out"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def errors(self) -> str:
        """Returns the error output of the process that measures."""
        path = self.folder / f"{self.name}.{len(self.commands) - 1}.err"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def prepare(tables: Sequence[Application], layout: Layout, folder: Path) -> list[Running]:
    """The applications of a testbed, not started yet.

    Raises:
        ConfigError: if a program is not installed.
    """
    check_programs(tables)
    made = []
    for at, table in enumerate(tables):
        source = layout.hosts[table.source]
        to = None if table.to is None else layout.hosts[table.to]
        commands = _commands(table, at, layout, source, to, folder)
        made.append(Running(table, name_of(at, table), source, to, commands, folder))
    return made


def check_programs(tables: Sequence[Application]) -> None:
    """Refuses applications whose programs are not installed.

    Raises:
        ConfigError: naming the package.
    """
    for at, table in enumerate(tables):
        for tool in NEEDS[table.kind]:
            shell.tool_path(tool)
        if table.kind == "dask" and find_spec("distributed") is None:
            remedy = "pip install 'lightloom[cluster]'"
            raise refusal("testbed", "distributed", "not installed", remedy)
        if table.kind in WITH_COMMAND:
            _check_command(at, table)


def _check_command(at: int, table: Application) -> None:
    program = words_of(table)[0]
    if table.kind == "mpi" and program.startswith("-"):
        # An option of mpirun: the program is behind it.
        return
    path = _dask_path() if table.kind == "dask" else None
    if shutil.which(program, path=path) is None:
        limit = "no such program"
        key = f"testbed.application[{at}].command"
        raise refusal(key, program, limit, "correct its name, or install it")


def _commands(
    table: Application, at: int, layout: Layout, source: Host, to: Host | None, folder: Path
) -> list[tuple[str, list[str], float]]:
    begin = duration_ps("begin", table.begin) / 1e12 + HEAD_START_S
    port = str(PORT + at)
    here = layout.namespace(source)
    if table.kind in ("command", "mpi", "dask"):
        words = words_of(table)
        members = [layout.hosts[host] for host in table.hosts] or list(layout.hosts)
        if table.kind == "dask":
            return dask_lines(layout, source, members, words, begin)
        line = mpi_line(layout, folder, words, members) if table.kind == "mpi" else list(words)
        return [(here, line, begin)]
    if to is None:
        raise refusal("to", "(missing)", "a receiver is needed", "name a host")
    there = layout.namespace(to)
    if table.kind == "memcached":
        server = ["memcached", "-u", "nobody", "-l", to.address, "-p", port, "-t", "1"]
        seconds = duration_ps("duration", table.duration) / 1e12
        client = [sys.executable, memcached_client.__file__, to.address, port, f"{seconds:g}"]
        return [(there, server, begin - HEAD_START_S), (here, client, begin)]
    if table.kind == "iperf3":
        server = ["iperf3", "-s", "-1", "-p", port, "-B", to.address]
        seconds = duration_ps("duration", table.duration) / 1e12
        client = ["iperf3", "-c", to.address, "-p", port, "-t", f"{seconds:.0f}"]
        client += ["-i", "0.1", "-P", str(table.streams), "-J", "--connect-timeout", "3000"]
        if table.udp is not None:
            rate = _core.control_rate("udp", table.udp)
            client += ["-u", "-b", str(rate), "-l", str(DATAGRAM)]
        return [(there, server, begin - HEAD_START_S), (here, client, begin)]
    size = str(_core.control_bytes("bytes", table.bytes))
    server = ["nbdkit", "-f", "-i", to.address, "-p", port, "memory", size]
    copy = f'nbdcopy "$uri" nbd://{to.address}:{port}'
    client = ["nbdkit", "-U", "-", "pattern", size, "--run", copy]
    return [(there, server, begin - HEAD_START_S), (here, client, begin)]


def dask_lines(
    layout: Layout, source: Host, members: Sequence[Host], words: Sequence[str], begin: float
) -> list[tuple[str, list[str], float]]:
    """The command lines of a scheduler, of a worker on each of some hosts, and of a program that
    uses them. The program runs on the host of the scheduler, to which `distributed.Client()`
    connects."""
    address = f"tcp://{source.address}:{DASK_PORT}"
    python, here = sys.executable, layout.namespace(source)
    scheduler = ["-m", "distributed.cli.dask_scheduler", "--host", source.address]
    scheduler += ["--port", str(DASK_PORT), "--no-dashboard", "--no-show"]
    lines = [(here, [python, *scheduler], begin - HEAD_START_S)]
    for host in members:
        worker = ["-m", "distributed.cli.dask_worker", address, "--host", host.address]
        worker += ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", "/tmp"]
        lines.append((layout.namespace(host), [python, *worker], begin))
    environment = [f"DASK_SCHEDULER_ADDRESS={address}", f"LIGHTLOOM_WORKERS={len(members)}"]
    environment.append(f"PATH={_dask_path()}")
    return [*lines, (here, ["env", *environment, *words], begin)]


def _dask_path() -> str:
    """PATH of a program that uses Dask: `python3` is the one that the workers have."""
    return f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"


def mpi_line(
    layout: Layout, folder: Path, words: Sequence[str], ranks: Sequence[Host]
) -> list[str]:
    """The command line that runs a program with Open MPI, with a rank on each of some hosts.

    A script starts the daemons: it gets the address of a host and enters the namespace of this
    host.
    """
    cases = [f"{h.address}) space={layout.namespace(h)} ;;" for h in layout.hosts]
    agent = folder / "mpi-agent"
    text = ["#!/bin/sh", "host=$1; shift", 'case "$host" in', *cases, "*) exit 1 ;;", "esac"]
    # A daemon that ends removes its folder, which is named after the machine and would be common to
    # all hosts.
    text += [f'base={folder}/mpi-$host; mkdir -p "$base"; export OMPI_MCA_orte_tmpdir_base="$base"']
    text.append(f'exec {shell.tool_path("ip")} netns exec "$space" sh -c "$*"')
    agent.write_text("\n".join(text) + "\n", encoding="utf-8")
    agent.chmod(0o755)
    options = {
        "plm_rsh_agent": str(agent),
        "btl": "tcp,self",
        "btl_tcp_if_include": DEVICE,
        "oob_tcp_if_include": DEVICE,
        # Daemons that connect to each other at the same time refuse one connection; two tries may
        # not suffice.
        "oob_tcp_peer_retries": "60",
        "oob_tcp_retry_delay": "1",
        # Waiting ranks yield the processor, because all hosts share it.
        "mpi_yield_when_idle": "1",
    }
    line = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
    for key, value in options.items():
        line += ["--mca", key, value]
    return [*line, "--host", ",".join(host.address for host in ranks), *words]


def figures_of(running: Running) -> dict[str, Any]:
    """The results of an application: bytes sent, duration, and goodput."""
    took = None
    if running.began is not None and running.ended is not None:
        took = running.ended - running.began
    figures: dict[str, Any] = {
        "name": running.name,
        "kind": running.table.kind,
        "from": running.source.index,
        "to": None if running.to is None else running.to.index,
        "exit_code": running.code,
        "timed_out": running.timed_out,
        "took_s": took,
        "bytes": None,
        "goodput_bps": None,
    }
    if running.table.kind in ("command", "mpi", "dask"):
        figures["output"] = running.output()[-OUTPUT:]
    if running.code != 0:
        figures["said"] = (running.errors() or running.output())[-400:]
        return figures
    if running.table.kind == "nbdcopy" and took:
        size = int(_core.control_bytes("bytes", running.table.bytes))
        figures |= {"bytes": size, "goodput_bps": size * 8 / took}
    if running.table.kind == "memcached":
        figures["latency_us"] = json.loads(running.output())
    if running.table.kind == "iperf3":
        figures |= _of_iperf(running.output(), running.table.udp is not None)
    return figures


def _of_udp(whole: Mapping[str, Any]) -> dict[str, Any]:
    """The packets that arrived: the bytes of iperf3's sum are those sent."""
    packets, lost = int(whole["packets"]), int(whole["lost_packets"])
    arrived = max(0, packets - lost) * DATAGRAM
    return {
        "bytes": arrived,
        "goodput_bps": arrived * 8 / float(whole["seconds"]),
        "packets": packets,
        "packets_lost": lost,
    }


def _of_iperf(text: str, udp: bool) -> dict[str, Any]:
    try:
        end = json.loads(text)["end"]
        whole = end["sum"] if udp else end["sum_received"]
        sent = end["sum"] if udp else end["sum_sent"]
    except (ValueError, KeyError):
        # With -J its exit code is 0 even if it could not connect.
        return {"said": text[-400:], "exit_code": 1}
    figures = {
        "bytes": int(whole["bytes"]),
        "took_s": float(whole["seconds"]),
        "goodput_bps": float(whole["bits_per_second"]),
    }
    if udp:
        return figures | _of_udp(whole)
    senders = [stream["sender"] for stream in end.get("streams", [])]
    rtt = [float(sender["mean_rtt"]) for sender in senders if "mean_rtt" in sender]
    return figures | {
        "retransmissions": int(sent.get("retransmits", 0)),
        "mean_rtt_us": sum(rtt) / len(rtt) if rtt else None,
    }
