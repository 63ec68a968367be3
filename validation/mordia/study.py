"""A study of our own: the schedule with the highest throughput, and the one with the shortest
completion times, by the skew of the traffic and the night of the switch.

Frames grow with the night, as `_traffic.py` says, and the traffic does not: flows of 3 MB
on average between 16 racks of 25 Gb/s, of a share that goes to one partner a rack.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lightloom.validation import of_bounds
from lightloom.validation.estimate import across
from lightloom.validation.scripts import beside
from lightloom.validation.study import Runs, vary

traffic = beside(__file__, "traffic")
#: Nights [ns] and shares of the traffic that go to partners.
NIGHTS = (20, 200, 2_000, 20_000, 200_000, 2_000_000, 20_000_000)
SKEWS = (0.0, 0.25, 0.5, 0.75, 1.0)
QUICK = ((20, 20_000), (0.0, 0.5, 1.0))
#: Loads: one that schedules may carry, and one that exceeds all of them.
LOAD, TOO_MUCH = 0.6, 1.2
SEEDS = (1, 2, 3)
#: Largest distance from the best that counts as level.
LEVEL = 0.02

Key = tuple[str, int, float, float]
#: By night, then by skew.
Map = list[list[float | None]]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Goodput at too high a load and 99th percentiles at one that can be carried."""
    nights, skews = QUICK if quick else (NIGHTS, SKEWS)
    keys = [
        (policy, night, skew, load)
        for policy in traffic.POLICIES
        for night in nights
        for skew in skews
        for load in (LOAD, TOO_MUCH)
    ]
    with TemporaryDirectory() as folder:
        files = {skew: traffic.weights(Path(folder), skew) for skew in skews}
        cases = {key: _case(key, files, quick) for key in keys}
        runs = vary(traffic.SETUP, cases, seeds=SEEDS, workers=workers)
    seeds = [Runs({k: [s[i]] for k, s in runs.summaries.items()}) for i in range(len(SEEDS))]
    numbers = [_claims(_map(one, nights, skews)) for one in seeds]
    claims = {name: across([of[name] for of in numbers]) for name in numbers[0]}
    return {"data": _map(runs, nights, skews), "claims": claims}


def _map(runs: Runs[Key], nights: Sequence[int], skews: Sequence[float]) -> dict[str, Any]:
    """Values of all seeds, or of one, at each point of the map."""

    def maps(read: Any) -> dict[str, Map]:
        return {p: [[read(runs, (p, n, s)) for s in skews] for n in nights] for p in POLICIES}

    return {
        "nights": list(nights),
        "skews": list(skews),
        "goodput": maps(_goodput),
        "p99": maps(_p99),
    }


POLICIES: tuple[str, ...] = traffic.POLICIES


def _case(key: Key, files: Mapping[float, Path], quick: bool) -> tuple[list[str], str]:
    policy, night, skew, load = key
    settings = traffic.settings(policy, night, quick)
    return [*settings, f"workload.load={load}", f"workload.pattern.file={files[skew]}"], policy


def _goodput(runs: Runs[Key], at: tuple[str, int, float]) -> float:
    """Accepted in the window at too high a load, of all rates."""
    return runs.accepted((*at, TOO_MUCH)).value


def _p99(runs: Runs[Key], at: tuple[str, int, float]) -> float | None:
    """Completion time at the load that can be carried [us]; None if it was not."""
    windows = [s["window"] for s in runs.summaries[(*at, LOAD)]]
    if not all(w["stable"] for w in windows):
        return None
    found = [float(of_bounds.figure({"window": w}, "window.p99_us")) for w in windows]
    return sum(found) / len(found)


def _claims(data: Mapping[str, Any]) -> dict[str, float]:
    """The results of the maps in numbers."""
    at_half = data["skews"].index(0.5)
    carried = {p: [row[at_half] is not None for row in data["p99"][p]] for p in POLICIES}
    only_demand = zip(carried["round-robin"], carried["Eclipse"], carried["TMS"], strict=True)
    goodput = data["goodput"]
    worst = min(
        goodput["Eclipse"][n][s] / max(goodput[p][n][s] for p in POLICIES)
        for n in range(len(data["nights"]))
        for s in range(len(data["skews"]))
    )
    nights = len(data["nights"])
    return {
        "study-demand-decides": sum(e and t and not r for r, e, t in only_demand) / nights,
        "study-eclipse-near-best": worst,
    }


def best(data: Mapping[str, Any], key: str, night: int, skew: int) -> list[str]:
    """The best policies at a point of the map, with those that are level with the best; empty if
    none carries the load."""
    lower = key == "p99"
    found = {p: v for p in POLICIES if (v := data[key][p][night][skew]) is not None}
    if not found:
        return []
    top = min(found.values()) if lower else max(found.values())
    near = {p: v / top - 1 if lower else 1 - v / top for p, v in found.items()}
    return sorted((p for p in near if near[p] <= LEVEL), key=near.__getitem__)


def figure(data: Mapping[str, Any]) -> Any:
    """Maps of the best policy, and of the goodput of each."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(9.4, 9.6), layout="constrained")
    axes = made.subplots(3, 2).flat
    _draw_best(axes[0], data, "goodput", "Most goodput of load 1.2")
    _draw_best(axes[1], data, "p99", "Least 99th percentile at load 0.6")
    for place, policy in zip(axes[2:], POLICIES, strict=True):
        image = _draw_goodput(place, data, policy)
    made.colorbar(image, ax=made.axes[2:6], label="goodput of load 1.2", shrink=0.6)
    return made


def _draw_best(axes: Any, data: Mapping[str, Any], key: str, title: str) -> None:
    from matplotlib.patches import Patch

    from lightloom.plotting import style

    colours = {p: style.LIGHT[style.look(i).colour] for i, p in enumerate(POLICIES)}
    for n in range(len(data["nights"])):
        for s in range(len(data["skews"])):
            leaders = best(data, key, n, s)
            # Policies that are level share the point.
            for i, policy in enumerate(leaders):
                width = 1 / len(leaders)
                corner = (n - 0.5 + i * width, s - 0.5)
                axes.add_patch(_square(corner, width, colours[policy]))
            shown = _text(key, data[key][leaders[0]][n][s]) if leaders else "none"
            axes.text(n, s, shown, ha="center", va="center", fontsize="x-small", color="#111111")
    _set_axes(axes, data, title)
    handles = [Patch(color=colours[p], alpha=0.55, label=p) for p in POLICIES]
    axes.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.2),
        ncols=4,
        fontsize="x-small",
        frameon=False,
        handlelength=1.2,
        columnspacing=1.0,
    )


def _square(corner: tuple[float, float], width: float, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, 1, facecolor=colour, alpha=0.55, edgecolor="white")


def _draw_goodput(axes: Any, data: Mapping[str, Any], policy: str) -> Any:
    import numpy as np

    values = np.array(data["goodput"][policy]).T
    image = axes.imshow(values, origin="lower", aspect="auto", cmap="cividis", vmin=0, vmax=1)
    for (s, n), value in np.ndenumerate(values):
        colour = "white" if value < 0.55 else "#111111"
        axes.text(n, s, f"{value:.2f}", ha="center", va="center", fontsize="x-small", color=colour)
    _set_axes(axes, data, policy)
    return image


def _set_axes(axes: Any, data: Mapping[str, Any], title: str) -> None:
    axes.set_xticks(range(len(data["nights"])), [_time(n) for n in data["nights"]])
    axes.set_yticks(range(len(data["skews"])), [f"{s:.0%}" for s in data["skews"]])
    axes.set_xlim(-0.5, len(data["nights"]) - 0.5)
    axes.set_ylim(-0.5, len(data["skews"]) - 0.5)
    axes.set(xlabel="night", ylabel="to one partner")
    axes.tick_params(labelsize="small")
    axes.set_title(title, fontsize="medium", loc="left")


def _time(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def _text(key: str, value: float) -> str:
    return f"{value:.2f}" if key == "goodput" else _time(1e3 * value).replace(" ", "\n")
