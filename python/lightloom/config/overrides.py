"""Overrides of keys: `KEY=VALUE` of `--set`, and the `set` of cases.

The core checks keys and values; this module only locates the key in the tables. A number is an
index into a list of tables, a label names a fabric. Messages write either in brackets, as in
`fault[0].node`, and that form is accepted as well.
"""

from __future__ import annotations

import copy
import difflib
import functools
import json
import math
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from lightloom.config import schema as experiment_schema
from lightloom.config.fabrics import registry
from lightloom.errors import refusal
from lightloom.storage import reading

Table = dict[str, Any]
#: A key of a fabric whose value is a preset's name, or a table that changes a preset.
DEVICES = "devices"
#: Smallest similarity of a misspelt key to the key that an error suggests.
TYPO = 0.75


def fabrics_of(raw: Table) -> list[Table]:
    """Returns the `[[fabric]]` tables; an empty list if `fabric` has another form."""
    fabrics = raw.get("fabric", [])
    if not isinstance(fabrics, list) or not all(isinstance(f, dict) for f in fabrics):
        raise refusal("fabric", as_json(fabrics), "must be tables", "write [[fabric]] above it")
    return fabrics


def as_json(value: Any) -> str:
    """Formats a value as messages show it."""
    return json.dumps(value, default=str)


def set_in_experiment(raw: Table, override: str) -> None:
    """Applies one `KEY=VALUE` to an experiment; the key must include its table."""
    key, equals, _ = override.partition("=")
    if equals:
        _refuse_bare(key.strip(), override)
    set_one(raw, override)


def set_value(raw: Table, key: str, value: Any) -> None:
    """Sets a dotted key of an experiment to a value that a Python program gives."""
    shown = f'"{key}" = {as_json(value)}'
    if not isinstance(key, str):
        raise refusal("overrides", as_json(key), "is no key", 'write it like "workload.load"')
    _refuse_bare(key, key)
    set_key(raw, key, value, "overrides", shown)


def set_one(raw: Table, override: str) -> None:
    """Applies one `KEY=VALUE`."""
    key, equals, text = override.partition("=")
    if not equals:
        raise refusal("--set", f'"{override}"', "has no `=`", "write KEY=VALUE")
    set_key(raw, key.strip(), _value(text.strip()), "--set", f'"{override}"')


def _refuse_bare(key: str, override: str) -> None:
    """Raises an error if the key lacks its table, as in `load=0.5`; it states the full key."""
    if "." in key:
        return
    schema = experiment_schema.schema()
    if key in schema["properties"]:
        return
    above = [table for table, keys in _tables(schema).items() if key in keys]
    if not above and key in _fabric_keys():
        above = ["fabric"]
    if above:
        names = " or ".join(f"{table}.{key}" for table in above)
        limit = f"{key} is a key of {' and of '.join(f'[{table}]' for table in above)}"
        raise refusal("--set", f'"{override}"', limit, f"write {names}")


def _tables(schema: Table) -> dict[str, set[str]]:
    """Returns the keys of each table of an experiment, except those of fabrics."""
    found = {}
    for table, part in schema["properties"].items():
        definition = schema["$defs"].get(part.get("$ref", "").rpartition("/")[2], {})
        found[table] = set(definition.get("properties", {}))
    return found


def set_key(raw: Table, key: str, value: Any, where: str, shown: str) -> None:
    """Sets a dotted key; errors name `where` as the key and `shown` as the value."""
    path = _key_path(key)
    if path[0] != "fabric" or len(path) == 1:
        _assign(raw, path, value, 0)
        return
    fabrics = fabrics_of(raw)
    if not fabrics:
        raise refusal(where, shown, "the experiment has no fabric", "add [[fabric]]")
    chosen = [f for f in fabrics if f.get("label", f.get("kind")) == path[1]]
    if chosen and len(path) > 2:
        path = [path[0], *path[2:]]
    elif len(path) > 2 and path[1] not in _fabric_keys():
        labels = ", ".join(str(f.get("label", f.get("kind"))) for f in fabrics)
        limit = f"no fabric is labelled {path[1]}"
        raise refusal(where, shown, limit, f"choose one of {labels}")
    else:
        chosen = fabrics
        _refuse_typo(path[1], fabrics, where, shown)
        _refuse_key_of_some(path[1:], fabrics, where, shown)
    for fabric in chosen:
        _assign(fabric, path, copy.deepcopy(value), 1)


def _refuse_typo(key: str, fabrics: list[Table], where: str, shown: str) -> None:
    """Raises an error if no fabric has the key and it resembles a key of a fabric in the file. The
    core would list only the keys of the first kind."""
    kinds = dict.fromkeys(str(fabric.get("kind")) for fabric in fabrics)
    if len(kinds) < 2 or key in _fabric_keys():
        return
    known = keys_by_kind()
    near: dict[str, list[str]] = {}
    for kind in kinds:
        for found in difflib.get_close_matches(key, known.get(kind, ()), 1, TYPO):
            near.setdefault(found, []).append(kind)
    if near:
        meant = max(near, key=lambda found: difflib.SequenceMatcher(None, key, found).ratio())
        having = [f for f in fabrics if f.get("kind") in near[meant]]
        remedy = f'did you mean "{meant}", a key of {" and ".join(near[meant])}?'
        if len(having) < len(fabrics):
            label = toml_key(str(having[0].get("label", having[0].get("kind"))))
            remedy += f" Write fabric.{label}.{meant}"
        raise refusal(where, shown, f'no fabric has a key "{key}"', remedy)


def _refuse_key_of_some(path: list[str], fabrics: list[Table], where: str, shown: str) -> None:
    """Raises an error if only some fabrics of the file have the key. The core would report the
    others."""
    known = keys_by_kind()
    keys = {_fabric_label(f): known[f["kind"]] for f in fabrics if f.get("kind") in known}
    having = [label for label, own in keys.items() if path[0] in own]
    lacking = [label for label in keys if label not in having]
    if having and lacking and path[0] not in {"kind", "label", "preset", DEVICES}:
        has = "has" if len(lacking) == 1 else "have"
        limit = f'{" and ".join(lacking)} {has} no key "{path[0]}"'
        each = " or ".join(".".join(["fabric", toml_key(x), *map(toml_key, path)]) for x in having)
        raise refusal(where, shown, limit, f"write {each}")


def _fabric_label(fabric: Table) -> str:
    """The name of a fabric: its label, or else its kind."""
    return str(fabric.get("label", fabric.get("kind")))


def _fabric_keys() -> set[str]:
    """The keys that at least one kind of fabric has."""
    return {"kind", "label", "preset"}.union(*keys_by_kind().values())


def keys_by_kind() -> dict[str, list[str]]:
    """Kind → keys of that kind of fabric."""
    return {kind: [*entry["schema"]["properties"]] for kind, entry in registry().items()}


def _key_path(key: str) -> list[str]:
    """Splits a dotted key; parts with special characters are quoted as in TOML."""
    try:
        rest: Any = tomllib.loads(f"{without_brackets(key)} = 0")
    except ValueError:
        rest = {}
    path: list[str] = []
    while isinstance(rest, dict) and len(rest) == 1:
        part, rest = next(iter(rest.items()))
        path.append(part)
    if rest != 0 or "\n" in key:
        raise refusal("--set", f'"{key}"', "is not a key", 'write it like workload.load or a."b c"')
    if len(path) > reading.DEEPEST:
        limit = f"a key of {len(path):,} parts, more than {reading.DEEPEST}"
        raise refusal("--set", f'"{key}"', limit, "shorten it")
    return path


def without_brackets(key: str) -> str:
    """Rewrites a key with indices or labels in brackets to a key with dots only.

    >>> without_brackets("fabric[my.clos].queue"), without_brackets("fault[0].node")
    ('fabric."my.clos".queue', 'fault.0.node')
    """
    return re.sub(
        r'"[^"]*"|\[([^\[\]"]+)\](?=[.\[]|$)',
        lambda found: found[0] if found[1] is None else f".{toml_key(found[1])}",
        key,
    )


def toml_key(key: str) -> str:
    """Formats a part of a key as TOML does."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else toml_literal(key)


def toml_literal(value: Any) -> str:
    """Formats a value on one line, as for `--set` and in messages.

    >>> toml_literal({"kind": "pareto", "means": [0.5, True]})
    '{ kind = "pareto", means = [0.5, true] }'
    """
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{toml_key(k)} = {toml_literal(v)}" for k, v in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_literal, value))}]"
    if isinstance(value, float):
        return repr(value)  # JSON and TOML spell infinity and NaN differently
    # JSON literals are valid TOML, except for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(text: str) -> Any:
    """Parses a TOML literal such as `0.9` or `[1, 2]`; other text, such as `100 ns`, is a
    string."""
    try:
        table = tomllib.loads(f"value = {text}")
        value = table.pop("value")
        reading.check_depth({"value": value})
        return text if table else plain(value, "")
    except (ValueError, RecursionError):  # `ConfigError` is a subclass of ValueError
        return text


@functools.cache
def _lists() -> set[str]:
    """The keys of an experiment that hold lists of tables, such as `fault`."""
    schema = experiment_schema.schema()
    found = set()
    for key, part in schema["properties"].items():
        table = schema["$defs"].get(part.get("$ref", "").rpartition("/")[2], {})
        below = {f"{key}.{name}": inner for name, inner in table.get("properties", {}).items()}
        for path, value in {key: part, **below}.items():
            if value.get("type") == "array" and "$ref" in value["items"]:
                found.add(path)
    return found


def _assign(table: Any, path: list[str], value: Any, depth: int) -> None:
    """Sets `path[depth:]` below `table`; numbers are indices into lists."""
    for here in range(depth, len(path) - 1):
        part = path[here]
        if isinstance(table, list):
            table = table[_place(table, path, here, value)]
        elif isinstance(table, dict):
            if part not in table:
                _refuse_no_list(path, here, value)
            if part == DEVICES and isinstance(table.get(part), str):
                table[part] = {"preset": table[part]}
            table = table.setdefault(part, {})
        if not isinstance(table, (dict, list)):
            above = ".".join(path[: here + 1])
            raise refusal(above, as_json(table), "is not a table", f"set {above} as a whole")
    if isinstance(table, list):
        table[_place(table, path, len(path) - 1, value)] = value
    else:
        table[path[-1]] = value


def _refuse_no_list(path: list[str], here: int, value: Any) -> None:
    """Raises an error for an index into a list of tables that the experiment does not have."""
    name = ".".join(path[: here + 1])
    if name in _lists():
        limit = f"the experiment has no [[{name}]]"
        raise refusal(".".join(path), as_json(value), limit, f"add [[{name}]] to the file")


def _place(items: list[Any], path: list[str], here: int, value: Any) -> int:
    """Returns the index into a list that is written at `path[here]`."""
    part, above = path[here], ".".join(path[:here])
    if part.isdecimal() and int(part) < len(items):
        return int(part)
    key, labels = ".".join(path), [_label(item) for item in items]
    if not items:
        raise refusal(key, as_json(value), f"{above} is an empty list", f"set {above} as a whole")
    limit = f"{above} is a list of {len(items)}, counted from 0"
    if all(labels):
        limit += f": {', '.join(map(as_json, labels))}"
    near = difflib.get_close_matches(part, labels, 1)
    instead = part.isdecimal() or bool(near) or (here + 1 < len(path) and not _has(items, part))
    rest = path[here + 1 :] if instead else path[here:]
    number = labels.index(near[0]) if near else 0
    like = ".".join([above, str(number), *rest])
    several = f"a number from 0 to {len(items) - 1}, as in " if len(items) > 1 else ""
    raise refusal(key, as_json(value), limit, f"write {several}{like}")


def _label(item: Any) -> str:
    """The label of an entry of a list; empty if it has none."""
    return str(item.get("label", "")) if isinstance(item, dict) else ""


def _has(items: list[Any], key: str) -> bool:
    """Whether an entry of a list has the key."""
    return any(isinstance(item, dict) and key in item for item in items)


def plain(value: Any, key: str) -> Any:
    """Returns the value if JSON can represent it; raises an error for dates and for NaN."""
    if isinstance(value, Mapping):
        return {k: plain(v, f"{key}.{k}" if key else str(k)) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, f"{key}[{i}]") for i, v in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise refusal(key or "value", value, "is not a finite number", "write one, like 3.0")
    if isinstance(value, (str, bool, int, float)):
        return value
    raise refusal(key or "value", value, "is not text, a number or a Boolean", "correct the value")
