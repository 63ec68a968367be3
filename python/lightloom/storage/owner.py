"""Who holds a lock: a process, told from later ones of the same number."""

from __future__ import annotations

import json
import os
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Table = dict[str, Any]
#: Letters of a command that are shown.
SHOWN = 160


def me() -> Table:
    """This process, as a lock records it."""
    return {
        "pid": os.getpid(),
        "started": _started(os.getpid()),
        "boot": _boot(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        "command": " ".join([Path(sys.argv[0] or "python").name, *sys.argv[1:]])[:SHOWN],
    }


def read(lock: Path) -> Table:
    """The holder that a lock records; empty where it says nothing."""
    try:
        found = json.loads(lock.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def describe(owner: Table) -> str:
    """The holder, for people."""
    if "pid" not in owner:
        return "another process"
    return f'process {owner["pid"]} ("{owner.get("command")}", since {owner.get("since")})'


def alive(owner: Table) -> bool:
    """Whether the process still runs, as far as this machine can tell. Of another machine it
    cannot, and takes it to run."""
    if owner.get("host") != socket.gethostname():
        return bool(owner)
    pid = owner.get("pid")
    if not isinstance(pid, int) or owner.get("boot") != _boot():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        pass
    return _started(pid) == owner.get("started")


def _boot() -> str | None:
    """Which start of the machine this is."""
    return _text("/proc/sys/kernel/random/boot_id")


def _started(pid: int) -> str | None:
    """When a process began, in ticks since the machine did."""
    text = _text(f"/proc/{pid}/stat")
    return None if text is None else text.rpartition(")")[2].split()[19]


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None
