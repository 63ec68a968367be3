"""Topics of `explain`, by name: fabrics, policies, tables, their keys, flow sizes, jobs.

A key is found by its name for `--set`, such as `fabric.sirius.queue` or `workload.load`; by its
name in messages, such as `fault[0].node`; by the kind of its fabric, `sirius.queue`; for all
fabrics that have it, `fabric.queue`; or alone, `queue`. A policy is found as `policy.hydra` and its
keys as `policy.hydra.hops`, because some fabrics have the name of the policy that they run;
otherwise `edmonds` and `solstice.night` are sufficient.

The core's data are read once in a process and must not be changed.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lightloom import _core
from lightloom.cli import describe
from lightloom.cli.describe import Parameter
from lightloom.config import schema as experiment_schema
from lightloom.config.fabrics import registry
from lightloom.config.overrides import without_brackets
from lightloom.config.refusal_text import PLANNED, here
from lightloom.errors import ConfigError, refusal

Table = dict[str, Any]


@functools.cache
def policies() -> dict[str, Table]:
    """The policies by kind."""
    return {entry["kind"]: entry for entry in json.loads(_core.policies())}


def policy(name: str, asked: str) -> Table:
    """Returns the policy of that name, or of an algorithm of that name; `asked` is the value in an
    error."""
    known = policies()
    by_alias = {name: entry for entry in known.values() for name in entry["aliases"]}
    found = known.get(name) or by_alias.get(name)
    if found is None:
        raise _nothing(asked, name, [*known, *by_alias], "policy.")
    return found


@functools.cache
def only_policies() -> set[str]:
    """The names of policies, or of their algorithms, that are not the name of anything else."""
    names = {name for entry in policies().values() for name in (entry["kind"], *entry["aliases"])}
    others = {*registry(), *tables(), *published(), *jobs_of(), *PLANNED}
    return names - others


def clock() -> Table:
    """The schema of a clock's table."""
    found: Table = json.loads(_core.clock_schema())
    return found


@functools.cache
def tables() -> dict[str, Table]:
    """The schemas of an experiment's tables, except those of fabrics."""
    return describe.tables(experiment_schema.schema())


@functools.cache
def published() -> dict[str, Table]:
    """The published flow sizes by name."""
    return {entry["name"]: entry for entry in json.loads(_core.workloads())}


@functools.cache
def jobs_of() -> dict[str, Parameter]:
    """The kinds of jobs, each as a parameter with its table."""
    workload = tables()["workload"]
    jobs = describe.find(workload, "jobs")
    kinds = [] if jobs is None else [kind_of(c) for c in jobs.choices if is_kind(c)]
    found = {kind: describe.find(workload, f"jobs.{kind}") for kind in kinds}
    return {kind: job for kind, job in found.items() if job is not None}


def is_kind(choice: describe.Choice) -> bool:
    """Whether a choice is a table with a kind of its own."""
    return bool(choice.parameters) and '"' in choice.name


def kind_of(choice: describe.Choice) -> str:
    """The kind of a table that is one of several kinds."""
    return choice.name.split('"')[1]


@functools.cache
def fabrics_keys() -> dict[str, Table]:
    """The schema of each fabric by kind, with the common keys."""
    root = json.loads(_core.schema())
    found = {}
    for kind, entry in registry().items():
        every = root["$defs"][f"fabric-{kind}"]["properties"]
        common = {key: every[key] for key in ("label", "preset")}
        properties = {**entry["schema"]["properties"], **common}
        found[kind] = {**entry["schema"], "properties": properties}
    return found


def path_of(name: str) -> list[str]:
    """Splits a name, without indices of lists of tables. A fabric is named by its kind; a fabric
    with another label becomes `fabric`."""
    parts = re.findall(r'"[^"]*"|[^.]+', without_brackets(name))
    path = [part.strip('"') for part in parts]
    path = [part for place, part in enumerate(path) if place == 0 or not part.isdecimal()]
    if len(path) < 2 or path[0] != "fabric":
        return path or [name]
    kinds = fabrics_keys()
    if path[1] in kinds:
        return path[1:]
    keys = {key for schema in kinds.values() for key in schema["properties"]}
    return path if path[1] in keys or len(path) < 3 else ["fabric", *path[2:]]


def of_fabrics(rest: str) -> dict[str, Parameter]:
    """Returns a key of fabrics, by its full name in each fabric that has it."""
    found = {kind: describe.find(schema, rest) for kind, schema in fabrics_keys().items()}
    return {f"fabric.{kind}.{rest}": key for kind, key in found.items() if key is not None}


def anywhere(key: str) -> dict[str, Parameter]:
    """Returns a key by its full names in all tables and fabrics, or else in tables within them."""
    fabrics = {f"fabric.{kind}": schema for kind, schema in fabrics_keys().items()}
    policed = {f"policy.{kind}": entry["schema"] for kind, entry in policies().items()}
    schemas = {**tables(), **fabrics, **policed}
    tops = {f"{above}.{p.key}": p for above, s in schemas.items() for p in describe.parameters(s)}
    found = {name: p for name, p in tops.items() if p.key == key}
    inner = (pair for name, p in tops.items() for pair in _within(name, p))
    within = {name: p for name, p in inner if p.key == key}
    # The parts of a mix have the same keys as the workload.
    alone = {name: p for name, p in within.items() if not name.startswith("workload.mix.")}
    return found or alone or within


def _within(name: str, parameter: Parameter) -> Iterator[tuple[str, Parameter]]:
    for choice in parameter.choices:
        for inner in choice.parameters:
            of_kind = f"{name}.{kind_of(choice)}" if is_kind(choice) else name
            below = f"{of_kind}.{inner.key}"
            yield below, inner
            yield from _within(below, inner)
    for inner in parameter.parameters:
        yield f"{name}.{inner.key}", inner
        yield from _within(f"{name}.{inner.key}", inner)


def _either(names: Sequence[str]) -> str:
    """Formats `a`, `a or b`, `a, b or c`."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def unknown(name: str, path: Sequence[str], schemas: Mapping[str, Table]) -> ConfigError:
    """Returns the error for an unknown name, with the nearest known one."""
    head, rest = path[0], ".".join(path[1:])
    others = list(of_fabrics(rest)) if head in registry() and rest else []
    if others:
        limit, remedy = f"{head} has no such key", f"did you mean {_either(others)}?"
        return refusal("NAME", name, limit, remedy)
    if rest and head in schemas:
        return unknown_below(name, schemas[head], head, rest)
    if head == "fabric" and rest:
        keys = dict.fromkeys(key for s in fabrics_keys().values() for key in s["properties"])
        return _nothing(name, path[1], list(keys), "fabric.")
    near = difflib.get_close_matches(head, schemas, 1) if rest else []
    if near:
        remedy = f'did you mean "{near[0]}.{rest}"?'
        return refusal("NAME", name, "nothing of this name", remedy)
    known = [*registry(), *tables(), "fabric", "policies", *published(), *jobs_of()]
    known += [*sorted(only_policies()), *(f"policy.{kind}" for kind in policies())]
    keys = dict.fromkeys(key for s in schemas.values() for key in s["properties"])
    near = (
        []
        if difflib.get_close_matches(name, known, 1)
        else difflib.get_close_matches(name, keys, 1)
    )
    return _nothing(name, name, near or known)


def unknown_below(name: str, schema: Table, head: str, rest: str) -> ConfigError:
    """Returns the error for the first unknown part of `head.rest`, with full names."""
    above, found, parts = head, describe.parameters(schema), rest.split(".")
    known = [p.key for p in found]
    while len(parts) > 1:
        inner = describe.find(schema, ".".join([above.removeprefix(head), parts[0]]).strip("."))
        if inner is None:
            break
        above = f"{above}.{parts.pop(0)}"
        kinds = [kind_of(c) for c in inner.choices if is_kind(c)]
        below = [*inner.parameters, *(p for c in inner.choices for p in c.parameters)]
        known = [*kinds, *dict.fromkeys(p.key for p in below)]
    return _nothing(name, parts[0], known, f"{above}.")


def _nothing(name: str, part: str, known: Sequence[str], above: str = "") -> ConfigError:
    """Returns the error for a name of which `part`, below `above`, is unknown."""
    if name in PLANNED:
        return refusal("NAME", name, "planned, not here yet", here())
    near = difflib.get_close_matches(part, known, 1)
    remedy = f'did you mean "{above}{near[0]}"?' if near else f"known: {', '.join(known)}"
    return refusal("NAME", name, "nothing of this name", remedy)
