"""Bills of materials: the parts of each fabric, from its own resolved table.

Each fabric has one file, named by its kind, and an entry in `REGISTRY`. A test fails if a fabric
that `lightloom fabrics` lists has no bill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from lightloom.costs.book import Book
from lightloom.costs.needs import Need
from lightloom.costs.network import Network
from lightloom.errors import refusal

Bill = Callable[[Network, Book], Iterator[Need]]
#: Kind of fabric → module of its bill.
REGISTRY = {
    kind: kind.replace("-", "_")
    for kind in (
        *("sirius", "clos", "tree", "cthrough", "hydra", "hybrid", "mordia", "rotornet"),
        *("opera", "lions", "flattened-butterfly"),
    )
}


def needs_of(network: Network, book: Book) -> list[Need]:
    """Returns the parts of a fabric.

    Raises:
        ConfigError: if its kind has no bill.
    """
    if network.kind not in REGISTRY:
        remedy = f"write bills/{network.kind}.py in lightloom.costs"
        raise refusal("fabric.kind", network.kind, "has no bill of parts", remedy)
    bill: Bill = import_module(f"{__name__}.{REGISTRY[network.kind]}").bill
    return list(bill(network, book))
