"""Closed forms of LIONS, to be drawn over measured points: N hosts, k receivers an
output, p offered load of a host in packets a slot.

No host sends to itself, so the wavegroup of an output's own host has one sender less than the
others; most formulas take that into account. Waits are in slots: a packet with its header and
guard.
"""

from math import sqrt

#: Header and guard [B], of which the guard is silence after the packet.
HEADER, GUARD = 5, 17
OVERHEAD = HEADER + GUARD
#: 10 m of fibre there and back at 5 ns a metre, and the delay line [us].
WAY_US = 0.11


def slot_us(size: int, gbps: float = 10.0) -> float:
    """Time of a packet with its header and guard [us]."""
    return (size + OVERHEAD) * 8 / gbps / 1e3


def alone_us(size: int, way_us: float = WAY_US, gbps: float = 10.0) -> float:
    """Latency of a packet without contention [us]."""
    return (size + HEADER) * 8 / gbps / 1e3 + way_us


def efficiency(size: int) -> float:
    """Payload ÷ bytes that a packet occupies on a line."""
    return size / (size + OVERHEAD)


def shared_wait(p: float, k: int, hosts: int) -> float:
    """Mean wait in a shared loop-back buffer, slotted, exact: the average over
    outputs whose own host is in the buffer's wavegroup, 1 of k, and the others."""
    n, q = hosts // k, p / (hosts - 1)
    own = _queue([n - 1] + [n] * (k - 1), q)
    if k == 1:
        return own / p
    other = _queue([n, n - 1] + [n] * (k - 2), q)
    return (own + (k - 1) * other) / k / p


def _queue(groups: list[int], q: float) -> float:
    """Mean queue for an output whose wavegroups have that many senders, each with
    probability q in a slot; the buffer sends in the first of them."""
    n, *others = groups
    a, square = n * q, n * q * (1 - q) + (n * q) ** 2
    overflow, variance = 0.0, 0.0
    for m in others:
        mean, quiet = m * q, (1 - q) ** m
        over = mean - 1 + quiet
        overflow += over
        variance += m * q * (1 - q) + mean**2 - 2 * mean + 1 - quiet - over**2
    used, spilt = a + overflow, variance + overflow**2
    both = square + 2 * a * overflow + spilt - 2 * a - 2 * used * overflow + used
    return both / (2 * (1 - used))


def distributed_wait(p: float, k: int, hosts: int) -> float:
    """Mean wait in distributed loop-back buffers, slotted, k of 2 or more; approximate, as if each
    host also sent to itself."""
    n, a = hosts / k, p / k
    return (n - 1) / n * a / (2 * (1 - a))


def shared_latency(p: float, hosts: int) -> float:
    """Mean latency with a shared loop-back buffer and one receiver, unslotted [slots]:
    sending, M/D/1 at the host, and at the output."""
    wait = p / (2 * (1 - p))
    return 1 + wait + (hosts - 1) / hosts * wait


def dropping(p: float, k: int, hosts: int) -> float:
    """Packets that an output receives in a slot if rejected packets are lost."""
    n, q = hosts // k, p / (hosts - 1)
    return k - (1 - q) ** (n - 1) - (k - 1) * (1 - q) ** n


def retrying(k: int) -> float:
    """The same if hosts retransmit rejected packets, first in, first out; many hosts."""
    return k + 1 - sqrt(k * k + 1)


def rivals(k: int, hosts: int) -> float:
    """K of AO-NACK: p/K is the chance that another packet has the receiver. A packet
    competes with the other hosts of its wavegroup, its destination's own host not
    counted."""
    n = hosts // k
    return (hosts - 1) ** 2 / ((n - 1) * (hosts - 2))


def nack_saturation(k: int, hosts: int) -> float:
    """Packets that a host delivers in a slot with AO-NACK."""
    most = rivals(k, hosts)
    return most / (most + 1)


def nack_latency(p: float, k: int, hosts: int) -> float | None:
    """Mean latency with AO-NACK [slots] if a NACK returns while its packet is sent: an M/G/1 queue
    of hosts that retransmit a slot after a loss. None if it diverges."""
    r = p / rivals(k, hosts)
    again = r / (1 - r)
    mean, square = 1 + again, 1 + 2 * again + r * (1 + r) / (1 - r) ** 2
    if p * mean >= 0.98:
        return None
    return mean + p * square / (2 * (1 - p * mean))


def nack_latency_pipelined(p: float, k: int, hosts: int, back: float) -> float | None:
    """The same if a NACK takes longer than its packet, `back` slots from the first bit
    sent: meanwhile the host sends others, and then what came back first. Two classes
    of an M/D/1 queue, if attempts did not depend on each other; at high loads they
    do, and it is too low."""
    r = p / rivals(k, hosts)
    again = r / (1 - r)
    busy, returning = p * (1 + again), p * again
    if busy >= 0.98:
        return None
    first = busy / 2 / (1 - returning)
    return first / (1 - busy) + 1 + again * (back + first)
