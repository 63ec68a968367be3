"""HydRA on the testbed: servers tag packets by rules of Open vSwitch, in three substeps."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path as File
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openflow_support import reason
from test_testbed_live import inside, left, runs, transferred
from test_testbed_setup import HYDRA, setup, table
from testbed_support import live, lost_beside_switches, needs_real_time

from lightloom import _core
from lightloom.errors import ConfigError
from lightloom.testbed import Testbed, folders, namespaces, packet_sockets, shell
from lightloom.testbed import server_rules as module
from lightloom.testbed.bed import KernelPlane
from lightloom.testbed.capture import Capture
from lightloom.testbed.host import exhaust
from lightloom.testbed.open_vswitch import socket_drops
from lightloom.testbed.path_tags import ELECTRICAL, Path, PathTags, first_paths
from lightloom.testbed.server_rules import AVOID, USE, ServerForwarding

ovs = pytest.mark.skipif(reason() is not None, reason=reason() or "")
FIRST = _core.TESTBED_FIRST_TAG


@st.composite
def networks(draw: st.DrawFn) -> tuple[int, list[Path]]:
    """Draws racks on planes, and paths over their circuits."""
    racks, planes = draw(st.integers(2, 6)), draw(st.integers(1, 3))
    joined: dict[int, list[tuple[int, int]]] = {rack: [] for rack in range(racks)}
    for plane in range(planes):
        free = draw(st.permutations(range(racks)))
        for a, b in zip(free[::2], free[1::2], strict=False):
            if draw(st.booleans()):
                joined[a].append((b, plane))
                joined[b].append((a, plane))
    routes = []
    for start in range(racks):
        racks_on, ways = [start], []
        for _ in range(draw(st.integers(0, 4))):
            onward = [hop for hop in joined[racks_on[-1]] if hop[0] not in racks_on]
            if not onward:
                break
            rack, plane = draw(st.sampled_from(onward))
            racks_on.append(rack)
            ways.append(plane)
        if ways:
            routes.append({"racks": racks_on, "planes": ways})
    return racks, [*first_paths(routes).values()]


def walk(rows: dict[tuple[int, int, int], int], vlan: int, path: Path, turned: bool) -> None:
    """Checks that a packet with the path's tag passes exactly the path's circuits."""
    racks = path.racks[::-1] if turned else path.racks
    planes = path.planes[::-1] if turned else path.planes
    for at, plane in zip(racks, planes, strict=False):
        assert rows[at, vlan, racks[-1]] == 1 + plane


@given(changes=st.lists(networks(), min_size=1, max_size=6))
def test_tagged_packets_pass_their_paths_through_all_changes(
    changes: list[tuple[int, list[Path]]],
) -> None:
    """Uses the rows of all changes together, as rack switches have them.

    Kept paths keep their tags; two paths share a tag only if their circuits have no loop.
    """
    tags = PathTags(FIRST, 40)
    rows: dict[tuple[int, int, int], int] = {}
    kept: list[Path] = []
    for _, paths in changes:
        before = {path: tags.vlan_of(path) for path in kept}
        for at, vlan, to, hop in tags.assign(paths):
            assert FIRST <= vlan < FIRST + 40
            rows[at, vlan, to] = hop
        for path in {*kept, *paths}:
            vlan = tags.vlan_of(path)
            assert before.get(path, vlan) == vlan
            walk(rows, vlan, path, turned=False)
            walk(rows, vlan, path, turned=True)
        new = [path for path in paths if path not in kept]
        for vlan in {tags.vlan_of(path) for path in new}:
            links = {
                frozenset([a, b]): (min(a, b), max(a, b), plane)
                for path in new
                if tags.vlan_of(path) == vlan
                for a, b, plane in zip(path.racks, path.racks[1:], path.planes, strict=False)
            }
            assert len({rack for pair in links for rack in pair}) > len(links)
        tags.keep(paths)
        kept = paths
        assert tags.in_use == len({tags.vlan_of(path) for path in paths})


def test_a_vlan_that_is_free_again_is_used_last_and_forgets_its_rows() -> None:
    tags = PathTags(FIRST, 2)
    first, second, third = (Path((0, to), (0,)) for to in (1, 2, 3))
    assert tags.assign([first]) == [(0, FIRST, 1, 1), (1, FIRST, 0, 1)]
    tags.keep([])
    tags.assign([second])
    assert tags.vlan_of(second) == FIRST + 1
    found = {row[:3]: row[3] for row in tags.assign([third])}
    assert found == {
        (0, FIRST, 1): 0,
        (1, FIRST, 0): 0,
        (0, FIRST, 3): 1,
        (3, FIRST, 0): 1,
    }
    with pytest.raises(OSError, match="all VLANs"):
        tags.assign([first])


def test_without_open_vswitch_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from lightloom.testbed import open_vswitch

    which = shell.shutil.which
    found = {"ovs-vswitchd": None}
    monkeypatch.setattr(shell.shutil, "which", lambda tool, path=None: found.get(tool, which("sh")))
    with pytest.raises(ConfigError, match="install Debian's package openvswitch-switch"):
        open_vswitch.check_tools()


def circuits(*rows: tuple[int, int, int]) -> dict[str, Any]:
    return {"circuits": rows, "directed": False}


def routes(*rows: tuple[list[int], list[int]]) -> dict[str, Any]:
    return {"routes": [{"racks": racks, "planes": planes} for racks, planes in rows]}


NO_ROUTES = routes()


@contextmanager
def hydra(name: str, **keys: Any) -> Iterator[tuple[Testbed, KernelPlane]]:
    raw = table({**HYDRA, "interval": "60 s", **keys})
    with Testbed(setup(raw, name)) as bed:
        assert isinstance(bed.plane, KernelPlane)
        yield bed, bed.plane


def do(plane: KernelPlane, kind: str, body: Any) -> None:
    exhaust(plane.carry_out(kind, body))


def flows(bed: Testbed, host: int, to: int) -> dict[int, str]:
    """Returns the VLAN that the switch of a host sets on packets for a rack, by the priority of the
    rule, as `ovs-ofctl` prints it, a program that is not part of this project."""
    target = f"unix:{bed.folder / f'ovs-{host}' / 'eth0.mgmt'}"
    line = ["ovs-ofctl", "-O", "OpenFlow13", "--no-stats", "dump-flows", target]
    text = subprocess.run(line, capture_output=True, text=True, check=True, timeout=10).stdout
    found = {}
    for row in text.splitlines():
        if f"dl_dst=02:4c:00:{to:02x}:00:00/ff:ff:ff:ff:00:00" not in row:
            continue
        priority = re.search(r"priority=(\d+)", row)
        tag = re.search(r"set_field:(\d+)->vlan_vid", row)
        assert priority is not None
        found[int(priority[1])] = str(int(tag[1]) - 4096) if tag else row.split("actions=")[1]
    return found


@live
@ovs
def test_rules_change_in_the_three_substeps_of_the_paper() -> None:
    """Checks the rules of Open vSwitch after each substep: 3-1 adds rules of a higher priority, 3-2
    changes those below, 3-3 deletes the former. A pair that only gains a path also uses it from 3-3
    on."""
    wanted = routes(([0, 2], [0]), ([1, 3], [1]))
    with hydra("thsteps") as (bed, plane):
        assert flows(bed, 0, 1) == {USE: str(ELECTRICAL)}
        do(plane, "light", circuits((0, 1, 0)))
        do(plane, "route", routes(([0, 1], [0])))
        assert flows(bed, 0, 1) == {USE: str(FIRST), AVOID: str(ELECTRICAL)}
        do(plane, "enter", ([(0, 1)], routes(([0, 1], [0]))))
        assert flows(bed, 0, 1) == flows(bed, 1, 0) == {USE: str(FIRST)}
        do(plane, "drain", ([(0, 1)], NO_ROUTES))
        assert flows(bed, 0, 1) == {USE: str(FIRST), AVOID: str(ELECTRICAL)}
        assert flows(bed, 0, 2) == {USE: str(ELECTRICAL)}
        do(plane, "dark", circuits((0, 1, 0)))
        do(plane, "light", circuits((0, 2, 0), (1, 3, 1)))
        do(plane, "route", wanted)
        assert flows(bed, 0, 2) == {USE: str(FIRST + 1), AVOID: str(ELECTRICAL)}
        do(plane, "enter", ([(0, 1)], wanted))
        assert flows(bed, 0, 1) == {USE: str(ELECTRICAL)}
        assert flows(bed, 0, 2) == flows(bed, 2, 0) == {USE: str(FIRST + 1)}
        assert flows(bed, 3, 1)[USE] == str(FIRST + 1)
        totals = plane.totals()
    assert lost_beside_switches(totals) == (0, 0)
    assert totals["rules_ms"]["max"] > 0
    # 4 pairs with 2 ends each: 2 × (hold, use, remove), then drain, use, remove for (0, 1).
    assert totals["rule_changes"] == 2 * (3 + 1 + 2 * 2 + 1 + 3)


@live
@ovs
def test_bytes_are_intact_over_several_hops_and_carry_the_tag_of_their_path() -> None:
    """Traffic from rack 0 to rack 2 over rack 1; the electrical network carries none of it."""
    path = routes(([0, 1, 2], [0, 1]))
    with hydra("thhops") as (bed, plane):
        do(plane, "light", circuits((0, 1, 0), (1, 2, 1)))
        do(plane, "route", path)
        do(plane, "enter", ([], path))
        before = dict(plane.read_counters())
        space, taken = bed.setup.layout.fabric, {}
        for device in ("o0.0", "o1.1", "e3"):
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
        assert len(set(transferred(bed, 0, 2, 3_000_000)[:2])) == 1
        after = dict(plane.read_counters())
        assert len(set(transferred(bed, 3, 0, 200_000)[:2])) == 1
        texts = {device: one.communicate(timeout=10)[0] for device, one in taken.items()}
        totals = plane.totals()
    for device in ("o0.0", "o1.1"):
        assert after[device] - before[device] > 3_000_000
        assert set(re.findall(r"vlan (\d+)", texts[device])) == {str(FIRST)}
    assert set(re.findall(r"vlan (\d+)", texts["e3"])) == {str(ELECTRICAL)}
    assert after["e0"] - before["e0"] < 10_000
    assert lost_beside_switches(totals) == (0, 0)


@live
@ovs
def test_a_capture_has_the_tags_of_paths(tmp_path: File) -> None:
    """In the file of a run, read by tcpdump, every packet has a tag, and packets of a path over two
    circuits have the same tag on both."""
    path = routes(([0, 1, 2], [0, 1]))
    raw = table({**HYDRA, "interval": "60 s"}) | {"testbed": {"capture": "80 B"}}
    with Testbed(setup(raw, "thcap")) as bed:
        plane = bed.plane
        assert isinstance(plane, KernelPlane)
        do(plane, "light", circuits((0, 1, 0), (1, 2, 1)))
        do(plane, "route", path)
        do(plane, "enter", ([], path))
        capture = Capture(bed.setup, bed.folder)
        transferred(bed, 0, 2, 300_000)
        transferred(bed, 3, 0, 100_000)
        written, cut = capture.end()
    assert cut == []
    file = tmp_path / "capture.pcapng"
    file.write_bytes(written)

    def count(*expression: str) -> int:
        line = ["tcpdump", "-r", str(file), "-nn", *expression]
        text = subprocess.run(line, capture_output=True, text=True, check=True).stdout
        return len(text.splitlines())

    data = f"vlan {FIRST} and tcp dst port 7000"
    # On both circuits, each packet leaves one rack switch and arrives at another.
    assert count(data) == count(f"{data} and ether src 02:4c:00:00:00:00") > 4 * 300_000 // 1448
    assert count(f"vlan {ELECTRICAL} and tcp dst port 7000 and ether src 02:4c:00:03:00:00") > 100
    assert count() == count(f"vlan {FIRST}") + count(f"vlan {ELECTRICAL}")


#: A program that sends to a host at the rate of its link, and prints a line when it begins.
FLOOD = (
    "import socket, sys, time\n"
    "s = socket.socket(2, 2); s.connect((sys.argv[1], 9)); end = time.monotonic() + 30\n"
    "print('sends', flush=True)\n"
    "while time.monotonic() < end:\n"
    "    try: s.send(bytes(1400))\n"
    "    except OSError: time.sleep(0.001)\n"
)


@contextmanager
def flooding(bed: Testbed, *pairs: tuple[int, int]) -> Iterator[None]:
    hosts = bed.setup.layout.hosts
    command = [sys.executable, "-c", FLOOD]
    running = [
        subprocess.Popen(
            inside(bed.setup, a, *command, hosts[b].address), stdout=subprocess.PIPE, text=True
        )
        for a, b in pairs
    ]
    try:
        for one in running:
            assert one.stdout is not None
            assert one.stdout.readline() == "sends\n"
        time.sleep(0.5)
        yield
    finally:
        for one in running:
            one.kill()
            one.communicate(timeout=20)


def change(plane: KernelPlane, now: int, then: int, *, drains: bool) -> None:
    """Moves rack 0's circuit on plane 0 from one rack to another."""
    wanted = routes(([0, then], [0]))
    if drains:
        do(plane, "drain", ([(0, now)], NO_ROUTES))
    do(plane, "dark", circuits((0, now, 0)))
    do(plane, "light", circuits((0, then, 0)))
    do(plane, "route", wanted)
    do(plane, "enter", ([(0, now)], wanted))


@live
@ovs
def test_no_packet_meets_the_dark_in_changes_under_load() -> None:
    """Without the first substep many packets are lost, so the count can differ from zero."""
    with hydra("thload") as (bed, plane):
        do(plane, "light", circuits((0, 1, 0)))
        do(plane, "enter", ([], routes(([0, 1], [0]))))
        with flooding(bed, (0, 1), (1, 0), (0, 2)):
            before = dict(plane.read_counters())
            for now, then in ((1, 2), (2, 1), (1, 2)):
                change(plane, now, then, drains=True)
                time.sleep(0.2)
            after = dict(plane.read_counters())
            totals = plane.totals()
            assert lost_beside_switches(totals) == (0, 0)
            assert after["o0.0"] - before["o0.0"] > 100_000
            # A busy machine may send no packet in the short time of one change.
            for now, then in ((2, 1), (1, 2)) * 3:
                if plane.totals()["dark_packets"] <= 10:
                    change(plane, now, then, drains=False)
            assert plane.totals()["dark_packets"] > 10


@contextmanager
def stopped(plane: KernelPlane, host: int) -> Iterator[None]:
    """Stops the switch of a host (SIGSTOP)."""
    forwarding = plane.forwarding
    assert isinstance(forwarding, ServerForwarding)
    # The databases of all hosts were started first, then their switches.
    running = forwarding._switches._running
    pid = running[len(running) // 2 + host].pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@ovs
@live
@needs_real_time
def test_the_switches_of_servers_run_before_other_programs() -> None:
    with hydra("tovsfirst") as (bed, plane):
        forwarding = plane.forwarding
        assert isinstance(forwarding, ServerForwarding)
        running = forwarding._switches._running
        hosts = len(bed.setup.layout.hosts)
        policies = [os.sched_getscheduler(one.pid) for one in running]
        # The databases, then the switches.
        assert policies == [os.SCHED_OTHER] * hosts + [os.SCHED_RR] * hosts


def standing(read: Callable[[], Any]) -> Any:
    """Returns a reading when it has not changed for half a second, after at most 30 s."""
    found, until = read(), time.monotonic() + 30
    while time.monotonic() < until:
        time.sleep(0.5)
        last, found = found, read()
        if found == last:
            return found
    raise AssertionError(f"{found} does not stand still")


#: A program that sends a thousand frames to a host.
BURST = (
    "import socket, sys\n"
    "s = socket.socket(2, 2); s.connect((sys.argv[1], 9))\n"
    "for _ in range(1000):\n"
    "    try: s.send(bytes(1400))\n"
    "    except OSError: pass\n"
)


def passed(bed: Testbed, host: int, place: int, device: str) -> int:
    """Returns a counter of a host's device."""
    space = shell.NAMESPACES / bed.setup.layout.namespace(bed.setup.layout.hosts[host])
    return int(_core.testbed_counters(space)[device][place])


@live
@ovs
def test_a_switch_that_waits_for_a_processor_loses_no_packet() -> None:
    """A thousand frames arrive while the switch is stopped; the default buffer of the system has
    room for 90."""
    with hydra("thwait", oversubscription=1) as (bed, plane):
        hosts = bed.setup.layout.hosts
        before = passed(bed, 1, 1, "uplink"), passed(bed, 1, 4, "eth0"), passed(bed, 1, 1, "eth0")
        with stopped(plane, 1):
            shell.call(inside(bed.setup, 0, sys.executable, "-c", BURST, hosts[1].address))
            arrived = standing(lambda: passed(bed, 1, 1, "uplink")) - before[0]
            assert passed(bed, 1, 1, "eth0") == before[2]
        assert arrived > 900
        assert standing(lambda: passed(bed, 1, 1, "eth0")) - before[2] == arrived
        assert plane.totals()["lost_frames"] == 0


@live
@ovs
def test_a_full_queue_of_an_uplink_drops_packets_and_the_switches_of_servers_do_not() -> None:
    """A frame in the queue of a shaper still occupies the buffer of its socket."""
    with hydra("thfull", circuit_rate="200 Mb/s") as (bed, plane):
        path = routes(([0, 1], [0]))
        do(plane, "light", circuits((0, 1, 0)))
        do(plane, "route", path)
        do(plane, "enter", ([], path))
        with flooding(bed, (0, 1)):
            time.sleep(0.5)
        read = standing(lambda: passed(bed, 0, 4, "eth0"))
        totals = plane.totals()
        # One frame more than the host's: the frame with which the switch opened the socket.
        assert passed(bed, 0, 4, "uplink") == read + 1
    assert read > 1000
    assert (totals["switch_drops"], totals["lost_frames"]) == (0, 0)


@live
@ovs
def test_packets_that_a_switch_does_not_send_are_lost_frames() -> None:
    """These are packets that the socket refuses because its buffer is full of frames in the queue
    of an uplink."""
    with hydra("thunsent") as (bed, plane):
        forwarding = plane.forwarding
        assert isinstance(forwarding, ServerForwarding)
        running = forwarding._switches._running
        assert packet_sockets.enlarge(running[len(running) // 2].pid, 1 << 14) == 2
        before = passed(bed, 0, 4, "uplink") - passed(bed, 0, 4, "eth0")
        with flooding(bed, (0, 1)):
            time.sleep(0.5)
        lost = standing(lambda: plane.totals()["switch_drops"])
        assert lost > 100
        assert passed(bed, 0, 4, "eth0") - passed(bed, 0, 4, "uplink") == lost - before


@live
@ovs
def test_packets_that_a_switch_does_not_read_in_time_are_lost_frames() -> None:
    """Packets from the link of a stopped switch, then those from its host, whose device usually
    holds 20,000 frames, which a busy machine takes long to send."""
    with hydra("thdrops") as (bed, plane):

        def lost() -> int:
            return int(plane.totals()["lost_frames"])

        assert standing(lost) == 0
        kept = passed(bed, 1, 1, "uplink") - passed(bed, 1, 1, "eth0")
        for host in (1, 0):
            own = bed.setup.layout.namespace(bed.setup.layout.hosts[host])
            shell.call(["ip", "-n", own, "link", "set", "eth0", "txqueuelen", "1000"])
            before, until = standing(lost), time.monotonic() + 25
            with stopped(plane, host), flooding(bed, (0, 1)):
                while lost() <= before + 100 and time.monotonic() < until:
                    time.sleep(0.1)
            assert standing(lost) > before + 100
        # No frame that was read is counted twice: the other frames from the link were delivered.
        received, delivered, dropped = standing(
            lambda: (
                *(passed(bed, 1, 1, device) for device in ("uplink", "eth0")),
                socket_drops(shell.call(inside(bed.setup, 1, "ss", "-0", "-n", "-m"))),
            )
        )
        assert received - delivered - kept == dropped


@live
@ovs
@pytest.mark.parametrize(
    "cycles", [10, pytest.param(100, marks=pytest.mark.long)], ids=lambda cycles: f"{cycles}"
)
def test_cycles_with_open_vswitch_leave_nothing(cycles: int) -> None:
    before = left("thcycle")
    for _ in range(cycles):
        with hydra("thcycle") as (bed, _):
            processes = [
                pid for space in namespaces.existing("thcycle") for pid in namespaces.pids(space)
            ]
            assert len(processes) == 2 * len(bed.setup.layout.hosts)
            folder = bed.folder
        assert [pid for pid in processes if runs(pid)] == []
        assert not folder.exists()
    assert left("thcycle") == before


def darkened(log: str) -> list[list[int]]:
    """Returns the circuits that the controller has requested to go dark."""
    actions = [json.loads(line).get("action") for line in log.splitlines()]
    asked = [one["dark"] for one in actions if isinstance(one, dict) and "dark" in one]
    return [circuit for _, circuits in asked for circuit in circuits["circuits"]]


@live
@ovs
def test_a_switch_that_does_not_answer_fails_the_drain_and_nothing_goes_dark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The controller receives the failure and requests no change until the switch answers."""
    with hydra("thsilent", interval="200 ms", threshold="0 B", planes=1, hops=1) as (bed, plane):
        demand = [[0, 1, 9_000_000]]
        monkeypatch.setattr(plane, "report_demand", lambda: demand)

        def step(until: Callable[[], bool]) -> None:
            end = time.monotonic() + 15
            while not until() and time.monotonic() < end:
                bed.host.step(time.monotonic() + 0.01)
            assert until(), bed.host.log()[-1500:]

        bed.host.begin()
        step(lambda: '"done"' in bed.host.log().partition('"enter"')[2])
        assert [row[:3] for row in plane.history] == [(0, 1, 0)]
        with stopped(plane, 0), monkeypatch.context() as impatient:
            impatient.setattr(module, "ANSWER_S", 0.3)
            demand[0] = [0, 2, 9_000_000]
            step(lambda: "no barrier reply in time" in bed.host.log())
            assert darkened(bed.host.log()) == []
            assert [row[4] for row in plane.history] == [None]
        step(lambda: len(plane.history) == 2)
        assert [row[:3] for row in plane.history] == [(0, 1, 0), (0, 2, 0)]
        log = bed.host.log()
    assert darkened(log) == [[0, 1, 0]]


def written(path: File) -> File:
    application = '[[testbed.application]]\nkind = "command"\ncommand = "sleep 30"\n'
    keys = "\n".join(f"{key} = {json.dumps(value)}" for key, value in HYDRA.items())
    cluster = '[cluster]\nracks = 4\nservers_per_rack = 1\nserver_rate = "200 Mb/s"\n'
    workload = '[workload]\npattern = "permutation"\nload = 0.1\nsizes = "web-search"\nflows = 10\n'
    path.write_text(f"{cluster}\n{workload}\n[[fabric]]\n{keys}\n\n[testbed]\n{application}")
    return path


def everything(name: str) -> tuple[list[str], list[File]]:
    return namespaces.existing(name), folders.existing(name)


@contextmanager
def started(folder: File, name: str) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Starts a command that runs a testbed; returns it with the processes in its namespaces."""
    file = written(folder / f"{name}.toml")
    line = [sys.executable, "-m", "lightloom", "testbed", "run", str(file), "-o", str(folder / "o")]
    command = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until, busy = time.monotonic() + 30, list[int]()
    # Two processes of Open vSwitch on each host, and the application.
    while len(busy) < 9 and time.monotonic() < until:
        busy = [pid for space in namespaces.existing(name) for pid in namespaces.pids(space)]
        time.sleep(0.1)
    assert len(busy) >= 9, command.poll()
    try:
        yield command, busy
    finally:
        if command.poll() is None:
            command.kill()
        command.communicate(timeout=20)


def await_clean(name: str, busy: list[int]) -> None:
    until = time.monotonic() + 20
    while everything(name) != ([], []) and time.monotonic() < until:
        time.sleep(0.1)
    assert everything(name) == ([], [])
    assert [pid for pid in busy if runs(pid)] == []


@live
@ovs
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_whatever_ends_the_command_no_switch_is_left(tmp_path: File, end: int) -> None:
    with started(tmp_path, "thkill") as (command, busy):
        command.send_signal(end)
        command.communicate(timeout=20)
        await_clean("thkill", busy)


@live
@ovs
def test_a_switch_that_is_killed_ends_the_run_and_nothing_is_left(tmp_path: File) -> None:
    with started(tmp_path, "thswitch") as (command, busy):
        comm = {p: File(f"/proc/{p}/comm").read_text().strip() for p in busy if runs(p)}
        victim = next(pid for pid, name in comm.items() if name == "ovs-vswitchd")
        os.kill(victim, signal.SIGKILL)
        _, errors = command.communicate(timeout=20)
        assert command.returncode == 1
        assert "data plane has ended" in errors
        await_clean("thswitch", busy)


@live
@ovs
def test_down_removes_switches_and_files_if_the_guardian_was_killed_as_well(tmp_path: File) -> None:
    with started(tmp_path, "thdown") as (command, busy):
        guardians = subprocess.run(
            ["pgrep", "-f", "lightloom.testbed.guardian thdown "],
            capture_output=True,
            text=True,
            check=True,
        )
        for pid in map(int, guardians.stdout.split()):
            os.kill(pid, signal.SIGKILL)
        command.kill()
        command.communicate(timeout=20)
        assert everything("thdown")[1]
        line = [sys.executable, "-m", "lightloom", "testbed", "down", "thdown"]
        subprocess.run(line, check=True, capture_output=True, timeout=30)
        await_clean("thdown", busy)
