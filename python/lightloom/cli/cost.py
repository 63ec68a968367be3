"""`cost`: cost and power of each fabric of an experiment, and their basis."""

from __future__ import annotations

import json as jsons
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import lightloom
from lightloom.cli import console
from lightloom.cli.options import Overrides, read_experiment
from lightloom.config import inputs
from lightloom.config.own_tables import DECISION
from lightloom.errors import ConfigError, refusal
from lightloom.storage import reading

if TYPE_CHECKING:
    from lightloom.costs.book import Book
    from lightloom.costs.costs import Costs
    from lightloom.costs.solve import EqualCost
    from lightloom.report.decisions import Decision
    from lightloom.storage.staging import Staging

Prices = Annotated[
    str | None,
    typer.Option(
        "--prices",
        metavar="BOOK",
        help="Price book: sirius-2020 (default), hydra-2013, cthrough-2010, ai-cluster-2026, or a "
        "file of your own; it overrides decision.prices of the experiment.",
    ),
]
Price = Annotated[
    list[str] | None,
    typer.Option(
        "--price",
        metavar="PART=AMOUNT",
        help="Set the price of a part, in the unit of its book: 250, or 200..700. Repeat for more.",
    ),
]


def cost(
    experiment: Annotated[Path, typer.Argument(metavar="EXPERIMENT.toml")],
    set_: Overrides = None,
    prices: Prices = None,
    price: Price = None,
    bill: Annotated[
        list[str] | None,
        typer.Option(
            "--bill",
            metavar="LABEL",
            help="Print this fabric's bill of parts; all prints every one. Repeat for more.",
        ),
    ] = None,
    break_even: Annotated[
        list[str] | None,
        typer.Option(
            "--break-even",
            metavar="PART",
            help="The price of a part below which its fabrics pay. Repeat for more.",
        ),
    ] = None,
    equal_cost: Annotated[
        list[str] | None,
        typer.Option(
            "--equal-cost",
            metavar="LABEL.KEY=OTHER",
            help="The value of a key at which two fabrics cost the same: sirius.uplinks=clos. "
            "Repeat for more.",
        ),
    ] = None,
    reading: Annotated[
        list[str] | None,
        typer.Option(
            "--reading",
            metavar="NAME",
            help="Count sirius and clos by a reading of Sirius' Fig 6: A, F, G, H or a file. "
            "Repeat for more.",
        ),
    ] = None,
    tornado: Annotated[
        Path | None,
        typer.Option("--tornado", metavar="FILE.svg", help="Draw which price decides."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Write costs.json and bill.csv there."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the costs as JSON and nothing else.")
    ] = False,
) -> None:
    """Dollars and watts of each fabric, from its own bill of parts.

    Nothing is simulated. Beside results (comparison.json) the cost per delivered bit is shown, too.
    """
    from lightloom.costs import book as books
    from lightloom.costs import costs as economics
    from lightloom.costs.solve import equal_cost as solve

    with console.guarded():
        loaded = with_prices(read_experiment(experiment, set_), prices, price)
        if reading and equal_cost:
            limit = "readings count paths, not keys of fabrics"
            raise refusal("--reading", ", ".join(reading), limit, "remove it, or --equal-cost")
        book = book_of(loaded.raw) or books.load()
        ways = _readings(loaded, reading or [])
        goodput = _goodput(experiment)
        found = [economics.cost(loaded, book, reading=way, goodput=goodput) for way in ways]
        billed = _billed(found[0], bill or [])
        evens = [even for part in break_even or [] for even in found[0].break_even(part)]
        solved = [solve(loaded, asked, book) for asked in equal_cost or []]
        written = _write(found[0], out, tornado)
        if json:
            console.print_json(_json(found, evens, solved))
            return
        _print(found, billed, evens, solved, _late(experiment))
        for path in written:
            console.say(f"wrote {path}")
        from lightloom.cli import cost_text as text

        if tornado is not None and (left := text.not_drawn(found[0], tornado)) is not None:
            console.say(f"note: {left}")


def _readings(loaded: lightloom.Experiment, asked: list[str]) -> list[str | None]:
    """The ways to count: the readings asked for; or bills, and then the readings in the file."""
    from lightloom.config.decision import read

    options = read(loaded.raw)
    return [*asked] or [None, *(options.readings if options else [])]


def _billed(found: Costs, asked: list[str]) -> list[str]:
    """The fabrics whose bills are printed."""
    labels = [*found.fabrics] if "all" in asked and "all" not in found.fabrics else asked
    for label in labels:
        found.bill_rows(label)  # raises an error for unknown labels
    return labels


def with_prices(
    loaded: lightloom.Experiment, prices: str | None, price: list[str] | None
) -> lightloom.Experiment:
    """Returns the experiment with the prices of the command line, which override its own."""
    if prices is None and not price:
        return loaded
    from lightloom.costs.of_experiment import with_flags

    raw = with_flags(loaded.raw, prices, price)
    inputs.anchor(raw, Path.cwd())
    if prices is not None:  # a named book is read in its present version
        inputs.forget(raw, f"{DECISION}.prices")
    return replace(loaded, raw=raw)


def book_of(raw: Mapping[str, Any]) -> Book | None:
    """Returns the prices of an experiment, as written or resolved; None if it has none."""
    if DECISION not in raw:
        return None
    from lightloom.costs.of_experiment import book

    return book(raw)


def print_compared(decided: Decision) -> None:
    """Prints cost and power of the fabrics of a comparison, and the parts that they exclude."""
    from lightloom.cli import cost_text as text

    console.say(text.heading(decided.costs))
    console.out(wide=True).print(text.table(decided.costs))
    for line in text.legend(decided.costs):
        console.say(line)
    console.say("")


def stage(decided: Decision, folder: Path, staging: Staging) -> None:
    """Stages `costs.json`, `bill.csv` and `decision.json` beside a comparison."""
    made = jsons.dumps(decided.to_json(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    for name, text in {**_files(decided.costs), "decision.json": made}.items():
        staging.text(folder / name, text)


def _files(found: Costs) -> dict[str, str]:
    made = jsons.dumps(found.to_json(), indent=2, allow_nan=False) + "\n"
    return {"costs.json": made, "bill.csv": found.bill_csv()}


def _goodput(experiment: Path) -> dict[str, float]:
    """The goodput in results beside the experiment, if there are any."""
    from lightloom.costs.costs import goodput_of

    summaries = _summaries(experiment)
    try:
        return goodput_of(summaries) if summaries else {}
    except (ValueError, AttributeError):
        raise _no_summaries(experiment) from None


def _late(experiment: Path) -> list[str]:
    """The fabrics that are not known to carry the load of results beside the experiment."""
    folders = [*experiment.parent.glob("seed-*/")] or [experiment.parent]
    each = [found for folder in folders if (found := _summaries(folder / experiment.name))]
    if not each:
        return []
    from lightloom.analysis.findings import carriage, whole_run

    labels = each[0]
    seeds = [[found[label] for found in each if label in found] for label in labels]
    of_windows = carriage.carriages_of_runs(seeds)
    told = [found or whole_run.of_summaries(s) for found, s in zip(of_windows, seeds, strict=True)]
    return [label for label, c in zip(labels, told, strict=True) if c not in (None, "carried")]


def _summaries(experiment: Path) -> dict[str, Any]:
    """The summaries of a comparison beside the experiment, by label; none without one."""
    beside = experiment.with_name("comparison.json")
    if not beside.is_file():
        return {}
    try:
        found: dict[str, Any] = jsons.loads(reading.text(beside))
    except ValueError:
        raise _no_summaries(experiment) from None
    return found


def _no_summaries(experiment: Path) -> ConfigError:
    limit = "not the summaries of a comparison"
    remedy = "run lightloom compare again, or move the file away"
    return refusal("EXPERIMENT", experiment.with_name("comparison.json"), limit, remedy)


def _write(found: Costs, out: Path | None, tornado: Path | None) -> list[Path]:
    """Writes the requested files, all or none."""
    if out is None and tornado is None:
        return []
    from lightloom.costs import tornado as charts
    from lightloom.plotting import tornado as drawing
    from lightloom.storage.staging import Staging

    files: dict[Path, str] = {}
    if tornado is not None:
        drawn = [cost for cost in found.fabrics.values() if not cost.unpriced]
        chosen = drawn or list(found.fabrics.values())  # an error by name if none has all prices
        files[charts.target(tornado)] = drawing.svg(chosen, found.book.currency)
    if out is not None:
        folder = console.check_output(out)
        files |= {folder / name: text for name, text in _files(found).items()}
    with Staging() as staging:
        for path, text in files.items():
            staging.text(path, text)
            staging.amend(path.parent)
    return list(files)


def _json(found: list[Costs], evens: list[Any], solved: list[EqualCost]) -> dict[str, Any]:
    table = found[0].to_json()
    if len(found) > 1:
        table["readings"] = [one.to_json() for one in found[1:]]
    if evens:
        table["break_even"] = [
            {
                "part": e.part,
                "fabric": e.label,
                "other": e.other,
                "per": e.unit,
                "price": None if e.price is None else [float(e.price.low), float(e.price.high)],
                "why": e.why,
                "tied": list(e.tied),
                "surely_below": None if e.surely_below is None else float(e.surely_below),
            }
            for e in evens
        ]
    if solved:
        table["equal_cost"] = [_equal_json(one) for one in solved]
    return table


def _equal_json(solved: EqualCost) -> dict[str, Any]:
    value = solved.value
    ends = None if value is None else [float(value.low), float(value.high)]
    some = None if solved.some is None else float(solved.some)
    more = None if solved.more is None else solved.more.to_json()
    jump = None if solved.jump is None else [float(solved.jump.low), float(solved.jump.high)]
    found = {"key": solved.key, "other": solved.other, "value": ends, "some": some, "jump": jump}
    return {**found, "rack_switches": more}


def _print(
    found: list[Costs],
    billed: list[str],
    evens: list[Any],
    solved: list[EqualCost],
    late: Collection[str] = (),
) -> None:
    from lightloom.cli import cost_summary as summary
    from lightloom.cli import cost_text as text

    screen, first = console.out(wide=True), found[0]
    if summary.shown(found):
        console.say(summary.heading(found))
        screen.print(summary.table(found))
        for line in summary.said(found):
            console.say(line)
        console.say("\nEach way in full:\n")
    for one in found:
        console.say(text.heading(one))
        screen.print(text.table(one, late))
    by = "By bills, " if len(found) > 1 and first.reading is None else ""
    for line in (*text.cheapest(first, by), *text.not_carrying(late), *text.legend(first)):
        console.say(line)
    for label in billed:
        console.say(f"\nbill of {label}: {text.total(first.fabrics[label])}")
        screen.print(text.bill(first.bill_rows(label), first.book.currency))
    for line in (*text.break_evens(evens, first.book), *map(text.solved, solved)):
        console.say(line)
    for line in text.more_switches(solved):
        console.say(line)
    chosen = [one.reading for one in found if one.reading is not None]
    if chosen:
        console.say("\nSirius' Fig 6 by each reading [%]; * is met to the percent:")
        screen.print(text.readings(chosen))
