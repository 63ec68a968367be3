"""The report's page and files, on synthetic comparisons."""

from __future__ import annotations

import hashlib
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_report_support import FOUR, Profile, make_comparison

from lightloom import report
from lightloom.analysis import reading
from lightloom.report import page

LOADS = (0.1, 0.5, 1.0)
ODD = '<b>$x_1$ & "odd"</script></noscript><!-- %{x} _é'
KEYS = ["by-load", "fct-distribution", "fct-by-size", "queues", "traffic"]


class Page(HTMLParser):
    """Checks that elements are closed; collects text, attributes and scripts by kind."""

    VOID = frozenset({"meta", "br", "hr", "img", "link", "input", "path", "use"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in self.VOID:
            return
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside == "script":
            self.scripts.append(data)
        elif inside != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]


def built(tmp_path: Path, *comparisons: Any) -> str:
    return report.build(comparisons or (make_comparison(loads=LOADS),), tmp_path).read_text()


def data_of(text: str) -> Any:
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The default report: four fabrics at three loads."""
    out = tmp_path_factory.mktemp("report")
    return built(out), out


def test_the_page_is_well_formed_html(four: tuple[str, Path]) -> None:
    parsed = Page(four[0])
    assert parsed.open == []
    ids = [a["id"] for _, a in parsed.elements if "id" in a]
    assert len(ids) == len(set(ids))
    controls = [a["aria-controls"] for _, a in parsed.elements if "aria-controls" in a]
    assert set(controls) <= set(ids)
    assert all("scope" in a for a in parsed.all("th"))


def test_the_page_loads_nothing_from_elsewhere(four: tuple[str, Path]) -> None:
    text = four[0]
    for tag, attrs in Page(text).elements:
        for name in ("src", "href", "xlink:href", "action", "data"):
            assert (attrs.get(name) or "#").startswith("#"), (tag, attrs)
    styles = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "@import" not in styles
    assert not re.search(r"url\((?!#)", styles)
    assert "default-src 'none'" in text  # so that a browser would also refuse it


def test_every_figure_is_in_the_page_and_in_files(four: tuple[str, Path]) -> None:
    text, out = four
    files = {p.name for p in (out / "figures").iterdir()}
    assert files == {f"{key}.{kind}" for key in KEYS for kind in ("svg", "png")}
    assert [f["key"] for f in data_of(text)[0]] == KEYS
    assert text.count('class="picture"') == len(KEYS)
    for key in KEYS:
        root = ET.fromstring((out / "figures" / f"{key}.svg").read_bytes())
        words = [e.text for e in root.iter() if e.tag.endswith("}text")]
        assert {p.label for p in FOUR} <= set(words), key
        assert (out / "figures" / f"{key}.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_and_the_file_show_the_same_curves(four: tuple[str, Path]) -> None:
    for figure in data_of(four[0])[0]:
        for trace in figure["data"]:
            assert len(trace["x"]) == len(trace["y"]) <= 500, figure["key"]
    distribution = data_of(four[0])[0][KEYS.index("fct-distribution")]
    clos = next(t for t in distribution["data"] if t["name"] == "clos")
    assert clos["x"] == sorted(clos["x"])
    assert clos["y"] == sorted(clos["y"])
    assert clos["y"][-1] == 1  # every short flow is finished


def test_same_input_same_bytes(tmp_path: Path, four: tuple[str, Path]) -> None:
    again = tmp_path / "again"
    assert built(again) == four[0]
    for file in sorted((four[1] / "figures").iterdir()):
        assert (again / "figures" / file.name).read_bytes() == file.read_bytes(), file.name


def test_identifiers_in_pictures_do_not_clash(four: tuple[str, Path]) -> None:
    text = four[0]
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    pictures = "".join(re.findall(r"<noscript>.*?</noscript>", text, re.DOTALL))
    assert set(re.findall(r"(?:href=\"|url\()#([^\")]+)", pictures)) <= set(ids)


def test_labels_cannot_become_markup(tmp_path: Path) -> None:
    odd = Profile(ODD, "sirius", 3.0, settings={"note": "</pre><script>alert(1)</script>"})
    text = built(tmp_path, make_comparison([odd, FOUR[2]], name=ODD, loads=LOADS, n=3000))
    parsed = Page(text)
    assert parsed.open == []
    assert len(parsed.scripts) == 3  # the data, Plotly, ours
    assert not parsed.all("b") or ODD in parsed.text
    assert parsed.text.count(ODD) > 10
    names = {t["name"] for f in data_of(text)[0] for t in f["data"]}
    assert not any("<" in n for n in names)  # Plotly reads HTML in names
    for key in KEYS:
        root = ET.fromstring((tmp_path / "figures" / f"{key}.svg").read_bytes())
        assert any(ODD[:20] in (e.text or "") for e in root.iter()), key


def test_several_workloads_get_tabs_and_files_of_their_own(tmp_path: Path) -> None:
    few = FOUR[2:]
    a = make_comparison(few, name="Web search", n=3000)
    b = make_comparison(few[::-1], name="web-search", n=3000, seed=2)
    text = built(tmp_path, a, b)
    tabs = [attrs for attrs in Page(text).all("button") if attrs.get("role") == "tab"]
    assert [t["aria-selected"] for t in tabs] == ["true", "false"]
    files = {p.stem for p in (tmp_path / "figures").iterdir()}
    assert {"web-search-1-queues", "web-search-2-queues"} <= files
    slots = [{t["name"]: t["meta"]["slot"] for t in view[0]["data"]} for view in data_of(text)]
    assert slots[0] == slots[1]  # a fabric looks the same under every workload


def test_missing_figures_are_dashes(tmp_path: Path) -> None:
    comparison = make_comparison([FOUR[0], Profile("bare", hops=None, queue=None)], n=3000)
    summary = comparison.results["bare"].summary
    summary["slowdown"] = {"p50": None, "p99": None}
    del summary["slowdown_bound"]
    summary["goodput_normalized"] = float("nan")
    del summary["kernel_s"]
    text = Page(built(tmp_path, comparison)).text
    assert re.search(r"Queue peak, worst node KB ↓ , lower is better 78.2 –", text)
    assert re.search(r"Goodput, over the whole run % 50.0 –", text)
    assert "nan" not in text.lower()
    assert "None" not in text


@pytest.mark.parametrize("finished", [0.0, 1.0])
@pytest.mark.parametrize("sizes", [[], [1e6] * 40, [500.0] * 40])
def test_extreme_workloads_still_make_a_report(
    tmp_path: Path, sizes: list[float], finished: float
) -> None:
    fabric = Profile("only", finished=finished)
    comparison = make_comparison([fabric], sizes=np.array(sizes), name="")
    text = built(tmp_path, comparison)
    assert Page(text).open == []
    assert "figures/" in text


def test_empty_tables_still_make_a_report(tmp_path: Path) -> None:
    comparison = make_comparison([FOUR[0]], n=10)
    result = comparison.results["sirius"]
    result.flows, result.timeseries = result.flows.slice(0, 0), result.timeseries.slice(0, 0)
    assert data_of(built(tmp_path, comparison)) == [[]]


def test_eight_fabrics_under_two_workloads_stay_small(tmp_path: Path) -> None:
    eight = [Profile(f"fabric number {i}", base_us=1.5 + i, queue=1e4 * 3**i) for i in range(8)]
    pair = [make_comparison(eight, name=n, loads=LOADS, n=20_000) for n in ("a", "b")]
    path = report.build(pair, tmp_path)
    assert path.stat().st_size < 2_500_000
    looks = {
        (t["line"]["dash"], t["marker"]["symbol"])
        for t in data_of(path.read_text())[0][0]["data"]
        if t["mode"] == "lines+markers"
    }
    assert len(looks) == 8


def test_pictures_give_way_when_the_page_would_grow_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PAGE_BUDGET", 1_000_000)
    text = built(tmp_path, make_comparison(FOUR[:1], n=3000))
    assert 'class="picture"' not in text
    assert "<code>figures/queues.svg</code>" in text


def test_what_is_in_force_stands_with_the_fabric(tmp_path: Path) -> None:
    comparison = make_comparison([FOUR[0], Profile("bare")], n=300)
    sirius, bare = comparison.results.values()
    sirius.summary["derived"] = {"base_uplinks": 1, "cell_bytes": 562, "epoch_slots": 32 / 3}
    bare.summary["derived"] = {}
    text = Page(built(tmp_path, comparison)).text
    assert "force: 1 base uplink" in text
    assert "cells of 562 B" in text
    assert "epochs of 10.67 slots" in text
    assert text.count("In force") == 1


def test_drawing_tells_how_far_it_is(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    pair = [make_comparison(FOUR[:2], n=300, name=name) for name in ("a", "b")]
    report.build(pair, tmp_path, lambda *drawn: heard.append(drawn))
    pictures = len(list((tmp_path / "figures").glob("*.png")))
    assert heard == [(i, pictures) for i in range(pictures + 1)]


def test_no_comparison_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one comparison"):
        report.build([], tmp_path)
    assert not list(tmp_path.iterdir())


def test_flows_that_had_not_arrived_do_not_count() -> None:
    comparison = make_comparison([FOUR[2]], n=4000)
    comparison.results["clos"].summary["simulated_s"] /= 2
    read = reading.workload(comparison, {"clos": 0}).fabrics[0]
    assert 0.4 < read.sizes.size / 4000 < 0.6


def test_the_vendored_library_is_the_one_that_is_documented() -> None:
    folder = Path(report.__file__).parent / "vendor"
    library = (folder / "plotly-basic.min.js").read_bytes()
    provenance = (folder / "PROVENANCE.md").read_text()
    assert hashlib.sha256(library).hexdigest() in provenance
    version = re.search(rb"plotly.js \(basic - minified\) v([\d.]+)", library)[1].decode()
    assert version in provenance
    assert "MIT" in (folder / "plotly-LICENSE").read_text()
