"""The files that `plan` writes, and the ports: options and their checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightloom.cli import console
from lightloom.cli.options import json_of
from lightloom.errors import refusal
from lightloom.units.counts import counted

if TYPE_CHECKING:
    from lightloom.control.plans import Plan
    from lightloom.control.wiring import Dialect, PortMap
    from lightloom.policies.registry import Policy

PANEL = "Ports and outputs"

Out = Annotated[
    list[Path] | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write the plan: as JSON (.json), CSV (.csv), a table (.txt), SCPI lines (.scpi), "
        "SONiC commands (.sh), CONFIG_DB JSON (…config_db.json) or OCP-YANG JSON (.yang.json). "
        "May be repeated.",
    ),
]
Picture = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Draw demand and plan, as FILE.svg, .pdf or .png."),
]
Json = Annotated[bool, json_of("the plan")]
As = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="FORMAT",
        help="json, csv, table, scpi, sonic, sonic-generated, config-db or ocp-yang: the format "
        "of -o; without -o, print the plan in this format and nothing else.",
        rich_help_panel=PANEL,
    ),
]
Ports = Annotated[
    Path | None,
    typer.Option(
        "--port-map",
        metavar="PORTS.csv",
        help="The ports of each rack on the switches: rack, plane, A port, B port, "
        "transceiver. Circuits then name ports, and racks without a port are refused.",
        rich_help_panel=PANEL,
    ),
]
PortColumns = Annotated[
    str | None,
    typer.Option(
        metavar="ROLE=NAME,…",
        help="Names of the port map's columns, for example those of a spreadsheet: "
        '"rack=Server,a=OCS in,b=OCS out", with plane and transceiver.',
        rich_help_panel=PANEL,
    ),
]
Size = Annotated[
    str | None,
    typer.Option(
        "--switch-size",
        metavar="PORTS",
        help="Ports of each plane's switch: 16x16 for 16 A and 16 B ports, 32 for one side. "
        "Default: A and B ports, up to 1024 each.",
        rich_help_panel=PANEL,
    ),
]
Plane = Annotated[
    int | None,
    typer.Option(metavar="N", help="Write the circuits of one plane only.", rich_help_panel=PANEL),
]
Slot = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Write the circuits of one slot of a schedule only.",
        rich_help_panel=PANEL,
    ),
]


Save = Annotated[
    bool,
    typer.Option(
        "--save",
        help="End SONiC's commands with `config save -y`; some releases save by themselves.",
        rich_help_panel=PANEL,
    ),
]
Undo = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Also write the file that undoes the change, in a format of -o; without --diff it "
        "breaks the plan's circuits. Give it once for each file.",
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True)
class Outputs:
    """The files and the output of a plan."""

    out: tuple[Path, ...] = ()
    """The files of the plan; each has its own format."""
    picture: Path | None = None
    """The file of the picture of demand and plan."""
    named: str | None = None
    """The format given by `--as` or `--json`."""
    ports: Path | None = None
    """The port map."""
    port_columns: str | None = None
    """The names of the port map's columns."""
    size: str | None = None
    """The size of each plane's switch."""
    plane: int | None = None
    """The plane to write."""
    slot: int | None = None
    """The slot to write."""
    save: bool = False
    """Whether the switch keeps the configuration over a cold start."""
    undo: tuple[Path, ...] = ()
    """The files that undo the change."""

    @classmethod
    def of(cls, json: bool, named: str | None, **given: Any) -> Outputs:
        """Makes an object from the options; `--json` is equal to `--as json`."""
        if json and named not in (None, "json"):
            raise refusal("--as", named, "--json asks for JSON", "give one of them")
        out, undo = tuple(given.pop("out") or ()), tuple(given.pop("undo") or ())
        renamed = {"port_map": "ports", "switch_size": "size"}
        rest = {renamed.get(key, key): value for key, value in given.items()}
        return cls(out=out, undo=undo, named="json" if json else named, **rest)

    @property
    def alone(self) -> bool:
        """Whether only a format is printed."""
        return self.named is not None and (not self.out or self.named == "json")

    @property
    def dialects(self) -> list[Dialect]:
        """The format of each file, or of standard output; empty if neither is requested."""
        from lightloom.control.wiring import find, of_file

        named = None if self.named is None else find(self.named)
        if not self.out:
            return [] if named is None else [named]
        return [of_file(path, named) for path in self.out]

    def check(self, demand: Path, *, reads: bool = False) -> None:
        """Raises an error if outputs cannot be written, before the computation; `reads` states that
        the plane also selects the circuits read from a switch."""
        from lightloom.control.plans import PICTURES

        each = [("-o", path) for path in self.out] + [("--undo", path) for path in self.undo]
        for option, path in (*each, ("--picture", self.picture)):
            if path is not None and path.is_dir():
                raise refusal(option, path, "is a directory", "name a file")
            for other, what in ((demand, "the demand"), (self.ports, "the port map")):
                if path and other and path.exists() and other.exists() and path.samefile(other):
                    raise refusal(option, path, f"is {what} itself", "name another file")
            if path is not None:
                console.check_output(path.parent)
        if self.picture is not None and self.picture.suffix.lower() not in PICTURES:
            limit, remedy = "its extension names no known format", f"use {', '.join(PICTURES)}"
            raise refusal("--picture", self.picture, limit, remedy)
        for option, paths in (("-o", self.out), ("--undo", self.undo)):
            for at, path in enumerate(paths):
                if path.resolve() in {other.resolve() for other in paths[:at]}:
                    raise refusal(option, path, "comes twice", "name every file once")
        if self.picture is not None and self.picture in self.out:
            limit = "is also the file of -o"
            raise refusal("--picture", self.picture, limit, "name two files")
        for path in self.undo:
            if path in (*self.out, self.picture):
                limit = "is also another output"
                raise refusal("--undo", path, limit, "name a file of its own")
        self._check_ports(reads)

    def _check_ports(self, reads: bool) -> None:
        dialects = [*self.dialects, *map(self._undo_dialect, self.undo)]
        if self.save and not any(dialect.saves for dialect in dialects):
            limit = "only SONiC's commands can save"
            raise refusal("--save", "(given)", limit, "give -o FILE.sh, or leave it out")
        for dialect in dialects:
            if dialect.for_switch and self.ports is None:
                limit = "switches have ports, not racks"
                raise refusal(
                    "--as", dialect.name, limit, "map racks to ports with --port-map PORTS.csv"
                )
        given = (("--switch-size", self.size), ("--port-columns", self.port_columns))
        for option, text in given:
            if text is not None and self.ports is None:
                limit = "has no effect without --port-map"
                raise refusal(option, text, limit, "give one, or leave it out")
        plane = None if reads else self.plane
        for option, value in (("--plane", plane), ("--slot", self.slot)):
            if value is not None and all(dialect.text is None for dialect in dialects):
                limit = "has no effect: only the whole plan is written"
                raise refusal(
                    option,
                    value,
                    limit,
                    "write the plan by -o in a format other than JSON, or name one by --as",
                )

    def port_map(self, policy: Policy, options: dict[str, Any]) -> PortMap | None:
        """Reads the port map, if there is one. If the algorithm has several planes and no option
        gives their number, it is that of the port map."""
        from lightloom.control.wiring import SwitchSize, read_port_map

        if self.ports is None:
            return None
        size = None if self.size is None else SwitchSize.of(self.size)
        several = "planes" in policy.options
        planes = options.get("planes") if several else 1
        found = read_port_map(
            self.ports,
            size=size,
            planes=planes,
            ports=options.get("ports") or 1,
            columns=self.port_columns,
        )
        if several:
            options.setdefault("planes", found.planes)
        return found

    def text(self, made: Plan, dialect: Dialect) -> str:
        """Returns the plan in a format."""
        from lightloom.control.wiring import render

        return render(made, dialect.name, **self._how())

    def _how(self) -> dict[str, Any]:
        return {"plane": self.plane, "slot": self.slot, "save": self.save}

    def _undo_dialect(self, path: Path) -> Dialect:
        """The format of a file of `--undo`: its own by its ending, or that of `--as`."""
        from lightloom.control.wiring import find, of_file

        named = None if self.named is None else find(self.named)
        if named is not None and path.suffix.lower() in (*named.endings, *named.others):
            return named
        return of_file(path, None)

    def printed(self, made: Plan) -> str | None:
        """Returns the only output on standard output; None if text is printed."""
        return self.text(made, self.dialects[0]) if self.alone else None

    def files(self, made: Plan) -> dict[Path, bytes]:
        """Returns the content of each file."""
        from lightloom.control.wiring import render

        pairs = zip(self.out, self.dialects, strict=True) if self.out else ()
        found = {}
        for path, dialect in pairs:
            # A `.sh` file gets a complete script; printed commands may be pasted into a live shell.
            script = path.suffix.lower() == ".sh"
            found[path] = render(made, dialect.name, script=script, **self._how()).encode()
        for path in self.undo:
            told = {"script": path.suffix.lower() == ".sh", "undo": True}
            name = self._undo_dialect(path).name
            found[path] = render(made, name, **told, **self._how()).encode()
        if self.picture is not None:
            found[self.picture] = made.drawn(self.picture.suffix.lower())
        return found

    def notes(self, made: Plan) -> Iterator[str]:
        """Notes on content that was not written, or not read."""
        if made.wiring is not None:
            ports = made.wiring.ports
            from lightloom.control.wiring import names_of

            strangers = ports.strangers(names_of(made.demand))
            if strangers:
                yield f"note: no demand for {_listed(strangers)}, which the port map has"
            if ports.ignored:
                yield f"note: not read from the port map: {_listed(ports.ignored)}"
        topology, complete = made.details.get("topology"), not self.dialects
        complete = complete or any(dialect.text is None for dialect in self.dialects)
        if topology is not None and not complete:
            far = int((topology.hops > 1).sum())
            if far:
                lead = counted(far, "path leads", "paths lead")
                yield f"note: {lead} over several circuits; -o FILE.json has them"


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
