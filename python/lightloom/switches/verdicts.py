"""Rows of the tables that tests of switches print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from lightloom.switches.protocol import SwitchError


class Verdict(StrEnum):
    """The result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Check:
    """One row of the table."""

    name: str
    """The property that the check tests."""
    verdict: Verdict
    """The result."""
    detail: str = ""
    """The measured values, or the reason why the check failed or was skipped."""


class FailedError(Exception):
    """Raised if a check fails."""


class SkippedError(Exception):
    """Raised if a check does not apply."""


def judged(name: str, body: Callable[[], str]) -> Check:
    """Runs a check and returns its row."""
    try:
        return Check(name, Verdict.PASSED, body())
    except SkippedError as reason:
        return Check(name, Verdict.SKIPPED, str(reason))
    except (FailedError, SwitchError) as problem:
        return Check(name, Verdict.FAILED, str(problem))


def ms(seconds: float) -> str:
    """Formats a time for the table.

    >>> ms(0.0204)
    '20.4 ms'
    """
    return f"{seconds * 1e3:.1f} ms"
