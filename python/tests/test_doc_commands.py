"""Every command of the documentation is parsed by the command line.

The short ones are run, one after another on each page, and print the output that the page shows.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from cli_support import ROOT, lightloom
from doc_support import Block, blocks, blocks_of, copy_examples
from typer.core import TyperGroup
from typer.main import get_command

from lightloom.cli import app

UsageError = typer.BadParameter.__mro__[1]
"""The exception of the parser."""
OTHERS = ("pip install ", "curl ", "printf ", "export ", "source ")
"""Programs of other projects."""
SHORT = {"plan", "replay-demand", "cost", "devices", "explain"}
"""Commands that take a second or two."""
NOT_RUN = {
    "DESIGN.toml": "stands for a file of the reader",
    "demand.json": "what Prometheus answers",
    "query.json": "run by test_operator_path",
    "--replay": "of a run's log, by test_plan_replays",
    "--algorithm tms": "a name that stands for a policy",
    "demand.csv": "stands for a file of the reader",
    "counters.json": "what Prometheus answers",
    "--apply": "needs a switch that serves",
    "threshold.py": "run by test_policies and test_contributing",
}
"""Parts of short commands that are only parsed, with the reason."""
READERS_FILES = {"DESIGN.toml", "my_policy.py", "threshold.py"}
EXAMPLE = re.compile(r"\b(?:examples|scripts)/[\w./-]+")


def commands(block: Block) -> list[str]:
    """Returns the lines of a block, with continuation lines joined, and without comments."""
    text = block.text.replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines()]
    if block.language == "console":
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    words = [shlex.split(line, comments=True) for line in quoted_whole(lines)]
    return [shlex.join(each) for each in words if each]


def quoted_whole(lines: list[str]) -> Iterator[str]:
    """Joins lines within quotations."""
    whole = ""
    for line in lines:
        whole = f"{whole} {line}".strip()
        try:
            shlex.split(whole, comments=True)
        except ValueError:
            continue
        yield whole
        whole = ""
    assert not whole


def of_lightloom(command: str) -> list[str] | None:
    """Returns the arguments if the command is Lightloom's."""
    words = shlex.split(command)
    if words[0] == "sudo":
        words = words[1:]
    return words[1:] if Path(words[0]).name == "lightloom" else None


ALL = [(block, command) for block in blocks("sh", "console") for command in commands(block)]


def test_there_are_commands() -> None:
    assert sum(of_lightloom(command) is not None for _, command in ALL) > 60
    unused = [part for part in NOT_RUN if not any(part in command for _, command in ALL)]
    assert unused == []


@pytest.mark.parametrize(("block", "command"), ALL, ids=[f"{b}-{c[:40]}" for b, c in ALL])
def test_a_command_is_parsed(block: Block, command: str) -> None:
    for name in EXAMPLE.findall(command):
        assert (ROOT / name).exists(), name
    arguments = of_lightloom(command)
    if arguments is not None:
        parse(arguments)
    elif "make " in command:
        targets = (ROOT / "Makefile").read_text(encoding="utf-8")
        target = command.partition("make ")[2].split()[0]
        assert f"\n{target}: " in targets
    elif command.startswith("FABRIC=") or " cargo test " in command:
        assert "--test invariants" in command
    else:
        known = command.startswith(OTHERS) or EXAMPLE.search(command)
        assert known, f"{block}: what reads this? add it here"


def parse(arguments: list[str]) -> None:
    """Parses the arguments without calling a command."""
    command, rest = get_command(app), arguments
    context = command.make_context("lightloom", ["--", *arguments], resilient_parsing=True)
    while isinstance(command, TyperGroup):
        name, found, rest = command.resolve_command(context, rest)
        if found is None:
            raise LookupError(f"{rest}: no such command")
        command = found
        if isinstance(command, TyperGroup):
            context = command.make_context(name, rest, parent=context, resilient_parsing=True)
    command.make_context(command.name, [*rest], parent=None)


@pytest.mark.parametrize("wrong", ["pln x", "run examples/sirius.toml --nope", "circuits look"])
def test_what_the_command_line_does_not_have_is_refused(wrong: str) -> None:
    with pytest.raises((LookupError, UsageError)):
        parse(wrong.split())


def is_short(command: str) -> bool:
    arguments = of_lightloom(command)
    if not arguments or (arguments[0] not in SHORT and "--dry-run" not in arguments):
        return False
    return not any(part in command for part in NOT_RUN)


PAGES = sorted({block.page for block, command in ALL if is_short(command)})


@pytest.mark.parametrize("page", PAGES)
def test_short_commands_of_a_page_run(page: str, tmp_path: Path) -> None:
    """The output of a block is in the next block, if that is an output, or below the command; `…`
    stands for omitted lines."""
    copy_examples(tmp_path)
    printed = ""
    for block in blocks_of(ROOT / page):
        if block.language in ("sh", "console"):
            run = [command for command in commands(block) if is_short(command)]
            printed = "".join(printed_by(command, block, tmp_path) for command in run)
            if block.language == "console" and run:
                assert_shown(block.text.partition("\n")[2], printed, block)
        elif block.is_output and printed:
            assert_shown(block.text, printed, block)


def printed_by(command: str, block: Block, folder: Path) -> str:
    done = lightloom(*(of_lightloom(command) or []), cwd=folder)
    is_refused = block.language == "console" and "\nerror: " in block.text
    assert done.returncode == (2 if is_refused else 0), done.stderr
    return done.stdout + done.stderr


def assert_shown(shown: str, printed: str, block: Block) -> None:
    """Checks that the printed text is shown; words may be separated by any white space."""
    at = 0
    words = " ".join(printed.split())
    for part in shown.split("…"):
        text = " ".join(part.split())
        found = words.find(text, at)
        assert found >= 0, f"{block}: {text}\n---\n{printed}"
        at = found + len(text)
