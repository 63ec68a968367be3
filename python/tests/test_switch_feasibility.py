"""Changes that a switch cannot carry out are refused before the user is asked to confirm.

The reference is the state machine of the emulated switch, which also refuses them.
"""

import json
import re

import pytest
from cli_support import ROOT, lightloom
from hypothesis import given
from hypothesis import strategies as st
from switch_support import served

from lightloom.errors import ConfigError
from lightloom.switches.changes import requested
from lightloom.switches.design import Design
from lightloom.switches.emulated import EmulatedSwitch
from lightloom.switches.faults import read_fault
from lightloom.switches.feasibility import check_change
from lightloom.switches.ports import Size
from lightloom.switches.protocol import SwitchError

SIDE = 4
PAIRS = st.lists(st.tuples(st.integers(1, SIDE), st.integers(1, SIDE)), max_size=SIDE, unique=True)
#: Pairs of ports, some of which do not exist.
WIDER = st.lists(
    st.tuples(st.integers(0, SIDE + 1), st.integers(1, SIDE + 1)), max_size=3, unique=True
)


def once(pairs):
    """Returns the pairs whose ports occur in no earlier pair."""
    found = []
    for a, b in pairs:
        if all(a != c and b != d for c, d in found):
            found.append((a, b))
    return found


@given(PAIRS, PAIRS, st.one_of(PAIRS, WIDER), st.booleans())
def test_refused_are_the_changes_that_the_machine_refuses(lit, remove, add, stale):
    switch = EmulatedSwitch(Design(size=Size(SIDE, SIDE)))
    if stale:
        kind = {"kind": "stale", "add": ["1A-1B"]}
        switch.machine.strike(switch.now, read_fault("fault", kind))
        lit = [pair for pair in lit if 1 not in pair]
    switch.change([], once(lit))
    try:
        check_change(switch.describe().size, switch.read(), remove, add)
        possible = True
    except ConfigError:
        possible = False
    if possible:
        switch.change(remove, add)
        assert {*add} <= {*switch.read().pairs}
    else:
        with pytest.raises(SwitchError):
            switch.change(remove, add)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--add", "1A-99B"], r"--add = 1A-99B: port 99B is not on a switch of 32x32 ports; "),
        (["--remove", "40A-1B"], r"--remove = 40A-1B: port 40A is not on"),
        (["--add", "1A-3B"], r"--add = 1A-3B: port 1A is in 1A-2B.*; give --remove 1A-2B"),
        (["--add", "5A-6B,7A-6B"], r"port 6B is in 5A-6B, too"),
        (["--to", "wanted.json"], r"--to wanted.json = 1A-77B: port 77B is not on"),
    ],
)
@pytest.mark.parametrize("conflict", ["refuse", "replace"])
def test_a_change_is_refused_before_it_is_shown_and_asked_for(words, message, conflict, tmp_path):
    """This includes switches that would delete conflicting cross-connects, which the user was not
    shown."""
    (tmp_path / "wanted.json").write_text(json.dumps(["1A-77B"]), encoding="utf-8")
    with served("scpi", options={"scpi": {"add_in_use": conflict}}) as switch:
        target = f"scpi://127.0.0.1:{switch.ports['scpi']}"
        switch.do(lambda: switch.host.machine.change(switch.host.now, add=[requested((1, 2))]))
        for yes in ([], ["--yes"]):
            done = lightloom("switch", "change", target, *words, *yes, cwd=tmp_path)
            assert done.returncode == 2
            assert re.search(message, done.stderr), done.stderr
            assert done.stdout == ""
        assert switch.pairs() == [(1, 2)]


def test_a_plan_for_ports_that_are_not_there_is_refused_before_it_is_shown(tmp_path):
    plan = ["plan", str(ROOT / "examples" / "demand-8.csv"), "-a", "edmonds", "--port-map"]
    with served("scpi", ports="12x32") as switch:
        target = f"scpi://127.0.0.1:{switch.ports['scpi']}"
        ports = str(ROOT / "examples" / "ports-8.csv")
        done = lightloom(*plan, ports, "--diff", target, "--apply", cwd=tmp_path)
        assert done.returncode == 2
        assert re.search(r"--port-map = .*is at port 1[34]A.*12x32 ports", done.stderr)
        assert done.stdout == ""
        assert switch.pairs() == []


@pytest.mark.parametrize("scheme", ["gnmi", "scpi"])
def test_a_stale_entry_at_a_port_of_a_plan_is_shown_and_deleted(scheme, tmp_path):
    plan = ["plan", str(ROOT / "examples" / "demand-8.csv"), "-a", "edmonds", "--port-map"]
    with served(scheme) as switch:
        target = f"{scheme}://127.0.0.1:{switch.ports[scheme]}"
        switch.strike(read_fault("fault", {"kind": "stale", "add": ["14A-20B"]}))
        ports = str(ROOT / "examples" / "ports-8.csv")
        done = lightloom(*plan, ports, "--diff", target, "--apply", "--yes", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "delete 14A-20B" in done.stdout
        assert (14, 20) not in switch.pairs()
        assert len(switch.pairs()) == 8
