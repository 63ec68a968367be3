"""The style of fabrics: every reader can distinguish them, on paper and in both themes."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from test_report_support import Profile, make_comparison

from lightloom import report
from lightloom.plotting import style

# Machado, Oliveira and Fernandes 2009, "A physiologically-based model for simulation of
# color vision deficiency", severity 1, on linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(colour: str) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    t = XYZ @ np.clip(rgb, 0, 1) / XYZ.sum(axis=1)
    f = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK])
def test_colours_are_told_apart_in_any_sight(theme: tuple[str, ...], sight: str) -> None:
    seen = [lab(SIGHT[sight] @ linear(c)) for c in theme]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) >= 16


@pytest.mark.parametrize(("theme", "page"), [(style.LIGHT, "#ffffff"), (style.DARK, "#14181d")])
def test_colours_stand_out_from_the_page(theme: tuple[str, ...], page: str) -> None:
    for colour in theme:
        a, b = sorted((XYZ[1] @ linear(colour), XYZ[1] @ linear(page)))
        assert (b + 0.05) / (a + 0.05) >= 3.4, colour


def test_a_dozen_fabrics_have_colours_of_their_own_and_many_more_looks() -> None:
    assert len(style.LIGHT) == len(style.DARK) == 12
    assert len({style.look(slot).colour for slot in range(12)}) == 12
    assert len({(style.look(s).dash, style.look(s).marker) for s in range(64)}) == 64


def test_the_page_knows_every_colour_in_every_theme(tmp_path: Path) -> None:
    made = make_comparison([Profile(f"f{i}") for i in range(9)], n=300)
    text = report.build([made], tmp_path).read_text(encoding="utf-8")
    assert 'data-colours="12"' in text
    assert "slot % root.dataset.colours" in text
    for number in range(12):
        assert len(re.findall(rf"--c{number}: var\(--light{number}\)", text)) == 2  # and in print
        assert len(re.findall(rf"--c{number}: var\(--dark{number}\)", text)) == 2
    assert 'class="scroll many"' in text
    assert text.count('class="columns"') == 1
