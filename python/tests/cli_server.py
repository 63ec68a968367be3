"""A process that has loaded the command line and forks a copy for each command. A command is then a
separate process, with its own signals and streams, and does not repeat the imports.

The process simulates nothing itself, because it must have no threads when it forks. `cli_support`
starts it with a cache folder. A socket on its standard input carries requests in JSON with the two
files of the outputs; the answers are the process id and the exit status of the copy.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import pickle
import runpy
import socket
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def main() -> None:
    """Forks a copy for each request, until the tests end."""
    with socket.socket(fileno=os.dup(0)) as line:
        preload()
        while True:
            request, files, _, _ = socket.recv_fds(line, 1 << 20, 2)
            if not request:
                return
            child = os.fork()
            if child == 0:
                line.close()
                become(json.loads(request), files)
            for file in files:
                os.close(file)
            line.sendall(b"%d\n" % child)
            line.sendall(b"%d\n" % os.waitpid(child, 0)[1])


def preload() -> None:
    """Imports the modules and reads the files that commands use once per process."""
    from lightloom.cli import loading
    from lightloom.config import identity
    from lightloom.plotting import backend_matplotlib
    from lightloom.report import page

    for module in {*loading.HOMES.values(), "comparing", "pdf"}:
        import_module(f"lightloom.cli.{module}")
    for module in ("pandas", "pyarrow.parquet"):
        import_module(module)
    identity.build()
    page.environment().get_template("report.html.j2")
    once: Any = Once(backend_matplotlib.render, Path(sys.argv[1]))
    sys.modules["lightloom.plotting.draw"].backend_matplotlib = once  # type: ignore[attr-defined]
    if threading.active_count() != 1:
        raise SystemExit("a module has started a thread: copies of this process would hang")
    gc.collect()
    gc.freeze()  # objects that the collector skips are not copied


class Once:
    """Draws each figure once, because many tests compare the same small networks, whose figures are
    the same bytes, and drawing takes most of the time of a comparison."""

    def __init__(self, render: Callable[[Any, str], tuple[bytes, bytes]], folder: Path) -> None:
        self._render, self._folder = render, folder

    def render(self, figure: Any, salt: str) -> tuple[bytes, bytes]:
        """Returns SVG and PNG, drawn now or by an earlier copy of this process."""
        asked = pickle.dumps((figure, salt))
        file = self._folder / hashlib.sha256(asked).hexdigest()
        if file.exists():
            drawn: tuple[bytes, bytes] = pickle.loads(file.read_bytes())
            return drawn
        drawn = self._render(figure, salt)
        unfinished = file.with_name(f"{file.name}.{os.getpid()}")
        unfinished.write_bytes(pickle.dumps(drawn))
        unfinished.rename(file)
        return drawn


def become(request: dict[str, object], files: list[int]) -> None:
    """Runs `python -m lightloom` in this process, and ends with its exit status."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, file in enumerate((nothing, *files)):
        os.dup2(file, number)
        os.close(file)
    os.chdir(str(request["cwd"]))
    os.environ.clear()
    os.environ.update(request["environment"])  # type: ignore[call-overload]
    if encoding := os.environ.get("PYTHONIOENCODING"):  # as Python sets it at its start
        sys.stdout.reconfigure(encoding=encoding)  # type: ignore[union-attr]
        sys.stderr.reconfigure(encoding=encoding)  # type: ignore[union-attr]
    sys.argv = ["lightloom", *request["arguments"]]  # type: ignore[misc]
    runpy.run_module("lightloom", run_name="__main__", alter_sys=True)
    raise SystemExit(0)


if __name__ == "__main__":
    main()
