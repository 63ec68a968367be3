"""Asks a memcached for values, one request after the other, for some seconds, and prints the
percentiles of the latency as JSON. A separate program that needs only Python:

    python memcached_client.py ADDRESS PORT SECONDS
"""

import json
import socket
import sys
import time

KEYS = 64
"""Number of values."""
VALUE_BYTES = 1000
"""Length of each value [B]."""
PAUSE_S = 0.001
"""Pause from a reply to the next request [s]."""
PATIENCE_S = 20.0
"""Longest wait for the server to start, and for a reply [s]."""


def value_of(key: int) -> bytes:
    """The value of a key, which is different for each key.

    >>> value_of(3)[:4], len(value_of(3)) == VALUE_BYTES
    (b'3333', True)
    """
    return (str(key) * VALUE_BYTES)[:VALUE_BYTES].encode()


def percentiles(times_s: list[float]) -> dict[str, float]:
    """The number of requests, and the percentiles of their latency [us].

    >>> percentiles([0.001 * n for n in range(1, 101)])["p99"]
    99000.0
    """
    ordered = sorted(times_s)
    found: dict[str, float] = {"requests": len(ordered)}
    for name, per_mille in (("p50", 500), ("p99", 990), ("p99.9", 999), ("max", 1000)):
        found[name] = round(1e6 * ordered[-(-len(ordered) * per_mille // 1000) - 1], 3)
    return found


def connect(address: str, port: int) -> socket.socket:
    """A connection to the server, as soon as it listens."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            link = socket.create_connection((address, port), timeout=PATIENCE_S)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return link


def ask(address: str, port: int, seconds: float) -> dict[str, float]:
    """Stores all values, then reads them one after the other.

    Raises:
        ValueError: if a reply is not the stored value.
    """
    times: list[float] = []
    with connect(address, port) as link, link.makefile("rb") as replies:
        for key in range(KEYS):
            link.sendall(b"set %d 0 0 %d\r\n%b\r\n" % (key, VALUE_BYTES, value_of(key)))
            if replies.readline() != b"STORED\r\n":
                raise ValueError(f"key {key} was not stored")
        until = time.monotonic() + seconds
        while not times or time.monotonic() < until:
            key = len(times) % KEYS
            wanted = b"VALUE %d 0 %d\r\n%b\r\nEND\r\n" % (key, VALUE_BYTES, value_of(key))
            begin = time.monotonic()
            link.sendall(b"get %d\r\n" % key)
            if replies.read(len(wanted)) != wanted:
                raise ValueError(f"key {key} has another value than the one that was stored")
            times.append(time.monotonic() - begin)
            time.sleep(PAUSE_S)
    return percentiles(times)


if __name__ == "__main__":
    print(json.dumps(ask(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))
