"""The lasers of §3.2 and §3.3, off the shelf and the four of Fig 3b and Fig 4: tuning times, and
the number of lasers of a node (§4.5)."""

from typing import Any

from lightloom.devices import photonics
from lightloom.policies import picoseconds
from lightloom.validation.study import draw, panel

#: Kind → design; a laser that tunes slowly needs long slots, for which no phase is stored.
SLOW = {"slot": "100 ms", "cdr": {"kind": "standard"}}
LASERS: dict[str, dict[str, Any]] = {
    "off-the-shelf": SLOW,
    "dsdbr-undamped": SLOW,
    "dsdbr": SLOW,
    "fixed-bank": {},
    "tunable-bank": {"slot": "100 ns"},
    "comb": {},
}
#: The four of the paper: one laser (Fig 3b), and three with separate light sources and selection
#: (Fig 4).
FOUR = ("dsdbr", "fixed-bank", "tunable-bank", "comb")
#: "Less than 10 ns" (§2.2, §3.3).
TARGET_NS = 10.0
#: The link budget is made for gratings of 100 ports.
BUDGET = "sirius-100"


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Results for each laser."""
    del quick, workers
    found = {kind: _of(kind, design) for kind, design in LASERS.items()}
    worst = {kind: _ns(one.derived["tuning"]["worst"]) for kind, one in found.items()}
    dsdbr, bank = found["dsdbr"].derived, found["tunable-bank"].derived
    claims = {
        "lasers-off-the-shelf": worst["off-the-shelf"] / 1e6,
        "lasers-dsdbr-pairs": float(dsdbr["tuning"]["pairs"]),
        "lasers-dsdbr-median": _ns(dsdbr["tuning"]["median"]),
        "lasers-dsdbr-worst": worst["dsdbr"],
        "lasers-dsdbr-damped": worst["dsdbr-undamped"] / worst["dsdbr"],
        "lasers-dsdbr-farther": _farther(found["dsdbr"]),
        "lasers-below-10-ns": float(sum(_meets(worst[k]) == (k != "dsdbr") for k in FOUR)),
        "lasers-bank": float(bank["lasers"]),
        "lasers-bank-hides": worst["tunable-bank"] * 1000,
        **_budget(),
    }
    return {"data": _panels(found), "claims": claims}


def _meets(worst_ns: float) -> bool:
    return worst_ns < TARGET_NS


def _of(kind: str, design: dict[str, Any]) -> photonics.Devices:
    return photonics.derive(photonics.merged(design, {"laser": {"kind": kind}}))


def _budget() -> dict[str, float]:
    """§4.5: the number of transceivers that share a laser, and of chips of a rack with 256
    uplinks."""
    derived = photonics.derive(preset=BUDGET).derived
    return {
        "lasers-required": float(derived["link"]["required"].split()[0]),
        "lasers-share": derived["link"]["feeds"],
        "lasers-chips": float(derived["sources"]),
    }


def _farther(found: photonics.Devices) -> float:
    """Mean of the medians of the farthest quarter of distances ÷ that of the nearest quarter."""
    medians = [_ns(row["median"]) for row in found.tuning_by_distance]
    quarter = len(medians) // 4
    return sum(medians[-quarter:]) / sum(medians[:quarter])


def _panels(found: dict[str, photonics.Devices]) -> list[Any]:
    """Median tuning times by distance; the shares of pairs of the four that are tuned by a time."""
    shares = [share / 100 for share in (0, 1, 5, 25, 50, 75, 95, 99, 100)]
    by_share = {kind: _quantiles(found[kind], shares) for kind in FOUR}
    longest = found["dsdbr"].tuning_by_distance
    apart = [row["channels"] for row in longest]
    by_distance = {
        kind: [_ns(row["median"]) for row in found[kind].tuning_by_distance]
        for kind in ("dsdbr-undamped", "dsdbr", "tunable-bank")
    }
    return [
        panel("Tuning times", ("share of ordered pairs", shares), "[ns]", by_share, log_y=True),
        panel("Median by distance", ("channels apart", apart), "[ns]", by_distance, log_y=True),
    ]


def _quantiles(found: photonics.Devices, shares: list[float]) -> list[float]:
    times = found.tuning()
    pairs = sorted(int(t) for i, row in enumerate(times) for j, t in enumerate(row) if i != j)
    return [pairs[round(share * (len(pairs) - 1))] / 1000 for share in shares]


def _ns(time: str) -> float:
    return picoseconds(time) / 1000


figure = draw
