"""The holder of a lock: a process, distinguished from later ones with the same number."""

from __future__ import annotations

import json
import os
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Table = dict[str, Any]
#: Largest number of characters of a command that are shown.
SHOWN = 160


def me() -> Table:
    """This process, in the form of a lock."""
    return {
        "pid": os.getpid(),
        "started": _started(os.getpid()),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        "command": " ".join([Path(sys.argv[0] or "python").name, *sys.argv[1:]])[:SHOWN],
    }


def read(lock: Path) -> Table:
    """The holder in a lock; empty if the lock states none."""
    try:
        found = json.loads(lock.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def describe(owner: Table) -> str:
    """Describes the holder for users."""
    if "pid" not in owner:
        return "another process"
    return f'process {owner["pid"]} ("{owner.get("command")}", since {owner.get("since")})'


def alive(owner: Table) -> bool:
    """Whether the process still runs, as far as this machine can determine. A process on another
    machine is assumed to run."""
    if owner.get("host") != socket.gethostname():
        return bool(owner)
    pid = owner.get("pid")
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # the process belongs to another user
        pass
    return _started(pid) == owner.get("started")


def _started(pid: int) -> str | None:
    """The start of a process, in ticks since the boot."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return text.rpartition(")")[2].split()[19]
