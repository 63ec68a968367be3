"""Calls the policy of the simulated fabrics for a switch at every interval.

The controller of a simulated hybrid network with the racks of the switch makes the decision, with
its memory, hysteresis and threshold. Each of its steps completes at once in the simulation; the
circuits that are then lit are the target, which a transaction sets up on the real switch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lightloom import _core
from lightloom.controller.racks import Racks
from lightloom.errors import ConfigError, refusal
from lightloom.switches.ports import Pair
from lightloom.units.durations import duration_ps

Circuit = tuple[int, int]
OTHER_KIND = "it decided earlier on circuits of both directions"
"""In the loop's error: a policy of one direction was shown light of both."""
MANY = 1_000
"""Largest number of steps of one decision; a controller with more steps has failed."""


class Decider:
    """A policy for the racks of one switch."""

    def __init__(self, policy: Mapping[str, Any], racks: Racks, interval: str) -> None:
        """Builds the policy.

        Raises:
            ConfigError: if a key of the policy is invalid.
        """
        self._racks = racks
        self._interval_ps = duration_ps("interval", interval)
        experiment = {
            "cluster": {"racks": len(racks.names), "servers_per_rack": 1, "server_rate": "10 Gb/s"},
            "workload": {
                "pattern": "permutation",
                "sizes": {"kind": "fixed", "size": "1 kB"},
                "load": 0.01,
                "flows": 1,
            },
            "fabric": [{"kind": "hybrid", "policy": dict(policy), "interval": interval}],
        }
        self._experiment = experiment
        self._directed: bool | None = None
        """Whether the policy decides on directed circuits; None if not known yet."""
        self._begin()

    def _begin(self) -> None:
        """Starts without memory of earlier decisions."""
        self._loop = _loop_of(self._experiment)
        self._now = 0
        self._hear("tick", None)

    def decide(
        self, demand: Sequence[Sequence[int]], lit: Sequence[Pair], mine: Sequence[Pair] = ()
    ) -> list[Pair]:
        """Returns the cross-connects that the policy requests now.

        A policy with bidirectional circuits does not receive unidirectional ones, which may belong
        to another owner.

        Args:
            demand: racks × racks [bytes].
            lit: cross-connects of the switch.
            mine: the policy's request when its last change was carried out.

        Raises:
            ConfigError: if the policy fails.
        """
        rows = [
            [a, b, int(size)]
            for a, row in enumerate(demand)
            for b, size in enumerate(row)
            if a != b and size > 0
        ]
        if self._directed is None and self._racks.circuits(mine)[0]:
            self._directed = True
        try:
            return self._decided(rows, lit)
        except ConfigError as problem:
            if self._directed or problem.limit != OTHER_KIND:
                raise
        # Both ways may be lit for a policy of one direction, too, or for another owner.
        self._directed = True
        self._begin()
        return self._decided(rows, lit)

    def _decided(self, rows: list[list[int]], lit: Sequence[Pair]) -> list[Pair]:
        directed = bool(self._directed)
        circuits = self._racks.directed(lit) if directed else self._racks.both_ways(lit)
        self._lit = {*circuits}
        found = {
            "lit": {"directed": directed, "circuits": [[a, b, 0] for a, b in circuits]},
            "routes": {"directed": directed, "routes": []},
            "schedule": None,
            "drained": [],
            "works": [True] * len(self._racks.names),
        }
        self._hear({"silence": found}, rows)
        self._now += self._interval_ps
        self._hear("tick", rows)
        return self._racks.pairs(sorted(self._lit), bool(self._directed))

    def _hear(self, heard: Any, rows: list[list[int]] | None) -> None:
        inputs = [heard]
        for _ in range(MANY):
            if not inputs:
                return
            texts = self._loop.on(self._now, json.dumps(inputs.pop(0)))
            for text in texts:
                if (answer := self._answer(json.loads(text), rows)) is not None:
                    inputs.append(answer)
        raise ConfigError("policy: its decision has no end; correct the policy")

    def _answer(self, action: Any, rows: list[list[int]] | None) -> Any:
        if action == "measure":
            return {"demand": rows or []}
        ((kind, body),) = action.items()
        if kind == "wake_at":
            # Wait for a decision with a computation delay.
            return "tick" if rows is not None and body <= self._now else None
        if kind == "follow":
            raise ConfigError(
                "policy: it decides on a schedule of slots, but the controller lights permanent "
                "circuits; choose a policy of circuits, such as cthrough or assignment"
            )
        if kind == "dark":
            self._lit -= {(a, b) for a, b, _ in body[1]["circuits"]}
        if kind == "light":
            if body[1]["directed"] and not self._directed:
                self._lit |= {(b, a) for a, b in self._lit}
            self._directed = bool(body[1]["directed"])
            self._lit |= {(a, b) for a, b, _ in body[1]["circuits"]}
        return {"done": body[0]}

    def log(self) -> str:
        """The inputs and decisions of the policy, in the form that `plan --replay` reads."""
        text: str = self._loop.log()
        return text


def _loop_of(experiment: Mapping[str, Any]) -> Any:
    """The control loop of the fabric.

    Raises:
        ConfigError: naming a key by its name in the controller's file.
    """
    try:
        resolved = json.loads(_core.resolve(json.dumps(experiment)))
        return _core.ControlLoop(json.dumps(resolved), 0, "controller")
    except ConfigError as problem:
        key = problem.key or ""
        if not key.startswith("fabric.policy"):
            raise
        limit, remedy = problem.limit or "", problem.remedy or ""
        raise refusal(key.removeprefix("fabric."), problem.value, limit, remedy) from None
