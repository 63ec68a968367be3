"""The answers of the HTTP interface, as its OpenAPI document describes them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, RootModel

Pair = tuple[int, int]
"""An A port and a B port."""


class Answer(BaseModel):
    """An answer: no field beyond those that are documented."""

    model_config = ConfigDict(extra="forbid")


class Refusal(Answer):
    """The reason of a refusal, and the remedy."""

    detail: str
    key: str | None = None
    value: str | None = None
    limit: str | None = None
    remedy: str | None = None


class Health(Answer):
    """Whether the controller works, and the switches that do not answer."""

    status: Literal["ok", "degraded", "failing", "standby"]
    unreachable: list[str]


Role = Literal["active", "standby"]
"""Whether the controller that answers drives the switches.

A standby answers with its last readings of the switches, if it has any.
"""


class NamedPair(Answer):
    """A cross-connect, and the racks that it connects."""

    name: str
    pair: Pair
    racks: str | None


class WantedPair(NamedPair):
    """A wanted cross-connect with its owner."""

    owner: str
    lit: bool


class Price(Answer):
    """The cost of a change that is made now."""

    dark_s: float | None
    """None if it is not known."""
    dark_pair_s: float | None
    jobs: list[str]
    """Jobs that lose a circuit."""
    waits_for: list[str]
    """The jobs that are not at a checkpoint."""
    accelerator_h: float | None
    """None if the number of accelerators of a job is not known."""


class Due(Answer):
    """A request that takes effect when a transaction is done."""

    owner: str
    who: str
    pairs: list[Pair]
    """All cross-connects that this owner then requests."""
    priority: int
    deferred: int | None
    """Number of the deferred change; None if it is not deferred."""
    at_checkpoint: bool = False
    """Whether it stops no job that is not at a checkpoint."""


class Plan(Answer):
    """The change of a transaction."""

    before: list[Pair]
    removed: list[Pair]
    added: list[Pair]
    kept: list[Pair]
    cost: Price | None = None
    deferred: list[int] = []
    """Numbers of the deferred changes that it carries out."""
    leases: list[int] = []
    """Numbers of the leases whose circuits it lights; if one ends before a circuit is dark, the
    change is undone."""
    due: list[Due] = []
    """Requests that take effect when it is done: the deferred changes, and the request of the
    policy."""
    given_up: list[Pair] = []
    """Removed cross-connects that the policy no longer requests."""
    dark: list[Pair] = []
    """Removed cross-connects that had no light before."""
    only_at_checkpoint: list[Pair] = []
    """Removed cross-connects that may go dark only at a checkpoint of the jobs on their racks."""


State = Literal["planned", "draining", "changing", "verifying", "done", "undone", "stuck"]


class Step(Answer):
    """A state of a transaction, and when it began [s since 1970]."""

    state: State
    at: float
    reason: str = ""


class TransactionAnswer(Answer):
    """A change of one switch and its progress."""

    id: int
    switch: str
    state: State
    who: str
    plan: Plan
    reason: str
    created: float
    updated: float
    steps: list[Step]
    dark_s: float | None = None
    """Dark time of `given_up`: it counts against `limits.dark_per_hour`; None if there is none."""
    dark_until: float | None = None
    """When it ended [s since 1970]."""


class ShownTransaction(TransactionAnswer):
    """A transaction with the names of its cross-connects."""

    removed: list[str]
    added: list[str]
    kept: list[str]


class LeaseAnswer(Answer):
    """A reservation."""

    id: int
    switch: str
    racks: tuple[str, str]
    owner: str
    priority: int
    begins: float
    ends: float
    released: float | None


class CurrentLease(LeaseAnswer):
    """A reservation that has not ended."""

    active: bool


class JobAnswer(Answer):
    """A job on the racks, and its next checkpoint."""

    name: str
    owner: str
    racks: list[str]
    accelerators: int | None
    begins: float | None
    ends: float | None
    until: float | None
    """Time at which it ends, unless it is announced again."""


class DeferredAnswer(Answer):
    """A change that waits for a time or a checkpoint."""

    id: int
    switch: str
    who: str
    pairs: list[Pair]
    priority: int
    when: Literal["at checkpoint"] | float
    created: float
    why: str | None = None
    """The reasons why it does not begin now, if it waits for a checkpoint."""


AlarmKind = Literal[
    "failed",
    "audit",
    "clock",
    "hook",
    "removed",
    "unreachable",
    "policy",
    "drift",
    "conflict",
    "dark",
    "retry",
    "stuck",
]


class Alarm(Answer):
    """Something that needs an operator."""

    kind: AlarmKind
    switch: str
    text: str


class SeenDemand(Answer):
    """The last demand between racks [bytes]."""

    matrix: list[list[int]]
    at: float
    source: str
    span_s: float | None


class PairDemand(Answer):
    """The demand from one rack to another [bytes]."""

    racks: str
    bytes: int
    joined: bool
    """Whether a circuit connects the pair."""


class SwitchState(Answer):
    """A switch, its circuits, and the circuits that its policy requests."""

    name: str
    url: str
    model: str
    ports: str
    read_at: float | None
    trouble: str | None
    racks: list[str]
    lit: list[NamedPair]
    dark: list[NamedPair]
    """Cross-connects that are connected and carry no light."""
    wanted: list[WantedPair]
    advice: list[NamedPair] | None
    held_back: str | None
    unowned: list[str]
    conflicts: list[str]
    demand: SeenDemand | None
    carried: float
    heaviest: list[PairDemand]
    """The pairs of racks with the largest demand, largest first."""
    dark_spent_s: float
    """Dark time of the policy's changes of the last hour."""
    dark_limit_s: float | None
    """Budget of dark time per hour; None if there is no limit."""


class ControllerState(Answer):
    """All switches, transactions, leases and alarms."""

    name: str
    role: Role
    active: str | None
    """Host and process of the active controller; None if no controller is active."""
    mode: Literal["advise", "act"]
    now: float
    version: int
    switches: list[SwitchState]
    transactions: list[ShownTransaction]
    leases: list[CurrentLease]
    jobs: list[JobAnswer]
    deferred: list[DeferredAnswer]
    alarms: list[Alarm]


class Difference(Answer):
    """The changes that requests need on a switch, without the policy's next plan; parts that failed
    may wait."""

    switch: str
    removed: list[str]
    added: list[str]
    kept: list[str]
    unowned: list[str]
    conflicts: list[str]


class TimedDifference(Difference, Price):
    """A difference, with the cost of its change."""

    role: Role
    read_at: float | None
    """Time at which the switch was read [s since 1970]; None if it has not been read, so that all
    circuits seem to be dark."""
    trouble: str | None = None
    """The reason why it was not read since; None if it was."""


class Interval(Answer):
    """The simulated traffic of the next interval."""

    delivered: float
    """Share of the demand that has arrived at the end of the interval."""
    on_circuits: float
    """Share of the demand that circuits carried."""


class Forecast(Answer):
    """A simulation of the next interval, with the circuits that are lit and with the change."""

    interval_s: float
    now: Interval
    changed: Interval


class Preview(TimedDifference):
    """The changes that a request would make; nothing was written."""

    dry_run: Literal[True] = True
    forecast: Forecast | None
    no_forecast: str | None
    """The reason why there is no forecast."""


class Applied(Answer):
    """The transactions of a request, and the difference that remains."""

    transactions: list[TransactionAnswer]
    diff: TimedDifference
    deferred: DeferredAnswer | None = None
    """The deferred change, if the request is for later."""
    dark: list[str] = []
    """Requested cross-connects that are not set up or emit no light."""


class Undone(RootModel[list[TransactionAnswer]]):
    """The transactions that undid one."""


class DemandTaken(Answer):
    """Demand that was stored."""

    switch: str
    bytes: int


class Released(Answer):
    """The lease that was ended."""

    released: int


class Withdrawn(Answer):
    """The deferred change that was withdrawn."""

    withdrawn: int


class EndedJob(Answer):
    """The job that has ended."""

    ended: str


class Record(Answer):
    """An audit record, which contains the hash of the record before it."""

    id: int
    at: float
    who: str
    what: str
    body: str
    previous: str
    hash: str


class Audit(Answer):
    """Audit records, and the first whose hash does not match the record before it."""

    records: list[Record]
    broken_link: int | None
    """Number of the first broken record among these records, and among all records at
    `checked_at`."""
    checked_at: float | None
    """Time at which all records were last checked [s since 1970]; None if they have not been
    checked yet."""
