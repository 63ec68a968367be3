"""The only writer of results: all files of a command get their final names together, or none does.

Files are written completely into a hidden folder `.lightloom` beside their destination, flushed to
the disk, listed in a journal and then moved. The files that they replace are kept until all moves
are made. A lock in that folder names the writer and ends with its process. The next holder of the
lock recognises files that a dead process left, and finishes or undoes its moves.
"""

from importlib import import_module

TYPE_CHECKING = False  # what `typing` has, without the time that it takes to load
if TYPE_CHECKING:
    from lightloom.storage.errors import WriteError
    from lightloom.storage.lock import claim, release_claims
    from lightloom.storage.settling import release_left, settle
    from lightloom.storage.staging import Staging, write_files
    from lightloom.storage.trial import check_folder, check_names

__all__ = [
    "Staging",
    "WriteError",
    "check_folder",
    "check_names",
    "claim",
    "release_claims",
    "release_left",
    "settle",
    "write_files",
]

_HOME = {
    "Staging": "staging",
    "WriteError": "errors",
    "check_folder": "trial",
    "check_names": "trial",
    "claim": "lock",
    "release_claims": "lock",
    "release_left": "settling",
    "settle": "settling",
    "write_files": "staging",
}


def __getattr__(name: str) -> object:
    """Imports a name's module when it is first used: `signals` is loaded before anything else."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
