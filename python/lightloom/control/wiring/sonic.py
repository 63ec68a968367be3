"""Commands of SONiC on an optical circuit switch, one for each cross-connect.

Two command lines are in use: the one of its test labs, and the one that SONiC generates
from its data model (developer guide 0.2). Both name a cross-connect by its ports, `1A-29B`.
Whether the switch saves by itself what its command line changes differs between releases:
`config save -y` keeps it over a cold start, and is written only if asked for.
"""

from __future__ import annotations

from lightloom.control.wiring.sheet import Sheet

SAVE = "config save -y"
SCRIPT = """#!/bin/sh
# Stops at the first command that the switch refuses, before others take its ports.
set -e
"""
"""How a file of them begins that a shell runs. Commands that are typed go without: there
`set -e` would end the session."""


def text(sheet: Sheet) -> str:
    """The commands of the test labs: `config ocs cross-connect add 1A-29B update`."""
    gone = [f"delete {a}A-{b}B" for a, b in sheet.pairs("break")]
    come = [f"add {a}A-{b}B update" for a, b in sheet.to_make()]
    return _lines("config ocs cross-connect", gone + come, sheet)


def generated(sheet: Sheet) -> str:
    """Those that are generated: `config ocs-cross-connect add 1A-29B --a-side 1A …`."""
    gone = [f"delete {a}A-{b}B" for a, b in sheet.pairs("break")]
    come = [f"add {a}A-{b}B --a-side {a}A --b-side {b}B" for a, b in sheet.to_make()]
    return _lines("config ocs-cross-connect", gone + come, sheet)


def opening(sheet: Sheet) -> str:
    """How a script begins; one that leaves out what stays says so, since it does not tell
    what is lit."""
    stay = sum(row.action == "keep" for row in sheet.rows) if sheet.changes else 0
    lines = f"# A change: {stay} cross-connects of this plan stay as they are.\n" if stay else ""
    return SCRIPT + lines


def _lines(command: str, endings: list[str], sheet: Sheet) -> str:
    saved = [SAVE] if sheet.save and endings else []
    return "".join(f"{line}\n" for line in [*(f"{command} {e}" for e in endings), *saved])
