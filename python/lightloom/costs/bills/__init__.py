"""Bills of materials: the parts of each fabric, from its own resolved table.

Each fabric has one file, named by its kind. A test fails if a fabric that `lightloom fabrics` lists
has no bill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec

from lightloom.costs.book import Book
from lightloom.costs.needs import Need
from lightloom.costs.network import Network
from lightloom.errors import refusal

Bill = Callable[[Network, Book], Iterator[Need]]


def bill_of(kind: str) -> Bill | None:
    """Returns the bill of a kind of fabric; None if it has none."""
    name = f"{__name__}.{kind.replace('-', '_')}"
    if find_spec(name) is None:
        return None
    bill: Bill | None = getattr(import_module(name), "bill", None)
    return bill


def needs_of(network: Network, book: Book) -> list[Need]:
    """Returns the parts of a fabric.

    Raises:
        ConfigError: if its kind has no bill.
    """
    bill = bill_of(network.kind)
    if bill is None:
        remedy = f"write bills/{network.kind}.py in lightloom.costs"
        raise refusal("fabric.kind", network.kind, "has no bill of parts", remedy)
    return list(bill(network, book))
