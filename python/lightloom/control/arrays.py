"""Conversion of NumPy arrays to the core's types: int64 or float64, two dimensions.

This module rejects only values that are not a table of numbers; the core rejects numbers that
cannot be demand.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightloom.errors import refusal
from lightloom.units.counts import counted

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Numbers = NDArray[np.int64] | NDArray[np.float64]

LARGEST = np.iinfo(np.int64).max
COUNT = np.iinfo(np.int32).max
MAX_NODES = 16_384
"""Largest number of nodes; the matrix then takes 2 GiB. No optical switch has as many ports."""


def numbers(name: str, values: ArrayLike) -> Numbers:
    """Returns a table of numbers as int64, or as float64 if it has fractions.

    >>> numbers("demand", [[0, 7], [3, 0]]).dtype
    dtype('int64')
    >>> numbers("demand", np.array([[0, 0.5], [3, 0]], np.float16)).dtype
    dtype('float64')
    >>> numbers("demand", [1, 2])
    Traceback (most recent call last):
        ...
    lightloom.ConfigError: demand = an array of 1 dimension: a matrix has 2; reshape it
    """
    array = _table(name, values)
    if array.dtype.kind == "f":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind == "O":
        array = _from_objects(name, array)
    if array.dtype.kind == "f":
        return array
    if array.dtype.kind not in "biu":
        raise refusal(name, f"an array of {array.dtype}", "not numbers", "give whole numbers")
    if array.dtype == np.uint64 and array.size and array.max() > LARGEST:
        place = np.unravel_index(array.argmax(), array.shape)
        raise _too_large(name, place, array[place])
    return array.astype(np.int64, copy=False)


def integers(name: str, values: ArrayLike) -> Integers:
    """Returns a table of integers."""
    array = numbers(name, values)
    if array.dtype == np.int64:
        return array  # type: ignore[return-value]
    whole = np.isfinite(array) & (array == np.rint(array)) & (np.abs(array) < 2.0**63)
    if not whole.all():
        i, j = np.argwhere(~whole)[0]
        remedy = "multiply all by the same number and round them"
        raise refusal(f"{name}[{i}][{j}]", array[i, j], "not a whole number of 63 bits", remedy)
    return array.astype(np.int64)


def square(name: str, values: ArrayLike) -> Integers:
    """Returns a square table of non-negative integers."""
    array = integers(name, values)
    rows, columns = array.shape
    if rows != columns or not rows:
        shape = f"{rows} x {columns} numbers"
        raise refusal(name, shape, "the matrix is not square", "give as many columns as rows")
    if array.min() < 0:
        i, j = np.unravel_index(array.argmin(), array.shape)
        raise refusal(f"{name}[{i}][{j}]", array[i, j], "negative", "give 0 or more")
    return array


def booleans(name: str, values: ArrayLike) -> Booleans:
    """Returns a table of Booleans; numbers are true unless 0."""
    array = _table(name, values)
    if array.dtype.kind not in "biuf":
        raise refusal(name, f"an array of {array.dtype}", "not truth values", "give bool")
    return array.astype(np.bool_, copy=False)


def count(name: str, value: int, least: int = 1, most: int = COUNT) -> int:
    """Returns an integer in the given range, which the core can hold.

    >>> count("planes", 0)
    Traceback (most recent call last):
        ...
    lightloom.ConfigError: planes = 0: from 1 to 2147483647; correct it
    """
    try:
        whole = operator.index(value)
    except TypeError:
        raise refusal(name, value, "not a whole number", "give one") from None
    if not least <= whole <= most:
        raise refusal(name, whole, f"from {least} to {most}", "correct it")
    return whole


def pairs(name: str, values: Iterable[Any]) -> list[tuple[int, int]]:
    """Returns pairs of indices."""
    found = []
    for at, pair in enumerate(values):
        try:
            a, b = pair
        except (TypeError, ValueError):
            raise refusal(f"{name}[{at}]", pair, "not two numbers", "give pairs") from None
        found.append((count(f"{name}[{at}]", a, 0), count(f"{name}[{at}]", b, 0)))
    return found


def _table(name: str, values: ArrayLike) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as problem:
        reason = str(problem).partition(".")[0]
        raise refusal(name, "(no array)", reason, "give rows of equal length") from None
    if array.ndim != 2:
        found = f"an array of {counted(array.ndim, 'dimension')}"
        raise refusal(name, found, "a matrix has 2", "reshape it")
    if max(array.shape) > MAX_NODES:
        found = f"{array.shape[0]} x {array.shape[1]} numbers"
        raise refusal(name, found, f"at most {MAX_NODES} rows and columns", "merge nodes")
    return array


def _from_objects(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Converts Python integers, which may exceed 64 bits."""
    for place, value in np.ndenumerate(array):
        if isinstance(value, int) and abs(value) > LARGEST:
            raise _too_large(name, place, value)
    try:
        return array.astype(np.float64 if _any_float(array) else np.int64)
    except (TypeError, ValueError):
        raise refusal(name, "an array of objects", "not numbers", "give whole numbers") from None


def _any_float(array: NDArray[Any]) -> bool:
    return any(isinstance(value, float) for value in array.flat)


def _too_large(name: str, place: tuple[Any, ...], value: object) -> Exception:
    key = f"{name}[{place[0]}][{place[1]}]"
    return refusal(key, value, "does not fit 63 bits", "give demand in a larger unit")
