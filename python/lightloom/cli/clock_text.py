"""The output of `clock`: the deviation, its sampling, and its main cause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lightloom.cli import console
from lightloom.units import formats

if TYPE_CHECKING:
    from lightloom.devices.clock import Synchronisation

Summary = dict[str, Any]


def show(found: Synchronisation) -> None:
    """Prints the whole result."""
    summary = found.summary
    config, loop = summary["config"], summary["loop"]
    turn = config["leader_epochs"]
    console.say(
        f"{config['nodes']} clocks, epochs of {config['epoch']}, a new leader every "
        f"{'epoch' if turn == 1 else f'{turn} epochs'}, loop of {config['loop']['bandwidth']} "
        f"(time constant {formats.seconds(loop['time_constant_s'])}), seed {summary['seed']}"
    )
    for line in _failures(config):
        console.say(line)
    console.say(_headline(summary))
    if summary["day"] is not None:
        day = config["day"]
        console.say(f"{day['duration']} in steps of {day['step']}, each a mean over its time:")
        _deviation(summary["day"], "largest of means")
        console.say(f"its worst moment, {_observed(config, summary['epochs'])}:")
    else:
        console.say(f"{_observed(config, summary['epochs'])}:")
    _deviation(summary["epochs"])
    for line in (*_verdict(summary), _budgeted(summary)):
        console.say(line)
    if summary["contributions"]:
        _terms(summary)


def _observed(config: Summary, figures: Summary) -> str:
    """Describes how deviations were sampled."""
    bandwidth = figures["bandwidth_hz"]
    filtered = "unfiltered" if bandwidth is None else f"behind a filter of {bandwidth:g} Hz"
    every = formats.seconds(figures["sampling_s"])
    return (
        f"{config['duration']} epoch by epoch, {figures['samples']:,} samples, one every "
        f"{every}, {filtered}"
    )


def _largest(summary: Summary) -> Summary:
    """The figures with the largest deviation: of the epochs, or of the means of a day."""
    looked = [figures for figures in (summary["epochs"], summary["day"]) if figures is not None]
    found: Summary = max(looked, key=lambda figures: figures["deviation_max_ps"])
    return found


def _headline(summary: Summary) -> str:
    """The main figure, and the term that dominates it."""
    found = _largest(summary)
    ahead, behind = found["deviation_max_pair"]
    config = summary["config"]
    span = config["duration"]
    if summary["day"] is not None:
        span = f"{config['day']['duration']}, {span} of it epoch by epoch"
    cause = summary["dominant"]["deviation"] if summary["contributions"] else None
    why = "" if cause is None else f": {cause.replace('-', ' ')} dominates it"
    return (
        f"largest deviation in {span}: {ps(found['deviation_max_ps'])}, between nodes {ahead} and "
        f"{behind}{why}"
    )


def _deviation(figures: Summary, largest: str = "largest deviation") -> None:
    ahead, behind = figures["deviation_max_pair"]
    when = formats.seconds(figures["deviation_max_at_s"])
    rows = (
        (
            largest,
            f"{ps(figures['deviation_max_ps'])} between nodes {ahead} and {behind}, at {when}; "
            f"{ps(figures['deviation_mean_ps'])} on average",
        ),
        (
            "about their means",
            f"{ps(figures['wander_max_ps'])}; {ps(figures['wander_rms_ps'])} rms of a pair",
        ),
        (
            "the first two",
            f"{ps(figures['pair_mean_ps'])} apart, ± {ps(figures['pair_wander_max_ps'])} about it",
        ),
    )
    table = console.plain_table()
    table.add_column(style="bold")
    table.add_column()
    table.show_header = False
    for name, text in rows:
        table.add_row("  " + name, text)
    console.out(wide=True).print(table)


def _failures(config: Summary) -> Iterator[str]:
    for death in config.get("die", []):
        yield (
            f"node {death['node']} dies at {death['at']}; the next leads after {death['missed']} "
            "missed epochs"
        )
    lies = config.get("byzantine")
    if lies and lies["nodes"]:
        names = ", ".join(map(str, lies["nodes"]))
        size = lies["speed"] if lies["lie"] == "run" else lies["size"]
        how = {"split": "tells halves of the nodes", "jump": "jumps by", "run": "runs away by"}
        yield (
            f"node {names} lies from {lies['at']} on ({how[lies['lie']]} {size}); more than "
            f"{config['loop']['clip']} an epoch is filtered ({config['loop']['filter']})"
        )
    if config.get("die") or (lies and lies["nodes"]):
        yield "nodes that die or lie are not judged"


def _verdict(summary: Summary) -> Iterator[str]:
    """Compares with the measurements of the paper."""
    within = summary["within_sirius"]
    limit = f"± {within['limit_ps']:g} ps"
    if within["deviation"]:
        yield f"all pairs are within {limit}, which Sirius §6 measured between two nodes over 24 h"
    elif within["wander"]:
        yield (
            f"beyond {limit} because of constant offsets; about their means, all pairs are within "
            "it, as Sirius §6 measured between two nodes over 24 h"
        )
    else:
        bound = ps(within["wander_bound_ps"])
        yield (
            f"beyond {limit}, which Sirius §6 measured between two nodes over 24 h: about their "
            f"means, nodes deviate by up to {bound}{_added(summary)}"
        )
    span = summary["config"]["duration"]
    yield f"note: the maximum of the noise grows with time, and only {span} were simulated"
    if summary["day"] is None:
        yield "note: drift takes hours; --day simulates it"


def _added(summary: Summary) -> str:
    """Lists the terms of the bound after a day."""
    if summary["day"] is None:
        return ""
    drift, noise = (ps(summary[name]["wander_max_ps"]) for name in ("day", "epochs"))
    return f", {drift} of drift and {noise} of noise together"


def _budgeted(summary: Summary) -> str:
    """Compares the largest deviation with the part of the devices' guardband that is reserved for
    it."""
    from lightloom.devices import photonics
    from lightloom.units.durations import duration_ps

    parts = photonics.derive({}, "sirius").derived["guardband"]["parts"]
    said = next(part["time"] for part in parts if part["name"] == "synchronisation")
    found = _largest(summary)["deviation_max_ps"]
    times = found / duration_ps("synchronisation", said)
    return (
        f"devices budget {said} of a guardband for synchronisation; the largest deviation is "
        f"{times:.3g} times that: guard.sync of devices sets it"
    )


def _terms(summary: Summary) -> None:
    """Prints the effect of each term alone and of all others without it, the largest first."""
    day = summary["day"] is not None
    table = console.plain_table()
    table.add_column("term")
    names = ["alone", "rms of a pair", "all without it"] + (
        ["alone, means of a day"] if day else []
    )
    for name in names:
        table.add_column(name, justify="right")
    parts = summary["contributions"]
    for part in sorted(parts, key=lambda p: max(p["alone_ps"], p["day_alone_ps"] or 0.0))[::-1]:
        cells = [part["alone_ps"], part["alone_wander_rms_ps"], part["without_ps"]]
        cells += [part["day_alone_ps"]] if day else []
        table.add_row(part["term"].replace("-", " "), *map(ps, cells))
    console.say("")
    console.out(wide=True).print(table)
    for line in _dominant(summary):
        console.say(line)


def _dominant(summary: Summary) -> Iterator[str]:
    """States the terms with the largest effect, in a sentence each."""
    found = summary["dominant"]
    if found["deviation"] is None:
        yield "these clocks do not deviate"
        return
    yield f"{found['deviation'].replace('-', ' ')} dominates the largest deviation"
    if found["wander"] not in (None, found["deviation"]):
        yield f"{found['wander'].replace('-', ' ')} dominates what moves"
    if found["day"] not in (None, found["deviation"]):
        yield f"{found['day'].replace('-', ' ')} dominates the means of a day"


def ps(value: float | None) -> str:
    """Formats a deviation in picoseconds or a longer unit."""
    if value is None:
        return "-"
    if abs(value) >= 999.5:
        return formats.seconds(value * 1e-12)
    if value == 0.0:
        return "0 ps"
    return f"{value:.0f} ps" if abs(value) >= 99.5 else f"{value:.3g} ps"
