"""HydRA's forwarding (JOCN 7(3), 2015, §III.B.1): servers tag packets for a path, by rules of Open
vSwitch, which the controller changes in three substeps over OpenFlow. Rack switches forward by tag.

3-1: rules of a higher priority move traffic away from circuits. 3-2: rack switches get the new
VLANs, and servers get the new rules, which have no effect yet. 3-3: the rules of 3-1 are deleted,
which puts the new rules into effect.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lightloom import _core
from lightloom.switches.openflow import LOCAL, Listener, Match, Removal, Rule, Stage
from lightloom.testbed.forwarding import Hop, Pair, Routes, hops_of, settle_s
from lightloom.testbed.layout import Layout, rack_prefix
from lightloom.testbed.limits import percentile
from lightloom.testbed.open_vswitch import LINK_PORT, OpenVSwitches, datapath_of
from lightloom.testbed.path_tags import ELECTRICAL, PathTags, first_paths
from lightloom.testbed.setup import Setup, scaled_ps
from lightloom.units.durations import duration_ps

IN, WITHIN, USE, AVOID = 10, 50, 100, 200
"""Priorities of the rules for arriving packets, for packets within the rack, for paths, and of
substep 3-1."""
ANSWER_S = 10.0
"""Longest wait for the barrier replies of a stage."""
LOOP_S = 0.02
"""Longest time for which a switch without a processor holds packets whose path is already decided
[s]."""

Tags = dict[Pair, int | None]
"""The VLAN of the traffic between two racks; None drops it."""


class ServerForwarding:
    """Forwarding by tags: servers tag packets, and rack switches forward them by tag."""

    def __init__(
        self, setup: Setup, plane: _core.TestbedKernelPlane, lit: set[Hop], folder: Path
    ) -> None:
        """Starts a switch on each host, whose first rules use the electrical network.

        Args:
            setup: set-up of the testbed.
            plane: plane with the tables of the rack switches.
            lit: lit circuits, which their owner updates.
            folder: folder of the testbed.

        Raises:
            ConfigError: without Open vSwitch or os-ken.
            RuntimeError: if a switch does not start, or does not accept its first rules.
        """
        layout = setup.layout
        self._layout = layout
        self._plane = plane
        self._lit = lit
        self._settle_s = settle_s(setup) * _most_hops(setup) + LOOP_S
        self._retag_s = _retag_s(setup)
        self._tags = PathTags()
        elsewhere = ELECTRICAL if layout.electrical else None
        self._elsewhere = elsewhere
        racks = range(layout.racks)
        self._using: Tags = {(a, b): elsewhere for b in racks for a in range(b)}
        self._avoiding: Tags = {}
        self._step_s: list[float] = []
        self._changes = self._most_vlans = 0
        controller = folder / "openflow.sock"
        self._listener = Listener(f"unix:{controller}", key="testbed")
        self._pool = ThreadPoolExecutor(1, "openflow")
        self._switches = OpenVSwitches(layout, folder, controller)
        try:
            self._switches.start()
            self._apply(first_rules(layout, self._using))
        except BaseException as problem:
            self.stop()
            if isinstance(problem, OSError):
                raise RuntimeError(str(problem)) from None
            raise

    def drain(self, pairs: Sequence[Pair], staying: Routes) -> Iterator[float]:
        """Carries out substep 3-1, and waits until no packet of the pairs is in transit over their
        old routes."""
        stay = first_paths(staying["routes"])
        self._plane.lead_tagged(self._tags.assign(stay.values()))
        self._note_vlans()
        tags = {
            pair: self._tags.vlan_of(stay[pair]) if pair in stay else self._elsewhere
            for pair in pairs
        }
        yield from self._push([rules(tags, AVOID)])
        self._avoiding |= tags
        yield self._settle_s

    def leave(self, hops: Iterable[Hop]) -> Iterator[float]:
        """Does nothing, because their traffic has been drained."""
        yield from ()

    def route(self, routes: Routes) -> Iterator[float]:
        """Carries out substep 3-2, in parallel to the change of circuits.

        Pairs that were not drained keep their routes by a rule of the higher priority.
        """
        began = time.monotonic()
        paths = first_paths(routes["routes"])
        self._plane.lead_tagged(self._tags.assign(paths.values()))
        self._note_vlans()
        held = {pair: self._using[pair] for pair in paths if pair not in self._avoiding}
        tags: Tags = {pair: self._tags.vlan_of(path) for pair, path in paths.items()}
        yield from self._push([rules(held, AVOID), rules(tags, USE)])
        self._avoiding |= held
        self._using |= tags
        if (left := began + self._retag_s - time.monotonic()) > 0:
            yield left

    def enter(self, pairs: Sequence[Pair], routes: Routes, directed: bool) -> Iterator[float]:
        """Carries out substep 3-3, first for the rules of pairs that no longer have circuits."""
        ways = self._lit | {(b, a, plane) for a, b, plane in self._lit}
        lit = [route for route in routes["routes"] if set(hops_of(route)) <= ways]
        paths = first_paths(lit)
        self._plane.lead_tagged(self._tags.assign(paths.values()))
        self._note_vlans()
        wanted: Tags = dict.fromkeys(self._using, self._elsewhere)
        wanted |= {pair: self._tags.vlan_of(path) for pair, path in paths.items()}
        late = {pair: tag for pair, tag in wanted.items() if self._using[pair] != tag}
        yield from self._push([rules(late, USE), removals(self._avoiding)])
        self._using, self._avoiding = wanted, {}
        self._tags.keep(paths.values())

    def _push(self, stages: Sequence[Mapping[int, Stage]]) -> Iterator[float]:
        began = time.monotonic()
        doing: Future[None] = self._pool.submit(self._apply, stages)
        while not doing.done():
            yield 0
        doing.result()
        self._step_s.append(time.monotonic() - began)
        self._changes += sum(len(stage) for by_rack in stages for stage in by_rack.values())

    def _apply(self, stages: Sequence[Mapping[int, Stage]]) -> None:
        """Makes the servers of each rack apply the stages of the rack.

        Raises:
            OSError: if a switch fails.
        """
        racks = {rack for by_rack in stages for rack, stage in by_rack.items() if stage}
        hosts = [host for host in self._layout.hosts if host.rack in racks]
        work = {
            datapath_of(host): [by_rack.get(host.rack, []) for by_rack in stages] for host in hosts
        }
        failed = self._listener.apply(work, ANSWER_S)
        if failed:
            datapath, problem = next(iter(failed.items()))
            raise OSError(f"Open vSwitch on host {datapath - 1}: {problem}")
        try:
            self._switches.forget(hosts)
        except RuntimeError as problem:
            raise OSError(str(problem)) from None

    def _note_vlans(self) -> None:
        self._most_vlans = max(self._most_vlans, self._tags.in_use)

    def totals(self) -> dict[str, Any]:
        """Rules that were changed, time of substeps, VLANs, and packets that switches lost."""
        times = self._step_s
        return {
            "rule_changes": self._changes * self._layout.hosts_per_rack,
            "rules_ms": {
                name: percentile(times, share) * 1e3 if times else None
                for name, share in (("p50", 0.5), ("max", 1.0))
            },
            "vlans": self._most_vlans,
            "switch_drops": self._switches.count_drops(),
        }

    def is_alive(self) -> bool:
        """Whether all switches of servers run."""
        return self._switches.is_alive()

    def stop(self) -> None:
        """Ends the switches and the connections to them."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._switches.stop()
        self._listener.close()
        # Its programs are detached when it is no longer referenced.
        del self._plane


def _most_hops(setup: Setup) -> int:
    return int(setup.resolved["fabric"][setup.fabric].get("hops", 1))


def _retag_s(setup: Setup) -> float:
    given = setup.resolved["fabric"][setup.fabric].get("retag", "0 s")
    return scaled_ps(setup, duration_ps("fabric.retag", given)) / 1e12


def _to(rack: int) -> Match:
    return Match(in_port=LOCAL, eth_dst=rack_prefix(rack))


def first_rules(layout: Layout, tags: Tags) -> list[dict[int, Stage]]:
    """The first rules of a server's switch, which accept arriving packets and send others."""
    arriving = Rule(IN, Match(in_port=LINK_PORT), LOCAL)
    racks = range(layout.racks)
    own: dict[int, Stage] = {rack: [arriving, Rule(WITHIN, _to(rack), LINK_PORT)] for rack in racks}
    return [own, rules(tags, USE)]


def rules(tags: Tags, priority: int) -> dict[int, Stage]:
    """The rules that give the traffic between racks its VLANs, by the rack of the servers."""
    found: dict[int, list[Rule | Removal]] = {}
    for (a, b), tag in tags.items():
        out = None if tag is None else LINK_PORT
        for at, to in ((a, b), (b, a)):
            found.setdefault(at, []).append(Rule(priority, _to(to), out, tag, cookie=to))
    return dict(found)


def removals(pairs: Iterable[Pair]) -> dict[int, Stage]:
    """The messages that remove the rules of 3-1."""
    found: dict[int, list[Rule | Removal]] = {}
    for a, b in pairs:
        for at, to in ((a, b), (b, a)):
            found.setdefault(at, []).append(Removal(AVOID, _to(to)))
    return dict(found)
