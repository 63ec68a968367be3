"""The decision as PDF: one A4 page for each comparison, printed by a headless browser."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from lightloom.errors import ConfigError, refusal
from lightloom.plotting import backend_matplotlib
from lightloom.storage import signals
from lightloom.storage.staging import Staging

from . import decisions, describe
from .decisions import Decision
from .page import environment

if TYPE_CHECKING:
    from lightloom.analysis.model import Workload

#: Names of the executables of headless Chromium browsers.
BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "brave-browser"),
)
#: Options that prevent network access.
FLAGS = (
    *("--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--no-pdf-header-footer"),
)
#: Sizes of text [points]; the first with which everything fits on one page is used.
POINTS = (9.5, 8.5, 7.5, 6.5, 5.5)
PATIENCE_S = 120


def browser() -> str:
    """Returns the path of the browser that prints.

    Raises:
        ConfigError: if no browser is found; it names the possible ones.
    """
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        remedy = "install Chromium (apt-get install chromium, brew install --cask chromium)"
        raise refusal(
            "--pdf", "(set)", f"no browser to print it: none of {', '.join(BROWSERS)}", remedy
        )
    return found


def write(
    workloads: Sequence[Workload],
    decided: Sequence[Decision | None],
    path: Path,
    by: str,
    broken: Sequence[str] = (),
    staging: Staging | None = None,
) -> Path:
    """Prints the decisions of some comparisons into a file with a browser.

    Args:
        broken: texts about the single failures of each; empty if not requested.
        staging: the transaction that the file belongs to. Default: one of its own.

    Raises:
        ConfigError: if the browser fails, or a decision does not fit on a page.
    """
    said = broken or [""] * len(workloads)
    pages = [
        (w, d, text) for w, d, text in zip(workloads, decided, said, strict=True) if d is not None
    ]
    pictures = [_picture(d, f"sheet-{i}-") for i, (_, d, _) in enumerate(pages)]
    for points in POINTS:
        made = printed(html(pages, pictures, points), by)
        if count_pages(made) == len(pages):
            with nullcontext(staging) if staging is not None else Staging() as files:
                files.content(path, made)
            return path
    limit = f"the decision fits no page of A4, in letters of {POINTS[-1]} points"
    raise refusal("--pdf", path, limit, "compare fewer fabrics, or print report.html")


def html(
    pages: Sequence[tuple[Workload, Decision, str]], pictures: Sequence[str], points: float
) -> str:
    """Returns the pages with text of some size."""
    shown = [
        {
            "name": w.name,
            "cluster": describe.cluster(w.experiment),
            "workload": describe.workload(w.experiment),
            "run": describe.run(w),
            "decision": d,
            "broken": broken,
            "svg": picture,
        }
        for (w, d, broken), picture in zip(pages, pictures, strict=True)
    ]
    title = pages[0][1].title if len(pages) == 1 else f"{len(pages)} decisions"
    template = environment().get_template("sheet.html.j2")
    headings = decisions.BILL_HEADINGS
    return template.render(pages=shown, points=points, title=title, bill_headings=headings)


def printed(page: str, by: str) -> bytes:
    """Prints a page as PDF.

    Raises:
        ConfigError: if the browser fails.
    """
    with (
        tempfile.TemporaryDirectory(prefix="lightloom-") as folder,
        signals.noted(Path(folder)),
    ):
        source, target = Path(folder) / "sheet.html", Path(folder) / "sheet.pdf"
        source.write_text(page, encoding="utf-8")
        alone = ["--no-sandbox"] if os.geteuid() == 0 else []
        profile = f"--user-data-dir={folder}/profile"
        command = [by, *FLAGS, *alone, profile, f"--print-to-pdf={target}", source.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise ConfigError(f"--pdf: {by} did not print: {problem}; try again") from None
        if not target.is_file():
            said = done.stderr.decode(errors="replace").strip().splitlines()
            why = said[-1] if said else f"exit code {done.returncode}"
            raise ConfigError(f"--pdf: {by} did not print: {why}; see that it starts")
        return target.read_bytes()


def count_pages(pdf: bytes) -> int:
    """Counts the pages of a browser's PDF, whose objects are not compressed."""
    return len(re.findall(rb"/Type\s*/Page(?![a-zA-Z])", pdf))


def _picture(decision: Decision, salt: str) -> str:
    """The chart as SVG; empty if there is none."""
    if decision.figure is None:
        return ""
    return backend_matplotlib.render(decision.figure, salt + decisions.KEY)[0].decode()
