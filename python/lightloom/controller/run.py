"""The controller as a process: its loop on one thread, the HTTP interface on another."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from sqlalchemy.exc import SQLAlchemyError

from lightloom.controller.api import app_of
from lightloom.controller.config import LEAST_INTERVAL_S, ControllerTable
from lightloom.controller.database import NO_ROLE, DeposedError
from lightloom.controller.service import Controller
from lightloom.controller.store import Store
from lightloom.controller.transaction_log import Transaction
from lightloom.errors import refusal
from lightloom.storage import signals
from lightloom.units.durations import duration_ps

PAUSE_S = LEAST_INTERVAL_S
WORKERS = 16
"""Number of switches that are read and changed in parallel."""
END_WITHIN_S = 20.0
"""Time for which a stopped controller waits for the end of a change [s]."""
LEFT = "the role is given up; a change under way is finished by the next controller"
CHECK_S = 10.0
"""Pause between two steps of the check of the audit log [s]."""


def serve(config: ControllerTable, say: Callable[[str], None]) -> None:
    """Runs a controller until it is interrupted.

    Raises:
        ConfigError: if the configuration is invalid, or an address is in use.
    """
    store = standby_store(config.store_url)
    controller = Controller(config, store, workers=WORKERS)
    listening = _bound(config)
    stop = threading.Event()
    options = uvicorn.Config(
        app_of(controller),
        log_level="warning",
        ssl_certfile=None if config.tls_certificate is None else str(config.tls_certificate),
        ssl_keyfile=None if config.tls_key is None else str(config.tls_key),
        timeout_graceful_shutdown=round(END_WITHIN_S),
    )
    server = uvicorn.Server(options)
    role = Role(store, duration_ps("lease", config.lease) / 1e12)
    renewal = threading.Thread(target=role.keep, args=(stop,), daemon=True)
    loop = threading.Thread(target=Loop(controller, role, say).keep, args=(stop,), daemon=True)
    checking = threading.Thread(target=check_log, args=(store, stop), daemon=True)
    scheme = "http" if config.tls_certificate is None else "https"
    say(f"{config.name}: {scheme}://{config.host}:{listening.getsockname()[1]} (Ctrl-C ends it)")
    renewal.start()
    loop.start()
    checking.start()
    signals.leaves(LEFT, 3 * END_WITHIN_S)
    try:
        server.run(sockets=[listening])
    finally:
        stop.set()
        loop.join(timeout=END_WITHIN_S)
        renewal.join(timeout=5)
        checking.join(timeout=5)
        if not loop.is_alive() and not renewal.is_alive():
            # Otherwise a change is in progress, which the next controller completes after the end
            # of the lease.
            role.leave()
        store.close()


def check_log(store: Store, stop: threading.Event) -> None:
    """Checks the audit log repeatedly, a few thousand records at a time."""
    while not stop.wait(CHECK_S):
        try:
            store.check_on()
        except SQLAlchemyError:
            # The loop and `/healthz` report this.
            continue


def standby_store(url: str) -> Store:
    """A store that refuses writes until its controller takes the role, so that the HTTP interface
    can answer before."""
    store = Store(url, time.time)
    store.fence = NO_ROLE
    return store


def _bound(config: ControllerTable) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((config.host, config.port))
    except OSError as problem:
        made.close()
        said = (problem.strerror or str(problem)).lower()
        raise refusal("listen", config.listen, said, "choose another port") from None
    return made


class Role:
    """The role of the active controller.

    A separate thread renews it, because a change may take longer than the lease.
    """

    def __init__(self, store: Store, lease_s: float, holder: str | None = None) -> None:
        """Creates the object without taking the role.

        Args:
            store: contains the role.
            lease_s: time for which the role is held without a renewal.
            holder: name of this controller; default: host and process.
        """
        self._store = store
        self._lease_s = lease_s
        self.holder = holder or f"{socket.gethostname()}:{os.getpid()}"
        self.held = False
        """Whether this controller was active at the last renewal."""

    def keep(self, stop: threading.Event) -> None:
        """Takes the role or extends it, three times in each lease."""
        while not stop.is_set():
            self.renew()
            stop.wait(min(PAUSE_S, self._lease_s / 3))

    def renew(self) -> None:
        """Takes the role or extends it, if no other controller holds it."""
        try:
            self.held = self._store.take_role(self.holder, self._lease_s)
        except SQLAlchemyError:
            # A controller without its store must not act.
            self.held = False

    def leave(self) -> None:
        """Gives up the role when this controller ends."""
        if self.held:
            with suppress(SQLAlchemyError):
                self._store.leave_role()
        self.held = False


def _text(problem: BaseException) -> str:
    """The kind of an error, and the first line of its text."""
    return f"{type(problem).__name__}: {next(iter(str(problem).splitlines()), '')}"


class Loop:
    """Recovers once the role is held, then reconciles at every interval."""

    def __init__(
        self,
        controller: Controller,
        role: Role,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Creates the loop without starting it.

        Args:
            controller: reads and changes the switches.
            role: role of the active controller.
            say: function that prints a line.
            clock: a monotonic clock in seconds.
        """
        self._controller = controller
        self._role = role
        self._say = say
        self._clock = clock
        self._interval_s = duration_ps("interval", controller.config.interval) / 1e12
        self._is_active, self._next_at = False, 0.0
        self._is_standby = False
        controller.announce = self._say_made
        controller.collector.unmapped.say = say

    def keep(self, stop: threading.Event) -> None:
        """Takes turns until it is stopped."""
        while not stop.is_set():
            self.turn()
            stop.wait(PAUSE_S)

    def turn(self) -> None:
        """Carries out the actions that are due now."""
        if not self._role.held:
            if self._is_active:
                self._controller.stand_by()
            self._is_active = False
            self._say_standby()
            return
        self._is_standby = False
        if self._is_active and self._clock() < self._next_at:
            return
        was_active, self._is_active = self._is_active, True
        self._next_at = self._clock() + self._interval_s
        try:
            if not was_active:
                for one in self._controller.start():
                    self._say(f"transaction {one.id} of {one.switch} was left open: {one.state}")
            for one in self._controller.cycle():
                self._say_made(one)
            self._controller.failure = self._failure()
        except DeposedError:
            self._is_active = False
            self._controller.stand_by()
        except Exception as problem:  # a bug must not end the loop silently
            self._controller.failure = self._failure() or _text(problem)
            again = f"it is tried again in {self._interval_s:g} s"
            self._say(f"the loop failed: {self._controller.failure}; {again}")

    def _failure(self) -> str | None:
        """The switches whose last pass failed, with their errors; None if there are none."""
        found = [f"{name}: {_text(problem)}" for name, problem in self._controller.failed.items()]
        return "; ".join(found) or None

    def _say_made(self, one: Transaction) -> None:
        about = f"transaction {one.id} of {one.switch} for {one.who}: {one.state} {one.reason}"
        self._say(about.rstrip())

    def _say_standby(self) -> None:
        """Prints once that another controller is active, or was active until it stopped."""
        if self._is_standby:
            return
        try:
            holder = self._controller.store.holder()
        except SQLAlchemyError:
            # `/healthz` reports this; the loop continues when the database answers.
            return
        if holder in (None, self._role.holder):
            return
        self._is_standby = True
        self._say(
            f"standby: {holder} is active, or its lease has not ended; this controller takes over "
            "after that"
        )
