"""`plan --replay`: the decisions of another policy for the log of a controller."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.markup import escape

from lightloom.cli import console
from lightloom.control.replays import is_rewritten
from lightloom.units import formats
from lightloom.units.counts import counted

Made = dict[str, Any]
Account = dict[str, Any]
Shown = Callable[[Made, Account], str]


def _count(key: str) -> Shown:
    return lambda _, account: f"{account[key]:,}"


def _circuits(key: str) -> Shown:
    """Formats counts of circuits; those of schedules change by themselves and are not counted."""
    return lambda _, account: (
        "-" if account["schedules"] and not account[key] else f"{account[key]:,}"
    )


ROWS: tuple[tuple[str, Shown], ...] = (
    ("decisions", lambda _, account: f"{len(account['decisions']):,}"),
    ("that changed something", _count("changes")),
    ("schedules handed over", _count("schedules")),
    ("circuits made", _circuits("made")),
    ("taken down", _circuits("broken")),
    ("lost with a port or a silence", _count("lost")),
    ("steps that failed", _count("failed_steps")),
    ("circuits lit, on average", lambda made, account: _lit(made, account)),
    ("port-time in the dark", lambda made, account: _dark(made, account)),
    ("demand between joined racks", lambda _, account: _share(account)),
)
"""Rows of the table: label and format."""
IN_TURN = "in turn: a schedule joins these racks for a part of the time only, some slot each"


def show(made: dict[str, Any], path: Path, name: str | None) -> None:
    """Prints where the log and the replay differ, and the figures of each."""
    header, replay = made["header"], made["replay"]
    policy = header["policy"].get("kind") or header["policy"].get("file")
    racks, planes = (header["hardware"][key] for key in ("racks", "planes"))
    on = "" if planes == 1 else f" on {planes} planes"
    console.say(f"{path.name}: {header['host']}, policy {policy}, {counted(racks, 'rack')}{on}")
    for note in made["notes"]:
        console.say(f"note: {note}")
    parted = replay["parted"]
    if parted is None:
        console.say("they never differ: every action is the same")
    else:
        when = formats.seconds(parted["at_ps"] * 1e-12) if parted["at_ps"] else "0 s"
        console.say(f"they differ at {when}, line {parted['line']:,} of the log:")
        console.say(f"  recorded  {parted['recorded'] or '(nothing more)'}")
        console.say(f"  replayed  {parted['replayed'] or '(nothing more)'}")
        for line in _decided(made):
            console.say(line)
    console.say("")
    rows = console.plain_table()
    rows.add_column("")
    rows.add_column(escape(f"recorded: {_short(policy)}"), justify="right")
    asked = _short(name or policy)
    now = " as it is now" if is_rewritten(header["policy"], made["policy"]) else ""
    rows.add_column(escape(f"replayed: {asked}{now}"), justify="right")
    accounts = replay["recorded"], replay["replayed"]
    for label, shown in ROWS:
        rows.add_row(label, *(shown(made, account) for account in accounts))
    console.out().print(rows)
    if any(account["schedules"] for account in accounts):
        console.say(IN_TURN)


def _decided(made: Made) -> Iterator[str]:
    """Describes the last decision before they differ, if it is known."""
    found, parted = made["decision"], made["replay"]["parted"]
    if found is None:
        return
    when = formats.seconds(found["at_ps"] * 1e-12)
    yield f"in the decision at {when}, of a demand of {formats.size(found['demand_bytes'])}:"
    for side in ("recorded", "replayed"):
        chosen = found[side]
        circuits = ((verb, chosen.get(kind)) for kind, verb in VERBS.items())
        told = [f"{verb} {_named(several)}" for verb, several in circuits if several]
        told = told or [_kept(parted[side])]
        yield f"  {side}  {'; '.join([*told, _joins(chosen)])}"


VERBS = {"dark": "takes down", "light": "lights"}


def _kept(action: str | None) -> str:
    """The text if no circuits are known."""
    return "keeps what is lit" if action is None else "changes what is lit"


def _joins(decision: dict[str, Any]) -> str:
    return f"joins racks with {formats.size(decision['joined_bytes'])} of it"


def _named(circuits: list[list[int]]) -> str:
    """Formats circuits as actions write them; of many, the first ones."""
    names = [f"{a}-{b}" + (f"/{plane}" if plane else "") for a, b, plane in circuits[:SHOWN]]
    more = len(circuits) - SHOWN
    return ", ".join(names) + (f" and {more:,} more" if more > 0 else "")


SHOWN = 8
"""Largest number of circuits that are named."""


def _short(policy: str) -> str:
    """The name of a policy, without the directories of its file."""
    return Path(policy).name


def _port_time(made: Made) -> float:
    """Port time of all ports from the first line of the log to the last [port-s]."""
    hardware = made["header"]["hardware"]
    ports = math.prod(hardware[key] for key in ("racks", "planes", "ports"))
    return float(ports * made["span_ps"] * 1e-12)


def _lit(made: Made, account: Account) -> str:
    """The mean number of circuits; a directed circuit uses one port at each end."""
    lit, ports = sum(account["lit_circuit_s"]), _port_time(made)
    if not ports:
        return "-"
    mean = f"{lit / (made['span_ps'] * 1e-12):.4g}"
    senders = (ports - sum(account["dark_port_s"])) / lit if lit else 2
    return f"{mean} one way" if senders < 1.5 else mean


def _dark(made: Made, account: Account) -> str:
    ports = _port_time(made)
    return f"{100 * sum(account['dark_port_s']) / ports:.1f} %" if ports else "-"


def _share(account: dict[str, Any]) -> str:
    """The share of the demand between connected racks, over all decisions."""
    demand = sum(decision["demand_bytes"] for decision in account["decisions"])
    joined = sum(decision["joined_bytes"] for decision in account["decisions"])
    turns = " in turn" if account["schedules"] else ""
    return f"{100 * joined / demand:.1f} %{turns}" if demand else "-"
