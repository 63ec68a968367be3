"""The display of results, comparisons and plans in a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from cli_support import CLOS, SIRIUS
from view_support import CUT, one_seed, table, three_seeds, took

import lightloom
from lightloom import control, report
from lightloom.control import Demand
from lightloom.results.result import Comparison
from lightloom.results.views import Viewed
from lightloom.units.bounds import bound

EVIL = '<b onload="x()">&amp;</b><script>alert(1)</script>'
DEMAND = np.array([[0, 9, 1, 0], [9, 0, 0, 2], [1, 0, 0, 7], [0, 2, 7, 0]])
Html = ElementTree.Element


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return one_seed()


@pytest.fixture(scope="module")
def repeated() -> Comparison:
    return three_seeds()


def page(view: Viewed) -> Html:
    """Returns its HTML, which is also well-formed XML."""
    return ElementTree.fromstring(view._repr_html_())  # type: ignore[attr-defined]


def name(tag: str) -> str:
    return tag.rpartition("}")[2]


def words(element: Html) -> str:
    """Returns its visible text."""
    return " ".join(
        text for part in element.iter() if name(part.tag) != "style" for text in part.itertext()
    )


def figures(shown: Html) -> dict[str, list[str]]:
    """Returns the rows of its first table: name → the first line of each cell."""
    return {
        row[0].text or "": ["".join(cell.itertext()) for cell in row[2:]]
        for row in shown.iter("tr")
        if row[0].get("scope") == "row"
    }


def views(comparison: Comparison) -> Iterator[Viewed]:
    """Returns one view of each kind, all of whose names are markup."""
    result = next(iter(comparison.results.values()))
    evil = replace(result, label=EVIL, summary={**result.summary, "label": EVIL})
    experiment = {**result.experiment, "name": EVIL}
    yield replace(evil, experiment=experiment)
    yield replace(comparison, name=EVIL, results={EVIL: evil, "other": result}, loads={})
    demand = Demand(DEMAND, [EVIL, EVIL + "1", EVIL + "2", EVIL + "3"])
    yield control.plan(demand, "edmonds")
    yield control.plan(demand, "solstice")


def test_names_are_text_and_nothing_is_loaded(comparison: Comparison) -> None:
    for view in views(comparison):
        shown = page(view)
        tags = {name(part.tag) for part in shown.iter()}
        assert not tags & {"script", "link", "iframe", "img", "object", "b", "foreignObject"}
        for part in shown.iter():
            for key, value in part.attrib.items():
                assert not name(key).startswith("on"), key
                if name(key) in ("href", "src"):
                    assert value.startswith(("#", "data:image/png;base64,"))
                assert "url(" not in value or "url(#" in value
        assert "url(" not in (shown.find("style").text or "")  # type: ignore[union-attr]
        assert "@import" not in view._repr_html_()  # type: ignore[attr-defined]
    for view in list(views(comparison))[:3]:
        assert EVIL in words(page(view))


def test_colours_are_the_pages_own(comparison: Comparison) -> None:
    style = page(comparison).find("style")
    assert style is not None
    found = re.findall(r"(?:[\w-]*color|background|border[\w-]*): *([^;}]*)", style.text or "")
    allowed = re.compile(r"transparent|0|4px|collapse|#fff|1px solid rgba\(128, 128, 128, .35\)")
    assert found
    assert all(allowed.fullmatch(value) for value in found), found
    # White is only the background of figures, whose letters are dark.
    assert (style.text or "").count("#fff") == 1
    assert ".picture { flex: 0 1 auto; background: #fff;" in (style.text or "")


def test_a_comparison_shows_its_verdict_and_each_fabric(comparison: Comparison) -> None:
    from lightloom import report

    shown = page(comparison)
    first = report.first([comparison])[comparison.name]
    assert first is not None
    assert first.title in words(shown)
    assert [cell.text for cell in shown.iter("th")][2:4] == ["sirius", "clos"]
    assert len([part for part in shown.iter() if name(part.tag) == "svg"]) == 1
    assert "Flows finished" in figures(shown)


@pytest.mark.parametrize("drained", [False, True])
def test_percentiles_are_bounds_where_flows_are_unfinished(drained: bool) -> None:
    text = CUT.replace("seed = 3", 'seed = 3\nstop = "drain"') if drained else CUT
    compared = lightloom.compare(table(text + SIRIUS + CLOS))
    shown = page(compared)
    rows = figures(shown)
    told = {
        "Short flows, 99th percentile": "fct.short.p99_us",
        "Short flows, median": "fct.short.p50_us",
    }
    for row, path in told.items():
        for cell, result in zip(rows[row], compared.results.values(), strict=True):
            found = bound(result.summary, path)
            assert found is not None
            assert found.exact is drained
            assert cell.startswith(">") is not drained
    assert ("lower bound; some of" in words(shown)) is not drained


def test_seeds_have_their_intervals(repeated: Comparison, comparison: Comparison) -> None:
    shown = page(repeated)
    assert "Means of 3 seeds" in words(shown)
    half = repeated.summaries["clos"]["hops_mean"]
    low, high = half["mean"] - half["half_width"], half["mean"] + half["half_width"]
    assert figures(shown)["Hops, mean"][1] == f"{half['mean']:.2f}{low:.2f} to {high:.2f}"
    assert not list(page(comparison).iter("small"))
    alone = lightloom.Repeated("clos", [one.results["clos"] for one in repeated.seeds])
    assert figures(page(alone))["Hops, mean"] == figures(shown)["Hops, mean"][1:]


def test_what_weakens_figures_is_said() -> None:
    late = CUT.replace("load = 0.9", "load = 2.5").replace("flows = 400", "flows = 4000")
    result = lightloom.run(table(late + '\n[[fabric]]\nkind = "clos"\n'))
    assert "overloaded: flows " in words(page(result))


def test_a_plan_shows_its_figures_and_circuits() -> None:
    plan = control.plan(Demand(DEMAND, ["w", "x", "y", "z"]), "edmonds")
    shown = page(plan)
    text = words(shown)
    assert "edmonds: 2 circuits for" in text
    assert "84.2 % of the" in text
    assert "the optimum" in text
    rows = [["".join(cell.itertext()) for cell in row] for row in shown.iter("tr")]
    assert ["w", "x", "18 B"] in rows
    many = np.ones((24, 24), np.int64) - np.eye(24, dtype=np.int64)
    assert 'and 4 more circuits: to_pandas("circuits")' in words(
        page(control.plan(many, "edmonds"))
    )


@pytest.mark.parametrize("algorithm", ["edmonds", "solstice", "hydra"])
def test_plans_of_nothing_but_a_pair_are_shown(algorithm: str) -> None:
    tiny = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    assert algorithm in words(page(control.plan(tiny, algorithm)))


def test_consoles_have_a_line(comparison: Comparison, repeated: Comparison) -> None:
    result = comparison.results["clos"]
    done, all_of = result.summary["flows_completed"], result.summary["flows_offered"]
    assert re.fullmatch(
        rf"<Result clos: {done} of {all_of} flows in [\d.]+ µs, seed 3>", repr(result)
    )
    for made_of, seeds in ((comparison, "seed 3"), (repeated, "seeds 3 to 5")):
        (first,) = report.first([made_of]).values()
        assert first is not None
        told = f"<Comparison experiment: {first.title}; sirius, clos; {seeds}>"
        assert repr(made_of) == told
    of_seeds = lightloom.Repeated("clos", [one.results["clos"] for one in repeated.seeds])
    assert repr(of_seeds) == "<Repeated clos: seeds 3 to 5>"
    many = replace(comparison, results={str(i): result for i in range(6)})
    assert re.fullmatch(
        r"<Comparison experiment: (.*; )?0, 1, 2, 3 and 2 more; seed 3>", repr(many)
    )
    made = control.plan(DEMAND, "edmonds")
    told = "edmonds: 2 circuits for 84.2 % of the demand, which is the optimum"
    assert repr(made) == f"<Plan {told}>"


def test_flows_that_never_arrived_leave_the_figure_out() -> None:
    text = CUT.replace("seed = 3", 'seed = 3\nstop = "100 ns"')
    result = lightloom.run(table(text + '\n[[fabric]]\nkind = "clos"\n'))
    assert result.summary["flows_completed"] == 0
    shown = page(result)
    assert not [part for part in shown.iter() if name(part.tag) == "svg"]
    assert took("x", [1]).plot.fct_cdf()
