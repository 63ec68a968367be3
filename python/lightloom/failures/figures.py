"""Reads the figures by which single failures are compared from the summary of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lightloom.results.columns import numbers
from lightloom.results.failures import Figures
from lightloom.results.result import Result
from lightloom.units.bounds import bound

Summary = Mapping[str, Any]


@dataclass(frozen=True)
class Reader:
    """The keys of a summary that are read, which are the same for all fabrics of a comparison."""

    goodput: str
    p99: str

    @staticmethod
    def of(summaries: Iterable[Summary]) -> Reader:
        """Chooses the keys: those of the window if one was measured; otherwise the load delivered,
        or the goodput if there is no load. The 99th percentile is that of the short flows, or of
        all flows if there are no short ones."""
        every = list(summaries)
        windows = [w for s in every if (w := s.get("window"))]
        if windows:
            mixed = any(w.get("short") for w in windows)
            return Reader("window.accepted", f"window.{'short.' if mixed else ''}p99_us")
        loaded = any(s.get("load_delivered") is not None for s in every)
        short = any(s["fct_bound"]["short"]["flows"] for s in every)
        return Reader(
            "load_delivered" if loaded else "goodput_normalized",
            f"fct.{'short' if short else 'all'}.p99_us",
        )

    def read(self, result: Result) -> Figures:
        """Returns the figures of a run."""
        summary = result.summary
        times = [job["seconds"] for job in summary["jobs"].values()]
        missing = self._missing(result)
        return Figures(
            goodput=self._goodput(summary, missing, result.experiment["run"]["stop"]),
            p99=bound(summary, self.p99),
            missing=missing,
            unfinished=int(summary["fct_bound"]["all"]["unfinished"]),
            drops=int(summary["drops"]),
            jobs_s=sum(times) if times and None not in times else None,
        )

    def _goodput(self, summary: Summary, missing: float, stop: str) -> float | None:
        """Goodput; over the whole run only if the run ended by itself."""
        first, _, rest = self.goodput.partition(".")
        found = summary[first]
        if self.goodput == "goodput_normalized" and stop == "drain" and missing > 0:
            return None
        if rest:
            found = None if found is None else found[rest]
        return None if found is None else float(found)

    def _missing(self, result: Result) -> float:
        """Share of the bytes that were not delivered. If flows depend on others, the bytes of flows
        that never started are included."""
        summary = result.summary
        offered = int(summary["bytes_offered"])
        closed = summary["load_offered"] is None and not summary.get("endless")
        if closed and result.experiment["run"]["stop"] == "drain":
            offered = int(numbers(result.flows.column("bytes")).sum())
        return 1 - summary["bytes_delivered"] / offered if offered else 0.0
