"""Clocks: output, files and errors of the command and of the API. The theory is tested in Rust."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from cli_support import command, lightloom
from hypothesis import given
from hypothesis import strategies as st
from signal_support import busy

from lightloom import ConfigError
from lightloom.devices import clock
from lightloom.plotting.clock import POINTS, thinned

QUIET: dict[str, Any] = {
    "nodes": 8,
    "duration": "4 ms",
    "oscillator": {"tolerance": "0 ppm", "white": "0 ppm", "walk": "0 ppm"},
    "timestamps": {"jitter": "0 ps", "quantisation": "0 ps"},
    "fibre": {"asymmetry": "0 ps", "table_error": 0.0},
    "loopback": {"noise": "0 ps"},
}
SMALL = ("--nodes", 6, "--duration", "2 ms")


@pytest.fixture(scope="module")
def found() -> clock.Synchronisation:
    return clock.simulate(nodes=12, duration="10 ms", day={"duration": "2000 s"})


def test_figures_are_those_of_the_columns(found: clock.Synchronisation) -> None:
    assert found.day_samples is not None
    for name, table in (("epochs", found.samples), ("day", found.day_samples)):
        figures = found.summary[name]
        deviation = table["deviation_ps"].to_numpy()
        at = int(deviation.argmax())
        assert figures["deviation_max_ps"] == deviation.max()
        assert figures["deviation_mean_ps"] == pytest.approx(deviation.mean())
        assert figures["deviation_max_at_s"] == pytest.approx(table["time_ps"][at].as_py() / 1e12)
        pair = [table[key][at].as_py() for key in ("ahead", "behind")]
        assert figures["deviation_max_pair"] == pair
        assert figures["wander_max_ps"] == table["wander_ps"].to_numpy().max()
        assert (figures["samples"], table.num_rows) == (table.num_rows, len(deviation))
    assert found.summary["epochs"]["samples"] == 10_000_000 // (11 * 1_600)
    assert found.summary["day"]["samples"] == 2_000


def test_nodes_are_as_far_apart_as_their_means_and_what_moves_about_them(
    found: clock.Synchronisation,
) -> None:
    means = found.nodes["mean_ps"].to_numpy()
    most, least = (found.nodes[key].to_numpy() for key in ("most_ps", "least_ps"))
    assert means.sum() == pytest.approx(0.0, abs=1e-3)
    figures = found.summary["epochs"]
    assert figures["deviation_max_ps"] <= most.max() - least.min() + 1e-3
    assert figures["deviation_max_ps"] >= np.ptp(means) - 1e-3
    squares = 2 * (found.nodes["rms_ps"].to_numpy() ** 2).sum() / (len(means) - 1)
    assert figures["wander_rms_ps"] == pytest.approx(math.sqrt(squares), rel=1e-4)


def test_offsets_by_asymmetry_are_half_their_difference() -> None:
    """The difference between two nodes is normally distributed, with standard deviation 10 ps ÷ √2
    (formula of A.2)."""
    apart = []
    for seed in range(200):
        table = QUIET | {"nodes": 2, "seed": seed, "fibre": {"asymmetry": "10 ps"}}
        table["fibre"]["dispersion"] = "0 ps/nm/km"
        one = clock.simulate(table, contributions=False, settle="2 ms", duration="100 us")
        apart.append(one.summary["epochs"]["pair_mean_ps"])
    # The standard error of the deviation of 200 draws is a twentieth; the tolerance is four of
    # these.
    assert np.std(apart) == pytest.approx(10 / math.sqrt(2), rel=0.2)
    assert abs(np.mean(apart)) < 4 * 7.1 / math.sqrt(200)


def test_what_dominates_is_the_largest_alone() -> None:
    loud = QUIET | {"timestamps": {"jitter": "3 ps", "quantisation": "0 ps"}}
    assert clock.simulate(loud).summary["dominant"] == {
        "deviation": "jitter",
        "wander": "jitter",
        "day": None,
    }
    summary = clock.simulate(QUIET).summary
    assert summary["dominant"]["deviation"] is None
    assert summary["epochs"]["deviation_max_ps"] == 0.0
    assert summary["within_sirius"]["deviation"] is True


def test_delays_of_two_nodes_cancel_over_a_day_though_never_measured_again() -> None:
    """250 m at 20 ps/km/K: two nodes lead alternately, so that common delays cancel on average."""
    warm = {"every": "0 s", "noise": "0 ps"}
    two = clock.simulate(
        QUIET,
        nodes=2,
        day={},
        loopback=warm,
        contributions=False,
        oscillator={"thermal": "0 ppb/K"},
    )
    assert two.summary["day"]["deviation_max_ps"] < 1e-6


def test_the_same_configuration_gives_the_same_files(
    found: clock.Synchronisation, tmp_path: Path
) -> None:
    written = found.save(tmp_path / "a")
    again = clock.simulate(tmp_path / "a" / "clock.toml")
    again.save(tmp_path / "b")
    names = {path.name for path in written}
    assert names >= {"summary.json", "clock.toml", "epochs.parquet", "day.parquet"}
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    told = json.loads(pq.read_schema(tmp_path / "a" / "nodes.parquet").metadata[b"lightloom"])
    assert told["config"] == found.config
    assert told["seed"] == 1


def test_progress_rises_to_the_end() -> None:
    shares: list[float] = []
    clock.simulate(nodes=128, duration="30 ms", progress=shares.append)
    assert shares == sorted(shares)
    assert all(0 < share <= 1 for share in shares)


def test_an_error_of_whoever_listens_ends_the_run() -> None:
    def fails(share: float) -> None:
        raise RuntimeError(f"at {share}")

    with pytest.raises(RuntimeError, match="at 0"):
        clock.simulate(nodes=128, duration="1 s", progress=fails)


def test_api_refuses_by_name() -> None:
    with pytest.raises(ConfigError, match="from 2 to 65536") as caught:
        clock.simulate(nodes=1)
    assert (caught.value.key, caught.value.value) == ("nodes", "1")


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=3 * POINTS))
def test_thinned_curves_keep_their_largest_values(values: list[float]) -> None:
    at, most = thinned(np.arange(float(len(values))), np.array(values))
    assert len(at) == len(most) <= POINTS
    assert most.max() == max(values)
    assert set(most) <= set(values)


def test_the_command_prints_deviation_and_what_dominates(tmp_path: Path) -> None:
    made = lightloom("clock", *SMALL, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    for text in ("largest deviation", "about their means", "one every 17.6 µs", "white frequency"):
        assert text in made.stdout
    assert "dominates the largest deviation" in made.stdout
    assert not list(tmp_path.iterdir())


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=40))
def test_cells_of_all_nodes_are_at_the_grating_together(delays: list[int]) -> None:
    starts = clock.epoch_starts(delays)
    assert {start + delay for start, delay in zip(starts, delays, strict=True)} == {max(delays)}
    assert min(starts) == 0


def test_a_delay_below_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"delays\[1\] = -2: "):
        clock.epoch_starts([1, -2])
    assert clock.epoch_starts([]) == []


def test_the_command_prints_json_alone(tmp_path: Path) -> None:
    made = lightloom("clock", *SMALL, "--json", "--no-contributions", cwd=tmp_path)
    summary = json.loads(made.stdout)
    assert summary["contributions"] is None
    assert summary["config"]["nodes"] == 6
    assert {"version", "seed", "epochs", "day", "loop"} <= summary.keys()


def test_options_and_keys_reach_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text('nodes = 9\n[loop]\nbandwidth = "2 kHz"\n')
    options = ["--epoch", "2 us", "--leader-epochs", 3, "--duration", "8 ms", "--seed", 5]
    options += ["--die", "2@1 ms", "--byzantine", "4", "--lie", "run", "--set", "loop.damping=1.0"]
    made = lightloom("clock", "c.toml", *options, "--no-contributions", "--json", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    config = json.loads(made.stdout)["config"]
    assert (config["nodes"], config["epoch"], config["leader_epochs"]) == (9, "2 us", 3)
    assert config["loop"]["bandwidth"] == "2000 Hz"
    assert config["loop"]["damping"] == 1.0
    assert config["die"] == [{"node": 2, "at": "1 ms", "missed": 3}]
    assert (config["byzantine"]["nodes"], config["byzantine"]["lie"]) == ([4], "run")


def test_files_are_written_by_their_endings(tmp_path: Path) -> None:
    names = ["d.svg", "d.png", "d.pdf", "d.csv", "d.parquet", "d.json"]
    outputs = [part for name in names for part in ("-o", name)]
    made = lightloom("clock", *SMALL, "--no-contributions", *outputs, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert b"<svg" in (tmp_path / "d.svg").read_bytes()
    assert (tmp_path / "d.pdf").read_bytes().startswith(b"%PDF")
    table = pq.read_table(tmp_path / "d.parquet")
    assert pyarrow.csv.read_csv(tmp_path / "d.csv").num_rows == table.num_rows == 113


REFUSED = {
    "--nodes = 1: must be from 2 to 65536; raise it": ("--nodes", 1),
    '--epoch = "2": `2` has no unit': ("--epoch", 2),
    "loop.bandwith = ": ("--set", "loop.bandwith=1 kHz"),
    '--die = "x": is no node; write the number': ("--die", "x"),
    "die[0].node = 128: nodes are numbered from 0 to 127": ("--die", 128),
    "--lie = run: no node lies": ("--lie", "run"),
    'byzantine.lie = "no": must be one of': ("--byzantine", 1, "--lie", "no"),
    "-o = a.yaml: its extension names no known format": ("-o", "a.yaml"),
    "CLOCK.toml = none.toml: no such file": ("none.toml",),
    "judge.sampling = ": ("--duration", "86400 s", "--set", "judge.sampling=1 ns"),
}


@pytest.mark.parametrize(("text", "options"), REFUSED.items())
def test_what_cannot_run_is_refused(text: str, options: tuple[object, ...], tmp_path: Path) -> None:
    made = lightloom("clock", *options, "-o", "out", cwd=tmp_path)
    assert made.returncode == 2
    assert "error: " + text in made.stderr.replace("\n", " ")
    assert made.stdout == ""
    assert not list(tmp_path.iterdir())


def test_a_configuration_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("nodes = 3\n")
    made = lightloom("clock", "c.toml", "-o", "c.toml", cwd=tmp_path)
    assert made.returncode == 2
    assert "is the configuration itself" in made.stderr
    assert (tmp_path / "c.toml").read_text() == "nodes = 3\n"


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    long = command("clock", "--duration", "60 s", "-o", "out")
    with subprocess.Popen(
        long, cwd=tmp_path, stderr=subprocess.PIPE, env=os.environ, text=True
    ) as process:
        busy(process, 1.5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "nothing unfinished was written" in said
    assert not list(tmp_path.iterdir())


def test_explain_knows_the_keys(tmp_path: Path) -> None:
    key = lightloom("explain", "clock.loop.clip", cwd=tmp_path)
    assert 'default "10 ppm"' in key.stdout
    everything = lightloom("explain", "clock", cwd=tmp_path).stdout
    assert all(word in everything for word in ("thermal", "assumption"))
    wrong = lightloom("explain", "clock.loop.clop", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "clip" in wrong.stderr


def test_every_default_has_a_source_or_is_called_an_assumption() -> None:
    """This concerns physical values; the sizes of a run have no source."""
    plain = {"duration", "settle", "seed", "die", "byzantine", "filter", "start", "noise"}
    plain |= {"sampling", "bandwidth_of_judge", "step", "day"}
    for name, part in clock.schema()["$defs"].items():
        if name in {"Byzantine", "Death", "Judge", "Filter", "Start", "Lie", "Day"}:
            continue
        for key, told in part["properties"].items():
            text = told["description"]
            sourced = any(
                word in text for word in ("assumption", "Sirius", "IEEE", "ITU", "ASHRAE")
            )
            assert key in plain or sourced or "Gardner" in text, f"{name}.{key}: {text}"


def test_hours_are_those_of_the_slow_model(tmp_path: Path) -> None:
    options = ["--nodes", "8", "--duration", "4 ms", "--hours", "0.25", "--json"]
    made = lightloom("clock", *options, "--no-contributions", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["day"]["samples"] == 900
    for none in ("0", "-1", "nan", "inf"):
        refused = lightloom("clock", "--hours", none, cwd=tmp_path)
        assert refused.returncode == 2
        assert refused.stderr.startswith(f"error: --hours = {none}: ")
