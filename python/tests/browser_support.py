"""A real browser for the report's tests: the distribution's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
WIDE, PHONE = 1200, 390
HEIGHTS = {WIDE: 900, PHONE: 844}
SLOW_MS = 120_000  # for a busy machine; waits end as soon as their condition holds
AXE = Path(__file__).with_name("vendor") / "axe.min.js"


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser; tests are skipped if none starts."""
    if CHROMIUM is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    with sync_api.sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=CHROMIUM, timeout=SLOW_MS)
        except sync_api.Error as error:
            pytest.skip(f"{CHROMIUM} does not start: {error.message.splitlines()[0]}")
        yield browser
        browser.close()


@dataclass
class Visit:
    """An open page, with its errors and requests."""

    page: Any
    errors: list[str] = field(default_factory=list)
    """Errors and warnings on the console, and uncaught exceptions."""
    requests: list[str] = field(default_factory=list)
    """Requests that leave the page."""

    @property
    def address(self) -> dict[str, str]:
        """The parameters in the fragment of its address."""
        text = self.page.evaluate("Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")
        return dict(text)

    def go(self, file: Path, fragment: str = "") -> None:
        """Opens a file and waits until its figures are drawn."""
        self.page.goto(file.as_uri() + fragment)
        self.settle()

    def settle(self) -> None:
        """Waits until the visible figures are drawn, and for two more animation frames."""
        self.page.wait_for_function(
            "[...document.querySelectorAll('.view:not([hidden]) .plot')]"
            ".every((plot) => plot.querySelector('.main-svg'))"
        )
        self.page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def at_top(self, selector: str) -> bool:
        """Whether an element begins in the upper third of the window, or the page ends."""
        return bool(
            self.page.evaluate(
                """(selector) => {
                    const top = document.querySelector(selector).getBoundingClientRect().top;
                    const left = document.documentElement.scrollHeight - innerHeight - scrollY;
                    return top >= 0 && (top < innerHeight / 3 || left < 2) && top < innerHeight;
                }""",
                selector,
            )
        )

    def press(self, link: Any) -> None:
        """Follows a link by the keyboard.

        With the mouse, the browser scrolls to the link first; if that takes long, the page treats
        it as a scroll by the reader.
        """
        link.evaluate("(element) => element.focus({ preventScroll: true })")
        self.page.keyboard.press("Enter")

    def violations(self) -> list[str]:
        """The violations that axe-core finds, one line each."""
        # An expression of the test is not subject to the page's content security policy.
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run(document).then((result) => result.violations)")
        return [
            f"{rule['id']}: {rule['help']}: {node['html'][:120]}"
            for rule in found
            for node in rule["nodes"]
        ]


@contextmanager
def visiting(browser: Any, width: int = WIDE, theme: str = "light") -> Iterator[Visit]:
    """A page with this width [px] and system theme, without a network."""
    context = browser.new_context(
        viewport={"width": width, "height": HEIGHTS[width]},
        color_scheme=theme,
        has_touch=width == PHONE,
        offline=True,
    )
    context.set_default_timeout(SLOW_MS)
    visit = Visit(context.new_page())
    visit.page.on("console", lambda m: note(visit.errors, m.text, m.type in ("error", "warning")))
    visit.page.on("pageerror", lambda error: visit.errors.append(str(error)))
    own = ("file:", "data:", "blob:")
    visit.page.on("request", lambda r: note(visit.requests, r.url, not r.url.startswith(own)))
    try:
        yield visit
    finally:
        context.close()


def note(notes: list[str], text: str, counts: bool) -> None:
    """Appends `text` if it counts."""
    if counts:
        notes.append(text)
