"""Bills of parts: what each fabric is made of, from its own resolved table.

A file a fabric, named by its kind; `REGISTRY` has all, and a test walks the fabrics that
`lightloom fabrics` lists and fails for one without a bill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from lightloom.costs.book import Book
from lightloom.costs.needs import Need
from lightloom.costs.network import Network
from lightloom.errors import refusal

Bill = Callable[[Network, Book], Iterator[Need]]
#: Kind → module of its bill.
REGISTRY = {
    kind: kind.replace("-", "_")
    for kind in (
        *("sirius", "clos", "tree", "cthrough", "hydra", "hybrid", "mordia", "rotornet"),
        *("opera", "lions", "flattened-butterfly"),
    )
}


def needs_of(network: Network, book: Book) -> list[Need]:
    """What a fabric is made of.

    Raises:
        ConfigError: of a kind without a bill.
    """
    if network.kind not in REGISTRY:
        remedy = f"write bills/{network.kind}.py in lightloom.costs"
        raise refusal("fabric.kind", network.kind, "has no bill of parts", remedy)
    bill: Bill = import_module(f"{__name__}.{REGISTRY[network.kind]}").bill
    return list(bill(network, book))
