"""The sentences of the notes on a run, by kind.

A value in braces may name its unit (`{share_bps:rate}`), or two words of which the first is for a
count of one (`{flows:flow waits|flows wait}`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import Any

from lightloom.units.formats import rate, seconds, size

SENTENCES = {
    # The servers and their traffic.
    "open server rate": (
        "cluster.rack_rate says nothing of one server: a lone one may take all uplinks of its "
        "rack, {rack_rate} or more; set cluster.nic to limit it (a server's share is "
        "{share_bps:rate})"
    ),
    "narrow links": (
        "servers' links of {link} carry a load of {carried:.3g}, and {load:.3g} was drawn: they "
        "are the limit, whatever the fabric; raise cluster.nic or lower workload.load"
    ),
    "times of trace": (
        "the times of the trace are multiplied by {factor:.4g}, which brings its load of "
        "{before:.3g} to {load:g}"
    ),
    "triggered flows": (
        "{flows:,} {flows:flow waits for a trigger|flows wait for triggers}: send_done and "
        "recv_done are both when the last byte is delivered, as nothing here is acknowledged"
    ),
    "endless flows": (
        "{flows:,} {flows:flow of size 0 sends|flows of size 0 send} until the run stops "
        "({bytes:size} delivered): each is offered with what its server's link carries until "
        "then, and is in no load, mean size or completion time"
    ),
    "no variance": "{said}",
    "load above servers": (
        "the actual offered load is {load:.3g} times the servers' capacity; if that is not meant, "
        "check the units of times and sizes"
    ),
    "other load: few flows": (
        "the actual offered load is {load:.3g} where {asks} {asked:g}, as few flows arrive; more "
        "flows come closer"
    ),
    "other load: large flows": (
        "the actual offered load is {load:.3g} where {asks} {asked:g}, as rare large flows decide"
    ),
    "other load: large flows, not rescaled": (
        "the actual offered load is {load:.3g} where {asks} {asked:g}, as rare large flows "
        'decide; mean_rule = "rescaled" makes sizes that offer it'
    ),
    # Loads that are not carried, and runs that are too short.
    "overloaded links": (
        "overloaded: flows {traffic} are offered at {times:times} the rate of their links, so "
        "they wait longer the longer the run; {remedy}"
    ),
    "growing backlog": (
        "overloaded: more and more flows{traffic} wait, and they wait longer the longer the run; "
        "{remedy}"
    ),
    "late bytes: overloaded": (
        "in the second half of the arrivals {share:.0%} of the offered bytes were delivered: "
        "overloaded; times depend on how long the run is"
    ),
    "late bytes: overloaded or filling": (
        "in the second half of the arrivals {share:.0%} of the offered bytes were delivered: "
        "overloaded, or still filling; times depend on how long the run is"
    ),
    "late bytes: delivered in the end": (
        "in the second half of the arrivals {share:.0%} of the offered bytes were delivered, and "
        "all of it in the end: overloaded, or the arrivals end before the largest flows do, and "
        "then times are right and the load delivered is low"
    ),
    "no steady state": (
        "{length}, where 99 % of {flows} take {slow_s:seconds}: no steady state; {remedy}"
    ),
    # The settings of the fabric and of the run.
    "uplinks as racks": (
        "{uplinks} racks have no more than {uplinks} uplinks each, {times:.3g} times the base, "
        "where the paper has {speedup} times; add racks, or raise fabric.channel_rate"
    ),
    "few uplinks": (
        "uplinks = {uplinks} is less than the {base} base uplinks that carry a rack's rate once, "
        "and most bytes cross two; {remedy}"
    ),
    "no rates": (
        'run.rate_precision = "{precision}" has no effect on {fabric}, which moves its packets or '
        "cells one by one"
    ),
    "inexact rates": ("{exact} in {fabrics} (run.rate_precision): times are as inexact as they"),
    "no controller": (
        "there is no controller of circuits in this fabric: run.controller_log has no effect on it"
    ),
    "thinned samples": (
        "run.sample = {sample} makes more samples than are kept: they are {apart} apart; raise "
        "it, or run for less long"
    ),
    "bit errors": (
        "bit errors are not simulated: on the worst path {before:.1e} of the bits are wrong before "
        "correction, and {after:.1e} after it once the margin is used up"
    ),
    "devices": "fabric.devices: {said}",
    "rates": "{said}",
    # Failures.
    "failures": "during the run {events:list}",
    "late failures": (
        "{count:a failure or repair was|{count} failures or repairs were} due after the run ended "
        "at {end_s:seconds}, without effect: {events:list}; let {count:it|them} come earlier "
        "(fault.at, fault.repair_at), or the run end later (run.stop)"
    ),
    # Circuits.
    "interval": "{said}",
    "no circuit lit": (
        "the run ended after {ended_s:seconds}, before any circuit could be lit: they are first "
        "decided on after {first}; {remedy} fabric.interval"
    ),
    "no circuit used": (
        "the run ended after {ended_s:seconds}, before any traffic could enter a circuit: they "
        "are first decided on after {first}, and routes over them are installed {later} later; "
        "{remedy} fabric.interval, fabric.retag or fabric.rule"
    ),
    "slow circuits": (
        "all circuits of a rack carry {circuits_bps:rate}, the tree beside them carries "
        "{tree_bps:rate} for it: circuits are no faster; raise fabric.circuit_rate or "
        "fabric.oversubscription"
    ),
    "slow circuit": (
        "a circuit carries {circuit_bps:rate}, the tree beside it up to {tree_bps:rate} for a "
        "rack: two racks that one circuit joins may be slower by it than by the tree; lower "
        "fabric.planes, or raise fabric.circuit_rate or fabric.oversubscription"
    ),
}
LISTED = 4
"""Number of items of a list that are named; further ones are counted."""


def sentence(kind: str, values: Mapping[str, Any]) -> str:
    """The sentence of a kind with its values.

    >>> sentence("failures", {"events": ["plane 0 fails at 1 ms"]})
    'during the run plane 0 fails at 1 ms'
    """
    return _FORMATTER.vformat(SENTENCES[kind], (), values)


class _Formatter(Formatter):
    """Prints values in their units."""

    def format_field(self, value: Any, format_spec: str) -> str:
        one, _, many = format_spec.partition("|")
        if many:
            return one if value == 1 else many
        unit = _UNITS.get(format_spec)
        return str(super().format_field(value, format_spec)) if unit is None else unit(value)


def _listed(items: Sequence[str]) -> str:
    """The first items, and the number of the others."""
    more = len(items) - LISTED
    return ", ".join(items[:LISTED]) + (f" and {more} more" if more > 0 else "")


def _times(factor: float) -> str:
    from lightloom.units.quantities import times

    return times(factor)


_UNITS: Mapping[str, Callable[[Any], str]] = {
    "rate": rate,
    "seconds": seconds,
    "size": size,
    "times": _times,
    "list": _listed,
}
_FORMATTER = _Formatter()
