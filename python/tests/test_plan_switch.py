"""`plan --diff TARGET --apply` on an emulated switch."""

import csv
import json
import time

import pytest
from cli_support import ROOT, lightloom
from switch_support import served

from lightloom.switches.changes import requested
from lightloom.switches.faults import Fault
from lightloom.switches.ports import Port

PLAN = [
    "plan",
    str(ROOT / "examples" / "demand-8.csv"),
    "-a",
    "edmonds",
    "--port-map",
    str(ROOT / "examples" / "ports-8.csv"),
]
# edmonds connects gpu-1 and gpu-2, gpu-0 and gpu-3, web and cache, store-0 and store-1 (`plan`
# proves the dual bound); by ports-8.csv, a circuit joins the A port of each rack to the B port of
# the other.
LIT = sorted([(3, 6), (5, 4), (1, 8), (7, 2), (14, 14), (13, 13), (11, 12), (12, 11)])


@pytest.mark.parametrize("scheme", ["scpi", "gnmi"])
def test_the_plan_is_lit_and_a_second_run_changes_nothing(scheme, tmp_path):
    with served(scheme) as switch:
        target = f"{scheme}://127.0.0.1:{switch.ports[scheme]}"
        words = [*PLAN, "--diff", target, "--apply", "--yes"]
        done = lightloom(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "0 to delete, 8 to create, 0 to keep" in done.stdout
        assert switch.pairs() == LIT
        again = lightloom(*words, cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        assert f"from {target}: 0 to break, 0 to make, 4 to keep" in again.stdout
        assert "0 to delete, 0 to create, 8 to keep\nnothing changed\n" in again.stdout


def test_it_deletes_what_is_in_the_way_and_leaves_others_alone(tmp_path):
    with served("scpi") as switch:
        # 3A-8B connects a rack of the plan to another one; 14A-20B uses a port of the plan; 30A-31B
        # uses none.
        before = [(3, 8), (14, 20), (30, 31)]
        switch.do(lambda: switch.host.machine.change(switch.host.now, add=map(requested, before)))
        target = f"scpi://127.0.0.1:{switch.ports['scpi']}"
        shown = lightloom(*PLAN, "--diff", target, cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert switch.pairs() == before  # --diff alone changes nothing
        done = lightloom(*PLAN, "--diff", target, "--apply", "-y", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "delete 14A-20B\n" in done.stdout
        assert "2 to delete, 8 to create, 0 to keep" in done.stdout
        assert switch.pairs() == sorted([*LIT, (30, 31)])


def test_it_says_before_what_it_deletes_and_what_it_leaves(tmp_path):
    with served("scpi") as switch:
        # 1A-21B uses a port of the plan, and 9A-23B none.
        before = [(1, 21), (9, 23)]
        switch.do(lambda: switch.host.machine.change(switch.host.now, add=map(requested, before)))
        target = f"scpi://127.0.0.1:{switch.ports['scpi']}"
        shown = lightloom(*PLAN, "--diff", target, cwd=tmp_path).stdout
        assert "needs: --apply deletes 1A-21B" in shown
        assert "have: left alone" in shown
        assert switch.pairs() == before


REASONS = {"gnmi": "failed: port 8B has failed", "scpi": "dark: 0.00 dBm", "netconf": "dark: 0.00"}


@pytest.mark.parametrize(
    ("command", "scheme"),
    [
        ("plan", "gnmi"),
        *((command, "scpi") for command in ("plan", "change")),
        pytest.param("change", "gnmi", marks=pytest.mark.long),
        *(
            pytest.param(command, "netconf", marks=pytest.mark.long)
            for command in ("plan", "change")
        ),
    ],
)
def test_a_cross_connect_that_is_wanted_and_dark_ends_with_an_error(command, scheme, tmp_path):
    """This also holds for interfaces without states, by the monitors, and with another
    cross-connect that is created."""
    with served(scheme) as switch:
        target = f"{scheme}://127.0.0.1:{switch.ports[scheme]}"
        words = [*PLAN, "--diff", target, "--apply", "--yes"]
        if command == "change":
            words = ["switch", "change", target, "--add", "1A-8B", "--yes"]
        assert lightloom(*words, cwd=tmp_path).returncode == 0
        switch.strike(Fault("failed", port=Port("B", 8)))
        more = ["--add", "2A-3B"] if command == "change" else []
        done = lightloom(*words, *more, cwd=tmp_path)
        assert done.returncode == 1, done.stdout
        assert f"1A-8B is {REASONS[scheme]}" in done.stderr
        assert ((2, 3) in switch.pairs()) is (command == "change")
        switch.strike(Fault("clear"))
        time.sleep(0.05)
        assert lightloom(*words, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    "scheme", ["gnmi", "scpi", pytest.param("netconf", marks=pytest.mark.long)]
)
def test_a_dark_cross_connect_does_not_count_as_lit(scheme, tmp_path):
    """The reference is the demand file: 1A-8B carries the traffic from gpu-0 to gpu-3."""
    with served(scheme) as switch:
        target = f"{scheme}://127.0.0.1:{switch.ports[scheme]}"
        switch.do(lambda: switch.host.machine.change(switch.host.now, add=map(requested, LIT)))
        time.sleep(0.05)
        words = [*PLAN, "--diff", target]

        def shown():
            found = lightloom(*words, "--json", cwd=tmp_path)
            return json.loads(found.stdout)["diff"], found.stderr

        before, told = shown()
        assert "warning" not in told
        switch.strike(Fault("failed", port=Port("B", 8)))
        after, told = shown()
        assert f"warning: 1A-8B is {REASONS[scheme]}" in told
        assert f"warning: 1A-8B is {REASONS[scheme]}" in lightloom(*words, cwd=tmp_path).stdout
    with (ROOT / "examples" / "demand-8.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        # By ports-8.csv, 1A belongs to gpu-0 and 8B to gpu-3.
        lost = next(int(row["gpu-3"]) for row in rows if row["from\\to"] == "gpu-0")
    assert lost > 0
    for key in ("old_bytes", "new_bytes"):
        assert before[key] - after[key] == lost
    (pair,) = (pair for pair in after["pairs"] if {pair["a"], pair["b"]} == {"gpu-0", "gpu-3"})
    assert pair["dark_ps"] is None
    assert sum(pair["dark_ps"] == 0 for pair in after["pairs"]) == 3


def test_options_without_effect_are_refused(tmp_path):
    with served("scpi") as switch:
        target = f"scpi://127.0.0.1:{switch.ports['scpi']}"
        for words, message in [
            ([*PLAN, "--diff", target, "--apply"], "--yes = (missing)"),
            ([*PLAN, "--apply"], "no --diff names a switch"),
            ([*PLAN, "--diff", target, "--yes"], "it confirms --apply"),
            ([*PLAN, "--diff", target, "--apply", "--json"], "nothing else"),
            ([*PLAN[:4], "--diff", target], "--port-map = (missing)"),
        ]:
            done = lightloom(*words, cwd=tmp_path)
            assert done.returncode == 2, done.stdout
            assert message in done.stderr
        assert switch.pairs() == []
    done = lightloom(*PLAN, "--diff", target, cwd=tmp_path)
    assert done.returncode == 2
    assert "connection refused" in done.stderr
