"""Accepts switches and makes all of them apply rules in stages."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from lightloom.errors import refusal
from lightloom.switches.openflow.messages import Messages
from lightloom.switches.openflow.rules import Stage
from lightloom.switches.openflow.session import OpenFlowError, Session

BACKLOG = 256
UNIX = "unix:"


class Listener:
    """An address to which switches connect; a switch is identified by its datapath ID."""

    def __init__(self, address: str, answer_s: float = 5.0, key: str = "listen") -> None:
        """Starts to listen.

        Args:
            address: HOST:PORT, or unix:PATH for switches on this machine.
            answer_s: longest wait for a message of the handshake [s].
            key: the name of the address in error messages.

        Raises:
            ConfigError: if the address is invalid or in use, or os-ken is not installed.
        """
        self._messages = installed_messages(address, key)
        self._answer_s = answer_s
        self._known = threading.Condition()
        self._sessions: dict[int, Session] = {}
        self._unknown: dict[Session, None] = {}
        self._busy: dict[int, threading.Lock] = {}
        self._connections: dict[int, int] = {}
        self._socket = _bound(address, key)
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    @property
    def address(self) -> str:
        """The address to which switches connect."""
        name = self._socket.getsockname()
        return f"{UNIX}{name}" if isinstance(name, str) else f"{name[0]}:{name[1]}"

    def close(self) -> None:
        """Ends all connections and stops listening."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._accepting.join(self._answer_s)
        with self._known:
            sessions = [*self._sessions.values(), *self._unknown]
        for session in sessions:
            session.close()

    def _accept(self) -> None:
        while True:
            try:
                link, _ = self._socket.accept()
            except OSError:
                return
            if link.family != socket.AF_UNIX:
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            session = Session(link, self._messages, self._answer_s)
            with self._known:
                self._unknown[session] = None
            threading.Thread(target=self._serve, args=(session,), daemon=True).start()

    def _serve(self, session: Session) -> None:
        def known(datapath: int) -> None:
            with self._known:
                del self._unknown[session]
                former = self._sessions.get(datapath)
                self._sessions[datapath] = session
                self._connections[datapath] = self._connections.get(datapath, 0) + 1
                self._known.notify_all()
            if former is not None:
                former.close()

        session.serve(known)
        with self._known:
            self._unknown.pop(session, None)
            for datapath in [at for at, one in self._sessions.items() if one is session]:
                del self._sessions[datapath]
            self._known.notify_all()

    def missing(self, datapaths: Sequence[int], until: float) -> list[int]:
        """Waits for switches to connect until a time; returns those that are not connected."""

        def absent() -> list[int]:
            return [one for one in datapaths if one not in self._sessions]

        with self._known:
            while absent() and (left := until - time.monotonic()) > 0:
                self._known.wait(left)
            return absent()

    def connections(self, datapath: int) -> int:
        """Number of times that a switch has connected; 0 if it is not connected now."""
        with self._known:
            return self._connections[datapath] if datapath in self._sessions else 0

    def apply(
        self,
        work: Mapping[int, Sequence[Stage]],
        timeout_s: float,
        check: Callable[[], None] = lambda: None,
    ) -> dict[int, OpenFlowError]:
        """Makes switches apply stages. A stage begins on all switches after each has replied to the
        barrier of the stage before. If a switch fails, it receives no more stages, and others
        continue.

        Args:
            work: datapath ID → stages of the switch.
            timeout_s: longest wait for connections, and for the barriers of each stage [s].

            check: called before each stage; nothing more is sent if it raises.

        Returns:
            Datapath ID → error, for switches that failed.
        """
        with ExitStack() as held:
            # Only one call at a time uses a switch; locks are taken in one order to prevent
            # deadlock.
            for datapath in sorted(work):
                with self._known:
                    lock = self._busy.setdefault(datapath, threading.Lock())
                held.enter_context(lock)
            until = time.monotonic() + timeout_s
            limit = f"not connected to {self.address} after {timeout_s:g} s"
            failed = {one: OpenFlowError(limit) for one in self.missing([*work], until)}
            for at in range(max(map(len, work.values()), default=0)):
                stages = {
                    one: stages[at]
                    for one, stages in work.items()
                    if one not in failed and at < len(stages)
                }
                check()
                failed |= self._apply(stages, time.monotonic() + timeout_s)
            return failed

    def _apply(self, stages: Mapping[int, Stage], until: float) -> dict[int, OpenFlowError]:
        failed, sent = {}, {}
        for one, stage in stages.items():
            with self._known:
                session = self._sessions.get(one)
            try:
                if session is None:
                    raise OpenFlowError("the switch closed the connection")
                sent[one] = (session, session.send(stage))
            except OpenFlowError as problem:
                failed[one] = problem
        for one, (session, xids) in sent.items():
            try:
                session.wait(xids, until)
            except OpenFlowError as problem:
                failed[one] = problem
        return failed


def installed_messages(address: str, key: str = "listen") -> Messages:
    """The encoder and decoder of messages.

    Raises:
        ConfigError: naming the address if os-ken is not installed.
    """
    try:
        return Messages()
    except ImportError:
        remedy = "pip install 'lightloom[openflow]'"
        raise refusal(key, address, "OpenFlow needs os-ken", remedy) from None


def check_address(address: str, key: str = "listen") -> tuple[str, int] | str:
    """Returns host and port of an address, or the path of a Unix socket.

    Raises:
        ConfigError: if the address in `key` is invalid.

    >>> check_address("[::1]:6653"), check_address("unix:/run/of.sock")
    (('::1', 6653), '/run/of.sock')
    """
    if address.startswith(UNIX) and (path := address.removeprefix(UNIX)):
        return path
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        limit = "not an address and a port"
        raise refusal(key, address, limit, "write 127.0.0.1:6653 or unix:PATH")
    return host.strip("[]"), int(port)


def _bound(address: str, key: str) -> socket.socket:
    where = check_address(address, key)
    if isinstance(where, str):
        made = socket.socket(socket.AF_UNIX)
        _remove_unused(Path(where))
    else:
        made = socket.socket(socket.AF_INET6 if ":" in where[0] else socket.AF_INET)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(where)
        made.listen(BACKLOG)
    except OSError as problem:
        made.close()
        said = (problem.strerror or str(problem)).lower()
        raise refusal(key, address, said, "choose another address") from None
    return made


def _remove_unused(path: Path) -> None:
    """Removes the socket file of a process that was killed, which has no listener."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
        except OSError:
            pass
