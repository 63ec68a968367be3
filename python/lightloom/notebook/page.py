"""HTML around tables and figures: every name is escaped, and nothing is loaded from elsewhere."""

from __future__ import annotations

import hashlib
import io
import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from lightloom.plotting import backend_matplotlib


def page(template: str, **shown: Any) -> str:
    """Fills a template of this package."""
    return _environment().get_template(template).render(**shown)


def picture(figure: Figure, title: str) -> Markup:
    """Returns a figure as inline SVG. Its identifiers are derived from its content, so that they
    differ from those of other figures and the same figure gives the same text."""
    salt = "lightloom-" + hashlib.sha256(title.encode()).hexdigest()[:8]
    out = io.BytesIO()
    with backend_matplotlib.drawing({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        vector: Any = FigureCanvasSVG(figure)
        vector.print_svg(out, metadata=backend_matplotlib.UNDATED)
    svg = backend_matplotlib.tidy(out.getvalue().decode(), title, salt)
    return Markup(re.sub(r"^<\?xml[^>]*\?>\s*", "", svg).strip())


@cache
def _environment() -> Environment:
    """The Jinja environment, which escapes all text that is not marked as safe."""
    return Environment(
        loader=PackageLoader("lightloom.notebook", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
