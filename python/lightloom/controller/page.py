"""The dashboard: one page that needs nothing but the controller."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def page(name: str) -> str:
    """The page as HTML; its script asks the controller for everything else."""
    environment = Environment(
        loader=PackageLoader("lightloom.controller"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("dashboard.html.j2").render(name=name)
