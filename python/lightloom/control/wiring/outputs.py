"""The dialects in which plans are written, and their selection by file name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lightloom.control.wiring import config_db, csv_rows, ocp_yang, scpi, sonic, table
from lightloom.control.wiring.sheet import Sheet, before, sheet_of, undone
from lightloom.errors import refusal

if TYPE_CHECKING:
    from lightloom.control.plans import Plan


@dataclass(frozen=True)
class Dialect:
    """A format of a plan."""

    name: str
    """The value of `--as`."""
    title: str
    """Its name in messages."""
    endings: tuple[str, ...]
    """Endings of files that are written in it without `--as`."""
    others: tuple[str, ...] = ()
    """Further endings of files that may be written in it with `--as`."""
    text: Callable[[Sheet], str] | None = None
    """Formats a plan; None for the complete plan as JSON."""
    for_switch: bool = False
    """Whether a switch reads it: then it has one plane, no schedule, and ports."""
    whole: bool = False
    """Whether it replaces the whole configuration and cannot express a change."""
    one_side: bool = True
    """Whether it supports switches whose ports are not divided into two sides."""
    saves: bool = False
    """Whether it can make the switch keep the configuration over a cold start."""
    script: Callable[[Sheet], str] | None = None
    """Formats a shell script, if the dialect has one."""


JSON = Dialect("json", "the plan as JSON", (".json",))
DIALECTS = (
    JSON,
    Dialect("csv", "CSV", (".csv",), text=csv_rows.text),
    Dialect("table", "a table", (".txt",), text=table.text),
    Dialect("scpi", "SCPI lines", (".scpi",), (".txt",), scpi.text, for_switch=True),
    Dialect(
        *("sonic", "SONiC commands", (".sh",), (".txt",), sonic.TYPED.text),
        for_switch=True,
        saves=True,
        script=sonic.TYPED.script,
        one_side=False,
    ),
    Dialect(
        *(
            "sonic-generated",
            "SONiC's generated commands",
            (),
            (".sh", ".txt"),
            sonic.GENERATED.text,
        ),
        for_switch=True,
        saves=True,
        script=sonic.GENERATED.script,
        one_side=False,
    ),
    Dialect(
        *("config-db", "CONFIG_DB JSON", ("config_db.json",), (".json",), config_db.text),
        for_switch=True,
        whole=True,
        one_side=False,
    ),
    Dialect(
        *("ocp-yang", "OCP-YANG JSON", (".yang.json",), (".json",), ocp_yang.text),
        for_switch=True,
        whole=True,
    ),
)
BY_NAME = {dialect.name: dialect for dialect in DIALECTS}


def find(name: str) -> Dialect:
    """Returns the dialect of that name.

    Raises:
        ConfigError: if `as` names none.
    """
    if name not in BY_NAME:
        raise refusal("as", name, "no such format", f"use one of {', '.join(BY_NAME)}")
    return BY_NAME[name]


def of_file(path: Path, named: Dialect | None) -> Dialect:
    """Returns the dialect of a file by its name, which must not contradict `--as`.

    Raises:
        ConfigError: if the name of the file in `-o` shows no dialect, or another.

    >>> of_file(Path("ocs/config_db.json"), None).name, of_file(Path("p.json"), None).name
    ('config-db', 'json')
    """
    name = path.name.lower()
    ends = [(len(end), d) for d in DIALECTS for end in d.endings if name.endswith(end)]
    told = max(ends, key=lambda found: found[0])[1] if ends else None
    if named is None:
        if told is None:
            known = ", ".join(end for dialect in DIALECTS for end in dialect.endings)
            limit = "its extension names no known format"
            raise refusal("-o", path, limit, f"end it in one of {known}")
        return told
    if told is named or (told is not None and told.endings[0] in named.others):
        return named
    is_of = "no known format" if told is None else told.title
    endings = ", ".join((*named.endings, *named.others))
    limit = f"its extension names {is_of}, but --as names {named.title}"
    raise refusal("-o", path, limit, f"let it end in {endings}")


def render(
    plan: Plan,
    name: str,
    *,
    plane: int | None = None,
    slot: int | None = None,
    save: bool = False,
    script: bool = False,
    undo: bool = False,
) -> str:
    """Formats a plan in one of the `DIALECTS`.

    Args:
        plan: circuits or a schedule; with ports if a switch is to read it.
        name: the dialect: json, csv, table, scpi, sonic, sonic-generated, config-db or ocp-yang.
        plane: only this plane.
        slot: only this slot.
        save: end SONiC's commands with `config save -y`.
        script: write SONiC's commands as a shell script.
        undo: write the reverse of the plan or of the change; in CONFIG_DB and OCP YANG, the state
            before a change.

    Raises:
        ConfigError: if the dialect cannot express the plan.
    """
    dialect = find(name)
    if dialect.text is None:
        if undo:
            limit = "a plan as JSON contains the new circuits, not the changes"
            raise refusal("--undo", name, limit, "name a file that ends in .sh, .scpi or .csv")
        return plan.text()
    sheet = replace(sheet_of(plan, plane=plane, slot=slot), save=save and dialect.saves)
    if undo:
        sheet = _undone(dialect, sheet)
    if dialect.for_switch:
        _check(dialect, sheet, slot)
    write = dialect.script if script and dialect.script is not None else dialect.text
    return write(sheet)


def _undone(dialect: Dialect, sheet: Sheet) -> Sheet:
    """Returns the reverse of a plan or change, as far as the dialect can express it."""
    if not dialect.whole:
        return undone(sheet)
    if not sheet.changes:
        limit = f"{dialect.title} has the new circuits, and the old ones are not given"
        raise refusal("--undo", dialect.name, limit, "give --diff, or name a .sh or .scpi file")
    return before(sheet)


def _check(dialect: Dialect, sheet: Sheet, slot: int | None) -> None:
    """Raises an error for content that the dialect of a switch cannot express."""

    def refuse(limit: str, remedy: str) -> Exception:
        return refusal("as", dialect.name, limit, remedy)

    if not sheet.wired:
        raise refuse(
            "switches have ports, not racks", "map racks to ports with --port-map PORTS.csv"
        )
    if not dialect.one_side and not sheet.sided:
        limit = "SONiC names ports by their side, and this switch has one"
        raise refuse(limit, "use scpi or ocp-yang, or give --switch-size both sides")
    if sheet.changes and dialect.whole:
        limit = f"{dialect.title} contains the new circuits, not the changes"
        raise refuse(limit, "leave out --diff, or write SCPI lines or SONiC commands")
    if sheet.times and len(sheet.times) > 1 and slot is None:
        limit = f"{len(sheet.times)} slots take turns, but {dialect.title} cannot state times"
        raise refuse(limit, "choose one with --slot, or write .csv or .json")
    if len(sheet.planes) > 1:
        limit = (
            f"circuits on {len(sheet.planes)} planes, and {dialect.title} can only tell one switch"
        )
        raise refuse(limit, "choose one with --plane, a file for each")
