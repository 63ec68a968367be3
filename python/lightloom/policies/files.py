"""Policies in files: a class `PATH:CLASS` is found, loaded and constructed with its options.

The file is read again for every run, into a new module, so that runs share nothing. The resolved
experiment holds the digest of the file, so that a later run uses the same code.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import os
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from lightloom import _core
from lightloom.errors import ConfigError, refusal
from lightloom.policies.blame import blame, with_cause
from lightloom.storage import reading

Table = dict[str, Any]

#: The key of the file's digest, in hexadecimal; not an option of the policy.
DIGEST = "sha256"
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Loaded:
    """A policy that is ready to decide."""

    policy: Any
    order: str | None
    """The order in which a change is carried out, if the policy sets it."""


def load_json(file: str, options: str) -> Loaded:
    """Loads a policy as `load` does, for the core; the options are JSON."""
    return load(file, json.loads(options))


def load(file: str, options: Mapping[str, Any], at: str = "policy") -> Loaded:
    """Loads the policy `PATH:CLASS` and constructs it with these options.

    Raises:
        ConfigError: below the key `at`, if the file or class does not exist, has no `decide` or
            rejects its options. The cause is the exception that the file itself raised, if any.
    """
    path, name = _parts(file, f"{at}.file")
    options = dict(options)
    source = _source(path, f"{at}.file", file)
    _check_digest(source, options.pop(DIGEST, None), path, at)
    found = _class(_module(path, source, f"{at}.file", file), name, path, f"{at}.file", file)
    policy = _made(found, options, at, file)
    order = getattr(policy, "order", None)
    orders = _core.orders()
    if order is not None and order not in orders:
        remedy = f"use {', '.join(map(repr, orders[:-1]))} or {orders[-1]!r}"
        shown = f"{path.name}:{name}.order"
        raise refusal(f"{at}.file", f'"{file}"', f"{shown} = {order!r} is no order", remedy)
    return Loaded(policy, order)


def check(fabrics: list[Table]) -> None:
    """Constructs the policies of some fabrics, so that errors appear before anything runs."""
    for key, table in _tables(fabrics):
        policy = table["policy"]
        if isinstance(policy, Mapping) and "file" in policy:
            options = {name: value for name, value in policy.items() if name != "file"}
            load(str(policy["file"]), options, key)


def pinned(fabrics: list[Table]) -> list[Table]:
    """Returns the fabrics with the digest of each policy's file, unless one is given.

    Raises:
        ConfigError: if a file cannot be read.
    """
    made = {id(table): table for table in fabrics}
    for key, table in _tables(fabrics):
        policy = table["policy"]
        if isinstance(policy, str) and is_file(policy):
            policy = {"file": policy}
        if isinstance(policy, Mapping) and isinstance(policy.get("file"), str):
            file = policy["file"]
            path, _ = _parts(file, f"{key}.file")
            found = _digest(_source(path, f"{key}.file", file))
            made[id(table)] = {**table, "policy": {DIGEST: found, **policy}}
    return [made[id(table)] for table in fabrics]


def _tables(fabrics: list[Table]) -> Iterator[tuple[str, Table]]:
    """The fabrics that have a policy, and the key of each."""
    for table in fabrics:
        if "policy" in table:
            label = table.get("label", table.get("kind"))
            yield "fabric.policy" if len(fabrics) == 1 else f"fabric.{label}.policy", table


def is_file(name: str) -> bool:
    """Whether the name of a policy names a file, even if the class is missing.

    >>> is_file("my_policy.py:Threshold"), is_file("my_policy.py"), is_file("hydra")
    (True, True, False)
    """
    return ":" in name or name.endswith(".py")


def _parts(file: str, key: str) -> tuple[Path, str]:
    path, _, name = file.rpartition(":")
    if not path or not name.isidentifier():
        raise refusal(key, f'"{file}"', "names no class in a file", _classes(path or name))
    return Path(path), name


def _classes(path: str) -> str:
    """Describes how to name a class of a file, without running the file."""
    try:
        found = ast.parse(reading.whole(Path(path))).body
    except (OSError, SyntaxError, ValueError):
        found = []
    names = [
        f'"{Path(path).name}:{node.name}"'
        for node in found
        if isinstance(node, ast.ClassDef)
        and any(isinstance(m, ast.FunctionDef) and m.name == "decide" for m in node.body)
    ]
    if not names:
        return 'write it like "my_policy.py:Threshold"'
    return f"name the class: {' or '.join(names)}"


def _source(path: Path, key: str, file: str) -> bytes:
    try:
        return reading.whole(path)
    except OSError as problem:
        limit = (problem.strerror or str(problem)).lower()
        if isinstance(problem, FileNotFoundError):
            limit = f"there is no file {path}"
        raise refusal(key, f'"{file}"', limit, f"check the path{_relative(path, key)}") from None


def _relative(path: Path, key: str) -> str:
    """Names the folder that relative paths refer to."""
    if key.startswith("fabric"):
        return "; it is relative to the experiment's file, with --set to where you are"
    return "" if path.is_absolute() else "; it is relative to where you are"


def digest(file: str) -> str:
    """Returns the digest of a policy's file, `PATH:CLASS`.

    Raises:
        ConfigError: if the file cannot be read.
    """
    return _digest(_source(_parts(file, "policy.file")[0], "policy.file", file))


def place(table: Mapping[str, Any]) -> tuple[Path, str]:
    """Returns the file and the class name in a policy's table.

    Raises:
        ConfigError: if the table names no class in a file.
    """
    path, name = _parts(str(table["file"]), "policy.file")
    return path.resolve(), name


def _digest(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()


def _check_digest(source: bytes, wanted: Any, path: Path, at: str) -> None:
    if wanted is None or wanted == _digest(source):
        return
    shown = str(wanted)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    limit = f"{path} has changed, its digest is now {_digest(source)[:_SHOWN]}…"
    raise refusal(f"{at}.{DIGEST}", f'"{shown}"', limit, f"restore it, or remove {DIGEST}")


def _module(path: Path, source: bytes, key: str, file: str) -> types.ModuleType:
    """Loads the file as a new module."""
    place = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
    module = types.ModuleType(f"lightloom_policy_{path.stem}_{place}")
    module.__file__ = str(path)
    # Data classes look up the module of their fields' types while they are created.
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, path, "exec"), module.__dict__)
    except Exception as problem:
        raise _raised(path.name, problem, key, f'"{file}"') from problem
    return module


def _class(module: types.ModuleType, name: str, path: Path, key: str, file: str) -> type:
    found = getattr(module, name, None)
    here = [n for n, c in vars(module).items() if _decides(c) and c.__module__ == module.__name__]
    if not isinstance(found, type):
        limit = f"{path.name} has no class {name}"
        near = get_close_matches(name, here, 1)
        remedy = f"it has {', '.join(here)}" if here else "write one with decide(demand, switch)"
        raise refusal(key, f'"{file}"', limit, f"did you mean {near[0]}?" if near else remedy)
    if not _decides(found):
        limit = f"{name} has no method decide"
        raise refusal(key, f'"{file}"', limit, "add `def decide(self, demand, switch)`")
    return found


def _decides(found: Any) -> bool:
    return isinstance(found, type) and callable(getattr(found, "decide", None))


def _made(found: type, options: Table, at: str, file: str) -> Any:
    name = found.__name__
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):  # its constructor is written in C
        signature = None
    if signature is not None:
        try:
            signature.bind(**options)
        except TypeError as problem:
            limit = f"{name} is not made with {_shown(options)}: {problem}"
            raise refusal(at, f'"{file}"', limit, f"it takes {signature}") from None
    try:
        return found(**options)
    except Exception as problem:
        own = _own(problem, options, at)
        if own is not None:
            raise own from None
        what = f"{name}, made with {_shown(options)},"
        raise _raised(what, problem, at, f'"{file}"') from problem


def _own(problem: Exception, options: Table, at: str) -> ConfigError | None:
    """Returns the error for an option by its key, if the constructor passed the option unchanged to
    Lightloom, which could not read it; otherwise None."""
    if not isinstance(problem, ConfigError) or problem.value is None:
        return None
    for key, value in options.items():
        if problem.value.strip('"') == str(value):
            told = json.dumps(value, ensure_ascii=False)
            return refusal(f"{at}.{key}", told, problem.limit or "", problem.remedy or "")
    return None


def _shown(options: Table) -> str:
    return json.dumps(options, ensure_ascii=False) if options else "no options"


def _raised(what: str, problem: Exception, key: str, value: str) -> ConfigError:
    limit, remedy = blame(what, problem)
    return with_cause(refusal(key, value, limit, remedy), problem)
