"""A small experiment, and the command line as users start it."""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

ROOT = Path(__file__).resolve().parents[2]

SMALL = """
[cluster]
racks = 8
servers_per_rack = 2
rack_rate = "100 Gb/s"

[workload]
arrivals = "poisson"
load = 0.5
sizes = { kind = "exponential", mean = "20 KB" }
pattern = "uniform"
flows = 400

[run]
seed = 3
"""
SIRIUS = '\n[[fabric]]\nkind = "sirius"\nuplinks = 2\n'
CLOS = '\n[[fabric]]\nkind = "clos"\n'


def write(path: Path, *parts: str) -> Path:
    """Writes an experiment that consists of these parts."""
    path.write_text("".join(parts), encoding="utf-8")
    return path


def lightloom(
    *arguments: object, cwd: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command without a terminal, in a separate process."""
    return SERVER.run([str(one) for one in arguments], cwd, environment_with(environment))


class Server:
    """The process of `cli_server`, which is started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None

    def run(
        self, arguments: list[str], cwd: Path, environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Returns the result of `subprocess.run`, for a copy that has loaded the command line."""
        if self._line is None:
            self._line = self._begun()
        asked = {"arguments": arguments, "cwd": str(cwd), "environment": environment}
        with TemporaryFile() as out, TemporaryFile() as err:
            files = [out.fileno(), err.fileno()]
            socket.send_fds(self._line, [json.dumps(asked).encode()], files)
            status = self._status(self._line)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode(environment.get("PYTHONIOENCODING", "utf-8")))
        code = os.waitstatus_to_exitcode(status)
        return subprocess.CompletedProcess(["lightloom", *arguments], code, *texts)

    def _begun(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            program = Path(__file__).with_name("cli_server.py")
            self._folder = TemporaryDirectory()
            line = [sys.executable, str(program), self._folder.name]
            self._process = subprocess.Popen(line, stdin=theirs)
        atexit.register(self.end)
        return ours

    def _status(self, line: socket.socket) -> int:
        line.settimeout(STARTS_S)
        with line.makefile("rb") as replies:
            child = int(replies.readline())
            line.settimeout(ENDS_S)
            try:
                return int(replies.readline())
            except TimeoutError:
                os.kill(child, signal.SIGKILL)
                self._line = None  # its answer would be read as that of the next request
                raise

    def end(self) -> None:
        """Closes the socket; the process then ends."""
        if self._line is not None and self._process is not None:
            self._line.close()
            self._process.wait(STARTS_S)
            self._folder.cleanup()


#: Largest time to load the command line, and to run a command [s].
STARTS_S, ENDS_S = 60, 120
SERVER = Server()


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "lightloom", *map(str, arguments)]


def environment_with(changes: dict[str, str]) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LIGHTLOOM_VALIDATION")}
    return kept | changes
