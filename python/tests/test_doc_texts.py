"""Every text block of the documentation is read as the file that it shows, is the output of a
command that runs (`test_doc_commands`), or is listed with a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doc_support import Block, blocks, only, unused

import lightloom as api
from lightloom import control
from lightloom.config import experiment
from lightloom.control.demand.hosts import read_hosts
from lightloom.control.wiring import read_port_map
from lightloom.controller.circuit_rules import read_senders
from lightloom.controller.config import OpenFlowTable
from lightloom.controller.interfaces import read_interfaces


def of_arrivals(path: Path) -> int:
    table = {
        "cluster": {"racks": 4, "servers_per_rack": 1, "rack_rate": "100 Gb/s"},
        "workload": {"arrivals": {"kind": "file", "file": str(path)}, "sizes": "web-search"},
        "fabric": [{"kind": "clos"}],
    }
    experiment.load(table).resolved()
    return 3


def of_trace(path: Path) -> int:
    table = {
        "cluster": {"racks": 16, "servers_per_rack": 1, "server_rate": "100 Gb/s"},
        "workload": {"trace": str(path)},
        "run": {"stop": "1 ms"},
        "fabric": [{"kind": "clos"}],
    }
    return len(api.run(table).flows)


def of_rules(path: Path) -> int:
    table = OpenFlowTable(listen="127.0.0.1:0", rules=path, hosts=path)
    return sum(map(len, read_senders(table).values()))


def of_two_files(path: Path) -> int:
    """Reads two tables side by side."""
    for column in (0, 1):
        cells = [line.split()[column] for line in path.read_text().splitlines()]
        assert all(cell.count(",") == 1 for cell in cells)
    return 4


READERS: dict[tuple[str, str], object] = {
    ("docs/workloads.md", "Nodes 16"): (of_trace, "t.cm", 4),
    ("docs/workloads.md", "host,number"): (of_two_files, "t.txt", 4),
    ("docs/workloads.md", "arrival_us"): (of_arrivals, "t.csv", 3),
    ("docs/control.md", "prefix,rack"): (
        lambda p: sum(map(len, read_hosts(p).networks().values())),
        *("t.csv", 4),
    ),
    ("docs/control.md", "from,b,a,d,c"): (
        lambda p: int(control.read_demand(p).matrix.sum()),
        *("t.csv", 18),
    ),
    ("docs/control.md", "rack,plane,A port"): (lambda p: len([*read_port_map(p)]), "t.csv", 2),
    ("docs/controller.md", "switch,port,target,interface"): (
        lambda p: len([*read_interfaces(p, ("switch", "port"))]),
        *("t.csv", 2),
    ),
    ("docs/controller.md", "switch,port,datapath"): (of_rules, "t.csv", 2),
    ("docs/controller.md", "rack,target,interface"): (
        lambda p: len([*read_interfaces(p, ("rack",))]),
        *("t.csv", 3),
    ),
}
"""The reader of a block, the name of its file, and the number of its rows or its sum."""
NOT_READ: dict[tuple[str, str], object] = {
    ("docs/policies.md", "error: fabric.mine.policy"): "messages, held by test_policy_answers",
    ("docs/policies.md", "note: fabric.interval"): "a note, held by the fabric's own tests",
    ("docs/policies.md", "{"): "the beginning of a log",
    ("docs/control.md", "error: "): "messages, held by test_demand_refusals",
    ("docs/control.md", "flows.csv: "): "output for records that are not in the examples",
    ("docs/getting-started.md", "error: "): "a message, held by the fabric's own tests",
    ("docs/cost.md", "mirrors is cheaper"): "output of a comparison that takes long",
    ("docs/failures.md", "load  FCT short"): "the same",
    ("docs/testbed.md", "cthrough on the testbed"): "needs root",
    ("docs/internals.md", ""): "drawings",
}
"""Blocks that no test reads, with the reason."""
FOUND = [block for block in blocks("text", "") if not block.is_output]


def test_each_block_has_a_reader_or_a_reason() -> None:
    entries = READERS | NOT_READ
    assert [str(block) for block in FOUND if only(block, entries) is None] == []
    assert unused(entries, FOUND) == []


@pytest.mark.parametrize("block", [b for b in FOUND if only(b, READERS)], ids=str)
def test_a_block_is_read(block: Block, tmp_path: Path) -> None:
    entry: Any = only(block, READERS)
    read: Callable[[Path], int] = entry[0]
    path = tmp_path / entry[1]
    path.write_text(block.text, encoding="utf-8")
    assert read(path) == entry[2]
