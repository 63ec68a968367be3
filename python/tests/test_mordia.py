"""Mordia for users: schedules from plans, measured decision times, errors."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cli_support import lightloom
from policy_support import Write

DEMAND = """,a,b,c,d
a,0,900000,40000,10000
b,70000,0,800000,60000
c,30000,20000,0,700000
d,850000,50000,90000,0
"""
EXPERIMENT = """
[cluster]
hosts = 4
server_rate = "10 Gb/s"

[workload]
arrivals = "poisson"
load = 0.3
flows = 1_000
sizes = {{ kind = "pareto", shape = 1.5, mean = "30 KB" }}
pattern = "uniform"

[run]
seed = 1
stop = "{stop}"

[[fabric]]
{fabric}
"""


def experiment(folder: Path, fabric: str, stop: str = "drain") -> Path:
    """Writes an experiment with Mordia to a file."""
    path = folder / "experiment.toml"
    path.write_text(EXPERIMENT.format(fabric='kind = "mordia"\n' + fabric, stop=stop))
    return path


def summary(folder: Path) -> dict[str, Any]:
    """Returns the summary of a run."""
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return found


def test_a_schedule_is_planned_and_followed(tmp_path: Path) -> None:
    """The whole path: `plan --algorithm tms -o`, then `schedule = …`."""
    (tmp_path / "demand.csv").write_text(DEMAND)
    frame = ["--night", "11.5 us", "--shortest", "61 us", "--period", "2 ms"]
    command = ["plan", "demand.csv", "--algorithm", "tms", *frame, "-o", "schedule.json"]
    assert lightloom(*command, cwd=tmp_path).returncode == 0
    planned = json.loads((tmp_path / "schedule.json").read_text())["schedule"]
    path = experiment(tmp_path, 'schedule = "schedule.json"', "last-arrival")
    out = tmp_path / "out"
    done = lightloom("run", path, "-o", out, cwd=Path("/"))
    assert done.returncode == 0, done.stderr
    circuits = pq.read_table(out / "circuits.parquet").to_pydict()
    # Checks the first period, day by day: each slot begins with its night.
    start, lit = 0, set()
    for slot in planned["slots"]:
        dawn = start + planned["night_ps"]
        start = dawn + slot["day_ps"]
        ports = enumerate(slot["permutation"])
        lit |= {(a, b, dawn, start) for a, b in ports if a != b}
    rows = zip(*(circuits[key] for key in ("a", "b", "from_ps", "until_ps")), strict=True)
    seen = {row for row in rows if row[3] <= start}
    assert seen == lit
    dark = planned["night_ps"] * len(planned["slots"])
    assert summary(out)["duty_cycle"] == pytest.approx(1 - dark / start, abs=2e-3)
    # The resolved experiment can be run from another folder, as long as the file is the same.
    file = tmp_path / "schedule.json"
    policy = tomllib.loads((out / "experiment.toml").read_text())["fabric"][0]["policy"]
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert (policy["schedule"], policy["sha256"]) == ("../schedule.json", digest)
    again = tmp_path / "again"
    assert lightloom("run", out / "experiment.toml", "-o", again, cwd=Path("/")).returncode == 0
    assert (again / "flows.parquet").read_bytes() == (out / "flows.parquet").read_bytes()
    file.write_text(file.read_text() + "\n")
    done = lightloom("run", out / "experiment.toml", "-o", tmp_path / "other", cwd=Path("/"))
    assert done.returncode == 2
    assert "fabric.policy.sha256" in done.stderr
    assert not (tmp_path / "other").exists()


def test_measured_decisions_come_out_the_same_again(tmp_path: Path) -> None:
    """This holds even if decisions take longer than the interval and delay the next one."""
    path = experiment(tmp_path, 'policy = "tms"\ninterval = "200 us"')
    first, again = tmp_path / "first", tmp_path / "again"
    measured = ["--set", 'fabric.computation_delay="measured"']
    assert lightloom("run", path, "-o", first, *measured, cwd=tmp_path).returncode == 0
    resolved = first / "experiment.toml"
    assert lightloom("run", resolved, "-o", again, cwd=tmp_path).returncode == 0
    assert (again / "flows.parquet").read_bytes() == (first / "flows.parquet").read_bytes()


@pytest.mark.parametrize(
    ("fabric", "words"),
    [
        ('schedule = "none.json"', ["fabric.schedule", "none.json", "cannot be read"]),
        ("wavelengths = 3", ["cluster.racks", "a ring of 3 wavelengths has 3 ports", "rings"]),
        ('night = "70 us"', ["fabric.night", "70 us", "61 us", "shortest_slot"]),
        ('packet = "60 KB"\nstack_rate = "1 Gb/s"', ["fabric.slot", "a packet takes 480 us"]),
        ('policy = "cthrough"', ["fabric.policy", '"cthrough"', "follows schedules", "hybrid"]),
        ('policy = { kind = "tms", night = "2 us" }\ninterval = "1 ms"', []),
        (
            'policy = { kind = "rotation", day = "5 us" }',
            ["shorter than the shortest slot, 61 us; raise fabric.policy.day, or"],
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, fabric: str, words: list[str]) -> None:
    """The refusal has key, value, limit and remedy, and nothing is written."""
    out = tmp_path / "out"
    done = lightloom("run", experiment(tmp_path, fabric), "-o", out, cwd=tmp_path)
    if not words:
        words = ["fabric.policy", "night = 2 us", "the switch is dark for 11.5 us"]
    assert done.returncode == 2, done.stdout
    for word in words:
        assert word in " ".join(done.stderr.split()), done.stderr
    assert not out.exists()


def test_a_plan_for_another_night_is_refused_with_the_options_that_mend_it(
    tmp_path: Path,
) -> None:
    """Plans with the defaults, then with the option that the refusal advises."""
    (tmp_path / "demand.csv").write_text(DEMAND)
    command = ["plan", "demand.csv", "--algorithm", "tms", "-o", "schedule.json"]
    planned = lightloom(*command, cwd=tmp_path)
    assert "night of 10 us" in planned.stdout
    path = experiment(tmp_path, 'schedule = "schedule.json"', "last-arrival")
    done = lightloom("run", path, "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    options = '--night "11.5 us" --shortest "61 us"'
    assert "night = 10 us: " in said
    assert "dark for 11.5 us" in said
    assert f"lightloom plan … {options}" in said
    again = lightloom(*command, "--night", "11.5 us", "--shortest", "61 us", cwd=tmp_path)
    assert "note:" not in again.stdout
    done = lightloom("run", path, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_plan_with_shorter_slots_is_refused_with_the_option(tmp_path: Path) -> None:
    (tmp_path / "demand.csv").write_text(DEMAND)
    frame = ["--night", "11.5 us", "--shortest", "20 us", "--period", "300 us"]
    command = ["plan", "demand.csv", "--algorithm", "tms", *frame, "-o", "schedule.json"]
    assert lightloom(*command, cwd=tmp_path).returncode == 0
    path = experiment(tmp_path, 'schedule = "schedule.json"')
    done = lightloom("run", path, cwd=tmp_path)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "shortest slot, 61 us" in said
    assert '--shortest "61 us"' in said


SEES = """
assert (switch.night_ps, switch.shortest_slot_ps) == ({night}, {shortest})
turn = np.roll(np.arange(switch.racks), -1)
return Schedule(turn[None, :], [{slot} - {dark}], {dark})
"""
HEAD = "from lightloom.control import Schedule"


def test_a_policy_in_python_learns_what_slots_take(tmp_path: Path, write: Write) -> None:
    """With an interface that holds packets for 23 us, no packet is sent for 34.5 us."""
    body = SEES.format(night=34_500_000, shortest=61_000_000, slot=61_000_000, dark=34_500_000)
    policy = write(body, head=HEAD)
    own = f'policy = "{policy}"\ninterval = "500 us"\nnic_delay = "23 us"'
    path = experiment(tmp_path, own, "last-arrival")
    log = ["--set", "run.controller_log=true"]
    done = lightloom("run", path, "-o", "out", *log, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # A policy with which the log is replayed receives the same.
    logged = tmp_path / "out" / "controller.jsonl"
    header = json.loads(logged.read_text().splitlines()[0])
    assert (header["night_ps"], header["shortest_slot_ps"]) == (34_500_000, 61_000_000)
    done = lightloom("plan", "--replay", logged, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_policy_in_python_that_returns_nothing_is_told_that(tmp_path: Path, write: Write) -> None:
    path = experiment(tmp_path, f'policy = "{write("return None")}"\ninterval = "500 us"')
    done = lightloom("run", path, "-o", "out", cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    said = " ".join(done.stderr.split())
    assert "at 500 us: it" in said
    assert "returned nothing" in said
    assert "at the first decision" in said


def test_a_schedule_without_slots_leaves_all_dark(tmp_path: Path, write: Write) -> None:
    """The documentation states this."""
    body = "return Schedule(np.empty((0, switch.racks), int), [], 0)"
    policy = write(body, head=HEAD)
    path = experiment(tmp_path, f'policy = "{policy}"\ninterval = "500 us"', "last-arrival")
    done = lightloom("run", path, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["duty_cycle"] == 0


def test_plans_that_are_written_say_the_night_and_the_shortest_slot_of_mordia(
    tmp_path: Path,
) -> None:
    (tmp_path / "demand.csv").write_text(DEMAND)
    command = ["plan", "demand.csv", "-a", "solstice", "-o", "schedule.json"]
    done = lightloom(*command, cwd=tmp_path)
    assert '--night "11.5 us" --shortest "61 us"' in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("slot", "dark", "words"),
    [
        (61_000_000, 11_499_999, "the switch is dark for 11.5 us in every slot"),
        (60_999_999, 11_500_000, "shorter than the shortest slot, 61 us"),
    ],
)
def test_what_slots_cannot_be_in_python_is_refused_by_attribute(
    tmp_path: Path, write: Write, slot: int, dark: int, words: str
) -> None:
    policy = write(
        SEES.format(night=11_500_000, shortest=61_000_000, slot=slot, dark=dark), head=HEAD
    )
    path = experiment(tmp_path, f'policy = "{policy}"\ninterval = "500 us"')
    done = lightloom("run", path, "-o", "out", cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    said = " ".join(done.stderr.split())
    assert words in said
    assert "switch.night_ps and switch.shortest_slot_ps" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("fabric", "element", "words"),
    [
        ("mordia", "grating", "in Mordia the controller alone can fail; write element"),
        ("rotornet", "controller", "RotorNet has no controller; remove"),
        ("opera", "grating", "in Opera the rotor switches alone can fail; write element"),
    ],
)
def test_which_parts_can_fail_is_said(
    tmp_path: Path, fabric: str, element: str, words: str
) -> None:
    part = "grating = 0\n" if element == "grating" else ""
    fault = f'\n[[fault]]\nelement = "{element}"\n{part}at = "1 us"\n'
    path = experiment(tmp_path, fault)
    path.write_text(path.read_text().replace('"mordia"', f'"{fabric}"'))
    done = lightloom("run", path, cwd=tmp_path)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "fault[0]" in said
    assert words in said
