"""The sentences of the notes on a run, by kind, and the formatter of all catalogues.

A value in braces may name its unit (`{share_bps:rate}`), or two words of which the first is for a
count of one, or a list of one (`{flows:flow waits|flows wait}`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import TYPE_CHECKING, Any

from lightloom.units.counts import listed
from lightloom.units.formats import rate, seconds, size

if TYPE_CHECKING:
    from lightloom.units.quantities import Quantity

STILL_REMEDY = (
    "check whether parts have failed and, if circuits change, which circuits the policy sets and "
    "whether they stay lit longer than a change takes"
)
"""Remedy if no flow can make progress any more."""

SENTENCES = {
    # The servers and their traffic.
    "open server rate": (
        "cluster.rack_rate does not limit a single server: one server may use all uplinks of its "
        "rack, {rack_rate} or more; set cluster.nic to limit it (a server's share is "
        "{share_bps:rate})"
    ),
    "narrow links": (
        "servers' links of {link} carry a load of {carried:.3g}, and {load:.3g} was drawn: they "
        "limit every fabric; raise cluster.nic or lower workload.load"
    ),
    "times of trace": (
        "the times of the trace are multiplied by {factor:.4g}, which changes its load "
        "from {before:.3g} to {load:g}"
    ),
    "triggered flows": (
        "{flows:,} {flows:flow waits for a trigger|flows wait for triggers}: send_done and "
        "recv_done both occur when the last byte is delivered, because acknowledgements are not "
        "modelled"
    ),
    "endless flows": (
        "{flows:,} {flows:flow of size 0 sends|flows of size 0 send} until the run stops "
        "({bytes:size} delivered): each counts as offered with the bytes that its server's link "
        "carries until then, and is not included in loads, mean sizes and completion times"
    ),
    "no variance": (
        "sizes have no finite variance (Pareto, shape {shape:g}): of means, load and goodput "
        "fewer than 95 of 100 intervals contain the true value; "
        'mean_rule = "truncated" with sizes.max gives sizes a variance'
    ),
    "load above servers": (
        "the actual offered load is {load:.3g} times the servers' capacity; if this is not "
        "intended, check the units of times and sizes"
    ),
    "other load: few flows": (
        "the actual offered load is {load:.3g} where {asks} {asked:g}, because few flows "
        "arrive; more flows bring it closer"
    ),
    "other load: large flows": (
        "the actual offered load is {load:.3g} where {asks} {asked:g}, because rare large "
        "flows determine it"
    ),
    "other load: large flows, not rescaled": (
        "the actual offered load is {load:.3g} where {asks} {asked:g}, because rare large "
        'flows determine it; mean_rule = "rescaled" scales sizes to this load'
    ),
    # Loads that are not carried, and runs that are too short.
    "overloaded links": (
        "overloaded: flows {traffic} are offered at {times:times} the rate of their links, so "
        "waiting times grow with the length of the run; {remedy}"
    ),
    "growing backlog": (
        "overloaded: more and more flows wait, and waiting times grow with the length of the run; "
        "{remedy}"
    ),
    "growing backlog in part": (
        "overloaded: more and more flows {traffic} wait, and waiting times grow with the length of "
        "the run; {remedy}"
    ),
    "late bytes: overloaded": (
        "in the second half of the arrivals {share:.0%} of the offered bytes were delivered: "
        "overloaded; times depend on the length of the run"
    ),
    "late bytes: overloaded or filling": (
        "in the second half of the arrivals {share:.0%} of the offered bytes were delivered: "
        "overloaded, or not yet in a steady state; times depend on the length of the run"
    ),
    "late bytes: delivered in the end": (
        "in the second half of the arrivals {share:.0%} of the offered bytes were delivered, and "
        "all of them by the end: overloaded, or the largest flows end after the arrivals; in this "
        "second case, times are right and the load delivered is low"
    ),
    "no steady state": (
        "{length}, where 99 % of {flows} take {slow_s:seconds}: no steady state; {remedy}"
    ),
    # The settings of the fabric and of the run.
    "no rates": (
        'run.rate_precision = "{precision}" has no effect on {fabric}, which moves its packets or '
        "cells one by one"
    ),
    "inexact rates": ("{exact} in {fabrics} (run.rate_precision): times have the same precision"),
    "no controller": (
        "there is no controller of circuits in this fabric: run.controller_log has no effect on it"
    ),
    "thinned samples": (
        "run.sample = {sample} gives more samples than are kept: the kept ones are {apart} "
        "apart; raise it, or shorten the run"
    ),
    "bit errors": (
        "bit errors are not simulated: on the worst path the bit error rate is {before:.1e} before "
        "correction, and {after:.1e} after it if the margin is used up"
    ),
    # The core writes these two with the other texts of its fabrics and devices.
    "devices": "fabric.devices: {text}",
    "fabric": "{text}",
    # Runs that ended before their flows did.
    "cut by limit": "run.limit ended the run: {left}; raise it",
    "stood still": f"nothing was delivered after {{since_s:seconds}}: {{left}}; {STILL_REMEDY}",
    "flows cut": (
        "of {flows:,} {flows:flow|flows}{seeds:| over {seeds} seeds} {never_offered:,} "
        "{never_offered:was|were} never offered and {unfinished:,} unfinished"
    ),
    "flows never offered": (
        "of {flows:,} {flows:flow|flows}{seeds:| over {seeds} seeds} {never_offered:,} "
        "{never_offered:was|were} never offered"
    ),
    "flows left unfinished": (
        "of {flows:,} {flows:flow|flows}{seeds:| over {seeds} seeds} {unfinished:,} "
        "{unfinished:was|were} unfinished"
    ),
    "no flows cut": "of {flows:,} {flows:flow|flows}{seeds:| over {seeds} seeds} none was left",
    "point cut": "{point} ({left})",
    "more points": "{more:,} more ({rest})",
    "points cut": (
        "at {cut:,} of {points:,} {points:point|points}{of:of} run.limit ended runs: "
        "{each:joined}; raise it"
    ),
    "points stood still": (
        "at {cut:,} of {points:,} {points:point|points}{of:of} nothing was delivered any more: "
        f"{{each:joined}}; {STILL_REMEDY}"
    ),
    # Failures.
    "failures": "during the run {events:list}",
    "late failures": (
        "{count:a failure or repair was|{count} failures or repairs were} due after the run ended "
        "at {end_s:seconds}, without effect: {events:list}; let {count:it|them} come earlier "
        "(fault.at, fault.repair_at), or the run end later (run.stop)"
    ),
    # Circuits.
    "interval": "fabric.{parameter} = {value}: {effect}; {remedy}",
    "no circuit lit": (
        "the run ended after {ended_s:seconds}, before any circuit could be lit: the first "
        "decision on circuits comes after {first}; {remedy} fabric.interval"
    ),
    "no circuit used": (
        "the run ended after {ended_s:seconds}, before any traffic could enter a circuit: the "
        "first decision on circuits comes after {first}, and routes over them are installed "
        "{later} later; {remedy} fabric.interval, fabric.retag or fabric.rule"
    ),
    "slow circuits": (
        "all circuits of a rack together carry {circuits_bps:rate}, and the tree beside them "
        "carries {tree_bps:rate} for the rack: circuits are no faster; raise fabric.circuit_rate "
        "or fabric.oversubscription"
    ),
    "slow circuit": (
        "a circuit carries {circuit_bps:rate}, the tree beside it up to {tree_bps:rate} for a "
        "rack: traffic between two racks may be slower over one circuit than over the tree; lower "
        "fabric.planes, or raise fabric.circuit_rate or fabric.oversubscription"
    ),
}
LISTED = 4
"""Number of items of a list that are named; further ones are counted."""


def sentence(template: str, values: Mapping[str, Any]) -> str:
    """A template of a catalogue with its values.

    >>> sentence(SENTENCES["failures"], {"events": ["plane 0 fails at 1 ms"]})
    'during the run plane 0 fails at 1 ms'
    >>> sentence("{labels:listed} {labels:has|have} {share:share}", {"labels": "ab", "share": 0.5})
    'a and b have 50.0\xa0%'
    """
    return _FORMATTER.vformat(template, (), values)


class _Formatter(Formatter):
    """Prints values in their units."""

    def format_field(self, value: Any, format_spec: str) -> str:
        one, _, many = format_spec.partition("|")
        if many:
            count = len(value) if isinstance(value, Sequence) else value
            return one if count == 1 else many
        unit = _UNITS.get(format_spec)
        return str(super().format_field(value, format_spec)) if unit is None else unit(value)


def _listed(items: Sequence[str]) -> str:
    """The first items, and the number of the others."""
    more = len(items) - LISTED
    return ", ".join(items[:LISTED]) + (f" and {more} more" if more > 0 else "")


def _times(factor: float) -> str:
    from lightloom.units.quantities import times

    return times(factor)


def _shown(value: float | None, quantity: Quantity) -> str:
    """A figure as pages print it."""
    from lightloom.units.quantities import show

    return show(value, quantity)


def _load(share: float) -> str:
    """A load as it was requested."""
    from lightloom.units.quantities import tick_label

    return tick_label(share, "share")


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _count(number: float) -> str:
    from lightloom.units.quantities import count

    return count(number)


_UNITS: Mapping[str, Callable[[Any], str]] = {
    "rate": rate,
    "seconds": seconds,
    "size": size,
    "times": _times,
    "list": _listed,
    "listed": lambda items: listed(map(str, items)),
    "joined": lambda items: "; ".join(map(str, items)),
    "semicolon": lambda items: f"; {listed(map(str, items))}" if items else "",
    "and": lambda items: " and ".join(map(str, items)),
    "or": lambda items: " or ".join(map(str, items)),
    "of": lambda whole: f" of {whole}" if whole else "",
    "loads": lambda shares: listed(map(_load, shares)),
    "percent": _percent,
    "count": _count,
    "load": _load,
    "time": lambda value: _shown(value, "time"),
    "bytes": lambda value: _shown(value, "bytes"),
    "share": lambda value: _shown(value, "share"),
}
_FORMATTER = _Formatter()
