"""Replay of a day of demand, compared with a plain recomputation and with bounds; and its texts."""

from __future__ import annotations

import csv
import io
import json
import random
import runpy
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_support import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from typer.testing import CliRunner

from lightloom import ConfigError, control
from lightloom.cli import app
from lightloom.control.day.intervals import Interval
from lightloom.control.day.light import Light, carried, light_of, lit_by_schedule
from lightloom.control.day.play import Account, Terms, play, terms
from lightloom.control.day.series import Day, read_day
from lightloom.control.day.sharing import shared
from lightloom.control.demand.reading import Reading
from lightloom.control.schedules import Schedule

EXAMPLE = ROOT / "examples" / "demand-day"
US = 1_000_000
NAMES = ["a", "b", "c", "d"]
PAIRS = [(a, b) for a in range(4) for b in range(4) if a != b]
MATCHINGS = [{(0, 1), (2, 3)}, {(0, 2), (1, 3)}, {(0, 3), (1, 2)}]
RATE = 8 * 10**6
"""A rate of one byte per microsecond [b/s]."""

amounts = st.lists(st.integers(0, 10**9), min_size=12, max_size=12)
days = st.lists(amounts, min_size=2, max_size=6)


def interval(sizes: list[int], at: int = 0, seconds: int = 100) -> Interval:
    rows = [(a, b, size) for (a, b), size in zip(PAIRS, sizes, strict=True) if size]
    src, dst, held = np.array(rows, np.int64).reshape(-1, 3).T
    return Interval(at * seconds * US, seconds * US, src, dst, held)


def a_day(sizes: list[list[int]], seconds: int = 100) -> Day:
    several = [interval(one, at, seconds) for at, one in enumerate(sizes)]
    return Day(NAMES, 4, several, Reading("none", "1 B"))


def played(day: Day, algorithm: str, asked: Terms, **options: Any) -> dict[str, Account]:
    return {one.player.name: one for one in play(day, algorithm, options, asked, _quietly)}


def _quietly(name: str, done: int, several: int) -> None:
    """Prints nothing."""


# Comparison with a plain recomputation


def best(sizes: list[int]) -> list[set[tuple[int, int]]]:
    """Returns all perfect matchings of the largest demand."""
    demand = dict(zip(PAIRS, sizes, strict=True))
    weights = [sum(demand[a, b] + demand[b, a] for a, b in pairs) for pairs in MATCHINGS]
    return [pairs for pairs, w in zip(MATCHINGS, weights, strict=True) if w == max(weights)]


def second_by_second(
    sizes: list[int], lit: set[tuple[int, int]], new: set[tuple[int, int]], dark: int, rate: int
) -> float:
    """Returns the bytes that circuits carry in 100 s if demand arrives evenly, computed second by
    second."""
    found = 0.0
    for (a, b), size in zip(PAIRS, sizes, strict=True):
        pair = (min(a, b), max(a, b))
        for second in range(100):
            if pair in lit and (pair not in new or second >= dark):
                found += min(size / 100, rate / 8)
    return found


def distinct(sizes: list[list[int]]) -> bool:
    """Whether every interval has a unique best matching, so that results do not depend on ties."""
    return all(len(best(one)) == 1 for one in sizes)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(days.filter(distinct), st.integers(0, 40), st.booleans())
def test_a_day_of_matchings(sizes: list[list[int]], dark: int, all_dark: bool) -> None:
    asked = Terms(RATE * 4, dark * US, all_dark)
    found = played(a_day(sizes), "edmonds", asked)
    chosen = [best(one)[0] for one in sizes]
    total = [sum(column) for column in zip(*sizes[1:], strict=True)]
    plans = {
        "edmonds": chosen[:-1],
        "foresight": chosen[1:],
        "never change": [chosen[0]] * (len(sizes) - 1),
    }
    if len(best(total)) == 1:
        plans["the day's sum"] = best(total) * (len(sizes) - 1)
    for name, plan in plans.items():
        account, lit = found[name], set[tuple[int, int]]()
        changes = dark_s = made = 0
        by_pair: dict[tuple[int, int], int] = {}
        for at, (step, wanted) in enumerate(zip(account.steps, plan, strict=True), 1):
            new, gone = wanted - lit, lit - wanted
            affected = wanted if all_dark and (new or gone) else new
            expected = second_by_second(sizes[at], wanted, affected, dark, RATE * 4)
            assert step.served == pytest.approx(expected, abs=1), name
            assert (step.made, step.broken) == (len(new), len(gone))
            changes += bool(new or gone)
            made += len(new)
            dark_s += dark if affected else 0
            for pair in affected:
                by_pair[pair] = by_pair.get(pair, 0) + dark * US
            lit = wanted
        assert account.changes == max(0, changes - 1)  # the first circuits are not a change
        assert sum(step.dark_us for step in account.steps) == dark_s * US
        assert account.dark_us == by_pair
    assert found["no circuits"].served == 0


@settings(max_examples=80, deadline=None, derandomize=True)
@given(days)
def test_who_knows_more_serves_more(sizes: list[list[int]]) -> None:
    """This holds if changes cost nothing and circuits are never full."""
    if not any(map(any, sizes[1:])):
        return
    found = played(a_day(sizes), "edmonds", Terms(10**15, 0, False))
    served = {name: account.served for name, account in found.items()}
    most = max(served.values())
    assert served["foresight"] >= most - len(sizes)  # rounded to bytes
    assert served["the day's sum"] >= served["never change"] - len(sizes)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.permutations(range(4)), st.integers(1, 9)), min_size=1, max_size=4),
    st.integers(0, 3),
    st.integers(0, 80),
)
def test_days_of_a_schedule_are_counted(
    slots: list[tuple[list[int], int]], night: int, length: int
) -> None:
    """The reference is computed microsecond by microsecond."""
    permutations = np.array([outputs for outputs, _ in slots], np.int64)
    lengths = np.array([day * US for _, day in slots], np.int64)
    schedule = Schedule(permutations, lengths, night * US)
    line = [(slot, at >= night) for slot, (_, day) in enumerate(slots) for at in range(night + day)]
    expected = np.zeros((4, 4))
    for at in range(length):
        slot, lit = line[at % len(line)]
        for source, output in enumerate(slots[slot][0]):
            expected[source, output] += lit and source != output
    assert lit_by_schedule(schedule, length) == pytest.approx(expected)


def test_a_schedule_carries_what_comes_and_fits() -> None:
    """0 to 1 is connected for 3 s of 4, and 1 to 2 never; a tenth of the interval is dark."""
    turns = Schedule(np.array([[1, 0, 2, 3], [2, 1, 0, 3]]), np.array([3 * US, US]), 0)
    one = interval([80 * US, 0, 0, 0, 5, *[0] * 7])
    assert (one.src.tolist(), one.dst.tolist()) == ([0, 1], [1, 2])
    light = Light(schedule=turns)
    # 100 s at one byte per microsecond: 90 s are lit, 3/4 of them for the pair.
    assert carried(light, one, [(-1, -1, -1)], 10 * US, RATE).tolist() == [67.5 * US, 0]
    assert carried(light, one, [], 10 * US, RATE).tolist() == [75 * US, 0]
    assert carried(light, one, [], 0, 2 * RATE).tolist() == [80 * US, 0]


def test_circuits_beside_each_other_and_of_one_direction() -> None:
    one = interval([300 * US, 0, 0, 0, 150 * US, *[0] * 7])
    double = Light(frozenset({(0, 1, 0), (0, 1, 1)}))
    assert carried(double, one, [], 0, RATE).tolist() == [200 * US, 0]
    # For a circuit that comes up at half time, 150 s remain; arriving demand has at least one
    # circuit.
    assert carried(double, one, [(0, 1, 1)], 50 * US, RATE).tolist() == [150 * US, 0]
    one_way = Light(frozenset({(2, 1, 0)}), directed=True)
    assert carried(one_way, one, [], 0, RATE).tolist() == [0, 0]
    both = Light(frozenset({(1, 2, 0)}))
    assert carried(both, one, [], 0, RATE).tolist() == [0, 100 * US]


# Paths that share circuits

routes = st.lists(
    st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True), min_size=1, max_size=5
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(routes, st.data())
def test_shares_are_fair(routes: list[list[int]], data: st.DataObject) -> None:
    """Max-min fairness by linear programs: the smallest share is maximal, then the next among those
    that can still grow, and so on."""
    sizes = st.lists(st.integers(0, 20), min_size=len(routes), max_size=len(routes))
    demand = np.array(data.draw(sizes), float)
    capacity = np.array(data.draw(st.lists(st.integers(1, 20), min_size=4, max_size=4)), float)
    found = shared(demand, [np.array(route) for route in routes], capacity)
    uses = np.array([[link in route for route in routes] for link in range(4)], float)
    assert found == pytest.approx(by_programs(demand, uses, capacity), abs=1e-6)


def by_programs(
    demand: np.ndarray[Any, Any], uses: np.ndarray[Any, Any], capacity: np.ndarray[Any, Any]
) -> list[float]:
    """Returns max-min fair shares, computed level by level."""
    paths = len(demand)
    fixed: dict[int, float] = {}
    while len(fixed) < paths:
        free = [path for path in range(paths) if path not in fixed]
        # Maximises t with x_p >= t for all free paths.
        above = np.zeros((len(free), paths + 1))
        for row, path in enumerate(free):
            above[row, [path, paths]] = -1, 1
        table = np.vstack([np.hstack([uses, np.zeros((len(uses), 1))]), above])
        limits = np.concatenate([capacity, np.zeros(len(free))])
        bounds = [(fixed[p], fixed[p]) if p in fixed else (0, demand[p]) for p in range(paths)]
        level = -linprog(
            [*[0] * paths, -1], table, limits, bounds=[*bounds, (0, max(demand.max(), 0))]
        ).fun
        for path in free:
            # Finds the paths that cannot have more than the level if all others have at least the
            # level.
            goal = [0.0] * (paths + 1)
            goal[path] = -1
            least = [*bounds, (level, level)]
            if -linprog(goal, table, limits + 1e-9, bounds=least).fun < level + 1e-6:
                fixed[path] = level
    return [fixed[path] for path in range(paths)]


def test_paths_of_hydra_share_their_circuits() -> None:
    """A chain 0-1-2 of circuits: traffic from 0 to 2 crosses both, separately for each
    direction."""
    light = Light(
        frozenset({(0, 1, 0), (1, 2, 0)}),
        routes=((0, 1, ((0, 1, 0),)), (1, 2, ((1, 2, 0),)), (0, 2, ((0, 1, 0), (1, 2, 0)))),
    )
    sizes = dict.fromkeys(PAIRS, 0) | {(0, 1): 90 * US, (0, 2): 80 * US, (2, 0): 70 * US}
    one = interval([*sizes.values()])
    sent = dict(
        zip(
            zip(one.src.tolist(), one.dst.tolist(), strict=True),
            carried(light, one, [], 0, RATE).tolist(),
            strict=True,
        )
    )
    assert sent == pytest.approx({(0, 1): 50 * US, (0, 2): 50 * US, (2, 0): 70 * US})
    # While a circuit is dark, none of its paths carries traffic.
    sent = carried(light, one, [(1, 2, 0)], 50 * US, RATE)
    assert sent.tolist() == pytest.approx([60 * US, 40 * US, 35 * US])


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 1000))
def test_paths_of_a_plan_lead_from_end_to_end(seed: int) -> None:
    """The path leads circuit by circuit from the first named rack to the other."""
    matrix = np.random.default_rng(seed).integers(0, 10**9, (7, 7))
    np.fill_diagonal(matrix, 0)
    light = light_of(control.plan(matrix, "hydra", planes=2, hops=4))
    assert any(len(path) > 1 for *_, path in light.routes)
    for a, b, path in light.routes:
        at = a
        for circuit in path:
            assert circuit in light.circuits
            at = {circuit[0]: circuit[1], circuit[1]: circuit[0]}[at]
        assert at == b


@pytest.mark.parametrize("planes", [1, 2])
def test_hydra_carries_no_more_than_there_is(planes: int) -> None:
    draw = np.random.default_rng(3)
    day = a_day(draw.integers(0, 10**9, (4, 12)).tolist())
    for account in played(day, "hydra", Terms(RATE, 0, False), planes=planes).values():
        for step, one in zip(account.steps, day.played, strict=True):
            assert 0 <= step.served <= min(one.total, 4 * planes * 100 * US)


# Reading a day


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def as_dicts(day: Day) -> list[tuple[int, int, dict[tuple[str, str], int]]]:
    return [
        (
            one.start_us // US,
            one.length_us // US,
            {
                (day.names[a], day.names[b]): size
                for a, b, size in zip(
                    one.src.tolist(), one.dst.tolist(), one.bytes.tolist(), strict=True
                )
            },
        )
        for one in day.intervals
    ]


EXPECTED = [
    (0, 300, {("a", "b"): 5}),
    (300, 300, {("b", "a"): 7, ("b", "c"): 1}),
    (900, 300, {("a", "c"): 2}),
]


def test_forms_of_a_day_say_the_same(tmp_path: Path) -> None:
    long = (
        "bytes,time,dst,src\n2,900,c,a\n3,0,b,a\n7,1970-01-01T00:05:00Z,a,b\n2,0,b,a\n1,300,c,b\n"
    )
    path = write(tmp_path, "day.csv", long)
    assert as_dicts(read_day([path])) == EXPECTED
    fine = long.replace("\n3,0,", "\n3,17.5,").replace("\n1,300,", "\n1,599,")
    again = read_day([write(tmp_path, "fine.csv", fine)], every="5 min")
    assert as_dicts(again) == EXPECTED
    (gap,) = again.notes
    assert "for 300 s in" in gap
    assert "from 1970-01-01T00:10:00: " in gap
    rows = "src,dst,bytes\n"
    write(tmp_path, "d/x-1970-01-01T0015.csv", rows + "a,c,2\n")
    write(tmp_path, "d/x-1970-01-01T0000.csv", ",a,b\na,0,5\nb,0,0\n")
    write(tmp_path, "d/x-1970-01-01T0005.csv", rows + "b,c,1\nb,a,7\n")
    assert as_dicts(read_day([tmp_path / "d"])) == EXPECTED
    files = random.Random(1).sample(sorted((tmp_path / "d").iterdir()), 3)
    assert as_dicts(read_day(files)) == EXPECTED


def test_samples_of_prometheus_are_a_day(tmp_path: Path) -> None:
    result = [
        {"metric": {"src": "a", "dst": "b"}, "values": [[300, "2"], [600, "0"]]},
        {"metric": {"src": "b", "dst": "a"}, "values": [[600, "0.5"]]},
    ]
    answer = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    day = read_day([write(tmp_path, "p.json", json.dumps(answer))], unit="B/s")
    # A rate applies to the step before it.
    assert as_dicts(day) == [(0, 300, {("a", "b"): 600}), (300, 300, {("b", "a"): 150})]


def hourly(times: list[str], pair: str = "a,b") -> str:
    rows = [f"{pair},{5 + at},2026-10-24T{time}" for at, time in enumerate(times)]
    return "src,dst,bytes,time\n" + "\n".join(rows) + "\n"


def test_missing_hours_leave_intervals_an_hour_long(tmp_path: Path) -> None:
    """Samples at 03, 05, 06, 08 and 10 h: the most common distance is 2 h, and the common divisor
    is 1 h."""
    times = [f"{hour:02}:00" for hour in (3, 5, 6, 8, 10)]
    day = read_day([write(tmp_path, "d.csv", hourly(times))])
    assert [one.seconds for one in day.intervals] == [3600] * 5
    late = hourly(["03:00", "04:00", "05:05", "06:00"])
    with pytest.raises(ConfigError, match=r'no common step: .*--every "1 h"'):
        read_day([write(tmp_path, "l.csv", late)])
    asked = read_day([tmp_path / "l.csv"], every="1 h")
    assert [one.seconds for one in asked.intervals] == [3600] * 4


EVERY = {
    "shorter": ("5 min", "shorter than the step of the measurements, 3600 s"),
    "half of it": ("30 min", "shorter than the step of the measurements, 3600 s"),
    "no multiple": ("90 min", "no multiple of the step of the measurements, 3600 s"),
    "the step": ("1 h", [5, 6, 7, 8, 9, 10]),
    "two of them": ("2 h", [11, 15, 19]),
}
"""Lengths of intervals for hourly records: the refusal, or the sums of intervals [bytes]."""


@pytest.mark.parametrize("case", EVERY)
@pytest.mark.parametrize("form", ["CSV", "files", "Prometheus"])
def test_intervals_are_multiples_of_the_step(case: str, form: str, tmp_path: Path) -> None:
    """Six hours with 5, 6, … 10 B; in intervals of 5 min each rate would be 12 times too high."""
    every, expected = EVERY[case]
    sizes = range(5, 11)
    if form == "CSV":
        paths = [write(tmp_path, "d.csv", hourly([f"{hour:02}:00" for hour in range(6)]))]
    elif form == "files":
        paths = [
            write(tmp_path, f"d-2026-10-24T{hour:02}00.csv", f"src,dst,bytes\na,b,{size}\n")
            for hour, size in enumerate(sizes)
        ]
    else:
        # A sample is for the hour before it.
        values = [[3600 * (at + 1), str(size)] for at, size in enumerate(sizes)]
        series = {"metric": {"src": "a", "dst": "b"}, "values": values}
        data = {"resultType": "matrix", "result": [series]}
        answer = {"status": "success", "data": data}
        paths = [write(tmp_path, "p.json", json.dumps(answer))]
    unit = "B" if form == "Prometheus" else None
    if isinstance(expected, str):
        with pytest.raises(ConfigError, match=f"every = {every}: {expected}; .*3600 s"):
            read_day(paths, every=every, unit=unit)
    else:
        day = read_day(paths, every=every, unit=unit)
        assert [one.total for one in day.intervals] == expected


def test_uneven_records_are_in_no_intervals_much_shorter(tmp_path: Path) -> None:
    path = write(tmp_path, "d.csv", hourly(["03:00", "04:00", "05:05", "06:00"]))
    with pytest.raises(ConfigError, match=r"every = 5 min: "):
        read_day([path], every="5 min")


@pytest.mark.parametrize("name", ["time", "timestamp"])
@pytest.mark.parametrize(("unit", "parts"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_times_have_the_unit_of_their_column(
    name: str, unit: str, parts: int, form: str, tmp_path: Path
) -> None:
    """Samples at half past 0, 1 and 2 h."""
    rows = [
        {"src": "a", "dst": "b", "bytes": size, f"{name}_{unit}": when * parts}
        for size, when in ((5, 1_800), (7, 5_400), (9, 9_000))
    ]
    path = tmp_path / f"d.{form}"
    if form == "csv":
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
    elif form == "json":
        path.write_text(json.dumps(rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    assert as_dicts(read_day([path])) == [
        (1_800, 3600, {("a", "b"): 5}),
        (5_400, 3600, {("a", "b"): 7}),
        (9_000, 3600, {("a", "b"): 9}),
    ]


ZONES = {
    "one file": {"d.csv": hourly(["00:00", "01:00Z"])},
    "two files": {"a.csv": hourly(["00:00"]), "b.csv": hourly(["01:00+01:00"])},
    "JSON": {
        "d.json": '[{"src": "a", "dst": "b", "bytes": 1, "time": "2026-10-24T00:00"}, '
        '{"src": "a", "dst": "b", "bytes": 1, "time": 1792800000}]'
    },
    "names": {
        "d-2026-10-24T0000.csv": "src,dst,bytes\na,b,1\n",
        "d-2026-10-24T0100Z.csv": "src,dst,bytes\na,b,1\n",
    },
}


@pytest.mark.parametrize("case", ZONES)
def test_times_with_and_without_a_zone_are_not_mixed(case: str, tmp_path: Path) -> None:
    paths = [write(tmp_path, name, text) for name, text in ZONES[case].items()]
    with pytest.raises(ConfigError, match=r"zone(,| in its name,)"):
        read_day(paths)


@pytest.mark.parametrize("minutes", [60, 5])
def test_an_hour_that_occurs_twice_is_refused(minutes: int, tmp_path: Path) -> None:
    """The day of 25 October 2026 in Europe has 25 hours; in local time one hour occurs twice."""
    clock = [f"{hour:02}:{at:02}" for hour in range(5) for at in range(0, 60, minutes)]
    back = [time for time in clock if time < "03:00"]
    local = [*back, *(time for time in clock if time >= "02:00")]
    rows = [f"{pair},7,2026-10-25T{time}" for time in local for pair in ("a,b", "b,a")]
    path = write(tmp_path, "d.csv", "src,dst,bytes,time\n" + "\n".join(rows) + "\n")
    with pytest.raises(ConfigError, match="2026-10-25T02:00:00 comes twice"):
        read_day([path])
    zoned, summer = [], len(back)
    for at, time in enumerate(local):
        zone = "+02:00" if at < summer else "+01:00"
        zoned += [f"{pair},7,2026-10-25T{time}{zone}" for pair in ("a,b", "b,a")]
    path = write(tmp_path, "z.csv", "src,dst,bytes,time\n" + "\n".join(zoned) + "\n")
    day = read_day([path])
    assert {one.total for one in day.intervals} == {14}
    assert len(day.intervals) == len(local)


def test_records_of_a_pair_that_come_twice_are_added_up(tmp_path: Path) -> None:
    """The records occur twice at each time, so that no clock was set back."""
    rows = [f"a,b,7,2026-10-25T{hour:02}:00" for hour in range(4) for _ in range(2)]
    path = write(tmp_path, "d.csv", "src,dst,bytes,time\n" + "\n".join(rows) + "\n")
    assert [one.total for one in read_day([path]).intervals] == [14] * 4


def test_flows_are_put_together(tmp_path: Path) -> None:
    text = "ts,te,td,sa,da,ibyt\n"
    text += "1970-01-01 00:00:01.5,x,0,10.0.0.1,10.0.1.1,5\n"
    text += "1970-01-01 00:06:00,x,0,10.0.1.7,10.0.0.1,7\n"
    path = write(tmp_path, "f.csv", text)
    hosts = write(tmp_path, "h.csv", "10.0.0.0/24,a\n10.0.1.0/24,b\n")
    found = as_dicts(read_day([path], every="300 s", map=hosts))
    assert found == [(0, 300, {("a", "b"): 5}), (300, 300, {("b", "a"): 7})]
    with pytest.raises(ConfigError, match="has its own time"):
        read_day([path], map=hosts)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.permutations(range(4)), st.integers(0, 100))
def test_the_order_of_racks_does_not_matter(order: list[int], seed: int) -> None:
    """No two sets of pairs have equal demand, so the named circuits are the same."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 10**9, (4, 12)).tolist()
    day = a_day(sizes)
    turned = [
        [dict(zip(PAIRS, one, strict=True))[order[a], order[b]] for a, b in PAIRS] for one in sizes
    ]
    asked = Terms(RATE * 4, US, False)
    for algorithm in ("edmonds", "assignment"):
        first, second = (played(one, algorithm, asked) for one in (day, a_day(turned)))
        for name, account in first.items():
            assert account.served == pytest.approx(second[name].served, abs=4)
            assert account.changes == second[name].changes


BAD = {
    "no time in a name": (
        ["x.csv", "y.csv"],
        "x.csv: no time in its name, and none in its records",
    ),
    "one interval": (
        ["2026-01-01T0000.csv"],
        "2026-01-01T0000.csv: one interval, so no plan",
    ),
    "two of one time": (
        ["a-2026-01-01T0000.csv", "b-2026-01-01T0000.csv"],
        "b-2026-01-01T0000.csv: a second demand of 2026-01-01T00:00:00; leave one of them out",
    ),
    "named twice": (["2026-01-01.csv"] * 2, "DEMAND = 2026-01-01.csv: named twice; name every"),
    "an empty folder": (["empty"], "DEMAND = empty: a folder with nothing in it; name files"),
    "no algorithm": (["day.csv", "-A"], "--algorithm = (missing): must be given; see"),
    "another algorithm": (["day.csv", "-a", "edmond"], "--algorithm = edmond: no such algorithm"),
    "another's option": (["day.csv", "--night", "1 us"], "--night = 1 us: edmonds has no such"),
    "what is up": (
        ["day.csv", "--hysteresis", "x.json"],
        "--hysteresis = x.json: circuits that are",
    ),
    "dark for longer": (
        ["day.csv", "--dark", "300 s"],
        "--dark = 300 s: no shorter than the shortest interval, 300 s; lower it, or put",
    ),
    "dark without a unit": (["day.csv", "--dark", "3"], '--dark = "3": `3` has no unit'),
    "no rate": (["day.csv", "--rate", "0 Gb/s"], "--rate = 0 Gb/s: must be above 0"),
    "no length": (["day.csv", "--every", "0 s"], "--every = 0 s: must be above 0; write it like"),
    "a length that is none": (
        ["day.csv", "--every", "x"],
        "--every = x: not a time; write it like",
    ),
    "all in one": (["day.csv", "--every", "1 d"], "day.csv: one interval, so no plan can be"),
    "no demand": (["still.csv"], "still.csv: no demand after the first interval; look at the unit"),
    "names and none": (
        ["2026-01-01T0000.csv", "plain-2026-01-01T0100.csv"],
        "DEMAND: some have names and others none, or they have several sizes; name nodes in",
    ),
    "several sizes": (
        ["plain-2026-01-01T0100.csv", "large-2026-01-01T0200.csv"],
        "DEMAND: some have names and others none, or they have several sizes",
    ),
    "JSON to another ending": (
        ["day.csv", "-o", "x.csv"],
        "-o = x.csv: written as JSON; end it in",
    ),
    "two files of figures": (
        ["day.csv", "-o", "a.json", "-o", "b.json"],
        "-o = b.json: a.json already receives the same output; give -o once",
    ),
    "one file twice": (
        ["day.csv", "--intervals", "a.csv", "--intervals", "a.csv"],
        "--intervals = a.csv: comes twice; name every file once",
    ),
    "CSV to another ending": (
        ["day.csv", "--intervals", "x.xlsx"],
        "written as CSV; end it in .csv",
    ),
    "over the demand": (
        ["day.csv", "--intervals", "day.csv"],
        "is the demand itself; name another",
    ),
    "a bad matrix": (
        ["plain-2026-01-01T0100.csv", "bad-2026-01-01T0200.csv"],
        "bad-2026-01-01T0200.csv:1:3: demand[0][1] = -5: demand is not negative; give 0 or more",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_day_is_refused(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for name in (
        "x",
        "y",
        "2026-01-01T0000",
        "a-2026-01-01T0000",
        "b-2026-01-01T0000",
        "2026-01-01",
    ):
        write(tmp_path, f"{name}.csv", "src,dst,bytes\na,b,5\n")
    write(tmp_path, "day.csv", "time,src,dst,bytes\n0,a,b,5\n300,b,a,7\n")
    write(tmp_path, "still.csv", "time,src,dst,bytes\n0,a,b,5\n300,b,a,0\n")
    write(tmp_path, "plain-2026-01-01T0100.csv", "0,5\n5,0\n")
    write(tmp_path, "large-2026-01-01T0200.csv", "0,5,1\n5,0,1\n1,1,0\n")
    write(tmp_path, "bad-2026-01-01T0200.csv", "0,-5\n5,0\n")
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    words, said = BAD[case]
    words = [word for word in words if word != "-A"]
    if "-a" not in words and case != "no algorithm":
        words = [*words, "-a", "edmonds"]
    done = CliRunner().invoke(app, ["replay-demand", *words])
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


# Texts


def run(words: str) -> str:
    done = CliRunner().invoke(app, ["replay-demand", *shlex.split(words)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_example_pays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    folder = tmp_path
    said = run(f"{EXAMPLE} -a edmonds -o {folder / 'day.json'} --intervals {folder / 'day.csv'}")
    assert said.startswith("23 intervals of 1 h")
    assert "from 2026-11-23T01:00:00, 23 h" in said
    assert ": 8 nodes, 199 TB" in said
    assert "edmonds puts 86.3 %" in said
    assert ", 28.0 points more" in said
    made = json.loads((folder / "day.json").read_text())
    players = made["players"]
    assert [*players] == ["edmonds", "never change", "the day's sum", "foresight", "no circuits"]
    assert made["verdict"] in said
    assert made["options"]["files"] == [str(EXAMPLE)]
    rows = list(csv.DictReader(io.StringIO((folder / "day.csv").read_text())))
    assert len(rows) == 23 * 5
    for name, found in players.items():
        mine = [row for row in rows if row["player"] == name]
        assert sum(int(row["served_bytes"]) for row in mine) == found["served_bytes"]
        assert sum(int(row["bytes"]) for row in mine) == made["demand"]["bytes"]
        assert found["share"] == found["served_bytes"] / made["demand"]["bytes"]
        assert found["changes_per_hour"] == found["changes"] / 23
    # The first job moves twice after the first plan, which the player of the second row keeps.
    assert players["edmonds"]["changes"] == 2
    assert players["never change"]["changes"] == 0
    assert max(entry["dark_s"] for entry in made["dark_s_by_pair"]) == 0.02
    assert json.loads(run(f"{EXAMPLE} -a edmonds --json")) == made


def test_the_example_is_what_its_script_makes() -> None:
    made = runpy.run_path(str(ROOT / "examples" / "demand_day.py"))["files"]()
    assert made == {path.name: path.read_text(encoding="utf-8") for path in EXAMPLE.iterdir()}


def test_one_plan_that_fits_the_day_is_not_beaten() -> None:
    said = run(f"{EXAMPLE} -a rotation")
    assert "Changing makes no difference" in said
    assert "rotation puts 50.3 %" in said


def test_a_policy_in_a_file_and_a_plan_of_before(tmp_path: Path) -> None:
    plan = control.plan(read_day([EXAMPLE]).demand(0), "edmonds")
    path = plan.save(tmp_path / "plan.json")
    made = json.loads(run(f"{EXAMPLE} -a fixed --circuits {path} --json"))
    again = json.loads(run(f"{EXAMPLE} -a edmonds --json"))
    assert made["players"]["fixed"]["share"] == again["players"]["never change"]["share"]
    own = ROOT / "examples" / "policies" / "threshold.py"
    threshold = json.loads(run(f"{EXAMPLE} -a {own}:Threshold --json"))
    assert 0 < threshold["players"][f"{own}:Threshold"]["share"] < 1


def test_terms_are_checked() -> None:
    day = a_day([[1] * 12, [2] * 12])
    assert terms(day, "100 Gb/s", "20 ms", True) == Terms(10**11, 20_000, True)


def test_what_the_policy_assumes_is_told(tmp_path: Path) -> None:
    said = run(f"{EXAMPLE} -a hydra --planes 3 -o {tmp_path / 'day.json'}")
    assert "  hydra: planes 3, ports" in said
    made = json.loads((tmp_path / "day.json").read_text())
    assert made["planned_with"]["planes"] == 3
    assert " planes 32," in run(f"{EXAMPLE} -a hydra")


def test_rules_belong_to_plan() -> None:
    for option in ("--pin", "--down", "--diff"):
        done = CliRunner().invoke(app, ["replay-demand", str(EXAMPLE), option, "web:cache"])
        assert done.exit_code == 2
        told = f"{option}: belongs to `lightloom plan`, which makes one plan; leave it out"
        assert told in done.stderr
    done = CliRunner().invoke(app, ["replay-demand", str(EXAMPLE), "--evry", "1 h"])
    assert "you mean --every?" in done.stderr


def test_dark_time_may_be_minutes() -> None:
    words = f"{EXAMPLE} -a edmonds --json --dark"
    assert json.loads(run(f'{words} "1 min"'))["dark_s"] == 60
