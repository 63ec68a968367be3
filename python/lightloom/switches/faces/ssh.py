"""The SSH face: SONiC's command line, with one command in each channel or as a shell."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncssh

from lightloom.switches.access import Credentials
from lightloom.switches.config import Face
from lightloom.switches.faces import _ssh
from lightloom.switches.faces._streams import IDLE_S
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
        except (asyncssh.Error, ConnectionError):  # the client has gone
            return
        channel.exit(code)

    return await _ssh.listen(host, credentials, address, face, process)


async def _serve(cli: Cli, channel: asyncssh.SSHServerProcess[str]) -> int:
    if channel.command is not None:
        answer = await cli.run(channel.command)
        await _ssh.send(channel, answer.text)  # sonic-mgmt's tests read this stream only
        return answer.code
    code = 0
    await _ssh.send(channel, PROMPT)
    while True:
        try:
            line = await asyncio.wait_for(channel.stdin.readuntil("\n"), IDLE_S)
        except asyncssh.BreakReceived:
            continue
        except (asyncssh.TerminalSizeChanged, asyncssh.SignalReceived):
            continue
        except TimeoutError:
            raise
        except Exception:  # the input has ended, or a line is too long
            return code
        if len(line) > LONGEST:
            channel.stderr.write("Error: command too long\n")
            return 2
        if line.strip() in ("exit", "logout"):
            return code
        answer = await cli.run(line)
        code = answer.code
        await _ssh.send(channel, answer.text + PROMPT)
