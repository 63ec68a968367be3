"""Demand from a Prometheus server: the series of a query over the last interval."""

from __future__ import annotations

import json
import tempfile
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

from lightloom.control.files import Demand, read_demand
from lightloom.controller.config import PrometheusTable
from lightloom.controller.matrices import Seen, matrix_of, read_or_none
from lightloom.controller.racks import Racks
from lightloom.controller.unmapped import Unmapped
from lightloom.errors import ConfigError, refusal
from lightloom.units.durations import duration_ps

TIMEOUT_S = 10.0
LARGEST = 64 << 20
"""Largest size of an answer [B]."""


class Prometheus:
    """A server that is queried at every interval."""

    def __init__(self, table: PrometheusTable, unmapped: Unmapped) -> None:
        """Stores the table; sends no query yet.

        Raises:
            ConfigError: if the span has less than two steps, because the answer would not show the
                step.
        """
        self._table = table
        self._unmapped = unmapped
        key = "demand.prometheus.span"
        span_ps = duration_ps(key, table.span)
        self._span_s = span_ps / 1e12
        if span_ps < 2 * duration_ps("demand.prometheus.step", table.step):
            limit = f"must be at least two steps of {table.step}"
            raise refusal(key, table.span, limit, "lengthen it, or shorten the step")

    def check(self, racks: Racks) -> None:
        """Accepts all racks, because the server may get series of them."""

    def latest(self, racks: Racks, now: float) -> Seen | None:
        """The demand of the span up to now.

        Raises:
            ConfigError: if the server does not answer, or its answer is no demand.
        """
        demand = query(self._table, now)
        matrix = matrix_of(demand, racks, "demand.prometheus")
        parts = ["prometheus", self._unmapped.note(demand)]
        return Seen(matrix, now, ", ".join(filter(None, parts)), self._span_s)


def query(table: PrometheusTable, now: float) -> Demand | None:
    """The demand between the nodes that the labels of the series name; None if there is no traffic.

    Args:
        table: server, query, span, unit and labels.
        now: end of the span [s since 1970].

    Raises:
        ConfigError: if the server does not answer, or its answer is no demand.
    """
    span = duration_ps("demand.prometheus.span", table.span) / 1e12
    step = duration_ps("demand.prometheus.step", table.step) / 1e12
    # A sample represents the step that ends with it.
    asked = {"query": table.query, "start": now - span + step, "end": now, "step": step}
    address = f"{table.url.rstrip('/')}/api/v1/query_range?{urlencode(asked)}"
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT_S) as answer:
            text = answer.read(LARGEST + 1)
    except urllib.error.HTTPError as problem:
        limit = f"the server refuses it: {_reason(problem)}"
        raise refusal("demand.prometheus.query", table.query, limit, "correct it") from None
    except OSError as problem:
        limit = f"it does not answer ({problem})"
        raise refusal("demand.prometheus.url", table.url, limit, "check the server") from None
    if len(text) > LARGEST:
        limit = f"its answer has more than {LARGEST >> 20} MiB"
        raise refusal("demand.prometheus.query", table.query, limit, "sum by racks in the query")
    if not text.lstrip().startswith(b"{"):
        limit = "its answer is not that of Prometheus"
        raise refusal("demand.prometheus.url", table.url, limit, "write http://HOST:9090")
    with tempfile.TemporaryDirectory(prefix="lightloom-prometheus-") as folder:
        file = Path(folder) / "answer.json"
        file.write_bytes(text)
        try:
            read = partial(read_demand, file, unit=table.unit, columns=table.columns)
            return read_or_none(read)
        except ConfigError as problem:
            text_of = str(problem).replace(str(file), "the answer").replace(file.name, "the answer")
            raise ConfigError(f"demand.prometheus: {text_of}") from None


def _reason(problem: urllib.error.HTTPError) -> str:
    """The error message of a server that refuses a query."""
    try:
        return str(json.loads(problem.read(LARGEST))["error"])
    except (ValueError, KeyError, TypeError, OSError):
        return str(problem)
