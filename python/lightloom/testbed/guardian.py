"""A process that removes a testbed when the process that created it has ended, for whatever reason.

Its standard input is a pipe whose other end the creator holds, so that the pipe is closed when the
creator ends, even by SIGKILL. It is not a child of the creator, because a command that takes long
to end after a signal is killed together with all of its children.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from lightloom.testbed import shell


def begin(name: str, folder: Path) -> subprocess.Popen[bytes]:
    """Starts the guardian of a testbed and of its folder.

    Returns:
        The process; `communicate` closes the pipe and waits until the guardian has ended.

    Raises:
        ConfigError: without setsid.
    """
    command = [sys.executable, "-m", "lightloom.testbed.guardian", name, str(folder)]
    package = str(Path(__file__).parents[2])
    begun = subprocess.Popen(
        [shell.tool_path("setsid"), "--fork", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH": package},
    )
    begun.wait(timeout=10)
    return begun


def main(name: str, folder: str) -> None:
    """Waits for the end of the pipe, then removes the testbed and its folder."""
    from lightloom.testbed import namespaces

    sys.stdin.buffer.read()
    namespaces.remove(name)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
