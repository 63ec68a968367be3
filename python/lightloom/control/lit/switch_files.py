"""Cross-connects in the formats of switches: those that `plan` writes, the configuration of a
switch (CONFIG_DB, OCP YANG) and its output (`show ocs cross-connect config|status`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lightloom.control.lit.joined import Joined, joined_of, port_of, wrong

TABLE = "OCS_CROSS_CONNECT"
CONFIG_DB_TABLES = re.compile(r"[A-Z][A-Z0-9_]*(\|.*)?")
PAIR_LIKE = re.compile(r"\d{1,6}[Aa]-\d{1,6}[Bb]")
LIST = "port-connection"
INVALID = "INVALID"
"""Status of a connection that the switch keeps in its configuration and does not light."""
SCPI = re.compile(r":oxc:swit:conn:(\w+) \(@([\d,]+)\),\(@([\d,]+)\)", re.IGNORECASE)
COMMAND = re.compile(r"config ocs[ -]cross-connect (add|update|delete) (\S+)( .*)?")
CHANGE = "# A change"
"""Beginning of the comment in a script that omits cross-connects which stay."""
WHOLE = "name the plan as JSON or CSV, or what `show ocs cross-connect config` prints"


def of_config_db(path: Path, value: dict[str, Any]) -> list[Joined] | None:
    """Reads the cross-connects of a CONFIG_DB, as its own JSON or as that of `sonic-db-dump`; None
    if the value is not a CONFIG_DB."""
    rows: dict[str, Any] = {}
    if isinstance(value.get(TABLE), dict):
        rows = value[TABLE]
    elif value and all(map(PAIR_LIKE.fullmatch, value)):
        rows = value  # only the table
    elif TABLE not in value:
        if not value or not all(CONFIG_DB_TABLES.fullmatch(key) for key in value):
            return None
        dumped = {k.partition("|")[2]: v for k, v in value.items() if k.startswith(f"{TABLE}|")}
        rows = {k: v.get("value", v) if isinstance(v, dict) else v for k, v in dumped.items()}
    return [_of_row(path, key, row) for key, row in rows.items()]


def _of_row(path: Path, key: str, row: object) -> Joined:
    where = f": {TABLE}.{key}"
    found = joined_of(path, where, key)
    if isinstance(row, dict):
        a = port_of(path, where, row.get("a_side", found.a), "A")
        b = port_of(path, where, row.get("b_side", found.b), "B")
        if (a, b) != (found.a, found.b):
            limit = f"joins {row.get('a_side')} with {row.get('b_side')}"
            raise wrong(path, where, limit, "name it by its ports")
    return found


def of_ocp_yang(path: Path, value: object) -> list[Joined] | None:
    """Reads the cross-connects of OCP YANG, at any depth; None if there is no list of
    connections."""
    entries = _entries(value)
    if entries is None:
        return None
    found = []
    for at, entry in enumerate(entries):
        where = f": {LIST}[{at}]"
        parts = [entry.get(key) for key in ("config", "state")] if isinstance(entry, dict) else []
        state, config = parts[-1:], next((p for p in parts if isinstance(p, dict)), None)
        if config is None:
            raise wrong(path, where, "neither `config` nor `state`", "write it as the model has it")
        if isinstance(state[0], dict) and str(state[0].get("status")).endswith(INVALID):
            continue
        a = port_of(path, where, config.get("input-port-name"), "A")
        b = port_of(path, where, config.get("output-port-name"), "B")
        found.append(Joined(a, b, where))
    return found


def _entries(value: object) -> list[Any] | None:
    """The list of connections, with any module name as prefix of its key."""
    if isinstance(value, list):
        return next((found for inner in value if (found := _entries(inner)) is not None), None)
    if not isinstance(value, dict):
        return None
    for key, inner in value.items():
        if key.rpartition(":")[2] == LIST and isinstance(inner, list):
            return inner
        found = _entries(inner)
        if found is not None:
            return found
    return None


def of_scpi(path: Path, lines: list[tuple[int, str]], after: int) -> list[Joined]:
    """Reads the cross-connects of SCPI lines; `after` is the number of A ports, from which B ports
    are numbered on."""
    found = []
    for number, line in lines:
        where = f":{number}"
        match = SCPI.fullmatch(line.strip())
        if match is None:
            raise wrong(path, where, "no SCPI line", "write :oxc:swit:conn:add (@1),(@17)")
        if match[1].lower() != "add":
            raise wrong(path, where, "lists changes, not lit circuits", WHOLE)
        a, b = ([int(port) for port in group.split(",")] for group in match.groups()[1:])
        if len(a) != len(b) or min(b) <= after:
            raise wrong(path, where, "A and B ports do not match", "look at --switch-size")
        found += [Joined(i, j - after, where) for i, j in zip(a, b, strict=True)]
    return found


def of_commands(path: Path, lines: list[tuple[int, str]]) -> list[Joined]:
    """Reads the cross-connects of a script of SONiC commands that only adds."""
    found = []
    for number, line in lines:
        where, text = f":{number}", line.strip()
        match = COMMAND.fullmatch(text)
        if text.startswith(CHANGE) or (match is not None and match[1] == "delete"):
            raise wrong(path, where, "lists changes, not lit circuits", WHOLE)
        if match is not None:
            found.append(joined_of(path, where, match[2]))
        elif text[:1] != "#" and text not in ("set -e", "config save -y"):
            raise wrong(path, where, "no command of cross-connects", WHOLE)
    return found


def of_show(path: Path, lines: list[tuple[int, str]]) -> list[Joined]:
    """Reads the cross-connects of SONiC's tables, with the columns `id`, `a_side`, `b_side` and
    others, with or without lines or bars between columns."""
    found = []
    for where, cells in _rows(lines):
        if PAIR_LIKE.fullmatch(cells[0]) is None:
            raise wrong(path, where, f"`{cells[0]}` is not a cross-connect", "write it like 1A-29B")
        one = joined_of(path, where, cells[0])
        sides = [port_of(path, where, c, s) for c, s in zip(cells[1:3], "AB", strict=False)]
        if sides and sides != [one.a, one.b]:
            raise wrong(path, where, f"joins {' with '.join(cells[1:3])}", "print it anew")
        found.append(one)
    return found


HEADER = ("id", "name", "cross-connect", "cross_connect")


def _rows(lines: list[tuple[int, str]]) -> Iterator[tuple[str, list[str]]]:
    """The cells of each row below the header."""
    for number, line in lines:
        cells = line.replace("|", " ").split()
        ruled = not cells or not line.strip(" -=+|")
        if not ruled and cells[0].lower() not in HEADER:
            yield f":{number}", cells


def is_show(lines: list[tuple[int, str]]) -> bool:
    """Whether lines are a table of SONiC: by its columns, or by its cross-connects."""
    cells = lines[0][1].replace("|", " ").lower().split() if lines else []
    ruled = bool(lines) and not lines[0][1].strip(" -=+|")
    return bool(cells) and (ruled or cells[0] in HEADER or bool(PAIR_LIKE.fullmatch(cells[0])))
