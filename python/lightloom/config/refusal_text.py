"""What the core's refusals do not know: that a fabric is planned, how `--set` and
`explain` write a key of one of several fabrics, and what else is in a trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from lightloom import _core
from lightloom.config.overrides import without_brackets
from lightloom.config.trace_hints import hinted
from lightloom.errors import ConfigError, refusal

#: Fabrics that are planned and not here, by kind: what they are, and their source.
PLANNED: dict[str, str] = {}

#: One of several fabrics, by its label (by a number where the label is at fault).
_OF_A_FABRIC = re.compile(r"fabric\[[^\]]*[^\]\d][^\]]*\]")
#: A key of the fabric that a refusal is of, within its words.
_ITS_KEY = re.compile(r"(?<![\w.\[])fabric\.(?=[a-z])")
#: By this the core refuses a number that no integer of its key holds.
_BEYOND = re.compile(r"must be a whole number, at (?:least|most) (-?[\d,]+)")


@contextmanager
def in_words() -> Iterator[None]:
    """Refusals of the block say what users know."""
    try:
        yield
    except ConfigError as problem:
        told = reworded(problem)
        told.trace = problem.trace
        raise told from problem.__cause__


def reworded(problem: ConfigError) -> ConfigError:
    """The refusal in users' words; itself where it is in them already."""
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
    return problem


def here() -> str:
    """What to choose instead of a fabric that is planned."""
    return "here: " + ", ".join(f'"{entry["kind"]}"' for entry in json.loads(_core.registry()))


def missed_end(problem: ConfigError) -> int | None:
    """The end that a number went beyond which no integer of its key can hold: the
    nearest that one can. None for other refusals."""
    found = _BEYOND.fullmatch(problem.limit or "")
    return int(found[1].replace(",", "")) if found else None
