"""`[[workload.mix]]`: parts that are drawn together."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import lightloom as lightloom_command

import lightloom
from lightloom.analysis import notes
from lightloom.config import inputs, loads
from lightloom.config.experiment import to_toml
from lightloom.errors import ConfigError
from lightloom.report import describe

KB = 1_000
BACKGROUND: dict[str, Any] = {
    "load": 0.2,
    "flows": 3_000,
    "sizes": {"kind": "fixed", "size": "10 KB"},
}
INCASTS: dict[str, Any] = {
    "pattern": {"kind": "incast", "fan_in": 4},
    "sizes": {"kind": "fixed", "size": "1 KB"},
    "arrivals": {"kind": "poisson", "every": "50 us"},
}


def experiment(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "cluster": {"racks": 4, "servers_per_rack": 2, "server_rate": "10 Gb/s"},
        "workload": {"mix": list(parts), **more},
        "fabric": [{"kind": "clos", "label": "clos"}],
        "run": {"seed": 3, "stop": "drain"},
    }


def run(table: dict[str, Any]) -> Any:
    return lightloom.run(lightloom.load(table))


def of_size(flows: Any, size: int) -> np.ndarray:
    columns = [flows[name].to_numpy() for name in ("src", "dst", "arrival_ps")]
    return np.array(columns)[:, flows["bytes"].to_numpy() == size]


def test_a_part_is_what_it_is_alone() -> None:
    """The background part of a mix has the flows of the same workload without parts."""
    alone = experiment()
    alone["workload"] = BACKGROUND
    mixed = run(experiment(BACKGROUND, INCASTS)).flows
    assert np.array_equal(of_size(mixed, 10 * KB), of_size(run(alone).flows, 10 * KB))


def test_incasts_keep_their_rate_beside_a_load() -> None:
    """3,000 flows of 10 KB at 0.2 of 80 Gb/s take 15 ms: 300 rounds of four flows."""
    result = run(experiment(BACKGROUND, INCASTS))
    arrivals = of_size(result.flows, KB)[2]
    assert len(arrivals) == 4 * 300
    assert all(len(set(arrivals[k : k + 4])) == 1 for k in range(0, 1_200, 4))
    assert result.summary["flows_completed"] == 4_200
    # Loads add up: 0.2 of the background, and 4 KB in 50 us of the other part.
    whole = 0.2 + 4 * KB * 8 / 50e-6 / 80e9
    assert result.summary["load_offered"] == pytest.approx(whole, rel=0.15)


def test_one_incast_takes_what_its_receiver_takes() -> None:
    """Four flows of 1 MB to one server of 10 Gb/s end after 3.2 ms, in parallel to sparse mice of
    another part."""
    four = INCASTS | {
        "sizes": {"kind": "fixed", "size": "1 MB"},
        "pattern": {"kind": "incast", "fan_in": 4, "target": 0},
        "arrivals": "at-once",
        "flows": 4,
    }
    result = run(experiment(four, BACKGROUND | {"load": 0.001, "flows": 5}))
    ends = result.flows["finish_ps"].to_numpy()[result.flows["bytes"].to_numpy() == 1_000 * KB]
    assert ends.max() * 1e-12 == pytest.approx(3.2e-3, rel=1e-2)


def test_the_load_of_all_is_said_only_where_all_have_one() -> None:
    common = {key: value for key, value in BACKGROUND.items() if key != "load"}
    assert loads.whole(experiment(BACKGROUND, common, load=0.1)) == pytest.approx(0.3)
    assert loads.whole(experiment(BACKGROUND, INCASTS)) is None
    assert loads.whole({"workload": {"load": 0.7}}) == 0.7
    both = experiment(BACKGROUND, BACKGROUND)["workload"]
    assert not list(notes.of_workload({"load_offered": 0.4}, both))
    assert list(notes.of_workload({"load_offered": 0.2}, both))


def test_it_is_said_which_parts_a_load_is_of() -> None:
    own = {**BACKGROUND, "load": 0.3}
    free = {key: value for key, value in BACKGROUND.items() if key != "load"}
    two = experiment(own, free, INCASTS, load=0.1)
    assert loads.of_what(two) == "of part 2"
    varied, kept = loads.varied(two).split("; ")
    assert "part 2 of" in varied
    assert kept.startswith("parts 1 and 3")
    all_vary = experiment(free, free, load=0.1)
    assert (loads.of_what(all_vary), loads.varied(all_vary)) == ("of each part", None)
    assert loads.varied({"workload": {"load": 0.1}}) is None


def test_a_sweep_over_loads_says_which_parts_vary(tmp_path: Path) -> None:
    """The parts are named in the terminal, in the verdict, and below the figure."""
    free = {key: value for key, value in BACKGROUND.items() if key != "load"} | {"flows": 200}
    table = experiment(free, INCASTS, load=0.1)
    table["fabric"].append({"kind": "tree", "label": "tree"})
    (tmp_path / "mix.toml").write_text(to_toml(table))
    grid = 'base = "mix.toml"\n[grid]\n"workload.load" = [0.1, 0.2]\n'
    (tmp_path / "sweep.toml").write_text(grid)
    (tmp_path / "loads.toml").write_text(to_toml(table | {"compare": {"loads": [0.1, 0.2]}}))
    said = "Loads are those of part 1 of the mix; part 2 stays the same."
    for arguments in (("sweep", "sweep.toml", "-o", "a"), ("compare", "loads.toml", "-o", "b")):
        done = lightloom_command(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert said in " ".join(done.stdout.split())
    page = (tmp_path / "b" / "report.html").read_text()
    assert said in page
    assert "load of part 1" in page


def test_loads_vary_the_parts_without_one() -> None:
    """At twice the load of the background, the number of incasts is the same."""
    common = {key: value for key, value in BACKGROUND.items() if key not in ("load", "flows")}
    table = experiment(common, INCASTS, load=0.1)
    table["run"] = {"seed": 3, "warm_up": "1 ms", "measure": "5 ms"}
    base = lightloom.load(table)
    counts = [
        [part["flows"] for part in e.resolved()["workload"]["mix"]]
        for e in (base, base.with_load(0.2))
    ]
    assert counts[0][1] == counts[1][1]
    assert counts[1][0] == pytest.approx(2 * counts[0][0], rel=0.1)
    assert loads.flow_count(base.resolved()["workload"]) == sum(counts[0])


def test_a_file_of_a_part_is_kept_with_the_experiment(tmp_path: Path) -> None:
    """The digest of the file is recorded under its key, and another file is refused."""
    sizes = tmp_path / "sizes.txt"
    sizes.write_text("1000 0.5\n2000 1.0\n")
    part = BACKGROUND | {"sizes": {"kind": "cdf", "file": str(sizes), "interpolation": "step"}}
    raw = inputs.pinned(experiment(INCASTS, part))
    key = "workload.mix[1].sizes.file"
    assert list(raw["inputs"]) == [key]
    sizes.write_text("1000 1.0\n")
    with pytest.raises(ConfigError, match="has digest") as refused:
        inputs.pinned(raw)
    assert refused.value.key == key


def test_parts_are_described_one_after_the_other() -> None:
    """The common load is stated only for the parts that follow it."""
    common = {key: value for key, value in BACKGROUND.items() if key != "load"}
    said = describe.workload(experiment(common, INCASTS, load=0.2))
    assert said.startswith("2 parts together: ")
    background, incasts = said.split(";")
    assert "load 0.2" in background
    assert "every 50 us" in incasts
    assert "load" not in incasts
