"""The file of `plan --undo` restores an emulated switch from every state in which the change may
stop. A shell runs the scripts; its `config` and `show` are the command line of the switch."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli_support import ROOT
from dialect_support import PARSERS
from typer.testing import CliRunner

from lightloom.cli import app
from lightloom.switches.changes import Conflict, requested
from lightloom.switches.design import Design
from lightloom.switches.faces.scpi import Interpreter
from lightloom.switches.faces.sonic_cli import Cli
from lightloom.switches.host import Host
from lightloom.switches.ports import Pair, Size

SIZE = Size(16, 16)
EIGHT = ROOT / "examples" / "demand-8.csv"
PLAN = ("plan", str(EIGHT), "-a", "edmonds", "--port-map", str(ROOT / "examples" / "ports-8.csv"))
FOREIGN = (15, 16)
"""A cross-connect at ports that belong to no rack."""
PROGRAM = """#!/bin/sh
echo "$(basename "$0") $*" > {folder}/ask
{{ read -r code; cat; }} < {folder}/answer
exit $code
"""
SONIC = {"sonic": "first", "sonic-generated": "generated"}
"""Generation of the command line, by dialect."""


def host(pairs: Sequence[Pair]) -> Host:
    """Returns a switch with cross-connects."""
    made = Host(Design(size=SIZE))
    made.machine.change(made.now, [], map(requested, pairs))
    return made


def lit(switch: Host) -> set[Pair]:
    return {one.pair for one in switch.machine.connections(switch.now) if one.configured}


@contextmanager
def shell(switch: Host, generation: str, folder: Path) -> Iterator[dict[str, str]]:
    """Returns an environment in which `config` and `show` reach the switch."""
    (folder / "bin").mkdir()
    for name in ("config", "show"):
        program = folder / "bin" / name
        program.write_text(PROGRAM.format(folder=folder))
        program.chmod(0o755)
    for name in ("ask", "answer"):
        os.mkfifo(folder / name)
    cli = Cli(switch, generation)

    def serve() -> None:
        while line := (folder / "ask").read_text().strip():
            answer = asyncio.run(cli.run(line))
            (folder / "answer").write_text(f"{answer.code}\n{answer.text}")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    (folder / "ask").write_text("\n")
    thread.join(10)


def run(script: str, path: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    path.write_text(script)
    return subprocess.run(
        ["sh", str(path)], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def written(
    folder: Path, ending: str, *more: str, diff: bool = True
) -> tuple[list[Pair], str, str]:
    """Returns the former cross-connects, the change and its undo."""
    now, change, undo = folder / "now.json", folder / f"c{ending}", folder / f"u{ending}"
    was: list[Pair] = []
    if diff:
        done = CliRunner().invoke(app, [*PLAN, "--as", "config-db"])
        rows = json.loads(done.stdout)["OCS_CROSS_CONNECT"]
        rows["15A-16B"] = {"a_side": "15A", "b_side": "16B"}
        now.write_text(json.dumps({"OCS_CROSS_CONNECT": rows}))
        was = [(int(r["a_side"][:-1]), int(r["b_side"][:-1])) for r in rows.values()]
        more = ("--pin", "gpu-0:web", "--diff", str(now), *more)
    options = ["--switch-size", str(SIZE), "-o", str(change), "--undo", str(undo)]
    done = CliRunner().invoke(app, [*PLAN, *options, *more])
    assert done.exit_code == 0, done.output
    return was or [FOREIGN], change.read_text(), undo.read_text()


def cuts(script: str) -> list[str]:
    """Returns a script up to each of its commands, from none to all."""
    lines = script.splitlines(keepends=True)
    ends = [at for at, line in enumerate(lines) if line.startswith(("config ", ":oxc"))]
    return ["".join(lines[:end]) for end in [ends[0], *(end + 1 for end in ends)]]


@pytest.mark.parametrize("diff", [True, False])
@pytest.mark.parametrize("dialect", SONIC)
def test_a_script_restores_the_state_before_from_every_other(
    dialect: str, diff: bool, tmp_path: Path
) -> None:
    was, change, undo = written(tmp_path, ".sh", "--as", dialect, diff=diff)
    found = []
    for at, cut in enumerate(cuts(change)):
        folder = tmp_path / str(at)
        folder.mkdir()
        switch = host(was)
        with shell(switch, SONIC[dialect], folder) as environment:
            assert run(cut, folder / "c.sh", environment).returncode == 0
            found.append(lit(switch))
            done = run(undo, folder / "u.sh", environment)
        assert (done.returncode, done.stderr) == (0, ""), at
        assert lit(switch) == {*was}, at
    assert found[0] == {*was}
    assert len({frozenset(state) for state in found}) == len(found) > 4


def test_an_undo_that_fails_names_what_differs_and_does_not_save(tmp_path: Path) -> None:
    """Another client has created a cross-connect in the meantime, with ports of a removed one."""
    was, change, undo = written(tmp_path, ".sh", "--as", "sonic-generated", "--save")
    broken = next(row for row in PARSERS["sonic-generated"](undo) if row.action == "add")
    switch = host(was)
    with shell(switch, "generated", tmp_path) as environment:
        assert run(change, tmp_path / "c.sh", environment).returncode == 0
        saved = {*switch.machine._saved}
        free = next(b for b in range(1, 17) if all(b != pair[1] for pair in {*was, *lit(switch)}))
        switch.machine.change(
            switch.now, [], [requested((broken.a, free))], conflict=Conflict.REPLACE
        )
        done = run(undo, tmp_path / "u.sh", environment)
    assert done.returncode == 1
    assert done.stderr == f"{broken.a}A-{broken.b}B is not configured\n"
    assert {*switch.machine._saved} == saved
    assert lit(switch) == {*was} - {(broken.a, broken.b)} | {(broken.a, free)}


def test_a_saved_undo_is_kept(tmp_path: Path) -> None:
    was, change, undo = written(tmp_path, ".sh", "--save")
    switch = host(was)
    with shell(switch, "first", tmp_path) as environment:
        run(change, tmp_path / "c.sh", environment)
        assert run(undo, tmp_path / "u.sh", environment).returncode == 0
    assert {item.pair for item in switch.machine._saved} == {*was}


@pytest.mark.parametrize("diff", [True, False])
def test_scpi_lines_restore_the_state_before_from_every_other(diff: bool, tmp_path: Path) -> None:
    """This includes states in which the switch carried out a part of a line."""
    was, change, undo = written(tmp_path, ".scpi", diff=diff)
    forward = one_by_one(change)
    for at in range(len(forward) + 1):
        switch = host(was)
        face = Interpreter(switch, Conflict.REFUSE)
        for line in [*forward[:at], *undo.splitlines()]:
            assert asyncio.run(face.line(line)) == []
        assert lit(switch) == {*was}, at


def one_by_one(text: str) -> list[str]:
    """Returns the pairs of lines, one per line."""
    found = []
    for line in text.splitlines():
        verb, *lists = re.findall(r"conn:(\w+)|\(@([\d,]+)\)", line)
        ports = [part[1].split(",") for part in lists]
        found += [f":oxc:swit:conn:{verb[0]} (@{a}),(@{b})" for a, b in zip(*ports, strict=True)]
    return found
