"""The build of Lightloom in this process; another build may give other results."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass

from lightloom.config import identity

_SHOWN = 12


@dataclass(frozen=True)
class Build:
    """A version, and the digest of the files that determine results."""

    version: str
    digest: str
    """SHA-256 of `lightloom.config.identity.build`."""

    def __str__(self) -> str:
        return f"{self.version} ({self.digest[:_SHOWN]}…)"


@functools.cache
def here() -> Build:
    """Returns the build of this process."""
    own = identity.build()
    return Build(own["version"], hashlib.sha256(json.dumps(own).encode()).hexdigest())
