"""The result of a replayed day: figures, JSON, CSV, and whether the policy would pay."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from lightloom import _core
from lightloom.control.day.play import Account, Terms
from lightloom.control.day.series import Day, text_of
from lightloom.control.demand.steps import US
from lightloom.control.demand.times import iso
from lightloom.units import formats
from lightloom.units.counts import counted

FORMAT = "lightloom-day/1"
COLUMNS = (
    *("start", "seconds", "player", "bytes", "served_bytes", "share"),
    *("circuits_made", "circuits_broken", "dark_s", "left_busiest_bps"),
)
"""Columns of the table of intervals."""
ELSEWHERE = ("rate", "up", "symmetric", "circuits", "schedule")
"""Options of a policy that are tables, or that other lines state."""
EVEN = 0.001
"""Shares of the demand that differ by less are treated as equal."""


def figures(day: Day, account: Account) -> dict[str, Any]:
    """Returns the figures of one player.

    Returns:
        `served_bytes`, the bytes carried over circuits, and their `share` of the demand;
        `changes_per_hour`, the decisions that changed something, and `circuits_made_per_hour`;
        `dark_s_per_hour`, the time in which at least one circuit was dark, and
        `worst_pair_dark_s_per_hour`, the longest of one pair; `left_busiest_bps`, the highest mean
        rate over an interval that the packet network had to carry for one rack in one direction
        [b/s]. `circuits_made_per_hour` and `worst_pair_dark_s_per_hour` are None for schedules,
        which are changed as a whole.
    """
    turns = any(step.follows for step in account.steps)
    made = None if turns else sum(step.made for step in account.steps)
    dark = sum(step.dark_us for step in account.steps) / US
    worst = max(account.dark_us.values(), default=0) / US
    return {
        "about": account.player.about,
        "served_bytes": account.served,
        "share": account.served / day.total,
        "changes": account.changes,
        "changes_per_hour": account.changes / day.hours,
        "circuits_made": made,
        "circuits_made_per_hour": None if made is None else made / day.hours,
        "dark_s": dark,
        "dark_s_per_hour": dark / day.hours,
        "worst_pair_dark_s_per_hour": None if turns else worst / day.hours,
        "left_busiest_bps": max(step.left_bps for step in account.steps),
    }


def as_dict(
    day: Day, algorithm: str, options: dict[str, Any], asked: Terms, accounts: Sequence[Account]
) -> dict[str, Any]:
    """Returns the result in the form of JSON, with the names of racks in `names`. `options` holds
    the options of the policy and those for reading the day."""
    return {
        "format": FORMAT,
        "version": _core.__version__,
        "algorithm": algorithm,
        "options": options,
        "planned_with": {k: v for k, v in accounts[0].told.items() if k not in ELSEWHERE},
        "rate_bps": asked.rate,
        "dark_s": asked.dark_us / US,
        "all_dark": asked.all_dark,
        "demand": {
            "nodes": day.nodes,
            "names": day.names or None,
            "intervals": len(day.played),
            "start": iso(day.played[0].start_us),
            "hours": day.hours,
            "bytes": day.total,
            "read": day.reading.as_dict(),
        },
        "verdict": verdict(day, accounts),
        "players": {one.player.name: figures(day, one) for one in accounts},
        "dark_s_by_pair": [
            {"a": _name(day, a), "b": _name(day, b), "dark_s": dark / US}
            for (a, b), dark in sorted(
                accounts[0].dark_us.items(), key=lambda item: (-item[1], item[0])
            )
        ],
    }


def as_text(made: dict[str, Any]) -> str:
    """Returns the result as JSON text."""
    return json.dumps(made, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def as_csv(day: Day, accounts: Sequence[Account]) -> str:
    """Returns a row for each interval and player, with `COLUMNS`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for at, interval in enumerate(day.played):
        for account in accounts:
            step = account.steps[at]
            share = step.served / interval.total if interval.total else ""
            measured = (iso(interval.start_us), interval.seconds, account.player.name)
            did = (step.made, step.broken, step.dark_us / US, round(step.left_bps))
            writer.writerow([*measured, interval.total, step.served, share, *did])
    return text.getvalue()


def verdict(day: Day, accounts: Sequence[Account]) -> str:
    """States in one or two sentences whether the policy would pay."""
    policy, kept, whole, foresight, _ = (figures(day, account) for account in accounts)
    stays, told = kept["share"], "its first plan"
    if whole["share"] > stays + EVEN:
        stays, told = whole["share"], "one plan for the whole day, known beforehand,"
    gain = policy["share"] - stays
    costs = (
        f"{policy['changes_per_hour']:.3g} changes an hour and "
        f"{formats.seconds(policy['dark_s_per_hour'])} of dark time in it"
    )
    reached = f"{accounts[0].player.name} puts {_percent(policy['share'])} of the bytes on circuits"
    if policy["changes"] and gain > EVEN:
        found = (
            f"Changing pays: {reached}, {_points(gain)} more than {told} would if it stayed, "
            f"for {costs}."
        )
    elif gain < -EVEN:
        found = (
            f"Changing does not pay: {reached}, {_points(-gain)} less than {told} would if it "
            f"stayed, and takes {costs}."
        )
    else:
        found = f"Changing makes no difference: {reached}, as much as {told} would if it stayed."
    more = foresight["share"] - policy["share"]
    if more > EVEN:
        found += f" Foresight would gain another {_points(more)}."
    return found


def summary(day: Day, asked: Terms, account: Account) -> Iterator[str]:
    """Describes the replay; `account` is that of the policy."""
    begin, usual = iso(day.played[0].start_us), span(day.played[-1].length_us)
    whole = span(sum(one.length_us for one in day.played))
    several = f"{counted(len(day.played), 'interval')} of {usual} from {begin}, {whole} in total"
    yield f"{several}: {counted(day.nodes, 'node')}, {formats.size(day.total)}"
    dark = text_of(asked.dark_us) if asked.dark_us else "0 s"
    whose = "all circuits" if asked.all_dark else "circuits that are made"
    yield f"  circuits of {formats.rate(asked.rate)}; at a change {whose} are dark for {dark}"
    told = [
        f"{key.replace('_', '-')} {_told(value)}"
        for key, value in account.told.items()
        if key not in ELSEWHERE
    ]
    if told:
        yield f"  {account.player.name}: {', '.join(told)}"
    yield "  the interval before was only measured, and is not counted"
    yield from (f"  {line}" for line in (*day.reading.lines(), *day.notes))


def span(length_us: int) -> str:
    """Formats the length of intervals in the largest unit in which it is an integer.

    >>> span(300_000_000), span(7200_000_000), span(90_000_000)
    ('5 min', '2 h', '90.0 s')
    """
    for unit, size in (("h", 3600 * US), ("min", 60 * US)):
        if length_us % size == 0:
            return f"{length_us // size:,} {unit}"
    return formats.seconds(length_us / US)


def _told(value: object) -> str:
    """Formats the value of an option."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _name(day: Day, node: int) -> str | int:
    return day.names[node] if day.names else node


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _points(share: float) -> str:
    """Formats the difference of two shares."""
    return f"{100 * share:.1f} points"
