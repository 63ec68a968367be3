"""Keys of an experiment set by hand: `KEY=VALUE` of `--set`, and the `set` of cases.

What a key means, and what it may be, is the core's to say; here it is only found. A
number counts into a list of tables, a label names a fabric. Messages write either in
brackets, `fault[0].node`: that is taken as well.
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

from lightloom import _core
from lightloom.config import schema as experiment_schema
from lightloom.errors import refusal
from lightloom.storage import reading

Table = dict[str, Any]
#: The key of a fabric that may name a preset, or be a table above one.
DEVICES = "devices"
#: How alike a mistyped key is to the one that was meant.
TYPO = 0.75


def fabrics_of(raw: Table) -> list[Table]:
    """The `[[fabric]]` tables, if that is what they are."""
    fabrics = raw.get("fabric", [])
    if not isinstance(fabrics, list) or not all(isinstance(f, dict) for f in fabrics):
        raise refusal("fabric", as_json(fabrics), "must be tables", "write [[fabric]] above it")
    return fabrics


def as_json(value: Any) -> str:
    """A value as messages show it."""
    return json.dumps(value, default=str)


def set_in_experiment(raw: Table, override: str) -> None:
    """Applies one `KEY=VALUE` to an experiment, whose keys stand in tables."""
    key, equals, _ = override.partition("=")
    if equals:
        _refuse_bare(key.strip(), override)
    set_one(raw, override)


def set_value(raw: Table, key: str, value: Any) -> None:
    """Sets a dotted key of an experiment to a value, as Python programs do."""
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
    """Refuses a key of a table without its table, with the full name: `load=0.5`."""
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
    """The keys of each table of an experiment, but for fabrics."""
    found = {}
    for table, part in schema["properties"].items():
        definition = schema["$defs"].get(part.get("$ref", "").rpartition("/")[2], {})
        found[table] = set(definition.get("properties", {}))
    return found


def set_key(raw: Table, key: str, value: Any, where: str, shown: str) -> None:
    """Sets a dotted key; `where` and `shown` are what a refusal blames."""
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
    """Refuses a key that no fabric has and that is nearly one of those in the file: the core
    would tell the keys of the first kind."""
    kinds = dict.fromkeys(str(fabric.get("kind")) for fabric in fabrics)
    if len(kinds) < 2 or key in _fabric_keys():
        return
    known = _keys_by_kind()
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
    """Refuses a key that some fabrics of the file have and others have not: the core would blame
    the others."""
    known = _keys_by_kind()
    keys = {_fabric_label(f): known[f["kind"]] for f in fabrics if f.get("kind") in known}
    having = [label for label, own in keys.items() if path[0] in own]
    lacking = [label for label in keys if label not in having]
    if having and lacking and path[0] not in {"kind", "label", "preset", DEVICES}:
        has = "has" if len(lacking) == 1 else "have"
        limit = f'{" and ".join(lacking)} {has} no key "{path[0]}"'
        each = " or ".join(".".join(["fabric", toml_key(x), *map(toml_key, path)]) for x in having)
        raise refusal(where, shown, limit, f"write {each}")


def _fabric_label(fabric: Table) -> str:
    """What a fabric is called: its label, or its kind."""
    return str(fabric.get("label", fabric.get("kind")))


def _fabric_keys() -> set[str]:
    """The keys that a fabric of some kind has."""
    return {"kind", "label", "preset"}.union(*_keys_by_kind().values())


def _keys_by_kind() -> dict[str, list[str]]:
    """The keys of each kind of fabric."""
    return {kind["kind"]: [*kind["schema"]["properties"]] for kind in json.loads(_core.registry())}


def _key_path(key: str) -> list[str]:
    """A dotted key; parts with other characters are quoted as in TOML."""
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
    """A key whose numbers and labels may stand in brackets, with dots alone.

    >>> without_brackets("fabric[my.clos].queue"), without_brackets("fault[0].node")
    ('fabric."my.clos".queue', 'fault.0.node')
    """
    return re.sub(
        r'"[^"]*"|\[([^\[\]"]+)\](?=[.\[]|$)',
        lambda found: found[0] if found[1] is None else f".{toml_key(found[1])}",
        key,
    )


def toml_key(key: str) -> str:
    """A part of a key as TOML writes it."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else toml_literal(key)


def toml_literal(value: Any) -> str:
    """A value on one line, as --set and messages have it.

    >>> toml_literal({"kind": "pareto", "means": [0.5, True]})
    '{ kind = "pareto", means = [0.5, true] }'
    """
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{toml_key(k)} = {toml_literal(v)}" for k, v in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_literal, value))}]"
    if isinstance(value, float):
        return repr(value)  # JSON has other words for what is not finite
    # JSON's are TOML's; but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(text: str) -> Any:
    """A TOML literal, or else the text itself: `0.9`, `[1, 2]`, `100 ns`."""
    try:
        table = tomllib.loads(f"value = {text}")
        value = table.pop("value")
        reading.check_depth({"value": value})
        return text if table else plain(value, "")
    except (ValueError, RecursionError):  # ConfigError is a ValueError
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
    """Sets `path[depth:]` below `table`; numbers count into lists."""
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
    """Refuses to count into a list of tables that the experiment does not have."""
    name = ".".join(path[: here + 1])
    if name in _lists():
        limit = f"the experiment has no [[{name}]]"
        raise refusal(".".join(path), as_json(value), limit, f"add [[{name}]] to the file")


def _place(items: list[Any], path: list[str], here: int, value: Any) -> int:
    """The number of an entry of a list, as written at `path[here]`."""
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
    """What an entry of a list is called; nothing where it has no name."""
    return str(item.get("label", "")) if isinstance(item, dict) else ""


def _has(items: list[Any], key: str) -> bool:
    """Whether an entry of a list has the key."""
    return any(isinstance(item, dict) and key in item for item in items)


def plain(value: Any, key: str) -> Any:
    """The value, if JSON has its like; TOML's dates and not-a-numbers have none."""
    if isinstance(value, Mapping):
        return {k: plain(v, f"{key}.{k}" if key else str(k)) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, f"{key}[{i}]") for i, v in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise refusal(key or "value", value, "is not a finite number", "write one, like 3.0")
    if isinstance(value, (str, bool, int, float)):
        return value
    raise refusal(key or "value", value, "is no text, number or truth value", "correct the value")
