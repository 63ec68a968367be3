"""An emulated switch in a thread of the test, on free ports of the loopback."""

import asyncio
import socket
import threading
from contextlib import contextmanager

from lightloom.switches.config import setup_of
from lightloom.switches.server import serving

WAIT_S = 20.0


class Served:
    """A served switch, and its ports."""

    def __init__(self, host, ports, loop):
        self.host, self.ports, self._loop = host, ports, loop

    def do(self, act):
        """Calls a function in the thread of the switch."""

        async def call():
            return act()

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result(WAIT_S)

    def strike(self, fault):
        return self.do(lambda: self.host.strike(fault))

    def pairs(self):
        """Returns the cross-connects of the machine."""
        machine = self.host.machine
        return self.do(lambda: sorted(one.pair for one in machine.connections(self.host.now)))


@contextmanager
def served(*faces, options=None, **keys):
    """Serves a switch with these faces, each on a free port."""
    own = options or {}
    table = {"timing": {"settle": "5 ms"}, **keys}
    table["faces"] = {face: {"port": 0, **own.get(face, {})} for face in faces}
    setup = setup_of(table)
    ready, over = threading.Event(), None
    found = []

    async def serve():
        nonlocal over
        over = asyncio.Event()
        async with serving(setup) as (host, ports):
            found.append(Served(host, ports, asyncio.get_running_loop()))
            ready.set()
            await over.wait()

    failed = []

    def body():
        try:
            asyncio.run(serve())
        except BaseException as problem:  # told to the test
            failed.append(problem)
            ready.set()

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    assert ready.wait(WAIT_S)
    if failed:
        raise failed[0]
    try:
        yield found[0]
    finally:
        found[0].do(lambda: over.set())
        thread.join(WAIT_S)
        assert not thread.is_alive()


def tcp(port):
    """Opens a plain TCP connection."""
    return socket.create_connection(("127.0.0.1", port), WAIT_S)


def ask(port, text, size=65536):
    """Sends text on a new connection, and returns the data that arrives until the connection is
    idle."""
    with tcp(port) as line:
        line.sendall(text if isinstance(text, bytes) else text.encode())
        line.settimeout(WAIT_S)
        return line.recv(size).decode()
