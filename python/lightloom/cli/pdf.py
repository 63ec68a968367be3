"""`--pdf [FILE]` of `compare`: refused before anything runs where it cannot be made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from lightloom.errors import refusal
from lightloom.storage import check_folder

#: Where --pdf stands alone: the file is beside the report.
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
    """A command whose --pdf may stand without a file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the arguments."""
        return super().parse_args(ctx, with_file(args))


def with_file(args: Sequence[str]) -> list[str]:
    """The arguments, where a --pdf that no name of a PDF follows means that beside the report.

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
    """The requested file.

    Raises:
        ConfigError: of another kind of file, of one in no folder, or where there is no report.
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
        raise refusal("--pdf", asked, "is no name of a PDF", "name a file that ends in .pdf")
    if not path.parent.is_dir():
        raise refusal(
            "--pdf", asked, f"there is no folder {path.parent}", "make it, or choose another"
        )
    check_folder(path.parent, "--pdf")
    return path


def check(books: Sequence[object | None]) -> str:
    """The browser that will print, if there is something to.

    Raises:
        ConfigError: if there are no prices, or no browser.
    """
    from lightloom.report.sheets import browser

    if not any(books):
        limit = "the decision needs prices, and the experiment has none"
        raise refusal("--pdf", "(set)", limit, "add --prices BOOK, or a [decision] table")
    return browser()
