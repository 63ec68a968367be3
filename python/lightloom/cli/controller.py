"""`controller`: the service that changes circuits of real switches."""

from __future__ import annotations

import gc
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from lightloom.cli import console
from lightloom.errors import refusal

commands = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
tokens = typer.Typer(no_args_is_help=True, add_completion=False)
commands.add_typer(tokens, name="token", help="Add, list and revoke tokens of the interface.")

File = Annotated[Path, typer.Argument(metavar="CONTROLLER.toml")]
NEEDED = ("fastapi", "uvicorn", "sqlalchemy", "prometheus_client", "sse_starlette")


@commands.callback()
def controller() -> None:
    """Run the controller of optical circuit switches, and manage its tokens."""


@commands.command()
def serve(file: File) -> None:
    """Run the controller until it is interrupted."""
    with console.guarded():
        check_packages()
        # Loaded modules stay in use; searching them for garbage would take a seventh of a restart.
        gc.disable()
        from lightloom.controller.config import read_config
        from lightloom.controller.run import serve as run

        gc.freeze()
        gc.enable()
        run(read_config(file), console.say)


@commands.command()
def check(file: File) -> None:
    """Check a configuration, its port maps, policy and store, and read every switch."""
    with console.guarded():
        check_packages()
        from lightloom.controller.config import read_config
        from lightloom.controller.database import check_database
        from lightloom.controller.service import Controller
        from lightloom.controller.store import Store

        config = read_config(file)
        check_database(config.store_url)
        made = Controller(config, Store("sqlite://", time.time))
        made.read()
        for one in made.switches.values():
            said = one.trouble or f"{len(one.lit)} cross-connects are lit"
            console.say(f"{one.name}: {said}")
        if any(one.trouble for one in made.switches.values()):
            raise typer.Exit(1)


@tokens.command()
def add(
    file: File,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    scope: Annotated[
        list[str], typer.Option(help="read, plan, reserve, apply or admin. Repeat for more.")
    ],
    expires: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time until it expires, such as 30 d.")
    ] = None,
) -> None:
    """Create a token and print it; its text is not stored anywhere else."""
    with console.guarded():
        from lightloom.controller.tokens import add_token
        from lightloom.units.durations import duration_ps

        until = None if expires is None else time.time() + duration_ps("expires", expires) / 1e12
        made = add_token(_store(file), name, scope, "command line", until, time.time())
        console.say(made)


@tokens.command(name="list")
def list_tokens(file: File) -> None:
    """List all tokens by their names."""
    with console.guarded():
        from lightloom.controller import schema

        for row in _store(file).rows(schema.token):
            state = "revoked" if row["revoked"] else "valid"
            if row["expires"] and row["expires"] <= time.time():
                state = "expired"
            console.say(f"{row['name']}: {row['scopes']} ({state})")


@tokens.command()
def revoke(file: File, name: Annotated[str, typer.Argument(metavar="NAME")]) -> None:
    """Make a token invalid."""
    with console.guarded():
        from lightloom.controller.tokens import revoke_token

        revoke_token(_store(file), name, "command line", time.time())


def _store(file: Path):  # type: ignore[no-untyped-def]
    check_packages()
    from lightloom.controller.config import read_config
    from lightloom.controller.store import Store

    return Store(read_config(file).store_url, time.time)


def check_packages() -> None:
    """Raises an error if the packages of the optional extra are missing.

    Raises:
        ConfigError: naming the extra.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        limit = "the controller needs them"
        remedy = "pip install 'lightloom[controller]'"
        raise refusal("package", ", ".join(missing), limit, remedy)
