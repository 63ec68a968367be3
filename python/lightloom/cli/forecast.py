"""Forecasts of the time and memory of a command: on standard error before a long command begins,
and with `--dry-run` instead of running it."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, TypeVar

from lightloom.cli import console
from lightloom.simulation.forecasts import Forecast
from lightloom.simulation.machine import processors
from lightloom.units import formats, steps
from lightloom.units.counts import counted

if TYPE_CHECKING:
    from lightloom.config.experiment import Experiment

Made = TypeVar("Made")

#: Shortest time of a command that is announced [s].
LONG_S = 30.0


#: Texts about simulations that trials cannot forecast.
UNKNOWN = (
    "the time cannot be estimated: in its first milliseconds a fabric delivered nothing; the run "
    "may take very long, for example if links are too slow for the "
    "flows (cluster.nic, cluster.rack_rate)"
)


def before(
    make: Callable[[], Forecast], workers: int, more: str = "", *, apart: bool = False
) -> None:
    """Prints the forecast of a long command, and the parts without a forecast."""
    forecast = quietly(make)
    if forecast.wall_s(workers) > LONG_S:
        console.err().print(f"estimate: {line(forecast, workers, apart=apart)}{more}", markup=False)


def instead(
    make: Callable[[], Forecast],
    workers: int,
    json: bool = False,
    more: str = "",
    *,
    apart: bool = False,
) -> None:
    """Prints the forecast instead of running the command, and the parts without a forecast."""
    forecast = quietly(make)
    if json:
        console.print_json(as_json(forecast, workers, apart=apart))
        return
    console.say(f"estimate: {line(forecast, workers, apart=apart)}{more}")
    console.say("only the first milliseconds of each fabric were simulated")


def line(forecast: Forecast, workers: int, *, apart: bool = False) -> str:
    """Formats a forecast on one line; `apart` states whether simulations run in separate processes.

    >>> line(Forecast(12, 360.0, 60.0, 2_000_000, None), 2)
    '12 simulations; 3 min (90 s to 6 min), 2 side by side; at most 204 MB of memory'
    """
    wall, beside = forecast.wall_s(workers), min(workers, forecast.simulations)
    within = forecast.within
    if not forecast.simulations:
        return "nothing to simulate"
    several = counted(forecast.simulations, "simulation")
    several += f", {forecast.failing} of them with one part dead" if forecast.failing else ""
    several += f", {forecast.unknown} of them not estimated" if forecast.unknown else ""
    if not math.isfinite(wall):
        return f"{several}; {UNKNOWN}"
    parts = [
        several,
        span(wall)
        + (f" ({span(wall / within)} to {span(wall * within)})" if wall * within >= 1 else "")
        + (f", {beside} side by side" if beside > 1 else ""),
        f"at most {formats.size(forecast.memory_together(workers, apart=apart))} of memory",
    ]
    if forecast.hops:
        parts.append(f"{_count(forecast.hops)} hops")
    return "; ".join(parts)


def as_json(
    forecast: Forecast, workers: int, *, apart: bool = False
) -> dict[str, float | int | None]:
    """Returns a forecast as JSON: times in seconds; null for values that cannot be forecast."""
    wall, beside = forecast.wall_s(workers), max(1, min(workers, forecast.simulations))
    return {
        "simulations": forecast.simulations,
        "failing": forecast.failing,
        "seconds": _finite(wall),
        "seconds_least": _finite(wall / forecast.within),
        "seconds_most": _finite(wall * forecast.within),
        "processor_seconds": _finite(forecast.seconds),
        "side_by_side": beside,
        "memory_bytes": forecast.memory_together(workers, apart=apart),
        "hops": _finite(forecast.hops),
    }


def _finite(value: float | None) -> float | None:
    """A figure; None if it cannot be forecast."""
    return value if value is not None and math.isfinite(value) else None


def span(seconds: float) -> str:
    """Formats a time in a unit for planning.

    >>> span(0.2), span(45.4), span(200), span(9_000), span(200_000)
    ('under 1 s', '45 s', '3.3 min', '2.5 h', '2.3 days')
    """
    if seconds < 1:
        return "under 1 s"
    for unit, size, most in (("s", 1.0, 100.0), ("min", 60.0, 6_000.0), ("h", 3600.0, 172_800.0)):
        if seconds < most:
            value = seconds / size
            return f"{value:.0f} {unit}" if unit == "s" else f"{value:.2g} {unit}"
    return f"{seconds / 86_400:.2g} days"


def side_by_side(threads: int) -> int:
    """Returns how many simulations of that many threads run in parallel."""
    return max(1, processors() // threads)


def in_parallel(experiment: Experiment) -> bool:
    """Whether a comparison runs simulations in parallel: loads, cases or seeds."""
    compare = experiment.resolved().get("compare", {})
    several = len(experiment.cases()) > 1 or len(experiment.seeds()) > 1
    return several or any(compare.get(key) for key in ("loads", "saturation"))


def _count(hops: float) -> str:
    unit, base = steps.step_for(hops, steps.COUNTS)
    return f"{hops / base:.3g} {unit}" if unit else f"{hops:.0f}"


def quietly(make: Callable[[], Made]) -> Made:
    """Makes a forecast; suppresses the output of policies, which the simulation repeats."""
    with redirect_stdout(io.StringIO()):
        return make()
