"""Commands of SONiC on an optical circuit switch, one for each cross-connect.

Two command lines are in use: the one of its test labs, and the one that SONiC generates
from its data model (developer guide 0.2). Both name a cross-connect by its ports, `1A-29B`.
Neither is saved here: `config save -y` on the switch keeps what it has over a cold start.
"""

from __future__ import annotations

from lightloom.control.wiring.sheet import Sheet

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
    return "".join(f"config ocs cross-connect {command}\n" for command in gone + come)


def generated(sheet: Sheet) -> str:
    """Those that are generated: `config ocs-cross-connect add 1A-29B --a-side 1A …`."""
    gone = [f"delete {a}A-{b}B" for a, b in sheet.pairs("break")]
    come = [f"add {a}A-{b}B --a-side {a}A --b-side {b}B" for a, b in sheet.to_make()]
    return "".join(f"config ocs-cross-connect {command}\n" for command in gone + come)
