"""A forecast of the time of the single failures of a comparison."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lightloom.config.experiment import Experiment
from lightloom.failures import plan
from lightloom.failures.search import Search, book_of, search_of
from lightloom.simulation.forecasts import TRIAL_S, TRIALS_S, Forecast, of_trial, total
from lightloom.simulation.trials import tried


def of_worst_failures(
    cases: Iterable[Experiment],
    threads: int = 1,
    search: Search | None = None,
) -> Forecast:
    """Returns the forecast of the runs in addition to the comparison: one for each part that is
    tried; each run of a kind is assumed to take as long as that of its first part. Runs that wait
    for flows which cannot finish are not foreseen.

    Raises:
        ConfigError: if an experiment is invalid.
    """
    fabrics = [
        (plan.fabric(case, label, book_of(case)), (search_of(case, search) or Search()).tries)
        for case in cases
        for label in case.labels
    ]
    kinds = sum(len(fabric.parts.populations) for fabric, _ in fabrics)
    seconds = min(TRIAL_S, TRIALS_S / max(1, kinds))
    return total(_of_fabric(fabric, seconds, threads, tries) for fabric, tries in fabrics)


def _of_fabric(fabric: plan.Fabric, seconds: float, threads: int, tries: int) -> Forecast:
    """The runs of one fabric."""
    sound = fabric.experiment.with_overrides(fabric.set)
    made = []
    for population in fabric.parts.populations:
        raw = {**sound.raw, "fault": population.at(0).faults(fabric.label)}
        trial = tried(replace(sound, raw=raw), fabric.label, seconds=seconds, threads=threads)
        runs = min(tries, population.members)
        made.append(replace(of_trial(trial).times(runs), failing=runs))
    if made and fabric.own_faults:
        made.append(of_trial(tried(sound, fabric.label, seconds=seconds, threads=threads)))
    return total(made)
