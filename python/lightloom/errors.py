"""Errors in the user's input, in the form `key = value: limit; remedy`."""

from __future__ import annotations

import re

from lightloom._core import ConfigError

__all__ = ["ConfigError", "brief", "refusal", "shortened", "within"]

#: Texts longer than this are shortened in messages [characters].
LONG = 400
#: The number of characters that remain of a shortened text.
LEFT = 60


def refusal(key: str, value: object, limit: str, remedy: str) -> ConfigError:
    """Returns a `ConfigError` in the form of the simulator's own.

    >>> str(refusal("run.seed", -1, "below 0", "raise it"))
    'run.seed = -1: below 0; raise it'
    """
    said = [shortened(str(part)) for part in (key, value, limit, remedy)]
    error = ConfigError("{} = {}: {}; {}".format(*said))
    error.key, error.value, error.limit, error.remedy = key, str(value), limit, remedy
    return error


def shortened(text: str) -> str:
    """Returns a text, or its beginning and its length if it is too long for a message; the core
    uses the same form.

    >>> shortened("7" * 100_000)[LEFT - 3 :]
    '777… (100000 characters)'
    """
    return text if len(text) <= LONG else f"{text[:LEFT]}… ({len(text)} characters)"


def brief(message: str) -> str:
    """Shortens long words in a message, and the message itself.

    >>> len(brief("x.toml: " + "7" * 100_000 + " is too long"))
    101
    """
    cut = re.sub(rf"\S{{{LONG + 1},}}", lambda word: shortened(word[0]), message)
    return cut if len(cut) <= 10 * LONG else f"{cut[: 10 * LONG]}… ({len(message)} characters)"


def within(problem: ConfigError, where: str) -> ConfigError:
    """Returns the same error with a prefix that states where it arose.

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
