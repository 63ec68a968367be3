"""SCPI lines of Polatis switches (TCP port 5025): `:oxc:swit:conn:add (@1,2),(@17,18)` connects
port 1 with 17 and 2 with 18; `…:sub` disconnects them.

The makers' manuals are not public. Assumptions: on a switch with two sides, B ports are numbered
after the A ports (on 16x16, port 1B is 17); a line may contain `…:only` is not used, because it
would remove connections that other clients have made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lightloom.control.wiring.sheet import Sheet
from lightloom.errors import refusal

PAIRS = 32
"""Largest number of pairs of ports in a line."""


def text(sheet: Sheet) -> str:
    """Formats disconnections, then connections.

    Raises:
        ConfigError: if the size of a switch with two sides is unknown.
    """
    if sheet.sided and sheet.size is None:
        limit = "SCPI counts B ports on after the A ports, and their number is not given"
        remedy = "give --switch-size, like 16x16"
        raise refusal("as", "scpi", limit, remedy)
    after = sheet.size or 0
    each = 1 if sheet.undoes else PAIRS
    gone, come = sheet.pairs("break"), sheet.to_make()
    lines = [*_lines("sub", gone, after, each), *_lines("add", come, after, each)]
    return "".join(line + "\n" for line in lines)


def _lines(verb: str, pairs: Sequence[tuple[int, int]], after: int, each: int) -> Iterator[str]:
    for first in range(0, len(pairs), each):
        some = pairs[first : first + each]
        a = ",".join(str(a) for a, _ in some)
        b = ",".join(str(b + after) for _, b in some)
        yield f":oxc:swit:conn:{verb} (@{a}),(@{b})"
