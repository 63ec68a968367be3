"""Shuffles a table by Dask: rows are made on all workers, and each goes to the worker that has its
key. Prints how long that took, and fails if a row was lost or changed.

    lightloom testbed run examples/testbed-dask.toml
"""

import os
import sys
import time

import pandas as pd
from distributed import Client, wait

KEYS = 64


def rows(part: int, count: int) -> pd.DataFrame:
    """A part of the table."""
    number = pd.RangeIndex(part * count, (part + 1) * count)
    return pd.DataFrame({"key": number % KEYS, "number": number, "text": "x" * 100})


def piece(table: pd.DataFrame, to: int, parts: int) -> pd.DataFrame:
    """Rows of a part that are for another."""
    return table[table["key"] % parts == to]


def summed(pieces: list[pd.DataFrame]) -> tuple[int, int]:
    """How many rows have arrived, and the sum of their numbers."""
    table = pd.concat(pieces)
    return len(table), int(table["number"].sum())


def main(count: int) -> int:
    """Shuffles so many rows."""
    parts = int(os.environ.get("LIGHTLOOM_WORKERS", "4"))
    with Client() as client:
        client.wait_for_workers(parts, timeout=90)
        workers = sorted(client.scheduler_info()["workers"])[:parts]
        each = count // parts
        made = [client.submit(rows, at, each, workers=[workers[at]]) for at in range(parts)]
        wait(made, timeout=60)
        begin = time.monotonic()
        done = []
        for to in range(parts):
            pieces = [
                client.submit(piece, table, to, parts, workers=[workers[at]])
                for at, table in enumerate(made)
            ]
            done.append(client.submit(summed, pieces, workers=[workers[to]]))
        found = client.gather(done)
        took = time.monotonic() - begin
    total = parts * each
    if [sum(column) for column in zip(*found, strict=True)] != [total, total * (total - 1) // 2]:
        print("rows were lost", file=sys.stderr)
        return 1
    print(f"shuffle of {total} rows: {took:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 400_000))
