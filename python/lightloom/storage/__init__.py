"""The one writer of results: all files of a command get their names together, or none does.

Files are written whole into a hidden folder `.lightloom` beside where they go, flushed to the
disk, listed in a journal and then moved; what was there before is kept until all are moved. A
lock in that folder tells other commands who is writing and dies with its holder, so what a dead
process left is recognised, and finished or taken back, by the next holder of the lock.
"""

from lightloom.storage.errors import WriteError
from lightloom.storage.lock import claim, release_claims
from lightloom.storage.staging import Staging, write_files
from lightloom.storage.trial import check_folder, check_names
from lightloom.storage.unfinished import release_left, settle

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
