"""Fig 8: gates of amplifiers, tuning between near and far wavelengths, guardband, errors (§6)."""

from typing import Any

from lightloom.devices import photonics
from lightloom.policies import picoseconds
from lightloom.validation.readings import Reading, Readings
from lightloom.validation.study import draw, panel

#: The chip of the second prototype; gates that open, or close, at once show the others alone.
CHIP: dict[str, Any] = {"laser": {"kind": "fixed-bank"}}
OPENS = {"laser": {"gates": {"off": "1 ps"}}}
CLOSES = {"laser": {"gates": {"on": "1 ps"}}}
#: Wavelengths 0.402 nm apart, and 9.229 nm: 23 channels of 50 GHz, for which one chip of 19 is too
#: narrow, so that the far pair takes two.
NEAR, FAR = 1, 23
TWO_CHIPS = {"grating": {"ports": 32}}
#: "In both cases the tuning latency is less than 900 ps."
BELOW_PS = 900
#: "Standard FEC", by how a codeword of 5,440 bits gets into a cell of 1,728.
CODES = (
    Reading("cross-cell", "KP4 as it stands, a codeword over several cells", "assumed"),
    Reading("shortened", "KP4 shortened to a cell", "assumed"),
)
Design = dict[str, Any]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Results for the devices of the second prototype."""
    del quick, workers
    opens, closes = _gates(OPENS), _gates(CLOSES)
    found = photonics.derive(CHIP)
    two = photonics.derive(photonics.merged(CHIP, TWO_CHIPS))
    near, far = (two.tuning_by_distance[channels - 1] for channels in (NEAR, FAR))
    guardband = found.derived["guardband"]
    claims = {
        "fig08a-on": max(opens) * 1000,
        "fig08a-off": max(closes) * 1000,
        "fig08a-slower": _ns(found.derived["tuning"]["worst"]) * 1000,
        "fig08b-distance": abs(_ns(far["median"]) / _ns(near["median"]) - 1) * 100,
        "fig08b-below-900": _share_below(two.tuning()) * 100,
        "fig08c-guardband": _ns(guardband["total"]),
        "fig08c-slot": _ns(found.derived["slot"]),
    }
    readings = Readings("cross-cell", CODES, {"fig08d-error-free": _errors()})
    return {"data": _panels(opens, closes, two), "claims": claims, "readings": readings}


def _panels(opens: list[float], closes: list[float], two: photonics.Devices) -> list[Any]:
    gates = ("gate, the fastest first", list(range(1, len(opens) + 1)))
    times = {"on": sorted(opens), "off": sorted(closes)}
    apart = ("channels apart", [row["channels"] for row in two.tuning_by_distance])
    by_distance = {name: [_ns(r[name]) for r in two.tuning_by_distance] for name in WORDS}
    return [
        panel("Fig 8a: gates of a chip", gates, "[ns]", times),
        panel("Fig 8b: tuning, two chips", apart, "[ns]", by_distance),
    ]


WORDS = ("median", "worst")


def _gates(alone: Design) -> list[float]:
    """Times of the gates that open, or of those that close, the others being at once [ns]."""
    times = photonics.derive(photonics.merged(CHIP, alone)).tuning()
    from_any = times.max(axis=0 if alone is OPENS else 1)
    return [float(time) / 1000 for time in from_any]


def _share_below(times: Any) -> float:
    """The smaller share of pairs below 900 ps, of the near and the far ones."""
    size = len(times)
    shares = []
    for channels in (NEAR, FAR):
        pairs = [(i, i + channels) for i in range(size - channels)]
        both = [int(times[a, b]) for a, b in pairs] + [int(times[b, a]) for a, b in pairs]
        shares.append(sum(time < BELOW_PS for time in both) / len(both))
    return min(shares)


def _errors() -> dict[str, float]:
    """Bit error rate after correction at −8 dBm, by the placement of codewords in cells."""
    ways = photonics.derive(CHIP).derived["protections"]
    return {way["fec"]: way["post_ber"] for way in ways if way["fec"] in {r.name for r in CODES}}


def _ns(time: str) -> float:
    return picoseconds(time) / 1000


figure = draw
