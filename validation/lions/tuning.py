"""Effect of the tuning time, from 4 ns to the 109 ns that the guard of the test-bed leaves for it:
latency, highest throughput, and updates per second in GUPS.

A converter tunes while its packet is in the delay line, which is longer by it. Between
packets of a host it tunes within the guard, 13.6 ns, and where it takes longer it
takes the guard's place; receivers settle in the guard alone. The paper's text has no
figure of this, but two statements.
"""

from pathlib import Path
from typing import Any

from lightloom.validation import Estimate
from lightloom.validation.estimate import least, most
from lightloom.validation.scripts import beside
from lightloom.validation.study import Curve, Runs, draw, panel, vary

theory = beside(__file__, "theory")
HERE = Path(__file__).parent
TUNING = (4, 10, 20, 40, 70, 109)
SIZES = (256, 64)
FABRICS = ("dlb", "ao-nack")
LOW, FULL = 0.1, 1.0
HOSTS, RECEIVERS = 64, 4
#: Line rate [B/ns], and time of the guard [ns].
RATE, GUARD_NS = 1.25, 13.6
#: Updates of each node, by updates a packet.
UPDATES = {1: 2_048, 16: 16_384}
WINDOW = {256: (200, 1000), 64: (100, 400)}
#: Network, packet, tuning, load.
Key = tuple[str, int, float, float]
#: Updates a second by network, updates a packet, tuning.
Rates = dict[tuple[str, int, float], Estimate]


def slot_ns(size: int, tuning: float) -> float:
    """Time from one packet of a host to the next."""
    return (size + theory.HEADER) / RATE + max(GUARD_NS, tuning)


def carried(fabric: str, size: int, tuning: float) -> float:
    """The highest rate of hosts, relative to the line rate; with AO-NACK less the rate of reflected
    packets, if attempts were independent."""
    slot = slot_ns(size, tuning)
    share = size / RATE / slot
    if fabric == "dlb":
        return share
    rivals = theory.rivals(RECEIVERS, HOSTS)
    return share * rivals / (rivals + slot_ns(size, 0) / slot)


def ceiling(batch: int, tuning: float) -> float:
    """The highest number of updates per second [1e9], as in Fig 14."""
    update = sum(slot_ns(words * batch, tuning) for words in (8, 16, 16)) / batch
    return HOSTS / update * HOSTS / (HOSTS - 1)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Latency without load, throughput at load 1, and updates a second."""
    cases = {
        (f, size, tuning, load): (_overrides(f, size, tuning, load, quick), f)
        for f in FABRICS
        for size in SIZES
        for tuning in TUNING
        for load in (LOW, FULL)
    }
    # Without silence between packets only the header is lost. The gain is then the guard itself;
    # a guard covers more than tuning.
    bare: Key = ("dlb", 64, 0.0, FULL)
    cases[bare] = ([*_overrides(*bare, quick), "fabric.dlb.guard=0 B"], "dlb")
    seeds = [1] if quick else [1, 2]
    runs = vary(HERE / "paper.toml", cases, seeds=seeds, workers=workers)
    rates = _updates(quick, workers)
    return {"data": _panels(runs, rates), "claims": _claims(runs, rates)}


def _overrides(fabric: str, size: int, tuning: float, load: float, quick: bool) -> list[str]:
    warm_up, measure = WINDOW[size]
    return [
        f"workload.load={load}",
        f"workload.sizes.size={size} B",
        f"fabric.{fabric}.packet={size} B",
        f"fabric.{fabric}.tuning={tuning} ns",
        f"run.warm_up={warm_up} us",
        f"run.measure={measure // 4 if quick else measure} us",
    ]


def _updates(quick: bool, workers: int) -> Rates:
    """Updates a second [1e9] by network, updates a packet and tuning."""
    cases: dict[tuple[str, int, float], tuple[list[str], str]] = {}
    for batch, updates in UPDATES.items():
        size = updates // 2 if quick else updates
        job = f'{{ kind = "gups", name = "gups", updates = {size}, batch = {batch} }}'
        for fabric in FABRICS:
            for tuning in TUNING:
                settings = [f"workload.jobs=[{job}]", f"fabric.{fabric}.tuning={tuning} ns"]
                cases[fabric, batch, tuning] = (settings, fabric)
    runs = vary(HERE / "gups.toml", cases, seeds=(1, 2, 3), workers=workers)
    return {key: runs.across(key, "updates.gups.per_s").times(1e-9) for key in cases}


def _claims(runs: Runs[Key], rates: Rates) -> dict[str, Estimate]:
    def at_most(fabric: str, size: int, tuning: float) -> Estimate:
        return runs.accepted((fabric, size, tuning, FULL))

    default, bare = at_most("dlb", 64, 10), at_most("dlb", 64, 0.0)
    lost = Estimate(1 - default.value, default.half_width)
    silence = Estimate(bare.value - default.value, bare.half_width + default.half_width)
    both = [(s, t) for s in SIZES for t in TUNING]
    slow, fast = TUNING[-1], TUNING[0]

    def slowed(batch: int) -> list[Estimate]:
        return [rates[f, batch, slow].over(rates[f, batch, fast]) for f in FABRICS]

    late, early = (runs.carried_latency(("dlb", 256, t, LOW)) for t in (slow, fast))
    longer = Estimate(late.value - early.value, late.half_width + early.half_width)
    return {
        "tuning-why-small-packets-lose": silence.over(lost),
        "tuning-critical-without-aggregation": most(slowed(1)),
        "tuning-bearable-with-aggregation": least(slowed(16)),
        "tuning-throughput-dlb": most(
            at_most("dlb", s, t).off(carried("dlb", s, t)) for s, t in both
        ),
        "tuning-throughput-nack": most(
            at_most("ao-nack", 256, t).off(carried("ao-nack", 256, t)) for t in TUNING
        ),
        "tuning-latency": longer.times(1e3 / (slow - fast)),
    }


def _panels(runs: Runs[Key], rates: Rates) -> list[dict[str, Any]]:
    x = ("tuning [ns]", TUNING)
    dense = [4 + i for i in range(106)]
    lines = {f"{f}, {size} B": (f, size) for size in SIZES for f in FABRICS}
    most_of = {n: [runs.accepted((*k, t, FULL)) for t in TUNING] for n, k in lines.items()}
    late = {n: [runs.latency((*k, t, LOW)) for t in TUNING] for n, k in lines.items()}
    updates = {
        f"{f}, {batch} a packet": [rates[f, batch, t] for t in TUNING]
        for batch in reversed(UPDATES)
        for f in FABRICS
    }
    bounds: dict[str, Curve] = {
        n: (dense, [carried(*k, t) for t in dense]) for n, k in lines.items()
    }
    alone: dict[str, Curve] = {
        f"{size} B, empty": (dense, [theory.alone_us(size, 0.1 + t / 1e3) for t in dense])
        for size in SIZES
    }
    ceilings: dict[str, Curve] = {
        f"ceiling, {batch}": (dense, [ceiling(batch, t) for t in dense])
        for batch in reversed(UPDATES)
    }
    return [
        panel("Saturated", x, "throughput, of the line rate", most_of, theory=bounds),
        panel("At a tenth of the line rate", x, "mean latency [us]", late, theory=alone),
        panel("GUPS", x, "updates a second [1e9]", updates, theory=ceilings, log_y=True),
    ]


figure = draw
