"""A running testbed: namespaces, a plane and a controller. It is always removed at the end."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import TracebackType

from lightloom import _core
from lightloom.errors import refusal
from lightloom.testbed import folders, guardian, namespaces, open_vswitch, shell
from lightloom.testbed.host import Plane, RealTimeHost
from lightloom.testbed.kernel import KernelPlane
from lightloom.testbed.setup import Setup
from lightloom.testbed.user import UserPlane


class TakenDownError(OSError):
    """Another command has removed the testbed."""


class Testbed:
    """Racks of hosts in network namespaces, and the emulated fabric between them.

    A context manager: it creates everything on entry and removes everything at the end.

    >>> from lightloom.testbed import Testbed
    >>> Testbed.__name__
    'Testbed'
    """

    __test__ = False  # its name begins as those of tests do

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.folder: Path
        """Output of applications and scripts; removed with the testbed."""
        self.plane: Plane
        self.host: RealTimeHost

    def __enter__(self) -> Testbed:
        """Creates namespaces, links, the plane and the controller.

        Raises:
            ConfigError: without the required rights, without a tool, or if the name is in use.
            RuntimeError: if a tool fails.
            OSError: if the kernel refuses.
        """
        shell.check_rights()
        for tool in ("ip", "tc", "chrt", "setpriv", "setsid"):
            shell.tool_path(tool)
        if self.setup.plane == "kernel" and not _core.TESTBED_KERNEL_PLANE:
            limit = "missing when Lightloom was built"
            remedy = "install Debian's package clang, and build Lightloom again"
            raise refusal("testbed", "clang", limit, remedy)
        name = self.setup.layout.name
        if namespaces.existing(name):
            remedy = f"lightloom testbed down {name}, or another --name"
            raise refusal("--name", name, "a testbed of this name is up", remedy)
        if self.setup.has_server_rules:
            open_vswitch.check_tools()
        self.folder = folders.make(name)
        try:
            self._guardian = guardian.begin(name, self.folder)
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        try:
            namespaces.make(self.setup.layout)
            user = self.setup.plane == "user"
            self.plane = UserPlane(self.setup) if user else KernelPlane(self.setup, self.folder)
            self.host = RealTimeHost(self.setup, self.plane)
        except BaseException:
            self._down()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._down()

    def check_up(self) -> None:
        """Checks that the testbed is up; the caller that drives the testbed calls it repeatedly.

        Raises:
            ConfigError: if the policy fails.
            TakenDownError: if another command has taken it down.
            OSError: if it no longer carries packets.
        """
        if self.host.trouble is not None:
            raise self.host.trouble
        if not (shell.NAMESPACES / self.setup.layout.fabric).exists():
            raise TakenDownError(f"{self.setup.layout.name} was taken down by another command")
        if not self.plane.is_alive():
            raise OSError("the data plane has ended")

    def _down(self) -> None:
        try:
            if hasattr(self, "plane"):
                self.plane.stop()
        finally:
            # Also if the plane has failed and raises its error now.
            namespaces.remove(self.setup.layout.name)
            shutil.rmtree(self.folder, ignore_errors=True)
            # The guardian has nothing left to remove; it ends when its pipe is closed.
            self._guardian.communicate(timeout=10)
