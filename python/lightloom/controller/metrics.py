"""Metrics of a controller for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector

from lightloom.controller.answers import AlarmKind
from lightloom.controller.overview import alarms_of, dark_of, with_light
from lightloom.controller.service import Controller
from lightloom.controller.transaction_log import OPEN, OVER


def exposition(controller: Controller) -> bytes:
    """All metrics in the text format, computed from the store and the last readings."""
    registry = CollectorRegistry()

    def gauge(name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"lightloom_{name}", text, labels, registry=registry)

    lit = gauge("cross_connects", "Cross-connects that are lit", "switch")
    wanted = gauge("cross_connects_wanted", "Different cross-connects that are wanted", "switch")
    dark = gauge("cross_connects_dark", "Wanted ones that are not lit or without light", "switch")
    drift = gauge("cross_connects_unowned", "Cross-connects without an owner", "switch")
    reachable = gauge("switch_reachable", "Whether the last reading succeeded", "switch")
    carried = gauge("demand_joined", "Share of the demand between joined racks", "switch")
    outcome = gauge("transactions", "Transactions by their state", "switch", "state")
    busy = gauge("change_seconds", "Total duration of changes", "switch")
    alarms = gauge("alarms", "Alarms by kind", "kind")
    for one in controller.switches.values():
        pairs = {request.pair for request in controller.wanted(one.name)}
        wanted.labels(one.name).set(len(pairs))
        if one.read_at is not None:
            dark.labels(one.name).set(len(dark_of(one, pairs)))
            carrying = with_light(one)
            lit.labels(one.name).set(len(carrying))
            drift.labels(one.name).set(len(one.unowned))
            carried.labels(one.name).set(one.share(carrying))
        if one.read_at is not None or one.trouble is not None:
            reachable.labels(one.name).set(one.trouble is None)
        made = controller.store.outcomes(one.name)
        for state in (*OPEN, *OVER):
            outcome.labels(one.name, state).set(made.get(state, (0, 0.0))[0])
        busy.labels(one.name).set(sum(seconds for _, seconds in made.values()))
    registry.register(Counted(controller))
    found = [alarm["kind"] for alarm in alarms_of(controller)]
    for kind in get_args(AlarmKind):
        alarms.labels(kind).set(found.count(kind))
    return generate_latest(registry)


class Counted(Collector):
    """The counters of the process since its start."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def collect(self) -> Iterator[Metric]:
        """The metrics of all switches."""
        text = "Requests that a switch refused or did not answer"
        errors = CounterMetricFamily("lightloom_switch_errors", text, labels=["switch"])
        text = "Time from a reading to the plan of a change, or to finding that none is needed"
        plans = SummaryMetricFamily("lightloom_plan_seconds", text, labels=["switch"])
        text = "Time of changes, multiplied by the cross-connects that they remove or add"
        dark = CounterMetricFamily("lightloom_dark_pair_seconds", text, labels=["switch"])
        for one in self._controller.switches.values():
            errors.add_metric([one.name], one.meters.errors)
            plans.add_metric([one.name], one.meters.plans, one.meters.plan_s)
            dark.add_metric([one.name], one.meters.dark_pair_s)
        yield errors
        yield plans
        yield dark
