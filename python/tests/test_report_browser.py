"""The report in a real browser: both themes, the width of a desktop and of a phone, keyboard
only."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_support import AXE, PHONE, WIDE, Visit, chromium, visiting
from test_report_support import FOUR, Profile, make_comparison, make_hybrids

from lightloom import report

LOOKS = [
    pytest.param(WIDE, "light", id="wide-light"),
    pytest.param(WIDE, "dark", id="wide-dark", marks=pytest.mark.long),
    pytest.param(PHONE, "light", id="phone-light", marks=pytest.mark.long),
    pytest.param(PHONE, "dark", id="phone-dark"),
]
"""Each width and each theme, and the other two pairs with `make test-long`."""
EIGHT = tuple(
    Profile(f"fabric {i}", base_us=1.5 + i, queue=1e4 * 3**i, finished=0.5 if i == 6 else 1.0)
    for i in range(8)
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with four fabrics at three loads, with eight fabrics, and with circuits."""
    circuits = make_hybrids()
    circuits.name = "circuits"
    four = make_comparison(FOUR, name="Web search", loads=(0.1, 0.5, 1.0), n=3000)
    eight = make_comparison(EIGHT, name="eight", n=3000)
    return report.build([four, eight, circuits], tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def pictured(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two workloads, so small that the page contains all figures."""
    made = [make_comparison(FOUR[:2], name=name, n=300) for name in ("one", "other")]
    return report.build(made, tmp_path_factory.mktemp("pictured"))


def changed(page: Path, tmp_path: Path, old: str, new: str) -> Path:
    """Writes the page with a changed text."""
    text = page.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    made = tmp_path / "changed.html"
    made.write_text(text.replace(old, new, 1), encoding="utf-8")
    return made


# View of a reader


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_nothing_goes_wrong_whatever_is_pressed(
    browser: Any, page: Path, width: int, theme: str
) -> None:
    with visiting(browser, width, theme) as visit:
        visit.go(page)
        assert visit.page.evaluate("document.documentElement.dataset.theme") == theme
        for tab in visit.page.get_by_role("tab").all():
            tab.click()
            visit.settle()
            press_everything(visit)
            fits(visit, width)
        assert visit.errors == []
        assert visit.requests == []


def press_everything(visit: Visit) -> None:
    """Uses each kind of control of the visible workload, once in each direction."""
    view = visit.page.locator(".view:not([hidden])")
    for _ in range(2):
        visit.page.locator("#theme").click()
        view.locator(".legend button").first.click()
        view.locator(".toc summary").click()
    for button in view.locator("[data-zoom]:not([aria-disabled=true])").all()[:4]:
        button.click()
    for button in view.locator("[data-column]:visible").all():
        button.click()
    view.locator(".experiment summary").click()


def fits(visit: Visit, width: int) -> None:
    """Checks that the page is as wide as the window, and that no two labels of an axis overlap."""
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    meet = visit.page.evaluate(
        """() => {
            const box = (e) => e.getBoundingClientRect();
            const across = (a, b) => a.left < b.right && b.left < a.right;
            const hit = (a, b) => across(a, b) && a.top < b.bottom && b.top < a.bottom;
            const found = [];
            for (const plot of document.querySelectorAll(".view:not([hidden]) .plot")) {
                const labels = [...plot.querySelectorAll(".xtick text, .ytick text")];
                labels.forEach((a, i) => labels.slice(i + 1).forEach((b) => {
                    if (hit(box(a), box(b))) found.push([plot.parentNode.id, a.textContent]);
                }));
            }
            return found;
        }"""
    )
    assert meet == []


@pytest.mark.parametrize(
    ("script", "heard"),
    [
        ("console.error('made for a test')", "made for a test"),
        ("setTimeout(() => { throw new Error('made for a test') })", "made for a test"),
        ("Promise.reject(new Error('made for a test'))", "made for a test"),
        ("fetch('https://example.org/')", "Content Security Policy"),
    ],
)
def test_an_error_on_the_console_would_be_seen(
    browser: Any, page: Path, tmp_path: Path, script: str, heard: str
) -> None:
    broken = changed(page, tmp_path, "<body>", f"<body><script>{script}</script>")
    with visiting(browser) as visit:
        visit.go(broken)
        assert any(heard in line for line in visit.errors), visit.errors


def test_a_request_that_leaves_the_page_would_be_seen(
    browser: Any, page: Path, tmp_path: Path
) -> None:
    policy = re.search(r"<meta http-equiv=[^>]*>", page.read_text(encoding="utf-8"))
    assert policy is not None
    picture = '<link rel="stylesheet" href="https://example.org/x.css">'
    with visiting(browser) as visit:
        visit.go(changed(page, tmp_path, policy[0], picture))
        assert visit.requests == ["https://example.org/x.css"]


def test_many_fabrics_have_a_panel_each_that_none_overlaps(browser: Any, page: Path) -> None:
    for width in (WIDE, PHONE):
        with visiting(browser, width) as visit:
            visit.go(page, "#workload=eight&section=traffic")
            boxes = visit.page.evaluate(
                """[...document.querySelectorAll('#figure-2-traffic .cartesianlayer .subplot')]
                    .map((s) => s.querySelector('.gridlayer, .plot').getBoundingClientRect())
                    .map((b) => [b.left, b.right, b.top, b.bottom])"""
            )
            assert len(boxes) == 8
            for i, a in enumerate(boxes):
                for b in boxes[:i]:
                    apart = a[0] >= b[1] or b[0] >= a[1] or a[2] >= b[3] or b[2] >= a[3]
                    assert apart, (width, a, b)


# Accessibility


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_axe_finds_nothing(browser: Any, page: Path, width: int, theme: str) -> None:
    with visiting(browser, width, theme) as visit:
        visit.go(page, "#fabric=fabric+3")
        visit.page.evaluate(
            """() => {
                for (const each of document.querySelectorAll(".view")) each.hidden = false;
                for (const each of document.querySelectorAll(".toc details")) each.open = true;
                // To readers of screens a chart is one picture, whatever lies in it.
                const charts = document.querySelectorAll(".plot[role=img]");
                for (const chart of charts) chart.textContent = "";
            }"""
        )
        visit.page.locator(".legend button").first.click()
        assert visit.page.locator(".unranked").count() > 0
        assert visit.page.locator("[data-zoom]:visible").count() > 0
        assert visit.violations() == []


def test_axe_would_find_something(browser: Any, page: Path, tmp_path: Path) -> None:
    bad = '<body><p style="color: #aaa; background: #bbb">pale</p><button></button>'
    with visiting(browser) as visit:
        visit.go(changed(page, tmp_path, "<body>", bad))
        found = {line.split(":")[0] for line in visit.violations()}
        assert {"color-contrast", "button-name"} <= found


def test_the_vendored_axe_is_the_one_that_is_documented() -> None:
    provenance = AXE.with_name("PROVENANCE.md").read_text(encoding="utf-8")
    text = AXE.read_bytes()
    version = re.search(rb"axe v([\d.]+)", text)
    assert version is not None
    assert f"| {version[1].decode()} |" in provenance
    assert hashlib.sha256(text).hexdigest() in provenance
    assert "Mozilla Public License" in AXE.with_name("axe-LICENSE").read_text(encoding="utf-8")


# The address


@pytest.mark.parametrize("width", [WIDE, pytest.param(PHONE, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("fragment", "tab", "target"),
    [
        ("#workload=eight&section=key-figures", 1, "#key-2"),
        ("#workload=2&section=queues", 1, "#figure-2-queues"),
        ("#workload=web-search&section=fct-distribution", 0, "#figure-1-fct-distribution"),
        ("#section=data", 0, "#data-1"),
        ("#workload=Eight!&section=data", 1, "#data-2"),
        ("#figure-2-queues", 1, "#figure-2-queues"),
    ],
)
def test_a_link_lands_where_it_says(
    browser: Any, page: Path, width: int, fragment: str, tab: int, target: str
) -> None:
    with visiting(browser, width) as visit:
        visit.go(page, fragment)
        chosen = visit.page.get_by_role("tab").nth(tab)
        assert chosen.get_attribute("aria-selected") == "true"
        assert visit.at_top(target)
        visit.page.wait_for_timeout(300)  # longer than scrolling takes to update the address
        assert visit.page.evaluate("location.hash") == fragment
        current = visit.page.locator(".view:not([hidden]) .toc [aria-current]")
        assert current.get_attribute("href") == target


@pytest.mark.parametrize("name", ["fabric%20choice,%20realistic", "Realistic", "2"])
def test_a_workload_is_found_by_its_name_or_a_part_of_it(
    browser: Any, tmp_path: Path, name: str
) -> None:
    """Regression: names in the form of the tabs opened the first workload."""
    presets = ("ideal", "realistic")
    made = [make_comparison(FOUR[:2], name=f"fabric choice, {p}", n=300) for p in presets]
    with visiting(browser) as visit:
        visit.go(report.build(made, tmp_path), f"#workload={name}")
        chosen = visit.page.get_by_role("tab").nth(1)
        assert chosen.get_attribute("aria-selected") == "true"


@pytest.mark.parametrize("fragment", ["#workload=none&section=nowhere&fabric=nobody", "#&=&%"])
def test_a_link_that_means_nothing_opens_the_first_workload(
    browser: Any, page: Path, fragment: str
) -> None:
    with visiting(browser) as visit:
        visit.go(page, fragment)
        assert visit.page.get_by_role("tab").first.get_attribute("aria-selected") == "true"
        assert visit.page.evaluate("scrollY") == 0
        assert visit.errors == []


def test_every_line_of_the_contents_lands_and_back_returns(browser: Any, page: Path) -> None:
    with visiting(browser) as visit:
        visit.go(page)
        visit.page.get_by_role("tab", name="eight").click()
        view = visit.page.locator("#view-2")
        links = view.locator(".toc a")
        seen = []
        for i in range(links.count()):
            visit.press(view.locator(".toc summary"))
            target = links.nth(i).get_attribute("href")
            visit.press(links.nth(i))
            assert visit.at_top(target), target
            assert visit.page.evaluate("`#${document.activeElement.id}`") == target
            seen.append((target, visit.address))
        names = [address["section"] for _, address in seen]
        assert names[:5] == ["verdict", "setup", "data", "key-figures", "figures"]
        assert len(set(names)) == len(names) == len(view.locator("[data-section]").all())
        for target, address in reversed(seen[:-1]):
            visit.page.go_back()
            visit.page.wait_for_function(
                "(name) => location.hash.includes(`section=${name}`)", arg=address["section"]
            )
            assert visit.at_top(target), target
        assert visit.errors == []


def test_back_returns_to_the_workload_before(browser: Any, page: Path) -> None:
    with visiting(browser) as visit:
        visit.go(page)
        for name in ("eight", "circuits"):
            visit.page.get_by_role("tab", name=name).click()
            assert visit.address["workload"] == name
        for name in ("eight", "Web search"):
            visit.page.go_back()
            chosen = visit.page.get_by_role("tab", name=name, selected=True)
            chosen.wait_for()
            assert visit.page.locator(".view:visible").count() == 1
        visit.page.go_forward()
        visit.page.get_by_role("tab", name="eight", selected=True).wait_for()
        visit.settle()
        assert visit.errors == []


def test_scrolling_is_followed_by_the_address(browser: Any, page: Path) -> None:
    with visiting(browser) as visit:
        visit.go(page, "#section=key-figures")
        before = visit.page.evaluate("history.length")
        visit.page.mouse.move(600, 450)
        for _ in range(40):
            visit.page.mouse.wheel(0, 500)
        visit.page.wait_for_function("location.hash === '#section=traffic'")
        assert visit.page.evaluate("history.length") == before
        visit.page.reload()
        visit.settle()
        assert visit.at_top("#figure-1-traffic")


#: Boxes of charts that grow late, as if they were drawn slowly; the browser keeps no scroll
#: position.
LATE = """addEventListener("DOMContentLoaded", () => {
  document.documentElement.style.overflowAnchor = "none";
  setTimeout(() => {
    for (const plot of document.querySelectorAll(".plot")) plot.style.marginBottom = "400px";
    window.late = true;
  }, 700);
})"""


def late(visit: Any) -> None:
    """Waits until the charts have grown, and for the actions after scrolling."""
    visit.page.wait_for_function("() => window.late === true")
    visit.page.wait_for_timeout(400)


def test_charts_that_are_drawn_late_do_not_lead_a_link_astray(browser: Any, page: Path) -> None:
    with visiting(browser) as visit:
        visit.page.add_init_script(LATE)
        visit.page.goto(f"{page.as_uri()}#section=traffic")
        late(visit)
        assert visit.at_top("[data-section=traffic]")
        assert visit.address["section"] == "traffic"


def test_opening_the_contents_moves_the_page_and_not_the_address(browser: Any, page: Path) -> None:
    with visiting(browser) as visit:
        for section in ("key-figures", "figures"):
            visit.go(page, f"#section={section}")
            visit.page.reload()
            visit.settle()
            visit.page.locator("#view-1 .toc summary").click()
            visit.page.wait_for_timeout(400)  # longer than the page waits to follow
            assert visit.address["section"] == section


def test_who_has_scrolled_on_stays_there(browser: Any, page: Path) -> None:
    with visiting(browser) as visit:
        visit.page.add_init_script(LATE)
        visit.page.goto(f"{page.as_uri()}#section=setup")
        visit.page.mouse.move(600, 450)
        visit.page.mouse.wheel(0, 300)
        visit.page.wait_for_function("() => scrollY > 0")
        before = visit.page.evaluate("scrollY")
        late(visit)
        assert visit.page.evaluate("scrollY") >= before


# A phone


def test_every_fabric_is_reached_on_a_phone(browser: Any, page: Path) -> None:
    with visiting(browser, PHONE) as visit:
        visit.go(page, "#workload=eight&section=key-figures")
        bar = visit.page.locator("#view-2 .columns")
        assert "8 fabrics, the table" in bar.inner_text()
        assert visit.page.locator("#view-2 .scroll.cut-right").count() == 1
        assert bar.locator(".in-sight").all_inner_texts() == ["fabric 0", "fabric 1"][: seen(visit)]
        for i, profile in enumerate(EIGHT):
            bar.get_by_role("button", name=profile.label).click()
            visit.page.wait_for_function(
                "(i) => document.querySelectorAll('#view-2 [data-column]')[i]"
                ".matches('.in-sight[aria-pressed=true]')",
                arg=i,
            )
            head = visit.page.locator(f"#view-2 th[data-fabric='{profile.label}']").bounding_box()
            metric = visit.page.locator("#view-2 thead th.metric").bounding_box()
            assert head["x"] >= metric["x"] + metric["width"] - 2
            assert head["x"] + head["width"] <= PHONE
            assert visit.address["fabric"] == profile.label
        assert visit.page.locator("#view-2 .scroll.cut-right").count() == 0
        visit.page.reload()
        visit.settle()
        last = bar.get_by_role("button", name="fabric 7")
        assert "in-sight" in last.get_attribute("class")


def seen(visit: Visit) -> int:
    """Returns the number of whole columns that fit next to that of the metrics."""
    widths = visit.page.evaluate(
        "[...document.querySelectorAll('#view-2 thead th')].map((c) => c.offsetWidth)"
    )
    room = visit.page.evaluate("document.querySelector('#view-2 .scroll').clientWidth") - widths[0]
    return sum(1 for i in range(1, len(widths)) if sum(widths[1 : i + 1]) <= room + 2)


def test_a_table_that_fits_has_no_bar_of_columns(browser: Any, page: Path) -> None:
    with visiting(browser) as visit:
        visit.go(page, "#section=key-figures&fabric=clos")
        assert visit.page.locator("#view-1 .columns").is_hidden()
        picked = visit.page.locator("#view-1 tbody .picked")
        assert picked.count() == visit.page.locator("#view-1 tbody tr:not(.group)").count()


# By keyboard alone


def test_the_page_is_read_by_keyboard_alone(browser: Any, page: Path) -> None:
    with visiting(browser) as visit:
        visit.go(page)
        press = visit.page.keyboard.press
        press("Tab")
        assert focused(visit) == "theme"
        press("Enter")
        assert visit.page.evaluate("document.documentElement.dataset.theme") == "dark"
        press("Tab")
        assert focused(visit) == "tab-1"
        for key, expect in (
            ("ArrowRight", "tab-2"),
            ("End", "tab-3"),
            ("ArrowRight", "tab-1"),
            ("ArrowLeft", "tab-3"),
            ("Home", "tab-1"),
        ):
            press(key)
            assert focused(visit) == expect
            view = visit.page.locator(f"#view-{expect[-1]}")
            assert view.is_visible()
        press("Tab")
        press("Enter")  # the contents open
        for _ in range(3):
            press("Tab")
        press("Enter")  # the third line, below the leading value and the verdict
        assert focused(visit) == "setup-1"
        assert visit.address["section"] == "setup"


@pytest.mark.parametrize("workload", [1, 3])
def test_every_control_is_reached_by_tab_and_seen(browser: Any, page: Path, workload: int) -> None:
    with visiting(browser) as visit:
        visit.go(page, f"#workload={workload}")
        controls = visit.page.evaluate(
            """() => {
                const wanted = "button, summary, a[href], [tabindex='0']";
                const seen = [...document.querySelectorAll(wanted)].filter((e) =>
                    e.checkVisibility() && e.tabIndex >= 0);
                seen.forEach((e, i) => e.setAttribute("data-number", i));
                return seen.length;
            }"""
        )
        reached = []
        for _ in range(controls):
            visit.page.keyboard.press("Tab")
            number, outline, inside = visit.page.evaluate(
                """() => {
                    const e = document.activeElement;
                    const [style, box] = [getComputedStyle(e), e.getBoundingClientRect()];
                    const inside = box.bottom > 0 && box.top < innerHeight;
                    const drawn = style.outlineStyle !== "none" && parseFloat(style.outlineWidth);
                    return [e.dataset.number, drawn || 0, inside];
                }"""
            )
            assert outline >= 2, number
            assert inside, number
            reached.append(int(number))
        assert sorted(reached) == list(range(controls))


def focused(visit: Visit) -> str:
    """Returns the id of the element with the focus."""
    return str(visit.page.evaluate("document.activeElement.id"))


# Paper, and readers without scripts


def test_without_scripts_every_workload_is_there_with_its_pictures(
    browser: Any, pictured: Path
) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    try:
        plain = context.new_page()
        plain.goto(pictured.as_uri() + "#figure-2-queues")
        assert plain.locator(".view:visible").count() == 2
        assert plain.locator(".view-name:visible").count() == 2
        assert plain.locator(".picture svg:visible").count() == plain.locator("figure").count()
        assert plain.locator("[role=tab]:visible, .plot:visible, [data-save]:visible").count() == 0
        box = plain.locator("#figure-2-queues").bounding_box()
        assert 0 <= box["y"] < 200
    finally:
        context.close()


def test_on_paper_every_workload_is_there_with_its_pictures(browser: Any, pictured: Path) -> None:
    with visiting(browser, theme="dark") as visit:
        visit.go(pictured)
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        visit.page.emulate_media(media="print")
        assert visit.page.locator(".view:visible").count() == 2
        figures = visit.page.locator("figure").count()
        assert visit.page.locator(".for-print svg:visible").count() == figures
        hidden = ".toc:visible, .columns:visible, [role=tab]:visible, .plot:visible"
        assert visit.page.locator(hidden).count() == 0
        white = "getComputedStyle(document.body).backgroundColor"
        assert visit.page.evaluate(white) == "rgb(255, 255, 255)"
        assert visit.errors == []


# Files


def test_a_figure_is_saved_as_it_lies_in_the_folder(browser: Any, page: Path) -> None:
    with visiting(browser) as visit:
        visit.go(page)
        for kind, first in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
            button = visit.page.get_by_role("button", name=f"Save “How long flows take” as {kind}")
            with visit.page.expect_download() as download:
                button.first.click()
            name = f"web-search-fct-distribution.{kind.lower()}"
            assert download.value.suggested_filename == name
            assert Path(download.value.path()).read_bytes().startswith(first)
            assert (page.parent / "figures" / name).exists()
        assert visit.errors == []
