"""Physics that all fabrics share: its output, and the winner under each preset."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import lightloom as command

import lightloom
from lightloom import report
from lightloom.analysis import notes, winners
from lightloom.analysis.verdicts.criteria import SHORT
from lightloom.config import networks, physics
from lightloom.errors import ConfigError
from lightloom.report import build

EXAMPLE = Path(__file__).parents[2] / "examples" / "realistic.toml"
SMALL = {
    "name": "small",
    "cluster": {"racks": 8, "servers_per_rack": 2, "rack_rate": "100 Gb/s"},
    "workload": {"load": 0.2, "flows": 60, "sizes": {"kind": "fixed", "size": "10 KB"}},
    "run": {"stop": "drain"},
    "fabric": [{"kind": "clos"}, {"kind": "tree"}, {"kind": "sirius", "channel_rate": "50 Gb/s"}],
}


def test_override_by_set_reaches_every_fabric() -> None:
    loaded = lightloom.load(SMALL, ["physics.preset=realistic"])
    clos, tree, sirius = loaded.resolved()["fabric"]
    assert (clos["propagation"], tree["propagation"], sirius["propagation"]) == (
        "125 ns",
        "500 ns",
        "500 ns",
    )
    assert (
        lightloom.load(SMALL, ["physics.preset=ideal"]).resolved()["fabric"]
        == (lightloom.load(SMALL).resolved()["fabric"])
    )


def test_both_presets_are_compared_and_say_who_wins() -> None:
    ideal, realistic = lightloom.compare_physics(SMALL)
    assert [ideal.name, realistic.name] == ["small, ideal", "small, realistic"]
    assert realistic.results["clos"].summary["physics"]["switch_latency"] == "600 ns"
    assert ideal.results["clos"].summary["physics"] == {"preset": "ideal"}
    assert "physics" not in lightloom.run(SMALL, "clos").summary
    (group,) = winners.under_presets([ideal, realistic]).values()
    assert group == [ideal, realistic]
    said = winners.sentences(group)
    assert said[0].startswith(f"{SHORT.name}: ")
    p99 = [one.summaries["clos"]["fct"]["short"]["p99_us"] for one in (ideal, realistic)]
    # Every flow between pods has the additional delay of five switches and of propagation.
    assert p99[1] - p99[0] > 3.0


def test_who_wins_is_what_the_verdict_says() -> None:
    """Regression: a page had two rules: hybrid and clos level in the verdict, and hybrid best
    below."""
    group = lightloom.compare_physics(SMALL)
    verdicts = report.first(group)
    (deciding, *_) = [
        said
        for said in winners.sentences(group)
        if said.startswith("the 99th percentile of short flows: ")
    ]
    leaders = [found.leaders for found in verdicts.values() if found is not None]
    both = set(leaders[0]) & set(leaders[1])
    titles = [found.title for found in verdicts.values() if found is not None]
    if all("Too few flows" in title for title in titles):
        assert "too few flows arrived" in deciding
        return
    named = set(deciding.split(": ")[-1].replace(",", " ").split())
    assert named & {"clos", "tree", "sirius"} == set(leaders[0]) | set(leaders[1])
    assert ("the winner changes" in deciding) == (not both)


def test_seeds_are_compared_under_physics_too() -> None:
    """Regression: values with intervals are tables, and dividing them gave a traceback after all
    runs."""
    table = {**SMALL, "run": {"stop": "drain", "repeat": 2}}
    assert winners.sentences(lightloom.compare_physics(table))


def test_the_winner_changes_only_where_no_leader_stays_one() -> None:
    names = ("then", "now")
    a, b = (winners.Standing((x,), f"{x} best") for x in "ab")
    level = winners.Standing(("a", "b"), "a and b are level")
    assert winners.sentence("latency", a, b, names).split(": ")[-1] == "a best then; b best now"
    said = winners.sentence("latency", level, b, names)
    assert said == "latency: a and b are level then; b best now"
    alone = lightloom.compare_physics({**SMALL, "fabric": [{"kind": "clos"}]})
    assert winners.sentences(alone) == []
    assert winners.under_presets(alone[:1]) == {}


def test_what_is_ideal_and_what_is_not_obeyed_is_said() -> None:
    resolved = lightloom.load(SMALL).resolved()
    clos = next(line for line in physics.ideal(resolved) if line.startswith("clos: "))
    ideal = clos.removeprefix("clos: ").split(", ")
    assert ideal[:4] == ["no propagation", "no switch latency", "no FEC", "no headers"]
    assert list(physics.notes(resolved)) == []
    nodes = {
        **SMALL,
        "cluster": {"hosts": 16, "server_rate": "10 Gb/s"},
        "fabric": [{"kind": "lions"}, {"kind": "clos", "switch_latency": "1 us"}],
    }
    resolved = lightloom.load(nodes, ["physics.preset=realistic"]).resolved()
    notes = list(physics.notes(resolved))
    assert any(note.startswith("lions: physics.fec_latency is") for note in notes)
    assert any(note.startswith("clos: its own switch_latency, ") for note in notes)


def test_a_buffer_below_the_round_trip_is_a_note() -> None:
    nodes = {
        **SMALL,
        "cluster": {"hosts": 64, "server_rate": "40 Gb/s"},
        "fabric": [{"kind": "flattened-butterfly", "preset": "basic"}],
    }
    assert list(physics.notes(lightloom.load(nodes).resolved())) == []
    # A cycle is 1.6 ns: a credit over 15 m returns after 1 + 110 + 51 cycles.
    resolved = lightloom.load(nodes, ["fabric.vc_buffer=48"]).resolved()
    (note,) = physics.notes(resolved)
    assert note.startswith("flattened-butterfly: fabric.vc_buffer = ")
    for figure in ("= 48 flits", "0.30 of", ", 15 m,", "after 162 cycles", "it to 162"):
        assert figure in note


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("physics.preset=real", 'must be one of "ideal", "realistic"'),
        ("physics.propagation=-5 ns", "physics.propagation"),
        ("physics.propagation=500", "has no unit"),
        ("physics.fibre=-1 m", "physics.fibre"),
        ("physics.switch_latency=2 s", "must be from 0 ps to 1 ms; lower it"),
        ("physics.latency=1 us", "no such key"),
        ("physics=3", "physics"),
    ],
)
def test_bad_physics_is_refused_by_name(override: str, said: str) -> None:
    with pytest.raises(ConfigError, match="physics") as refused:
        lightloom.load(SMALL, [override]).resolved()
    assert said in str(refused.value)


def test_fibre_and_propagation_say_the_same() -> None:
    with pytest.raises(ConfigError) as refused:
        lightloom.load(SMALL, ["physics.fibre=100 m", "physics.propagation=1 us"]).resolved()
    assert str(refused.value) == (
        "physics.fibre = 100 m: physics.propagation = 1 us is also given; remove one of the two"
    )


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("real", "--physics = real: no such preset; choose from ideal, realistic"),
        ("ideal,ideal", "--physics = ideal: is there twice"),
        ("", "--physics = : no such preset"),
    ],
)
def test_presets_to_compare_are_refused_by_name(wanted: str, said: str, tmp_path: Path) -> None:
    done = command("compare", str(EXAMPLE), "--physics", wanted, cwd=tmp_path)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_the_command_says_what_is_in_force_and_who_wins(tmp_path: Path) -> None:
    done = command(
        *("compare", "--verbose", str(EXAMPLE), "--physics", "ideal,realistic"),
        *("--set", "workload.flows=60", "-o", str(tmp_path / "out")),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "physics: realistic: 500 ns" in text
    assert "600 ns a switch" in text
    assert "idealised: clos, clos-3to1: " in text
    assert "short flows: " in text
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<dt>Physics</dt><dd>realistic: 500 ns" in page
    assert "<dt>Idealised</dt>" in page
    assert "under realistic physics" in page


def test_a_report_of_one_comparison_has_no_winners_elsewhere(tmp_path: Path) -> None:
    page = build([lightloom.compare(SMALL)], tmp_path).read_text(encoding="utf-8")
    assert "under realistic physics" not in page
    assert "<dt>Physics</dt>" not in page


def test_networks_oversubscribed_at_different_places_are_said() -> None:
    """Regression: 3:1 above the pods of a Clos and 3:1 at racks were compared as if they were
    equal."""
    clos = {"label": "clos", "oversubscription": 3.0, "oversubscription_at": "aggregation-core"}
    tree = {"label": "tree", "oversubscription": 3.0}
    (said,) = networks.elsewhere({"fabric": [clos, tree]})
    assert said.startswith("networks are oversubscribed at")
    assert "clos 3:1 above pods" in said
    for alike in (
        [clos],
        [clos | {"oversubscription_at": "rack"}, tree],
        [clos, tree | {"oversubscription": 1.0}],
    ):
        assert list(networks.elsewhere({"fabric": alike})) == []


def test_links_of_other_rates_by_default_are_said() -> None:
    """Regression: short flows were faster on a Clos with one link of 40 Gb/s per rack than on a
    tree with four of 10 Gb/s, without a note on the difference."""
    clos = {"label": "clos", "oversubscription": 1.0, "link_rate": "50 Gb/s"}
    tree = {"label": "tree", "oversubscription": 1.0}
    cluster = {"racks": 16, "servers_per_rack": 4, "server_rate": "10 Gb/s"}

    def said(*fabrics: dict[str, object], written: tuple[dict[str, object], ...]) -> list[str]:
        resolved = {"cluster": cluster, "fabric": list(fabrics)}
        return list(networks.faster_links({"fabric": list(written)}, resolved))

    (note,) = said(clos, tree, written=({}, {}))
    assert "clos 1 of 40.0" in note
    assert "tree 4 of 10.0" in note
    # An uplink of 10 Gb/s has one link of that rate on both fabrics.
    eighth = {"oversubscription": 4.0}
    assert said(clos | eighth, tree | eighth, written=({}, {})) == []
    assert said(clos, tree | eighth, written=({}, {})) == []
    slow = {"link_rate": "10 Gb/s"}
    assert said(clos | slow, tree, written=(slow, {})) == []
    # There is no note if the user states both.
    assert said(clos, tree | slow, written=({"link_rate": "50 Gb/s"}, slow)) == []
    assert said(clos, written=({},)) == []


def test_uplinks_that_racks_limit_are_said() -> None:
    """16 racks of 800 Gb/s have only the base uplinks, which a reader could take for the paper's
    set-up."""
    table = {**SMALL, "cluster": {"racks": 4, "servers_per_rack": 4, "server_rate": "50 Gb/s"}}
    table["fabric"] = [{"kind": "sirius"}]

    def noted() -> list[float]:
        found = notes.notes_of_run(lightloom.run(table))
        few = [note.values for note in found if note.values.get("cause") == "few uplinks"]
        return [values["value"] for values in few]

    assert noted() == [1]
    table["cluster"] = {"racks": 8, "servers_per_rack": 4, "server_rate": "50 Gb/s"}
    assert noted() == []
