"""The files of figures, and their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lightloom.analysis.model import Workload
from lightloom.storage.staging import Staging

from . import backend_matplotlib
from .spec import Figure


@dataclass(frozen=True)
class Drawing:
    """A figure with its picture and the name of its files."""

    figure: Figure
    file: str
    svg: str


def draw(
    figures: Sequence[Figure],
    prefix: str,
    folder: Path,
    tick: Callable[[], None],
    staging: Staging,
) -> tuple[Drawing, ...]:
    """Stages the files of figures."""
    drawings = []
    for figure in figures:
        name = prefix + figure.key
        svg, png = backend_matplotlib.render(figure, name)
        staging.content(folder / f"{name}.svg", svg)
        staging.content(folder / f"{name}.png", png)
        drawings.append(Drawing(figure, name, svg.decode()))
        tick()
    return tuple(drawings)


def distinct(names: Sequence[str]) -> list[str]:
    """Returns names in the form of a part of a URL or file name, without duplicates."""
    safe = [re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "workload" for name in names]
    return [
        name if safe.count(name) == 1 else f"{name}-{i}" for i, name in enumerate(safe, start=1)
    ]


def prefixes(workloads: Sequence[Workload]) -> list[str]:
    """The prefixes of the files of several comparisons; empty for a single one."""
    if len(workloads) == 1:
        return [""]
    return [f"{name}-" for name in distinct([w.name for w in workloads])]
