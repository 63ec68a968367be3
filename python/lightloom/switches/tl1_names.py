"""Port names in TL1: `1.CARD.PORT` with 8 ports on a card, or numbers."""

from __future__ import annotations

import re

PER_CARD = 8
"""Number of ports on a card."""


def aid_of(number: int, names: str) -> str:
    """Returns the identifier of a port.

    >>> aid_of(9, "calient"), aid_of(9, "number")
    ('1.2.1', '9')
    """
    if names == "number":
        return str(number)
    card, port = divmod(number - 1, PER_CARD)
    return f"1.{card + 1}.{port + 1}"


def number_of(aid: str, names: str) -> int | None:
    """Returns the port of an identifier; None if the text is not an identifier.

    >>> number_of("1.2.1", "calient"), number_of("1.2.9", "calient"), number_of("9", "number")
    (9, None, 9)
    """
    if names == "number":
        return int(aid) if re.fullmatch(r"[1-9]\d{0,3}", aid) else None
    found = re.fullmatch(r"1\.([1-9]\d{0,2})\.([1-8])", aid)
    return None if found is None else (int(found[1]) - 1) * PER_CARD + int(found[2])
