"""The table of malformed inputs: its rows, and the generated inputs."""

from __future__ import annotations

import io
import random
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cli_support import CLOS, SMALL

FOLDER = Path(__file__).with_name("malformed")
LOADLESS = SMALL.replace('arrivals = "poisson"\n', "").replace("load = 0.5\n", "")
PARTS = {
    "<small>": SMALL,
    "<loadless>": LOADLESS,
    "<workload>": SMALL[SMALL.index("[workload]") :],
    "<clos>": CLOS,
}


@dataclass(frozen=True)
class Row:
    """One input and its expected message."""

    id: str
    command: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...]
    says: str


def rows() -> Iterator[Row]:
    """Returns all rows of the table."""
    for path in sorted(FOLDER.glob("*.toml")):
        for group in tomllib.loads(path.read_text(encoding="utf-8"))["group"]:
            for kind in group.get("kinds", [""]):
                yield from _of(path.stem, group, kind)


def _of(stem: str, group: dict[str, Any], kind: str) -> Iterator[Row]:
    beside = [(name, _bytes(text)) for name, text in group.get("beside", {}).items()]
    inline = "{input}" in group["command"]
    for what, (given, says) in group["rows"].items():
        content = _bytes(group["before"] if inline and "before" in group else given)
        text = _bytes(given).decode("utf-8", "replace") if inline else ""
        words = [
            word.replace("{kind}", kind).replace("{input}", text)
            for word in _words(group["command"], text)
        ]
        verb = group["command"].replace("{kind}", kind).replace(" -o out", "")[:120]
        files = (*beside, (group["name"], content))
        yield Row(f"{stem}: {verb}: {what}", tuple(words), files, says)


def _words(command: str, given: str) -> list[str]:
    return given.split() if command == "{input}" else command.split()


def _bytes(given: str) -> bytes:
    if given.startswith("@"):
        name, _, argument = given[1:].partition(":")
        made = MADE[name](argument) if argument else MADE[name]()
        return made if isinstance(made, bytes) else str(made).encode()
    for mark, text in PARTS.items():
        given = given.replace(mark, text)
    # Literal strings of TOML, which may contain quotes, cannot contain an escaped line break.
    return given.replace("\\n", "\n").encode()


def _base(key: str) -> str:
    return f"{key}\n{SMALL}{CLOS}"


def _sweep(more: str) -> str:
    return f'base = "e.toml"\n{more}'


def _noise() -> bytes:
    return random.Random(5).randbytes(4096)


SWITCH = '[part.switch]\nports = 64\nrate = "400 Gb/s"\nsource = "s"\nyear = 2026\n'


def _book(price: str) -> str:
    return f'schema = 1\nextends = "sirius-2020"\n{SWITCH}price = {price}\n'


def _parquet(**columns: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def _flows(**other: Any) -> bytes:
    sound = {"src": [0, 1], "dst": [1, 2], "bytes": [5, 5], "arrival_ps": [0, 1]}
    return _parquet(**{k: v for k, v in (sound | other).items() if v is not None})


def _turned() -> bytes:
    made = bytearray(_flows())
    for at in range(4, len(made) - 8, 7):
        made[at] ^= 0x55
    return bytes(made)


def _twice() -> bytes:
    out = io.BytesIO()
    names = ["src", "src", "dst", "bytes", "arrival_ps"]
    pq.write_table(pa.Table.from_arrays([pa.array([0, 1])] * 5, names=names), out)
    return out.getvalue()


def claims(rows: int) -> bytes:
    """A Parquet file without columns whose footer claims this number of rows."""
    out = io.BytesIO()
    pq.write_table(pa.table({}), out)
    made = out.getvalue()
    # The footer of Thrift: field 3 is num_rows, an i64 in zigzag; 0 rows are 0x16 0x00.
    footer = made.rindex(b"\x16\x00")
    number = bytearray()
    rest = rows << 1
    while rest > 0x7F:
        number.append(rest & 0x7F | 0x80)
        rest >>= 7
    number.append(rest)
    whole = made[: footer + 1] + bytes(number) + made[footer + 2 : -8]
    return whole + (len(whole) - 4).to_bytes(4, "little") + b"PAR1"


def npy(array: Any) -> bytes:
    """Returns the bytes that `numpy.save` writes."""
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def _answer(value: str) -> str:
    return (
        "class Wordless:\n    def __repr__(self): raise ValueError('wordless')\n"
        "endless = []\nendless.append(endless)\n"
        "class Mine:\n    def decide(self, demand, switch):\n"
        f"        return {value}\n"
    )


DEEP = ".".join(["a"] * 600)
SEVENS, LONG = "7" * 6001, "7" * 3001
MADE: dict[str, Callable[..., str | bytes]] = {
    "latin1": lambda: 'name = "é"\n'.encode("latin-1"),
    "utf16": lambda: f"a,b\n{SMALL}".encode("utf-16"),
    "noise": _noise,
    "deep_header": lambda: f"[{DEEP}]\nx = 1\n{SMALL}{CLOS}",
    "deeper_header": lambda: f"[{'.'.join(['a'] * 5000)}]\nx = 1\n",
    "deep_key": lambda: _base(f"{DEEP} = 1"),
    "deep_list": lambda: _base(f"x = {'[' * 200}{']' * 200}"),
    "deeper_list": lambda: _base(f"x = {'[' * 5000}{']' * 5000}"),
    "deep_inline": lambda: _base(f"x = {'{a = ' * 150}1{'}' * 150}"),
    "digits_6001": lambda: f"seed = {SEVENS}\n",
    "digits": lambda: SEVENS,
    "hexadecimal_6000": lambda: SMALL.replace("seed = 3", f"seed = 0x{'f' * 6000}") + CLOS,
    "long_kind": lambda: f'{SMALL}\n[[fabric]]\nkind = "{"x" * 100_000}"\n',
    "deep_setting": lambda: ".".join(["a"] * 2000) + "=1",
    "deepish_setting": lambda: ".".join(["a"] * 60) + "=1",
    "deep_value": lambda: f"workload.load={'[' * 200}{']' * 200}",
    "deep_loads": lambda: f"compare.loads={'[' * 200}{']' * 200}",
    "long_flows": lambda: f"workload.flows={LONG}",
    "long_seed": lambda: f"run.seed={'x' * 100_000}",
    "long_pattern": lambda: f"workload.pattern={'x' * 100_000}",
    "long_propagation": lambda: f"fabric.propagation={'x' * 100_000}",
    "sweep_digits": lambda: _sweep(f'[grid]\n"run.seed" = [{SEVENS}]'),
    "sweep_long": lambda: _sweep(f'[grid]\n"run.seed" = [{LONG}]'),
    "sweep_huge": lambda: _sweep(f'repeat = 10_000\n[grid]\n"run.seed" = {list(range(20))}'),
    "sweep_deep": lambda: _sweep(f"[grid]\n{DEEP} = [1]"),
    "trace_long": lambda: f"src,dst,bytes,arrival_ps\n0,1,{'7' * 100_000},3\n",
    "trace_line": lambda: "x" * 100_000,
    "trace_sum": lambda: "src,dst,bytes,arrival_ps\n" + "0,1,9007199254740992,3\n" * 2050,
    "parquet_cut": lambda: _flows()[:-20],
    "parquet_turned": _turned,
    "parquet_bare": lambda: _parquet(),
    "parquet_claims": lambda: claims(1_000_000_000_000),
    "parquet_empty": lambda: _flows(src=pa.array([], "int64"), dst=pa.array([], "int64"),
                                    bytes=pa.array([], "int64"), arrival_ps=pa.array([], "int64")),
    "parquet_sizeless": lambda: _flows(bytes=None),
    "parquet_texts": lambda: _flows(src=["a", "b"]),
    "parquet_nulls": lambda: _flows(src=[1, None]),
    "parquet_negative": lambda: _flows(bytes=[-1, 2]),
    "parquet_twice": _twice,
    "parquet_far": lambda: _flows(src=[0, 999]),
    "parquet_groups": lambda: _flows(group=[[1], [2]]),
    "zeros_16": lambda: "\n".join([",".join("0" * 16)] * 16),
    "matrix_digits": lambda: f"0,{SEVENS}\n1,0\n",
    "matrix_cell": lambda: f"src,dst,bytes\na,b,{'x' * 100_000}\n",
    "json_digits": lambda: f"[[0,{SEVENS}],[1,0]]",
    "json_long": lambda: f"[[0,{LONG}],[1,0]]",
    "json_deep": lambda: "[" * 100_000 + "]" * 100_000,
    "npy_cut": lambda: npy(np.ones((9, 9)))[:200],
    "npy_objects": lambda: npy(np.array([[{}, 1], [1, {}]], dtype=object)),
    "npy_texts": lambda: npy(np.array([["a", "b"], ["c", "d"]])),
    "npy_flat": lambda: npy(np.ones(4)),
    "npy_cube": lambda: npy(np.ones((2, 2, 2))),
    "npy_nan": lambda: npy(np.array([[0, np.nan], [1, 0]])),
    "npy_complex": lambda: npy(np.array([[0, 1j], [1, 0]])),
    "npy_claims": lambda: npy(np.ones((2, 2))).replace(b"(2, 2), }", b"(9999999, 9999999), }"),
    "npy_nothing": lambda: npy(np.ones((0, 0))),
    "circuit_digits": lambda: f"[[0, {SEVENS}]]",
    "circuit_long": lambda: f"[[0, {LONG}]]",
    "answer": _answer,
    "book_digits": lambda: _book(SEVENS),
    "book_long": lambda: _book(LONG + "e9999"),
    "devices_deep": lambda: f"[devices.{DEEP}]\nx = 1\n",
    "devices_long": lambda: f"fec={'x' * 100_000}",
    "clock_long": lambda: f"nodes={'x' * 100_000}",
}  # fmt: skip
