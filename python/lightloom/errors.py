"""What a user can get wrong."""

from __future__ import annotations

from lightloom._core import ConfigError

__all__ = ["ConfigError", "refusal"]


def refusal(key: str, value: object, limit: str, remedy: str) -> ConfigError:
    """A `ConfigError` in the form that the simulator's own have.

    >>> str(refusal("run.seed", -1, "below 0", "raise it"))
    'run.seed = -1: below 0; raise it'
    """
    error = ConfigError(f"{key} = {value}: {limit}; {remedy}")
    error.key, error.value, error.limit, error.remedy = key, str(value), limit, remedy
    return error
