"""Cost and power of networks: price books, bills of materials, totals with ranges, break-evens.

>>> from lightloom import costs
>>> found = costs.cost("examples/compare.toml", "sirius-2020")  # doctest: +SKIP
>>> found.fabrics["sirius"].capital  # doctest: +SKIP

| module | |
|---|---|
| `book`, `figure`, `parts` | price books: price and power of a part, with source and year |
| `bills`, `needs`, `network` | the parts of each fabric, from its own table |
| `pricing`, `costs` | a bill at the prices of a book; all fabrics of an experiment |
| `of_experiment`, `given` | prices in `[decision]` and in `--price` |
| `amounts`, `equal` | intervals that share prices; the point at which two networks cost the same |
| `tornado` | the prices with the largest effect on the capital |
| `readings`, `papers` | ways to count Sirius' Fig 6; calculations of papers |

Not modelled: operation beyond power (space, cooling, repair), discounts, spares.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lightloom.costs.amounts import Range
    from lightloom.costs.book import Book
    from lightloom.costs.book import load as prices
    from lightloom.costs.costs import Costs, cost, of_comparison
    from lightloom.costs.equal import BreakEven
    from lightloom.costs.pricing import FabricCost
    from lightloom.costs.solve import equal_cost
    from lightloom.costs.tornado import sensitivity

__all__ = [
    "Book",
    "BreakEven",
    "Costs",
    "FabricCost",
    "Range",
    "cost",
    "equal_cost",
    "of_comparison",
    "prices",
    "sensitivity",
]

_HOME = {
    "Book": ("book", "Book"),
    "BreakEven": ("equal", "BreakEven"),
    "Costs": ("costs", "Costs"),
    "FabricCost": ("pricing", "FabricCost"),
    "Range": ("amounts", "Range"),
    "cost": ("costs", "cost"),
    "equal_cost": ("solve", "equal_cost"),
    "of_comparison": ("costs", "of_comparison"),
    "prices": ("book", "load"),
    "sensitivity": ("tornado", "sensitivity"),
}


def __getattr__(name: str) -> object:
    """Imports a name's module when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, own = _HOME[name]
    value = getattr(import_module(f"{__name__}.{home}"), own)
    globals()[name] = value
    return value
