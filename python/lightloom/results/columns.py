"""Columns of the core as Arrow arrays and back, without a copy.

`pyarrow.array` and `to_numpy` import pandas if it is installed, to test for pandas series. That
import takes longer than a small run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def column(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Returns an array of numbers or Booleans with nulls at the `missing` positions.

    >>> column(np.array([1, 2, 3]), np.array([False, True, False])).to_pylist()
    [1, None, 3]
    >>> column(np.array([True, False])).to_pylist()
    [True, False]
    """
    nulls = 0 if missing is None else int(missing.sum())
    known = pa.py_buffer(_bits(~missing)) if missing is not None and nulls else None
    truth = values.dtype == np.bool_
    content = _bits(values) if truth else np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [known, pa.py_buffer(content)], nulls)


def numbers(values: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Returns the numbers of an array; if it has nulls, as floats with NaN for them.

    >>> numbers(column(np.array([1, 2]), np.array([False, True])))
    array([ 1., nan])
    >>> numbers(pa.nulls(1)), numbers(column(np.array([1, 2, 3])).slice(1))
    (array([nan]), array([2, 3]))
    """
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if pa.types.is_null(whole.type):
        return np.full(len(whole), np.nan)
    kind = np.dtype(whole.type.to_pandas_dtype())
    known, content = whole.buffers()
    if content is None:
        return np.empty(0, kind)
    found = np.frombuffer(content, kind, len(whole), whole.offset * kind.itemsize)
    if not whole.null_count:
        return found
    bits = np.unpackbits(np.frombuffer(known, np.uint8), bitorder="little")
    return np.where(bits[whole.offset : whole.offset + len(whole)] == 1, found, np.nan)


def booleans(values: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
    """Returns the Booleans of an array without nulls.

    >>> booleans(column(np.array([True, False, True])).slice(1))
    array([False,  True])
    """
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if len(whole) == 0:
        return np.empty(0, np.bool_)
    bits = np.unpackbits(np.frombuffer(whole.buffers()[1], np.uint8), bitorder="little")
    return bits[whole.offset : whole.offset + len(whole)].astype(np.bool_)


def words(texts: Iterable[str]) -> pa.Array:
    """Returns an array of texts.

    >>> words(["", "jobs"]).to_pylist()
    ['', 'jobs']
    """
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    content = pa.py_buffer(b"".join(encoded))
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), content)


def _bits(values: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Packs Booleans as Arrow does: the first value in the lowest bit of the first byte."""
    return np.packbits(values, bitorder="little")
