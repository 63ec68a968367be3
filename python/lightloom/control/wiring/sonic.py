"""Commands of SONiC on an optical circuit switch, one for each cross-connect.

Two command lines are in use: the one of its test labs, and the one that SONiC generates
from its data model (developer guide 0.2). Both name a cross-connect by its ports, `1A-29B`.
Whether the switch saves by itself what its command line changes differs between releases:
`config save -y` keeps it over a cold start, and is written only if asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lightloom.control.wiring.sheet import Sheet

SAVE = "config save -y"
SCRIPT = """#!/bin/sh
# Stops at the first command that the switch refuses, before others take its ports.
set -e
"""
"""How a file of them begins that a shell runs. Commands that are typed go without: there
`set -e` would end the session."""
UNDO_SCRIPT = """#!/bin/sh
# Takes the change back, also if its script stopped half-way: deletes each cross-connect that
# the change adds, then adds each that it deletes. The switch refuses to delete one that was
# never added; the script goes on. At the end it reads the switch: exit code 1 if anything
# differs from the state before the change.
"""
"""How a file begins that takes back what another did."""
CHECK_UNDO = """now=$({show}) || exit 1
code=0
listed() {{ printf '%s\\n' "$now" | grep -Eq "^ *$1( |\\$)"; }}
"""
CHECK_GONE = """for pair in {pairs}; do
  if listed $pair; then echo "$pair is still configured" >&2; code=1; fi
done
"""
CHECK_BACK = """for pair in {pairs}; do
  if ! listed $pair; then echo "$pair is not configured" >&2; code=1; fi
done
"""


@dataclass(frozen=True)
class CommandLine:
    """One of the two command lines."""

    command: str
    """Adds and deletes cross-connects."""
    show: str
    """Prints the table of all that are configured."""
    add: str
    """What follows `add`, by the ports `a` and `b`."""

    def commands(self, sheet: Sheet) -> Iterator[str]:
        """The commands of a plan or of a change: deletes, then adds."""
        for a, b in sheet.pairs("break"):
            yield f"{self.command} delete {a}A-{b}B"
        for a, b in sheet.to_make():
            yield f"{self.command} add {self.add.format(a=f'{a}A', b=f'{b}B')}"

    def text(self, sheet: Sheet) -> str:
        """Commands alone, to be typed."""
        commands = [*self.commands(sheet)]
        return _lines([*commands, *_save(sheet, commands)])

    def script(self, sheet: Sheet) -> str:
        """A file that a shell runs."""
        commands = [*self.commands(sheet)]
        saved = _lines(_save(sheet, commands))
        if not sheet.undoes:
            return SCRIPT + _comment(sheet) + _lines(commands) + saved
        check = self._check(sheet) if commands else ""
        return UNDO_SCRIPT + _comment(sheet) + _lines(commands) + check + saved

    def _check(self, sheet: Sheet) -> str:
        """Ends the script with exit code 1 unless the switch has what it had."""
        gone, back = _names(sheet.pairs("break")), _names(sheet.to_make())
        text = CHECK_UNDO.format(show=self.show)
        text += CHECK_GONE.format(pairs=gone) if gone else ""
        text += CHECK_BACK.format(pairs=back) if back else ""
        return text + "[ $code = 0 ] || exit 1\n"


TYPED = CommandLine("config ocs cross-connect", "show ocs cross-connect config", "{a}-{b} update")
"""That of the test labs: `config ocs cross-connect add 1A-29B update`."""
GENERATED = CommandLine(
    "config ocs-cross-connect", "show ocs-cross-connect", "{a}-{b} --a-side {a} --b-side {b}"
)
"""That which is generated: `config ocs-cross-connect add 1A-29B --a-side 1A …`."""


def _comment(sheet: Sheet) -> str:
    """What a script says that leaves out what stays, since it does not tell what is lit."""
    stay = sum(row.action == "keep" for row in sheet.rows) if sheet.changes else 0
    return f"# A change: {stay} cross-connects of this plan stay as they are.\n" if stay else ""


def _save(sheet: Sheet, commands: Sequence[str]) -> list[str]:
    return [SAVE] if sheet.save and commands else []


def _names(pairs: Sequence[tuple[int, int]]) -> str:
    return " ".join(f"{a}A-{b}B" for a, b in pairs)


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
