"""Applies rules to each kind of algorithm: the question to the core, and the treatment of its
answer.

| algorithm | question | answer |
|---|---|---|
| undirected circuits | for the remainder | forbidden pairs replaced, pinned ones added |
| directed circuits | for the remaining demand | pinned circuits are added |
| schedules | for the remaining demand | slots that break a rule are assigned again |
| a list | for the circuits of the list that obey | pinned circuits are added |
| one that obeys rules itself | for the whole demand, with the rules | unchanged |
| in a user's file | as for undirected circuits | an error if it connects a forbidden pair |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lightloom.control.arrays import Integers
from lightloom.control.rules import demand as left
from lightloom.control.rules.joined import Found, nothing, of_pairs, rejoined, with_pinned
from lightloom.control.rules.rules import Rules
from lightloom.control.rules.slots import obeying
from lightloom.control.schedules import Schedule
from lightloom.errors import refusal
from lightloom.policies.registry import Policy, PolicyInFile


@dataclass(frozen=True, eq=False)
class Question:
    """A question to the core."""

    matrix: Integers
    """The demand of the question [bytes]."""
    given: Mapping[str, Any]
    """The algorithm's options."""
    works: list[bool] | None = None
    """Whether each port works; None: all work."""
    pinned: list[tuple[int, int, int]] = field(default_factory=list)
    """Pinned circuits, for an algorithm that obeys them itself."""
    apart: list[tuple[int, int]] = field(default_factory=list)
    """Pairs that are kept apart, for an algorithm that obeys them itself."""


Ask = Callable[[Question], Found]


def decide(
    policy: Policy, matrix: Integers, given: Mapping[str, Any], rules: Rules, ask: Ask
) -> tuple[Found, Integers]:
    """Returns one decision that obeys the rules, and the demand that remained for the decision.

    Raises:
        ConfigError: if the rules of `pin`, `forbid` or `down` cannot be obeyed, or the policy in a
            user's file breaks them.
    """
    if not rules:
        return ask(Question(matrix, _keeping(policy, given))), matrix
    if policy.obeys_rules:
        return _heeded(policy, matrix, given, rules, ask), matrix
    if "schedule" in given:
        return _turns(ask(Question(matrix, given)), matrix, given, rules), matrix
    if "circuits" in policy.options:
        return _of_list(matrix, given, rules, ask), matrix
    if policy.one_way:
        remains = left.left_one_way(matrix, rules)
        works = left.works(rules, len(matrix), 1, pinned=False)
    else:
        remains = left.left_both_ways(matrix, rules)
        works = left.works(rules, len(matrix), planes_of(policy, given), pinned=True)
    kept = _kept(policy, given, rules) if "up" in given else {}
    question = Question(remains, {**given, **kept}, works)
    if not remains.any():
        return _of_nothing(policy, {**given, **kept}, rules), remains
    return _obeying(policy, ask(question), question, rules), remains


def _kept(policy: Policy, given: Mapping[str, Any], rules: Rules) -> dict[str, Any]:
    """The options, with the circuits in `up` that may stay."""
    return _keeping(policy, {**given, "up": left.still_up(given["up"], rules)})


def _keeping(policy: Policy, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options.

    Circuits in `up` without demand stay if no rule forbids them, unless the option for nodes
    without demand is given.
    """
    asks = "unrequested" in policy.options and given.get("unrequested") is None
    return {**given, "unrequested": "keep"} if asks and given.get("up") else dict(given)


def planes_of(policy: Policy, given: Mapping[str, Any]) -> int:
    """The number of planes of a decision."""
    if "planes" not in policy.options:
        return 1
    return int(given.get("planes") or policy.options["planes"].schema.get("default") or 1)


def directed(policy: Policy, given: Mapping[str, Any]) -> bool:
    """Whether the circuits of a decision are directed."""
    return policy.one_way or "schedule" in given or bool(given.get("directed"))


def _heeded(
    policy: Policy, matrix: Integers, given: Mapping[str, Any], rules: Rules, ask: Ask
) -> Found:
    if rules.pinned and (given.get("ports") or 1) > 1:
        limit = f"{policy.kind} can keep existing circuits only with one port per node"
        raise refusal("pin", "(given)", limit, "write --ports 1 or remove the existing circuits")
    works = left.works(rules, len(matrix), planes_of(policy, given), pinned=False)
    apart = sorted(rules.apart)
    return ask(Question(matrix, given, works, rules.pinned_both_ways, apart))


def _of_list(matrix: Integers, given: Mapping[str, Any], rules: Rules, ask: Ask) -> Found:
    one_way, ports = bool(given.get("directed")), given.get("ports") or 1
    rows = left.listed(given.get("circuits", ()), rules, directed=one_way, ports=ports)
    if not rows:
        found = {**nothing(one_way), "options": json.dumps({**given, "circuits": []})}
    else:
        found = ask(Question(matrix, {**given, "circuits": rows}))
    return with_pinned(found, rules)


def _of_nothing(policy: Policy, given: Mapping[str, Any], rules: Rules) -> Found:
    """The decision if rules leave no demand: the present circuits that obey stay."""
    if policy.decides == "schedule":
        key = "pin" if rules.pinned else "forbid" if rules.apart else "down"
        limit = "with these rules, no demand is left for a schedule"
        raise refusal(key, "(given)", limit, "give fewer, or plan permanent circuits")
    stay = [] if given.get("unrequested") == "alone" else given.get("up", [])
    found = {**of_pairs(stay, policy.one_way)}
    found["options"] = json.dumps(dict(given), default=str)
    return with_pinned(found, rules)


def _obeying(policy: Policy, found: Found, question: Question, rules: Rules) -> Found:
    if "schedule" in found:
        return _turns(found, question.matrix, json.loads(found["options"]), rules)
    if isinstance(policy, PolicyInFile):
        _refuse_apart(policy, found, rules)
    elif not found["directed"]:
        found = rejoined(found, question.matrix, rules, question.given.get("up", ()))
    return with_pinned(found, rules)


def _turns(found: Found, matrix: Integers, options: Mapping[str, Any], rules: Rules) -> Found:
    """A schedule whose slots obey the rules. Proofs about the schedule no longer hold and are
    removed."""
    schedule = Schedule(*found["schedule"])
    rate = options.get("rate") or json.loads(found["options"]).get("rate")
    carried = schedule.carried(matrix, rate or "10 Gb/s")
    after = obeying(schedule, carried, rules)
    kept = {key: value for key, value in found.items() if key not in ("covers", "completes")}
    return {**kept, "schedule": (after.permutations, after.days_ps, after.night_ps)}


def _refuse_apart(policy: Policy, found: Found, rules: Rules) -> None:
    for a, b in found["circuits"][:, :2].tolist():
        if rules.are_apart(a, b):
            limit = f"it joins racks {a} and {b}, which --forbid keeps apart"
            remedy = "let it join only racks with demand for each other"
            raise refusal("algorithm", policy.kind, limit, remedy)


def verify(found: Mapping[str, Any], rules: Rules) -> None:
    """Checks that a decision obeys the rules.

    Raises:
        RuntimeError: if it does not, which is a bug of this package.
    """
    if not rules:
        return
    for a, b, plane in _lit(found):
        one_of = {(a, b, plane), (b, a, plane)} & set(rules.pinned)
        if rules.are_apart(a, b) or {(a, plane), (b, plane)} & rules.down:
            raise RuntimeError(f"({a}, {b}) on plane {plane} is lit against a rule")
        if not one_of and "schedule" not in found and not found["directed"]:
            busy = {(rack, p) for *pair, p in rules.pinned for rack in pair}
            if {(a, plane), (b, plane)} & busy and "topology" not in found:
                raise RuntimeError(f"({a}, {b}) on plane {plane} has a port of a pinned circuit")


def _lit(found: Mapping[str, Any]) -> list[tuple[int, int, int]]:
    """All circuits that are ever lit: two racks and a plane."""
    if "schedule" not in found:
        return [tuple(row) for row in found["circuits"].tolist()]
    permutations = np.asarray(found["schedule"][0])
    rows, inputs = np.nonzero(permutations != np.arange(permutations.shape[1]))
    pairs = np.unique(np.column_stack((inputs, permutations[rows, inputs])), axis=0)
    return [(a, b, 0) for a, b in pairs.tolist()]
