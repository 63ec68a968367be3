"""Reads the JSON Schemas of configuration types as parameters for display.

`lightloom explain` prints them, and the reference in the documentation is made of them. Only the
forms of schema that the configuration types produce are supported: quantities, numbers, texts,
choices, tagged tables and lists.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Schema = dict[str, Any]
ABSENT = object()


@dataclass(frozen=True)
class Choice:
    """One value, or one kind of table, that a parameter may have."""

    name: str
    description: str
    parameters: list[Parameter] = field(default_factory=list)


@dataclass(frozen=True)
class Parameter:
    """A key of a table: its meaning, its values and its default."""

    key: str
    description: str
    kind: str
    default: str
    choices: list[Choice]
    parameters: list[Parameter]


def tables(experiment: Schema) -> dict[str, Schema]:
    """Returns the tables of an experiment by name, each with the definitions that it needs. The
    tables of fabrics are in the registry.
    """
    found = {}
    for name, schema in experiment.get("properties", {}).items():
        table = _resolve(schema, experiment)
        if table.get("type") == "array" and "items" in table:
            table = {**_resolve(table["items"], experiment), **_only_description(table)}
        if "properties" in table and name != "fabric":
            found[name] = {**table, "$defs": experiment.get("$defs", {})}
    return found


def parameters(schema: Schema, root: Schema | None = None) -> list[Parameter]:
    """Returns the keys of a table, in the order of its schema."""
    root = root or schema
    required = set(schema.get("required", []))
    return [
        _parameter(key, value, root, key in required)
        for key, value in schema.get("properties", {}).items()
    ]


def find(schema: Schema, path: str) -> Parameter | None:
    """Returns the parameter at a dotted path below a table, including its choices, which are named
    by their kind: `jobs.sort.data`."""
    head, _, rest = path.partition(".")
    for parameter in parameters(schema):
        if parameter.key == path:  # the keys of digests are dotted themselves
            return parameter
        if parameter.key == head:
            return _below(parameter, rest) if rest else parameter
    return None


def summary_of(schema: Schema) -> str:
    """Returns the description of a table, on one line."""
    return flat(schema.get("description", ""))


def flat(text: str) -> str:
    """Removes line breaks within the paragraphs of a description."""
    return "\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _below(parameter: Parameter, path: str) -> Parameter | None:
    head, _, rest = path.partition(".")
    for choice in parameter.choices:
        if f'"{head}"' in choice.name and choice.parameters:
            table = Parameter(head, choice.description, "table", "", [], choice.parameters)
            return _below(table, rest) if rest else table
    inner = [*parameter.parameters, *(p for c in parameter.choices for p in c.parameters)]
    for candidate in inner:
        if candidate.key == head:
            return _below(candidate, rest) if rest else candidate
    return None


def _parameter(key: str, raw: Schema, root: Schema, required: bool) -> Parameter:
    schema = _resolve(raw, root)
    default = raw.get("default", schema.get("default", ABSENT))
    items = schema.get("items")
    several = _resolve(items, root) if isinstance(items, dict) else schema
    nested = parameters(several, root) if "properties" in several else []
    return Parameter(
        key=key,
        description=flat(raw.get("description") or schema.get("description", "")),
        kind=_kind(schema, root),
        default=_default(default, required),
        choices=list(_choices(several, root)),
        parameters=nested,
    )


def _default(value: Any, required: bool) -> str:
    if value is ABSENT or value is None:
        return "required" if required else "none"
    # A zero has no best unit; the core writes it in its smallest one.
    value = "0 s" if value == "0 ps" else value
    return json.dumps(value, ensure_ascii=False)


def _resolve(schema: Schema, root: Schema) -> Schema:
    """Follows references; keys beside a reference override those of its target."""
    while "$ref" in schema:
        target: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target, **beside}
    options = [o for o in schema.get("anyOf", []) if o.get("type") != "null"]
    if len(options) == 1:
        beside = {key: value for key, value in schema.items() if key != "anyOf"}
        return {**_resolve(options[0], root), **beside}
    return schema


def _kind(schema: Schema, root: Schema) -> str:
    """Describes the type of a value."""
    kinds = schema.get("type", [])
    names = [k for k in (kinds if isinstance(kinds, list) else [kinds]) if k != "null"]
    options = _options(schema)
    if options:
        resolved = [_resolve(o, root) for o in options]
        if all(_constant(o) is not ABSENT or "enum" in o for o in resolved):
            return "one of"
        return "one of these kinds"
    if "enum" in schema:
        return "one of"
    if names == ["array"]:
        item = _resolve(schema.get("items", {}), root) if schema.get("items") is not True else {}
        kind = _kind(item, root)
        return f"list of {'tables' if kind == 'table' else kind}"
    text = schema.get("format") if names == ["string"] else None
    if isinstance(text, str):
        example = schema.get("examples", [""])[0]
        return f'{text}, like "{example}"' if example else text
    words = {"string": "text", "integer": "whole number", "object": "table"}
    return " or ".join(words.get(n, n) for n in names) + _range(schema) or "value"


def _range(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low in (None, 0) and high is None:
        return ""
    if high is None:
        return f", at least {low:,}"
    return f", {low or 0:,} to {high:,}"


def _options(schema: Schema) -> list[Schema]:
    options: list[Schema] = schema.get("oneOf") or schema.get("anyOf") or []
    return [o for o in options if o.get("type") != "null"]


def _constant(schema: Schema) -> Any:
    return schema.get("const", ABSENT)


def _choices(schema: Schema, root: Schema) -> Iterator[Choice]:
    """Returns values with their meaning, and tables by their `kind`."""
    for value in schema.get("enum", []):
        if value is not None:
            yield Choice(json.dumps(value), "")
    for raw in _options(schema):
        option = _resolve(raw, root)
        about = flat(option.get("description", ""))
        constant = _constant(option)
        tag = option.get("properties", {}).get("kind", {})
        if constant is not ABSENT:
            yield Choice(json.dumps(constant), about)
        elif "enum" in option:
            for value in option["enum"]:
                yield Choice(json.dumps(value), about)
        elif "const" in tag:
            inner = [p for p in parameters(option, root) if p.key != "kind"]
            yield Choice(f"{{ kind = {json.dumps(tag['const'])}, … }}", about, inner)
        elif _options(option):
            yield from _choices(option, root)
        else:
            yield Choice(_kind(option, root), about, parameters(option, root))


def _only_description(schema: Schema) -> Schema:
    return {"description": schema["description"]} if "description" in schema else {}
