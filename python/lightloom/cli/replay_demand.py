"""`replay-demand`: replays a day of measured demand with a policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from lightloom.cli import console
from lightloom.cli.demand_options import Columns, Estimate, Format, Hosts, Strict, Unit
from lightloom.cli.flags import Own, flagging, own_options
from lightloom.cli.options import json_of
from lightloom.cli.plan_options import with_options
from lightloom.errors import ConfigError, refusal
from lightloom.units import formats
from lightloom.units.durations import DARK_TIME

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
        help='Group records into intervals of this length, like "5 min"; exports of flows need it.',
    ),
]
Dark = Annotated[
    str,
    typer.Option(
        metavar="TIME",
        help="Time from the beginning of a change until its circuits carry traffic: mirrors, "
        f"transceivers, routes ({DARK_TIME}). Mirrors take 10 to 20 ms, links often seconds.",
        show_default=False,
    ),
]
AllDark = Annotated[
    bool,
    typer.Option("--all-dark", help="Unchanged circuits also go dark, as in c-Through."),
]
Out = Annotated[
    list[Path] | None,
    typer.Option("--out", "-o", metavar="FILE.json", help="Write all figures as JSON."),
]
Table = Annotated[
    list[Path] | None,
    typer.Option("--intervals", metavar="FILE.csv", help="Write a row for each interval as CSV."),
]
Json = Annotated[bool, json_of("the figures")]
REFUSED = {
    "up": "circuits that are up are those of the interval before",
    "symmetric": "demand has two directions here",
}
"""Options of plans that a replay sets itself → reason."""


class Played(NamedTuple):
    """The result of a replay."""

    day: Day
    """The demand of the day."""
    accounts: Sequence[Account]
    """The decisions of each player; those of the policy are first."""
    made: dict[str, Any]
    """All figures, in the form of JSON."""
    summary: list[str]
    """A description of the input for users."""


@with_options
def replay_demand(
    demand: Days,
    algorithm: Algorithm = None,
    every: Every = None,
    dark: Dark = DARK_TIME,
    all_dark: AllDark = False,
    out: Out = None,
    intervals: Table = None,
    json: Json = False,
    unit: Unit = None,
    format: Format = None,
    map: Hosts = None,
    columns: Columns = None,
    strict: Strict = False,
    estimate: Estimate = None,
    set_: Own = None,
    **given: Any,
) -> None:
    """Replay a day of measured demand with a policy: would changes pay?

    POLICIES

    PATH:CLASS is a policy of your own in a Python file, made with the options of --set.

    In each interval those circuits are lit that the policy plans for the interval before,
    as lightloom plan would, circuits that are lit being up. It is compared with a first
    plan that is kept, with one plan for the whole day, and with a policy that knows each
    interval beforehand. --rate is that of a circuit (10 Gb/s).
    """
    with console.guarded():
        options = {key: value for key, value in given.items() if value is not None}
        told = {"unit": unit, "format": format, "map": map, "columns": columns, "strict": strict}
        told["estimate"] = estimate
        name = _checked(algorithm, options)
        options |= own_options(set_ or [], name)
        files = _outputs(demand, {"-o": out, "--intervals": intervals})
        terms = {"dark": dark, "all_dark": all_dark}
        with _flags(), console.aside():
            played = _play(demand, name, options, terms, {"every": every} | told, json)
        _tell(played, _written(played, files), json)


def _play(
    demand: list[str],
    name: str,
    options: dict[str, Any],
    terms_: dict[str, Any],
    told: dict[str, Any],
    json: bool,
) -> Played:
    """Reads the day, and replays it."""
    from lightloom.control.day import outcome
    from lightloom.control.day.play import RATE, replay_day, terms
    from lightloom.control.day.series import read_day

    day = read_day(demand, **told)
    asked = terms(day, options.get("rate", RATE), terms_["dark"], terms_["all_dark"])
    with _counting(json) as count:
        accounts = replay_day(day, name, count=count, **_ready(options, day), **terms_)
    all_told = options | {"files": demand} | told
    shown = {key: str(v) if isinstance(v, Path) else v for key, v in all_told.items()}
    made = outcome.as_dict(day, name, shown, asked, accounts)
    return Played(day, accounts, made, [*outcome.summary(day, asked, accounts[0])])


def _written(played: Played, files: dict[str, Path]) -> list[Path]:
    """Writes the requested files, all or none."""
    from lightloom.control.day import outcome
    from lightloom.storage.staging import write_files

    texts = {
        "-o": lambda: outcome.as_text(played.made),
        "--intervals": lambda: outcome.as_csv(played.day, played.accounts),
    }
    return write_files({path: texts[option]().encode() for option, path in files.items()})


def _tell(played: Played, written: list[Path], json: bool) -> None:
    """Prints the figures as JSON, or as text."""
    if json:
        from lightloom.control.day import outcome

        typer.echo(outcome.as_text(played.made), nl=False)
        return
    for line in played.summary:
        console.say(line)
    _show(played.day, played.accounts)
    console.say("")
    console.say(played.made["verdict"])
    if written:
        console.say("wrote " + " ".join(str(path) for path in written))


def _checked(algorithm: str | None, options: dict[str, Any]) -> str:
    """Returns the name of the policy; raises an error for options that it does not have, or that a
    replay sets itself."""
    from lightloom.policies.registry import find

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
    """Returns the options, with the circuits or the schedule of a file read."""
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
    """Names options in errors as on the command line, including those of this command."""
    try:
        with flagging():
            yield
    except ConfigError as problem:
        if problem.key not in ("every", "dark"):
            raise
        limit, remedy = problem.limit or "", problem.remedy or ""
        raise refusal(f"--{problem.key}", problem.value, limit, remedy) from None


def _outputs(demand: Sequence[str], outputs: dict[str, list[Path] | None]) -> dict[str, Path]:
    """Returns the file of each option that has one; errors about files are raised before the
    computation."""
    found: dict[str, Path] = {}
    for option, paths in outputs.items():
        for path in paths or ():
            _check_output(option, path, demand)
            for other, taken in found.items():
                if path.resolve() == taken.resolve():
                    limit = "comes twice" if other == option else f"is the file of {other}, too"
                    raise refusal(option, path, limit, "name every file once")
            if option in found:
                limit = f"{found[option]} already receives the same output"
                raise refusal(option, path, limit, f"give {option} once")
            found[option] = path
    return found


def _check_output(option: str, path: Path, demand: Sequence[str]) -> None:
    """Raises an error if a file cannot be written."""
    ending = ".json" if option == "-o" else ".csv"
    if path.is_dir():
        raise refusal(option, path, "is a directory", "name a file")
    if path.suffix.lower() != ending:
        raise refusal(option, path, f"written as {ending[1:].upper()}", f"end it in {ending}")
    if any(path.exists() and Path(one).exists() and path.samefile(one) for one in demand):
        raise refusal(option, path, "is the demand itself", "name another file")
    console.check_output(path.parent)


@contextmanager
def _counting(json: bool) -> Iterator[Count]:
    """Shows progress on a line of a terminal."""
    screen = console.err()
    if json or not screen.is_terminal:
        yield lambda name, done, several: None
        return
    with screen.status("planning") as status:
        yield lambda name, done, several: status.update(f"{name}: {done:,} of {several:,}")


def _show(day: Day, accounts: Sequence[Account]) -> None:
    """Prints a row for each player."""
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
            formats.size(found["served_bytes"]),
            f"{found['changes_per_hour']:.3g}",
            "-" if made is None else f"{made:.3g}",
            formats.seconds(dark) if dark else "0 s",
            "-" if worst is None else formats.seconds(worst) if worst else "0 s",
            formats.rate(found["left_busiest_bps"]),
        )
    console.out(wide=True).print(rows)
    console.say("")
    for account in accounts:
        console.say(f"{account.player.name}: {account.player.about}")
    console.say("made/h: circuits; dark/h: time in which some circuit was dark for a change")
    console.say(
        "left: rate for the packet network at the busiest rack in one direction, mean over an "
        "interval"
    )
