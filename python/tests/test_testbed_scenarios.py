"""Scenarios: FFTW, all-reduce, memcached and Dask, compared with an electrical network only and
with full bisection. The programs check their own data; results are ratios on one machine."""

import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_support import ROOT
from test_testbed_setup import CTHROUGH, setup, table
from testbed_support import live

import lightloom
from lightloom.errors import ConfigError
from lightloom.testbed import applications, measure, memcached_client, namespaces, setup_of
from lightloom.testbed.programs import built
from lightloom.testbed.setup import cases

mpi = pytest.mark.skipif(
    shutil.which("mpicc") is None
    or not all(Path(f"/usr/include/{name}.h").exists() for name in ("fftw3", "fftw3-mpi")),
    reason="no libopenmpi-dev, libfftw3-dev or libfftw3-mpi-dev",
)
C = ROOT / "examples/testbed"


def ran(example: str, wanted: tuple[str, ...], *overrides: str) -> list[dict[str, dict[str, Any]]]:
    """Returns the applications of some cases of an example, by name; checks that no part of the
    testbeds remains."""
    file = ROOT / f"examples/testbed-{example}.toml"
    of = cases(lightloom.load(file, list(overrides)))
    found = []
    for case in wanted:
        result = measure(setup_of(of[case], None, "tscene"))
        assert [one["exit_code"] for one in result.applications] == [0] * len(result.applications)
        assert result.facts["dark_packets"] == result.facts["lost_frames"] == 0
        found.append({one["name"]: one for one in result.applications})
    assert namespaces.existing("tscene") == []
    return found


def fastest_ms(one: dict[str, Any]) -> float:
    return min(float(ms) for ms in re.findall(r"round \d+: ([\d.]+) ms", one["output"]))


def total_bps(of: dict[str, dict[str, Any]]) -> float:
    return sum(float(one["goodput_bps"]) for one in of.values())


@live
@pytest.mark.skipif(shutil.which("iperf3") is None, reason="no iperf3")
def test_circuits_carry_more_of_an_all_to_all_than_the_electrical_network() -> None:
    """Every host sends to every other one.

    A rack has a circuit to one of the three other racks at a time.
    """
    keys = [f"testbed.application.{at}.duration=4 s" for at in range(12)]
    electrical, circuits, full = ran("iperf3", ("electrical", "circuits", "full-bisection"), *keys)
    assert all(one["bytes"] > 0 for one in electrical.values())
    assert total_bps(electrical) < 4 * 20e6
    assert total_bps(circuits) > 3 * total_bps(electrical)
    assert total_bps(full) > 3 * total_bps(electrical)
    assert max(total_bps(circuits), total_bps(full)) < 4 * 200e6


@live
@pytest.mark.skipif(shutil.which("nbdcopy") is None, reason="no libnbd-bin")
def test_migrations_take_less_time_over_circuits() -> None:
    electrical, circuits = ran("migration", ("electrical", "circuits"))
    for name, one in electrical.items():
        assert one["bytes"] == circuits[name]["bytes"] == 24_000_000
        assert one["took_s"] > 24e6 * 8 / 20e6 * 0.9
        assert one["took_s"] > 2 * circuits[name]["took_s"]


@live
@mpi
def test_fftw_is_faster_over_circuits_than_over_the_electrical_network() -> None:
    """The circuit has ten times the rate. The program compares its data with the original."""
    with built({C / "fftw.c": ["-lfftw3_mpi", "-lfftw3", "-lm"]}) as folder:
        command = f'testbed.application.0.command="{folder}/fftw 48 4"'
        electrical, circuits = ran("fftw", ("electrical", "circuits"), command)
    assert fastest_ms(electrical["fftw"]) > 2 * fastest_ms(circuits["fftw"])


@live
@mpi
def test_all_reduce_is_faster_with_full_bisection_than_on_the_electrical_network() -> None:
    with built({C / "allreduce.c": []}) as folder:
        command = f'testbed.application.0.command="{folder}/allreduce 1000000 2"'
        electrical, full = ran("allreduce", ("electrical", "full-bisection"), command)
    assert fastest_ms(electrical["all-reduce"]) > 2 * fastest_ms(full["all-reduce"])


@live
@mpi
@pytest.mark.skipif(not Path("/usr/include/gloo/allreduce.h").exists(), reason="no libgloo-dev")
def test_gloo_reduces_faster_with_full_bisection_than_on_the_electrical_network() -> None:
    """The test also checks that the ranks leave no folder of addresses."""
    before = {*Path(tempfile.gettempdir()).glob("gloo-*")}
    with built({C / "allreduce_gloo.cc": ["-lgloo", "-lpthread"]}) as folder:
        command = f'testbed.application.0.command="{folder}/allreduce_gloo 1000000 2"'
        electrical, full = ran("gloo", ("electrical", "full-bisection"), command)
    assert fastest_ms(electrical["all-reduce"]) > 2 * fastest_ms(full["all-reduce"])
    assert {*Path(tempfile.gettempdir()).glob("gloo-*")} == before


@live
@pytest.mark.skipif(shutil.which("memcached") is None, reason="no memcached")
def test_memcached_is_asked_beside_bulk_traffic() -> None:
    """Every reply is compared with the stored value."""
    keys = ("application.0.duration=2 s", "application.1.duration=5 s")
    electrical, circuits = ran(
        "memcached", ("electrical", "circuits"), *(f"testbed.{key}" for key in keys)
    )
    for found in (electrical, circuits):
        latency = found["requests"]["latency_us"]
        assert latency["requests"] > 10
        assert 0 < latency["p50"] <= latency["p99"] <= latency["p99.9"] <= latency["max"]
    assert circuits["bulk"]["goodput_bps"] > 2 * electrical["bulk"]["goodput_bps"]


@live
def test_dask_shuffles_all_rows() -> None:
    """The program fails if a row is lost or changed."""
    pytest.importorskip("pandas")
    command = f'testbed.application.0.command="python3 {C}/shuffle.py 200000"'
    (full,) = ran("dask", ("full-bisection",), command)
    assert re.search(r"shuffle of 200000 rows: [\d.]+ s", full["shuffle"]["output"])


def layout_of(application: dict[str, Any]) -> Any:
    return setup(table(CTHROUGH) | {"testbed": {"application": [application]}})


@pytest.mark.parametrize(
    ("application", "said"),
    [
        ({"kind": "mpi", "command": "a", "hosts": [0, 4]}, "hosts are 0 to 3"),
        ({"kind": "mpi", "command": "a", "hosts": [1, 2]}, "runs on the first of its hosts"),
        ({"kind": "command", "command": "a", "hosts": [0]}, "neither ranks nor workers"),
        ({"kind": "memcached"}, "a receiver is needed"),
        ({"kind": "dask"}, "nothing to run"),
    ],
)
def test_what_an_application_lacks_is_refused(application: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        layout_of(application)


def test_mpi_and_dask_run_on_the_hosts_that_are_named(tmp_path: Path) -> None:
    layout = layout_of({"kind": "mpi", "command": "a"}).layout
    line = applications.mpi_line(layout, tmp_path, ["a"], layout.hosts[1:3])
    assert line[line.index("--host") + 1] == "10.0.1.1,10.0.2.1"
    lines = applications.dask_lines(layout, layout.hosts[0], layout.hosts[1:3], ["a"], 1.0)
    assert [space for space, _, _ in lines] == [
        layout.namespace(layout.hosts[at]) for at in (0, 1, 2, 0)
    ]
    scheduler = "DASK_SCHEDULER_ADDRESS=tcp://10.0.0.1:8786"
    assert lines[-1][1][:3] == ["env", scheduler, "LIGHTLOOM_WORKERS=2"]
    assert lines[-1][1][3].startswith(f"PATH={Path(sys.executable).parent}:")
    assert lines[-1][1][4:] == ["a"]


#: A program that makes a file, and ends only when it is killed.
STUBBORN = (
    "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "open(sys.argv[1], 'w').close(); time.sleep(60)"
)


def test_the_controller_does_not_wait_for_servers_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: a memcached that took 70 ms to end delayed the controller's actions by 70 ms."""
    own = lambda space, line: list(line[line.index("KILL") + 1 :])  # noqa: E731
    monkeypatch.setattr(applications.shell, "namespace_command", own)
    monkeypatch.setattr(applications, "GRACE_S", 0.5)
    found = layout_of({"kind": "command", "command": "a"})
    ready = tmp_path / "ready"
    server = [sys.executable, "-c", STUBBORN, str(ready)]
    client = ["sh", "-c", f"until [ -e {ready} ]; do sleep 0.05; done"]
    one = applications.Running(
        found.table.application[0],
        "a",
        found.layout.hosts[0],
        None,
        [("", server, 0.0), ("", client, 0.0)],
        tmp_path,
    )
    waits: list[object] = []
    monkeypatch.setattr(subprocess.Popen, "wait", lambda *given, **keys: waits.append(given))
    began = time.monotonic()
    assert one.poll(time.monotonic(), began)
    while (not one.over or one.processes[0].poll() is None) and time.monotonic() < began + 20:
        one.poll(time.monotonic(), began)
        time.sleep(0.01)
    assert (one.code, one.timed_out) == (0, False)
    assert one.processes[0].returncode == -9
    assert waits == []


def test_without_distributed_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = layout_of({"kind": "dask", "command": "a"})
    monkeypatch.setattr(applications, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"lightloom\[cluster\]"):
        applications.prepare(found.table.application, found.layout, tmp_path)


@contextmanager
def server(spoiled: bool) -> Iterator[int]:
    """A memcached with one connection, which has a wrong value for key 5 if `spoiled`."""
    listening = socket.create_server(("127.0.0.1", 0))
    known: dict[bytes, bytes] = {}

    def serve() -> None:
        link, _ = listening.accept()
        with link, link.makefile("rb") as lines:
            while line := lines.readline():
                verb, key, *_ = line.split()
                if verb == b"set":
                    known[key] = lines.readline()
                    link.sendall(b"STORED\r\n")
                else:
                    value = known[b"6" if spoiled and key == b"5" else key]
                    size = memcached_client.VALUE_BYTES
                    link.sendall(b"VALUE %b 0 %d\r\n%bEND\r\n" % (key, size, value))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with listening:
        yield listening.getsockname()[1]
    thread.join(5)


def test_a_reply_with_another_value_ends_the_client() -> None:
    with server(spoiled=False) as port:
        found = memcached_client.ask("127.0.0.1", port, 0.1)
    assert found["requests"] >= 1
    with server(spoiled=True) as port, pytest.raises(ValueError, match="key 5 has another"):
        memcached_client.ask("127.0.0.1", port, 5)


def test_percentiles_are_of_the_slowest_requests() -> None:
    """The p99 of 1,000 requests is the 990th, not an interpolation."""
    found = memcached_client.percentiles([n * 1e-6 for n in range(1000, 0, -1)])
    assert found == {"requests": 1000, "p50": 500, "p99": 990, "p99.9": 999, "max": 1000}
