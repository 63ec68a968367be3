"""Writes generated pages of the documentation: the configuration reference from the schemas, and
the outcomes from the claims.

MkDocs calls the functions (`hooks` in mkdocs.yml).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from lightloom import _core
from lightloom.cli import describe
from lightloom.cli.describe import Parameter
from lightloom.config import schema as experiment_schema
from lightloom.validation import Claims

ROOT = Path(__file__).resolve().parents[1]


def on_files(files: Files, config: Any) -> Files:
    """Adds the generated page."""
    page = File.generated(config, "configuration.md", content="\n".join(configuration()))
    files.append(page)
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Inserts the table of claims if a page requests it."""
    return markdown.replace("<!-- claims -->", "\n".join(claims()))


def configuration() -> Iterator[str]:
    """The configuration reference."""
    yield "# Configuration reference"
    yield ""
    yield "Generated from the simulator's own schema, as `lightloom explain` is."
    schema = experiment_schema.schema()
    for name, table in describe.tables(schema).items():
        yield from section(name, f"`[{name}]`", describe.summary_of(table), table)
    for entry in json.loads(_core.registry()):
        yield from section(
            entry["kind"], f"Fabric `{entry['kind']}`", entry["summary"], entry["schema"]
        )
        yield "\n**Presets**\n"
        for preset in entry["presets"]:
            yield f'- `preset = "{preset["name"]}"`: {preset["summary"]}'


def section(anchor: str, title: str, summary: str, schema: dict[str, Any]) -> Iterator[str]:
    """A heading and a table of parameters, then their choices."""
    yield f"\n## {title} {{ #{anchor} }}\n"
    yield f"{summary}\n"
    parameters = describe.parameters(schema)
    yield "| key | takes | unless given | meaning |"
    yield "|---|---|---|---|"
    for parameter in parameters:
        yield row(parameter)
    for parameter in parameters:
        yield from choices(parameter)


def row(parameter: Parameter) -> str:
    """A parameter as a row of a table."""
    takes = parameter.kind
    if takes == "one of":
        takes = " ".join(f"`{choice.name}`" for choice in parameter.choices)
    unless = {"required": "required", "none": ""}
    default = unless.get(parameter.default, f"`{parameter.default}`")
    cells = (f"`{parameter.key}`", takes, default, parameter.description)
    return (
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells) + " |"
    )


def choices(parameter: Parameter) -> Iterator[str]:
    """Returns the meanings of a parameter's values, if they have meanings."""
    told = [choice for choice in parameter.choices if choice.description]
    if not told:
        return
    yield f"\n**`{parameter.key}`**\n"
    for choice in told:
        yield f"- `{choice.name}`: {choice.description}"
        for inner in choice.parameters:
            yield f"    - `{inner.key}` ({inner.kind}): {inner.description}"


def claims() -> Iterator[str]:
    """Returns every recorded claim with its outcome."""
    for path in sorted(ROOT.glob("validation/*/claims.toml")):
        record = Claims.read(path)
        yield f"\n## {record.title}\n"
        yield "| claim | expected | outcome |"
        yield "|---|---|---|"
        for claim in record.claim:
            expected = "-" if claim.expect is None else f"{claim.expect} {claim.unit}"
            notes = " ".join(filter(None, [claim.criterion, claim.reason]))
            about = f"{claim.statement} *Measured: {claim.measures}.* {notes}"
            yield f"| {about.strip()} | {expected.strip()} | {claim.status_text(claim.status)} |"
