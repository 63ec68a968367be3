"""Results, comparisons with their verdicts, and plans on one line, for consoles and logs."""

from __future__ import annotations

from lightloom import report
from lightloom.control.plan_figures import title
from lightloom.control.plans import Plan
from lightloom.results.result import Comparison, Repeated, Result
from lightloom.units import formats
from lightloom.units.counts import counted

SHOWN = 4
"""Number of fabrics that are named."""


def of_runs(runs: Result | Repeated | Comparison) -> str:
    """Formats `<Result sirius: 200 of 200 flows in 12.3 µs, seed 1>`; for several runs, also
    which."""
    if isinstance(runs, Result):
        summary = runs.summary
        done, offered = summary["flows_completed"], summary["flows_offered"]
        time = formats.seconds(summary["simulated_s"])
        flows = f"{done:,} of {counted(offered, 'flow')} in {time}, seed {summary['seed']}"
        return f"<Result {runs.label}: {flows}>"
    if isinstance(runs, Repeated):
        return f"<Repeated {runs.label}: {_seeds(runs.seeds)}>"
    labels = list(runs.results)
    more = f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else ""
    seeds = [one.of_label(labels[0])[0]["seed"] for one in runs.seeds or [runs]]
    found = next(iter(report.first([runs]).values()))
    verdict = f"{found.title}; " if found else ""
    return f"<Comparison {runs.name}: {verdict}{', '.join(labels[:SHOWN])}{more}; {_seeds(seeds)}>"


def of_plan(plan: Plan) -> str:
    """Formats `<Plan edmonds: 4 circuits for 93.0 % of the demand, which is the optimum>`."""
    return f"<Plan {title(plan)}>"


def _seeds(seeds: list[int]) -> str:
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
