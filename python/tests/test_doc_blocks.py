"""Every TOML block of the documentation is accepted by the command for which it is written."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import ROOT, lightloom
from doc_support import Block, blocks, copy_examples, only, unused

from lightloom import sweep
from lightloom.config import experiment, schema
from lightloom.controller.config import config_of
from lightloom.costs import book
from lightloom.validation.grid import Grid

DOCS = ROOT / "docs"
CLASS = re.compile(r"```python\n((?:(?!```).)*?\nclass Threshold\b.*?)```", re.DOTALL)
CLUSTERS: tuple[dict[str, Any], ...] = (
    {"racks": 16, "servers_per_rack": 8, "server_rate": "50 Gb/s"},
    {"racks": 128, "servers_per_rack": 24, "rack_rate": "400 Gb/s"},
    {"hosts": 16, "server_rate": "10 Gb/s"},
    {"racks": 16, "servers_per_rack": 1, "server_rate": "10 Gb/s"},
    {"racks": 108, "servers_per_rack": 6, "server_rate": "10 Gb/s"},
)
WORKLOAD = {"load": 0.1, "sizes": "web-search", "flows": 10}
FABRICS = [{"kind": "clos"}, {"kind": "sirius"}]
RUNS: tuple[dict[str, Any], ...] = ({"seed": 1}, {"warm_up": "1 ms", "measure": "1 ms"})
"""Tables that complete blocks without them: one combination must be accepted."""


EXCERPTS: dict[tuple[str, str], object] = {
    ("docs/experiments.md", '[workload]\ntrace = "../../traces/web.cm"'): "a digest is shortened",
    ("docs/policies.md", 'policy = { file = "../my_policy.py:Threshold", sha256'): "the same",
    ("CONTRIBUTING.md", 'title = "Wires"'): "read by test_contributing",
    ("CONTRIBUTING.md", "[cluster]\nracks = 4"): "read by test_contributing",
}
"""Blocks that are not read here, with the reason."""


def of_experiment(text: str) -> None:
    """Reads the tables of an experiment, or the policy of a fabric."""
    table = tomllib.loads(text)
    if "policy" in table:
        table = {"fabric": [{"kind": "hybrid", **table}]}
    refused = []
    for cluster in CLUSTERS:
        for run in RUNS:
            drawn = WORKLOAD if "seed" in run else {"load": 0.1, "sizes": "web-search"}
            base = {"cluster": cluster, "workload": drawn, "run": run}
            try:
                experiment.load({**base, "fabric": FABRICS, **table}).resolved()
            except experiment.ConfigError as problem:
                refused.append(str(problem))
            else:
                return
    raise AssertionError("\n".join(refused))


def of_controller(text: str) -> None:
    """Reads the tables of a controller, in place of those of the example."""
    example = tomllib.loads((ROOT / "examples" / "controller" / "controller.toml").read_text())
    config_of({**example, **tomllib.loads(text)}, ROOT / "examples" / "controller")


def of_sweep(text: str) -> None:
    Path("block.toml").write_text(text)
    shutil.copy(ROOT / "examples" / "sirius.toml", "sirius.toml")
    assert sweep.expand(sweep.read(Path("block.toml")))


def of_book(text: str) -> None:
    Path("block.toml").write_text(text)
    book.load(Path("block.toml"))


def of_devices(text: str) -> None:
    Path("block.toml").write_text(text)
    done = lightloom("devices", "block.toml", cwd=Path.cwd())
    assert done.returncode == 0, done.stderr


def of_readings(text: str) -> None:
    Path("block.toml").write_text(text)
    Grid.read(Path("block.toml"))


READERS: dict[str, Callable[[str], None]] = {
    "drain": of_controller,
    "openflow": of_controller,
    "demand": of_controller,
    "network": of_controller,
    "store": of_controller,
    "base": of_sweep,
    "part": of_book,
    "devices": of_devices,
    "factor": of_readings,
}
"""The reader of a block, by a key of the block; an experiment has none of these keys."""


def write_named_files() -> None:
    """Writes the files that blocks name to the working directory."""
    copy_examples(Path())
    for name in ("trace.csv", "flows.csv"):
        Path(name).write_text("src,dst,bytes,arrival_ps\n0,1,1000,0\n2,3,500,1000000\n")
    shutil.copytree(ROOT / "examples" / "policies", "policies")
    found = CLASS.search((DOCS / "policies.md").read_text())
    assert found is not None
    Path("my_policy.py").write_text(found.group(1))
    np.save("demand.npy", np.ones((16, 16), int) - np.eye(16, dtype=int))
    asked = ("-a", "rotation", "--night", "1 ms", "--day", "9 ms", "-o", "schedule.json")
    done = lightloom("plan", "demand.npy", *asked, cwd=Path.cwd())
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A working directory with the files that blocks name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("blocks"))
        write_named_files()
        yield


def test_what_is_not_read_is_there() -> None:
    assert unused(EXCERPTS, blocks("toml")) == []


@pytest.mark.parametrize("block", [b for b in blocks("toml") if not only(b, EXCERPTS)], ids=str)
def test_a_block_is_accepted(block: Block) -> None:
    text = block.text
    keys = {*tomllib.loads(text)}
    reader = next((read for key, read in READERS.items() if key in keys), of_experiment)
    if reader is of_experiment:
        assert keys <= {*schema.names(), "policy"}
    reader(text)
