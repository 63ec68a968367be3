"""Options in the form of the command line: in errors, and with `--set`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from lightloom.cli.options import set_of
from lightloom.cli.plan_options import FLAGS, in_flags, typed
from lightloom.config.overrides import set_one
from lightloom.errors import ConfigError, refusal
from lightloom.policies.files import is_file

Own = Annotated[list[str] | None, set_of('An option of your own policy, like above="1 GB".')]


def own_options(pairs: list[str], algorithm: str) -> dict[str, Any]:
    """Parses the options of a policy in a file.

    Raises:
        ConfigError: if `--set` is given for a policy that is not in a file.
    """
    own: dict[str, Any] = {}
    for pair in pairs:
        if not is_file(algorithm):
            limit = f"{algorithm} is no policy in a file"
            raise refusal("--set", f'"{pair}"', limit, "write its options as flags")
        set_one(own, pair)
    return own


@contextmanager
def flagging() -> Iterator[None]:
    """Names options in errors of the block as on the command line."""
    try:
        yield
    except ConfigError as problem:
        raise flagged(problem) from problem.__cause__


def flagged(problem: ConfigError) -> ConfigError:
    """Returns an error with options named as on the command line."""
    key, bracket, at = (problem.key or "").partition("[")
    if key not in FLAGS:
        return problem
    flag, value = typed(key, problem.value or "")
    limit, remedy = in_flags(problem.limit or ""), in_flags(problem.remedy or "")
    found = refusal(flag + bracket + at, value, limit, remedy)
    found.trace = problem.trace
    return found
