"""The help of `plan`: the common options, and with `-a ALGORITHM` all options of that algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from typer.core import TyperCommand

from lightloom.cli.plan_options import having
from lightloom.errors import ConfigError

COMMON = {
    *("demand", "algorithm", "out", "picture", "json", "help"),
    *("unit", "format", "as_", "port_map", "diff", "apply", "down"),
}
"""Names of the arguments in the help without an algorithm."""
MORE = """lightloom plan -a ALGORITHM --help shows all options with that algorithm;
lightloom explain policy.NAME its parameters with their sources."""
GIVEN = "lightloom.given"
"""Key of a context under which the arguments are stored as typed."""


class WithPolicies(TyperCommand):
    """`plan`, whose help depends on the algorithm."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the arguments, and stores them for the help."""
        ctx.meta[GIVEN] = tuple(args)
        return list(super().parse_args(ctx, args))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Prints the help of the common options, or of one algorithm."""
        named = algorithm(ctx.meta.get(GIVEN, ()))
        shown = copy(self)
        shown.params = [_shown(p, named) for p in self.get_params(ctx) if p.name != "help"]
        shown.help = _about(self.help or "", named)
        super(WithPolicies, shown).format_help(ctx, formatter)


def algorithm(args: Sequence[str]) -> str | None:
    """The value of `-a` or `--algorithm` in arguments.

    >>> algorithm(["d.csv", "-a", "edmonds", "--help"]), algorithm(["--algorithm=bvn"])
    ('edmonds', 'bvn')
    >>> algorithm(["d.csv", "-a"]), algorithm(["-abvn"])
    (None, 'bvn')
    """
    for place, arg in enumerate(args):
        if arg in ("-a", "--algorithm"):
            return args[place + 1] if place + 1 < len(args) else None
        if arg.startswith("--algorithm="):
            return arg.partition("=")[2]
        if arg.startswith("-a") and not arg.startswith("--"):
            return arg[2:]
    return None


def _about(text: str, named: str | None) -> str:
    """The text above the options: of one algorithm without the list of all."""
    if named is None:
        return f"{text.rstrip()}\n\n{MORE}"
    first = text.partition("\n")[0]
    policy = _find(named)
    return first if policy is None else f"{first}\n\n{named}: {policy.summary}"


def _shown(param: Any, named: str | None) -> Any:
    """Returns the argument, hidden if this help leaves it out."""
    if param.name not in _names(named):
        param = copy(param)
        param.hidden = True
    return param


def _names(named: str | None) -> set[str]:
    """The arguments that this help shows."""
    if named is None:
        return COMMON
    policy = _find(named)
    of_policies, every = having(), _all_names()
    own = {key for key in of_policies if policy is not None and policy in of_policies[key]}
    return (every - of_policies.keys()) | own


def _all_names() -> set[str]:
    """The names of the arguments of `plan` itself and of all policies."""
    from lightloom.cli.plan import plan

    return {*plan.__annotations__}


def _find(named: str) -> Any:
    """Returns the policy of this name; None for an unknown name, and for a file of the user's."""
    from lightloom.policies.registry import find

    try:
        return find(named)
    except ConfigError:
        return None
