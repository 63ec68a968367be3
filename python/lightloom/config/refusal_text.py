"""Completes the core's error messages: fabrics that are planned, the `--set` form of a key of one
of several fabrics, and hints about the format of a trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from lightloom.config.fabrics import registry
from lightloom.config.overrides import without_brackets
from lightloom.config.trace_hints import hinted
from lightloom.errors import ConfigError, refusal

#: Kind of a planned fabric → its description and source.
PLANNED: dict[str, str] = {}

#: A key of one of several fabrics by its label (by its index if the label is invalid).
_OF_A_FABRIC = re.compile(r"fabric\[[^\]]*[^\]\d][^\]]*\]")
#: In the text of an error about a fabric: a key of that fabric.
_ITS_KEY = re.compile(r"(?<![\w.\[])fabric\.(?=[a-z])")
#: The number of servers of a job.
_JOB_HOSTS = re.compile(r"workload\.jobs\[[^\]]*\]\.hosts")
#: The core's error for a number that exceeds the integer type of its key.
_BEYOND = re.compile(r"must be a whole number, at (?:least|most) (-?[\d,]+)")


@contextmanager
def in_words() -> Iterator[None]:
    """Rewrites errors that the block raises into the user's terms."""
    try:
        yield
    except ConfigError as problem:
        told = reworded(problem)
        told.trace = problem.trace
        raise told from problem.__cause__


def reworded(problem: ConfigError) -> ConfigError:
    """Returns the error in the user's terms; unchanged if it already has this form."""
    found = _OF_A_FABRIC.match(problem.key or "")
    if found is not None:
        fabric = without_brackets(found[0])
        key = fabric + str(problem.key)[found.end() :]
        limit, remedy = (
            _ITS_KEY.sub(lambda _: f"{fabric}.", text or "")
            for text in (problem.limit, problem.remedy)
        )
        problem = refusal(key, problem.value, limit, remedy)
    problem = hinted(problem)
    kind = (problem.value or "").strip('"')
    if problem.limit == "no such fabric" and kind in PLANNED:
        return refusal(str(problem.key), problem.value, "planned, not here yet", here())
    if _JOB_HOSTS.fullmatch(problem.key or "") and (problem.value or "").startswith("["):
        listed = "give the number of servers, and list them as placement"
        return refusal(str(problem.key), problem.value, problem.limit or "", listed)
    return problem


def here() -> str:
    """Lists the kinds of fabric that exist, for an error about a planned one."""
    return "here: " + ", ".join(f'"{kind}"' for kind in registry())


def missed_end(problem: ConfigError) -> int | None:
    """Returns the limit of the integer type that a number exceeds: the nearest number of that type;
    None for other errors."""
    found = _BEYOND.fullmatch(problem.limit or "")
    return int(found[1].replace(",", "")) if found else None
