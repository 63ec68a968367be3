"""Columns of the core as Arrow arrays and back, without a copy.

`pyarrow.array` and `to_numpy` import pandas, where it is installed, to look whether they are given
a series; that takes longer than a small run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def column(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """An array of numbers or of truth values, null where they are `missing`.

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
    """The numbers of an array; with nulls as floats, which are then NaN.

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


def words(texts: Iterable[str]) -> pa.Array:
    """An array of texts.

    >>> words(["", "jobs"]).to_pylist()
    ['', 'jobs']
    """
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    content = pa.py_buffer(b"".join(encoded))
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), content)


def _bits(values: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """As Arrow has truth values: the first in the lowest bit of a byte."""
    return np.packbits(values, bitorder="little")
