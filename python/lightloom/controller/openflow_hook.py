"""A hook that changes rules of OpenFlow switches in HydRA's three substeps.

Before a cross-connect is removed, rules of a higher priority send its traffic over the electrical
network, and then the rules that use the cross-connect are removed. After cross-connects were added,
rules that use them are installed first, and then the rules of the first substep are removed. Each
stage begins after all switches have replied to the barrier of the stage before. Rules of kept
cross-connects are not changed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from lightloom.control.demand.hosts import Network
from lightloom.controller.circuit_rules import (
    Sender,
    read_networks,
    read_senders,
    removal_of,
)
from lightloom.controller.config import OpenFlowTable, positive_s
from lightloom.controller.hooks import HookError
from lightloom.controller.racks import Racks
from lightloom.errors import ConfigError
from lightloom.switches.openflow import (
    Listener,
    OpenFlowError,
    Removal,
    Rule,
    Stage,
    installed_messages,
)
from lightloom.switches.ports import Pair, Port, name_of
from lightloom.units.durations import duration_ps

LISTEN = "openflow.listen"
"""The key of the address in errors."""
SHOWN = 3
"""Number of failures that a message names."""

Use = tuple[Sender, Network]
"""A switch that sends to a prefix."""


class OpenFlowHook:
    """Drains traffic and lets it in by OpenFlow rules."""

    def __init__(self, table: OpenFlowTable) -> None:
        """Reads senders and prefixes; `start` opens the listener.

        Raises:
            ConfigError: if a line of their files is invalid; without os-ken.
        """
        installed_messages(table.listen, LISTEN)
        self._table = table
        self._timeout_s = positive_s("openflow.timeout", table.timeout)
        self._settle_s = duration_ps("openflow.settle", table.settle) / 1e12
        self._senders = read_senders(table)
        self._networks = read_networks(table.hosts)
        self._racks: dict[str, Racks] = {}
        self._check: Callable[[], None] = lambda: None
        self._kept: dict[tuple[str, int], int] = {}
        """By circuit switch and datapath: the connection over which its rules were last added."""
        self._listener: Listener | None = None
        self._opening = threading.Lock()

    def check(self, switch: str, racks: Racks) -> None:
        """Refuses racks without a sending switch or without a prefix.

        Raises:
            ConfigError: naming one.
        """
        self._racks[switch] = racks
        for name in racks.names:
            port = racks.a_port(name)
            if (switch, port) not in self._senders:
                limit = f"no line for port {port} of {switch}, which rack {name} is on"
                remedy = f"add {switch},{port},DATAPATH,CIRCUIT,ELECTRICAL"
                raise ConfigError(f"{self._table.rules}: {limit}; {remedy}")
            if not self._networks.get(name):
                limit = f"no prefix of rack {name}"
                raise ConfigError(f"{self._table.hosts}: {limit}; add a line PREFIX,{name}")

    def start(self, check: Callable[[], None]) -> None:
        """Listens for the switches.

        Raises:
            ConfigError: if the address is in use.
        """
        self._check = check
        self._listening()

    def _listening(self) -> Listener:
        with self._opening:
            if self._listener is None:
                table = self._table
                self._listener = Listener(table.listen, self._timeout_s, LISTEN)
            return self._listener

    def _opened(self) -> Listener:
        """The listener, which is opened if its address was in use before.

        Raises:
            HookError: if it is in use.
        """
        try:
            return self._listening()
        except ConfigError as problem:
            raise HookError(str(problem)) from None

    def stop(self) -> None:
        """Ends the connections of the switches, which then connect to the active controller."""
        with self._opening:
            if self._listener is not None:
                self._listener.close()
            self._listener = None
            self._kept.clear()

    def drain(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Carries out the first substep; returns when no packet is in transit over these
        cross-connects."""
        uses = [*self._uses(switch, pairs)]
        if not uses:
            return
        avoid, remove = {}, {}
        for datapath, own in _by_datapath(uses).items():
            avoid[datapath] = [sender.avoid(to) for sender, to in own]
            remove[datapath] = [removal_of(sender.use(to)) for sender, to in own]
        self._apply([avoid, remove])
        time.sleep(self._settle_s)

    def enter(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Carries out the third substep for these cross-connects."""
        uses = [*self._uses(switch, pairs)]
        use = {at: [s.use(to) for s, to in own] for at, own in _by_datapath(uses).items()}
        self._apply([use, _without_avoiding(uses)])

    def forget(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Removes the rules of the first substep, because no rule uses these cross-connects."""
        known = [pair for pair in pairs if self._has_rules(switch, pair)]
        self._apply([_without_avoiding([*self._uses(switch, known)])])

    def keep(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Adds the rules of these cross-connects again on switches that have reconnected, because
        their table may be empty after a restart."""
        if not pairs:
            return
        listener = self._opened()
        use = {
            at: [sender.use(to) for sender, to in own]
            for at, own in _by_datapath([*self._uses(switch, pairs)]).items()
        }
        count = {datapath: listener.connections(datapath) for datapath in use}
        new = {at for at in use if count[at] and count[at] != self._kept.get((switch, at))}
        if new:
            self._apply([{at: use[at] for at in sorted(new)}])
            self._kept |= {(switch, at): count[at] for at in new}

    def _has_rules(self, switch: str, pair: Pair) -> bool:
        is_sent = (switch, Port("A", pair[0])) in self._senders
        return is_sent and self._racks[switch].at_b(pair[1]) is not None

    def _uses(self, switch: str, pairs: Sequence[Pair]) -> Iterator[Use]:
        """The users of cross-connects: each sending switch at the A port, with each prefix of the
        rack at the B port."""
        for pair in pairs:
            port = Port("A", pair[0])
            senders = self._senders.get((switch, port))
            if senders is None:
                raise HookError(
                    f"{self._table.rules}: no line for port {port} of {switch}, and traffic may "
                    f"enter {name_of(pair)} there; add {switch},{port},DATAPATH,CIRCUIT,ELECTRICAL"
                )
            rack = self._racks[switch].at_b(pair[1])
            if rack is None:
                raise HookError(
                    f"{name_of(pair)} of {switch}: no rack is at {Port('B', pair[1])}, so that "
                    f"no rule leads there; add the rack to the port map"
                )
            yield from ((sender, to) for sender in senders for to in self._networks[rack])

    def _apply(self, stages: Sequence[Mapping[int, Sequence[Rule | Removal]]]) -> None:
        datapaths = sorted({datapath for stage in stages for datapath in stage})
        work: dict[int, list[Stage]] = {
            datapath: [stage.get(datapath, []) for stage in stages] for datapath in datapaths
        }
        failed = self._opened().apply(work, self._timeout_s, self._check)
        if failed:
            raise HookError(_said(failed))


def _without_avoiding(uses: Sequence[Use]) -> dict[int, list[Removal]]:
    """The messages that remove the rules that avoid circuits."""
    return {
        at: [removal_of(sender.avoid(to)) for sender, to in own]
        for at, own in _by_datapath(uses).items()
    }


def _by_datapath(uses: Sequence[Use]) -> dict[int, list[Use]]:
    found: dict[int, dict[Use, None]] = {}
    for use in uses:
        found.setdefault(use[0].datapath, {})[use] = None
    return {datapath: [*own] for datapath, own in found.items()}


def _said(failed: Mapping[int, OpenFlowError]) -> str:
    texts = [f"datapath {one:016x}: {problem}" for one, problem in sorted(failed.items())]
    more = f", and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return f"OpenFlow: {'; '.join(texts[:SHOWN])}{more}; check the switch and its controller"
