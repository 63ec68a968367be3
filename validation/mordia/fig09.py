"""Fig 9: arrival of the first packet of each circuit, and losses if synchronisation frames arrive
at the wrong time (§6.2)."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lightloom
from lightloom.validation.estimate import Estimate, across
from lightloom.validation.study import draw, panel

FIRST = Path(__file__).with_name("first.toml")
SETUP = Path(__file__).with_name("prototype.toml")
HOSTS, PACKET = 23, 9_000
#: A slot, and its night on average [us].
SLOT, NIGHT = 135, 11.5
ROUNDS = 20
#: Of the run that loses packets: some 23,000 slots of hosts a seed.
SLOTS = 1_000
#: The parameter that determines losses, and its values in the figure.
LATE = (0.0, 0.005, 0.01, 0.02, 0.04)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """First packets of circuits to host 0, and lost packets."""
    del workers
    first = _first()
    seeds = (1, 2, 3) if quick else (1, 2, 3, 4, 5)
    lost = {late: across([_lost(late, PACKET, s) for s in seeds]) for late in LATE}
    small = {late: across([_lost(late, 1_500, s) for s in seeds]) for late in LATE}
    claims = {
        "fig09-first-packet": Estimate(float(first.mean()), _half_width(first)),
        "fig09-first-after-tear-down": Estimate(float(first.mean()) + NIGHT, _half_width(first)),
        "jitter-loss": lost[0.01],
        "jitter-loss-small": small[0.01],
    }
    x = ("frames at the wrong time [%]", [100 * late for late in LATE])
    lines = {"9,000 B": list(lost.values()), "1,500 B": list(small.values())}
    return {"data": [panel("Jitter of 1 µs", x, "packets lost [%]", lines)], "claims": claims}


def _first() -> Any:
    """From the beginning of each day, as it is planned, to the end of its first packet at
    host 0 [us]."""
    rows = []
    for slot in range(1, ROUNDS * (HOSTS - 1)):
        # In the slot before: by round robin, from one host further back each time.
        src, arrival = HOSTS - 1 - slot % (HOSTS - 1), int((slot - 0.5) * SLOT * 1e6)
        rows.append(f"{src},0,{PACKET},{arrival}")
    with TemporaryDirectory() as folder:
        trace = Path(folder) / "packets.csv"
        trace.write_text("\n".join(["src,dst,bytes,arrival_ps", *rows]) + "\n")
        flows = lightloom.run(lightloom.load(FIRST, [f"workload.trace={trace}"])).flows
    arrival, finish = (flows[name].to_numpy() * 1e-6 for name in ("arrival_ps", "finish_ps"))
    days = arrival + SLOT / 2 + NIGHT
    took = finish - days
    if (took > SLOT).any():
        # Lost by a late frame, and sent again a round later.
        took = took[took <= SLOT]
    return took


def _half_width(values: Any) -> float:
    return float(1.96 * values.std(ddof=1) / values.size**0.5)


def _lost(late: float, packet: int, seed: int) -> float:
    """Lost packets, as a share of the sent ones [%]."""
    table = {"slot": f"{SLOT} us", "late_sync_fraction": late, "packet": f"{packet} B"}
    # Nights of equal length, because the effect of longer nights does not depend on
    # synchronisation.
    table |= {"night": f"{NIGHT} us", "night_deviation": "0 s"}
    settings = [f"fabric.prototype.{key}={value}" for key, value in table.items()]
    settings += [f"run.stop={SLOTS * SLOT + 1} us", f"run.seed={seed}"]
    summary = lightloom.run(lightloom.load(SETUP, settings), "prototype").summary
    return 100 * summary["drops"] / (summary["drops"] + summary["packet_hops"])


figure = draw
