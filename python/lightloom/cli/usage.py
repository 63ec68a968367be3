"""Errors about arguments have the form of errors about keys: one line with the argument, its value,
the limit and the remedy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from lightloom.cli import console
from lightloom.cli.loading import OnUse
from lightloom.errors import ConfigError

#: The exception of typer for a command line that it cannot parse.
Unreadable: Any = typer.BadParameter.__base__
#: The exception if no command is given, which is answered by the help.
HELP = "NoArgsIsHelpError"
NUMBERS = {
    "int": "a whole number",
    "integer": "a whole number",
    "number": "a number",
    "float": "a number",
}


class Commands(TyperGroup):
    """The commands, each imported when it is called; their errors have one style."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: OnUse = OnUse(dict(self.context_settings))

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, in the order of the help; imports nothing."""
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Writes the help without importing commands."""
        with self.commands.listing():
            super().format_help(ctx, formatter)

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Parses the arguments before the command."""
        with _refused(args):
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Parses the command's arguments, and runs it."""
        with _refused(ctx.args, ctx), console.unread():
            return super().invoke(ctx)


@contextmanager
def _refused(args: Sequence[str], root: Any = None) -> Iterator[None]:
    """Prints on one line which of `args` is invalid; `root` is the context of all commands."""
    given = list(args)  # parsing consumes them
    try:
        yield
    except Unreadable as problem:
        if type(problem).__name__ == HELP:
            raise
        words = _typed(root, given) if problem.ctx is None else _words(problem.ctx)
        console.stop(message(problem, given, words), console.EXIT_REFUSED)


def message(problem: Any, args: Sequence[str], words: Sequence[str] = ()) -> str:
    """Returns the limit and the remedy of invalid arguments; `words` are those of the command."""
    param = getattr(problem, "param", None)
    look = f"see `{' '.join(['lightloom', *words, '--help'])}`"
    if param is None:
        return _of_the_line(problem, _bills(problem, args) or look)
    names = [o for o in param.opts if o.startswith("-")]
    name = max(names, key=len) if names else str(param.metavar or param.name).rstrip("…")
    if not str(problem.message or ""):
        return f"{name} = (missing): must be given; {look}"
    value = _given([*param.opts, *param.secondary_opts], args)
    shown = name if value is None else f"{name} = {value}"
    return f"{shown}: {_plain(problem)}; {look}"


def _words(ctx: Any) -> list[str]:
    """The words of the called command, such as `switch change`."""
    if ctx is None or ctx.parent is None:
        return []
    return [*_words(ctx.parent), str(ctx.info_name)]


def _typed(root: Any, args: Sequence[str]) -> list[str]:
    """The words of the called command, if its parser failed before it had a context."""
    words: list[str] = []
    command = None if root is None else root.command
    for word in [] if root is None else [root.invoked_subcommand, *args]:
        below = getattr(command, "commands", {})
        if word not in below:
            break
        words.append(word)
        command = below[word]
    return words


def _of_the_line(problem: Any, look: str) -> str:
    """Returns the error about an option, a command or an additional argument, which is no value."""
    text, option = str(problem.message), getattr(problem, "option_name", None)
    near = sorted(o for o in getattr(problem, "possibilities", None) or [] if o != "--help")
    command = re.fullmatch(r"No such command '(.*?)'\.?(?: Did you mean (.*)\?)?", text)
    if command is not None:
        option, text = f"COMMAND = {command[1]}", "no such command"
        near = [command[2].replace("'", "")] if command[2] else []
    elif option is not None and text.lower().startswith("no such option"):
        text = "no such option"
    elif option is not None:
        text = re.sub(r"^[Oo]ption '\S+' ", "", text).rstrip(".")
    else:
        text = _plain(problem)
    other = _elsewhere(problem.ctx, option)
    if text == "no such option" and other:
        text, look = f"belongs to `lightloom {other}`, which makes one plan", "leave it out"
    elif near:
        look = f"did you mean {' or '.join(near)}?"
    return f"{text}; {look}" if option is None else f"{option}: {text}; {look}"


def _bills(problem: Any, args: Sequence[str]) -> str:
    """Lists the fabrics with bills, if `--bill` has no value."""
    if getattr(problem, "option_name", None) != "--bill":
        return ""
    from lightloom.config.experiment import load

    try:
        file = next(a for a in args if a.endswith(".toml"))
        labels = [str(table["label"]) for table in load(file).resolved()["fabric"]]
    except (StopIteration, ConfigError, OSError):
        return "write the label of a fabric, or all"
    return f"write one of {', '.join(labels)}, or all"


def _elsewhere(ctx: Any, option: str | None) -> str | None:
    """The command that has an option which the called command does not have; `plan` has the rules
    for one plan."""
    if ctx is None or ctx.parent is None or ctx.info_name != "replay-demand":
        return None
    plan = ctx.parent.command.get_command(ctx.parent, "plan")
    return "plan" if any(option in param.opts for param in plan.params) else None


def _plain(problem: Any) -> str:
    """Describes the error in plain words; a type by the values that it accepts."""
    text = str(problem.message)
    for name, takes in NUMBERS.items():
        if re.search(rf"\bvalid {name}\b", text):
            return f"must be {takes}"
    return f"{text[:1].lower()}{text[1:].rstrip('.')}"


def _given(names: Sequence[str], args: Sequence[str]) -> str | None:
    """The text that was typed for an option."""
    for place, argument in enumerate(args):
        if argument in names and place + 1 < len(args):
            return args[place + 1]
        name, equals, value = argument.partition("=")
        if equals and name in names:
            return value
    return None
