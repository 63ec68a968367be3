"""Traces at other loads: times are scaled by one factor, which is printed."""

from pathlib import Path

import numpy as np
import pytest
from cli_support import lightloom, write

import lightloom as ll
from lightloom import ConfigError
from lightloom.simulation import traces

CLUSTER = '[cluster]\nracks = 4\nservers_per_rack = 1\nrack_rate = "1 Gb/s"\n'
CLOS = '[[fabric]]\nkind = "clos"\n'
# 4 servers of 1 Gb/s send 500 B per µs: five flows in 10 µs are a load of a half.
ROWS = [(0, 1, 500, 0), (1, 2, 500, 2), (2, 3, 500, 4), (3, 0, 500, 5), (0, 2, 500, 10)]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    rows = "".join(f"{s},{d},{b},{at * 1_000_000}\n" for s, d, b, at in ROWS)
    return write(tmp_path / "t.csv", "src,dst,bytes,arrival_ps\n", rows)


def experiment(trace: Path, more: str = "") -> Path:
    text = f'{CLUSTER}[workload]\ntrace = "{trace.name}"\n{more}\n{CLOS}'
    return write(trace.parent / "e.toml", text)


def test_times_are_multiplied_by_own_load_over_load(trace: Path) -> None:
    plain = ll.run(experiment(trace))
    assert plain.summary["load_offered"] == pytest.approx(0.5)
    assert plain.summary["time_scale"] is None
    scaled = ll.run(experiment(trace, 'scale = "time"\nload = 0.1'))
    assert scaled.summary["load_offered"] == pytest.approx(0.1)
    assert scaled.summary["time_scale"] == pytest.approx(5.0)
    for name in ("src", "dst", "bytes"):
        assert scaled.flows[name].equals(plain.flows[name])
    assert np.array_equal(
        scaled.flows["arrival_ps"].to_numpy(), 5 * plain.flows["arrival_ps"].to_numpy()
    )


def test_parquet_is_scaled_as_text_is(trace: Path) -> None:
    text = ll.run(experiment(trace, 'scale = "time"\nload = 0.3'))
    traces.write(traces.read(trace), trace.with_suffix(".parquet"))
    parquet = ll.run(experiment(trace.with_suffix(".parquet"), 'scale = "time"\nload = 0.3'))
    assert parquet.flows.equals(text.flows)
    assert parquet.summary["time_scale"] == text.summary["time_scale"]


def test_a_scaled_run_runs_again_to_the_same(trace: Path, tmp_path: Path) -> None:
    first = ll.run(experiment(trace, 'scale = "time"\nload = 0.3'))
    first.save(tmp_path / "out")
    again = ll.run(tmp_path / "out" / "experiment.toml")
    assert again.flows.equals(first.flows, check_metadata=True)


def test_a_trace_has_a_load_curve(trace: Path) -> None:
    file = experiment(trace, 'scale = "time"\n[compare]\nloads = [0.1, 0.3]')
    loads = ll.compare(file).loads["clos"]
    assert [s["load_offered"] for s in loads] == [pytest.approx(0.1), pytest.approx(0.3)]
    assert [s["time_scale"] for s in loads] == [pytest.approx(5.0), pytest.approx(5 / 3)]


def test_the_factor_is_said(trace: Path, tmp_path: Path) -> None:
    done = lightloom("run", experiment(trace, 'scale = "time"\nload = 0.1'), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "are multiplied by 5" in done.stdout


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("load = 0.3", r'workload\.load = 0\.3: a trace defines .*; add scale = "time"'),
        ('scale = "time"\nload = 0', r"workload\.load = 0: must be a number above 0"),
        ('scale = "time"\nload = 11', r"workload\.load = 11: must be at most 10"),
        ('scale = "time"\nload = [0.1, 0.3]', r"workload\.load = .*compare\.loads = \[0\.1,0\.3\]"),
        ('scale = "space"', r'workload\.scale = "space": must be one of "time"'),
        ("[compare]\nloads = [0.1]", r'compare\.loads\[0\] = 0\.1: .*; add scale = "time"'),
    ],
)
def test_what_is_wrong_is_refused(trace: Path, more: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ll.compare(experiment(trace, more))


def test_flows_that_arrive_at_once_have_no_load(tmp_path: Path) -> None:
    trace = write(tmp_path / "t.csv", "src,dst,bytes,arrival_ps\n0,1,500,0\n1,2,500,0\n")
    with pytest.raises(ConfigError, match="trace arrive at 0"):
        ll.run(experiment(trace, 'scale = "time"\nload = 0.1'))
