"""A failed laser chip makes the transceivers that it supplies fail; compared with the same failed
transceivers in an experiment's file, and with their share of all links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lightloom
from lightloom import report
from lightloom.devices.of_fabrics import Lasers, lasers_of
from lightloom.failures import probing, sentences
from lightloom.failures.elements import LASER, Together
from lightloom.failures.search import Search
from lightloom.results.failures import OfKind, Resilience

FILE = """
[cluster]
racks = 16
servers_per_rack = 1
rack_rate = "200 Gb/s"

[workload]
arrivals = "poisson"
load = 2.0
flows = {flows}
sizes = {{ kind = "fixed", size = "20 KB" }}

[run]
seed = 1
stop = "last-arrival"

[[fabric]]
kind = "sirius"
uplinks = 4
uplink_plan = "wide"
devices = {{ preset = "sirius", link = {{ share = {share} }} }}
"""


def written(folder: Path, share: int, flows: int = 1000, more: str = "") -> Path:
    path = folder / "experiment.toml"
    path.write_text(FILE.format(share=share, flows=flows) + more, encoding="utf-8")
    return path


def broken(path: Path, tries: int = 2) -> Resilience:
    found = lightloom.compare(path, worst_failure=Search(tries)).resilience
    assert found is not None
    return found


def lasers(found: Resilience) -> OfKind:
    return next(kind for kind in found.fabrics["sirius"].kinds if kind.kind == "laser")


@pytest.mark.parametrize(("share", "chips"), [(2, [2, 2]), (3, [3, 1]), (8, [4])])
def test_a_laser_takes_the_transceivers_that_it_feeds_and_each_is_fed_once(
    share: int, chips: list[int], tmp_path: Path
) -> None:
    populations = probing.parts_of(lightloom.load(written(tmp_path, share)), "sirius").populations
    found = next(p for p in populations if p.kind is LASER)
    assert found.members == 16 * len(chips)
    dying = [part.faults("sirius") for part in found.parts()]
    assert [len(faults) for faults in dying] == chips * 16
    fed = [(fault["node"], fault["uplink"]) for faults in dying for fault in faults]
    assert sorted(fed) == [(node, uplink) for node in range(16) for uplink in range(4)]
    assert all(fault["element"] == "transceiver" for faults in dying for fault in faults)


def test_no_laser_dies_alone_where_each_transceiver_has_its_own(tmp_path: Path) -> None:
    populations = probing.parts_of(lightloom.load(written(tmp_path, 1)), "sirius").populations
    assert "laser" not in [found.kind.name for found in populations]
    bare: dict[str, Any] = {"kind": "sirius", "uplinks": 4}
    assert lasers_of(bare) is None


def test_what_is_left_is_that_of_the_transceivers_failed_by_hand(tmp_path: Path) -> None:
    path = written(tmp_path, 3)
    found = lasers(broken(path))
    for run in found.runs:
        words_of = run.part.split()
        laser, node = int(words_of[1]), int(words_of[4])
        uplinks = [3] if laser else [0, 1, 2]
        by_hand = "".join(
            f'\n[[fault]]\nat = "0 s"\nelement = "transceiver"\nnode = {node}\nuplink = {uplink}\n'
            for uplink in uplinks
        )
        (tmp_path / "by-hand").mkdir(exist_ok=True)
        summary = lightloom.run(written(tmp_path / "by-hand", 3, more=by_hand), "sirius").summary
        assert summary["load_delivered"] == run.figures.goodput
        assert summary["drops"] == run.figures.drops


def test_a_laser_takes_its_share_of_all_links(tmp_path: Path) -> None:
    """A saturated uniform load uses all N · U links evenly (§4.5); two failed transceivers of a
    node remove two links in each direction: 4 of 64."""
    found = broken(written(tmp_path, 2, flows=20_000))
    sound = found.fabrics["sirius"].sound.goodput
    assert sound is not None
    kept = [(run.figures.goodput or 0.0) / sound for run in lasers(found).runs]
    assert kept == pytest.approx([1 - 4 / 64] * 2, abs=0.007)


def test_the_run_of_a_dead_laser_can_be_had_again_from_its_file(tmp_path: Path) -> None:
    comparison = lightloom.compare(written(tmp_path, 2), worst_failure=Search(2))
    comparison.save(tmp_path / "out")
    table = json.loads((tmp_path / "out" / "resilience.json").read_text(encoding="utf-8"))
    kinds = table["fabrics"]["sirius"]["kinds"]
    run = next(kind for kind in kinds if kind["kind"] == "laser")["runs"][0]
    again = lightloom.run(lightloom.load(table["experiment"], run["set"]), "sirius")
    assert again.summary["load_delivered"] == run["goodput"]


def test_the_page_says_how_many_transceivers_hang_on_a_laser(tmp_path: Path) -> None:
    comparison = lightloom.compare(written(tmp_path, 2), worst_failure=Search(2))
    report.build([comparison], tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert comparison.resilience is not None
    assert lasers(comparison.resilience).least.part in page
    said = "2 transceivers share a laser, with 2 chips for the 4 of a node"
    assert said in page
    assert any(said in line for line in sentences.legend(comparison.resilience))


def test_the_last_chip_of_a_node_feeds_the_rest() -> None:
    assert Lasers("dsdbr", 12, 8).chips == 2
    assert [list(Together("uplink", 5, 2).of(chip)) for chip in range(3)] == [[0, 1], [2, 3], [4]]
