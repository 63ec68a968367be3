"""Updates per second of GUPS, and the limit on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import lightloom as cli
from cli_support import write

import lightloom

TOML = """
[cluster]
hosts = 16
server_rate = "10 Gb/s"

[workload]
jobs = [
    { kind = "gups", name = "16", updates = 512, outstanding = 256, batch = 16 },
    { kind = "gups", name = "1", updates = 512, outstanding = 256, batch = 1 },
]

[[fabric]]
kind = "lions"
preset = "dlb"

[[fabric]]
kind = "tree"
"""


def test_updates_relate_to_what_links_leave_room_for(tmp_path: Path) -> None:
    # Long enough that the start and the end, when servers wait for each other, have little effect.
    path = write(tmp_path / "e.toml", TOML.replace("updates = 512", "updates = 4096"))
    summary = lightloom.run(path, "lions").summary
    for name, batch in (("16", 16), ("1", 1)):
        found = summary["updates"][name]
        # 16 hosts of 1.25 GB/s; 40 B per update, and 22 B around each of 3 packets; 15 of 16
        # updates are remote.
        rate = 16 * 1.25e9 * 16 / 15
        assert found["updates"] == 16 * 4096
        assert found["ceiling_per_s"] == pytest.approx(rate / 40)
        assert found["ceiling_framed_per_s"] == pytest.approx(rate / (40 + 66 / batch))
        assert found["per_s"] == pytest.approx(16 * 4096 / summary["jobs"][name]["seconds"])
        assert found["efficiency"] == pytest.approx(found["per_s"] / found["ceiling_framed_per_s"])
        # DLB carries all traffic that hosts can send, so that only the links limit it.
        assert 0.95 < found["efficiency"] < 1
    assert lightloom.run(path, "lions").summary["window"] is None


def test_the_command_says_why_not_more(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", TOML)
    done = cli("run", "e.toml", "--fabric", "lions", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "room for 533 M/s" in done.stdout
    assert "overhead for 483 M/s" in done.stdout
    assert "overhead takes 62%" in done.stdout
    both = cli("compare", "--verbose", "e.toml", "-o", "both", cwd=tmp_path)
    assert both.returncode == 0, both.stderr
    assert "  of the maximum" in both.stdout
    assert "16: of the maximum" in (tmp_path / "both" / "report.html").read_text()
