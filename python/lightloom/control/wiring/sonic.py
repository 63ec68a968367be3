"""Commands of SONiC on an optical circuit switch, one for each cross-connect.

There are two command lines: that of SONiC's test labs, and the one that SONiC generates from its
data model (developer guide 0.2). Both name a cross-connect by its ports, `1A-29B`. Releases differ
in whether the switch itself saves changes of its command line. `config save -y` keeps them over a
cold start; it is written only on request.
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
"""Beginning of a shell script. Commands that are typed do not have it, because `set -e` would end
the session."""
UNDO_SCRIPT = """#!/bin/sh
# Takes the change back, also if its script stopped half-way: deletes each cross-connect that
# the change adds, then adds each that it deletes. The switch refuses to delete one that was
# never added; the script goes on. At the end it reads the switch: exit code 1 if anything
# differs from the state before the change.
"""
"""Beginning of a shell script that reverses another one."""
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
    """The command that adds and deletes cross-connects."""
    show: str
    """The command that prints the configured cross-connects."""
    add: str
    """The arguments of `add`, with the ports `a` and `b`."""

    def commands(self, sheet: Sheet) -> Iterator[str]:
        """The commands of a plan or of a change: deletes, then adds."""
        for a, b in sheet.pairs("break"):
            yield f"{self.command} delete {a}A-{b}B"
        for a, b in sheet.to_make():
            yield f"{self.command} add {self.add.format(a=f'{a}A', b=f'{b}B')}"

    def text(self, sheet: Sheet) -> str:
        """The commands, one per line, for an interactive shell."""
        commands = [*self.commands(sheet)]
        return _lines([*commands, *_save(sheet, commands)])

    def script(self, sheet: Sheet) -> str:
        """The commands as a shell script."""
        commands = [*self.commands(sheet)]
        saved = _lines(_save(sheet, commands))
        if not sheet.undoes:
            return SCRIPT + _comment(sheet) + _lines(commands) + saved
        check = self._check(sheet) if commands else ""
        return UNDO_SCRIPT + _comment(sheet) + _lines(commands) + check + saved

    def _check(self, sheet: Sheet) -> str:
        """The end of the script, which exits with code 1 unless the switch has its former state."""
        gone, back = _names(sheet.pairs("break")), _names(sheet.to_make())
        text = CHECK_UNDO.format(show=self.show)
        text += CHECK_GONE.format(pairs=gone) if gone else ""
        text += CHECK_BACK.format(pairs=back) if back else ""
        return text + "[ $code = 0 ] || exit 1\n"


TYPED = CommandLine("config ocs cross-connect", "show ocs cross-connect config", "{a}-{b} update")
"""The command line of the test labs: `config ocs cross-connect add 1A-29B update`."""
GENERATED = CommandLine(
    "config ocs-cross-connect", "show ocs-cross-connect", "{a}-{b} --a-side {a} --b-side {b}"
)
"""The generated command line: `config ocs-cross-connect add 1A-29B --a-side 1A …`."""


def _comment(sheet: Sheet) -> str:
    """The comment of a script that omits kept cross-connects and therefore does not list all that
    are lit."""
    stay = sum(row.action == "keep" for row in sheet.rows) if sheet.changes else 0
    return f"# A change: {stay} cross-connects of this plan stay as they are.\n" if stay else ""


def _save(sheet: Sheet, commands: Sequence[str]) -> list[str]:
    return [SAVE] if sheet.save and commands else []


def _names(pairs: Sequence[tuple[int, int]]) -> str:
    return " ".join(f"{a}A-{b}B" for a, b in pairs)


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
