"""Commands that are ended by signals: the files that remain, and the time until they end."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from cli_support import command, environment_with

#: Much longer than the second within which a command ends, because test machines are busy.
PATIENCE_S = 10.0


@dataclass(frozen=True)
class End:
    """The end of a command."""

    code: int
    errors: str
    took_s: float
    left: frozenset[str]
    """New files."""
    orphans: tuple[int, ...]
    """Descendants of the command that still run."""


def descendants(process: int) -> set[int]:
    """Returns all descendants of a process, without Python's resource tracker."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                stat = (folder / "stat").read_text().rpartition(") ")[2].split()
            except OSError:
                continue
            if stat[0] != "Z":
                parents[int(folder.name)] = int(stat[1])
    found, old = {process}, set[int]()
    while found != old:
        old = found
        found = found | {child for child, above in parents.items() if above in found}
    return found - {process}


def living(processes: set[int]) -> set[int]:
    """Returns the processes that still run and are not zombies."""
    found = set()
    for process in processes:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0]
        except OSError:
            continue
        if state != "Z":
            found.add(process)
    return found


def busy(process: subprocess.Popen[str], seconds: float) -> None:
    """Waits until a process has used this much processor time."""
    while process.poll() is None:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()
        if (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") > seconds:
            return
        time.sleep(0.05)


def handling(process: subprocess.Popen[str]) -> None:
    """Waits until a command handles signals; until then the interpreter handles them."""
    mask = 1 << (signal.SIGTERM - 1)
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        if int(status.partition("SigCgt:")[2].split()[0], 16) & mask:
            return
        time.sleep(0.01)


def files(folder: Path) -> frozenset[str]:
    """Returns all files and folders below a folder."""
    return frozenset(str(path.relative_to(folder)) for path in folder.rglob("*"))


def ended(
    folder: Path, arguments: list[object], numbers: list[signal.Signals], after_s: float
) -> End:
    """Starts a command, sends it signals after some time, and returns its end."""
    before = files(folder)
    with subprocess.Popen(
        command(*arguments),
        cwd=folder,
        env=environment_with({}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        handling(process)
        time.sleep(after_s)
        family = descendants(process.pid)
        begun = time.monotonic()
        for number in numbers:
            process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        took = time.monotonic() - begun
    until = time.monotonic() + PATIENCE_S
    while (orphans := living(family)) and time.monotonic() < until:
        time.sleep(0.05)
    left = files(folder) - before
    return End(process.returncode, errors, took, left, tuple(sorted(orphans)))
