"""`lightloom switch test`: the checks of one switch or of several, and their table."""

from __future__ import annotations

import json as json_text
import time
import urllib.error
import urllib.request
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from lightloom.cli import console
from lightloom.errors import refusal
from lightloom.switches import conformance, reconfiguration
from lightloom.switches.packets import Counted, Stream
from lightloom.switches.ports import LARGEST
from lightloom.switches.protocol import CircuitSwitch, SwitchError
from lightloom.switches.stored import read_wanted
from lightloom.switches.targets import open_target
from lightloom.switches.verdicts import Check, Verdict

SHORT = {Verdict.PASSED: "passed", Verdict.FAILED: "FAILED", Verdict.SKIPPED: "-"}
"""Text of a verdict in a table of several switches."""
PROBE_S = 0.005
"""Time for which packets are sent to test whether links are up [s]."""
LONGEST_WAIT_S = 86_400
"""Longest wait for settling [s]."""
ROUNDS = 5
"""Usual number of rounds."""
MOST_ROUNDS = 10_000
"""Largest number of rounds of one test."""


@dataclass(frozen=True)
class Asked:
    """The options of the command."""

    credentials: Path | None
    wait_s: float
    bulk: int
    faults: str | None
    plans: Sequence[Path]
    rounds: int | None
    client: str | None


def check(asked: Asked) -> None:
    """Refuses options that do not fit together.

    Raises:
        ConfigError: naming the option.
    """
    if not asked.plans and asked.client is not None:
        raise refusal("--client", asked.client, "runs while plans change", "add --plan A --plan B")
    if not asked.plans and asked.rounds is not None:
        raise refusal("--rounds", asked.rounds, "counts changes of plans", "add --plan A --plan B")
    if len(asked.plans) == 1:
        shown = str(asked.plans[0])
        raise refusal("--plan", shown, "one plan is no change", "add another --plan")
    if asked.rounds is not None and not 1 <= asked.rounds <= MOST_ROUNDS:
        raise refusal("--rounds", asked.rounds, f"1 to {MOST_ROUNDS:,}", "correct it")
    if not 1 <= asked.bulk <= LARGEST:
        raise refusal("--bulk", asked.bulk, f"1 to {LARGEST:,}", "correct it")
    check_wait(asked.wait_s)
    if asked.faults is not None:
        CommandFace(asked.faults, asked.wait_s).counts()  # raises an error if nothing answers there


def check_wait(wait_s: float) -> None:
    """Refuses an invalid waiting time.

    Raises:
        ConfigError: naming the option.
    """
    if not 0 < wait_s <= LONGEST_WAIT_S:
        limit = f"above 0, and at most {LONGEST_WAIT_S:,} s"
        raise refusal("--wait", wait_s, limit, "correct it")


def run(switch: CircuitSwitch, target: str, asked: Asked, *, say: bool) -> list[Check]:
    """Runs the checks of one switch; with `say`, each is printed when it is done."""

    def again() -> CircuitSwitch:
        return open_target(target, asked.credentials)

    face = None if asked.faults is None else CommandFace(asked.faults, asked.wait_s)
    if asked.plans:
        plans = [read_wanted(path) for path in asked.plans]
        what = reconfiguration.Run(
            plans, asked.rounds or ROUNDS, asked.wait_s, again, face, asked.client or ""
        )
        going = reconfiguration.run(switch, what)
    else:
        reboot = None if face is None else face.reboot
        going = conformance.run(switch, again, asked.wait_s, asked.bulk, reboot)
    found = []
    for one in going:
        found.append(one)
        if say:
            console.say(f"{one.verdict.value:8} {one.name:28} {one.detail}".rstrip())
    return found


def report(found: Mapping[str, Sequence[Check]], *, json: bool) -> None:
    """Prints the table of several switches, or JSON; exits with an error if a check failed."""
    if json:
        each = {target: [_plain(one) for one in checks] for target, checks in found.items()}
        console.print_json(each if len(each) > 1 else next(iter(each.values())))
    elif len(found) > 1:
        console.say("")
        for name, target in zip(columns(found), found, strict=True):
            console.say(f"{name:8} {target}")
        console.say("")
        console.out(wide=True).print(table(found))
    every = [one for checks in found.values() for one in checks]
    failed = sum(one.verdict is Verdict.FAILED for one in every)
    if failed:
        console.stop(f"{failed} of {len(every)} checks failed", console.EXIT_FAILED)


def table(found: Mapping[str, Sequence[Check]]) -> Table:
    """A row for each check, a column for each switch."""
    made = Table(box=None, pad_edge=False)
    made.add_column("check")
    for name in columns(found):
        made.add_column(name)
    names = dict.fromkeys(one.name for checks in found.values() for one in checks)
    for name in names:
        cells = [
            next((SHORT[one.verdict] for one in checks if one.name == name), "")
            for checks in found.values()
        ]
        made.add_row(name, *cells)
    return made


def columns(targets: Collection[str]) -> list[str]:
    """The name of each switch in a table: its interface, or a number if two have the same.

    >>> columns(["scpi://h", "tl1://h"]), columns(["scpi://h", "scpi://i"])
    (['scpi', 'tl1'], ['1', '2'])
    """
    kinds = [target.partition("://")[0] for target in targets]
    if len({*kinds}) == len(kinds):
        return kinds
    return [str(at) for at in range(1, len(kinds) + 1)]


def _plain(one: Check) -> dict[str, Any]:
    return {"check": one.name, "verdict": one.verdict, "detail": one.detail}


class CommandFace:
    """The command interface of an emulated switch: faults, and packets."""

    def __init__(self, url: str, wait_s: float) -> None:
        if not url.startswith("http://"):
            raise refusal("--faults", url, "must be an address http://HOST:PORT", "correct it")
        self._url, self._wait_s = url.rstrip("/"), wait_s

    def reboot(self, kind: str) -> None:
        """Reboots the switch, `"warm"` or `"cold"`."""
        self._ask("/faults", {"kind": f"reboot-{kind}"})

    def begin(self) -> None:
        """Sends packets into every A port from now on, after links are up."""
        self._send()
        self.settle()
        self._send()

    def settle(self) -> None:
        """Waits until no A port with a cross-connect loses packets; links come up some time after
        the light.

        Raises:
            SwitchError: if one still loses packets.
        """
        until = time.monotonic() + self._wait_s
        before = self.counts()
        while True:
            time.sleep(PROBE_S)
            now = self.counts()
            lost = [a for a, one in now.items() if a in before and one.lost > before[a].lost]
            if not lost:
                return
            if time.monotonic() > until:
                raise SwitchError(f"port {lost[0]}A loses packets long after the change")
            before = now

    def _send(self) -> None:
        usual = Stream()
        self._ask("/packets", {"gap": f"{usual.gap_ps} ps", "length": f"{usual.length_ps} ps"})

    def counts(self) -> dict[int, Counted]:
        """Returns port → number of packets so far."""
        found: dict[str, dict[str, Any]] = json_text.loads(self._ask("/packets"))
        return {
            int(name.removesuffix("A")): Counted(
                one["sent"],
                one["delivered"],
                {int(b): count for b, count in one["to"].items()},
                one["silence_ps"],
            )
            for name, one in found.items()
        }

    def _ask(self, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        data = None if body is None else json_text.dumps(body).encode()
        try:
            with urllib.request.urlopen(self._url + path, data, timeout=10) as answer:
                said: bytes = answer.read()
                return said
        except (urllib.error.URLError, OSError, ValueError) as problem:
            reason = getattr(problem, "reason", problem)
            limit = f"did not take the request ({getattr(reason, 'strerror', None) or reason})"
            raise refusal("--faults", self._url, limit, "check its address") from None
