"""`explain`: the meaning of a fabric, a policy, a table, a key, a distribution or a job.

All texts are the doc comments of the configuration types, read from their JSON Schema, so that
nothing is described twice.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from lightloom.cli import console, describe, figures, topics
from lightloom.cli.describe import Choice, Parameter
from lightloom.config.fabrics import registry
from lightloom.policies.registry import RENAMED

Table = dict[str, Any]

OWN = {called: key for key, called in RENAMED.items()}
"""Name of an option of `plan` → key of the policy."""
KINDS = "one of these kinds"
"""The text of `describe` for a value whose choices are kinds of tables."""
SETTING = (
    "--set fabric.{key}=… sets it in every fabric of a file, fabric.LABEL.{key}=… in one; "
    "its label is its kind unless given."
)


def explain(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="As in sirius, sirius.queue, fabric.queue, policies, policy.hydra, workload, "
            "web-search, fct; without it, all topics.",
        ),
    ] = None,
) -> None:
    """Explain a fabric, a policy, a key, a table of the experiment, or a workload."""
    with console.guarded():
        if name is None:
            _print_topics()
        else:
            _explain(name, topics.path_of(name))


def _explain(name: str, path: list[str]) -> None:
    head, rest = path[0], ".".join(path[1:])
    kinds, tables = registry(), topics.tables()
    published, jobs = topics.published(), topics.jobs_of()
    schemas = tables | topics.fabrics_keys()
    if head == "clock":
        _explain_clock(name, path)
    elif head in ("policy", "policies"):
        _explain_policy(name, path[1:])
    elif head in topics.only_policies():
        _explain_policy(name, path)
    elif rest and head in schemas:
        found = describe.find(schemas[head], rest)
        if found is None:
            raise topics.unknown(name, path, schemas)
        _print_parameter(found, f"{head}.{rest}")
    elif path in (["kind"], ["fabric", "kind"], ["fabric"]):
        _print_fabrics(kinds)
    elif path in (["label"], ["fabric", "label"]):
        _print_parameter(next(iter(topics.of_fabrics("label").values())), "fabric.label")
    elif head == "fabric":
        _print_found(name, path, schemas, topics.of_fabrics(rest))
    elif rest and figures.meaning(name) is None:
        raise topics.unknown(name, path, schemas)
    elif head in kinds:
        _print_fabric(kinds[head])
    elif head in tables:
        paragraph(f"[{head}] of an experiment", style="bold")
        paragraph(describe.summary_of(tables[head]))
        _print_parameters(describe.parameters(tables[head]))
    elif head in published:
        _print_workload(published[head])
    elif head in jobs:
        _print_parameter(jobs[head], f'jobs = [{{ kind = "{head}", … }}]')
    else:
        keys = {} if rest else topics.anywhere(OWN.get(head, head))
        figure = figures.meaning(name)
        if keys or figure is None:
            _print_found(name, path, schemas, keys)
        if figure is not None:
            _print_figure(name, *figure)


def _explain_clock(name: str, path: list[str]) -> None:
    """Explains the keys of `lightloom clock`, which are in no experiment."""
    schema, rest = topics.clock(), ".".join(path[1:])
    if not rest:
        paragraph("lightloom clock: keys of CLOCK.toml and --set", style="bold")
        paragraph(describe.summary_of(schema))
        for parameter in describe.parameters(schema):
            _print_parameter(parameter, parameter.key, 2)
        return
    found = describe.find(schema, rest)
    if found is None:
        raise topics.unknown(name, path, {"clock": schema})
    _print_parameter(found, rest)


def _print_topics() -> None:
    """Lists the topics."""
    for name, table in topics.tables().items():
        paragraph(f"{name}: {describe.summary_of(table).partition('. ')[0].rstrip('.')}")
    paragraph("fabric: the fabrics; each kind by itself:")
    for kind, entry in registry().items():
        paragraph(f"{kind}: {entry['title']}", indent=2)
    paragraph(f"policies: algorithms that decide on circuits: {', '.join(topics.policies())}")
    paragraph(f"sizes of flows: {', '.join(topics.published())}")
    paragraph(f"jobs: {', '.join(topics.jobs_of())}")
    paragraph("clock: the keys of lightloom clock")
    console.say("")
    paragraph(
        "lightloom explain NAME prints details, also of a key: workload.load, sirius.queue, "
        "policy.hydra.hops; fabric.queue or queue finds it wherever it is one."
    )


def _print_fabrics(kinds: Mapping[str, Table]) -> None:
    """Prints the common keys of `[[fabric]]` tables, and the kinds."""
    paragraph("[[fabric]] of an experiment, once for each fabric", style="bold")
    keys = {p.key: p for p in describe.parameters(next(iter(topics.fabrics_keys().values())))}
    for key in ("label", "preset"):
        paragraph(f"{key}: {keys[key].description}", indent=2)
    paragraph("kind: one of", indent=2)
    for kind, entry in kinds.items():
        presets = ", ".join(preset["name"] for preset in entry["presets"])
        paragraph(f'"{kind}": {entry["title"]}; presets {presets}', indent=4)
    console.say("")
    paragraph(
        "lightloom explain KIND lists the keys of a fabric, explain fabric.KEY the fabrics that "
        "have it."
    )


def _print_figure(name: str, key: str, meaning: str) -> None:
    """Prints the meaning of a figure of results."""
    of = f", in its table {key}" if name != key else ""
    paragraph(f"{name}  (key of summary.json{of}: what a run leaves behind)", style="bold")
    paragraph(meaning, indent=2)


def _print_found(
    name: str, path: Sequence[str], schemas: Mapping[str, Table], found: Mapping[str, Parameter]
) -> None:
    """Prints the keys that a name may mean; equal ones only once."""
    if not found:
        raise topics.unknown(name, path, schemas)
    if len(found) == 1:
        full, parameter = next(iter(found.items()))
        _print_parameter(parameter, full)
    else:
        alike: dict[str, list[str]] = {}
        for full, parameter in found.items():
            alike.setdefault(parameter.description, []).append(full)
        for description, names in alike.items():
            for full in names:
                paragraph(f"{full}  ({_facts(found[full])})", style="bold")
            paragraph(description, indent=2)
    of_fabrics = [full for full in found if full.startswith("fabric.")]
    if of_fabrics:
        console.say("")
        paragraph(SETTING.format(key=of_fabrics[0].split(".", 2)[2]))


def _print_fabric(entry: Table) -> None:
    paragraph(f"{entry['kind']}: {entry['title']}", style="bold")
    paragraph(entry["source"])
    paragraph(entry["summary"])
    console.say("")
    for preset in entry["presets"]:
        paragraph(f'preset = "{preset["name"]}": {preset["summary"]}')
    console.say("")
    _print_parameters(describe.parameters(entry["schema"]))


def _explain_policy(name: str, path: Sequence[str]) -> None:
    """Explains the policies, one of them, or a key of one."""
    if not path:
        print_policies()
        return
    entry = topics.policy(path[0], name)
    if not path[1:]:
        _print_policy(entry)
        return
    rest = ".".join([OWN.get(path[1], path[1]), *path[2:]])
    found = describe.find(entry["schema"], rest)
    if found is None:
        raise topics.unknown_below(name, entry["schema"], f"policy.{entry['kind']}", rest)
    _print_parameter(found, f"policy.{entry['kind']}.{rest}")
    if rest in RENAMED:
        console.say(f"  lightloom plan calls it --{RENAMED[rest]}.")


def print_policies() -> None:
    """Lists the policies with their decisions and sources."""
    paragraph("policies: algorithms that decide on circuits", style="bold")
    for entry in topics.policies().values():
        paragraph(f"{_names(entry)}: {entry['summary']}", indent=2)
        paragraph(entry["source"], indent=4)
    console.say("")
    paragraph(
        'A fabric of kind "hybrid" takes any of them as its policy, lightloom plan as its '
        "--algorithm. lightloom explain policy.KIND lists the keys of one."
    )


def _print_policy(entry: Table) -> None:
    paragraph(_names(entry), style="bold")
    paragraph(entry["source"])
    paragraph(entry["summary"])
    console.say("")
    paragraph(f'policy = {{ kind = "{entry["kind"]}", … }}')
    found = describe.parameters(entry["schema"])
    _print_parameters(found)
    if not found:
        paragraph("It has no keys of its own.", indent=2)
    switch = describe.parameters(entry["switch"])
    if switch:
        console.say("")
        paragraph(
            "Properties of the switch for lightloom plan; a fabric has its own keys for them:"
        )
        _print_parameters(switch)


def _names(entry: Table) -> str:
    return f"{entry['kind']} ({', '.join(entry['aliases'])})" if entry["aliases"] else entry["kind"]


def _print_workload(entry: Table) -> None:
    paragraph(f'sizes = "{entry["name"]}"', style="bold")
    paragraph(entry["source"])
    for key, value in entry.items():
        if key not in ("name", "source", "points"):
            paragraph(f"{key}: {value}", indent=2)
    console.say("")
    table = console.plain_table()
    table.add_column("size [B]", justify="right")
    table.add_column("fraction of flows up to it", justify="right")
    for size, fraction in entry["points"]:
        table.add_row(f"{size:,.0f}", f"{fraction:g}")
    console.out().print(table)


def _print_parameters(parameters: Sequence[Parameter]) -> None:
    """Prints a line of facts and an explanation for each key."""
    for parameter in parameters:
        paragraph(f"{parameter.key}  ({_facts(parameter)})", style="bold", indent=2)
        paragraph(parameter.description, indent=4)


def _print_parameter(parameter: Parameter, name: str, indent: int = 0) -> None:
    paragraph(f"{name}  ({_facts(parameter)})", style="bold", indent=indent)
    paragraph(parameter.description, indent=indent + 2)
    for choice in parameter.choices:
        about = f": {choice.description}" if choice.description else ""
        paragraph(f"{choice.name}{about}", indent=indent + 2)
        for inner in choice.parameters:
            _print_parameter(inner, inner.key, indent + 6)
    for inner in parameter.parameters:
        _print_parameter(inner, inner.key, indent + 2)


def _facts(parameter: Parameter) -> str:
    """Formats `whole number, default 4`, or `one of "fifo", "random", default "fifo"`."""
    kind = parameter.kind
    if kind == "table":
        return kind
    if kind == "one of":
        kind = "one of " + ", ".join(choice.name for choice in parameter.choices)
    elif kind.endswith(KINDS) and parameter.choices:
        kind = kind.removesuffix(KINDS) + _kinds(parameter.choices)
    if parameter.default == "required":
        return f"{kind}, required"
    if parameter.default == "none":
        return f"{kind}, optional"
    return f"{kind}, default {parameter.default}"


def _kinds(choices: Sequence[Choice]) -> str:
    """Lists the values of a key; for tables, only their names."""
    tables = (c.name.startswith("{") for c in choices)
    pairs = zip(choices, tables, strict=True)
    names = [*dict.fromkeys(f'"{topics.kind_of(c)}"' if table else c.name for c, table in pairs)]
    if all(name.startswith('"') for name in names):
        return f"one of {', '.join(names)}"
    return " or ".join(names)


def paragraph(text: str, *, style: str = "", indent: int = 0) -> None:
    """Prints text wrapped at the width of the terminal; words, and thus keys, are not broken."""
    screen, margin = console.out(), " " * indent
    for part in text.splitlines():
        lines = textwrap.wrap(
            part,
            max(screen.width, 40) - indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in lines:
            screen.print(Text(margin + line, style=style), soft_wrap=True)
