"""One rule for units: a value has the same unit on a terminal and on a page."""

import math
import random

import pytest

from lightloom.units import formats
from lightloom.units import quantities as page
from lightloom.units import steps as units

#: Quantities of both: the formatter of the terminal, the name on the page, the units.
BOTH = [(formats.seconds, "time", formats.TIMES), (formats.size, "bytes", units.BYTES)]


def drawn(count: int) -> list[float]:
    """Returns magnitudes from nano to peta, and those that rounding raises."""
    rng = random.Random(1)
    edges = [size * part for part in (0.9994, 0.9996) for _, size in (*units.TIMES, *units.BYTES)]
    return edges + [10 ** rng.uniform(-9, 15) for _ in range(count)]


@pytest.mark.parametrize("steps", [units.TIMES, units.BYTES, units.RATES, units.COUNTS])
def test_three_digits_are_never_a_thousand(steps: tuple[units.Step, ...]) -> None:
    largest, smallest = steps[0], steps[-1]
    for value in drawn(500):
        name, size = units.step_for(value, steps)
        shown = float(f"{value / size:.3g}")
        assert shown >= 1 or (name, size) == smallest, (value, name)
        assert shown < 1_000 or (name, size) == largest, (value, name)
        assert units.step_for(-value, steps) == (name, size)


@pytest.mark.parametrize(("terminal", "quantity", "steps"), BOTH)
def test_terminal_and_page_choose_the_same_unit(terminal, quantity, steps) -> None:  # type: ignore[no-untyped-def]
    for value in drawn(200):
        if not steps[-1][1] <= value < 999 * steps[0][1]:
            continue
        number, unit = terminal(value).split()
        said, other = page.show(value, quantity).split(page.GLUE)
        assert unit == other, value
        assert math.isclose(float(number), float(said.replace(",", "")), rel_tol=0.006), value


def test_figures_of_terminals() -> None:
    """Computed by hand, on both sides of the limit of a unit."""
    assert formats.seconds(999.4e-6) == "999 µs"
    assert formats.seconds(999.6e-6) == "1.00 ms"
    assert formats.seconds(2e-12) == "0.00 ns"
    assert formats.size(999) == "999 B"
    assert formats.size(1_234) == "1.23 KB"
    assert formats.rate(12.5e9) == "12.5 Gb/s"
    assert formats.rate(800) == "800 b/s"
    assert formats.per_second(1.5e6) == "1.50 M/s"
    assert formats.per_second(12) == "12.0 /s"
    assert formats.plus_minus(1_500.0, 12.0) == "1.500 ± 0.012 ms"
