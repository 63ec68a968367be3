"""Policies in files: `PATH:CLASS` is found, loaded, made with its options.

A file is read anew for every run, into a module of its own, so that runs share nothing.
The digest of its bytes is kept in the resolved experiment: what runs again is what ran.
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

#: The key of the digest, in hexadecimal; no option of a policy.
DIGEST = "sha256"
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Loaded:
    """A policy, ready to decide."""

    policy: Any
    order: str | None
    """How a change is carried out, if it says so."""


def load_json(file: str, options: str) -> Loaded:
    """As `load`, for the core: options are JSON."""
    return load(file, json.loads(options))


def load(file: str, options: Mapping[str, Any], at: str = "policy") -> Loaded:
    """The policy `PATH:CLASS`, made with these options.

    Raises:
        ConfigError: below the key `at`: no such file or class, one that decides nothing
            or refuses its options. What the file itself raises is its cause.
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
    """Makes the policies of some fabrics, to refuse before anything runs what cannot be
    made."""
    for key, table in _tables(fabrics):
        policy = table["policy"]
        if isinstance(policy, Mapping) and "file" in policy:
            options = {name: value for name, value in policy.items() if name != "file"}
            load(str(policy["file"]), options, key)


def pinned(fabrics: list[Table]) -> list[Table]:
    """The same with the digest of each policy's file, where none is given.

    Raises:
        ConfigError: for a file that cannot be read.
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
    """Whether the name of a policy is that of a file, its class perhaps forgotten.

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
    """How to name a class of a file, which is not run for that."""
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
    """What paths are relative to."""
    if key.startswith("fabric"):
        return "; it is relative to the experiment's file, with --set to where you are"
    return "" if path.is_absolute() else "; it is relative to where you are"


def digest(file: str) -> str:
    """The digest of a policy's file, `PATH:CLASS`.

    Raises:
        ConfigError: for a file that cannot be read.
    """
    return _digest(_source(_parts(file, "policy.file")[0], "policy.file", file))


def place(table: Mapping[str, Any]) -> tuple[Path, str]:
    """Where the class of a policy's table is: the file, and its name.

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
    limit = f"{path} is another by now ({_digest(source)[:_SHOWN]}…)"
    raise refusal(f"{at}.{DIGEST}", f'"{shown}"', limit, f"restore it, or remove {DIGEST}")


def _module(path: Path, source: bytes, key: str, file: str) -> types.ModuleType:
    """The file as a new module."""
    place = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
    module = types.ModuleType(f"lightloom_policy_{path.stem}_{place}")
    module.__file__ = str(path)
    # Data classes look for the module of their fields' types while they are made.
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
    except (TypeError, ValueError):  # written in C
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
    """The refusal of an option by its key, where Lightloom itself could not read what
    the constructor handed on as it was given."""
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
