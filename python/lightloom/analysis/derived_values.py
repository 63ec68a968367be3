"""The derived values, devices and parts of a fabric as text: the tables `derived`, `devices` and
`parts` of summary.json.

The last part of a name gives the unit: `epoch_slots` are the slots of an epoch, `cell_bytes` the
bytes of a cell, `rate_precision` the precision of rates; any other, such as `base_uplinks`, is a
count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import starmap
from typing import Any

from lightloom.units.counts import counted, figure


def derived(found: Mapping[str, float]) -> str:
    """The derived values of a fabric as text; empty if it has none.

    >>> derived({"uplinks": 1, "cell_bytes": 562, "epoch_slots": 32 / 3})
    '1 uplink, cells of 562 B, epochs of 10.67 slots'
    >>> derived({"rate_precision": 0.001})
    'rates to 0.1 %'
    """
    return ", ".join(starmap(_derived, found.items()))


def parts(found: Mapping[str, int]) -> str:
    """The parts of a fabric as text; empty if it has none.

    >>> parts({"memories": 1, "grating_ports_taken": 64, "memory_read_bps": 40_000_000_000})
    '1 memory, 64 grating ports taken, memory read 40 Gb/s'
    """
    return ", ".join(starmap(_part, found.items()))


def devices(found: Mapping[str, Any]) -> str:
    """The values that follow from the devices that a fabric's table names; empty if it names none.

    >>> devices({"ports": 44, "settle": "11.55 us", "deviation": "2.36 us", "loss": None})
    'a switch of 44 ports, dark for 11.55 us (σ 2.36 us), loss not known: no link budget'
    >>> devices({"ports": 2, "settle": "1 ms", "loss": "3 dB", "budget": {"spare": "0.5 dB"}})
    'a switch of 2 ports, dark for 1 ms, loss 3 dB, 0.50 dB of the link budget to spare'
    """
    return ", ".join(_design(found) if "guardband" in found else _switch(found))


def _design(found: Mapping[str, Any]) -> Iterator[str]:
    guardband = found["guardband"]
    parts = ", ".join(f"{part['name']} {part['time']}" for part in guardband["parts"])
    yield f"guardband {guardband['total']} ({parts}) of {found['slot']}"
    yield f"{found['ports']} ports"
    by = f" by {found['reach_by']}" if "reach_by" in found else ""
    yield f"reach {found['reach']}{by}"
    bank = f" of {found['lasers']} lasers" if found["lasers"] > 1 else ""
    yield f"{counted(found['laser_chips'], 'laser chip')}{bank} a node"
    yield f"{found['error_rate']:.1e} of bits wrong after correction"


def _switch(found: Mapping[str, Any]) -> Iterator[str]:
    if not found:
        return
    yield f"a switch of {found['ports']} ports"
    spread = f" (σ {found['deviation']})" if found.get("deviation") else ""
    yield f"dark for {found['settle']}{spread}"
    loss = found.get("loss")
    yield f"loss {loss}" if loss else "loss not known: no link budget"
    if budget := found.get("budget"):
        yield f"{float(budget['spare'].split()[0]):.2f} dB of the link budget to spare"


def _derived(name: str, value: float) -> str:
    thing, _, unit = name.rpartition("_")
    words = thing.replace("_", " ")
    if unit == "bytes" and thing:
        return f"{words}s of {figure(value)} B"
    if unit == "slots" and thing:
        return f"{words}s of {_things(value, unit)}"
    if unit == "precision" and thing:
        return f"{words}s to {100 * value:.10g} %"
    return _things(value, name.replace("_", " "))


def _part(name: str, count: int) -> str:
    if name.endswith("_bps"):
        return f"{name.removesuffix('_bps').replace('_', ' ')} {count / 1e9:g} Gb/s"
    return _things(count, name.replace("_", " "))


def _things(value: float, things: str) -> str:
    """A number with the noun of its key, such as `epoch slots`; singular for 1."""
    return counted(value, _one(things), things)


def _one(things: str) -> str:
    """The singular of the last plural word.

    >>> _one("epoch slots"), _one("memories"), _one("switches"), _one("hops")
    ('epoch slot', 'memory', 'switch', 'hop')
    """
    for many, one in ((r"ies\b", "y"), (r"(?<=ch|sh)es\b", ""), (r"(?<!s)s\b", "")):
        found = list(re.finditer(many, things))
        if found:
            last = found[-1]
            return things[: last.start()] + one + things[last.end() :]
    return things
