"""Checks whether a folder and its files can be written, before the computation begins."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lightloom.errors import refusal


def check_folder(folder: Path, option: str = "-o") -> Path:
    """Raises an error if a folder cannot be written or made; changes nothing.

    Raises:
        ConfigError: naming the obstacle.
    """
    _check_name(folder, option)
    _check(folder, folder, option)
    return folder


def _check_name(folder: Path, option: str) -> None:
    """Raises an error for a name that a text file cannot hold, and for a relative name in a working
    directory that has been removed."""
    try:
        str(folder.absolute()).encode()
    except UnicodeEncodeError:
        limit = "its name is not UTF-8, and results name their folders in text"
        raise refusal(option, ascii(str(folder)), limit, "name another folder") from None
    except FileNotFoundError:
        limit = "the working directory was deleted"
        raise refusal(option, folder, limit, "change to another, or name a whole path") from None


def check_names(
    folder: Path, files: Iterable[str], folders: Iterable[str] = (), option: str = "-o"
) -> None:
    """Raises an error if one of these files or folders, with names relative to `folder`, could not
    get its name: because a folder has that name, because a file has the name of its folder, or
    because nothing can be written there. Changes nothing.

    Raises:
        ConfigError: naming the obstacle.
    """
    into = {folder / name: None for name in folders}
    for name in files:
        path = folder / name
        if path.is_dir():
            limit = f"{path} is a folder, where a file is to be written"
            raise refusal(option, folder, limit, "move it away, or name another folder")
        into[path.parent] = None
    for below in into:
        _check(below, folder, option)


def _check(into: Path, folder: Path, option: str) -> None:
    """Raises an error if `into`, which is `folder` or below it, cannot be written or made."""
    above = next((part for part in (into, *into.parents) if os.path.lexists(part)), Path())
    if not above.is_dir():
        what = "a file" if above.exists() else "a link to nothing"
        remedy = "name a directory" if into == folder else "move it away, or name another folder"
        raise refusal(option, folder, f"{above} is {what}", remedy)
    if os.access(above, os.W_OK | os.X_OK):
        return
    if _read_only(above):
        limit, remedy = "is on a read-only file system", "name a folder elsewhere"
    else:
        limit, remedy = "cannot be written", "change its permissions, or name a folder elsewhere"
    raise refusal(option, folder, f"{above} {limit}: nothing was changed", remedy)


def _read_only(folder: Path) -> bool:
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        return False
