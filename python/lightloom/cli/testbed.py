"""`testbed`: real applications on network namespaces, over an emulated optical fabric."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightloom.cli import console
from lightloom.cli.options import Overrides
from lightloom.errors import refusal
from lightloom.storage.errors import WriteError

if TYPE_CHECKING:
    from lightloom.config.experiment import Experiment
    from lightloom.testbed.setup import Setup

EXIT_FAILED = 1
"""Exit code if an application or a tool failed, or if a run exceeded its limits under
`--strict`."""

commands = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@commands.callback()
def testbed() -> None:
    """Run real applications on network namespaces, over an emulated optical fabric (as root)."""


File = Annotated[Path, typer.Argument(metavar="EXPERIMENT.toml")]
Label = Annotated[
    str | None,
    typer.Option("--fabric", metavar="LABEL", help="The fabric to emulate, if there are several."),
]
Name = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Name of the testbed, with which the names of its namespaces begin (default: the "
        "file's name).",
    ),
]


@commands.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run(
    context: typer.Context,
    file: File,
    overrides: Overrides = None,
    fabric: Label = None,
    name: Name = None,
    host: Annotated[
        list[int] | None,
        typer.Option(
            metavar="HOST", help="Host on which the command after -- runs; may be repeated."
        ),
    ] = None,
    mpi: Annotated[
        bool, typer.Option("--mpi", help="Run the command by Open MPI, by default on all hosts.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Folder for the results.")
    ] = None,
    repeats: Annotated[
        int,
        typer.Option(
            min=1,
            max=100,
            metavar="N",
            help="Number of runs; with several, figures have intervals.",
        ),
    ] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 1 if the run is beyond the limits of fidelity."),
    ] = False,
) -> None:
    """Run the applications of an experiment, or the command after --, and write the results.

    EXPERIMENT.toml is that of a simulation; its table `testbed` has the applications.
    """
    with _guarded():
        from lightloom.cli.testbed_text import agreement, as_json
        from lightloom.testbed.agreement import over_repetitions
        from lightloom.testbed.result import save_agreement
        from lightloom.testbed.setup import cases, setup_of

        given = _given(file, overrides, context.args, host or [], mpi)
        # All cases are checked before the first one runs.
        setups = {case: setup_of(one, fabric, name) for case, one in cases(given).items()}
        first = next(iter(setups.values()))
        directory = out or Path("results") / f"testbed-{first.layout.name}"
        found: dict[str, dict[str, Any]] = {}
        means = {}
        for case, setup in setups.items():
            runs = _measured(setup, case, repeats, directory, json)
            found |= runs
            if repeats > 1:
                means[case] = over_repetitions([one["agreement"] for one in runs.values()])
                save_agreement(means[case], directory / case)
                if not json:
                    which = f"{repeats} runs{case and f' of {case}'}"
                    console.say(f"means of {which}, differences with 95 % intervals:")
                    for line in agreement(means[case]):
                        console.say(line)
        if json:
            console.print_json(as_json(found, means))
    failed = any(one["exit_code"] != 0 for f in found.values() for one in f["applications"])
    if failed or (strict and not all(figures["within_limits"] for figures in found.values())):
        raise typer.Exit(EXIT_FAILED)


def _measured(
    setup: Setup, case: str, repeats: int, directory: Path, quiet: bool
) -> dict[str, dict[str, Any]]:
    """Runs a case several times; returns the figures of each run by its folder."""
    from lightloom.cli.testbed_text import lines, verdict
    from lightloom.testbed.live import measure
    from lightloom.testbed.result import save, summary

    numbered = [f"{case}/run-{n + 1}".strip("/") for n in range(repeats)]
    found = {}
    for name in [case] if repeats == 1 else numbered:
        with _told(quiet) as tick:
            live = measure(setup, tick)
        found[name] = summary(live)
        save(live, found[name], verdict(found[name], name), directory / name)
        if not quiet:
            for line in lines(found[name], directory, name):
                console.say(line)
    return found


@commands.command()
def up(file: File, overrides: Overrides = None, fabric: Label = None, name: Name = None) -> None:
    """Build a testbed with a running controller, and keep it up until it is interrupted."""
    with _guarded():
        from lightloom.testbed.bed import TakenDownError, Testbed
        from lightloom.testbed.priority import preferred
        from lightloom.testbed.setup import setup_of

        setup = setup_of(_given(file, overrides), fabric, name)
        with Testbed(setup) as bed, preferred():
            bed.host.begin()
            console.say(f"{setup.layout.name}: {len(setup.layout.hosts)} hosts on {setup.label}")
            console.say(f"  lightloom testbed shell --name {setup.layout.name} HOST")
            sys.stdout.flush()
            try:
                while True:
                    bed.host.step(time.monotonic() + 0.1)
                    bed.check_up()
            except TakenDownError as problem:
                console.say(str(problem))


@commands.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
def shell(
    host: Annotated[
        int, typer.Argument(metavar="HOST", help="Number of the host in the experiment.")
    ],
    command: Annotated[list[str] | None, typer.Argument(metavar="[COMMAND]...")] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Name of the testbed.")] = None,
) -> None:
    """Enter a host of a testbed that is up, or run a command there."""
    with _guarded():
        from lightloom.testbed import shell as tools

        tools.check_rights()
        space = _space(_only(name), host)
        given = command or []
        words = given[1:] if given[:1] == ["--"] else given
        words = words or [os.environ.get("SHELL", "/bin/sh")]
        line = tools.namespace_command(space, words)
        os.execv(line[0], line)


@commands.command()
def status(
    json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """List the testbeds that are up, their hosts and the processes on them."""
    with _guarded():
        from lightloom.testbed import namespaces
        from lightloom.testbed import shell as tools

        tools.check_rights()  # others do not see all processes
        found = {
            name: {space: len(namespaces.pids(space)) for space in namespaces.existing(name)}
            for name in namespaces.names()
        }
        if json:
            console.print_json(found)
        elif not found:
            console.say("no testbed is up")
        else:
            for name, spaces in found.items():
                processes = sum(spaces.values())
                console.say(f"{name}: {len(spaces) - 1} hosts, {processes} processes")


@commands.command()
def down(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]")] = None,
) -> None:
    """Take down one testbed or all: end their processes and remove their namespaces."""
    with _guarded():
        from lightloom.testbed import folders, namespaces
        from lightloom.testbed import shell as tools

        tools.check_rights()
        up = sorted({*namespaces.names(), *folders.names()})
        if name is not None and name not in up:
            known = ", ".join(up) or "none"
            raise refusal("NAME", name, "no such testbed is up", f"up are: {known}")
        if not up:
            console.say("no testbed is up")
        for one in [name] if name is not None else up:
            spaces, processes = namespaces.remove(one)
            folders.remove(one)
            console.say(f"{one}: {spaces} namespaces removed, {processes} processes ended")


def _given(
    file: Path,
    overrides: list[str] | None,
    command: Sequence[str] = (),
    hosts: Sequence[int] = (),
    mpi: bool = False,
) -> Experiment:
    """Returns the experiment with its own applications, or with a command instead of them."""
    from lightloom.config.experiment import load

    experiment = load(file, overrides or [])
    if not command:
        if hosts or mpi:
            key, value = ("--host", hosts[0]) if hosts else ("--mpi", True)
            raise refusal(key, value, "there is no command", "add -- COMMAND, or remove it")
        return experiment
    for host in hosts:
        _check_host(experiment, host)
    table = dict(experiment.raw.get("testbed", {}))
    table["application"] = _applications(list(command), list(dict.fromkeys(hosts)), mpi)
    return type(experiment)({**experiment.raw, "testbed": table}, experiment.path)


def _applications(command: list[str], hosts: list[int], mpi: bool) -> list[dict[str, Any]]:
    """A command on hosts, as the table `[[testbed.application]]`."""
    if mpi:
        first = hosts[0] if hosts else 0
        return [{"kind": "mpi", "from": first, "hosts": hosts, "command": command}]
    return [{"kind": "command", "from": host, "command": command} for host in hosts or [0]]


def _check_host(experiment: Experiment, host: int) -> None:
    cluster = experiment.resolved()["cluster"]
    hosts = cluster["racks"] * cluster["servers_per_rack"]
    if not 0 <= host < hosts:
        limit = f"the hosts are 0 to {hosts - 1}"
        raise refusal("--host", host, limit, "name one of them")


def _only(name: str | None) -> str:
    from lightloom.testbed import namespaces

    names = namespaces.names()
    if name is None and len(names) == 1:
        return names[0]
    if name in names and name is not None:
        return name
    if not names:
        remedy = "start one with `lightloom testbed up EXPERIMENT.toml`"
        raise refusal("--name", name or "(missing)", "no testbed is up", remedy)
    known = f"name one of {', '.join(names)}"
    limit = "several testbeds are up" if name is None else "no such testbed is up"
    raise refusal("--name", name or "(missing)", limit, known)


def _space(name: str, host: int) -> str:
    from lightloom.testbed import namespaces

    def place(space: str) -> tuple[int, int]:
        rack, number = space.rsplit("-", 2)[1:]
        return int(rack), int(number)

    spaces = [space for space in namespaces.existing(name) if not space.endswith("-fabric")]
    ordered = sorted(spaces, key=place)
    if not 0 <= host < len(ordered):
        raise refusal("HOST", host, f"the hosts are 0 to {len(ordered) - 1}", "name one of them")
    return ordered[host]


@contextmanager
def _guarded() -> Iterator[None]:
    with console.guarded():
        try:
            yield
        except RuntimeError as problem:
            console.stop(str(problem), EXIT_FAILED)
        except OSError as problem:
            if problem.filename is not None or isinstance(problem, BrokenPipeError | WriteError):
                raise
            console.stop(f"testbed: {problem}", EXIT_FAILED)


@contextmanager
def _told(quiet: bool) -> Iterator[Callable[[float, str], None]]:
    """Shows a line of progress on a terminal; nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda now, what: None
        return
    with console.err().status("building the testbed") as shown:
        yield lambda now, what: shown.update(f"{now:.0f} s: {what}")
