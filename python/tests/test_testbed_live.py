"""A running testbed: packets arrive, bytes are intact, and no part remains afterwards."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from test_testbed_setup import CTHROUGH, MORDIA, setup, table
from testbed_support import LIVE, RECEIVE, SEND, needs_real_time

from lightloom.testbed import Testbed, namespaces, shell
from lightloom.testbed.bed import KernelPlane, UserPlane
from lightloom.testbed.capture import Capture
from lightloom.testbed.guardian import begin as begin_guardian
from lightloom.testbed.host import exhaust
from lightloom.testbed.measure import Observed
from lightloom.testbed.setup import Setup

pytestmark = LIVE
#: A policy that connects all racks, which decides without demand.
STILL = {"kind": "hybrid", "policy": {"kind": "fixed", "circuits": [[0, 1]]}, "settle": "20 ms"}

#: The thread of the user-space plane sleeps in these nights, because other commands need a
#: processor.
NIGHTS = {**MORDIA, "slot": "19 ms", "night": "9 ms", "shortest_slot": "19 ms"}


def inside(bed_setup: Setup, host: int, *command: str) -> list[str]:
    layout = bed_setup.layout
    return shell.namespace_command(layout.namespace(layout.hosts[host]), command)


@contextmanager
def stepping(bed: Testbed, *processes: subprocess.Popen[str]) -> Iterator[None]:
    """Runs the controller until all processes have ended, at most 40 s."""
    until = time.monotonic() + 40
    while any(process.poll() is None for process in processes) and time.monotonic() < until:
        bed.host.step(time.monotonic() + 0.005)
    try:
        yield
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait(5)


def transferred(bed: Testbed, source: int, to: int, size: int) -> tuple[str, str, int]:
    """Returns the digests of the sent and the received data, and the number of bytes."""
    address = bed.setup.layout.hosts[to].address
    python = sys.executable
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    receiver = subprocess.Popen(inside(bed.setup, to, python, "-c", RECEIVE), **pipes)
    for _ in range(40):
        bed.host.step(time.monotonic() + 0.005)
    command = inside(bed.setup, source, python, "-c", SEND, address, str(size))
    sender = subprocess.Popen(command, **pipes)
    with stepping(bed, sender, receiver):
        pass
    sent, got = sender.communicate(timeout=5), receiver.communicate(timeout=5)
    assert sender.returncode == receiver.returncode == 0, (sent[1], got[1])
    digest, received = got[0].split()
    return sent[0].strip(), digest, int(received)


def test_bytes_are_intact_over_circuits_and_vlans_say_which() -> None:
    raw = table({**STILL, "circuit_rate": "200 Mb/s", "interval": "200 ms"})
    with Testbed(setup(raw, "tcircuit")) as bed:
        plane = bed.plane
        assert isinstance(plane, KernelPlane)
        bed.host.begin()
        until = time.monotonic() + 5
        while not plane.history and time.monotonic() < until:
            bed.host.step(time.monotonic() + 0.01)
        assert [row[:3] for row in plane.history] == [(0, 1, 0)]
        space = bed.setup.layout.fabric
        taken = {}
        for device in ("o0.0", "e2"):
            line = ["tcpdump", "-i", device, "-c", "20", "-nne", "vlan"]
            taken[device] = subprocess.Popen(
                shell.namespace_command(space, line),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            stderr = taken[device].stderr
            assert stderr is not None
            while "listening" not in (said := stderr.readline()):
                assert said
        before = dict(plane.read_counters())
        assert len(set(transferred(bed, 0, 1, 3_000_000)[:2])) == 1
        over_light = dict(plane.read_counters())
        assert len(set(transferred(bed, 2, 3, 300_000)[:2])) == 1
        over_tree = dict(plane.read_counters())
        # Bytes of the first transfer are on the circuit, and those of the second on the electrical
        # network.
        assert over_light["o0.0"] - before["o0.0"] > 3_000_000
        assert over_light["e0"] - before["e0"] < 10_000
        assert over_tree["e2"] - over_light["e2"] > 300_000
        assert over_tree["o2.0"] == before["o2.0"]
        texts = {device: process.communicate(timeout=10)[0] for device, process in taken.items()}
        assert set(re.findall(r"vlan (\d+)", texts["o0.0"])) == {"200"}
        assert set(re.findall(r"vlan (\d+)", texts["e2"])) == {"100"}
        totals = plane.totals()
        totals.pop("queue_drops")  # TCP fills the queues of shapers
        assert totals == {"dark_packets": 0, "strange_packets": 0, "lost_frames": 0}


def test_what_is_sent_into_the_dark_is_counted() -> None:
    """The count above can differ from zero: rack switches send into a dark circuit."""
    raw = table({**STILL, "circuit_rate": "200 Mb/s", "interval": "60 s"})
    with Testbed(setup(raw, "tdark")) as bed:
        plane = bed.plane
        assert isinstance(plane, KernelPlane)
        racks = bed.setup.layout.racks
        plane._plane.lead([1] * racks**3)
        ping = inside(bed.setup, 0, "ping", "-c", "3", "-i", "0.2", "-W", "1", "10.0.1.1")
        if subprocess.run(["which", "ping"], capture_output=True, check=False).returncode:
            code = "import socket; s = socket.socket(2, 2); [s.sendto(b'x', ('10.0.1.1', 9))] * 3"
            ping = inside(bed.setup, 0, sys.executable, "-c", code)
        subprocess.run(ping, capture_output=True, check=False, timeout=10)
        assert plane.totals()["dark_packets"] >= 1


@needs_real_time
@pytest.mark.parametrize("policy", ["rotation", "mordia"])
def test_days_lose_nothing(policy: str) -> None:
    """TCP over days of 1 ms: nearly all frames are within their day, and bytes are intact."""
    keys = {"slot": "1.1 ms", "night": "100 us", "shortest_slot": "1.1 ms", "policy": policy}
    raw = table({**MORDIA, **keys, "link_rate": "200 Mb/s", "interval": "10 ms"})
    with Testbed(setup(raw, "tdays")) as bed:
        assert isinstance(bed.plane, UserPlane)
        bed.host.begin()
        sent, got, size = transferred(bed, 0, 2, 2_000_000)
        facts = bed.plane.totals()
        counts = bed.plane.counts()
    assert (sent, size) == (got, 2_000_000)
    assert facts["lost_frames"] == 0
    assert facts["in_day"] > 0.99
    assert facts["sync_frames"] > 0
    assert counts["carried"][2] > 2_000_000
    assert sum(counts["carried"]) + sum(counts["waiting"]) == sum(counts["offered"])


@needs_real_time
@pytest.mark.parametrize("times", [("110 us", "10 us"), ("330 us", "30 us"), ("1.1 ms", "100 us")])
def test_days_are_seen_beside_busy_programs_of_other_sessions(times: tuple[str, str]) -> None:
    """Regression: the thread had only a niceness, which has no effect on other sessions, and missed
    most days. With a real-time policy and without rests it missed 4 %, because the kernel suspended
    it."""
    slot, night = times
    keys = {"slot": slot, "night": night, "shortest_slot": slot}
    code = "import time\nend = time.monotonic() + 30\nwhile time.monotonic() < end: pass"
    busy = [sys.executable, "-c", code]
    others = [
        subprocess.Popen(busy, start_new_session=True) for _ in range(4 * (os.cpu_count() or 1))
    ]
    try:
        with Testbed(setup(table({**MORDIA, **keys}), "tbusy")) as bed:
            bed.host.begin()
            bed.host.step(time.monotonic() + 0.01)
            time.sleep(2)
            facts = bed.plane.totals()
    finally:
        for other in others:
            other.kill()
        for other in others:
            other.wait(30)
    assert facts["days"] > 1000
    assert facts["missed_days"] / (facts["days"] + facts["missed_days"]) < 0.02


def test_a_matching_carries_its_pairs_alone() -> None:
    """With days of 0 ↔ 1 only, traffic for rack 2 waits, and is neither lost nor delivered."""
    with Testbed(setup(table(MORDIA), "tonly")) as bed:
        assert isinstance(bed.plane, UserPlane)
        bed.plane._plane.follow(30_000, [([1, 0, 2, 3], 300_000)])
        code = (
            "import socket; s = socket.socket(2, 2)\n"
            "for host in (1, 2):\n"
            "    for _ in range(50): s.sendto(b'x' * 500, (f'10.0.{host}.1', 9))"
        )
        frame = 500 + 8 + 20 + 14
        subprocess.run(inside(bed.setup, 0, sys.executable, "-c", code), check=True, timeout=30)
        until = time.monotonic() + 20
        while time.monotonic() < until:
            counts = bed.plane.counts()
            if (counts["carried"][1], counts["waiting"][2]) == (50 * frame, 50 * frame):
                break
            time.sleep(0.1)
    assert counts["carried"][1] == 50 * frame
    assert counts["carried"][2] == 0
    assert counts["waiting"][2] == 50 * frame
    assert counts["lost"] == 0


def shaped(space: str) -> dict[str, tuple[int, int]]:
    """Returns the waiting bytes and the dropped packets of each device, as `tc` prints them."""
    text = shell.call(["tc", "-s", "-j", "-n", space, "qdisc", "show"])
    roots = [one for one in json.loads(text) if one.get("root")]
    return {one["dev"]: (one["backlog"], one["drops"]) for one in roots if one["dev"] != "lo"}


def sizes(observed: Observed) -> dict[str, int]:
    """Returns the bytes in each queue."""
    return {name: size for _, name, size in observed.queues}


def test_queues_are_those_of_the_shapers() -> None:
    """UDP at the rate of a host fills the queue of its rack's uplink, which has a tenth."""
    raw = table({**CTHROUGH, "oversubscription": 10, "interval": "60 s"})
    raw["cluster"]["server_rate"] = "20 Mb/s"
    with Testbed(setup(raw, "tqueues")) as bed:
        address = bed.setup.layout.hosts[1].address
        quiet = bed.plane.observe()
        assert (quiet.queued, quiet.losses) == (0, 0)
        # The program may have more bytes in flight than the queue holds.
        code = FLOOD.replace("24 << 10", "200 << 10")
        flood = subprocess.Popen(inside(bed.setup, 0, sys.executable, "-c", code, address, "2.5"))
        deepest = 0
        while flood.poll() is None:
            deepest = max(deepest, sizes(bed.plane.observe())["e0"])
            time.sleep(0.01)
        until = time.monotonic() + 20
        while (last := bed.plane.observe()).queued and time.monotonic() < until:
            time.sleep(0.1)
        theirs = shaped(bed.setup.layout.fabric)
        totals = bed.plane.totals()
    # A burst passes, and the waiting bytes are at most the latency × the rate of the uplink.
    assert 1_400 < deepest < (64 << 10) + 0.005 * 2e6 / 8 + 1_600
    assert sizes(last) == dict.fromkeys(theirs, 0)
    assert last.losses == totals["queue_drops"] == sum(drops for _, drops in theirs.values())
    assert totals["queue_drops"] > 100


def runs(pid: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False


def left(name: str) -> tuple[list[str], list[str], int]:
    """Returns the namespaces of a name, devices outside of namespaces, and the number of open files
    of this process, which includes those of BPF programs."""
    devices = sorted(path.name for path in Path("/sys/class/net").iterdir())
    spaces = [space for space in namespaces.existing() if name in space]
    return spaces, devices, len(list(Path("/proc/self/fd").iterdir()))


def test_what_is_built_is_gone_afterwards() -> None:
    before = left("tcycle")
    for cycle in range(3):
        for raw in (table(CTHROUGH), table(MORDIA)):
            with Testbed(setup(raw, f"tcycle{cycle}")) as bed:
                assert len(namespaces.existing(bed.setup.layout.name)) == 5
    assert left("tcycle") == before


@pytest.mark.long
def test_a_hundred_testbeds_leave_nothing() -> None:
    before = left("thundred")
    for cycle in range(100):
        with Testbed(setup(table(MORDIA if cycle % 2 else CTHROUGH), "thundred")):
            assert len(namespaces.existing("thundred")) == 5
    assert left("thundred") == before


def test_a_plane_that_ended_by_itself_is_taken_down(monkeypatch: pytest.MonkeyPatch) -> None:
    before = left("tended")

    def stop(self: UserPlane) -> None:
        self._plane.stop()
        raise OSError("the data plane has ended")

    monkeypatch.setattr(UserPlane, "stop", stop)
    with pytest.raises(OSError, match="has ended"), Testbed(setup(table(MORDIA), "tended")):
        assert len(namespaces.existing("tended")) == 5
    assert left("tended") == before


def test_a_second_testbed_beside_the_first() -> None:
    with Testbed(setup(table(MORDIA), "tone")), Testbed(setup(table(CTHROUGH), "ttwo")):
        assert set(namespaces.names()) >= {"tone", "ttwo"}
        assert len(namespaces.existing("tone")) == len(namespaces.existing("ttwo")) == 5
        with pytest.raises(Exception, match="tone"):
            Testbed(setup(table(MORDIA), "tone")).__enter__()
    assert not {"tone", "ttwo"} & set(namespaces.names())


def written(path: Path, fabric: dict[str, Any], seconds: int) -> Path:
    application = f'[[testbed.application]]\nkind = "command"\ncommand = "sleep {seconds}"\n'
    keys = "\n".join(f"{key} = {json.dumps(value)}" for key, value in fabric.items())
    cluster = '[cluster]\nracks = 4\nservers_per_rack = 1\nserver_rate = "200 Mb/s"\n'
    workload = '[workload]\npattern = "permutation"\nload = 0.1\nsizes = "web-search"\nflows = 10\n'
    path.write_text(f"{cluster}\n{workload}\n[[fabric]]\n{keys}\n\n[testbed]\n{application}")
    return path


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_whatever_ends_the_command_the_machine_is_clean(tmp_path: Path, end: int) -> None:
    file = written(tmp_path / "tkill.toml", MORDIA, 30)
    line = [sys.executable, "-m", "lightloom", "testbed", "run", str(file), "-o", str(tmp_path)]
    command = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    until = time.monotonic() + 20
    busy: list[int] = []
    while not busy and time.monotonic() < until:
        spaces = namespaces.existing("tkill")
        busy = [pid for space in spaces for pid in namespaces.pids(space)]
        time.sleep(0.1)
    assert busy
    command.send_signal(end)
    command.wait(10)
    while namespaces.existing("tkill") and time.monotonic() < until + 20:
        time.sleep(0.1)
    assert namespaces.existing("tkill") == []
    assert [pid for pid in busy if runs(pid)] == []
    assert not (tmp_path / "summary.json").exists()


def test_down_takes_down_what_nobody_guards() -> None:
    """This includes a process that ignores SIGTERM."""
    layout = setup(table(CTHROUGH), "tdown").layout
    namespaces.make(layout)
    line = shell.namespace_command(
        layout.fabric, ["sh", "-c", "trap '' TERM; sleep 30 & wait; sleep 30"]
    )
    process = subprocess.Popen(line)
    until = time.monotonic() + 5
    while len(namespaces.pids(layout.fabric)) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    done = subprocess.run(
        [sys.executable, "-m", "lightloom", "testbed", "down", "tdown"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert namespaces.existing("tdown") == []
    assert process.wait(5) != 0


@pytest.mark.parametrize("fabric", [CTHROUGH, NIGHTS], ids=["kernel", "user"])
def test_a_command_ends_when_another_takes_its_testbed_down(
    fabric: dict[str, Any], tmp_path: Path
) -> None:
    file = written(tmp_path / "tended.toml", fabric, 30)
    line = [sys.executable, "-m", "lightloom", "testbed"]
    for verb, code in (("up", 0), ("run", 1)):
        more = ["-o", str(tmp_path / "out")] if verb == "run" else []
        command = subprocess.Popen([*line, verb, str(file), *more], stdout=subprocess.PIPE)
        assert command.stdout is not None
        if verb == "up":
            assert b"tended: 4 hosts" in command.stdout.readline()
        until = time.monotonic() + 20
        while len(namespaces.existing("tended")) < 5 and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(1)
        assert command.poll() is None
        subprocess.run([*line, "down", "tended"], check=True, timeout=60)
        said, _ = command.communicate(timeout=30)
        assert command.returncode == code, said


def test_a_guardian_waits_for_its_maker(tmp_path: Path) -> None:
    layout = setup(table(CTHROUGH), "tguard").layout
    namespaces.make(layout)
    guardian = begin_guardian("tguard", tmp_path / "folder")
    (tmp_path / "folder").mkdir()
    time.sleep(0.5)
    # Children of a command that ends slowly are ended with it.
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    lines = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children]
    assert not [line for line in lines if b"lightloom.testbed.guardian" in line]
    assert len(namespaces.existing("tguard")) == 5
    guardian.communicate(timeout=10)
    assert namespaces.existing("tguard") == []
    assert not (tmp_path / "folder").exists()


def test_a_run_writes_what_it_measured(tmp_path: Path) -> None:
    fabric = {**CTHROUGH, "circuit_rate": "200 Mb/s"}
    file = written(tmp_path / "trun.toml", fabric, 1)
    out = tmp_path / "out"
    line = [
        sys.executable,
        "-m",
        "lightloom",
        "testbed",
        "run",
        str(file),
        "-o",
        str(out),
        "--json",
    ]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["basis"] == "testbed"
    assert (figures["dark_packets"], figures["lost_frames"]) == (0, 0)
    assert figures["applications"][0]["exit_code"] == 0
    names = {path.name for path in out.iterdir() if path.is_file()}
    assert names >= {"summary.json", "throughput.parquet", "circuits.parquet", "controller.jsonl"}


def test_a_host_that_is_not_there_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "tbad.toml", MORDIA, 1)
    line = [sys.executable, "-m", "lightloom", "testbed", "run", str(file), "--host", "9"]
    done = subprocess.run([*line, "--", "true"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--host = 9: " in done.stderr
    alone = subprocess.run(line, capture_output=True, text=True, check=False)
    assert alone.returncode == 2
    assert "--host = 9: there" in alone.stderr
    missing = subprocess.run(
        [*line[:-1], "0", "-o", str(tmp_path / "o"), "--", "no-such-program"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "no-such-program" in missing.stdout + missing.stderr
    assert missing.returncode == 2


@pytest.mark.parametrize(
    ("words", "hosts"),
    [
        (["--host", "2", "--host", "0"], ["10.0.2.1", "10.0.0.1"]),
        (["--mpi", "--host", "3", "--host", "1"], ["10.0.1.1", "10.0.3.1"]),
        (["--mpi"], ["10.0.0.1", "10.0.1.1", "10.0.2.1", "10.0.3.1"]),
    ],
)
def test_a_command_runs_on_the_hosts_that_are_named(
    words: list[str], hosts: list[str], tmp_path: Path
) -> None:
    """With MPI the command has a rank on each host, by default on all; each prints the address of
    its host."""
    if "--mpi" in words and shutil.which("mpirun") is None:
        pytest.skip("no openmpi-bin")
    file = written(tmp_path / "twords.toml", {**CTHROUGH, "circuit_rate": "200 Mb/s"}, 1)
    line = [sys.executable, "-m", "lightloom", "testbed", "run", str(file), "--json"]
    own = "ip -o -4 address show dev eth0"
    line += [*words, "-o", str(tmp_path / "o"), "--", *own.split()]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    outputs = "".join(one["output"] for one in json.loads(done.stdout)["applications"])
    found = re.findall(r"inet ([\d.]+)/", outputs)
    assert (sorted(found) if "--mpi" in words else found) == hosts


#: A program that sends whenever its queue has room, and prints a line when it begins. Its buffer is
#: smaller than the queue, so that it sleeps if the queue is full; a program that slept is scheduled
#: before the other programs of a busy machine.
FLOOD = """
import os, socket, sys, time
os.nice(-10)
until = time.monotonic() + float(sys.argv[2])
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
    out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 24 << 10)
    out.connect((sys.argv[1], 7001))
    print("sends", flush=True)
    while time.monotonic() < until:
        try:
            out.send(bytes(1400))
        except OSError:
            time.sleep(0.001)  # nobody listens
"""


def sent_over(bed: Testbed, *to: int) -> dict[str, int]:
    """Returns the bytes over the circuit and over the electrical network of rack 0 in 3 s, while
    its host floods other hosts."""
    plane, hosts = bed.plane, bed.setup.layout.hosts
    command = [sys.executable, "-c", FLOOD]
    floods = [
        subprocess.Popen(
            inside(bed.setup, 0, *command, hosts[host].address, "15"),
            stdout=subprocess.PIPE,
            text=True,
        )
        for host in to
    ]
    for flood in floods:
        assert flood.stdout is not None
        assert flood.stdout.readline() == "sends\n"
    time.sleep(1)
    before = dict(plane.read_counters())
    time.sleep(3)
    after = dict(plane.read_counters())
    for flood in floods:
        flood.kill()
        flood.communicate(timeout=20)
    return {name: after[name] - before[name] for name in ("o0.0", "e0")}


@pytest.mark.parametrize("weight", [0.9, pytest.param(0.6, marks=pytest.mark.long)])
def test_circuits_are_sure_of_their_weight_at_a_hosts_link(weight: float) -> None:
    """Host 0 sends to rack 1, with which its rack has a circuit, and to racks 2 and 3.

    Most of its traffic beyond the weight is for the electrical network, which has the rest of the
    link, and the whole link if no traffic uses the circuit. At 5 Mb/s two floods fill a queue for
    100 ms, during which a busy machine need not run them.
    """
    rates = {"circuit_rate": "5 Mb/s", "oversubscription": 1, "optical_weight": weight}
    raw = table({**CTHROUGH, **rates})
    raw["cluster"]["server_rate"] = "5 Mb/s"
    with Testbed(setup(raw, "tweight")) as bed:
        exhaust(bed.plane.carry_out("light", {"circuits": [(0, 1, 0)], "directed": False}))
        routes = {"routes": [{"racks": [0, 1], "planes": [0]}]}
        exhaust(bed.plane.carry_out("enter", ([], routes)))
        both = sent_over(bed, 1, 1, 2, 3)
        assert both["o0.0"] / sum(both.values()) == pytest.approx(weight, abs=0.04)
        alone = sent_over(bed, 2, 3)
        assert alone["o0.0"] < 0.01 * sum(both.values())
        assert alone["e0"] > 0.9 * sum(both.values())


def test_a_capture_has_the_packets_of_each_network(tmp_path: Path) -> None:
    """Read by tcpdump, packets on the circuit have VLAN 200 and all others VLAN 100, and the file
    contains only headers."""
    raw = table({**STILL, "circuit_rate": "200 Mb/s", "interval": "200 ms"})
    raw["testbed"] = {"capture": "80 B"}
    with Testbed(setup(raw, "tcapture")) as bed:
        bed.host.begin()
        until = time.monotonic() + 5
        while not bed.plane.history and time.monotonic() < until:
            bed.host.step(time.monotonic() + 0.01)
        capture = Capture(bed.setup, bed.folder)
        transferred(bed, 0, 1, 300_000)
        transferred(bed, 2, 3, 100_000)
        written, cut = capture.end()
    assert cut == []
    path = tmp_path / "capture.pcapng"
    path.write_bytes(written)
    assert written.count(b"o0.0") == 1

    def lengths(*expression: str) -> list[int]:
        line = ["tcpdump", "-r", str(path), "-nne", *expression]
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        return [int(found) for found in re.findall(r", length (\d+): vlan", done.stdout)]

    # Each packet leaves one rack switch and arrives at the other.
    data, over_tree = lengths("vlan 200 and tcp dst port 7000"), lengths("vlan 100")
    assert sum(data) > 2 * 300_000
    assert lengths("vlan 200 and ether src 02:4c:00:00:00:00") == data
    assert sum(over_tree) > 2 * 100_000
    assert len(lengths()) == len(lengths("vlan 200")) + len(over_tree)
    assert len(written) < 200 * len(lengths()) + 2_000
