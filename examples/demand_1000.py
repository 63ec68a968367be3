#!/usr/bin/env python3
"""Writes demand-1000.npy: what 1,000 racks have for each other, made up to look
like what measured clusters show: most pairs have nothing, a few have most.

Services of 2 to 60 racks talk among themselves (a Pareto law of shape 1.2), every
twentieth rack stores data for all, and one pair in a hundred talks without being
of one service. Numbers are bytes in ten seconds, as uint32 since NPY does not
compress:

    lightloom plan examples/demand-1000.npy --algorithm edmonds
"""

from pathlib import Path

import numpy as np

RACKS = 1000
PARETO = 1.2
LARGEST = np.iinfo(np.uint32).max


def services(rng: np.random.Generator) -> np.ndarray:
    """The service of every rack, side by side; the chance of a size falls like 1/x."""
    sizes: list[int] = []
    while sum(sizes) < RACKS:
        sizes.append(int(2 * 30 ** rng.random()))
    return np.repeat(np.arange(len(sizes)), sizes)[:RACKS]


def demand(seed: int = 3) -> np.ndarray:
    """The matrix [bytes]."""
    rng = np.random.default_rng(seed)
    service = services(rng)
    storage = np.arange(RACKS) % 20 == 0
    chance = np.full((RACKS, RACKS), 0.01)
    chance[service[:, None] == service[None, :]] = 0.6
    chance[:, storage] = np.maximum(chance[:, storage], 0.1)
    talks = rng.random((RACKS, RACKS)) < chance
    scale = np.where(service[:, None] == service[None, :], 6e6, 3e5)
    size = scale * (1 + rng.pareto(PARETO, (RACKS, RACKS)))
    found = np.where(talks, np.minimum(np.ceil(size), LARGEST), 0).astype(np.uint32)
    np.fill_diagonal(found, 0)
    return found


if __name__ == "__main__":
    np.save(Path(__file__).with_name("demand-1000.npy"), demand())
