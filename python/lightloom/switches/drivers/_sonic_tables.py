"""Reads tables that SONiC's command line prints, and the states in them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lightloom.switches.ports import Pair, Port, ends_of, pair_of, port_of
from lightloom.switches.protocol import NO_STATUS, loss_of
from lightloom.switches.states import PortStatus, Status

Row = Mapping[str, str]
"""The cells of a row by column name in lower case."""
PORT_STATES = {
    "blocked": PortStatus.BLOCKED,
    "powered_off": PortStatus.BLOCKED,
    "tuning": PortStatus.TUNING,
    "tuned": PortStatus.TUNED,
    "connected": PortStatus.TUNED,
    "failed": PortStatus.FAILED,
}
_BAD = (PortStatus.FAILED, PortStatus.BLOCKED)
_BOTH_TUNED = (PortStatus.TUNED, PortStatus.TUNED)


def rows_of(text: str) -> list[Row]:
    """Returns the rows of a table; the positions of columns show which cells are empty.

    >>> rows_of("A ID  PEER  status\\n----  ----  ------\\n1A          blocked\\n")
    [{'a_id': '1A', 'peer': '', 'status': 'blocked'}]
    """
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if at and line.startswith("--"):
            starts = [found.start() for found in re.finditer(r"-+", line)]
            ends = [*starts[1:], None]
            spans = [slice(*span) for span in zip(starts, ends, strict=True)]
            names = [lines[at - 1][span].strip().lower().replace(" ", "_") for span in spans]
            return [
                {name: row[span].strip() for name, span in zip(names, spans, strict=True)}
                for row in lines[at + 1 :]
                if row.strip()
            ]
    return []


def key_of(row: Row) -> str:
    """The first cell."""
    return next(iter(row.values()))


def ports_in(rows: list[Row]) -> list[Port]:
    """Returns the ports that a table lists."""
    return [port for row in rows if (port := port_of(key_of(row))) is not None]


def port_states(rows: list[Row]) -> dict[Port, PortStatus]:
    """Returns the states of the ports in a table."""
    found = {}
    for row in rows:
        port = port_of(key_of(row))
        state = PORT_STATES.get(row.get("status", row.get("oper_status", "")).lower())
        if port is not None and state is not None:
            found[port] = state
    return found


def statuses(rows: list[Row], ports: Mapping[Port, PortStatus]) -> dict[Pair, tuple[Status, str]]:
    """Returns the state of each cross-connect in a table, and the reason if it has not settled.

    Args:
        rows: of the first generation, with the states of both sides; or of the generated command
            line, with the state of the cross-connect.
        ports: the states of ports.
    """
    found = {}
    for row in rows:
        pair = pair_of(key_of(row))
        if pair is None:
            continue
        if "a_side_status" in row and "b_side_status" in row:
            words = [row["a_side_status"].lower(), row["b_side_status"].lower()]
            found[pair] = _of_sides(*(PORT_STATES.get(word) for word in words))
        elif row.get("status"):
            a, b = (ports.get(end) for end in ends_of(pair))
            found[pair] = _of_word(row["status"].lower(), a, b)
    return found


def losses(rows: list[Row]) -> dict[Pair, float]:
    """Returns the factory insertion losses in a table [dB]; if a path has several, the first.

    Raises:
        KeyError: if there is no column of losses.
        ValueError: if a cell is not a loss.
    """
    found: dict[Pair, float] = {}
    for row in rows:
        pair = pair_of(key_of(row).partition("|")[0])
        if pair is not None:
            found.setdefault(pair, loss_of(row["loss_db"]))
    return found


def _of_sides(a: PortStatus | None, b: PortStatus | None) -> tuple[Status, str]:
    """Derives the state of a cross-connect from those of its sides."""
    if (a, b) == _BOTH_TUNED:
        return Status.CONNECTED, ""
    reason = f"its sides are {_word(a)} and {_word(b)}"
    return (Status.FAILED if {a, b} & {*_BAD} else Status.PENDING_CONNECTION), reason


def _of_word(word: str, a: PortStatus | None, b: PortStatus | None) -> tuple[Status, str]:
    """Derives the state of a cross-connect from the word that the switch prints and the states of
    its sides.

    `disabled` means either an error or that no state has been reported yet.
    """
    if word == "invalid":
        return Status.INVALID, "a port is in another cross-connect"
    if word == "enabled":
        return (Status.CONNECTED, "") if None in (a, b) else _of_sides(a, b)
    if PortStatus.FAILED not in (a, b) and {a, b} & {PortStatus.BLOCKED, None}:
        return Status.FAILED, NO_STATUS
    status, reason = _of_sides(a, b)
    return (Status.PENDING_CONNECTION, "it is disabled") if not reason else (status, reason)


def _word(state: PortStatus | None) -> str:
    return "unknown" if state is None else state.value.lower()
