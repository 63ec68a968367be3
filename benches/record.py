#!/usr/bin/env python3
"""Runs the benches and records their output, with a description of the machine.

    python benches/record.py                   all cases, into benches/runs
    python benches/record.py paper-128 ideal   those cases only
    python benches/record.py -o - tiny         to standard output instead

`make bench` calls this script. benches/README.md explains the results.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RUNS = ROOT / "benches" / "runs"
Record = dict[str, Any]


def output(*command: str) -> str:
    """Returns the output of a command; empty if it cannot be run."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def field(path: str, name: str) -> str | None:
    """Returns the value of the first `name: value` in a file of the kernel; None if there is
    none."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None


def machine() -> Record:
    """Returns the properties of the machine on which results depend."""
    memory = field("/proc/meminfo", "MemTotal")
    return {
        "cpu": field("/proc/cpuinfo", "model name")
        or output("sysctl", "-n", "machdep.cpu.brand_string")
        or platform.processor(),
        "cores": os.cpu_count(),
        "memory_bytes": int(memory.split()[0]) * 1024 if memory else None,
        "huge_pages": huge_pages(),
        "system": platform.platform(),
        "rustc": output("rustc", "--version"),
        "rustflags": os.environ.get("RUSTFLAGS", ""),
    }


def huge_pages() -> str | None:
    """Returns when the kernel gives huge pages: always, madvise or never."""
    try:
        setting = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text()
    except OSError:
        return None
    return setting.partition("[")[2].partition("]")[0]


def load_average() -> list[float] | None:
    """Returns the load averages over 1, 5 and 15 minutes; None if the system has none."""
    return [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None


def commit() -> Record:
    """Returns the commit of the code. Results and documents may differ from it."""
    code = ["crates", "Cargo.toml", "Cargo.lock"]
    return {
        "commit": output("git", "rev-parse", "--short", "HEAD") or "unknown",
        "changed": bool(output("git", "status", "--porcelain", "--", *code)),
    }


def kernels(cases: list[str]) -> list[Record]:
    """Runs the bench binaries; lines that are JSON objects with `bench` are results."""
    crates = ["-p", "lightloom-fabrics", "-p", "lightloom-control", "-p", "lightloom-photonics"]
    command = ["cargo", "bench", *crates, "--benches", "--", *cases]
    found: list[Record] = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            try:
                figure = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(figure, dict) and "bench" in figure:
                print(line, end="", file=sys.stderr, flush=True)
                found.append(figure)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} failed with exit code {process.returncode}")
    return found


def command_line(runs: int = 5) -> list[Record]:
    """Measures the simulation of the paper from a user's view: `lightloom run
    examples/sirius.toml`."""
    lightloom = Path(sys.executable).with_name("lightloom")
    if not lightloom.exists():
        print(f"no {lightloom}: the whole command is not measured", file=sys.stderr)
        return []
    seconds: list[float] = []
    peak = 0
    with tempfile.TemporaryDirectory() as out:
        arguments = [str(lightloom), "run", "examples/sirius.toml", "-o", f"{out}/run"]
        for _ in range(runs):
            began = time.perf_counter()
            process = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            seconds.append(round(time.perf_counter() - began, 3))
            if status != 0:
                sys.exit(f"{' '.join(arguments)} failed")
            # Linux counts kilobytes, macOS bytes.
            peak = max(peak, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
    figure = {"bench": "command/paper-128", "wall_s": seconds, "peak_rss_bytes": peak}
    print(json.dumps(figure), file=sys.stderr)
    return [figure]


def name(recorded: Record) -> Path:
    """Returns the name of a file that no earlier run has."""
    stem = f"{recorded['date'][:10]}-{recorded['commit']}" + "-changed" * recorded["changed"]
    path, again = RUNS / f"{stem}.json", 2
    while path.exists():
        path, again = RUNS / f"{stem}-{again}.json", again + 1
    return path


def main() -> None:
    """Measures, and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="cases to run; all, and the command, without")
    parser.add_argument("-o", "--output", help="file to write, or - for standard output")
    given = parser.parse_args()
    recorded: Record = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        **commit(),
        "machine": machine(),
        "load_before": load_average(),
    }
    figures = kernels(given.cases) + ([] if given.cases else command_line())
    if not figures:
        sys.exit(f"no figures: no case is named {' or '.join(given.cases)}")
    recorded |= {"load_after": load_average(), "figures": figures}
    text = json.dumps(recorded, indent=1) + "\n"
    if given.output == "-":
        print(text, end="")
        return
    path = Path(given.output) if given.output else name(recorded)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    part.replace(path)
    print(path)


if __name__ == "__main__":
    main()
