"""A requested change of an emulated switch compared with its connections, without carrying it out:
which ones it deletes, creates and keeps, or why it is refused.

A client names connections by names of its own, or by their ports alone. A port that another
connection needs refuses the change, evicts that connection, or makes the new one INVALID, as the
interface has it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lightloom.switches._connection import Connection
from lightloom.switches.changes import Conflict, RefusedError, Requested, check_ends
from lightloom.switches.ports import Pair, Port, Size, ends_of, name_of


@dataclass(frozen=True)
class Request:
    """The request of a client, in the terms of `Machine.change`."""

    remove: Iterable[str | Pair]
    add: Iterable[Requested]
    conflict: Conflict
    wipe: bool
    lenient: bool
    stale: bool


@dataclass(frozen=True)
class Plan:
    """The connections to delete, by name, those to create and those that stay."""

    gone: Sequence[str]
    new: Sequence[Requested]
    kept: Sequence[Requested]


class Resolver:
    """Compares requests with the connections of a switch, which it does not change."""

    def __init__(
        self,
        intents: Mapping[str, Connection],
        active: Mapping[Port, Connection],
        stale: Iterable[Connection],
        size: Size,
    ) -> None:
        """Stores the state of the switch.

        Args:
            intents: the configured connections by name.
            active: the connection that holds each port.
            stale: the stale entries without a configuration of the same name.
            size: the ports of the switch.
        """
        self._intents = intents
        self._active = active
        self._stale = {one.requested.ends: one for one in stale}
        self._size = size

    def resolve(self, request: Request) -> Plan:
        """Finds what the request deletes, creates and keeps.

        Raises:
            RefusedError: if it is refused.
        """
        remnants = self._stale if request.stale else {}
        gone, problems = self._doomed(request.remove, remnants)
        if request.wipe:
            gone |= dict.fromkeys(self._intents)
            gone |= dict.fromkeys(one.name for one in remnants.values())
        named = self._named(request.add, gone)
        wanted = list({item.name: item for item in named}.values())
        kept = [item for item in wanted if self._stays(item)]
        stay = {item.name for item in kept}
        stay |= {remnants[item.ends].name for item in wanted if item.ends in remnants}
        gone = {name: None for name in gone if name not in stay}
        renewed = [item.name for item in wanted if item.name in self._intents and item not in kept]
        gone |= dict.fromkeys(renewed)
        new = [item for item in wanted if item not in kept]
        if request.lenient or request.wipe:
            problems = []
        evicted, problems = self._conflicts(new, kept, gone, request.conflict, problems)
        if problems:
            raise RefusedError(problems)
        return Plan([*gone, *evicted], new, kept)

    def lacking(self, add: Iterable[Requested], gone: Collection[str]) -> list[Requested]:
        """Returns those of `add` that the switch does not have, each with a name; the names in
        `gone` are free."""
        return [item for item in self._named(add, gone) if not self._stays(item)]

    def _stays(self, item: Requested) -> bool:
        """Returns whether the connection already exists under this name."""
        own = self._intents.get(item.name)
        return own is not None and own.requested == item and own.active

    def _named(self, add: Iterable[Requested], gone: Collection[str]) -> list[Requested]:
        """Names connections that clients identify by their ports alone: the name of the existing
        connection between these ports, else a free name."""
        add = list(add)
        if all(item.named for item in add):
            return add
        known = self._by_ends()
        return [
            item if item.named else self._known(known, item) or self._free(item, gone)
            for item in add
        ]

    def _by_ends(self) -> dict[tuple[Port, Port], list[Connection]]:
        """Returns the configured connections by their ports; several may share two ports if all but
        one are INVALID."""
        found: dict[tuple[Port, Port], list[Connection]] = {}
        for one in self._intents.values():
            found.setdefault(one.requested.ends, []).append(one)
        return found

    def _known(
        self, known: Mapping[tuple[Port, Port], list[Connection]], item: Requested
    ) -> Requested | None:
        listed = sorted(known.get(item.ends, []), key=lambda one: not one.active)
        return listed[0].requested if listed else None

    def _free(self, item: Requested, gone: Collection[str]) -> Requested:
        """Returns the request under a name that no other connection has."""
        name, at = item.name, 1
        while name in self._intents and name not in gone:
            at += 1
            name = f"{item.name}~{at}"
        return replace(item, name=name)

    def _doomed(
        self, remove: Iterable[str | Pair], stale: Mapping[tuple[Port, Port], Connection]
    ) -> tuple[dict[str, None], list[str]]:
        """Returns the names of the connections to delete, and those that do not exist."""
        gone: dict[str, None] = {}
        missing, known = [], self._by_ends()
        for item in remove:
            if isinstance(item, str):
                names, text = [item] if item in self._intents else [], item
            else:
                names, text = [one.name for one in known.get(ends_of(item), [])], name_of(item)
                if ends_of(item) in stale:
                    names.append(stale[ends_of(item)].name)
            gone |= dict.fromkeys(names)
            if not names:
                missing.append(text)
        return gone, [f"{name} does not exist" for name in missing]

    def _conflicts(
        self,
        new: Sequence[Requested],
        kept: Sequence[Requested],
        gone: dict[str, None],
        conflict: Conflict,
        problems: list[str],
    ) -> tuple[list[str], list[str]]:
        """Returns the connections to delete because they hold needed ports, and why the change is
        refused."""
        evicted: dict[str, None] = {}
        claimed = {port: item.name for item in kept for port in (item.a, item.b)}
        for item in new:
            problem = check_ends(item, self._size)
            for port in (item.a, item.b):
                other = claimed.setdefault(port, item.name)
                if other != item.name and not problem:
                    problem = f"port {port} is both in {other} and in {item.name}"
                holder = self._active.get(port)
                if (
                    problem
                    or holder is None
                    or self._goes(holder, gone)
                    or holder.requested == item
                ):
                    continue
                if not holder.configured and holder.requested.ends == item.ends:
                    continue
                if conflict is Conflict.REPLACE and holder.configured:
                    evicted[holder.name] = None
                else:
                    problem = f"port {port} of {item.name} is in existing cross-connect {holder}"
            if problem and conflict is not Conflict.INVALID:
                problems.append(problem)
        return [*evicted], problems

    def _goes(self, holder: Connection, gone: Collection[str]) -> bool:
        """Returns whether the holder of a port is being deleted; a stale entry may share its name
        with another connection."""
        return holder.name in gone and (holder.configured or holder.name not in self._intents)
