"""`--pdf [FILE]` of `compare`; errors are raised before the simulation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from lightloom.errors import refusal
from lightloom.storage.trial import check_folder

#: Value of `--pdf` without a file, which means a file beside the report.
BESIDE = ""
NAME = "decision.pdf"
Pdf = Annotated[
    str | None,
    typer.Option(
        "--pdf",
        metavar="[FILE.pdf]",
        help="Print the decision on a page of A4, by a headless Chromium: decision.pdf beside the "
        "report, or FILE.pdf. It needs prices.",
    ),
]


class WithPdf(TyperCommand):
    """A command whose `--pdf` may be given without a file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the arguments."""
        return super().parse_args(ctx, with_file(args))


def with_file(args: Sequence[str]) -> list[str]:
    """Inserts an empty value after each `--pdf` that the name of a PDF does not follow.

    >>> with_file(["a.toml", "--pdf"]), with_file(["--pdf", "b.pdf", "a.toml"])
    (['a.toml', '--pdf', ''], ['--pdf', 'b.pdf', 'a.toml'])
    """
    made = []
    for place, argument in enumerate(args):
        made.append(argument)
        following = args[place + 1] if place + 1 < len(args) else ""
        if argument == "--pdf" and not following.lower().endswith(".pdf"):
            made.append(BESIDE)
    return made


def target(asked: str, folder: Path | None) -> Path:
    """Returns the path of the PDF.

    Raises:
        ConfigError: if it is another kind of file, its folder does not exist, or there is no
            report.
    """
    if asked == BESIDE:
        if folder is None:
            remedy = "add -o DIR, or name a file: --pdf decision.pdf"
            raise refusal(
                "--pdf", "(set)", "--json alone writes no report to put it beside", remedy
            )
        return folder / NAME
    path = Path(asked)
    if path.suffix.lower() != ".pdf":
        raise refusal("--pdf", asked, "is not the name of a PDF", "name a file that ends in .pdf")
    if not path.parent.is_dir():
        raise refusal(
            "--pdf", asked, f"there is no folder {path.parent}", "make it, or choose another"
        )
    check_folder(path.parent, "--pdf")
    return path


def check(books: Sequence[object | None]) -> str:
    """Returns the browser that will print the PDF.

    Raises:
        ConfigError: if there are no prices, or no browser.
    """
    from lightloom.report.sheets import browser

    if not any(books):
        limit = "the decision needs prices, and the experiment has none"
        raise refusal("--pdf", "(set)", limit, "add --prices BOOK, or a [decision] table")
    return browser()
