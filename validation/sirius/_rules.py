"""The two readings of a load, by which every figure is measured.

The paper draws about 200,000 sizes from Pareto(1.05), whose mean is about half the
law's, and does not say whether L is set by the law or by what was drawn. It decides
how hard the networks are pressed: by the law L = 100 % offers less than half of what
the servers can send, and few networks fall behind at that.
"""

from typing import Any

#: `workload.mean_rule`, and whose load it makes of L.
RULES = {"nominal": "the law's load", "rescaled": "the sample's load"}


def size(quick: bool) -> dict[str, Any]:
    """Flows and seeds of a figure."""
    return {"flows": 10_000, "seeds": [1]} if quick else {"flows": 200_000, "seeds": [1, 2, 3]}


def settings(rule: str, load: float) -> list[str]:
    """Overrides that offer a load by a rule."""
    return [f"workload.load={load}", f"workload.mean_rule={rule}"]


def named(claims: dict[str, float], rule: str) -> dict[str, float]:
    """Claims by a rule: a plain name is by the law's load, and `-rescaled` is added to
    it for the sample's."""
    return {name if rule == "nominal" else f"{name}-{rule}": v for name, v in claims.items()}
