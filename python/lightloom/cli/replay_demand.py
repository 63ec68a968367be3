"""`replay-demand`: a day of measured demand, played dry against a policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightloom import console
from lightloom.cli.demand_options import Columns, Format, Hosts, Strict, Unit
from lightloom.cli.flags import Own, flagging, own_options
from lightloom.cli.plan_options import with_options
from lightloom.errors import ConfigError, refusal

if TYPE_CHECKING:
    from lightloom.control.day.play import Account, Count
    from lightloom.control.day.series import Day

Days = Annotated[
    list[str],
    typer.Argument(
        metavar="DEMAND…",
        help="Files with a time in their names (demand-2026-11-23T0245.csv), folders of such "
        "files, or records with times; - for standard input.",
    ),
]
Algorithm = Annotated[
    str | None, typer.Option("--algorithm", "-a", metavar="NAME", help="One of the names above.")
]
Every = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help='Put records together into intervals of this length, like "5 min"; exports of '
        "flows need it.",
    ),
]
Dark = Annotated[
    str,
    typer.Option(
        metavar="TIME",
        help="From the beginning of a change until its circuits carry: mirrors, transceivers, "
        "routes. Mirrors alone take some 10 ms, links to come up often seconds.",
    ),
]
AllDark = Annotated[
    bool,
    typer.Option("--all-dark", help="A change darkens circuits that stay, too, as c-Through's."),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE.json", help="Write all figures as JSON."),
]
Table = Annotated[
    Path | None,
    typer.Option("--intervals", metavar="FILE.csv", help="Write a row for each interval as CSV."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the figures as JSON only.")]
REFUSED = {
    "up": "circuits that are up are those of the interval before",
    "symmetric": "demand has two directions here",
}
"""Options of plans that a day answers by itself."""


@with_options
def replay_demand(
    demand: Days,
    algorithm: Algorithm = None,
    every: Every = None,
    dark: Dark = "10 ms",
    all_dark: AllDark = False,
    out: Out = None,
    intervals: Table = None,
    json: Json = False,
    unit: Unit = None,
    format: Format = None,
    map: Hosts = None,
    columns: Columns = None,
    strict: Strict = False,
    set_: Own = None,
    **given: Any,
) -> None:
    """Play a day of measured demand dry against a policy: would it pay?

    POLICIES

    PATH:CLASS is a policy of your own in a Python file, made with the options of --set.

    In each interval those circuits are lit that the policy plans for the interval before,
    as lightloom plan would, circuits that are lit being up. It is compared with a first
    plan that is kept, with one plan for the whole day, and with a policy that knows each
    interval beforehand. --rate is that of a circuit (10 Gb/s).
    """
    with console.guarded():
        from lightloom.control.day import outcome
        from lightloom.control.day.play import RATE, replay_day, terms
        from lightloom.control.day.series import read_day
        from lightloom.control.plans import write

        options = {key: value for key, value in given.items() if value is not None}
        told = {"unit": unit, "format": format, "map": map, "columns": columns, "strict": strict}
        name = _checked(algorithm, options)
        options |= own_options(set_ or [], name)
        _check_outputs(demand, {"-o": out, "--intervals": intervals})
        with _flags(), console.aside():
            day = read_day(demand, every=every, **told)  # type: ignore[arg-type]
            asked = terms(day, options.get("rate", RATE), dark, all_dark)
            ready = _ready(options, day) | {"dark": dark, "all_dark": all_dark}
            with _counting(json) as count:
                accounts = replay_day(day, name, count=count, **ready)
        all_told = options | {"files": demand, "every": every} | told
        shown = {key: str(v) if isinstance(v, Path) else v for key, v in all_told.items()}
        made = outcome.as_dict(day, name, shown, asked, accounts)
        files = {} if out is None else {out: outcome.as_text(made).encode()}
        if intervals is not None:
            files[intervals] = outcome.as_csv(day, accounts).encode()
        written = write(files)
        if json:
            typer.echo(outcome.as_text(made), nl=False)
            return
        for line in outcome.summary(day, asked, accounts[0]):
            console.say(line)
        _show(day, accounts)
        console.say("")
        console.say(made["verdict"])
        if written:
            console.say("wrote " + " ".join(str(path) for path in written))


def _checked(algorithm: str | None, options: dict[str, Any]) -> str:
    """The policy's name; options that it does not have, or a day has not, are refused."""
    from lightloom.policy_registry import find

    if algorithm is None:
        remedy = "see `lightloom replay-demand --help`"
        raise refusal("--algorithm", "(missing)", "must be given", remedy)
    with _flags():
        for key in REFUSED.keys() & options.keys():
            raise refusal(key, options[key], REFUSED[key], "leave it out")
        own = {key: value for key, value in options.items() if key != "rate"}
        find(algorithm).check(algorithm, own)
    return algorithm


def _ready(options: dict[str, Any], day: Day) -> dict[str, Any]:
    """Options, with the circuits or the schedule of a file read."""
    from lightloom.control.current import read_circuits
    from lightloom.control.planned import read_schedule

    ready = dict(options)
    if "circuits" in ready:
        ready["circuits"] = read_circuits(ready["circuits"], day.demand(0), on_planes=True)
    if "schedule" in ready:
        ready["schedule"] = read_schedule(ready["schedule"], day.demand(0))
    return ready


@contextmanager
def _flags() -> Iterator[None]:
    """Names options in refusals as they are written on the command line, its own, too."""
    try:
        with flagging():
            yield
    except ConfigError as problem:
        if problem.key not in ("every", "dark"):
            raise
        limit, remedy = problem.limit or "", problem.remedy or ""
        raise refusal(f"--{problem.key}", problem.value, limit, remedy) from None


def _check_outputs(demand: Sequence[str], outputs: dict[str, Path | None]) -> None:
    """Refuses files that cannot be written, before anything is computed."""
    seen: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        ending = ".json" if option == "-o" else ".csv"
        if path.is_dir():
            raise refusal(option, path, "is a directory", "name a file")
        if path.suffix.lower() != ending:
            raise refusal(option, path, f"written as {ending[1:].upper()}", f"end it in {ending}")
        if any(path.exists() and Path(one).exists() and path.samefile(one) for one in demand):
            raise refusal(option, path, "is the demand itself", "name another file")
        if path in seen:
            raise refusal(option, path, f"is the file of {seen[path]}, too", "name two files")
        seen[path] = option
        console.check_output(path.parent)


@contextmanager
def _counting(json: bool) -> Iterator[Count]:
    """A line on a terminal that says how far it is."""
    screen = console.err()
    if json or not screen.is_terminal:
        yield lambda name, done, several: None
        return
    with screen.status("planning") as status:
        yield lambda name, done, several: status.update(f"{name}: {done:,} of {several:,}")


def _show(day: Day, accounts: Sequence[Account]) -> None:
    """A row for each player."""
    from lightloom.control.day.outcome import figures

    console.say("")
    rows = console.plain_table()
    rows.add_column("")
    for title in ("on circuits", "", "changes/h", "made/h", "dark/h", "worst pair", "left"):
        rows.add_column(title, justify="right")
    for account in accounts:
        found = figures(day, account)
        made, dark = found["circuits_made_per_hour"], found["dark_s_per_hour"]
        worst = found["worst_pair_dark_s_per_hour"]
        rows.add_row(
            account.player.name,
            f"{100 * found['share']:.1f} %",
            console.size(found["served_bytes"]),
            f"{found['changes_per_hour']:.3g}",
            "-" if made is None else f"{made:.3g}",
            console.seconds(dark) if dark else "0 s",
            "-" if worst is None else console.seconds(worst) if worst else "0 s",
            console.rate(found["left_busiest_bps"]),
        )
    console.out(wide=True).print(rows)
    console.say("")
    for account in accounts:
        console.say(f"{account.player.name}: {account.player.about}")
    console.say("made/h: circuits; dark/h: time in which some circuit was dark for a change")
    console.say("left: for the packet network at the busiest rack, one way, mean of an interval")
