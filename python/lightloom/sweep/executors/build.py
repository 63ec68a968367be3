"""Which build of Lightloom runs here: results of another may be others."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path

import lightloom

_SHOWN = 12


@dataclass(frozen=True)
class Build:
    """A version, and the digest of all that it consists of."""

    version: str
    digest: str
    """SHA-256 of the package's modules and native core, with their names."""

    def __str__(self) -> str:
        return f"{self.version} ({self.digest[:_SHOWN]}…)"


@functools.cache
def here() -> Build:
    """The build of this process."""
    return Build(lightloom.__version__, digest_of(Path(lightloom.__file__).parent))


def digest_of(package: Path) -> str:
    """The digest of a package's `.py` files and native libraries; nothing else is run."""
    made = hashlib.sha256()
    for path in sorted(p for p in package.rglob("*") if p.suffix in (".py", ".so", ".pyd")):
        content = hashlib.sha256(path.read_bytes()).digest()
        made.update(path.relative_to(package).as_posix().encode() + b"\0" + content)
    return made.hexdigest()
