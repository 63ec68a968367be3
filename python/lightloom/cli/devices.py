"""`devices`: figures that follow from a design of lasers, gratings, receivers and links, and the
link budget of a circuit switch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightloom.cli import console
from lightloom.cli.options import json_of, set_of
from lightloom.errors import ConfigError, refusal
from lightloom.units import formats

if TYPE_CHECKING:
    from lightloom.devices.photonics import Devices, Switch

Rows = Iterator[tuple[str, str, str]]

File = Annotated[
    Path | None,
    typer.Argument(metavar="DESIGN.toml", help=r"A file with a table \[devices]."),
]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Begin with sirius, sirius-100, sirius-bank or sirius-v1; or with a circuit switch: "
        "wss-ring, mems-cthrough, mems-hydra, rotor-rotornet, rotor-opera.",
    ),
]
Overrides = Annotated[list[str] | None, set_of("Override a key, as in grating.ports=100.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write the tuning times (.svg, .png, .pdf: their distribution; .csv: all pairs), or "
        "all results (.json).",
    ),
]
Json = Annotated[bool, json_of("everything")]


def devices(
    file: File = None,
    preset: Preset = None,
    set_: Overrides = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Compute link budget, guardband and tuning times of optical devices."""
    from lightloom.devices import photonics

    with console.guarded():
        table = _design(file, set_ or [])
        _check_preset(preset)
        is_switch = photonics.is_switch(table, preset)
        if out is not None:
            check = photonics.check_switch_format if is_switch else photonics.check_format
            check(out, "-o")
            if out.is_dir():
                raise refusal("-o", out, "is a directory", "name a file")
            console.check_output(out.parent)
        derive = photonics.switch if is_switch else photonics.derive
        found: Devices | Switch = derive(table, preset)
        if out is not None:
            found.save(out)
        if json:
            console.print_json(found.to_dict())
        else:
            _print_any(found)
            if out is not None:
                console.say(f"\nwritten: {out}")


def _check_preset(name: str | None) -> None:
    """Raises an error for an unknown preset; it lists those of designs and of circuit switches."""
    from difflib import get_close_matches

    from lightloom.devices import photonics

    known = [*photonics.presets(), *(switch["name"] for switch in photonics.switches())]
    if name is not None and name not in known:
        near = get_close_matches(name, known, 1)
        remedy = f'did you mean "{near[0]}"?' if near else "choose one of them"
        raise refusal("--preset", name, f"must be one of {', '.join(known)}", remedy)


def _design(file: Path | None, overrides: list[str]) -> dict[str, Any]:
    from lightloom.config.experiment import read_toml
    from lightloom.config.overrides import set_one

    raw: dict[str, Any] = {"devices": {}} if file is None else dict(read_toml(file))
    if "devices" not in raw:
        raise ConfigError(f"{file}: has no table [devices]; add one")
    for override in overrides:
        key = override.removeprefix("devices.")
        set_one(raw, key if "=" not in key else f"devices.{key}")
    table = raw["devices"]
    if not isinstance(table, dict):
        raise refusal("devices", table, "must be a table of keys", "name each key")
    return table


def _print_any(found: Devices | Switch) -> None:
    from lightloom.devices.photonics import Switch

    if isinstance(found, Switch):
        _print_switch(found)
    else:
        _print(found)


def _print_switch(found: Switch) -> None:
    if found.budget is not None:
        _table("link budget", ("", "dB, dBm", ""), _circuit(found.budget))
    _table("what follows", ("", "", ""), _switch(found))
    if found.budget is None:
        console.say("note: devices.loss is not known: no link budget is computed")


def _circuit(budget: dict[str, Any]) -> Rows:
    yield "launched", _value(budget["launch"]), "by a transceiver"
    for name, loss in budget["losses"]:
        yield name, _value(loss), ""
    yield "received", _value(budget["received"]), "margin unused"
    yield "sensitivity", _value(budget["sensitivity"]), "of the receiver"
    yield "spare", _value(budget["spare"]), "beside the margin"


def _switch(found: Switch) -> Rows:
    design, budget = found.design, found.budget
    spread = f"σ {design['deviation']}" if design["deviation"] else ""
    yield "dark", design["settle"], spread
    yield "ports", str(design["ports"]), design["constraint"]
    if budget is not None:
        yield "reach", budget["reach"], budget["reach_by"]


def _print(found: Devices) -> None:
    derived = found.derived
    _table("link budget", ("", "dB, dBm", ""), _link(found))
    _table("guardband", ("", "time", "basis"), _guardband(derived))
    _table("tuning", ("", "time", ""), _tuning(derived))
    _table("what follows", ("", "", ""), _follows(derived))
    for note in derived["notes"]:
        console.say(f"note: {note}")


def _table(title: str, heads: tuple[str, str, str], rows: Rows) -> None:
    table = console.plain_table()
    table.add_column(title, no_wrap=True)
    table.add_column(heads[1], justify="right", no_wrap=True)
    table.add_column(heads[2], overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.out().print(table)
    console.say("")


def _value(quantity: str) -> str:
    """Formats a quantity in decibels, without its unit and with two decimals."""
    return f"{float(quantity.split()[0]):.2f}"


def _link(found: Devices) -> Rows:
    link = found.derived["link"]
    yield "sensitivity", _value(link["sensitivity"]), "of the receiver"
    for name, loss in link["losses"]:
        yield name, _value(loss), ""
    yield "required", _value(link["required"]), "of a laser, by each transceiver"
    yield "laser", _value(link["laser"]), f"feeds {link['feeds']:.2f}, shared by {link['share']}"
    yield "received", _value(link["received"]), "on the worst path, margin unused"


def _guardband(derived: dict[str, Any]) -> Rows:
    guardband = derived["guardband"]
    for part in guardband["parts"]:
        yield part["name"], part["time"], part["basis"]
    symbols, symbol = guardband["symbols"], guardband["symbol"]
    yield "guardband", guardband["total"], f"{symbols} symbols of {symbol}"


def _tuning(derived: dict[str, Any]) -> Rows:
    tuning = derived["tuning"]
    if tuning is None:
        return
    for name in ("least", "median", "p99", "worst"):
        pairs = f"of {tuning['pairs']:,} ordered pairs" if name == "least" else ""
        yield name, tuning[name], pairs


def _follows(derived: dict[str, Any]) -> Rows:
    overhead = formats.percent(derived["overhead"])
    yield "slot", derived["slot"], f"guardband {overhead}; epoch {derived['epoch']}"
    yield "cell", f"{derived['cell_bits']:,} b", f"{derived['payload_bytes']:,} B of data"
    yield "ports", str(derived["ports"]), f"{derived['wavelengths']} wavelengths of a laser"
    yield "reach", derived["link"]["reach"], f"by {derived['link']['reach_by']}"
    bank = f", each a bank of {derived['lasers']}" if derived["lasers"] > 1 else ""
    yield "lasers", str(derived["sources"]), f"a node{bank}"
    crosstalk = derived["crosstalk"]
    leaks = "-" if crosstalk is None else f"{_value(crosstalk)} dB"
    yield "crosstalk", leaks, f"in band; penalty {_value(derived['penalty'])} dB"
    yield (
        "bit errors",
        f"{derived['ber']:.1e}",
        f"{derived['ber_without_margin']:.1e} at the least power",
    )
    yield "corrected", f"{derived['error_rate']:.1e}", "at the least power"
    for way in derived["protections"]:
        fits = f"{way['data_bits']:,.0f} b of data" if way["fits"] else "does not fit"
        waits = f", waits {way['waits']}" if way["cells"] > 1 else ""
        yield f"  {way['fec']}", f"{way['post_ber']:.1e}", fits + waits
