"""What transactions that are not done leave behind, in the store.

Ports of a stuck transaction are settled by a later change that sets them, or by any change of an
operator. A circuit without traffic gets it again when it has light.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, bindparam, delete, insert, select

from lightloom.controller import schema
from lightloom.controller.intents import Intents
from lightloom.controller.parts import Ports
from lightloom.switches.ports import Pair, port_of


class StuckLog(Intents):
    """The ports of stuck transactions, and the circuits without traffic."""

    def stuck_ports(self, switch: str) -> dict[int, Ports]:
        """The ports of a switch that are not settled, by the number of the stuck transaction."""
        table = schema.stuck_port
        query = select(table.c.number, table.c.port).filter_by(switch=switch)
        found: dict[int, set[str]] = {}
        with self._read() as db:
            for number, port in db.execute(query).all():
                found.setdefault(number, set()).add(port)
        return {number: _ports(names) for number, names in found.items()}

    def away(self, switch: str) -> set[Pair]:
        """The cross-connects of a switch from which a hook may keep traffic away while no
        transaction is open. Those that are not lit have no meaning."""
        table = schema.away
        with self._read() as db:
            found = db.execute(select(table.c.a, table.c.b).filter_by(switch=switch)).all()
        return {*map(tuple, found)}

    def let_in(self, switch: str, pairs: Collection[Pair], who: str) -> None:
        """Records that traffic uses some cross-connects again."""
        with self._write() as db:
            self._keep_away(db, switch, pairs, ())
            self._record(db, who, "let in", {"switch": switch, "pairs": [*pairs]})

    def keep_away(self, switch: str, pairs: Collection[Pair], who: str) -> None:
        """Records that traffic has left some cross-connects."""
        with self._write() as db:
            self._keep_away(db, switch, pairs, pairs)
            self._record(db, who, "drained", {"switch": switch, "pairs": [*pairs]})

    @staticmethod
    def _stick(db: Connection, switch: str, number: int, ports: Ports) -> None:
        """A transaction that set these ports is stuck."""
        StuckLog._unstick(db, switch, ports)
        rows = [{"switch": switch, "port": str(port), "number": number} for port in ports]
        if rows:
            db.execute(insert(schema.stuck_port), rows)

    @staticmethod
    def _unstick(db: Connection, switch: str, ports: Ports) -> None:
        """These ports are settled."""
        table = schema.stuck_port
        where = (table.c.switch == switch, table.c.port.in_([*map(str, ports)]))
        db.execute(delete(table).where(*where))

    @staticmethod
    def _keep_away(
        db: Connection, switch: str, pairs: Collection[Pair], away: Collection[Pair]
    ) -> None:
        """Of some cross-connects, traffic is kept away from these only."""
        table = schema.away
        there = {*map(tuple, db.execute(select(table.c.a, table.c.b).filter_by(switch=switch)))}
        if gone := there & {*pairs} - {*away}:
            where = (table.c.a == bindparam("a_port"), table.c.b == bindparam("b_port"))
            statement = delete(table).where(table.c.switch == switch, *where)
            db.execute(statement, [{"a_port": a, "b_port": b} for a, b in sorted(gone)])
        if new := {*away} - there:
            rows = [{"switch": switch, "a": a, "b": b} for a, b in sorted(new)]
            db.execute(insert(table), rows)


def _ports(names: Iterable[str]) -> Ports:
    return frozenset(port for name in names if (port := port_of(name)) is not None)
