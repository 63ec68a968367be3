"""Rates and oversubscription of the electrical networks and the circuits of fabrics.

The functions read keys that any fabric may have; they name no kind of fabric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from lightloom import _core
from lightloom.config.fabrics import registry
from lightloom.units.formats import rate

Table = Mapping[str, Any]


#: The key that states where a Clos is oversubscribed, and its value for the tier above the pods.
AT = "oversubscription_at"
ABOVE_PODS = "aggregation-core"


def server_rate(cluster: Table) -> float | None:
    """The rate at which a server sends at load 1 [b/s]; None if unknown."""
    if "server_rate" in cluster:
        return float(_core.control_rate("cluster.server_rate", cluster["server_rate"]))
    if "rack_rate" in cluster:
        rack = _core.control_rate("cluster.rack_rate", cluster["rack_rate"])
        return float(rack / cluster.get("servers_per_rack", 1))
    return None


def link_rate(cluster: Table) -> float | None:
    """The highest rate of one server [b/s]: that of its link, or of all uplinks of its rack if the
    link has no limit; None if unknown."""
    link = cluster.get("nic", "uncapped")
    if link != "uncapped":
        return float(_core.control_rate("cluster.nic", link))
    share = server_rate(cluster)
    return None if share is None else share * float(cluster.get("servers_per_rack", 1))


def circuit_rate(fabric: Table) -> float | None:
    """The rate of one circuit [b/s] of a resolved fabric; None for a fabric without circuits."""
    if "circuit_rate" not in fabric:
        return None
    return float(_core.control_rate("fabric.circuit_rate", fabric["circuit_rate"]))


def tree_rate(cluster: Table, fabric: Table) -> float | None:
    """The rate of a fabric's electrical network for one rack [b/s]; None without one, or if
    unknown."""
    server, ratio = server_rate(cluster), fabric.get("oversubscription")
    if server is None or ratio is None:
        return None
    return float(server * cluster.get("servers_per_rack", 1) / ratio)


def line(resolved: Table) -> str | None:
    """Describes how oversubscribed the electrical networks of a resolved experiment are, and the
    circuits beside them; None if there is nothing to report: no oversubscription and no circuits.

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
    """Describes the networks of one fabric; empty if it has none of them."""
    ratio, circuit = fabric.get("oversubscription"), circuit_rate(fabric)
    electrical = "none" if ratio is None else f"{ratio:g}:1"
    if circuit is None:
        return "" if ratio is None else f"{fabric['label']} {electrical}"
    planes = fabric.get("planes", 1)
    circuits = "a circuit" if planes == 1 else f"{planes} circuits"
    return f"{fabric['label']} {electrical} beside {circuits} of {rate(circuit)} a rack"


def left_open(given: Table, resolved: Table) -> Iterator[str]:
    """Yields a note that names the fabrics with circuits whose default oversubscription differs
    from that of other fabrics. `given` is the experiment as written."""
    if "oversubscription" in given.get("cluster", {}):
        return
    tables = zip(given.get("fabric", []), resolved.get("fabric", []), strict=True)
    found = [(raw, f) for raw, f in tables if f.get("oversubscription") is not None]
    bare = [f for raw, f in found if "circuit_rate" in f and not _says_so(raw)]
    others = [f for _, f in found if f not in bare]
    if bare and len({f["oversubscription"] for _, f in found}) > 1:
        beside = f", beside {_ratios(others)}" if others else ""
        yield (
            f"electrical networks differ: {_ratios(bare)} by default{beside}; "
            "cluster.oversubscription sets it for all that do not set their own"
        )


def elsewhere(resolved: Table) -> Iterator[str]:
    """States if networks are oversubscribed at different places: a Clos that is oversubscribed
    above its pods restricts less traffic than a network that is oversubscribed at the racks."""
    found = [f for f in resolved.get("fabric", []) if (f.get("oversubscription") or 1.0) > 1.0]
    above = [f for f in found if f.get(AT) == ABOVE_PODS]
    if above and len(above) < len(found):
        rest = [f for f in found if f not in above]
        yield (
            f"networks are oversubscribed at different places: {_ratios(above)} above pods of "
            f"racks, within which traffic has full rate, {_ratios(rest)} at the rack; "
            f'fabric.{AT} = "rack" makes them alike'
        )


def faster_links(given: Table, resolved: Table) -> Iterator[str]:
    """Yields a note if the uplinks of electrical networks have the same rate, but consist of links
    of different rates that at least one of the networks has by default. A short flow takes longer
    over slower links. `given` is the experiment as written."""
    alike: dict[float, list[tuple[str, float, bool]]] = {}
    for raw, fabric in zip(given.get("fabric", []), resolved.get("fabric", []), strict=True):
        uplink = _uplink(fabric, resolved.get("cluster", {}))
        if uplink is not None and "circuit_rate" not in fabric:
            link = _link(fabric, resolved["cluster"], uplink)
            alike.setdefault(uplink, []).append((fabric["label"], link, "link_rate" in raw))
    for uplink, found in alike.items():
        if len({link for _, link, _ in found}) > 1 and not all(said for *_, said in found):
            each = ", ".join(
                f"{label} {round(uplink / link)} of {rate(link)}" for label, link, _ in found
            )
            yield (
                f"links that a rack's uplinks consist of differ: {each}; a short flow alone takes "
                "longer over slower links. One fabric.link_rate for all of them compares the "
                "networks alone"
            )


def _uplink(fabric: Table, cluster: Table) -> float | None:
    """The rate of all uplinks of a rack in the electrical network [b/s]; None without one."""
    uplink = tree_rate(cluster, fabric)
    if uplink is None or fabric.get(AT) != ABOVE_PODS:
        return uplink
    return uplink * float(fabric["oversubscription"])


def _link(fabric: Table, cluster: Table, uplink: float) -> float:
    """The rate of each of the links that share the rate of the uplinks [b/s]: as many as come
    nearest to that rate. They are as fast as servers by default."""
    given = fabric.get("link_rate")
    server = server_rate(cluster) or uplink
    link = server if given is None else float(_core.control_rate("fabric.link_rate", given))
    return uplink / max(1, round(uplink / link))


def _ratios(fabrics: Sequence[Table]) -> str:
    return ", ".join(f"{f['label']} {f['oversubscription']:g}:1" for f in fabrics)


def _says_so(fabric: Table) -> bool:
    """Whether a table as written, or its preset, sets an oversubscription."""
    presets = _presets().get(str(fabric.get("kind")), {})
    table = presets.get(str(fabric.get("preset")), {})
    return "oversubscription" in fabric or "oversubscription" in table


@cache
def _presets() -> dict[str, dict[str, Table]]:
    """The tables of all presets, by kind and name."""
    entries = registry().items()
    return {kind: {p["name"]: p["table"] for p in entry["presets"]} for kind, entry in entries}
