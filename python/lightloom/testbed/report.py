"""The page of a run on the testbed: one file that opens offline."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lightloom.testbed.agreement_text import difference_text, value_text
from lightloom.testbed.live import Live
from lightloom.units import formats

NONE = "–"
COLOURS = ("#0969da", "#bf3989", "#1a7f37", "#9a6700", "#8250df", "#cf222e")


def page(live: Live, figures: Mapping[str, Any], verdict: str) -> str:
    """The page as HTML."""
    environment = Environment(
        loader=PackageLoader("lightloom.testbed"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("report.html.j2").render(
        title=f"{figures['fabric']} on the testbed",
        verdict=verdict,
        beyond=figures["beyond_limits"],
        not_emulated=figures["not_emulated"],
        picture=Markup(_picture(live)),
        applications=[_application(one) for one in figures["applications"]],
        agreement=[_agreement(one) for one in figures.get("agreement", [])],
        facts=list(_facts(figures)),
    )


def _rate(value: float | None) -> str:
    return NONE if value is None else formats.rate(value)


def _application(one: Mapping[str, Any]) -> dict[str, str]:
    hosts = str(one["from"]) if one["to"] is None else f"{one['from']} → {one['to']}"
    again = one.get("retransmissions")
    return {
        "name": one["name"],
        "hosts": hosts,
        "took": NONE if one["took_s"] is None else f"{one['took_s']:.2f} s",
        "goodput": _rate(one["goodput_bps"]),
        "lit": _rate(one["matched_bps"]),
        "dark": _rate(one["unmatched_bps"]),
        "again": NONE if again is None else f"{again:,}",
        "rtt": NONE if not one.get("mean_rtt_us") else formats.seconds(one["mean_rtt_us"] / 1e6),
    }


def _agreement(one: Mapping[str, Any]) -> dict[str, str]:
    return {
        "name": one["name"],
        "measured": value_text(one, "measured"),
        "simulated": value_text(one, "simulated"),
        "difference": difference_text(one),
        "why": one["why"],
    }


def _facts(figures: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "data plane", figures["plane"]
    yield "times of the fabric multiplied by", f"{figures['time_scale']:g}"
    yield "circuits lit", f"{figures['circuits']:,}"
    late = figures["late_ms"]
    if late["max"] is not None:
        yield "actions late, p50 / p99 / max", " / ".join(f"{late[k]:.2f}" for k in late) + " ms"
    names = {
        "dark_packets": "packets sent into the dark",
        "lost_frames": "frames lost in the testbed itself",
        "switch_drops": "of these in the servers' switches",
        "queue_drops": "packets dropped by full queues",
        "frames": "frames",
        "days": "days",
        "missed_days": "days that passed unseen",
        "sync_frames": "synchronisation frames",
    }
    for key, name in names.items():
        if key in figures:
            yield name, f"{figures[key]:,}"
    if figures.get("in_day") is not None:
        yield "frames in the day of their pair", f"{100 * figures['in_day']:.4f} %"
    if "lateness_us" in figures:
        late = figures["lateness_us"]
        numbers = " / ".join(f"{late[key]:.1f}" for key in late)
        yield "days late, p50 / p99 / p99.9 / max", f"{numbers} µs"
    yield "most bytes in the queues of a node", formats.size(figures["queue_peak_bytes"])
    yield "load of the machine", f"{figures['load']:.1f} on {figures['processors']} processors"


def _picture(live: Live) -> str:
    """The rate of each receiver over time, as SVG."""
    from matplotlib.figure import Figure

    from lightloom.plotting.backend_matplotlib import drawing

    told: Any = {"svg.fonttype": "none", "svg.hashsalt": "testbed", "font.size": 9}
    with drawing(told):
        figure = Figure(figsize=(8, 3.2), layout="constrained")
        axes = figure.add_subplot()
        _draw(live, axes)
        axes.set_xlabel("time [s]")
        axes.set_ylabel("received [Mb/s]")
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False, ncols=3, loc="upper left", bbox_to_anchor=(0, 1.15))
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def _draw(live: Live, axes: Any) -> None:
    layout = live.setup.layout
    for at, one in enumerate(live.applications):
        if one["to"] is None:
            continue
        racks = tuple(layout.hosts[one[end]].rack for end in ("from", "to"))
        user = live.setup.plane == "user"
        rates = live.samples.rates(f"{racks[0]}>{racks[1]}" if user else f"host {one['to']}")
        colour = COLOURS[at % len(COLOURS)]
        times = [(a + b) / 2 - live.began for a, b, _ in rates]
        axes.plot(
            times, [rate / 1e6 for *_, rate in rates], color=colour, label=one["name"], lw=1.2
        )
        for a, b, _, since, until in live.circuits:
            if {a, b} == set(racks):
                axes.axvspan(since, until, color=colour, alpha=0.08, lw=0)
