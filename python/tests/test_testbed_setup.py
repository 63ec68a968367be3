"""The testbed before anything is built: its errors, and the tables of its planes."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from cli_support import ROOT
from hypothesis import given
from hypothesis import strategies as st

import lightloom
from lightloom import _core
from lightloom.analysis.notes import of_workload
from lightloom.cli.testbed_text import lines, verdict
from lightloom.config.fabrics import registry
from lightloom.errors import ConfigError
from lightloom.testbed import applications, shell
from lightloom.testbed.agreement import _why
from lightloom.testbed.applications import check_programs
from lightloom.testbed.emulation import emulations
from lightloom.testbed.forwarding import next_hops
from lightloom.testbed.host import RealTimeHost
from lightloom.testbed.idealised import not_emulated
from lightloom.testbed.kernel import KernelPlane, outputs
from lightloom.testbed.layout import Layout
from lightloom.testbed.limits import Fidelity, judge_fidelity, percentile
from lightloom.testbed.matched import matched
from lightloom.testbed.measure import Samples
from lightloom.testbed.setup import Setup, cases, setup_of
from lightloom.testbed.user import UserPlane

NOWHERE = _core.TESTBED_NOWHERE


def table(fabric: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "cluster": {"racks": 4, "servers_per_rack": 1, "server_rate": "500 Mb/s", **more},
        "workload": {"pattern": "permutation", "load": 0.1, "sizes": "web-search", "flows": 10},
        "fabric": [fabric],
    }


def setup(raw: dict[str, Any], name: str = "test") -> Setup:
    return setup_of(lightloom.load(raw), None, name)


MORDIA = {
    "kind": "mordia",
    "policy": "rotation",
    "slot": "330 us",
    "night": "30 us",
    "shortest_slot": "200 us",
}
CTHROUGH = {"kind": "cthrough", "interval": "100 ms", "circuit_rate": "500 Mb/s"}
HYDRA = {
    "kind": "hydra",
    "planes": 2,
    "circuit_rate": "200 Mb/s",
    "settle": "20 ms",
    "rule": "0 s",
    "retag": "0 s",
    "oversubscription": 10,
}
HYBRID = {
    "kind": "hybrid",
    "interval": "100 ms",
    "circuit_rate": "200 Mb/s",
    "settle": "20 ms",
    "oversubscription": 10,
}


def test_what_a_setup_takes_from_the_experiment() -> None:
    found = setup(table({**CTHROUGH, "oversubscription": 10}, servers_per_rack=2))
    assert (found.plane, found.layout.racks, len(found.layout.hosts)) == ("kernel", 4, 8)
    assert (found.host_bps, found.circuit_bps) == (500_000_000, 500_000_000)
    assert found.electrical_bps == 100_000_000
    assert found.dark_ps == 10_000_000_000
    assert setup(table(MORDIA)).plane == "user"


@pytest.mark.parametrize(
    ("fabric", "keys"),
    [
        (MORDIA, []),
        ({**MORDIA, "sync_jitter": "1 us", "late_sync_fraction": 0.01},
         ["sync_jitter", "late_sync_fraction"]),
        ({**MORDIA, "packet_rate": "50 Mb/s"}, ["packet_rate"]),
        ({**CTHROUGH, "oversubscription": 10}, []),
        ({**HYDRA, "retag": "5 ms", "pushing": "parallel"}, []),
        ({**HYDRA, "retag": "5 ms"}, ["pushing"]),
        ({**HYDRA, "retag": "5 ms", "rule": "1 us"}, ["rule", "pushing"]),
        (HYBRID, []),
        ({**HYBRID, "retag": "5 ms", "rule": "1 us"}, ["retag", "rule"]),
    ],
)  # fmt: skip
def test_keys_without_effect_are_named(fabric: dict[str, Any], keys: list[str]) -> None:
    assert [one.split(" ")[0] for one in not_emulated(setup(table(fabric)))] == keys


def test_retagging_is_not_emulated_if_rack_switches_look_all_packets_up() -> None:
    raw = table({**HYDRA, "retag": "5 ms"}) | {"testbed": {"forwarding": "racks"}}
    assert [one.split(" ")[0] for one in not_emulated(setup(raw))] == ["retag"]


@pytest.mark.parametrize(
    ("fabric", "forwarding", "servers"),
    [
        (CTHROUGH, {}, False),
        (MORDIA, {}, False),
        (HYDRA, {}, True),
        (HYDRA, {"forwarding": "racks"}, False),
        (HYDRA, {"forwarding": "servers"}, True),
    ],
)
def test_servers_have_rules_by_default_for_hydra(
    fabric: dict[str, Any], forwarding: dict[str, str], servers: bool
) -> None:
    assert setup(table(fabric) | {"testbed": forwarding}).has_server_rules is servers


def test_fabrics_state_how_a_testbed_emulates_them() -> None:
    found = {kind: (how.plane, how.server_rules) for kind, how in emulations().items()}
    assert found == {
        "cthrough": ("kernel", False),
        "hydra": ("kernel", True),
        "hybrid": ("kernel", False),
        "mordia": ("user", False),
    }
    keys = {kind: set(entry["schema"]["properties"]) for kind, entry in registry().items()}
    assert all(keys[kind].issuperset(how.dark) for kind, how in emulations().items())


def test_faults_without_effect_are_counted() -> None:
    raw = table({**CTHROUGH, "oversubscription": 10, "optical_weight": 0.5})
    raw["fault"] = [{"at": "1 s", "element": "controller", "repair_at": "2 s"}]
    assert not_emulated(setup(raw))[-1].startswith("fault: 1 ")


@pytest.mark.parametrize(
    ("raw", "key", "remedy"),
    [
        (table({"kind": "rotornet"}), "fabric.kind", "cthrough"),
        (
            table({**MORDIA, "slot": "100 us", "shortest_slot": "95 us"}),
            "fabric.slot",
            "testbed.time_scale = 2",
        ),
        (
            table({**CTHROUGH, "reconfiguration_delay": "1 ms"}),
            "fabric.reconfiguration_delay",
            "10",
        ),
        (
            table({**CTHROUGH, "reconfiguration_delay": "3 ms"}),
            "fabric.reconfiguration_delay",
            "testbed.time_scale = 4",
        ),
        # No time scale makes a time of zero long enough.
        (
            table({**CTHROUGH, "reconfiguration_delay": "0 s"}),
            "fabric.reconfiguration_delay",
            "raise it",
        ),
        (table({**MORDIA, "link_rate": "10 Gb/s"}), "fabric.link_rate", "lower"),
        (table(CTHROUGH) | {"testbed": {"sample": "0 s"}}, "testbed.sample", "raise"),
        (table(CTHROUGH, server_rate="10 Gb/s"), "cluster.nic", "lower"),
        (table(CTHROUGH, racks=40), "cluster.racks", "fewer"),
        (table(CTHROUGH, servers_per_rack=32), "cluster", "fewer"),
        (table(CTHROUGH) | {"testbed": {"scale": 2}}, "testbed.scale", "time_scale"),
        (
            table(CTHROUGH) | {"testbed": {"application": [{"kind": "iperf3", "to": 9}]}},
            "testbed.application[0].to",
            "exists",
        ),
        (
            table(CTHROUGH) | {"testbed": {"application": [{"kind": "iperf3", "to": 0}]}},
            "testbed.application[0].to",
            "another",
        ),
        (
            table(CTHROUGH) | {"testbed": {"application": [{"kind": "command"}]}},
            "testbed.application[0].command",
            "command",
        ),
        (
            table(CTHROUGH) | {"testbed": {"forwarding": "servers"}},
            "testbed.forwarding",
            "racks",
        ),
        (table(MORDIA) | {"testbed": {"forwarding": "racks"}}, "testbed.forwarding", "remove"),
    ],
)
def test_what_cannot_be_emulated_is_refused(raw: dict[str, Any], key: str, remedy: str) -> None:
    with pytest.raises(ConfigError) as problem:
        setup(raw)
    assert problem.value.key == key
    assert remedy in (problem.value.remedy or "")


@pytest.mark.parametrize(
    ("application", "key", "remedy"),
    [
        ({"kind": "iperf3", "duration": "1.5 s"}, "duration", "round"),
        ({"kind": "iperf3", "duration": "0 s"}, "duration", "write a time"),
        ({"kind": "memcached", "duration": "0 s"}, "duration", "write a time"),
        # Regression: the program was terminated after two minutes, and failed.
        ({"kind": "iperf3", "duration": "120 s"}, "duration", "raise"),
        ({"kind": "iperf3", "udp": "fast"}, "udp", "correct"),
        ({"kind": "iperf3", "limit": "0 s"}, "limit", "write a time"),
        ({"kind": "nbdcopy", "bytes": "0 B"}, "bytes", "write a size"),
        ({"kind": "command", "command": "echo 'a"}, "command", "close"),
        ({"kind": "command", "command": " "}, "command", "give"),
    ],
)
def test_an_application_that_cannot_run_is_refused(
    application: dict[str, Any], key: str, remedy: str
) -> None:
    raw = table(CTHROUGH) | {"testbed": {"application": [{"to": 1, **application}]}}
    with pytest.raises(ConfigError) as problem:
        setup(raw)
    assert problem.value.key == f"testbed.application[0].{key}"
    assert remedy in (problem.value.remedy or "")


@pytest.mark.parametrize("kind", ["command", "mpi", "dask"])
@pytest.mark.parametrize("command", ["/no/such/program x", "nosuchprogram x"])
def test_a_command_that_does_not_exist_is_refused_before_anything_is_built(
    kind: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "tool_path", lambda tool: tool)
    monkeypatch.setattr(applications, "find_spec", lambda name: True)
    raw = table(CTHROUGH) | {"testbed": {"application": [{"kind": kind, "command": command}]}}
    with pytest.raises(ConfigError) as problem:
        check_programs(setup(raw).table.application)
    assert problem.value.key == "testbed.application[0].command"


def test_options_of_mpirun_may_stand_before_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "tool_path", lambda tool: tool)
    application = {"kind": "mpi", "command": "--bind-to none ./a"}
    raw = table(CTHROUGH) | {"testbed": {"application": [application]}}
    check_programs(setup(raw).table.application)


@pytest.mark.parametrize("names", [("a", "a"), ("a b", "a-b"), ("", "iperf3-0")])
def test_two_applications_of_one_name_are_refused(names: tuple[str, str]) -> None:
    """Regression: the second application overwrote the output of the first."""
    both = [{"kind": "iperf3", "to": 1, "name": name} for name in names]
    with pytest.raises(ConfigError) as problem:
        setup(table(CTHROUGH) | {"testbed": {"application": both}})
    assert problem.value.key == "testbed.application[1].name"


@pytest.mark.parametrize(
    ("testbed", "message"),
    [
        ({"time_scal": 2}, 'testbed.time_scal = 2: no such key; did you mean "time_scale"?'),
        ({"zzz": 2}, "testbed.zzz = 2: no such key; known: time_scale, settle_after, sample, "),
        (
            {"application": [{"kind": "iperf3", "form": 1}]},
            'testbed.application[0].form = 1: no such key; did you mean "from"?',
        ),
        (
            {"case": [{"name": "a", "sets": []}]},
            'testbed.case[0].sets = []: no such key; did you mean "set"?',
        ),
        ({"time_scale": 0.5}, "testbed.time_scale = 0.5: "),
        (7, "testbed = 7: not a table; write [testbed] above its keys"),
    ],
)
def test_a_simulation_refuses_slips_in_the_table_too(testbed: Any, message: str) -> None:
    """Regression: only the testbed read the table, so `run` and `compare` ignored a misspelt
    key."""
    raw = table(CTHROUGH) | {"testbed": testbed}
    with pytest.raises(ConfigError) as problem:
        lightloom.config.experiment.load(raw).resolved()
    assert str(problem.value).startswith(message)


def test_loading_refuses_an_unknown_key_of_the_table() -> None:
    with pytest.raises(ConfigError, match='did you mean "capture"'):
        lightloom.load(table(CTHROUGH) | {"testbed": {"captur": "128 B"}})


def test_longer_times_make_short_days_possible() -> None:
    raw = table({**MORDIA, "slot": "100 us", "shortest_slot": "95 us"}) | {
        "testbed": {"time_scale": 2}
    }
    assert setup(raw).table.time_scale == 2


@pytest.mark.parametrize("name", ["../x", "a-b", "..", "x" * 33, "a/b", "a b"])
def test_a_name_that_could_be_a_path_or_another_testbeds_is_refused(name: str) -> None:
    """The name is part of the names of namespaces, and of the folder that `down` removes."""
    with pytest.raises(ConfigError) as problem:
        setup(table(CTHROUGH), name)
    assert problem.value.key == "--name"


def test_a_file_with_the_table_is_simulated_all_the_same() -> None:
    raw = table(CTHROUGH) | {"testbed": {"time_scale": 2}}
    assert lightloom.run(raw).flows.num_rows == 10


@pytest.mark.parametrize("name", ["cthrough", "mordia", "hydra"])
def test_the_examples_can_be_emulated(name: str) -> None:
    experiment = lightloom.load(ROOT / "examples" / f"testbed-{name}.toml")
    for case in cases(experiment).values():
        assert setup_of(case).table.application


def test_addresses_are_one_for_each_host() -> None:
    hosts = Layout("x", 16, 4, 1, True).hosts
    assert len({host.mac for host in hosts}) == len({host.address for host in hosts}) == 64
    assert (hosts[5].mac, hosts[5].address) == ("02:4c:00:01:00:01", "10.0.1.2")


@given(
    racks=st.integers(2, 8),
    planes=st.integers(1, 3),
    electrical=st.booleans(),
    data=st.data(),
)
def test_packets_follow_the_routes(racks: int, planes: int, electrical: bool, data: Any) -> None:
    """Hop by hop through both tables, a packet arrives by its route, or over the electrical
    network, or nowhere; it never reaches a dark input."""
    lit: list[tuple[int, int, int]] = []
    for plane in range(planes):
        free = data.draw(st.permutations(range(racks)))
        pairs = zip(free[::2], free[1::2], strict=False)
        kept = [tuple(sorted(pair)) for pair in pairs if data.draw(st.booleans())]
        lit += [(a, b, plane) for a, b in kept]
    joined: dict[int, list[tuple[int, int]]] = {rack: [] for rack in range(racks)}
    for a, b, plane in lit:
        joined[a].append((b, plane))
        joined[b].append((a, plane))
    routes = []
    for start in range(racks):
        path, ways = [start], []
        while len(path) < 4:
            onward = [hop for hop in joined[path[-1]] if hop[0] not in path]
            if not onward:
                break
            rack, plane = data.draw(st.sampled_from(onward))
            path.append(rack)
            ways.append(plane)
        if ways and data.draw(st.booleans()):
            routes.append({"racks": path, "planes": ways})
    layout = Layout("x", racks, 1, planes, electrical)
    leads = next_hops(routes, layout, directed=False)
    crosses = outputs(lit, False, racks, planes)
    ends = {tuple(sorted((route["racks"][0], route["racks"][-1]))) for route in routes}
    for src, dst in itertools.permutations(range(racks), 2):
        at, hops = src, 0
        while at != dst:
            lead = leads[(at * racks + src) * racks + dst]
            if lead in (0, NOWHERE):
                break
            at = crosses[(lead - 1) * racks + at]
            hops += 1
            assert at != NOWHERE
            assert hops <= 3
        if tuple(sorted((src, dst))) in ends:
            assert at == dst
            assert hops >= 1
        else:
            assert hops == 0
            assert lead == (0 if electrical else NOWHERE)


class FakePlane:
    """A plane that carries out actions at once, and checks that each port is in one circuit."""

    def __init__(self, waiting: list[list[int]]) -> None:
        self.waiting = waiting
        self.lit: set[tuple[int, ...]] = set()
        self.history: list[tuple[int, int, int, float, float | None]] = []
        self.kinds: list[str] = []

    def carry_out(self, kind: str, body: Any) -> Iterator[float]:
        if kind == "light":
            yield 0.01
        self.kinds.append(kind)
        if kind == "dark":
            self.lit -= {tuple(row) for row in body["circuits"]}
        if kind == "light":
            self.lit |= {tuple(row) for row in body["circuits"]}
        ports = [(rack, plane) for a, b, plane in self.lit for rack in (a, b)]
        assert len(ports) == len(set(ports))

    def report_demand(self) -> list[list[int]]:
        return self.waiting

    def read_counters(self) -> list[tuple[str, int]]:
        return []

    def totals(self) -> dict[str, Any]:
        return {}

    def is_alive(self) -> bool:
        return True

    def stop(self) -> None:
        pass


def test_the_log_of_a_live_controller_plays_again(tmp_path: Path) -> None:
    import time

    raw = table({**CTHROUGH, "interval": "60 ms", "report_queue": "0 B", "report_change": "0 B"})
    plane = FakePlane([[0, 2, 5_000_000], [1, 3, 4_000_000], [0, 1, 1_000_000]])
    host = RealTimeHost(setup(raw), plane)
    host.begin()
    until = time.monotonic() + 5
    while time.monotonic() < until and "enter" not in plane.kinds:
        host.step(time.monotonic() + 0.01)
    assert plane.lit == {(0, 2, 0), (1, 3, 0)}
    assert plane.kinds[:3] == ["dark", "light", "enter"]
    found = json.loads(_core.control_replay(host.log()))
    assert found["replay"]["parted"] is None
    assert found["header"]["host"] == "testbed: cthrough"


def test_a_live_controller_that_was_told_otherwise_parts() -> None:
    """The check above can fail: a log with other demand gives other actions."""
    plane = FakePlane([[0, 2, 5_000_000], [1, 3, 4_000_000]])
    raw = table({**CTHROUGH, "interval": "60 ms", "report_queue": "0 B", "report_change": "0 B"})
    host = RealTimeHost(setup(raw), plane)
    host.begin()
    while "enter" not in plane.kinds:
        host.step(host.began + 5)
    log = host.log().replace('"demand":[[0,2,5000000],[1,3,4000000]]', '"demand":[[0,1,9]]')
    assert json.loads(_core.control_replay(log))["replay"]["parted"] is not None


def test_what_a_circuit_was_worth() -> None:
    """100 Mb/s without a circuit and 900 Mb/s with it, without the time of the change, are a factor
    of nine."""

    class Run:
        setup = setup(table(CTHROUGH))
        began = 100.0
        circuits = ((0, 2, 0, 1.0, 2.0),)
        samples = Samples()
        applications: ClassVar[list[dict[str, Any]]] = []

    sizes = 0
    for step in range(41):
        now = 100.0 + step * 0.05
        Run.samples.times.append(now)
        Run.samples.columns.setdefault("host 2", []).append(sizes)
        sizes += int((900e6 if now >= 101.0 - 1e-9 else 100e6) / 8 * 0.05)
    one = {"from": 0, "to": 2, "begin_s": 0.0, "took_s": 2.0}
    # Traffic of another receiver does not count.
    Run.applications += [one, {"from": 1, "to": 3, "begin_s": 0.0, "took_s": 2.0}]
    found = matched(Run, one)  # type: ignore[arg-type]
    assert found["unmatched_bps"] == pytest.approx(100e6, rel=1e-3)
    assert found["matched_bps"] == pytest.approx(900e6, rel=1e-3)
    assert found["ratio"] == pytest.approx(9, rel=1e-3)
    # If another application sends to the same host, the bytes of the host include those of both.
    Run.applications.append({"from": 1, "to": 2, "begin_s": 0.0, "took_s": 1.05})
    found = matched(Run, one)  # type: ignore[arg-type]
    assert found["unmatched_bps"] is found["ratio"] is None
    assert found["matched_bps"] == pytest.approx(900e6, rel=1e-3)


@pytest.mark.parametrize(
    ("plane", "fabric", "kind"), [(KernelPlane, CTHROUGH, "follow"), (UserPlane, MORDIA, "light")]
)
def test_a_plane_refuses_what_it_cannot_carry_out(
    plane: type[KernelPlane] | type[UserPlane], fabric: dict[str, Any], kind: str
) -> None:
    """Regression: a schedule had no effect on the kernel plane, and was done according to the
    log."""
    one = object.__new__(plane)
    one._setup = setup(table(fabric))
    with pytest.raises(ConfigError) as problem:
        list(one.carry_out(kind, {}))
    assert problem.value.key == "fabric.policy"


@pytest.mark.parametrize(("fabric", "unmeasured"), [(CTHROUGH, True), (MORDIA, False)])
def test_a_difference_of_udp_is_not_explained_by_tcp(
    fabric: dict[str, Any], unmeasured: bool
) -> None:
    class Run:
        setup = setup(table(fabric))
        fidelity = Fidelity((), {}, load=0.0, processors=2)

    said = _why(-0.5, {"packets": 10, "packets_lost": 0}, Run)  # type: ignore[arg-type]
    assert "TCP" not in said
    assert ("demand" in said) is unmeasured
    assert "TCP" in _why(-0.5, {}, Run)  # type: ignore[arg-type]


def test_lateness_is_unknown_if_no_action_had_a_time() -> None:
    found = judge_fidelity(setup(table(CTHROUGH)), {}, [], [])
    assert found.within
    assert found.late_ms == {"p50": None, "p99": None, "max": None}
    found = judge_fidelity(setup(table(CTHROUGH)), {}, [0.02, 0.001], [])
    assert not found.within
    assert found.late_ms == pytest.approx({"p50": 1, "p99": 20, "max": 20})


def test_goodput_of_udp_is_what_arrived() -> None:
    """The sum of iperf3 counts sent bytes: 100 Mb/s over a link of 40 Mb/s."""
    whole = {"bytes": 37_489_200, "seconds": 3.0, "bits_per_second": 99_971_200.0}
    whole |= {"packets": 26_778, "lost_packets": 16_330}
    found = applications._of_iperf(json.dumps({"end": {"sum": whole}}), udp=True)
    assert found["bytes"] == (26_778 - 16_330) * 1400
    assert found["goodput_bps"] == pytest.approx(10_448 * 1400 * 8 / 3)
    assert (found["packets"], found["packets_lost"]) == (26_778, 16_330)


def test_a_failure_without_output_ends_with_its_code() -> None:
    one = {"name": "a", "from": 0, "to": None, "timed_out": False, "exit_code": 3, "said": " "}
    figures = {"fabric": "x", "matched_ratio": None, "beyond_limits": [], "not_emulated": []}
    figures |= {"applications": [one], "load": 1.0, "processors": 2, "seconds": 1.0}
    assert "  a (host 0): failed with 3" in lines(figures, Path("o"), "")
    one["said"] = "why"
    assert "  a (host 0): failed with 3: why" in lines(figures, Path("o"), "")


@given(st.lists(st.integers(0, 100), min_size=1), st.floats(0.01, 1))
def test_percentiles_are_of_the_sorted_values(values: list[int], share: float) -> None:
    found = percentile(values, share)
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
    assert sum(value < found for value in values) < share * len(values) + 1e-9


def test_flows_of_a_result_replay_on_other_fabrics(tmp_path: Path) -> None:
    """Two transfers of a live run, alone on their links, take their bytes ÷ the rate of the
    link."""
    from typer.testing import CliRunner

    from lightloom.cli import app

    (tmp_path / "live").mkdir()
    text = "src,dst,bytes,arrival_ps\n0,2,50000000,0\n1,3,25000000,1000000000\n"
    (tmp_path / "live/flows.csv").write_text(text, encoding="utf-8")
    file = tmp_path / "clos.toml"
    file.write_text(
        '[cluster]\nracks = 4\nservers_per_rack = 1\nserver_rate = "1 Gb/s"\n'
        '[workload]\npattern = "permutation"\nload = 0.1\nsizes = "web-search"\nflows = 3\n'
        '[[fabric]]\nkind = "tree"\nforwarding = "cut-through"\n',
        encoding="utf-8",
    )
    out = tmp_path / "out"
    line = ["run", str(file), "--from", str(tmp_path / "live"), "-o", str(out)]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0, done.output
    flows = lightloom.Result.load(out).flows.to_pydict()
    took = [f - a for f, a in zip(flows["finish_ps"], flows["arrival_ps"], strict=True)]
    assert took == pytest.approx([0.4e12, 0.2e12], rel=1e-3)
    missing = CliRunner().invoke(app, [*line[:3], str(tmp_path), "-o", str(out)])
    assert missing.exit_code == 2


@pytest.mark.parametrize(
    ("drops", "said"),
    [
        ({}, ""),
        ({"switch_drops": 2}, " (2 of them in servers' switches)"),
        ({"queue_drops": 1200}, "; 1,200 packets dropped by full queues"),
    ],
)
def test_the_verdict_has_the_place_of_losses(drops: dict[str, int], said: str) -> None:
    figures = {"fabric": "hydra", "matched_ratio": None, "lost_frames": 3, **drops}
    lost = "3 frames lost in the testbed itself"
    assert verdict(figures, "").partition(": ")[2] == f"{lost}{said}"


def test_a_replay_of_transfers_that_begin_together_has_no_load(tmp_path: Path) -> None:
    """Their bytes ÷ the 0.6 ms between the first and the last start are 1,300 times the rate of the
    servers, which is not a load; with a third transfer, which begins when the others could have
    ended, there is a load."""
    raw = table({**CTHROUGH, "interval": "1 s"}, servers_per_rack=2)
    head = "src,dst,bytes,arrival_ps\n0,4,270803888,306822853999\n2,6,128000000,307436886000\n"
    loads = []
    for more in ("", "1,5,128000000,2400000000000\n"):
        (tmp_path / "flows.csv").write_text(head + more, encoding="utf-8")
        raw |= {"workload": {"trace": str(tmp_path / "flows.csv")}, "run": {"stop": "drain"}}
        result = lightloom.run(lightloom.load(raw))
        notes = [*of_workload(result.summary, raw["workload"])]
        loads.append((result.summary["load_offered"], notes))
    assert loads[0] == (None, [])
    bits = 8 * (270803888 + 2 * 128000000)
    assert loads[1][0] == pytest.approx(bits / (8 * 500e6 * 2.4), rel=1e-6)
