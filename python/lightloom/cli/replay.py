"""`plan --replay`: what another policy would have done where a controller kept a log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.markup import escape

from lightloom import console
from lightloom.control.replays import is_rewritten

Shown = Callable[[dict[str, Any]], str]
ROWS: tuple[tuple[str, str, Shown | None], ...] = (
    ("decisions", "decisions", lambda account: f"{len(account['decisions']):,}"),
    ("that changed something", "changes", None),
    ("schedules handed over", "schedules", None),
    ("circuits made", "made", None),
    ("taken down", "broken", None),
    ("lost with a port or a silence", "lost", None),
    ("steps that failed", "failed_steps", None),
    ("circuits lit [circuit-s]", "lit_circuit_s", lambda account: _sum(account, "lit_circuit_s")),
    ("ports in the dark [port-s]", "dark_port_s", lambda account: _sum(account, "dark_port_s")),
    ("demand between joined racks", "share", lambda account: _share(account)),
)
"""Rows of the table: what it says, the key, and how it is shown."""


def show(made: dict[str, Any], path: Path, name: str | None) -> None:
    """Where the two part, and what each did."""
    header, replay = made["header"], made["replay"]
    policy = header["policy"].get("kind") or header["policy"].get("file")
    racks, planes = (header["hardware"][key] for key in ("racks", "planes"))
    on = "" if planes == 1 else f" on {planes} planes"
    console.say(f"{path.name}: {header['host']}, policy {policy}, {racks:,} racks{on}")
    for note in made["notes"]:
        console.say(f"note: {note}")
    parted = replay["parted"]
    if parted is None:
        console.say("they never part: every action is the same")
    else:
        when = console.seconds(parted["at_ps"] * 1e-12) if parted["at_ps"] else "0 s"
        console.say(f"they part at {when}, line {parted['line']:,} of the log:")
        console.say(f"  recorded  {parted['recorded'] or '(nothing more)'}")
        console.say(f"  replayed  {parted['replayed'] or '(nothing more)'}")
    console.say("")
    rows = console.plain_table()
    rows.add_column("")
    rows.add_column(escape(f"recorded: {_short(policy)}"), justify="right")
    asked = _short(name or policy)
    now = " as it is now" if is_rewritten(header["policy"], made["policy"]) else ""
    rows.add_column(escape(f"replayed: {asked}{now}"), justify="right")
    for label, key, shown in ROWS:
        cells = [
            f"{account[key]:,}" if shown is None else shown(account)
            for account in (replay["recorded"], replay["replayed"])
        ]
        rows.add_row(escape(label), *cells)
    console.out().print(rows)


def _short(policy: str) -> str:
    """A policy's name, without the directories of its file."""
    return Path(policy).name


def _sum(account: dict[str, Any], key: str) -> str:
    """Over all planes, with four digits."""
    total = sum(account[key])
    return f"{total:,.0f}" if total >= 1_000 else f"{total:.4g}"


def _share(account: dict[str, Any]) -> str:
    """Over all decisions."""
    demand = sum(decision["demand_bytes"] for decision in account["decisions"])
    joined = sum(decision["joined_bytes"] for decision in account["decisions"])
    return f"{100 * joined / demand:.1f} %" if demand else "-"
