"""The work of an operator in one command: from a Prometheus range query and the port map of a
spreadsheet, with the switch's CONFIG_DB, to a script and its undo. The command is that of the
documentation."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

from cli_support import ROOT, lightloom

from lightloom.control.wiring import read_port_map

DOC = ROOT / "docs" / "control.md"
COLUMNS = "rack=Server,a=OCS in,b=OCS out"
"""Columns of the spreadsheet; leaf n is at input n and output n."""


def documented() -> list[str]:
    """Returns the words of the command whose demand is an answer of Prometheus."""
    found = re.search(r"```sh\n(lightloom plan query\.json .*?)```", DOC.read_text(), re.DOTALL)
    assert found is not None
    return shlex.split(found[1].replace("\\\n", " "))[1:]


def series(src: int, dst: int, rate: str) -> dict[str, Any]:
    """Returns the answer of Prometheus for a pair: four samples of 5 minutes [B/s]."""
    metric = {"src": f"leaf{src}", "dst": f"leaf{dst}"}
    return {"metric": metric, "values": [[1764345600 + 300 * k, rate] for k in range(4)]}


def connects(pairs: list[tuple[int, int]]) -> dict[str, dict[str, str]]:
    """Returns rows of OCS_CROSS_CONNECT, by name."""
    return {f"{a}A-{b}B": {"a_side": f"{a}A", "b_side": f"{b}B"} for a, b in pairs}


def both(*pairs: tuple[int, int]) -> list[tuple[int, int]]:
    return [*pairs, *((b, a) for a, b in pairs)]


def test_one_command_writes_the_change_and_its_undo(tmp_path: Path) -> None:
    heavy = [series(1, 2, "9e8"), series(3, 4, "8e8"), series(1, 3, "1e6")]
    answer = {"status": "success", "data": {"resultType": "matrix", "result": heavy}}
    (tmp_path / "query.json").write_text(json.dumps(answer))
    sheet = "Room;Server;OCS in;OCS out\n" + "".join(f"x;leaf{n};{n};{n}\n" for n in range(1, 5))
    (tmp_path / "ports.csv").write_text(sheet)
    before = connects(both((1, 3), (2, 4)))
    table = {"PORT": {"Ethernet0": {}}, "OCS_CROSS_CONNECT": before}
    (tmp_path / "config_db.json").write_text(json.dumps(table))
    done = lightloom(*documented(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    scripts = {name: (tmp_path / name).read_text() for name in ("change.sh", "undo.sh")}
    was, wanted = both((1, 3), (2, 4)), both((1, 2), (3, 4))
    state = set(was)
    for name, after in (("change.sh", wanted), ("undo.sh", was)):
        state = played(scripts[name], state)
        assert state == set(after), name
    assert len(list(read_port_map(tmp_path / "ports.csv", columns=COLUMNS))) == 4
    # The sum is that of the three rates times 1,200 s.
    assert f"{(9e8 + 8e8 + 1e6) * 1200 / 1e12:.2f} TB" in done.stdout


def played(script: str, lit: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Returns the cross-connects after a script; checks that no port is ever in two of them."""
    now = set(lit)
    for verb, a, b in re.findall(r"(add|delete|del|remove)\b.*?(\d+)A\D+?(\d+)B", script):
        pair = int(a), int(b)
        now = now | {pair} if verb == "add" else now - {pair}
        assert len({x for x, _ in now}) == len({y for _, y in now}) == len(now)
    return now
