"""Progress bars that count, such as runs of a sweep or pictures of a report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from lightloom.cli import console


@contextmanager
def counting(screen: Console | None = None) -> Iterator[console.Count]:
    """Shows a bar for each name on standard error, or on `screen`; nothing if that is not a
    terminal."""
    screen = screen or console.err()
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
    tasks: dict[str, TaskID] = {}

    def count(name: str, finished: int, total: int) -> None:
        if name not in tasks:
            tasks[name] = bar.add_task(name)
        bar.update(tasks[name], completed=finished, total=total)

    with console.aside(), bar:
        yield count
