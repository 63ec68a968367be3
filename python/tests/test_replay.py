"""`lightloom plan --replay`: logs of controllers, played again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lightloom
from lightloom.cli import app
from lightloom.control.replays import replay
from lightloom.errors import ConfigError

EXPERIMENT = {
    "cluster": {"racks": 4, "servers_per_rack": 2, "server_rate": "1 Gb/s", "nic": "1 Gb/s"},
    "workload": {
        "arrivals": "poisson",
        "load": 0.4,
        "sizes": {"kind": "pareto", "shape": 1.2, "mean": "20 MB"},
        "pattern": "uniform",
        "flows": 200,
    },
    "run": {"seed": 3, "stop": "6 s", "controller_log": True},
    "fabric": [{"kind": "cthrough", "socket_buffer": "1 GB"}],
}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of c-Through's manager, six seconds long."""
    path = tmp_path_factory.mktemp("log") / "controller.jsonl"
    text = lightloom.run(EXPERIMENT).controller_log
    assert text is not None
    path.write_text(text)
    return path


def call(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["plan", *map(str, arguments)])
    return done.exit_code, done.output


def test_the_same_policy_never_parts(log: Path) -> None:
    made = replay(log)
    assert made["header"]["policy"]["kind"] == "cthrough"
    assert made["replay"]["parted"] is None
    assert made["replay"]["recorded"] == made["replay"]["replayed"]
    # One a second, the first after one; the run ends before the sixth.
    assert len(made["replay"]["recorded"]["decisions"]) == 5
    code, text = call("--replay", log)
    assert code == 0
    assert "they never part" in text


def test_another_policy_parts_where_it_decides_otherwise(log: Path) -> None:
    made = replay(log, "rotation", day="100 ms")
    parted = made["replay"]["parted"]
    line = log.read_text().splitlines()[parted["line"] - 1]
    # Both decide after a second; then one takes circuits down, the other follows.
    assert parted["at_ps"] == 10**12
    assert "dark" in parted["recorded"]
    assert '"dark"' in line
    assert "follow" in parted["replayed"]
    assert made["replay"]["replayed"]["schedules"] == 1
    code, text = call("--replay", log, "-a", "rotation", "--day", "100 ms")
    assert code == 0
    assert "they part at 1.00 s" in text


def test_what_both_did_is_printed_as_json(log: Path) -> None:
    code, text = call("--replay", log, "-a", "cthrough", "--unrequested", "alone", "--json")
    assert code == 0
    assert set(json.loads(text)["replay"]) == {"parted", "recorded", "replayed"}


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda lines: lines[:-1], "cut off"),
        (lambda lines: [lines[0].replace("controller/1", "controller/9"), *lines[1:]], "reads"),
        (lambda lines: [*lines[:3], lines[3][:-4], *lines[4:]], "line 4"),
        (lambda _: ["fabric,seconds"], "line 1"),
    ],
)
def test_logs_that_cannot_be_played_are_refused_by_line(
    log: Path, tmp_path: Path, damage: object, said: str
) -> None:
    path = tmp_path / "damaged.jsonl"
    path.write_text("\n".join(damage(log.read_text().splitlines())) + "\n")  # type: ignore[operator]
    code, text = call("--replay", path)
    assert code == 2
    assert "damaged.jsonl" in text
    assert said in text.replace("\n", " ")


def test_what_the_log_says_is_not_asked(log: Path) -> None:
    for options, said in (
        (["-a", "hydra", "--planes", "2"], "--planes"),
        (["--unrequested", "keep"], "--unrequested"),
        (["-o", "plan.json"], "-o"),
        (["-a", "cthrogh"], "did you mean"),
    ):
        code, text = call("--replay", log, *options)
        assert (code, said in text) == (2, True), options
    with pytest.raises(ConfigError, match="hops"):
        replay(log, "hydra", hops=99)
    assert call()[0] == 2
