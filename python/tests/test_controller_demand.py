"""Sources of the controller's demand: interface counters over gNMI, and files of flow records.

Known counters and records give a known matrix.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from controller_support import PORTS, Lab
from gnmi_support import TopOfRack, racks

from lightloom.controller.config import config_of
from lightloom.controller.counters import Counters
from lightloom.controller.demand import Collector
from lightloom.controller.matrices import Seen, checked
from lightloom.controller.racks import Racks
from lightloom.controller.smoothing import Smoothing
from lightloom.errors import ConfigError

CTHROUGH = {"kind": "cthrough", "unrequested": "alone"}
UPLINKS = ("Ethernet0", "Ethernet4")
NAMES = "abcd"
ACTIVE = "src,dst,bytes\na,b,5\n"
Matrix = Sequence[Sequence[int]]


class Pod:
    """Four racks, each with a switch with two uplinks, and a reader of their counters."""

    def __init__(self, folder: Path, **keys: Any) -> None:
        (folder / "ports.csv").write_text(PORTS)
        self.racks = Racks(folder / "ports.csv")
        self.tors = [TopOfRack(*UPLINKS) for _ in NAMES]
        lines = [
            f"{name},{tor.url},{uplink}\n"
            for name, tor in zip(NAMES, self.tors, strict=True)
            for uplink in UPLINKS
        ]
        (folder / "tors.csv").write_text("rack,target,interface\n" + "".join(lines))
        self.keys = {"interfaces": "tors.csv", "timeout": "2 s", **keys}
        table = {
            "switch": [{"name": "east", "url": "scpi://x", "ports": "ports.csv"}],
            "demand": {"counters": self.keys},
            "interval": "10 s",
        }
        config = config_of(table, folder)
        assert config.demand.counters is not None
        self.counters = Counters(config.demand.counters, config.interval)

    def carry(self, matrix: Matrix) -> None:
        """Adds traffic between racks, alternately over the two uplinks."""
        for a, row in enumerate(matrix):
            for b, size in enumerate(row):
                self.tors[a].sends(UPLINKS[b % 2], size)
                self.tors[b].receives(UPLINKS[a % 2], size)

    def latest(self, now: float) -> Seen | None:
        return self.counters.latest(self.racks, now)


#: Traffic that the sums of rows and columns determine within its family: two racks, equal entries,
#: and products u(i) · v(j) between different racks.
U, V = (7_000, 1_000, 3_000, 2_000), (11, 5, 2, 9)
KNOWN = {
    "two racks": [[0, 4_000, 0, 0], [9_000, 0, 0, 0], [0] * 4, [0] * 4],
    "all alike": [[0 if a == b else 5_000 for b in range(4)] for a in range(4)],
    "products": [[0 if a == b else U[a] * V[b] for b in range(4)] for a in range(4)],
}


@pytest.mark.parametrize("style", ["text", "nested", "leaves"])
@pytest.mark.parametrize("traffic", KNOWN)
def test_known_counters_have_a_known_matrix(tmp_path: Path, traffic: str, style: str) -> None:
    pod = Pod(tmp_path)
    for tor in pod.tors:
        tor.style = style
        tor.receives("Ethernet0", 10**18)  # from before
    with racks(*pod.tors):
        assert pod.latest(100.0) is None
        pod.carry(KNOWN[traffic])
        seen = pod.latest(110.0)
    assert seen is not None
    assert (seen.at, seen.source) == (110.0, "gNMI counters")
    assert np.abs(np.array(seen.matrix) - np.array(KNOWN[traffic])).max() <= 1


def test_sums_are_kept_where_the_matrix_is_an_estimate(tmp_path: Path) -> None:
    """For other traffic, the sums of each rack equal the counted ones."""
    true = np.array([[0, 900, 10, 40], [30, 0, 500, 80], [200, 60, 0, 70], [5, 400, 300, 0]])
    pod = Pod(tmp_path)
    with racks(*pod.tors):
        pod.latest(0.0)
        pod.carry(true.tolist())
        seen = pod.latest(10.0)
    assert seen is not None
    found = np.array(seen.matrix)
    assert np.diag(found).tolist() == [0] * 4
    assert np.abs(found.sum(axis=0) - true.sum(axis=0)).max() <= 2
    assert np.abs(found.sum(axis=1) - true.sum(axis=1)).max() <= 2


def test_the_span_is_what_counts(tmp_path: Path) -> None:
    """With readings every 10 s and a span of 30 s, traffic counts in exactly three readings."""
    pod = Pod(tmp_path, span="30 s")
    totals = []
    with racks(*pod.tors):
        pod.latest(0.0)
        pod.carry(KNOWN["two racks"])
        for now in (10.0, 20.0, 30.0, 40.0):
            seen = pod.latest(now)
            assert seen is not None
            totals.append(sum(map(sum, seen.matrix)))
    assert totals == [13_000, 13_000, 13_000, 0]


def test_a_long_time_between_readings_is_scaled_to_the_span(tmp_path: Path) -> None:
    """A rate of 1,300 B/s: after the start, the demand is that of the time since then; after an
    outage of an hour, it is first the mean of the outage, then that of the time since its end."""
    pod = Pod(tmp_path, span="30 s")
    found = []
    with racks(*pod.tors):
        pod.latest(0.0)
        before = 0.0
        for now in (10.0, 20.0, 30.0, 40.0, 3_640.0, 3_650.0, 3_660.0, 3_670.0, 3_680.0):
            pod.carry([[0, round(1_300 * (now - before)), 0, 0], *[[0] * 4] * 3])
            before, seen = now, pod.latest(now)
            assert seen is not None
            found.append((seen.span_s, sum(map(sum, seen.matrix))))
    whole = (30.0, 39_000)
    rising = [(10.0, 13_000), (20.0, 26_000), whole]
    assert found == [*rising, whole, whole, *rising, whole]


def test_late_readings_never_leave_it_without_demand(tmp_path: Path) -> None:
    """Readings that are further apart than span and interval give their mean."""
    pod = Pod(tmp_path, span="2 s")
    with racks(*pod.tors):
        pod.latest(0.0)
        for now in (50.0, 100.0, 150.0):
            pod.carry([[0, 5_000, 0, 0], *[[0] * 4] * 3])
            seen = pod.latest(now)
            assert seen is not None
            assert (seen.span_s, sum(map(sum, seen.matrix))) == (2.0, 200)


def test_a_counter_that_begins_again_counts_from_zero(tmp_path: Path) -> None:
    """After a reboot of a switch its counters restart, and their new values are counted."""
    pod = Pod(tmp_path)
    pod.carry(KNOWN["products"])
    with racks(*pod.tors):
        pod.latest(0.0)
        for tor in pod.tors:
            for octets in tor.octets.values():
                octets.update({"in-octets": 0, "out-octets": 0})
        pod.carry(KNOWN["two racks"])
        seen = pod.latest(10.0)
    assert seen is not None
    assert seen.matrix == KNOWN["two racks"]


def test_counters_are_read_once_for_all_switches(tmp_path: Path) -> None:
    pod = Pod(tmp_path)
    with racks(*pod.tors):
        pod.latest(0.0)
        pod.carry(KNOWN["two racks"])
        for late in (0.0, 0.1, 4.9):
            seen = pod.latest(10.0 + late)
            assert seen is not None
            assert seen.matrix == KNOWN["two racks"]
        assert [tor.gets for tor in pod.tors] == [4] * 4


def test_a_switch_without_an_answer_is_named_and_asked_once(tmp_path: Path) -> None:
    pod = Pod(tmp_path)
    pod.tors[3].start().stop()
    with racks(*pod.tors[:3]):
        for now in (0.0, 0.1):
            port = pod.tors[3].port
            with pytest.raises(ConfigError, match=f"gnmi://127.0.0.1:{port}: no connection"):
                pod.latest(now)
        assert [tor.gets for tor in pod.tors[:3]] == [2] * 3


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda tor: tor.octets.pop("Ethernet4"), "Ethernet4: in-octets = (missing)"),
        (lambda tor: tor.octets["Ethernet0"].update({"out-octets": -1}), "out-octets = -1"),
        (lambda tor: tor.octets["Ethernet0"].update({"in-octets": "many"}), "in-octets = many"),
        (lambda tor: tor.octets["Ethernet0"].update({"in-octets": 2**64}), "in-octets = 1844"),
        (lambda tor: setattr(tor, "password", "secret"), "refused the login"),
    ],
)
def test_counters_that_are_none_are_named(tmp_path: Path, spoil: Any, said: str) -> None:
    pod = Pod(tmp_path)
    spoil(pod.tors[2])
    with racks(*pod.tors), pytest.raises(ConfigError) as problem:
        pod.latest(0.0)
    assert f"demand.counters: gnmi://127.0.0.1:{pod.tors[2].port}" in str(problem.value)
    assert said in str(problem.value)


def test_credentials_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "login").write_text("reader\nsecret\n")
    pod = Pod(tmp_path, credentials="login")
    for tor in pod.tors:
        tor.password = "secret"
    with racks(*pod.tors):
        assert pod.latest(0.0) is None


def test_one_direction_alone_is_refused(tmp_path: Path) -> None:
    pod = Pod(tmp_path)
    with racks(*pod.tors):
        pod.latest(0.0)
        pod.tors[0].sends("Ethernet0", 1_000)
        with pytest.raises(ConfigError, match="nothing was received"):
            pod.latest(10.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "tors.csv"),
        ("rack,target\na,gnmi://x\n", "no column interface"),
        ("rack,target,interface\na,gnmi://x,\n", "tors.csv:2: no interface"),
        ("rack,target,interface\na,gnmi://x\n", "tors.csv:2: no interface"),
        ("rack,target,interface\na,http://x,e0\n", "tors.csv:2: target = http://x"),
        ("rack,target,interface\na,scpi://x,e0\n", "over gNMI"),
        ("rack,target,interface\na,gnmi://x,e0\nb,gnmi://x,e0\n", "tors.csv:3: gnmi://x e0 is"),
        ("rack,target,interface\na,gnmi://x,e0\n", "fewer than two racks"),
        ("rack,target,interface\na,gnmi://x,e0\nb,gnmi://y,e0\n", "no interface of rack c"),
    ],
)
def test_a_table_of_interfaces_that_is_none_is_refused(
    tmp_path: Path, text: str, said: str
) -> None:
    Lab(tmp_path)
    (tmp_path / "tors.csv").write_text(text)
    with pytest.raises(ConfigError) as problem:
        Lab(tmp_path, demand={"counters": {"interfaces": "tors.csv"}})
    assert said in str(problem.value)
    assert "tors.csv" in str(problem.value)


def test_a_policy_follows_the_counters(tmp_path: Path) -> None:
    """The whole loop: with traffic between a and c, and b and d, the controller lights these
    circuits."""
    pod = Pod(tmp_path)
    lab = Lab(tmp_path, policy=CTHROUGH, mode="act", demand={"counters": pod.keys})
    with racks(*pod.tors):
        lab.controller.cycle()
        assert lab.controller.switches["east"].held_back == "there is no recent demand"
        pod.carry([[0, 0, 9**7, 0], [0, 0, 0, 9**5], [9**7, 0, 0, 0], [0, 9**5, 0, 0]])
        lab.now += 1
        lab.controller.cycle()
    assert lab.lit() == [(1, 3), (2, 4), (3, 1), (4, 2)]
    lab.now += 1
    lab.controller.cycle()
    assert "no connection" in (lab.controller.switches["east"].held_back or "")
    assert lab.lit() == [(1, 3), (2, 4), (3, 1), (4, 2)]


HOSTS = "prefix,rack\n10.0.1.0/24,a\n10.0.2.0/24,b\n10.0.3.0/24,c\n10.0.4.7,d\n"
#: Source, destination, bytes; the host of the last flow is not in the map.
FLOWS = [
    ("10.0.1.5", "10.0.3.9", 6_000_000),
    ("10.0.1.6", "10.0.3.9", 3_000_000),
    ("10.0.3.9", "10.0.1.5", 1_000),
    ("10.0.2.1", "10.0.4.7", 5_000_000),
    ("10.0.2.1", "10.0.2.2", 70_000_000),
    ("10.0.1.5", "192.0.2.1", 1_000_000),
]
BETWEEN = [[0, 0, 9_000_000, 0], [0, 0, 0, 5_000_000], [1_000, 0, 0, 0], [0, 0, 0, 0]]


def nfdump(flows: Sequence[tuple[str, str, int]]) -> str:
    """Returns flows in the format in which `nfdump -o csv` prints NetFlow."""
    rows = [f"2027-01-15 08:00:00,1.0,TCP,{a},443,{b},50000,10,{n}" for a, b, n in flows]
    head = "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes"
    return "\n".join([head, *rows]) + "\n"


def sflowtool(flows: Sequence[tuple[str, str, int]]) -> str:
    """Returns flows in the format in which `sflowtool -l` prints sFlow: sampled packets of 1,000
    bytes."""
    rows = [
        f"FLOW,10.0.0.1,1,2,00:00:00:00:00:01,00:00:00:00:00:02,0x0800,0,0,{a},{b},6,0,64,"
        f"443,50000,0x18,1000,986,{n // 1000}"
        for a, b, n in flows
    ]
    return "\n".join(["CNTR,10.0.0.1,1,6,10000000000", *rows]) + "\n"


def flowing(folder: Path, name: str, text: str, at: float, **keys: Any) -> Collector:
    (folder / "ports.csv").write_text(PORTS)
    (folder / "hosts.csv").write_text(HOSTS)
    (folder / "flows").mkdir(exist_ok=True)
    (folder / "flows" / name).write_text(text)
    os.utime(folder / "flows" / name, (at, at))
    table = {
        "switch": [{"name": "east", "url": "scpi://x", "ports": "ports.csv"}],
        "demand": {"folder": "flows", "hosts": "hosts.csv", **keys},
    }
    config = config_of(table, folder)
    made = Collector(config.demand, config.interval)
    made.check(Racks(folder / "ports.csv"))
    return made


@pytest.mark.parametrize(("tool", "ending"), [(nfdump, "csv"), (sflowtool, "txt")])
@pytest.mark.parametrize("named", [True, False])
def test_flow_records_have_the_matrix_of_their_sums(
    tmp_path: Path, tool: Any, ending: str, named: bool
) -> None:
    keys = {"format": tool.__name__} if named else {}
    collector = flowing(tmp_path, f"one.{ending}", tool(FLOWS), 1_000.0, **keys)
    seen = collector.latest("east", Racks(tmp_path / "ports.csv"), 1_001.0)
    assert seen is not None
    assert (seen.matrix, seen.at) == (BETWEEN, 1_000.0)
    assert seen.source.startswith(f"one.{ending}, without 1.18 % ")


def test_the_newest_file_of_flows_counts_and_is_read_again_when_it_changes(tmp_path: Path) -> None:
    collector = flowing(tmp_path, "1.csv", nfdump(FLOWS[:1]), 1_000.0)
    ports = Racks(tmp_path / "ports.csv")

    def total() -> int:
        seen = collector.latest("east", ports, 2_000.0)
        assert seen is not None
        return sum(map(sum, seen.matrix))

    assert total() == 6_000_000
    flowing(tmp_path, "2.csv", nfdump(FLOWS[1:2]), 1_010.0)
    flowing(tmp_path, "3.part", "half a file", 1_020.0)
    assert total() == 3_000_000
    flowing(tmp_path, "2.csv", nfdump(FLOWS[:2]), 1_010.0)
    assert total() == 9_000_000


def test_a_folder_that_is_not_there_is_refused_and_named_when_it_goes(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as problem:
        Lab(tmp_path, demand={"folder": "dmeand"})
    assert problem.value.key == "demand.folder"
    lab = Lab(tmp_path, policy={"kind": "cthrough"}, mode="act")
    (tmp_path / "demand").rename(tmp_path / "gone")
    lab.controller.cycle()
    assert (lab.controller.switches["east"].held_back or "").startswith("demand.folder = ")
    (tmp_path / "gone").rename(tmp_path / "demand")
    lab.controller.cycle()
    assert lab.controller.switches["east"].held_back == "there is no recent demand"


def test_racks_of_a_matrix_that_no_port_map_has_are_counted_and_said_once(tmp_path: Path) -> None:
    """The racks of the other switch are in its port map and are not counted."""
    (tmp_path / "west.csv").write_text("rack,A port,B port\nwest-1,1,1\nwest-2,2,2\n")
    names = ["a", "b", "west-1", "x", "y"]
    rows = [[name, *("5" if name != other else "0" for other in names)] for name in names]
    text = "\n".join(",".join(row) for row in [["", *names], *rows])
    collector = flowing(tmp_path, "1.csv", text, 1_000.0, hosts=None)
    collector.check(Racks(tmp_path / "west.csv"))
    said: list[str] = []
    collector.unmapped.say = said.append
    for map_file in ("ports.csv", "west.csv", "ports.csv"):
        seen = collector.latest("east", Racks(tmp_path / map_file), 1_001.0)
        assert seen is not None
        assert seen.source.startswith("1.csv, without 2 racks ")
        assert seen.source.endswith(": x, y")
    (line,) = said
    assert line.startswith("demand without 2 racks")
    assert line.endswith(": x, y")


@pytest.mark.parametrize(
    ("name", "text", "keys", "said"),
    [
        ("x.csv", nfdump(FLOWS).replace("3000000", "lots"), {}, "x.csv:3"),
        ("x.csv", nfdump(FLOWS)[:-30], {}, "x.csv:7"),
        ("x.txt", sflowtool(FLOWS).replace(",64,443", ",443"), {"format": "sflowtool"}, "x.txt:2"),
        ("x.csv", nfdump([("192.0.2.1", "192.0.2.2", 9)]), {}, "names none of its 2 hosts"),
        ("x.csv", nfdump(FLOWS), {"hosts": None}, "and none of the racks in"),
        ("x.csv", nfdump(FLOWS), {"hosts": "nowhere.csv"}, "nowhere.csv: No such file"),
        ("x.csv", nfdump(FLOWS), {"columns": "src=from"}, "from"),
        ("x.csv", "", {}, "x.csv"),
    ],
)
def test_flows_that_are_none_are_named(
    tmp_path: Path, name: str, text: str, keys: Any, said: str
) -> None:
    collector = flowing(tmp_path, name, text, 1_000.0, **keys)
    with pytest.raises(ConfigError) as problem:
        collector.latest("east", Racks(tmp_path / "ports.csv"), 1_001.0)
    assert said in str(problem.value)


@pytest.mark.parametrize(
    ("demand", "key"),
    [
        ({"folder": "x", "prometheus": {"url": "http://x", "query": "y"}}, "demand.prometheus"),
        ({"folder": "x", "counters": {"interfaces": "x.csv"}}, "demand.counters"),
        ({"counters": {"interfaces": "x.csv", "span": "long"}}, "demand.counters.span"),
        ({"counters": {"interfaces": "x.csv", "timeout": "0 s"}}, "demand.counters.timeout"),
        ({"counters": {}}, "demand.counters.interfaces"),
        ({"counters": {"interfaces": "x.csv", "spam": "1 s"}}, "demand.counters.spam"),
        ({"hosts": "hosts.csv"}, "demand.hosts"),
        ({"folder": "x", "format": "pcap"}, "demand.format"),
        ({"folder": "x", "unit": "furlongs"}, "demand.unit"),
        ({"folder": "x", "columns": "from"}, "demand.columns"),
    ],
)
def test_keys_of_demand_that_cannot_be_are_refused(demand: Any, key: str) -> None:
    table = {"switch": [{"name": "x", "url": "scpi://a", "ports": "p.csv"}], "demand": demand}
    with pytest.raises(ConfigError) as problem:
        config_of(table)
    assert key in (problem.value.key or "")


def test_a_client_may_send_demand_beside_counters(tmp_path: Path) -> None:
    """The newer demand is used."""
    pod = Pod(tmp_path)
    lab = Lab(tmp_path, demand={"counters": pod.keys})
    collector, ports = lab.controller.collector, pod.racks
    sent = [[0, 1, 0, 0]] + [[0] * 4] * 3
    with racks(*pod.tors):
        collector.latest("east", ports, 0.0)
        collector.send("east", sent, 5.0, "ann")
        pod.carry(KNOWN["two racks"])
        first = collector.latest("east", ports, 0.2)
        assert first is not None
        assert first.source == "ann"
        later = collector.latest("east", ports, 10.0)
        assert later is not None
        assert later.matrix == KNOWN["two racks"]


def test_smoothed_demand_is_the_exponential_average() -> None:
    """The average is d0, then d0 + s (d1 - d0); a demand that is read twice counts once."""
    smoothing = Smoothing(0.25)
    first, second = Seen([[0, 100], [8, 0]], 1.0, "x"), Seen([[0, 20], [0, 0]], 2.0, "x")
    assert smoothing.of("east", first).matrix == first.matrix
    for _ in range(2):
        assert smoothing.of("east", second).matrix == [[0, 80], [6, 0]]
    assert smoothing.of("west", second).matrix == second.matrix
    assert Smoothing(1.0).of("east", second) is second


@pytest.mark.parametrize("share", [0, -0.5, 1.5])
def test_a_share_outside_0_to_1_is_refused(tmp_path: Path, share: float) -> None:
    with pytest.raises(ConfigError) as problem:
        Lab(tmp_path, demand={"smoothing": share})
    assert problem.value.key == "demand.smoothing"


@pytest.mark.parametrize("text", ["0,0\n0,0\n", "src,dst,bytes\na,b,0\n", "src,dst,bytes\na,a,0\n"])
def test_a_file_without_traffic_is_a_demand_of_zeros(tmp_path: Path, text: str) -> None:
    """The file is that of an idle network: its demand is zero, and the policy decides."""
    lab = Lab(tmp_path, policy="cthrough")
    file = tmp_path / "demand" / "1.csv"
    for content, carried in ((ACTIVE, 1.0), (text, 0.0)):
        file.write_text(content, encoding="utf-8")
        os.utime(file, (lab.now, lab.now))
        lab.now += 1.0
        lab.controller.cycle()
        one = lab.controller.switches["east"]
        assert one.held_back == 'mode = "advise"'
        assert one.share([(1, 2), (2, 1)]) == carried
    assert one.demand is not None
    assert one.demand.matrix == [[0] * 4 for _ in range(4)]


def test_a_file_of_the_future_is_refused(tmp_path: Path) -> None:
    """Such a file would hide all files that are written until its time."""
    now = 1_000_000.0
    collector = flowing(tmp_path, "1.csv", nfdump(FLOWS), now + 30)
    ports = Racks(tmp_path / "ports.csv")
    assert collector.latest("east", ports, now) is not None
    flowing(tmp_path, "2.csv", nfdump(FLOWS), now + 3600)
    with pytest.raises(ConfigError, match=r"2\.csv: .* 3600 s in"):
        collector.latest("east", ports, now)


@pytest.mark.parametrize(
    ("matrix", "key"),
    [
        ([[0, 5, 0, 0], [0, 0, 0], [0] * 4, [0] * 4], "matrix[1]"),
        ([[0] * 4] * 3, "matrix"),
        ([[0, 2**62, 2**62, 0], [0] * 4, [0] * 4, [0] * 4], "matrix"),
        ([[0, -1, 0, 0], [0] * 4, [0] * 4, [0] * 4], "matrix[0][1]"),
    ],
)
def test_a_matrix_that_is_none_is_named(tmp_path: Path, matrix: Any, key: str) -> None:
    (tmp_path / "ports.csv").write_text(PORTS)
    with pytest.raises(ConfigError) as problem:
        checked(matrix, Racks(tmp_path / "ports.csv"), "matrix")
    assert problem.value.key == key


def test_entries_are_rounded_and_those_to_oneself_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "ports.csv").write_text(PORTS)
    rows = [[7, 1.6, 0, 0], [2.4, 7, 0, 0], [0] * 4, [0] * 4]
    made = checked(rows, Racks(tmp_path / "ports.csv"), "matrix")
    assert made == [[0, 2, 0, 0], [2, 0, 0, 0], [0] * 4, [0] * 4]
