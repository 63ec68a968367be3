"""The page: combines template, styles, scripts and data in one file."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lightloom.analysis import presets, table, verdicts
from lightloom.analysis.model import Workload
from lightloom.analysis.naming import Prose, in_prose
from lightloom.plotting import backend_plotly, style
from lightloom.plotting.draw import Drawing, distinct
from lightloom.plotting.figures import LEADING
from lightloom.plotting.spec import NIGHT
from lightloom.units import quantities

from . import cut_runs, decisions, describe
from .decisions import Decision
from .resilience import Failing

Firsts = Sequence[verdicts.First | None]
SCRIPTS = ("timeline.js", "panels.js", "report.js", "address.js")
PAGE_BUDGET = 2_400_000  # bytes; a larger page refers to picture files for readers without scripts


@dataclass(frozen=True)
class Section:
    """One comparison and its drawings."""

    workload: Workload
    drawings: tuple[Drawing, ...]
    winners: tuple[str, ...] = ()
    """States whether the winner changes under other physics, one sentence for each change."""
    decision: Decision | None = None
    """The fabric to buy, if there are prices; its chart is the first of the drawings."""
    failing: Failing | None = None
    """The single failures, if they were requested."""


def render(sections: Sequence[Section]) -> str:
    """Returns the whole page."""
    firsts = list(verdicts.all_first([s.workload for s in sections]).values())
    data = [[backend_plotly.render(d.figure) for d in s.drawings] for s in sections]
    bare = assemble(sections, firsts, data, pictures=False)
    room = PAGE_BUDGET - len(bare.encode())
    needed = sum(len(d.svg.encode()) for s in sections for d in s.drawings)
    return assemble(sections, firsts, data, pictures=True) if needed <= room else bare


def assemble(sections: Sequence[Section], firsts: Firsts, data: Any, *, pictures: bool) -> str:
    """Fills the template."""
    script = "".join(asset(name) for name in SCRIPTS)
    plotly = asset("vendor/plotly-basic.min.js")
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            title=title(sections),
            headline=headline(sections, firsts),
            views=views(sections, firsts),
            pictures=pictures,
            css=inline(asset("report.css")),
            plotly=inline(plotly),
            script=inline(script),
            data=embedded_json(data),
            light=style.LIGHT,
            dark=style.DARK,
            look=style.look,
            night=NIGHT,
        )
    )


@functools.cache
def environment() -> Environment:
    """The Jinja environment, which escapes every label; cached, so that templates are compiled
    once."""
    made = Environment(
        loader=PackageLoader("lightloom.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["picture"] = picture
    return made


def asset(name: str) -> str:
    """Reads a file of this package."""
    folder = resources.files("lightloom.report")
    return (folder / (name if "/" in name else f"templates/{name}")).read_text(encoding="utf-8")


def inline(source: str) -> Markup:
    """Marks a source text of this package as safe inside `<script>` or `<style>`."""
    return Markup(re.sub(r"</(?=script|style)", r"<\\/", source, flags=re.IGNORECASE))


def embedded_json(value: Any) -> Markup:
    """Formats JSON so that no label can become markup."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def picture(svg: str) -> Markup:
    """An SVG of matplotlib without its XML declaration; matplotlib escapes its texts."""
    return Markup(re.sub(r"^<\?xml[^>]*\?>\s*", "", svg).strip())


def title(sections: Sequence[Section]) -> str:
    """The name of the page."""
    labels = dict.fromkeys(f.label for s in sections for f in s.workload.fabrics)
    fabrics = (
        f"{len(labels)} fabrics compared" if len(labels) > 1 else next(iter(labels), "no fabric")
    )
    if len(sections) > 1:
        return f"{fabrics}, under {presets.counted([s.workload for s in sections])}"
    name = sections[0].workload.name
    return f"{name}: {fabrics}" if name else fabrics


def headline(sections: Sequence[Section], firsts: Firsts) -> str:
    """The common verdict of the page; the name of the page if there is none."""
    workloads = [s.workload for s in sections]
    named = list(zip(presets.places(workloads), firsts, strict=True))
    under = presets.all_of(workloads)
    bought = decisions.joint([s.decision for s in sections], under)
    found = bought or verdicts.joint(named, under)
    return Prose(workloads[0].experiment)(found) if found else title(sections)


@dataclass(frozen=True)
class Entry:
    """An entry of the table of contents."""

    id: str
    title: str
    inner: bool = False


def views(sections: Sequence[Section], firsts: Firsts) -> list[dict[str, Any]]:
    """The template's values for each comparison."""
    slugs = distinct([s.workload.name for s in sections])
    numbered = enumerate(zip(sections, firsts, slugs, strict=True), start=1)
    return [
        view(s, first) | {"slug": slug, "contents": contents(n, s, first, alone=len(sections) == 1)}
        for n, (s, first, slug) in numbered
    ]


def contents(
    number: int, section: Section, first: verdicts.First | None, *, alone: bool
) -> list[Entry]:
    """The table of contents of a comparison."""
    made = [Entry(f"figure-{number}-{d.figure.key}", d.figure.title) for _, d in leading(section)]
    if section.decision:
        made.append(Entry(f"decision-{number}", "Decision"))
    if first and (first.answer or not alone):
        made.append(Entry(f"verdict-{number}", "Verdict"))
    if section.failing:
        made.append(Entry(f"failures-{number}", "If one part fails"))
    made.append(Entry(f"setup-{number}", "What was compared"))
    made.append(Entry(f"data-{number}", "What the data say"))
    made.append(Entry(f"key-{number}", "Key figures"))
    made.append(Entry(f"figures-{number}", "Figures"))
    figures = [d.figure for _, d in numbered(section, decision=False) if not is_lead(d)]
    return made + [Entry(f"figure-{number}-{f.key}", f.title, inner=True) for f in figures]


def numbered(section: Section, *, decision: bool) -> list[tuple[int, Drawing]]:
    """The chart of the decision, or the other drawings, with their indices in the page's data."""
    return [
        (i, d)
        for i, d in enumerate(section.drawings)
        if (d.figure.key == decisions.KEY) == decision
    ]


def is_lead(drawing: Drawing) -> bool:
    """Whether a drawing is the one that a page shows first."""
    return drawing.figure.key in LEADING


def leading(section: Section) -> list[tuple[int, Drawing]]:
    """The first drawing, of completion times and goodput, with its index; empty if it was not
    made."""
    return [found for found in numbered(section, decision=False) if is_lead(found[1])][:1]


def card(verdict: verdicts.Verdict, prose: Prose) -> dict[str, Any]:
    """The template's values for one question."""
    return {
        "question": verdict.question,
        "answer": prose(verdict.answer),
        "evidence": verdict.evidence,
        "notes": prose.all(verdict.notes),
    }


def view(section: Section, first: verdicts.First | None) -> dict[str, Any]:
    """The template's values for one comparison, its verdict first."""
    w = section.workload
    prose = Prose(w.experiment)
    groups = table.groups(w)
    return {
        "name": w.name,
        "first": None if first is None else in_prose(first, w.experiment),
        "cut": [*([] if first else cut_runs.of_fabrics(w)), *cut_runs.of_loads(w)],
        "fabrics": w.fabrics,
        "settings": [describe.settings(f, w.fabrics) for f in w.fabrics],
        "all_settings": [describe.all_settings(f, w.fabrics) for f in w.fabrics],
        "in_force": [describe.in_force(f) for f in w.fabrics],
        "physics": describe.shared_physics(w.experiment),
        "networks": describe.electrical(w.experiment),
        "ideal": describe.ideal(w.experiment),
        "limiting": describe.limiting(w.experiment),
        "winners": prose.all(section.winners),
        "failing": section.failing,
        "cluster": describe.cluster(w.experiment),
        "workload": describe.workload(w.experiment),
        "run": describe.run(w),
        "toml": describe.toml(w.experiment),
        "verdicts": [card(v, prose) for v in verdicts.verdicts(w)],
        "groups": groups,
        "source": verdicts.source(w.fabrics),
        "bounds": any(">" in c.text for _, rows in groups for row in rows for c in row.cells),
        "unranked": any(c.unranked for _, rows in groups for row in rows for c in row.cells),
        "missing": quantities.MISSING,
        "decision": None if section.decision is None else in_prose(section.decision, w.experiment),
        "bill_headings": decisions.BILL_HEADINGS,
        "lead": leading(section),
        "charts": numbered(section, decision=True),
        "drawings": [found for found in numbered(section, decision=False) if not is_lead(found[1])],
        "stretches": any(d.figure.stretches for d in section.drawings),
    }
