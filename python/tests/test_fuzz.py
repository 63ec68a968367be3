"""The Python readers on random inputs: they read an input, or reject it with a short error.

Valid inputs are cut, joined and changed at random, here briefly with a fixed seed. For a longer
run, with a new seed that is printed, use

    LIGHTLOOM_FUZZ=20000 pytest -s python/tests/test_fuzz.py     # examples of each, `make fuzz`

LIGHTLOOM_FUZZ_SEED repeats one.

An input that causes a failure becomes a row of `malformed/`. Inputs that the core reads have
targets in `fuzz/`.
"""

import io
import os
import secrets
import string
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_support import CLOS, SIRIUS, SMALL
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from malformed_support import npy

from lightloom import ConfigError, load, read_demand
from lightloom.control.current import read_circuits
from lightloom.control.files import Demand
from lightloom.control.planned import read_schedule
from lightloom.costs import book
from lightloom.errors import brief
from lightloom.policies import answers
from lightloom.policies.switch import Switch
from lightloom.simulation import traces
from lightloom.sweep import grid

EXAMPLES = int(os.environ.get("LIGHTLOOM_FUZZ", "60"))


def seed_of(environment: Mapping[str, str]) -> int:
    """Returns the given seed; otherwise the usual one, or a new one for a long search."""
    given = environment.get("LIGHTLOOM_FUZZ_SEED")
    if given is not None:
        return int(given)
    return secrets.randbits(32) if "LIGHTLOOM_FUZZ" in environment else 16


SEED = seed_of(os.environ)
#: Largest length of a message [characters]; longer ones are not read.
LONGEST = 4_100

MATRIX = b"a,b,c,d\n0,1,2,3\n1,0,2,3\n1,2,0,3\n1,2,3,0\n"
RECORDS = b"src,dst,bytes\na,b,5\nb,c,7 KB\nc,a,1e3\n"
JSONS = [
    b"[[0,1],[1,0]]",
    b'{"names": ["a","b"], "matrix": [[0,1],[1,0]]}',
    b'{"a": {"b": 5}, "b": {"a": 7}}',
    b'[{"src": "a", "dst": "b", "bytes": 5}]',
    b'{"src": "a", "dst": "b", "bytes": 5}\n{"src": "b", "dst": "a", "bytes": 5}\n',
]
PLANS = [
    b"[[0, 1], [2, 3]]",
    b'{"names": ["a","b","c","d"], "circuits": [[0, 1], [2, 3, 0]]}',
    b'{"circuits": [{"nodes": ["a", "b"], "plane": 0}]}',
    b'{"names": ["a","b","c","d"], "rate_bps": 10000000000, "night_ps": 10, '
    b'"schedule": [{"permutation": [1, 0, 3, 2], "duration_ps": 100}]}',
]
SCHEDULE = (
    b'{"format": "lightloom-plan/1", "version": "0.1.0", '
    b'"demand": {"nodes": 4, "names": ["a", "b", "c", "d"]}, '
    b'"schedule": {"ports": 4, "period_ps": 200, "night_ps": 10, "slots": ['
    b'{"start_ps": 0, "day_ps": 90, "bytes": 9, "permutation": [3, 0, 1, 2]}, '
    b'{"start_ps": 100, "day_ps": 90, "bytes": 8, "permutation": [2, 3, 0, 1]}]}}'
)
BOOK = (
    b'schema = 1\nname = "x"\nextends = "sirius-2020"\n'
    b'[part.cable]\nprice = 3\nsource = "me"\nyear = 2026\n'
)
SWEEP = b'base = "e.toml"\nrepeat = 2\n[grid]\n"run.seed" = [1, 2]\n"workload.load" = [0.1]\n'
EXPERIMENT = f"{SMALL}{SIRIUS}{CLOS}".encode()
FOUR = Demand(np.ones((4, 4)) - np.eye(4), ["a", "b", "c", "d"])


def _trace() -> bytes:
    out = io.BytesIO()
    rows = {"src": [0, 1], "dst": [1, 2], "bytes": [5, 5], "arrival_ps": [0, 1], "group": ["a"] * 2}
    pq.write_table(pa.table(rows), out)
    return out.getvalue()


#: Kind of reader → the name of its file, valid inputs, the reader.
READERS: dict[str, tuple[str, list[bytes], Callable[[Path], object]]] = {
    "experiment": ("x.toml", [EXPERIMENT], lambda path: load(path).resolved()),
    "sweep": ("x.toml", [SWEEP], grid.read),
    "price book": ("x.toml", [BOOK], book.load),
    "matrix": ("x.csv", [MATRIX, RECORDS], read_demand),
    "matrix in JSON": ("x.json", JSONS, read_demand),
    "matrix in NPY": ("x.npy", [npy(1 - np.eye(3)), npy(np.ones((2, 2), "i4"))], read_demand),
    "plan": ("x.json", PLANS, lambda path: read_circuits(path, FOUR, on_planes=True)),
    "schedule": ("x.json", [SCHEDULE], lambda path: read_schedule(path, FOUR)),
    "trace in Parquet": ("x.parquet", [_trace()], traces.read),
}
TOKENS = [
    *(b"nan", b"inf", b"-1", b"0", b"1e999", b"null", b"true", b'""', b"[]", b"{}", b"\n", b","),
    *(b'"', b"[", b"]", b"{", b"}", b"=", b".", b"\x00", b"\xff", b"9" * 25, b"7" * 5000, b"#"),
    *(b"1.5", b"- 3", b"0x" + b"f" * 4000, b"2020-01-01", b"[" * 200, b"a." * 300, "é".encode()),
]


@st.composite
def mangled(draw: st.DrawFn, sound: list[bytes]) -> bytes:
    """Draws a valid input that is changed in some places."""
    text = draw(st.sampled_from(sound))
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(text)))
        to = min(len(text), at + draw(st.integers(0, 12)))
        put = draw(st.one_of(st.sampled_from(TOKENS), st.binary(max_size=3), st.just(text[:40])))
        text = text[:at] + put + text[to:]
    return text


@pytest.mark.parametrize("of", READERS)
def test_readers_read_or_refuse(of: str, tmp_path: Path) -> None:
    name, sound, read = READERS[of]
    path = tmp_path / name
    print(f"LIGHTLOOM_FUZZ_SEED={SEED}")

    @seed(SEED)
    @settings(
        max_examples=EXAMPLES, deadline=None, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(mangled(sound))
    def check(content: bytes) -> None:
        path.write_bytes(content)
        try:
            read(path)
        except ConfigError as problem:
            assert 0 < len(brief(str(problem))) < LONGEST

    check()


WHOLE = st.one_of(
    st.integers(-3, 9),
    st.integers(),
    st.builds(lambda: 10**6000),
    st.booleans(),
    st.floats(),
    st.none(),
)
ANSWERS = st.recursive(
    st.one_of(WHOLE, st.text(string.printable, max_size=9), st.binary(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.integers(0, 3), inner, max_size=2),
    ),
    max_leaves=9,
)
ARRAYS = st.builds(
    lambda rows, kind: np.array(rows, dtype=kind),
    st.lists(st.tuples(st.integers(-2, 9), st.integers(-2, 9)), max_size=4),
    st.sampled_from(["i8", "f8", "c16", "?", "O", "U3"]),
)


@seed(SEED)
@settings(max_examples=5 * EXAMPLES, deadline=None, database=None)
@given(
    st.one_of(
        ANSWERS,
        ARRAYS,
        st.builds(answers.Circuits, ANSWERS, ANSWERS, ANSWERS),
        st.lists(st.tuples(WHOLE, WHOLE), max_size=3),
    )
)
def test_answers_of_policies_are_read_or_refused(returned: Any) -> None:
    try:
        found = answers.read(returned, Switch(racks=4))
    except ConfigError as problem:
        assert problem.key == "decide()"
        assert 0 < len(str(problem)) < LONGEST
    else:
        assert returned is None or found is not None


def test_a_long_search_is_another_each_time() -> None:
    assert seed_of({}) == seed_of({}) == 16
    assert seed_of({"LIGHTLOOM_FUZZ": "2000"}) != seed_of({"LIGHTLOOM_FUZZ": "2000"})
    assert seed_of({"LIGHTLOOM_FUZZ": "2000", "LIGHTLOOM_FUZZ_SEED": "7"}) == 7


def test_what_is_not_touched_is_read(tmp_path: Path) -> None:
    """The valid inputs are accepted; otherwise all would be refused for one reason."""
    (tmp_path / "e.toml").write_bytes(EXPERIMENT)
    for what, (name, sound, reader) in READERS.items():
        read = 0
        for content in sound:
            (tmp_path / name).write_bytes(content)
            try:
                reader(tmp_path / name)
            except ConfigError:
                continue
            read += 1
        assert read, f"no {what} is sound"
