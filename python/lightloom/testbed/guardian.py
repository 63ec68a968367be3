"""A process that takes a testbed down when the one that made it is gone, however it went.

It is begun with a pipe as its standard input, of which the maker holds the other end: the pipe
ends with the maker, also by SIGKILL.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def begin(name: str, among: Path) -> subprocess.Popen[bytes]:
    """Starts the guardian of a testbed and of its folder, which is among others; it ends after the
    pipe does."""
    command = [sys.executable, "-m", "lightloom.testbed.guardian", name, str(among)]
    package = str(Path(__file__).parents[2])
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH": package},
    )


def main(name: str, among: str) -> None:
    """Waits for the end of the pipe, then removes the testbed and its folder."""
    from lightloom.testbed import folders, namespaces

    sys.stdin.buffer.read()
    namespaces.remove(name)
    folders.remove(name, Path(among))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
