"""Errors of the operating system, with the path that they concern."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

_REMEDIES = {
    errno.ENOSPC: "free some space, or name a folder elsewhere",
    errno.EDQUOT: "free some of the quota, or name a folder elsewhere",
    errno.EFBIG: "raise the limit on the size of files, or name a folder elsewhere",
    errno.EROFS: "name a folder elsewhere",
    errno.EISDIR: "move it away, or name another folder",
    errno.ENOTDIR: "move the file that is in its way, or name another folder",
}


class WriteError(OSError):
    """The system rejected an operation on a file or folder of a result. `filename` is its path. The
    earlier files are unchanged, unless `is_committed` is true; then the next command that writes
    there completes the new ones."""

    def __init__(self, problem: OSError, path: Path) -> None:
        super().__init__(problem.errno, problem.strerror or str(problem), str(path))
        self.is_committed = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Supports pickling, because workers send the error to their parent."""
        problem = OSError(self.errno, self.strerror)
        return type(self), (problem, Path(str(self.filename))), {"is_committed": self.is_committed}

    @property
    def message(self) -> str:
        """The error as a command prints it."""
        remedy = _REMEDIES.get(self.errno or 0, "check the path and its permissions")
        after = "the next command completes it" if self.is_committed else "nothing was changed"
        return f"{self.filename}: {str(self.strerror).lower()}: {after}; {remedy}"
