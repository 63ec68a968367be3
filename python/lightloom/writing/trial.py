"""Whether a folder can be written, asked before anything is computed."""

from __future__ import annotations

import os
from pathlib import Path

from lightloom.errors import refusal


def check_folder(folder: Path, option: str = "-o") -> Path:
    """Refuses a folder that cannot be written or made; changes nothing.

    Raises:
        ConfigError: that names what is in the way.
    """
    above = next((part for part in (folder, *folder.parents) if os.path.lexists(part)), Path())
    if not above.is_dir():
        what = "a file" if above.exists() else "a link to nothing"
        raise refusal(option, folder, f"{above} is {what}", "name a directory")
    if os.access(above, os.W_OK | os.X_OK):
        return folder
    if _read_only(above):
        limit, remedy = "is on a read-only file system", "name a folder elsewhere"
    else:
        limit, remedy = "cannot be written", "change its permissions, or name a folder elsewhere"
    raise refusal(option, folder, f"{above} {limit}: nothing was changed", remedy)


def _read_only(folder: Path) -> bool:
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except (OSError, AttributeError):
        return False
