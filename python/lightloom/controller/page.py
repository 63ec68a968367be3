"""The dashboard: one page that needs nothing but the controller."""

from __future__ import annotations


def page(name: str) -> str:
    """The page as HTML; its script requests all data from the controller."""
    # Imported at the first request of the page, so that a restart reads its switches sooner.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("lightloom.controller"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("dashboard.html.j2").render(name=name)
