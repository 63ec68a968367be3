"""htsim's connection matrices on fabrics: triggers, endless flows, decimals.

The format is that of `connection_matrix.cpp` and `trigger.cpp` in github.com/Broadcom/csg-htsim;
the files here were written for these tests. The tests of the parser, which are next to its code,
compare it with a step-by-step simulation of triggers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from cli_support import lightloom as command
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom
from lightloom import _core
from lightloom.simulation import traces

Table = dict[str, Any]

HOSTS, GBPS = 16, 50
#: Mirrors and ports that settle well within an interval.
SWIFT = {"settle": "10 us", "link_up": "10 us", "retag": "10 us"}
#: Tables of fabrics whose defaults do not fit, and further variants.
MORE: dict[str, Table] = {
    "mordia": {"kind": "mordia", "policy": "rotation"},
    "hybrid": {"kind": "hybrid", "policy": "hydra", "interval": "200 us", "settle": "10 us"},
    "hydra": {"kind": "hydra", "interval": "200 us", **SWIFT},
    "cthrough": {"kind": "cthrough", "interval": "2 ms", "reconfiguration_delay": "1 ms"},
    "sirius-flows": {"kind": "sirius", "detail": "flows"},
    "sirius-ideal": {"kind": "sirius", "mode": "ideal"},
    "clos-flows": {"kind": "clos", "detail": "flows"},
}
FABRICS = {entry["kind"]: {"kind": entry["kind"]} for entry in json.loads(_core.registry())} | MORE
TREE: Table = {"kind": "tree"}


def text(*lines: str) -> str:
    """Returns a connection matrix of these lines, with the required headings."""
    triggers = sum(line.startswith("trigger ") for line in lines)
    head = [f"Nodes {HOSTS}", f"Connections {len(lines) - triggers}", f"Triggers {triggers}"]
    return "\n".join([*head, *lines, ""])


def run(path: Path, fabric: Table, **how: Any) -> lightloom.Result:
    experiment = {
        "cluster": {"hosts": HOSTS, "server_rate": f"{GBPS} Gb/s"},
        "workload": {"trace": str(path), "trace_unit": "ps"},
        "run": how,
        "fabric": [fabric],
    }
    return lightloom.run(experiment)


def column(result: lightloom.Result, name: str) -> list[Any]:
    found: list[Any] = result.flows[name].to_pylist()
    return found


def lone_ps(size: int) -> int:
    """Returns the time of a single flow on an ideal tree: its packets of 1,500 B follow each other
    over four links of one rate, and three switches store the last full packet. A short packet after
    it adds its transmission time once or, if it is the only packet, on each link."""
    full, short = divmod(size, 1_500)
    byte_ps = 8_000 // GBPS
    return ((full + 3) * 1_500 + short if full else 4 * short) * byte_ps


CHAIN = text(
    "0->1 id 1 start 2500.5 size 100000 send_done_trigger 1",
    "2->3 id 2 trigger 1 size 70000 recv_done_trigger 2",
    "4->5 id 3 trigger 2 size 30001 send_done_trigger 3",
    "6->7 id 4 start 0.000000 size 250000 send_done_trigger 3 prio 2",
    "8->9 id 5 trigger 3 size 1500",
    "9->8 id 6 trigger 3 size 1500",
    "10->11 id 7 start 5 size 40000 recv_done_trigger 4",
    "12->13 id 8 start 5 size 20000 recv_done_trigger 4",
    "13->14 id 9 trigger 4 size 1000",
    "14->15 id 10 trigger 4 size 1000",
    "trigger id 1 oneshot",
    "trigger id 2 oneshot",
    "trigger id 3 barrier count 2",
    "trigger id 4 multishot",
)


def test_by_hand_on_an_ideal_tree(tmp_path: Path) -> None:
    (tmp_path / "t.cm").write_text(CHAIN)
    result = run(tmp_path / "t.cm", TREE)
    first, second, third = (lone_ps(size) for size in (100_000, 70_000, 30_001))
    chain = 2500 + first + second + third
    barrier = max(chain, lone_ps(250_000))
    slow, quick = 5 + lone_ps(40_000), 5 + lone_ps(20_000)
    starts = [2500, 2500 + first, 2500 + first + second, 0, barrier, barrier, 5, 5, quick, slow]
    assert column(result, "arrival_ps") == starts
    sizes = column(result, "bytes")
    assert column(result, "finish_ps") == [
        start + lone_ps(size) for start, size in zip(starts, sizes, strict=True)
    ]
    assert result.summary["triggered"] == 6
    assert result.summary["load_offered"] is None
    assert result.summary["jobs"] == {}


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 3_000_000), min_size=1, max_size=8),
    start=st.integers(0, 10**9),
    received=st.booleans(),
)
def test_a_chain_takes_the_sum_of_its_lone_times(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], start: int, received: bool
) -> None:
    path = tmp_path_factory.mktemp("chain") / "t.cm"
    done, lines = "recv_done_trigger" if received else "send_done_trigger", []
    for at, size in enumerate(sizes):
        begins = f"trigger {at}" if at else f"start {start}.9"
        lines.append(f"{2 * at}->{2 * at + 1} {begins} size {size} {done} {at + 1}")
    lines += [f"trigger id {at + 1} oneshot" for at in range(len(sizes))]
    path.write_text(text(*lines))
    result = run(path, TREE)
    assert column(result, "finish_ps")[-1] == start + sum(map(lone_ps, sizes))


@pytest.mark.parametrize("fabric", FABRICS)
def test_triggered_flows_are_those_that_arrive_then(fabric: str, tmp_path: Path) -> None:
    """With the resulting start times as given arrivals, a fabric has the same results."""
    (tmp_path / "t.cm").write_text(CHAIN)
    result = run(tmp_path / "t.cm", FABRICS[fabric])
    starts, ends = column(result, "arrival_ps"), column(result, "finish_ps")
    assert None not in ends
    assert starts[1] == ends[0]
    assert starts[2] == ends[1]
    assert starts[4] == starts[5] == max(ends[2], ends[3])
    assert starts[8:] == sorted(ends[6:8])
    traces.write(result.flows, tmp_path / "known.csv")
    again = run(tmp_path / "known.csv", FABRICS[fabric])
    order = sorted(range(len(starts)), key=lambda f: starts[f])
    assert column(again, "arrival_ps") == [starts[f] for f in order]
    if fabric != "sirius-flows":  # it draws the wait for a slot by the row number of a flow
        assert column(again, "finish_ps") == [ends[f] for f in order]


ENDLESS = text(
    "0->1 start 0.000000 size 0",
    "2->1 start 0.000000 size 0",
    "4->5 start 3000.25 size 0",
    "6->7 id 1 start 0 size 30000 send_done_trigger 1",
    "8->9 id 2 trigger 1 size 0",
    "trigger id 1 oneshot",
)
END_PS = 3_000_000_000


@pytest.mark.parametrize("fabric", FABRICS)
def test_endless_flows_send_until_the_end(fabric: str, tmp_path: Path) -> None:
    (tmp_path / "t.cm").write_text(ENDLESS)
    result = run(tmp_path / "t.cm", FABRICS[fabric], stop="3 ms")
    summary, delivered = result.summary, column(result, "delivered")
    assert column(result, "endless") == [True, True, True, False, True]
    assert column(result, "finish_ps").count(None) == 4
    assert sum(delivered) == summary["bytes_delivered"]
    carried = GBPS * END_PS // 8000
    assert column(result, "bytes") == [carried + 1] * 2 + [
        GBPS * (END_PS - 3000) // 8000 + 1,
        30_000,
        carried + 1,
    ]
    assert delivered[3] == 30_000
    # In LIONS, two flows to a receiver may together be faster than its link, but not a single one.
    assert all(0 < size <= carried for size in delivered)
    assert summary["endless"] == {"flows": 4, "bytes_delivered": sum(delivered) - 30_000}
    assert summary["load_offered"] is None
    assert summary["mean_flow_bytes_offered"] == 30_000
    assert summary["fct_bound"]["all"]["flows"] == 1
    assert summary["fct_bound"]["all"]["unfinished"] == 0
    assert summary["simulated_s"] == END_PS * 1e-12


def test_endless_flows_by_hand(tmp_path: Path) -> None:
    """A single flow has the full rate of its link; two flows to one receiver share its link."""
    (tmp_path / "t.cm").write_text(ENDLESS)
    delivered = column(run(tmp_path / "t.cm", TREE, stop="3 ms"), "delivered")
    carried = GBPS * END_PS // 8000
    assert delivered[2] == pytest.approx(carried, abs=20)
    assert delivered[0] == delivered[1] == pytest.approx(carried / 2, abs=2)
    later = lone_ps(30_000)
    assert delivered[4] == pytest.approx(GBPS * (END_PS - later) / 8000, abs=2)


def test_flows_without_endless_ones_have_no_such_columns(tmp_path: Path) -> None:
    (tmp_path / "t.cm").write_text(CHAIN)
    result = run(tmp_path / "t.cm", TREE)
    assert not {"delivered", "endless"} & set(result.flows.column_names)
    assert "endless" not in result.summary


def test_an_endless_flow_is_one_of_its_size(tmp_path: Path) -> None:
    """For any other traffic, an endless flow equals a flow that is too large to end."""
    (tmp_path / "t.cm").write_text(ENDLESS)
    endless = run(tmp_path / "t.cm", {"kind": "clos"}, stop="100 us")
    sizes = iter(column(endless, "bytes"))
    lines = [line.split(" size ") for line in ENDLESS.splitlines()]
    sized = [
        f"{head} size {next(sizes)}{rest[0].lstrip('0123456789')}" if rest else head
        for head, *rest in lines
    ]
    (tmp_path / "sized.cm").write_text("\n".join(sized))
    given_sizes = run(tmp_path / "sized.cm", {"kind": "clos"}, stop="100 us")
    for name in ("src", "dst", "bytes", "arrival_ps", "start_ps", "finish_ps", "hops"):
        assert column(endless, name) == column(given_sizes, name)


CLUSTER = f'[cluster]\nhosts = {HOSTS}\nserver_rate = "{GBPS} Gb/s"\n'
FABRIC = '[[fabric]]\nkind = "tree"\n'


def refused(tmp_path: Path, content: str, run_table: str = "", cluster: str = CLUSTER) -> str:
    (tmp_path / "t.cm").write_text(content)
    workload = '[workload]\ntrace = "t.cm"\n'
    (tmp_path / "it.toml").write_text(f"{cluster}{workload}[run]\n{run_table}\n{FABRIC}")
    done = command("run", "it.toml", "-o", "out", cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert not (tmp_path / "out").exists()
    said = done.stderr.strip()
    assert "\n" not in said
    return said


def test_runs_that_would_not_end_are_refused(tmp_path: Path) -> None:
    waits = (
        "flows of the trace have size 0 and send until the run stops, so the run "
        'would never end; end at a time, like "1 ms"'
    )
    assert refused(tmp_path, ENDLESS) == f'error: run.stop = "drain": {waits}'
    alone = text("0->1 start 2000000.5 size 0")
    window = 'warm_up = "1 us"\nmeasure = "1 us"'
    assert refused(tmp_path, alone, window) == f'error: run.stop = "measured": {waits}'
    said = refused(tmp_path, CHAIN, 'stop = "last-arrival"')
    assert said.startswith('error: run.stop = "last-arrival": ')
    assert "wait for triggers" in said
    said = refused(tmp_path, CHAIN, 'measure = "1 us"')
    assert said.startswith("error: run.measure = 1 us: ")
    assert "wait for triggers" in said
    free = f'[cluster]\nhosts = {HOSTS}\nrack_rate = "{GBPS} Gb/s"\n'
    said = refused(tmp_path, alone, 'stop = "1 ms"', free)
    assert said.startswith('error: cluster.nic = "uncapped": ')
    assert "size 0" in said
    long = 'stop = "4000000 s"\nlimit = "4000000 s"'
    said = refused(tmp_path, alone, long)
    assert said.startswith("error: run.stop = 4000000 s: ")
    assert "64 bits" in said


def test_malformed_files_are_refused_with_their_place(tmp_path: Path) -> None:
    first = "0->1 id 1 start 0 size 9 send_done_trigger 1"
    for lines, said in (
        (["0->1 start 1.2.3 size 9"], "line 4, column 12: start is `1.2.3`, not a number of pico"),
        (["0->1 start -4 size 9"], "line 4, column 12: start is `-4`, not a number of picosecon"),
        ([first, "2->3 trigger 4 size 9"], "line 5, column 14: trigger 4 is not declared; add a"),
        (
            [first, "2->3 trigger 1 size 9", "trigger id 1 barrier count 3"],
            "line 6, column 1: trigger 1 has count 3, and 1 flow fires it; write `count 1`, or",
        ),
        (
            ["0->1 trigger 1 size 9 recv_done_trigger 1", "trigger id 1 oneshot"],
            "line 4, column 14: trigger 1 never fires often enough: the flow of line 4 waits for",
        ),
    ):
        path = tmp_path / "t.cm"
        assert refused(tmp_path, text(*lines)).startswith(
            f'error: workload.trace = "{path}": {said}'
        )


def test_a_table_holds_no_triggers_and_no_end(tmp_path: Path) -> None:
    path = tmp_path / "t.cm"
    for content, said in (
        (CHAIN, "some wait for others, but this format holds only known arrivals; run it"),
        (text("0->1 start 0 size 0"), "some have size 0 and send until a run stops, but this"),
    ):
        path.write_text(content)
        with pytest.raises(lightloom.ConfigError) as problem:
            traces.read(path)
        assert str(problem.value).startswith(f'workload.trace = "{path}": {said}')


def test_what_is_said_beside_the_figures(tmp_path: Path) -> None:
    (tmp_path / "t.cm").write_text(ENDLESS)
    workload = '[workload]\ntrace = "t.cm"\n'
    (tmp_path / "it.toml").write_text(f'{CLUSTER}{workload}[run]\nstop = "1 us"\n{FABRIC}')
    done = command("run", "it.toml", "-o", "out", cwd=tmp_path, COLUMNS="200")
    assert done.returncode == 0, done.stderr
    assert "1 flow waits for" in done.stdout
    assert "4 flows of size" in done.stdout
    assert "waits for them" not in done.stdout
    (tmp_path / "t.cm").write_text(text("0->1 start 0 size 0"))
    done = command("run", "it.toml", "-o", "out", cwd=tmp_path, COLUMNS="200")
    assert "1 flow without a" in done.stdout
    assert "many flows had finished" not in done.stdout


def test_the_report_draws_them(tmp_path: Path) -> None:
    (tmp_path / "t.cm").write_text(ENDLESS)
    workload = '[workload]\ntrace = "t.cm"\n'
    clos = '[[fabric]]\nkind = "clos"\n'
    (tmp_path / "it.toml").write_text(f'{CLUSTER}{workload}[run]\nstop = "1 ms"\n{FABRIC}{clos}')
    done = command("compare", "--verbose", "it.toml", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/report.html").stat().st_size > 10_000
    delivered = lightloom.Comparison.load(tmp_path / "out").results["clos"].flows["delivered"]
    assert pc.min(delivered).as_py() > 0
