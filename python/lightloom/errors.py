"""What a user can get wrong."""

from __future__ import annotations

from lightloom._core import ConfigError

__all__ = ["ConfigError", "refusal", "within"]


def refusal(key: str, value: object, limit: str, remedy: str) -> ConfigError:
    """A `ConfigError` in the form that the simulator's own have.

    >>> str(refusal("run.seed", -1, "below 0", "raise it"))
    'run.seed = -1: below 0; raise it'
    """
    error = ConfigError(f"{key} = {value}: {limit}; {remedy}")
    error.key, error.value, error.limit, error.remedy = key, str(value), limit, remedy
    return error


def within(problem: ConfigError, where: str) -> ConfigError:
    """The same error with where it arose before its key.

    >>> str(within(refusal("run.seed", -1, "below 0", "raise it"), 'case "hot"'))
    'case "hot": run.seed = -1: below 0; raise it'
    """
    if problem.key is None:
        made = ConfigError(f"{where}: {problem}")
    else:
        key = f"{where}: {problem.key}"
        made = refusal(key, problem.value, problem.limit or "", problem.remedy or "")
    made.trace = getattr(problem, "trace", None)
    return made
