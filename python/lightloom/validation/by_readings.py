"""Measures figures by the chosen reading of their paper or by all readings, and draws the picture
of claims × readings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom.errors import refusal
from lightloom.validation.grid import FILE, Grid
from lightloom.validation.readings import Measured, Readings
from lightloom.validation.scripts import Script

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lightloom.validation.verdicts import Verdict

#: Colour of a cell by outcome, as in the report.
SHADES = {
    "reproduced": "#c9e5cf",
    "not reproduced": "#f2c9c4",
    "undecided": "#f3e6bd",
    "not judged": "#eeeeee",
}


def of_fabric(folder: Path) -> Grid | None:
    """Returns the readings of a paper, by its folder; None if the paper leaves nothing open."""
    path = folder / FILE
    return Grid.read(path) if path.is_file() else None


def measured_by(
    script: Script, grid: Grid | None, quick: bool, workers: int, *, every: bool = False
) -> dict[str, Any]:
    """Returns the values that a script measures by the chosen reading; with `every`, also by the
    readings of the factors that the script depends on. Points that readings share are simulated
    once.

    Raises:
        ConfigError: if the script depends on a factor that is not in `readings.toml`.
    """
    if not script.factors:
        return script.measure(quick, workers)
    lacking = [name for name in script.factors if grid is None or name not in grid.factor]
    if grid is None or lacking:
        limit = f"{FILE} has no such factor"
        remedy = "add the factor to the file, or remove it here"
        raise refusal(f"{script.name}.py: FACTORS", lacking[0], limit, remedy)
    found = script.measure(quick, workers, grid.judged)
    if not every:
        return found
    settings = list(grid.settings(script.factors))
    claims = [dict(found["claims"])]
    claims += [script.measure(quick, workers, one)["claims"] for one in settings[1:]]
    values: dict[str, dict[str, Measured]] = {claim: {} for claim in claims[0]}
    for setting, by in zip(settings, claims, strict=True):
        for claim, value in by.items():
            values[claim][setting.name] = value
    known = [setting.reading for setting in settings]
    return {**found, "readings": Readings(settings[0].name, known, values)}


def picture(fabric: str, verdicts: Sequence[Verdict]) -> Figure:
    """Draws claims × readings of a paper. A cell is a value, coloured by its outcome; it is blank
    if the reading does not affect the claim."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(by.reading.name for v in verdicts for by in v.readings))
    figure = Figure(
        figsize=(2.6 + 0.95 * len(names), 1.2 + 0.24 * len(verdicts)), layout="constrained"
    )
    axes = figure.subplots()
    for row, verdict in enumerate(verdicts):
        for by in verdict.readings:
            column = names.index(by.reading.name)
            shade = SHADES[by.outcome]
            axes.add_patch(_cell(column, row, shade))
            axes.text(column, row, f"{by.measured.value:.3g}", ha="center", va="center", size=7)
    axes.set(
        xlim=(-0.5, len(names) - 0.5),
        ylim=(len(verdicts) - 0.5, -0.5),
        title=f"{fabric} by reading",
    )
    axes.set_xticks(range(len(names)), [name.replace(" = ", "\n") for name in names], size=7)
    axes.set_yticks(range(len(verdicts)), [v.claim.id for v in verdicts], size=7)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.legend(
        handles=[_cell(0, 0, shade, label) for label, shade in SHADES.items()],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.01),
        ncols=len(SHADES),
        frameon=False,
        fontsize=7,
    )
    return figure


def _cell(column: int, row: int, shade: str, label: str | None = None) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(
        (column - 0.5, row - 0.5), 1, 1, facecolor=shade, edgecolor="white", label=label
    )
