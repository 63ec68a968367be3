"""The edits of one gNMI Set, all collected before the first is applied."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightloom.switches.ports import LABEL, is_label

Path = Sequence[tuple[str, Mapping[str, str]]]
"""Elements of a path: names without a module, and keys."""


class MalformedError(Exception):
    """Raised if the model does not allow a request."""


@dataclass
class Edits:
    """Deletions, replacements and updates of one Set, as one change."""

    remove: list[str] = field(default_factory=list)
    """Names of connections to delete."""
    keys: list[str] = field(default_factory=list)
    """Ports of connections to delete, such as `1A-29B`, whatever their names."""
    leaves: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Leaves of each connection by its name; a client may write them one at a time."""
    whole: set[str] = field(default_factory=set)
    """Names of connections that are replaced; leaves that the Set does not write are then unset."""
    wipe: bool = False
    """Whether the list is replaced as a whole."""
    after: list[Callable[[], None]] = field(default_factory=list)
    """Other settings, applied once the change has been accepted."""

    def merge(self, name: str, leaves: Mapping[str, Any]) -> None:
        """Adds leaves of a connection to the edits."""
        self.leaves.setdefault(name, {}).update(leaves)


def bare(name: str) -> str:
    """A name without its module.

    >>> bare("ocp-ocs-optical-switch:optical-switch")
    'optical-switch'
    """
    return name.rpartition(":")[2]


def check_keys(path: Path, lists: Collection[str]) -> None:
    """Refuses keys that the model does not have; without them, the path would be that of a list.

    Args:
        path: of a change.
        lists: elements with the key `name`.

    Raises:
        MalformedError: naming the key.
    """
    for name, keys in path:
        for key in keys:
            if key != "name" or name not in lists:
                raise MalformedError(f"{name[:40]} has no key {key[:40]}")


def check_label(leaf: str, text: str) -> None:
    """Refuses a port label that the tables of other faces cannot show.

    Raises:
        MalformedError: naming the leaf.
    """
    if not is_label(text):
        raise MalformedError(f"{leaf}: {LABEL}")
