"""Experiments: read from TOML, changed by overrides, validated by the core.

This module contains nothing about fabrics or workloads; the core alone defines keys and values.
"""

from __future__ import annotations

import copy
import difflib
import json
import re
import tomllib
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lightloom import _core
from lightloom.config import inputs, integers, schema, toml_errors
from lightloom.config.overrides import (
    as_json,
    fabrics_of,
    plain,
    set_in_experiment,
    set_key,
    set_value,
    toml_key,
    toml_literal,
)
from lightloom.config.own_tables import DECISION, TESTBED, of_core
from lightloom.config.refusal_text import in_words, missed_end
from lightloom.errors import ConfigError, refusal, within
from lightloom.policies import files as policies
from lightloom.storage import reading
from lightloom.units.counts import counted

Table = dict[str, Any]
#: `KEY=VALUE` texts, or a mapping from keys to values.
Overrides = Sequence[str] | Mapping[str, Any]
SWEEP = {"base", "grid"}
"""Keys of a sweep file that an experiment does not have."""


@dataclass(frozen=True)
class Experiment:
    """An experiment as configured; `resolved` validates it and fills in all defaults.

    Experiments are immutable values; the methods return changed copies.
    """

    raw: Table
    """The configuration as written, with overrides applied."""
    path: Path | None = field(default=None, compare=False)
    """The file from which the experiment was read."""

    @property
    def name(self) -> str:
        """The name in reports: the key `name`, or else the name of the file."""
        name = self.raw.get("name")
        if isinstance(name, str) and name:
            return name
        return self.path.stem if self.path is not None else "experiment"

    @property
    def labels(self) -> list[str]:
        """The labels of the fabrics, in the order of the file."""
        return [str(f.get("label", f.get("kind"))) for f in fabrics_of(self.raw)]

    def resolved(self) -> Table:
        """Returns the whole configuration with all defaults. Running it again gives the same
        results.

        Raises:
            ConfigError: if the experiment is invalid.
        """
        _check_tables(self.raw)
        unheld = list(integers.unheld(self.raw))
        if unheld:
            raise self._unheld(unheld)
        with in_words():
            try:
                table: Table = json.loads(_core.resolve(self.pinned().json()))
            except ConfigError as problem:
                raise self._by_own_range(problem) from None
        return {**table, **self._beside()}

    def _beside(self) -> Table:
        """Returns the tables that only Python reads, with their defaults. `[testbed]` is checked
        but not returned, because no figure of a run depends on it."""
        if TESTBED in self.raw:
            from lightloom.config.testbed import read_table  # slow to import, rarely needed

            read_table(self.raw[TESTBED])
        if DECISION not in self.raw:
            return {}
        from lightloom.config.decision import completed  # slow to import, rarely needed

        return completed(self.raw)

    def _by_own_range(self, problem: ConfigError) -> ConfigError:
        """Returns the error of a key whose number exceeds its integer type, worded as the error for
        the nearest number of that type, so that each key states a single range."""
        end, key = missed_end(problem), problem.key
        if end is None or key is None:
            return problem
        nearest = copy.deepcopy(self.raw)
        try:
            set_key(nearest, key, end, "", "")
            _core.resolve(replace(self, raw=nearest).json())
        except ConfigError as own:
            same = (own.key, own.value) == (problem.key, str(end))
            # An error that mentions the nearest number does not apply to the given one.
            if same and not re.search(rf"\b{abs(end)}\b", f"{own.limit}; {own.remedy}"):
                return refusal(str(own.key), problem.value, own.limit or "", own.remedy or "")
        return problem

    def _unheld(self, found: Sequence[tuple[integers.Path, int]]) -> ConfigError:
        """Returns the error for numbers that no integer of the core holds, worded as the key's
        error for the nearest number that is held, if there is one."""
        numbers = {integers.key_of(self.raw, path): value for path, value in found}
        try:
            replace(self, raw=integers.held(self.raw, found)).resolved()
        except ConfigError as own:
            if own.key in numbers:
                value = numbers[own.key]
                end = str(integers.nearest(value))
                said = [(text or "").replace(end, str(value)) for text in (own.limit, own.remedy)]
                return refusal(own.key, value, *said)
        key, value = next(iter(numbers.items()))
        return refusal(key, value, integers.limit_of(value), "correct the value")

    def pinned(self) -> Experiment:
        """Returns the experiment with the digests of the files that it reads now; it then does not
        run with other files.

        Raises:
            ConfigError: if a file does not match a digest in the experiment, or the file of a
                policy cannot be read.
        """
        fabrics = policies.pinned(fabrics_of(self.raw))
        raw = {**self.raw, "fabric": fabrics} if fabrics else self.raw
        return replace(self, raw=inputs.pinned(raw))

    def check_keys(self) -> None:
        """Raises the error of `resolved` for a key that no table has; checks nothing else.

        Raises:
            ConfigError: for the first such key.
        """
        if SWEEP & self.raw.keys():  # a sweep file; `resolved` reports it
            return
        _check_names(self.raw)
        _of_keys(self._beside)
        _of_keys(lambda: _core.check_keys(self.json()))

    def json(self) -> str:
        """The configuration in the form that the core reads."""
        return json.dumps(plain(of_core(self.raw), ""))

    def cases(self) -> list[Experiment]:
        """Returns an experiment for each `[[compare.case]]`, named by its label and with its keys
        set; the experiment itself if it has no cases. All of them are valid.

        Raises:
            ConfigError: if a case is invalid; it names the case.
        """
        compare = self.raw.get("compare")
        cases = compare.get("case") if isinstance(compare, Mapping) else None
        if not cases:
            return [self]
        resolved = self.resolved()  # reports cases of invalid form
        return [self._case(case) for case in resolved["compare"]["case"]]

    def _case(self, case: Table) -> Experiment:
        label = case["label"]
        raw = copy.deepcopy(self.raw)
        del raw["compare"]["case"]
        try:
            for key, value in case.get("set", {}).items():
                set_key(raw, key, value, f"set.{toml_key(key)}", toml_literal(value))
            inputs.kept(raw, self.raw)
            inputs.anchor(raw, self.path.parent if self.path else Path.cwd())
            made = replace(self, raw={**raw, "name": label})
            made.resolved()
        except ConfigError as problem:
            raise within(problem, f'case "{label}"') from None
        return made

    def seeds(self) -> list[Experiment]:
        """Returns an experiment without repetition for each of the `run.repeat` seeds, which begin
        with `run.seed`; the experiment itself if it does not repeat.

        Raises:
            ConfigError: if the experiment is invalid.
        """
        run = self.resolved()["run"]
        times = run.get("repeat", 1)
        if times == 1:
            return [self]
        table = {key: value for key, value in self.raw["run"].items() if key != "repeat"}
        return [
            replace(self, raw={**self.raw, "run": {**table, "seed": seed}})
            for seed in range(run["seed"], run["seed"] + times)
        ]

    def with_load(self, load: float) -> Experiment:
        """Returns the experiment with another offered load."""
        return self.with_overrides([f"workload.load={load!r}"])

    def with_overrides(self, overrides: Overrides) -> Experiment:
        """Returns the experiment with keys set as by `--set`: `"workload.load=0.9"`,
        `"fabric.uplinks=16"` (every fabric), `"fabric.LABEL.queue=8"` (one fabric); or by a mapping
        of such keys to values.

        >>> base = load({"workload": {"load": 0.5}})
        >>> base.with_overrides(["workload.load=0.9"]).raw
        {'workload': {'load': 0.9}}
        >>> base.with_overrides({"workload.load": 0.9}).raw
        {'workload': {'load': 0.9}}
        """
        raw = copy.deepcopy(self.raw)
        if isinstance(overrides, Mapping):
            for key, value in overrides.items():
                set_value(raw, key, reading.pythonic({"": value})[""])
        else:
            for override in overrides:
                set_in_experiment(raw, override)
        inputs.kept(raw, self.raw)
        inputs.anchor(raw, Path.cwd())
        return replace(self, raw=raw)

    def only(self, label: str) -> Experiment:
        """Returns the experiment with one of its fabrics and without the faults of the others. A
        fault that names an unknown fabric remains and causes an error later."""
        fabric = fabrics_of(self.raw)[self.index(label)]
        raw = copy.deepcopy({**self.raw, "fabric": [fabric]})
        if isinstance(raw.get("fault"), list):
            others = set(self.labels) - {label}
            raw["fault"] = [f for f in raw["fault"] if not _happens_in(f, others)]
        inputs.kept(raw, self.raw)
        return replace(self, raw=raw)

    def runnable(self, label: str) -> Experiment:
        """Returns the experiment if it is valid; if other fabrics are not, the fabric of that label
        alone.

        Raises:
            ConfigError: if that fabric is invalid.
        """
        try:
            self.resolved()
        except ConfigError as problem:
            alone = self.only(label)
            try:
                alone.resolved()
            except ConfigError as own:
                same = (own.value, own.limit) == (problem.value, problem.limit)
                raise (problem if same else own) from None
            return alone
        return self

    def index(self, label: str | None) -> int:
        """Returns the index of the fabric with that label; without a label, that of the only
        fabric."""
        _check_tables(self.raw)
        labels = self.labels
        if label is None and len(labels) == 1:
            return 0
        if label not in labels:
            shown = "(missing)" if label is None else f'"{label}"'
            problem = f"the experiment has {counted(len(labels), 'fabric')}"
            raise refusal("fabric", shown, problem, f"choose one of {', '.join(labels)}")
        return labels.index(label)


def load(source: str | Path | Mapping[str, Any], overrides: Overrides = ()) -> Experiment:
    """Reads an experiment from a TOML file or a mapping and applies overrides. Files named in the
    TOML file are relative to it, files named in overrides to the current directory.

    >>> load({"run": {"seed": 1}}, ["run.seed=7"]).raw
    {'run': {'seed': 7}}

    Raises:
        ConfigError: if the file cannot be read (with line and column), an override is malformed, or
            a table has no such key. `resolved` and `run` report invalid values and missing keys.
    """
    if isinstance(source, Mapping):
        reading.check_depth(source)
        read = Experiment(reading.pythonic(source))
    else:
        path = Path(source)
        raw = read_toml(path)
        inputs.anchor(raw, path.parent)
        read = Experiment(raw, path)
    made = read.with_overrides(overrides)
    made.check_keys()
    return made


def read_toml(path: Path) -> Table:
    """Reads a TOML file; errors name file, line and column."""
    try:
        text = reading.text(path)
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as problem:
            raise toml_errors.refused(path, text, problem) from None
        reading.check_depth(found, path)
        return found
    except ConfigError:
        raise
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        column = problem.start - (problem.object.rfind(b"\n", 0, problem.start) + 1) + 1
        raise ConfigError(f"{path}:{line}:{column}: not UTF-8; save it as UTF-8") from None
    except ValueError:  # Python does not read integers of thousands of digits
        raise ConfigError(f"{path}: a number has too many digits; correct the file") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply; correct the file") from None
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        remedy = "check the path"
        if (path / "experiment.toml").is_file():
            remedy = "name its experiment.toml, or read results by Comparison.load or Result.load"
        raise ConfigError(f"{path}: {reason}; {remedy}") from None


def to_toml(table: Mapping[str, Any]) -> str:
    """Formats a configuration as TOML in the usual layout of experiments: `[table]` and `[[list of
    tables]]` at the top level, everything below them on one line.

    tomli-w is not used, because it writes a short list of tables as one value, to which no further
    [[fabric]] can be appended.

    >>> print(to_toml({"run": {"seed": 1}, "fabric": [{"kind": "clos"}]}))
    [run]
    seed = 1
    <BLANKLINE>
    [[fabric]]
    kind = "clos"
    <BLANKLINE>
    """
    plain, sections = {}, []
    for key, value in table.items():
        if isinstance(value, Mapping):
            sections.append(f"[{toml_key(key)}]\n{_toml_lines(value)}")
        elif value and isinstance(value, list) and all(isinstance(v, Mapping) for v in value):
            sections += [f"[[{toml_key(key)}]]\n{_toml_lines(v)}" for v in value]
        else:
            plain[key] = value
    return "\n".join([*([_toml_lines(plain)] if plain else []), *sections])


def _toml_lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{toml_key(k)} = {toml_literal(v)}\n" for k, v in table.items())


def _of_keys(check: Callable[[], object]) -> None:
    """Passes on errors about unknown keys and kinds; `resolved` reports all others."""
    try:
        with in_words():
            check()
    except ConfigError as problem:
        if problem.limit in ("no such key", "no such fabric"):
            raise


def _check_names(raw: Table) -> None:
    """Raises an error if the name of a table is probably misspelt."""
    known = schema.names()
    for key in raw:
        near = [] if key in known else difflib.get_close_matches(key, known, 1)
        if near:
            raise refusal(key, as_json(raw[key]), "no such key", f'did you mean "{near[0]}"?')


def _check_tables(raw: Table) -> None:
    """Raises an error if the name of a table is probably misspelt or there is no fabric."""
    _check_names(raw)
    if not fabrics_of(raw):
        limit, remedy = "there is no [[fabric]] table", "add [[fabric]] with a kind"
        if SWEEP & raw.keys():
            limit, remedy = f"{limit}: this looks like a sweep file", "use `lightloom sweep`"
        raise refusal("fabric", "(missing)", limit, remedy)


def _happens_in(fault: Any, labels: Container[str]) -> bool:
    """Whether a fault names one of these fabrics."""
    of = fault.get("fabric") if isinstance(fault, dict) else None
    return isinstance(of, str) and of in labels


def faults_of(faults: Sequence[Any], label: str) -> list[Any]:
    """Returns the faults that apply to the fabric of that label."""
    return [f for f in faults if not isinstance(f, dict) or f.get("fabric", label) == label]
