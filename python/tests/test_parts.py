"""The parts of a fabric in the output."""

from __future__ import annotations

from pathlib import Path

from cli_support import lightloom as cli
from cli_support import write

import lightloom

TOML = """
[cluster]
hosts = 24
server_rate = "10 Gb/s"

[workload]
load = 0.1
flows = 100
sizes = { kind = "fixed", size = "256 B" }

[[fabric]]
kind = "lions"
architecture = "dlb"
receivers = 2
transmitters = 2

[[fabric]]
kind = "flattened-butterfly"
"""


def test_a_bill_of_parts_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "e.toml", TOML)
    # Table I of LIONS for N = 24, m = 2, k = 2.
    assert lightloom.run(path, "lions").summary["parts"] == {
        "grating_ports": 48,
        "grating_ports_taken": 24,
        "converters": 24,
        "host_receivers": 48,
        "host_demultiplexers": 24,
        "loopback_receivers": 24,
        "tunable_transmitters": 48,
        "couplers": 24,
        "memories": 24,
        "memory_write_bps": 10_000_000_000,
        "memory_read_bps": 20_000_000_000,
    }
    assert lightloom.run(path, "flattened-butterfly").summary["parts"] == {}


def test_run_prints_it(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", TOML)
    done = cli("run", "e.toml", "--fabric", "lions", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    parts = ("parts 48 grating ports, ", "24 grating ports taken, ", "24 converters", "24 memories")
    assert all(part in said for part in parts)
    assert "memory write 10 Gb/s" in said
    assert "memory read 20 Gb/s" in said
    done = cli("run", "e.toml", "--fabric", "flattened-butterfly", "-o", "two", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "parts" not in done.stdout
