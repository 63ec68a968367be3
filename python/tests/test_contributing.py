"""The Python code and output in CONTRIBUTING.md run unchanged; its Rust code equals the examples
that cargo tests."""

import json
import re
import shlex
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from cli_support import ROOT, lightloom

import lightloom as lightloom_api
from lightloom import report
from lightloom.analysis import table
from lightloom.analysis.model import Fabric
from lightloom.analysis.table import Metric
from lightloom.policies import Switch
from lightloom.policies.files import load

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LISTINGS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def joined(rust: str) -> str:
    """Returns Rust code without spaces, line breaks, and the commas that rustfmt inserts before a
    closing bracket."""
    return re.sub(r",([)}\]])", r"\1", re.sub(r"\s+", "", rust))


def test_what_is_shown_in_rust_stands_in_the_examples() -> None:
    """Cargo compiles and tests the examples; the line of the registry is of a fabric that a reader
    adds."""
    examples = ("crates/fabrics/examples/wires.rs", "crates/control/examples/threshold.rs")
    whole = "".join(joined((ROOT / path).read_text(encoding="utf-8")) for path in examples)
    listings = re.findall(r"^```rust\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    shown = [text for text in listings if "static REGISTRY" not in text]
    assert len(shown) > 5
    # Omissions are marked by dots or an empty line; the steps of a test are separate.
    parts = [part for text in shown for part in re.split(r"…|\n\n|;\n(?=\S)", text)]
    assert [part for part in parts if joined(part) not in whole] == []


@pytest.fixture
def shown(tmp_path: Path) -> str:
    """Writes the only listing with a policy to a file."""
    (listing,) = [text for text in LISTINGS if "def decide(" in text]
    path = tmp_path / "threshold.py"
    path.write_text(listing, encoding="utf-8")
    return f"{path}:Threshold"


def demand(*entries: tuple[int, int, int]) -> Any:
    made = np.zeros((5, 5), np.int64)
    for a, b, size in entries:
        made[a, b] = size
    return made


def test_it_decides_what_the_one_in_rust_does(shown: str) -> None:
    """The values of crates/control/examples/threshold.rs, computed by hand: positions add up to 0,
    1, 2 modulo their number; racks 1 and 4 have 150 B, and later 100 B."""
    policy = load(shown, {"threshold": "100 B"}).policy
    lit: list[tuple[int, int]] = []
    for has, expected in (
        (demand(), [(1, 4), (2, 3)]),
        (demand((1, 4, 90), (4, 1, 60)), [(0, 2), (1, 4)]),
        (demand((1, 4, 100)), [(0, 2), (3, 4)]),
    ):
        switch = Switch(racks=5, lit=tuple((a, b, 0) for a, b in lit))
        lit = sorted(policy.decide(has, switch))
        assert lit == expected
    works = np.array([[True, True, True, False]])
    policy = load(shown, {}).policy
    met = [policy.decide(demand()[:4, :4], Switch(racks=4, works=works)) for _ in range(3)]
    assert met == [[(1, 2)], [(0, 1)], [(0, 2)]]


def test_it_plans_and_runs_beside_the_others(shown: str, tmp_path: Path) -> None:
    """Runs the commands below the listing, in its folder."""
    commands = re.search(r"As `threshold.py`.*?```sh\n(.*?)```", TEXT, re.DOTALL)
    assert commands is not None
    plan, run = commands[1].replace("\\\n", " ").strip().splitlines()
    made = json.loads(call(plan, "--json", cwd=tmp_path))
    # Turn 0 of eight: positions add up to 0 or 8.
    assert {(c["a"], c["b"]) for c in made["circuits"]} == {(1, 7), (2, 6), (3, 5)}
    summary = json.loads(call(run, "--json", "-o", "out", cwd=tmp_path))
    assert summary["circuit_share"] > 0
    ran = tomllib.loads((tmp_path / "out" / "experiment.toml").read_text(encoding="utf-8"))
    (fabric,) = ran["fabric"]
    # File names are relative to the saved experiment.
    assert str((tmp_path / "out" / fabric["policy"]["file"]).resolve()) == shown


def test_its_claim_is_measured(tmp_path: Path) -> None:
    """The script for wires, run on a tree: 1001 us minus 1 us of propagation, plus the last packet,
    which three switches store for 1.2 us each."""
    (script,) = [text for text in LISTINGS if "def measure(" in text]
    tables = re.findall(r"^```toml\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    (setup,) = [text for text in tables if "[cluster]" in text]
    (claims,) = [tomllib.loads(text)["claim"] for text in tables if "[[claim]]" in text]
    wires = 'kind = "wires"\nrate = "10 Gb/s"\npropagation = "1 us"\n'
    assert wires in setup
    tree = 'kind = "tree"\nlabel = "wires"\n'
    (tmp_path / "setup.toml").write_text(setup.replace(wires, tree), encoding="utf-8")
    (tmp_path / "oracles.py").write_text(script, encoding="utf-8")
    names: dict[str, Any] = {"__file__": str(tmp_path / "oracles.py")}
    exec(compile(script, "CONTRIBUTING.md", "exec"), names)
    found = names["measure"](True, 1)
    assert found["claims"] == {claims[0]["id"]: pytest.approx(1003.6 / 1001)}
    assert len(names["figure"](found["data"]).axes) == 1


@pytest.fixture
def row() -> Metric:
    """Runs the only listing with a row of the report."""
    (listing,) = [text for text in LISTINGS if "Metric(" in text]
    names: dict[str, Any] = {}
    exec(compile(listing, "CONTRIBUTING.md", "exec"), names)
    found = names["FAIRNESS"]
    assert isinstance(found, Metric)
    return found


@pytest.mark.parametrize(
    ("sizes", "took", "index"),
    [
        ([1e6, 2e6, 3e6], [1.0, 2.0, 3.0], 1.0),
        # Rates of 3 and 1: 16 ÷ (2 × 10).
        ([3e6, 1e6], [1.0, 1.0], 0.8),
        # One of four flows has the whole rate.
        ([1e6] * 4, [1.0] + [float("nan")] * 3, 0.25),
        ([1e6], [float("nan")], None),
        ([], [], None),
    ],
)
def test_its_row_reads_what_it_says(
    row: Metric, sizes: list[float], took: list[float], index: float | None
) -> None:
    fabric = SimpleNamespace(sizes=np.array(sizes), fct=np.array(took))
    found = row.read(cast(Fabric, fabric))
    assert found == (None if index is None else pytest.approx(index))


def test_its_row_is_on_the_page(
    row: Metric, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two flows of 3 KB and 1 KB between four servers without common links: the page has Jain's
    index of their rates."""
    groups = ((table.GROUPS[0][0], (*table.GROUPS[0][1], row)), *table.GROUPS[1:])
    monkeypatch.setattr(table, "GROUPS", groups)
    made = lightloom_api.compare(
        {
            "cluster": {"racks": 4, "servers_per_rack": 1, "server_rate": "8 Gb/s"},
            "workload": {
                "arrivals": "poisson",
                "load": 0.9,
                "flows": 12,
                "pattern": "uniform",
                "sizes": {"kind": "uniform", "min": "1 KB", "max": "5 KB"},
            },
            "run": {"stop": "drain"},
            "fabric": [{"kind": "clos"}],
        }
    )
    page = report.build([made], tmp_path).read_text(encoding="utf-8")
    flows = made.results["clos"].flows
    took = (np.asarray(flows["finish_ps"]) - np.asarray(flows["arrival_ps"])).astype(float)
    rates = np.asarray(flows["bytes"]) / took
    index = rates.sum() ** 2 / (len(rates) * (rates**2).sum())
    line = page[page.index("Fairness, Jain") :].split("</tr>")[0]
    assert f"{index:.3g}" in line


def call(line: str, *more: str, cwd: Path) -> str:
    """Returns the output of a command with the examples of the repository."""
    name, *words = shlex.split(line)
    assert name == "lightloom"
    words = [str(ROOT / word) if word.startswith("examples/") else word for word in words]
    done = lightloom(*words, *more, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout
