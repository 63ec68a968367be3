"""The SSH face: SONiC's command line as one command a channel, or as a shell."""

from __future__ import annotations

from typing import Any

import asyncssh

from lightloom.switches.access import Credentials
from lightloom.switches.config import Face
from lightloom.switches.faces import _ssh
from lightloom.switches.faces._sonic_text import Answer
from lightloom.switches.faces.sonic_cli import LONGEST, Cli
from lightloom.switches.host import AwayError, CutError, Host

PROMPT = "admin@sonic:~$ "


async def listen(
    host: Host, credentials: Credentials, address: str, face: Face
) -> asyncssh.SSHAcceptor:
    """Serves SONiC's command line."""
    cli = Cli(host, face.options["generation"])

    async def process(channel: asyncssh.SSHServerProcess[str]) -> None:
        try:
            code = await _serve(cli, channel)
        except (CutError, AwayError):
            connection: Any = channel.get_extra_info("connection")
            connection.abort()
            return
        except (asyncssh.Error, ConnectionError):
            return
        channel.exit(code)

    return await _ssh.listen(host, credentials, address, face, process)


async def _serve(cli: Cli, channel: asyncssh.SSHServerProcess[str]) -> int:
    if channel.command is not None:
        answer = await cli.run(channel.command)
        _print(channel, answer)
        return answer.code
    code = 0
    channel.stdout.write(PROMPT)
    while True:
        try:
            line = await channel.stdin.readuntil("\n")
        except asyncssh.BreakReceived:
            continue
        except (asyncssh.TerminalSizeChanged, asyncssh.SignalReceived):
            continue
        except Exception:  # the end of the input, or a line without an end
            return code
        if len(line) > LONGEST:
            channel.stderr.write("Error: command too long\n")
            return 2
        if line.strip() in ("exit", "logout"):
            return code
        answer = await cli.run(line)
        _print(channel, answer)
        code = answer.code
        channel.stdout.write(PROMPT)


def _print(channel: asyncssh.SSHServerProcess[str], answer: Answer) -> None:
    channel.stdout.write(answer.text)  # sonic-mgmt's tests read no other
