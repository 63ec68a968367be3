"""Port maps: reading them, and errors that state the place."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from cli_support import ROOT
from typer.testing import CliRunner

import lightloom
from lightloom import control
from lightloom.cli import app
from lightloom.control import wiring
from lightloom.control.wiring import Port, SwitchSize, read_port_map
from lightloom.errors import ConfigError

EIGHT = ROOT / "examples" / "demand-8.csv"
PORTS = ROOT / "examples" / "ports-8.csv"
HEAD = "rack,plane,A port,B port,transceiver\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "p.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "rack,plane,A port,B port,transceiver\nweb,0,7,9,SN-1\n",
        "# ports\n\nTransceiver;B_PORT;a-port;Plane;RACK\nSN-1;9B;7A;0;web\n",
        '\ufeff"rack"\t"a"\t"b"\t"transceiver"\n"web"\t7a\t"9B"\tSN-1\n',
    ],
)
def test_columns_are_found_by_name(text: str, tmp_path: Path) -> None:
    found = read_port_map(written(tmp_path, text))
    assert list(found) == [Port("web", 0, 7, 9, "SN-1")]
    assert (found.planes, found.sides, found.ignored) == (1, 2, [])


def test_what_is_not_read_is_listed(tmp_path: Path) -> None:
    path = written(tmp_path, 'rack,panel,a,b,"room, row"\nweb,P-3,1,1,x\n')
    assert read_port_map(path).ignored == ["panel", "room, row"]


def test_ports_of_two_sides_are_counted_apart(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + "web,0,1,1,\ncache,0,2,2,\n")
    assert [port.b for port in read_port_map(path)] == [1, 2]
    assert read_port_map(path, size=SwitchSize(2, 2)).size == SwitchSize(2, 2)
    with pytest.raises(lightloom.ConfigError, match=r"p.csv:2:9: port 1 of"):
        read_port_map(path, size=SwitchSize(2))


def test_a_rack_has_as_many_rows_as_ports_on_each_plane(tmp_path: Path) -> None:
    text = HEAD + "web,0,1,1,\nweb,1,1,1,\nweb,0,2,2,\n"
    path = written(tmp_path, text)
    assert len(read_port_map(path, ports=2).of("web", 0)) == 2
    with pytest.raises(lightloom.ConfigError, match=r"p.csv:4:1: `web` is"):
        read_port_map(path)


BAD = {
    "nothing": ("", ": no ports; begin with rack,plane,A port,B port,transceiver"),
    "only names": (HEAD, ": no ports; begin with"),
    "no names": ("web,0,1,1\n", ":1:1: no column `rack`; begin with rack,plane,A port"),
    "no B port": ("rack,a\nweb,1\n", ":1:1: no column `B port`; begin with"),
    "a column twice": ("rack,a,b,A port\n", ":1:10: a second column of A port; leave one out"),
    "too few cells": (HEAD + "web,0,1\n", ":2:1: 3 cells, where the first line names 5 columns"),
    "an open quote": (HEAD + '"web,0,1,1,\n', ":2:1: a quote is not closed; write names"),
    "no rack": (HEAD + ",0,1,1,\n", ":2:1: no rack; name whose transceiver it is"),
    "no plane": (HEAD + "web,x,1,1,\n", ":2:5: `x` is no plane; count them from 0"),
    "a plane below 0": (HEAD + "web,-1,1,1,\n", ":2:5: `-1` is no plane"),
    "an unknown plane": (
        HEAD + "web,1,1,1,\n",
        ":2:5: plane 1 is unknown: the plan has plane 0 alone; --planes 2, where the algorithm",
    ),
    "no port": (HEAD + "web,0,,1,\n", ":2:7: no A port; write a number, like 7 or 7A"),
    "no number": (HEAD + "web,0,1,1.1.2,\n", ":2:9: `1.1.2` is no port; write a number, like 7"),
    "the other side": (
        HEAD + "web,0,1B,1A,\n",
        ":2:7: `1B` where an A port is to stand; A takes what the rack transmits, B gives",
    ),
    "port 0": (HEAD + "web,0,0,1,\n", ":2:7: port 0 is beyond the switch: its A ports are 1 to"),
    "beyond the largest": (HEAD + "web,0,1,1025,\n", ":2:9: port 1025 is beyond the switch: its B"),
    "an A port twice": (
        HEAD + "web,0,7,1,\ncache,0,7A,2,\n",
        ":3:9: port 7A of plane 0 is that of line 2, too; one fibre leads to a port",
    ),
    "a B port twice": (
        HEAD + "web,0,1,7,\ncache,0,2,7,\n",
        ":3:11: port 7B of plane 0 is that of line 2, too",
    ),
    "a rack twice": (
        HEAD + "web,0,1,1,\nweb,0,2,2,\n",
        ":3:1: `web` is on plane 0 twice, first in line 2; leave one out, or give --ports 2",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_port_map_is_refused(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, expected = BAD[case]
    written(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    words = ["plan", str(EIGHT), "-a", "edmonds", "--port-map", "p.csv", "-o", "x.csv"]
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: p.csv{expected}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "x.csv").exists()


SIZES = {
    "beyond A": ("4x16", "ports-8.csv:4:11: port 11 is beyond the switch: its A ports are 1 to 4"),
    "beyond B": ("16x4", "ports-8.csv:4:14: port 11 is beyond the switch: its B ports are 1 to 4"),
    "beyond one side": ("12", "ports-8.csv:4:14: port 11 of plane 0 is that of line 4, too"),
    "nothing": ("0x4", "--switch-size = 0x4: no number of ports, from 1 to 65536 a side; write"),
    "words": ("many", "--switch-size = many: no number of ports"),
}


@pytest.mark.parametrize("case", SIZES)
def test_ports_beyond_the_switch_are_refused(case: str) -> None:
    size, expected = SIZES[case]
    words = ["plan", str(EIGHT), "-a", "edmonds", "--port-map", str(PORTS), "--switch-size", size]
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert expected in done.stderr


def test_racks_without_a_port_are_refused(tmp_path: Path) -> None:
    rows = PORTS.read_text().splitlines(keepends=True)
    path = written(
        tmp_path, "".join(row for row in rows if "gpu-1" not in row and "web" not in row)
    )
    done = CliRunner().invoke(app, ["plan", str(EIGHT), "-a", "edmonds", "--port-map", str(path)])
    assert (done.exit_code, done.stdout) == (2, "")
    expected = "p.csv: `gpu-1` has no port on plane 0, as 1 more; give it a row, or say `--down gpu"
    assert expected in done.stderr


def test_a_demand_without_names_is_wired_by_number(tmp_path: Path) -> None:
    """Racks 0 and 1, in a file that begins with rack 1."""
    (tmp_path / "d.csv").write_text("0,5\n2,0\n")
    path = written(tmp_path, "rack,a,b\n1,10,11\n0,20,21\n")
    plan = control.plan(control.read_demand(tmp_path / "d.csv"), "edmonds")
    wired = wiring.wired(plan, read_port_map(path))
    assert wiring.render(wired, "sonic") == (
        "config ocs cross-connect add 20A-11B update\nconfig ocs cross-connect add 10A-21B update\n"
    )


def test_what_the_map_has_beyond_the_demand_is_told(tmp_path: Path) -> None:
    text = PORTS.read_text().replace("transceiver", "transceiver,panel")
    lines = [line + ",x" if line[:1] not in "#r" else line for line in text.splitlines()]
    path = written(tmp_path, "\n".join([*lines, "spare,0,15,15,,x"]) + "\n")
    done = CliRunner().invoke(app, ["plan", str(EIGHT), "-a", "edmonds", "--port-map", str(path)])
    assert done.exit_code == 0, done.stderr
    assert "no demand for spare" in done.stdout
    assert "port map: panel" in done.stdout
    row = next(line for line in done.stdout.splitlines() if line.startswith("web"))
    assert row.split() == ["web", "cache", "6.20", "GB", "14A-14B", "13A-13B"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--as scpi", "--as = scpi: switches have ports, not racks; map racks to ports"),
        ("-o x.sh", "--as = sonic: switches have ports, not racks; map racks to ports"),
        ("--switch-size 4x4", "--switch-size = 4x4: has no effect without --port-map"),
        ("--as yaml", "--as = yaml: no such format; use one of json, csv, table, scpi, sonic"),
        ("-o x.yaml", "-o = x.yaml: its extension names no known format; end it in one of .js"),
        ("-o plan", "-o = plan: its extension names no known format"),
        (
            "--as csv -o x.json",
            "-o = x.json: its extension names the plan as JSON, but --as names CSV",
        ),
        (
            "--as json -o x.csv",
            "-o = x.csv: its extension names CSV, but --as names the plan as JSON",
        ),
        (
            "--as csv -o x.log",
            "-o = x.log: its extension names no known format, but --as names CSV",
        ),
        ("--as csv --json", "--as = csv: --json asks for JSON; give one of them"),
        ("--plane 0", "--plane = 0: has no effect: only the whole plan is written"),
        ("--slot 0 -o x.json", "--slot = 0: has no effect: only the whole plan is written"),
        ("--slot 0 -o x.csv", "--slot = 0: circuits of this plan stay; only schedules have slots"),
        ("--plane 1 -o x.csv", "--plane = 1: the plan has plane 0 only; choose one of them"),
        (f"--port-map {PORTS} --as scpi", "--as = scpi: SCPI counts B ports on after the A ports"),
        (f"--port-map {PORTS} -o {PORTS}", "is the port map itself; name another file"),
    ],
)
def test_what_cannot_be_written_is_refused(
    words: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["plan", str(EIGHT), "-a", "edmonds", *shlex.split(words)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_spreadsheets_map_names_the_option_for_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "ports.csv"
    path.write_text("Server,In,Out\nleaf1,1,2\n")
    with pytest.raises(ConfigError) as refused:
        read_port_map(path)
    assert "--port-columns rack=NAME,a=NAME,b=NAME" in str(refused.value)
    assert len(list(read_port_map(path, columns="rack=Server,a=In,b=Out"))) == 1


def test_a_rack_of_nearly_the_same_name_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ports.csv"
    path.write_text("rack,A port,B port\nleaf1,1,2\nLEAF2,3,4\n")
    with pytest.raises(ConfigError, match="rename `LEAF2` in"):
        read_port_map(path).require(["leaf1", "leaf2"])
    with pytest.raises(ConfigError, match="give it a row"):
        read_port_map(path).require(["leaf1", "leaf3"])
