"""What a user can get wrong."""

from __future__ import annotations

import re

from lightloom._core import ConfigError

__all__ = ["ConfigError", "brief", "refusal", "shortened", "within"]

#: A text of a message that is longer than this is cut [characters].
LONG = 400
#: The number of characters that remain of it.
LEFT = 60


def refusal(key: str, value: object, limit: str, remedy: str) -> ConfigError:
    """A `ConfigError` in the form that the simulator's own have.

    >>> str(refusal("run.seed", -1, "below 0", "raise it"))
    'run.seed = -1: below 0; raise it'
    """
    said = [shortened(str(part)) for part in (key, value, limit, remedy)]
    error = ConfigError("{} = {}: {}; {}".format(*said))
    error.key, error.value, error.limit, error.remedy = key, str(value), limit, remedy
    return error


def shortened(text: str) -> str:
    """A text, or its beginning and its length where a message cannot hold it, as the core
    has it.

    >>> shortened("7" * 100_000)[LEFT - 3 :]
    '777… (100000 characters)'
    """
    return text if len(text) <= LONG else f"{text[:LEFT]}… ({len(text)} characters)"


def brief(message: str) -> str:
    """A message whose words, and which itself, are no longer than one reads.

    >>> len(brief("x.toml: " + "7" * 100_000 + " is too long"))
    101
    """
    cut = re.sub(rf"\S{{{LONG + 1},}}", lambda word: shortened(word[0]), message)
    return cut if len(cut) <= 10 * LONG else f"{cut[: 10 * LONG]}… ({len(message)} characters)"


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
