"""The complete controller in virtual time: two of them on one store, their clients, and a switch
that refuses changes, reports wrong states and is slow. A seed determines all events; the invariants
hold after every step.

For each invariant, a controller that violates it is detected.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from controller_lives import RACKS, Life
from controller_world import SWITCH

from lightloom.controller import change, requests, schema, service
from lightloom.controller.advice import Advice
from lightloom.controller.change import change_to
from lightloom.controller.config import ControllerTable, config_of
from lightloom.controller.deferred import Deferred
from lightloom.controller.limits import Limits
from lightloom.controller.store import Store
from lightloom.controller.transaction import Executor, Guarded, Steps

LIVES = 100
"""As many are lived in each run of the tests; `make test-long` has the others."""
Patch = Callable[[pytest.MonkeyPatch], None]


def ports_in(folder: Path) -> Path:
    """Returns the folder with a port map in it."""
    lines = [f"{rack},{port},{port}" for port, rack in enumerate(RACKS, 1)]
    (folder / "ports.csv").write_text("\n".join(["rack,A port,B port", *lines]), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ports_in(tmp_path_factory.mktemp("lives"))


def is_restless(seed: int) -> bool:
    """Whether the policy of a life requests so many changes that it uses up its dark time."""
    return seed % 8 == 7


def config_for(seed: int, folder: Path) -> ControllerTable:
    """Returns a configuration; the world begins at 13:46 UTC."""
    chance = random.Random(f"configuration {seed}")
    limits: dict[str, Any] = {
        "dwell": chance.choice(["0 s", "60 s"]),
        "gain": chance.choice([0.0, 0.1]),
        "when": chance.choice(["now", "now", "at checkpoint"]),
        "quiet": chance.choice([[], ["13:55-14:20"]]),
    }
    if chance.random() < 0.5:
        limits["dark_per_hour"] = chance.choice(["5 s", "30 s"])
    if is_restless(seed):
        limits = {"dark_per_hour": "3 s"}
    switch = {"name": SWITCH, "url": "scpi://127.0.0.1:1", "ports": "ports.csv"}
    return config_of(
        {
            "switch": [switch],
            "mode": chance.choice(["act", "act", "act", "advise"]),
            "unowned": chance.choice(["report", "remove"]),
            "limits": limits,
            "interval": "10 s",
        },
        folder,
    )


def lived(seed: int, folder: Path, url: str = "sqlite://") -> Life:
    """Runs a life; fails if an invariant does not hold."""
    life = Life(seed, config_for(seed, folder), url, is_restless=is_restless(seed))
    for _ in range(life.chance.randint(10, 40)):
        life.step()
    life.calm()
    return life


@cache
def counted(seed: int, folder: Path) -> Counter[str]:
    """What happened in a life, which is lived once; fails if an invariant does not hold."""
    life = lived(seed, folder)
    seen: Counter[str] = Counter()
    for row in life.rows(schema.transaction):
        seen[row["state"]] += 1
        seen["policy"] += '"owner": "policy"' in row["plan"]
    seen["let in"] += len(life.rows(schema.audit, what="let in"))
    seen["four roles"] += life.rows(schema.role)[0]["fence"] > 3
    for table in (schema.lease, schema.job):
        seen[table.name] += len(life.rows(table))
    for row in life.rows(schema.deferred):
        seen[f"deferred {row['outcome']}"] += 1
    return seen


@pytest.mark.parametrize("first", range(0, LIVES, 20))
def test_whatever_happens_the_promises_are_kept(folder: Path, first: int) -> None:
    for seed in range(first, first + 20):
        counted(seed, folder)


@pytest.mark.long
@pytest.mark.parametrize("first", range(LIVES, 10_100, 200))
def test_whatever_happens_the_promises_are_kept_for_long(folder: Path, first: int) -> None:
    for seed in range(first, first + 200):
        lived(seed, folder)


def test_the_lives_are_not_all_alike(folder: Path) -> None:
    """Checks that the lives have every outcome, takeovers during changes, deferred changes, leases,
    and policies that act."""
    seen = sum((counted(seed, folder) for seed in range(LIVES)), Counter[str]())
    for what in ("done", "undone", "stuck", "policy", "lease", "job"):
        assert seen[what] > 3, seen
    for outcome in ("done", "replaced", "withdrawn"):
        assert seen[f"deferred {outcome}"] > 1, seen
    assert seen["let in"] > 0
    assert seen["four roles"] > 0


def instead(target: Any, name: str, act: Callable[..., Any]) -> Patch:
    """Breaks a rule: replaces a function by `act`, which receives the original function as its
    first argument."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        usual = getattr(target, name)
        monkeypatch.setattr(target, name, lambda *args, **keys: act(usual, *args, **keys))

    return patch


def two_at_a_port(usual: Any, circuits: Any) -> Any:
    return {one.pair: one.owner for circuit in circuits for one in circuit}, circuits, []


def half_a_circuit(usual: Any, wanted: Any, other_way: Any) -> Any:
    return usual(wanted, change.nowhere)


def darkens_kept(usual: Any, self: Steps, switch: str, removed: Any, added: Any) -> None:
    kept = self._store.transactions(switch, limit=1)[0].pairs("kept")
    usual(self, switch, [*removed, *kept[:1]], added)


def tampers(usual: Any, self: Store, db: Any, who: str, what: str, body: Any) -> None:
    usual(self, db, "nobody" if what == "done" else who, what, body)
    if what == "done":
        db.execute(schema.audit.update().filter_by(who="nobody").values(who=who))


def forgets_priority(
    usual: Any, self: Any, switch: str, owner: str, pairs: Any, rank: int, *rest: Any
) -> None:
    if rank == 1_000:
        usual(self, switch, owner, pairs, rank, *rest)


def without_dwell(usual: Any, self: Limits, now: float, wanted: Any, lit: Any, *rest: Any) -> Any:
    return usual(self, now, wanted, [], *rest)


def without_gain(
    usual: Any, self: Limits, now: float, wanted: Any, lit: Any, gained: float, *rest: Any
) -> Any:
    return usual(self, now, wanted, lit, 1.0, *rest)


def without_reason(
    usual: Any, self: Store, number: int, state: str, reason: str = "", *rest: Any, **keys: Any
) -> Any:
    return usual(self, number, state, "" if state == "stuck" else reason, *rest, **keys)


def leaves_one_out(usual: Any, *args: Any, **keys: Any) -> Any:
    found = usual(*args, **keys)
    object.__setattr__(found, "added", found.added[:-1])
    return found


def ends_nothing(usual: Any, self: Store, db: Any, number: int, outcome: str, who: str) -> bool:
    return outcome == "done" or usual(self, db, number, outcome, who)


def leases_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(requests.PRIORITY, requests.LEASE, 500)


BROKEN: dict[str, Patch] = {
    "a port in one cross-connect": instead(change, "_settled", two_at_a_port),
    "all of a circuit or nothing": instead(change, "_circuits", half_a_circuit),
    "kept circuits stay lit": instead(Steps, "_ask", darkens_kept),
    "drained before dark": instead(Guarded, "drain", lambda usual, *_: None),
    "no traffic into the dark": instead(Steps, "_unlit", lambda usual, *_: None),
    "traffic is let in again": instead(Guarded, "enter", lambda usual, *_: None),
    "the switch becomes as wanted": instead(service, "change_to", leaves_one_out),
    "a crash is recovered from": instead(Executor, "recover", lambda usual, *_: []),
    "a stuck change says why": instead(Store, "move", without_reason),
    "the audit chain is whole": instead(Store, "_record", tampers),
    "what is acknowledged is stored": instead(Store, "want_now", forgets_priority),
    "a leased port is left alone": leases_last,
    "a deferred change runs once": instead(Store, "_end_deferred", ends_nothing),
    "a deferred change waits for its jobs": instead(
        Deferred, "is_due", lambda usual, self, now, waits_for: usual(self, now, [])
    ),
    "the policy waits for jobs": instead(Advice, "_waits_for", lambda usual, *_: None),
    "the budget of dark time": instead(Store, "dark_s", lambda usual, *_: 0.0),
    "quiet hours": instead(Limits, "is_quiet", lambda usual, *_: False),
    "dwell": instead(Limits, "refusal", without_dwell),
    "gain": instead(Limits, "refusal", without_gain),
    "one writer": instead(Guarded, "check", lambda usual, *_: None),
    "others' circuits stay": instead(
        service,
        "change_to",
        lambda usual, lit, wanted, owned, **_: change_to(lit, wanted, owned, remove_unowned=True),
    ),
}
MOST = 150
RARE = ("dwell", "a deferred change waits for its jobs", "the policy waits for jobs")
"""Rules that matter in few lives."""
FIRST = {"the budget of dark time": 39, "quiet hours": 51, "a stuck change says why": 18}
"""The life with which the search begins, if those before it do not need the rule."""


@pytest.mark.parametrize(
    "rule", [pytest.param(rule, marks=pytest.mark.long if rule in RARE else ()) for rule in BROKEN]
)
def test_a_controller_that_breaks_a_rule_is_found_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    BROKEN[rule](monkeypatch)
    most = 5 * MOST if rule in RARE else MOST
    first = FIRST.get(rule, 0)
    for seed in range(first, first + most):
        try:
            lived(seed, folder)
        except AssertionError:
            return
    pytest.fail(f"in {most} lives nothing was found")
