"""The folder of a testbed: output of applications, scripts, databases and sockets of switches."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "lightloom-testbed-"


def make(name: str) -> Path:
    """Creates the folder of a testbed in the folder for temporary files, accessible only to
    root."""
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{name}-"))


def existing(name: str | None = None) -> list[Path]:
    """The folders, created by this user, of the testbed with a name, or of all testbeds."""
    begin = PREFIX if name is None else f"{PREFIX}{name}-"
    place = Path(tempfile.gettempdir())
    found = [path for path in place.glob(f"{begin}*") if not path.is_symlink() and path.is_dir()]
    return sorted(path for path in found if path.stat().st_uid == os.geteuid())


def names() -> list[str]:
    """Names of the testbeds that have a folder."""
    return sorted({path.name.removeprefix(PREFIX).split("-")[0] for path in existing()})


def remove(name: str) -> None:
    """Removes the folders of a testbed."""
    for path in existing(name):
        shutil.rmtree(path, ignore_errors=True)
