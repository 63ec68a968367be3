"""Text over TCP: receives one message up to a delimiter at a time, with limits of length and
time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

from lightloom.switches.host import AwayError, Client, CutError, Host, SilentError

LONGEST = 64 << 10
"""The longest message [bytes]: 1,024 cross-connects need 10 kB."""
IDLE_S = 600.0
"""A connection without a message for this long is closed [s]."""
WRITE_S = 30.0
"""A client that does not read its answers for this long is disconnected [s]."""


class Session:
    """One connection of a client."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delimiter: bytes
    ) -> None:
        self._reader, self._writer, self._delimiter = reader, writer, delimiter

    async def messages(self) -> AsyncIterator[str]:
        """Yields each message without its delimiter, until the client disconnects.

        Raises:
            ValueError: if a message is too long or is not text.
        """
        while True:
            try:
                waiting = self._reader.readuntil(self._delimiter)
                raw = await asyncio.wait_for(waiting, IDLE_S)
            except asyncio.LimitOverrunError:
                raise ValueError(f"a message of more than {LONGEST} bytes") from None
            except (asyncio.IncompleteReadError, TimeoutError, ConnectionError):
                return
            yield raw[: -len(self._delimiter)].decode("ascii")

    async def send(self, text: str) -> None:
        """Sends text as it is."""
        self._writer.write(text.encode("ascii", "replace"))
        await asyncio.wait_for(self._writer.drain(), WRITE_S)


def _cut(writer: asyncio.StreamWriter, task: asyncio.Task[object] | None) -> None:
    """Closes a connection.

    Before Python 3.12, `wait_for` may swallow a cancellation that arrives as its future completes,
    so the transport is closed, too.
    """
    writer.transport.abort()
    if task is not None:
        task.cancel()


Serve = Callable[[Session], Awaitable[None]]


async def start(
    host: Host, address: str, port: int, delimiter: bytes, serve: Serve, error: str
) -> asyncio.Server:
    """Listens.

    Args:
        host: the switch.
        address: of this machine.
        port: 0 for a free one.
        delimiter: ends a message.
        serve: answers the messages of one connection.
        error: sent before a connection with broken framing is closed; `{}` has the reason.
    """

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        client = Client(lambda: _cut(writer, task))
        session = Session(reader, writer, delimiter)
        try:
            host.enter(client)
            await serve(session)
        except SilentError:
            with suppress(ConnectionError):
                while await reader.read(LONGEST):
                    pass
        except (CutError, AwayError, ConnectionError, TimeoutError, asyncio.CancelledError):
            writer.transport.abort()
        except ValueError as problem:  # includes UnicodeDecodeError
            reason = "not ASCII" if isinstance(problem, UnicodeDecodeError) else str(problem)
            with suppress(ConnectionError, TimeoutError):
                await session.send(error.format(reason))
        finally:
            host.leave(client)
            writer.close()

    return await asyncio.start_server(connected, address, port, limit=LONGEST)
