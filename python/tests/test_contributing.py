"""The policy in Python that CONTRIBUTING.md shows, run as it stands there."""

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import ROOT, lightloom

from lightloom.policies import Switch
from lightloom.policies.files import load

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LISTINGS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


@pytest.fixture
def shown(tmp_path: Path) -> str:
    """The one listing with a policy, in a file."""
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
    """The values of crates/control/examples/threshold.rs, worked out by hand: places add
    up to 0, 1, 2, modulo their number; racks 1 and 4 have 150 B, and 100 B later."""
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
    """As the commands below it say; they are run where it is."""
    commands = re.search(r"As `threshold.py`.*?```sh\n(.*?)```", TEXT, re.DOTALL)
    assert commands is not None
    plan, run = commands[1].replace("\\\n", " ").strip().splitlines()
    made = json.loads(call(plan, "--json", cwd=tmp_path))
    # Turn 0 of eight: places add up to 0 or 8.
    assert {(c["a"], c["b"]) for c in made["circuits"]} == {(1, 7), (2, 6), (3, 5)}
    summary = json.loads(call(run, "--json", "-o", "out", cwd=tmp_path))
    assert summary["circuit_share"] > 0
    ran = tomllib.loads((tmp_path / "out" / "experiment.toml").read_text(encoding="utf-8"))
    assert [fabric["policy"]["file"] for fabric in ran["fabric"]] == [shown]


def call(line: str, *more: str, cwd: Path) -> str:
    """What a command prints, whose examples are those of the repository."""
    name, *words = shlex.split(line)
    assert name == "lightloom"
    words = [str(ROOT / word) if word.startswith("examples/") else word for word in words]
    done = lightloom(*words, *more, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout
