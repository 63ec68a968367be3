"""The dashboard: one page that needs nothing but the controller."""

from __future__ import annotations


def page(name: str) -> str:
    """The page as HTML; its script asks the controller for everything else."""
    # Loaded once somebody asks for the page: a restart has switches to read first.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("lightloom.controller"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("dashboard.html.j2").render(name=name)
