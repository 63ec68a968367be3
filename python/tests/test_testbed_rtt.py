"""Round trips on the user-space plane against their closed form: a packet waits for the day of its
pair, and the reply for the day of the opposite pair."""

import itertools
import json
import subprocess
import sys

import pytest
from test_testbed_live import inside
from test_testbed_setup import MORDIA, setup, table
from testbed_support import LIVE, needs_real_time

from lightloom.testbed import Testbed
from lightloom.testbed.user import UserPlane

pytestmark = [*LIVE, needs_real_time]

SLOT_MS, PROBES = 11.0, 90
RACKS = 4
PERIOD_MS = (RACKS - 1) * SLOT_MS
#: A program that returns each packet to its sender.
ECHO = """
import socket
s = socket.socket(2, 2); s.bind(("0.0.0.0", 7)); s.settimeout(30)
print("ready", flush=True)
while True:
    s.sendto(*s.recvfrom(100))
"""
#: A program that sends a packet after each reply, with delays that distribute packets evenly over
#: the period.
PROBE = """
import json, socket, sys, time
address, probes, period = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
s = socket.socket(2, 2); s.connect((address, 7)); s.settimeout(5)
found = []
s.send(b"first"); s.recv(100)
for at in range(probes):
    time.sleep((at * 7 % probes + 0.5) / probes * period)
    sent = time.monotonic(); s.send(b"probe"); s.recv(100)
    found.append((sent, time.monotonic()))
print(json.dumps(found))
"""


def slot_of(bed: Testbed, source: int, to: int) -> int:
    """Returns the slot whose day carries a pair."""
    assert isinstance(bed.plane, UserPlane)
    ((_, schedule),) = bed.plane.schedules
    (found,) = [
        at for at, slot in enumerate(schedule["slots"]) if slot["permutation"][source] == to
    ]
    return found


@pytest.mark.parametrize("night_ms", [1.0, 5.0])
@pytest.mark.parametrize("to", [1, 2])
def test_a_round_trip_takes_the_time_of_its_closed_form(night_ms: float, to: int) -> None:
    """With a period P, days of d, and a time g from the day of a pair to that of the opposite pair,
    a packet at any time of the period has its reply at the beginning of the latter; the mean is g +
    P/2 - d. If both pairs have the same day, packets in the day have their replies at once, and the
    mean is that of the waiting time of the others, (P - d)²/2P."""
    keys = {"slot": f"{SLOT_MS} ms", "shortest_slot": f"{SLOT_MS} ms", "night": f"{night_ms} ms"}
    first = ["chrt", "--fifo", "1", sys.executable, "-c"]
    with Testbed(setup(table({**MORDIA, **keys}), "trtt")) as bed:
        bed.host.begin()
        echo = subprocess.Popen(inside(bed.setup, to, *first, ECHO), stdout=subprocess.PIPE)
        try:
            assert echo.stdout is not None
            assert echo.stdout.readline() == b"ready\n"
            words = [PROBE, f"10.0.{to}.1", str(PROBES), f"{PERIOD_MS / 1e3}"]
            line = inside(bed.setup, 0, *first, *words)
            done = subprocess.run(line, capture_output=True, check=True, timeout=30)
        finally:
            echo.kill()
            echo.wait(5)
            assert echo.stdout is not None
            echo.stdout.close()
        gap_ms = (slot_of(bed, to, 0) - slot_of(bed, 0, to)) % (RACKS - 1) * SLOT_MS
        totals = bed.plane.totals()
    day_ms = SLOT_MS - night_ms
    rows = json.loads(done.stdout)
    took = [1e3 * (back - sent) for sent, back in rows]
    assert totals["lost_frames"] == 0
    assert totals["in_day"] > 0.99
    if gap_ms:
        assert min(took) >= gap_ms - day_ms
        expected = gap_ms + PERIOD_MS / 2 - day_ms
        assert near_one_phase([1e3 * back for _, back in rows]) > 0.9
    else:
        expected = (PERIOD_MS - day_ms) ** 2 / (2 * PERIOD_MS)
        assert sum(ms < 1 for ms in took) / PROBES == pytest.approx(day_ms / PERIOD_MS, abs=0.08)
    assert mean_over_phases(rows) == pytest.approx(expected, abs=1.5)


def mean_over_phases(rows: list[list[float]], parts: int = 10) -> float:
    """Returns the mean round trip [ms] of probes that are even over the period: each part of the
    period counts alike, because a busy machine sends some probes later than planned."""
    found: dict[int, list[float]] = {}
    for sent, back in rows:
        part = int(1e3 * sent % PERIOD_MS / PERIOD_MS * parts)
        found.setdefault(part, []).append(1e3 * (back - sent))
    assert len(found) == parts
    return sum(sum(took) / len(took) for took in found.values()) / parts


def near_one_phase(times_ms: list[float]) -> float:
    """Returns the largest share of times within one millisecond of the period."""
    phases = sorted(ms % PERIOD_MS for ms in times_ms)
    around = [*phases, *(phase + PERIOD_MS for phase in phases)]
    shares = [
        sum(1 for phase in itertools.islice(around, at, None) if phase < around[at] + 1)
        for at in range(len(phases))
    ]
    return min(1.0, max(shares) / len(phases))
