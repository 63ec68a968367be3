"""Experiments and price books for the tests of economics."""

from fractions import Fraction
from typing import Any

import lightloom
from lightloom.costs import network as networks
from lightloom.costs.network import Network

WORKLOAD = {
    "arrivals": "poisson",
    "load": 0.5,
    "sizes": {"kind": "fixed", "size": "100 KB"},
    "pattern": "uniform",
    "flows": 100,
}
#: Fabrics that connect single nodes.
NODES = ("lions", "flattened-butterfly")


def experiment(kind: str, cluster: dict[str, Any] | None = None, **fabric: Any) -> dict[str, Any]:
    """Returns an experiment with one fabric, on racks or hosts as the fabric requires."""
    hosts = {"hosts": 64, "server_rate": "10 Gb/s"}
    racks = {"racks": 16, "servers_per_rack": 8, "server_rate": "50 Gb/s"}
    return {
        "cluster": cluster or (hosts if kind in NODES else racks),
        "workload": WORKLOAD,
        "run": {"seed": 1},
        "fabric": [{"kind": kind, **fabric}],
    }


def network(kind: str, cluster: dict[str, Any] | None = None, **fabric: Any) -> Network:
    """The network of one fabric."""
    resolved = lightloom.load(experiment(kind, cluster, **fabric)).resolved()
    return networks.network_of(resolved, resolved["fabric"][0])


def counts(cost: Any) -> dict[str, Fraction]:
    """Returns the number of each part of a fabric."""
    found: dict[str, Fraction] = {}
    for line in cost.lines:
        found[line.part] = found.get(line.part, Fraction(0)) + line.count
    return found


def book(ports: int, rate: str = "10 Gb/s", **parts: str) -> str:
    """A price book of whole boxes with this number of ports."""
    head = 'schema = 1\ncurrency = "USD"\nyear = 2020\ncounting = "whole"\n'
    known = {
        "switch": f'ports = {ports}\nrate = "{rate}"\nprice = 1000\npower = 100',
        "transceiver": f'rate = "{rate}"\nprice = 10\npower = 1',
        "server-transceiver": f'rate = "{rate}"\nprice = 5\npower = 1',
        "cable": "price = 2\npower = 0",
        "server-cable": "price = 1\npower = 0",
    } | parts
    tables = (f'[part.{n}]\nsource = "a test"\nyear = 2020\n{t}\n' for n, t in known.items())
    return head + "".join(tables)
