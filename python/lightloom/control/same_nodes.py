"""Matches the nodes of a plan with those of a demand: by name, never by position.

| plan | demand | |
|---|---|---|
| has names | has names | by name |
| has numbers | has numbers | by number, if there are as many |
| has names | has numbers, or the reverse | an error |

In a run, racks are numbers; a plan is then matched by number, and names are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lightloom.control.files import Demand
from lightloom.control.schedules import Schedule
from lightloom.errors import ConfigError, refusal
from lightloom.units.counts import counted as in_words


def by_name(
    key: str,
    shown: object,
    names: Sequence[str],
    nodes: int | None,
    demand: Demand,
    *,
    counted: bool = False,
) -> bool:
    """Whether the nodes of a plan are matched by name; otherwise by number.

    Args:
        key: the key that an error names; `shown` is its value.
        names: the names of the plan's nodes, if it has names.
        nodes: the number of its nodes; None if it is not stated, as in a list of pairs.
        counted: whether the demand comes from a run, in which racks are numbers.

    Raises:
        ConfigError: if they cannot be matched, because only one of them has names, or their numbers
            differ.
    """
    if names and demand.names:
        return True
    if nodes not in (None, len(demand.matrix)):
        limit = f"a plan for {in_words(nodes, 'node')}, where the demand has {len(demand.matrix)}"
        raise refusal(key, shown, limit, "name the nodes of both demands, or plan anew")
    if names and not counted:
        remedy = "name the nodes of the demand, in a first line or column"
        limit = f"it names its nodes ({names[0]}, …), and the demand does not"
        raise refusal(key, shown, limit, remedy)
    if nodes is not None and demand.names:
        limit = "the plan numbers its nodes, but the demand names them"
        raise refusal(key, shown, limit, "create the plan again from a demand with names")
    return False


def rearranged(
    key: str, shown: object, schedule: Schedule, names: Sequence[str], wanted: Sequence[str]
) -> Schedule:
    """Returns the same circuits between the same names, for another order of names.

    Raises:
        ConfigError: if a name occurs twice, or in only one of the two lists.
    """
    if sorted(names) != sorted(wanted) or len({*names}) < len(names):
        others = sorted({*names} ^ {*wanted}) or names
        limit = f"a schedule for other nodes than the demand's ({others[0]!r} is in one only)"
        raise refusal(key, shown, limit, "plan anew for this demand")
    old = {name: at for at, name in enumerate(names)}
    new = np.argsort([old[name] for name in wanted])  # the new index of each old node
    permutations = np.empty_like(schedule.permutations)
    permutations[:, new] = new[schedule.permutations]
    return Schedule(permutations, schedule.days_ps, schedule.night_ps)


def of_file(path: object, problem: ConfigError) -> ConfigError:
    """Returns the error about a plan in a file in the form of errors about files."""
    return ConfigError(f"{path}: {problem.limit}; {problem.remedy}")
