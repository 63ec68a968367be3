"""The output of `testbed run`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lightloom.testbed.agreement_text import difference_text, value_text
from lightloom.units import formats

LINES = 20
"""Number of lines shown from the end of a command's output."""


def as_json(
    found: Mapping[str, Mapping[str, Any]], means: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Returns the figures of all runs; of several, the worst is first. `means` are the agreement of
    each case over its repeated runs.
    """
    worst: dict[str, Callable[[list[Any]], Any]] = {
        "matched_ratio": min,
        "lost_frames": sum,
        "in_day": min,
        "dark_packets": sum,
        "within_limits": all,
    }
    short = {}
    for key, of in worst.items():
        values = [figures[key] for figures in found.values() if figures.get(key) is not None]
        if values:
            short[key] = of(values)
    if len(found) > 1:
        return short | ({"agreement": means} if means else {}) | {"cases": found}
    (figures,) = found.values()
    return short | {key: value for key, value in figures.items() if key not in short}


def lines(figures: Mapping[str, Any], directory: Path, case: str) -> Iterator[str]:
    """Yields the verdict, doubts about it, a line for each application, and the path of the
    result."""
    yield verdict(figures, case)
    for sentence in figures["beyond_limits"]:
        yield f"beyond the limits of the testbed: {sentence}"
    for sentence in figures["not_emulated"]:
        yield f"not emulated: {sentence}"
    if figures.get("rule_changes"):
        yield rules(figures)
    if cut := figures.get("capture_cut"):
        yield f"capture.pcapng has only the first packets of {', '.join(cut)}: capture less"
    for one in figures["applications"]:
        yield f"  {_application(one)}"
        for line in one.get("output", "").splitlines()[-LINES:]:
            yield f"    {line}"
    yield from agreement(figures.get("agreement", []))
    load = f"load {figures['load']:.1f} on {figures['processors']} processors"
    yield f"measured on this machine, {load}, in {figures['seconds']:.1f} s: {directory / case}"


def agreement(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Each metric as it was measured, and as it was simulated."""
    for one in rows:
        measured, simulated = (value_text(one, of) for of in ("measured", "simulated"))
        values = f"{measured} measured, {simulated} simulated"
        yield f"  {one['name']}: {values} ({difference_text(one)}): {one['why']}"


def rules(figures: Mapping[str, Any]) -> str:
    """States how long the substeps of changes took on the switches of the servers."""
    median, most = (f"{figures['rules_ms'][key]:.0f} ms" for key in ("p50", "max"))
    return (
        f"OpenFlow: {figures['rule_changes']} rules changed, {median} a substep (median), "
        f"{most} at most; {figures['vlans']} VLANs at a time"
    )


def verdict(figures: Mapping[str, Any], case: str) -> str:
    """The main figures of a run on the testbed, in one line."""
    said = []
    if figures["matched_ratio"] is not None:
        said.append(
            f"circuits carried up to {figures['matched_ratio']:.1f} × the rate of the electrical "
            "network"
        )
    if figures.get("in_day") is not None:
        said.append(
            f"{100 * figures['in_day']:.3f} % of {figures['frames']:,} frames passed in their day"
        )
    if "lost_frames" in figures:
        drops = figures.get("switch_drops")
        where = f" ({drops} of them in servers' switches)" if drops else ""
        said.append(f"{figures['lost_frames']} frames lost in the testbed itself{where}")
    if figures.get("queue_drops"):
        said.append(f"{figures['queue_drops']:,} packets dropped by full queues")
    if "dark_packets" in figures:
        said.append(f"{figures['dark_packets']} packets sent into the dark")
    name = f"{figures['fabric']}, {case}," if case else figures["fabric"]
    return f"{name} on the testbed: {'; '.join(said)}"


def _application(one: Mapping[str, Any]) -> str:
    name = f"{one['name']} (host {one['from']}"
    name += ")" if one["to"] is None else f" to {one['to']})"
    if one["timed_out"]:
        return f"{name}: ended after its limit"
    if one["exit_code"] != 0:
        said = one.get("said", "").strip()[-200:]
        return f"{name}: failed with {one['exit_code']}" + (f": {said}" if said else "")
    if latency := one.get("latency_us"):
        shown = ", ".join(f"{key} {latency[key] / 1e3:.2f} ms" for key in ("p50", "p99", "p99.9"))
        return f"{name}: {latency['requests']:,} requests, latency {shown}"
    if one["goodput_bps"] is None:
        return f"{name}: done in {one['took_s']:.2f} s"
    said = f"{name}: {formats.rate(one['goodput_bps'])} in {one['took_s']:.2f} s"
    if one.get("matched_bps") and one.get("unmatched_bps"):
        with_it, without = formats.rate(one["matched_bps"]), formats.rate(one["unmatched_bps"])
        said += f"; frames at {with_it} on a circuit, at {without} without"
    if one.get("packets_lost") is not None:
        said += f"; {one['packets_lost']} of {one['packets']} packets lost"
    return said
