"""Logs of controllers (`controller.jsonl`), played again against a policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lightloom import _core
from lightloom.errors import ConfigError, refusal
from lightloom.policy_registry import RENAMED, PolicyInFile, find
from lightloom.words import reworded


def replay(log: str | Path, algorithm: str | None = None, **options: Any) -> dict[str, Any]:
    """What another policy would have done where a controller kept a log.

    The other hears the demand, the broken ports and the silences of the log at their
    times. From where the two part, its steps take what the log's did. That other
    circuits would have carried other traffic is not modelled.

    Args:
        log: a `controller.jsonl` that a run has written.
        algorithm: a policy as `plan` takes it; that of the log, unless given.
        options: of the policy itself. Switch, intervals and estimation of demand are
            those of the log.

    Returns:
        `header`, the first line of the log, and `replay`: `parted`, where the two part
        (None, if they do the same), `recorded` and `replayed`, what each did.

    Raises:
        ConfigError: naming the line of a log that was cut off, damaged or of another
            version; or the option.
        OSError: if the log cannot be opened.
    """
    path = Path(log)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8; name a controller.jsonl") from None
    table = None if algorithm is None else _table(algorithm, options)
    if algorithm is None and options:
        key, value = next(iter(options.items()))
        raise refusal(key, value, "the log's own policy has its options", "name an algorithm")
    try:
        made: dict[str, Any] = json.loads(_core.control_replay(text, table))
    except ConfigError as problem:
        raise _placed(path, reworded(problem)) from problem.__cause__
    return made


def _table(algorithm: str, options: dict[str, Any]) -> str:
    policy = find(algorithm)
    policy.check(algorithm, options)
    if not isinstance(policy, PolicyInFile):
        for key, value in options.items():
            if policy.options[key].where != "policy":
                remedy = "leave it out: the log says it"
                raise refusal(key, value, "not the policy's own", remedy)
    return policy.table(options, "policy")


def _placed(path: Path, problem: ConfigError) -> ConfigError:
    """The refusal of a line with the file, of a key as `replay` takes it."""
    key = problem.key or ""
    if key.startswith("line "):
        error = ConfigError(f"{path}: {problem}")
        error.key, error.value = key, problem.value
        error.limit, error.remedy = problem.limit, problem.remedy
        return error
    own = key.removeprefix("policy.")
    renamed = refusal(
        RENAMED.get(own, own), problem.value, problem.limit or "", problem.remedy or ""
    )
    renamed.trace = problem.trace
    return renamed
