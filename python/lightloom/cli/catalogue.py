"""`fabrics`, `workloads`, `explain` and `schema`: what there is, and what it means.

All texts are the doc comments of the configuration types, by way of their JSON
Schema: nothing is described twice.
"""

from __future__ import annotations

import difflib
import json
import textwrap
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from lightloom import _core, console
from lightloom.cli import describe
from lightloom.cli.describe import Parameter
from lightloom.errors import refusal
from lightloom.words import PLANNED, here

Table = dict[str, Any]


def fabrics() -> None:
    """List the fabrics and their presets."""
    for entry in _registry().values():
        _paragraph(f"{entry['kind']}: {entry['title']}", style="bold")
        _paragraph(entry["source"], indent=2)
        for preset in entry["presets"]:
            _paragraph(f"preset {preset['name']}: {preset['summary']}", indent=2)
    for kind, about in PLANNED.items():
        _paragraph(f"{kind}: planned, not here yet: {about}")
    console.say("\nlightloom explain KIND says more.")


def workloads() -> None:
    """List the published flow-size distributions and the jobs."""
    table = console.plain_table()
    table.add_column("sizes")
    table.add_column("mean", justify="right", no_wrap=True)
    table.add_column("source", overflow="fold")
    for entry in _published().values():
        table.add_row(entry["name"], console.size(entry["mean_linear_bytes"]), entry["source"])
    console.out().print(table)
    jobs = console.plain_table()
    jobs.add_column("jobs")
    jobs.add_column("what they do", overflow="fold")
    for kind, job in _jobs().items():
        jobs.add_row(kind, job.description)
    console.say("")
    console.out().print(jobs)
    console.say("\nlightloom explain NAME says more.")


def explain(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="As in sirius, sirius.queue, workload, web-search."),
    ],
) -> None:
    """Explain a fabric, a parameter, a table of the experiment, or a workload."""
    with console.guarded():
        head, _, rest = name.partition(".")
        registry, published, jobs = _registry(), _published(), _jobs()
        tables = describe.tables(json.loads(_core.schema()))
        schemas = tables | {kind: entry["schema"] for kind, entry in registry.items()}
        if rest and head in schemas:
            found = describe.find(schemas[head], rest)
            if found is None:
                raise _unknown_below(name, schemas[head], head, rest)
            _print_parameter(found, name)
        elif name in registry:
            _print_fabric(registry[name])
        elif name in tables:
            _paragraph(f"[{name}] of an experiment", style="bold")
            _paragraph(describe.summary_of(tables[name]))
            _print_parameters(describe.parameters(tables[name]))
        elif name in published:
            _print_workload(published[name])
        elif name in jobs:
            _print_parameter(jobs[name], f'jobs = [{{ kind = "{name}", … }}]')
        else:
            near = difflib.get_close_matches(head, schemas, 1) if rest else []
            if near:
                remedy = f'did you mean "{near[0]}.{rest}"?'
                raise refusal("NAME", name, "nothing of this name", remedy)
            raise _unknown(name, name, [*registry, *tables, *published, *jobs])


def schema() -> None:
    """Print the JSON Schema of experiment files."""
    console.print_json(json.loads(_core.schema()))


def _registry() -> dict[str, Table]:
    return {entry["kind"]: entry for entry in json.loads(_core.registry())}


def _published() -> dict[str, Table]:
    return {entry["name"]: entry for entry in json.loads(_core.workloads())}


def _jobs() -> dict[str, Parameter]:
    """The kinds of jobs, each as the table of its parameters."""
    workload = describe.tables(json.loads(_core.schema()))["workload"]
    jobs = describe.find(workload, "jobs")
    kinds = [] if jobs is None else [c.name.split('"')[1] for c in jobs.choices if c.parameters]
    found = {kind: describe.find(workload, f"jobs.{kind}") for kind in kinds}
    return {kind: job for kind, job in found.items() if job is not None}


def _unknown_below(name: str, schema: Table, head: str, rest: str) -> Exception:
    """The refusal of the first unknown part of `head.rest`, by full names."""
    above, found, parts = head, describe.parameters(schema), rest.split(".")
    known = [p.key for p in found]
    while len(parts) > 1:
        inner = describe.find(schema, ".".join([*above.split(".")[1:], parts[0]]))
        if inner is None:
            break
        above = f"{above}.{parts.pop(0)}"
        kinds = [c.name.split('"')[1] for c in inner.choices if c.parameters]
        below = [*inner.parameters, *(p for c in inner.choices for p in c.parameters)]
        known = [*kinds, *dict.fromkeys(p.key for p in below)]
    return _unknown(name, parts[0], known, f"{above}.")


def _unknown(name: str, part: str, known: Sequence[str], above: str = "") -> Exception:
    """The refusal of a name of which `part`, below `above`, is none of those known."""
    if name in PLANNED:
        return refusal("NAME", name, "planned, not here yet", here())
    near = difflib.get_close_matches(part, known, 1)
    remedy = f'did you mean "{above}{near[0]}"?' if near else f"known: {', '.join(known)}"
    return refusal("NAME", name, "nothing of this name", remedy)


def _print_fabric(entry: Table) -> None:
    _paragraph(f"{entry['kind']}: {entry['title']}", style="bold")
    _paragraph(entry["source"])
    _paragraph(entry["summary"])
    console.say("")
    for preset in entry["presets"]:
        _paragraph(f'preset = "{preset["name"]}": {preset["summary"]}')
    console.say("")
    _print_parameters(describe.parameters(entry["schema"]))


def _print_workload(entry: Table) -> None:
    _paragraph(f'sizes = "{entry["name"]}"', style="bold")
    _paragraph(entry["source"])
    for key, value in entry.items():
        if key not in ("name", "source", "points"):
            _paragraph(f"{key}: {value}", indent=2)
    console.say("")
    table = console.plain_table()
    table.add_column("size [B]", justify="right")
    table.add_column("fraction of flows up to it", justify="right")
    for size, fraction in entry["points"]:
        table.add_row(f"{size:,.0f}", f"{fraction:g}")
    console.out().print(table)


def _print_parameters(parameters: Sequence[Parameter]) -> None:
    """One line of facts and one of explanation for each key."""
    for parameter in parameters:
        _paragraph(f"{parameter.key}  ({_facts(parameter)})", style="bold", indent=2)
        _paragraph(parameter.description, indent=4)


def _print_parameter(parameter: Parameter, name: str, indent: int = 0) -> None:
    _paragraph(f"{name}  ({_facts(parameter)})", style="bold", indent=indent)
    _paragraph(parameter.description, indent=indent + 2)
    for choice in parameter.choices:
        about = f": {choice.description}" if choice.description else ""
        _paragraph(f"{choice.name}{about}", indent=indent + 2)
        for inner in choice.parameters:
            _print_parameter(inner, inner.key, indent + 6)
    for inner in parameter.parameters:
        _print_parameter(inner, inner.key, indent + 2)


def _facts(parameter: Parameter) -> str:
    """`whole number, default 4`, or `one of "fifo", "random", default "fifo"`."""
    kind = parameter.kind
    if kind == "table":
        return kind
    if kind == "one of":
        kind = "one of " + ", ".join(choice.name for choice in parameter.choices)
    if parameter.default == "required":
        return f"{kind}, required"
    if parameter.default == "none":
        return f"{kind}, optional"
    return f"{kind}, default {parameter.default}"


def _paragraph(text: str, *, style: str = "", indent: int = 0) -> None:
    screen, margin = console.out(), " " * indent
    for part in text.splitlines():
        lines = textwrap.wrap(part, max(screen.width, 40) - indent, break_long_words=False)
        for line in lines:
            screen.print(Text(margin + line, style=style), soft_wrap=True)
