"""Lightloom: simulate optical data-centre networks on the same traffic.

>>> import lightloom
>>> experiment = lightloom.load("examples/sirius.toml", ["workload.load=0.9"])
>>> result = lightloom.run(experiment)
>>> result.summary["goodput_normalized"]  # doctest: +SKIP
0.83
>>> result.flows.num_rows  # an Arrow table, a row per flow  # doctest: +SKIP
200000
>>> result.save("out")  # doctest: +SKIP

`repeat` runs an experiment with several seeds, `compare` runs every fabric of an experiment, `plan`
computes circuits for a demand matrix. A notebook displays what they return as a table and a figure;
`to_pandas` and `to_polars` convert it to data frames, and `plot` draws its figures. If the input
cannot run, they raise a `ConfigError` that names the key, the value, the limit and the remedy.
"""

import sys
from importlib import import_module

TYPE_CHECKING = False  # `typing.TYPE_CHECKING` without the time that importing `typing` takes
if TYPE_CHECKING:
    from lightloom._core import __version__
    from lightloom.api import Progress, compare, compare_cases, compare_physics, repeat, run
    from lightloom.config.experiment import Experiment, load
    from lightloom.control import Plan, plan, read_demand
    from lightloom.costs.costs import Costs, cost
    from lightloom.errors import ConfigError
    from lightloom.results.result import Comparison, Repeated, Result

__all__ = [
    "Comparison",
    "ConfigError",
    "Costs",
    "Experiment",
    "Plan",
    "Progress",
    "Repeated",
    "Result",
    "__version__",
    "compare",
    "compare_cases",
    "compare_physics",
    "cost",
    "load",
    "plan",
    "read_demand",
    "repeat",
    "run",
]

_HOME = {
    "Comparison": "results.result",
    "ConfigError": "errors",
    "Costs": "costs.costs",
    "Experiment": "config.experiment",
    "Plan": "control",
    "Progress": "api",
    "Repeated": "results.result",
    "Result": "results.result",
    "__version__": "_core",
    "compare": "api",
    "compare_cases": "api",
    "compare_physics": "api",
    "cost": "costs.costs",
    "load": "config.experiment",
    "plan": "control",
    "read_demand": "control",
    "repeat": "api",
    "run": "api",
}

#: Public modules, by name.
_MODULES = frozenset(
    {
        "control",
        "costs",
        "devices",
        "plotting",
        "policies",
        "report",
        "simulation",
    }
)


#: Module names before 0.1.0 → their present names.
_RENAMED = {
    "clock": "devices.clock",
    "console": "cli.console",
    "economics": "costs",
    "figures": "plotting",
    "photonics": "devices.photonics",
    "plots": "plotting",
    "openflow": "switches.openflow",
    "reproduce": "validation",
    "resilience": "failures",
    "traces": "simulation.traces",
    "writing": "storage",
    "analysis.facts": "analysis.derived_values",
    "config.words": "config.refusal_text",
    "control.plan_facts": "control.plan_figures",
    "control.rules.words": "control.rules.parsing",
    "costs.words": "costs.wording",
    "failures.words": "failures.sentences",
    "report.decisions.made": "report.decisions.decision",
    "results.steady": "results.steady_state",
}


class _Renamed:
    """The last finder on `sys.meta_path`: names the present module if an old name is imported."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        package, _, module = name.partition(".")
        if package == __name__ and module in _RENAMED:
            raise ModuleNotFoundError(_told(module), name=name)


def _told(module: str) -> str:
    return f"lightloom.{module} is lightloom.{_RENAMED[module]} now"


sys.meta_path.append(_Renamed)


def __getattr__(name: str) -> object:
    """Imports a public name, or a public module, when it is first used.

    The command line must answer Ctrl-C before NumPy and Arrow are loaded, which takes longer than
    many commands run.
    """
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _RENAMED:
        raise ImportError(_told(name))
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
