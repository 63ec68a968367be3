"""The electrical networks and the circuits of fabrics: how fast they are, and whether it is by
default that they differ.

Any fabric with the keys that are read here is understood; no fabric is named.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from lightloom import _core
from lightloom.units.formats import rate

Table = Mapping[str, Any]


#: Where the ratio of a Clos is, and the tier above its pods.
AT = "oversubscription_at"
ABOVE_PODS = "aggregation-core"


def server_rate(cluster: Table) -> float | None:
    """What a server sends at load 1 [b/s]; None where that is not known."""
    if "server_rate" in cluster:
        return float(_core.control_rate("cluster.server_rate", cluster["server_rate"]))
    if "rack_rate" in cluster:
        rack = _core.control_rate("cluster.rack_rate", cluster["rack_rate"])
        return float(rack / cluster.get("servers_per_rack", 1))
    return None


def link_rate(cluster: Table) -> float | None:
    """What one server may send at most [b/s]: its link, or all uplinks of its rack if that has no
    limit; None where that is not known."""
    link = cluster.get("nic", "uncapped")
    if link != "uncapped":
        return float(_core.control_rate("cluster.nic", link))
    share = server_rate(cluster)
    return None if share is None else share * float(cluster.get("servers_per_rack", 1))


def circuit_rate(fabric: Table) -> float | None:
    """What one circuit carries [b/s], of a resolved table; None for a fabric without."""
    if "circuit_rate" not in fabric:
        return None
    return float(_core.control_rate("fabric.circuit_rate", fabric["circuit_rate"]))


def tree_rate(cluster: Table, fabric: Table) -> float | None:
    """What an electrical network carries for a rack [b/s]; None where there is none, or where
    it is not known."""
    server, ratio = server_rate(cluster), fabric.get("oversubscription")
    if server is None or ratio is None:
        return None
    return float(server * cluster.get("servers_per_rack", 1) / ratio)


def line(resolved: Table) -> str | None:
    """How oversubscribed electrical networks are, and the circuits beside them, of a resolved
    experiment; None where nothing is oversubscribed, nobody said so and nobody has circuits.

    >>> tree = {"label": "tree", "oversubscription": 4.0}
    >>> line({"fabric": [tree, tree | {"label": "mesh", "circuit_rate": "1 Gb/s", "planes": 2}]})
    'tree 4:1, mesh 4:1 beside 2 circuits of 1.00 Gb/s a rack'
    >>> line({"fabric": [tree | {"oversubscription": 1.0}]}) is None
    True
    """
    fabrics = resolved.get("fabric", [])
    ratios = {f.get("oversubscription") for f in fabrics}
    said = "oversubscription" in resolved.get("cluster", {})
    if not said and ratios <= {None, 1.0} and not any("circuit_rate" in f for f in fabrics):
        return None
    return ", ".join(filter(None, map(_of, fabrics))) or None


def _of(fabric: Table) -> str:
    """The networks of a fabric that has any."""
    ratio, circuit = fabric.get("oversubscription"), circuit_rate(fabric)
    electrical = "none" if ratio is None else f"{ratio:g}:1"
    if circuit is None:
        return "" if ratio is None else f"{fabric['label']} {electrical}"
    planes = fabric.get("planes", 1)
    circuits = "a circuit" if planes == 1 else f"{planes} circuits"
    return f"{fabric['label']} {electrical} beside {circuits} of {rate(circuit)} a rack"


def left_open(given: Table, resolved: Table) -> Iterator[str]:
    """Says whose electrical network beside circuits is as oversubscribed as it is by default,
    where others are not alike. `given` is the experiment as it was written."""
    if "oversubscription" in given.get("cluster", {}):
        return
    tables = zip(given.get("fabric", []), resolved.get("fabric", []), strict=True)
    found = [(raw, f) for raw, f in tables if f.get("oversubscription") is not None]
    bare = [f for raw, f in found if "circuit_rate" in f and not _says_so(raw)]
    others = [f for _, f in found if f not in bare]
    if bare and len({f["oversubscription"] for _, f in found}) > 1:
        beside = f", beside {_ratios(others)}" if others else ""
        yield (
            f"electrical networks are not alike: {_ratios(bare)} by default{beside}; "
            "cluster.oversubscription sets all that have none of their own"
        )


def elsewhere(resolved: Table) -> Iterator[str]:
    """Says that networks are oversubscribed alike, but not at the same place: above its pods
    a Clos holds back less than a network that is oversubscribed at its racks."""
    found = [f for f in resolved.get("fabric", []) if (f.get("oversubscription") or 1.0) > 1.0]
    above = [f for f in found if f.get(AT) == ABOVE_PODS]
    if above and len(above) < len(found):
        rest = [f for f in found if f not in above]
        yield (
            f"networks are oversubscribed at different places: {_ratios(above)} above pods of "
            f"racks, within which traffic has full rate, {_ratios(rest)} at the rack; "
            f'fabric.{AT} = "rack" makes them alike'
        )


def _ratios(fabrics: Sequence[Table]) -> str:
    return ", ".join(f"{f['label']} {f['oversubscription']:g}:1" for f in fabrics)


def _says_so(fabric: Table) -> bool:
    """Whether a table as it was written, or its preset, has an oversubscription."""
    presets = _presets().get(str(fabric.get("kind")), {})
    table = presets.get(str(fabric.get("preset")), {})
    return "oversubscription" in fabric or "oversubscription" in table


@cache
def _presets() -> dict[str, dict[str, Table]]:
    """The tables of all presets, by kind and name."""
    entries = json.loads(_core.registry())
    return {e["kind"]: {p["name"]: p["table"] for p in e["presets"]} for e in entries}
