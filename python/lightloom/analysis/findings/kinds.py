"""The kinds of findings on which fabrics carry a workload, before times are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lightloom.analysis import circuits

Basis = Literal["window", "load", "traffic"]


@dataclass(frozen=True)
class FinishesMore:
    """Fabrics finish jobs that others do not: the number of finished jobs decides.

    A job that is not done when the run ends takes longer than any job that is done by then.
    """

    leaders: tuple[str, ...]
    """Fabrics that finish every job which any other finishes; none if each finishes a job that
    another does not."""
    done: Mapping[str, tuple[int, int]]
    """Label → number of jobs finished with every seed, and number of all jobs."""

    @property
    def complete(self) -> bool:
        """Whether the leaders finish all jobs."""
        return bool(self.leaders) and all(
            self.done[label][0] == self.done[label][1] for label in self.leaders
        )


@dataclass(frozen=True)
class Unfinished:
    """The share that a fabric delivered by the end of a run that ended before its traffic did."""

    bytes_delivered: float
    bytes_offered: float
    flows_completed: int
    flows_offered: int


@dataclass(frozen=True)
class AloneCarries:
    """One fabric carries the workload; all others carry less than nine tenths of it."""

    leader: str
    shares: Mapping[str, float | None]
    """Label of each other fabric → bytes delivered relative to the leader; None for a window."""
    basis: Basis
    """The measure: the window, the load delivered while flows arrived, or all bytes delivered."""
    faster: tuple[str, ...] = ()
    """Others whose short flows have a lower 99th percentile, of the flows that they carried."""
    unfinished: Unfinished | None = None
    """The share of the traffic that the leader delivered, for traffic without a load, if the run
    ended before all was delivered."""
    limit_s: float | None = None
    """run.limit, if it ended the run of another that might have finished later [s]."""


@dataclass(frozen=True)
class NoneCarries:
    """No fabric carries the load."""

    labels: tuple[str, ...]
    shares: Mapping[str, float] = field(default_factory=dict)
    """Without a window: label → share of the load drawn that it delivered while flows arrived."""
    done_s: Mapping[str, float] = field(default_factory=dict)
    """Label → time at which its last flow finished, if every fabric finished all flows."""
    beyond: float | None = None
    """The load, if it exceeds the capacity of the servers' links, so that no fabric can carry
    it."""
    server: str = ""
    """The server whose link is offered more than it carries on every fabric, as `to server 3`."""


@dataclass(frozen=True)
class WindowTooShort:
    """The window is too short to show whether the leading fabric carries the load."""

    unsettled: tuple[str, ...]
    """The fabrics for which it is too short."""
    warm_up_s: float
    measure_s: float
    needs_warm_up_s: float
    needs_measure_s: float
    largest_s: float | None = None
    """The time that the largest flow takes alone, if the warm-up is shorter."""
    cycles_s: Mapping[str, float] = field(default_factory=dict)
    """Label → cycle time of its circuits, if the warm-up or the window is shorter."""
    flows: int | None = None
    """Flows that arrived in the window, over all seeds, if they are too few."""


@dataclass(frozen=True)
class RunTooShort:
    """A run without a window does not show whether the fabric that would lead carries the load,
    and flows that it did not finish may be slower than those that it did."""

    delivered: Mapping[str, float]
    """Label of each such fabric → share of the load drawn that it delivered while flows arrived."""
    finished: Mapping[str, float]
    """Label → share of its flows that finished."""
    best: float | None = None
    """The share of the load that the best of all fabrics delivered, if it is notably higher."""
    cut: bool = False
    """Whether `run.limit` ended the run."""
    stopped: bool = False
    """Whether `run.stop` ended it before all flows had arrived."""


TooShort = WindowTooShort | RunTooShort


@dataclass(frozen=True)
class Cut:
    """The run of a fabric ended before its flows finished: at `run.limit`, or because no flow could
    make progress."""

    label: str
    limit_s: float
    flows: int
    never_offered: int
    unfinished: int
    still_since_s: float | None = None
    """Time since which nothing was delivered, if that ended the run."""
    seeds: int = 1
    """Number of runs over which flows are counted."""


@dataclass(frozen=True)
class DarkStart:
    """No circuit of a fabric was lit during a notable part of the run at its beginning."""

    label: str
    until_s: float
    share: float
    """Of the run."""
    initial: bool
    """Whether the fabric has the key `initial`, by which circuits are lit from the start."""


@dataclass(frozen=True)
class LongInterval:
    """The policy of a fabric decides on circuits once or never, or only after all flows have
    arrived, or flows of a job wait for its decisions."""

    label: str
    finding: circuits.Finding


@dataclass(frozen=True)
class DoneSooner:
    """Times may be compared: the criteria decide, among these fabrics only."""

    among: tuple[str, ...]


Finding = FinishesMore | AloneCarries | NoneCarries | WindowTooShort | RunTooShort | DoneSooner
