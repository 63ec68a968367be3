"""Logs of controllers (`controller.jsonl`), replayed with a policy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lightloom import _core
from lightloom.config.refusal_text import reworded
from lightloom.control.current import read_circuits
from lightloom.control.files import Demand
from lightloom.control.partings import decision, span_ps
from lightloom.control.planned import as_table, read_schedule
from lightloom.errors import ConfigError, refusal
from lightloom.policies.files import DIGEST, digest, is_file, place
from lightloom.policies.registry import RENAMED, PolicyInFile, find
from lightloom.storage import reading


def replay(log: str | Path, algorithm: str | None = None, **options: Any) -> dict[str, Any]:
    """Replays a controller's log with another policy.

    The policy receives the demand, the failed ports and the timeouts of the log at their times.
    After the first difference, its steps take as long as those of the log. The effect of other
    circuits on the traffic is not modelled.

    Args:
        log: a `controller.jsonl` that a run has written.
        algorithm: a policy, as for `plan`; by default that of the log.
        options: options of the policy; `circuits` and `schedule` may name a file, as for `plan`.
            The switch, the intervals and the estimation of demand are those of the log.

    Returns:
        `header`, the first line of the log; `policy`, the table of the requested policy, for a file
        with its present digest; `is_recorded`, whether it equals the policy of the log; `notes`,
        differences between the two that the user should know; `replay`: `parted`, the place where
        the two first differ (None if they do not), `recorded` and `replayed`, the decisions of
        each; `decision`, the last decision before they differ (`partings.decision`); and `span_ps`,
        the duration of the log [ps].

    Raises:
        ConfigError: if a line of the log is truncated, damaged or of another format, or an option
            is invalid; it names the line or the option.
        OSError: if the log cannot be opened.
    """
    path = Path(log)
    try:
        text = reading.text(path, reading.DATA)
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8; name a controller.jsonl") from None
    if algorithm is None and options:
        key, value = next(iter(options.items()))
        raise refusal(key, value, "the log's own policy has its options", "name an algorithm")
    table = None if algorithm is None else _table(algorithm, _listed(options, text))
    try:
        made: dict[str, Any] = json.loads(_core.control_replay(text, table))
    except ConfigError as problem:
        raise _placed(path, reworded(problem), algorithm) from problem.__cause__
    if "file" in made["policy"]:
        made["policy"][DIGEST] = digest(made["policy"]["file"])
    made["is_recorded"] = made["header"]["policy"] == made["policy"]
    made["notes"] = list(_notes(made))
    lines = text.splitlines()
    made["span_ps"] = span_ps(lines)
    made["decision"] = decision(lines, made["replay"])
    return made


def _listed(options: dict[str, Any], text: str) -> dict[str, Any]:
    """Reads circuits and schedules that options name as files; their nodes are the racks of the
    log."""
    named = {key for key in ("circuits", "schedule") if isinstance(options.get(key), str | Path)}
    if not named:
        return options
    try:
        racks = json.loads(text.partition("\n")[0])["hardware"]["racks"]
        demand = Demand(np.broadcast_to(np.int64(0), (racks, racks)))
    except (ValueError, TypeError, LookupError):
        return {**options, **{key: [[0, 1]] for key in named}}  # reading the log fails later
    read = dict(options)
    if "circuits" in named:
        path = Path(options["circuits"])
        read["circuits"] = read_circuits(path, demand, on_planes=True, counted=True)
    if "schedule" in named:
        read["schedule"] = as_table(read_schedule(Path(options["schedule"]), demand, counted=True))
    return read


def _table(algorithm: str, options: dict[str, Any]) -> str:
    policy = find(algorithm)
    policy.check(algorithm, options)
    for key, value in options.items():
        of_policy = "policy" if not isinstance(policy, PolicyInFile) else None
        if key in policy.options and policy.options[key].where != of_policy:
            raise refusal(key, value, "not the policy's own", "leave it out: the log has it")
    return policy.table(options, "policy")


def is_rewritten(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whether two tables name the same class of a file that may have changed since the first was
    recorded."""
    if "file" not in recorded or "file" not in asked or place(recorded) != place(asked):
        return False
    return bool(recorded.get(DIGEST) != asked[DIGEST])


def _notes(made: dict[str, Any]) -> Iterator[str]:
    """Differences between the recorded and the requested policy that their names do not show."""
    version, recorded, asked = made["header"]["version"], made["header"]["policy"], made["policy"]
    if version != _core.__version__:
        yield (
            f"Lightloom {version} wrote the log, {_core.__version__} plays it: "
            "a policy of the same name may decide otherwise"
        )
    if is_rewritten(recorded, asked):
        was, now = recorded.get(DIGEST), asked[DIGEST]
        yield (
            f"the log has no digest of {asked['file']}, which may have changed"
            if was is None
            else f"{asked['file']} is another than the one that was recorded "
            f"({str(was)[:12]}…, now {now[:12]}…)"
        )


def _placed(path: Path, problem: ConfigError, algorithm: str | None) -> ConfigError:
    """Returns the error with the name of the file if it is about a line, or with the name of
    `replay`'s argument if it is about a key."""
    key = problem.key or ""
    if key.startswith("line "):
        error = ConfigError(f"{path}: {problem}")
        error.key, error.value = key, problem.value
        error.limit, error.remedy = problem.limit, problem.remedy
        error.trace = problem.trace
        return error
    own = key.removeprefix("policy.")
    if algorithm is not None and is_file(algorithm) and own in ("file", "policy"):
        own = "algorithm"
    renamed = refusal(
        RENAMED.get(own, own), problem.value, problem.limit or "", problem.remedy or ""
    )
    renamed.trace = problem.trace
    return renamed
