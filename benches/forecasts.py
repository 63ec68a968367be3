#!/usr/bin/env python3
"""Compares the forecasts of forty experiments with their runs: 19 of 20 must be within the range of
the forecast.

    python benches/forecasts.py                 all of them, about a quarter of an hour
    python benches/forecasts.py clos sirius     those whose names begin so
    python benches/forecasts.py --json FILE     the figures, too

Each experiment is forecast by `run --dry-run --json` and then run. Processor times are compared,
because a busy machine changes them little; memory is the peak of the process. The time, without the
start-up of the command, must be within the range of the forecast, and the memory at most its upper
limit. Exits with 1 if fewer than 19 of 20 forecasts hold. The load averages before and after are
printed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

#: Share of the forecasts whose range must contain the result.
SHARE = 0.95
#: Shorter runs are forecast as "under 1 s" [s].
SHORT_S = 1.0
COMMAND = [sys.executable, "-m", "lightloom", "run"]
#: Drawn flows: sizes, racks, servers of a rack, load, flows.
WEB, HADOOP = (
    '{ kind = "published", name = "web-search" }',
    '{ kind = "published", name = "hadoop" }',
)
PARETO = '{ kind = "pareto", shape = 1.05, mean = "100 KB" }'


@dataclass(frozen=True)
class Case:
    """An experiment: a fabric with drawn flows."""

    name: str
    fabric: str
    racks: int
    flows: int
    sizes: str = PARETO
    load: float = 0.5
    servers: int = 8
    run: str = ""

    def toml(self) -> str:
        """Returns the experiment as the text of a file."""
        return (
            f"[cluster]\nracks = {self.racks}\nservers_per_rack = {self.servers}\n"
            f'server_rate = "12.5 Gb/s"\n[workload]\nload = {self.load}\nflows = {self.flows}\n'
            f"sizes = {self.sizes}\n[[fabric]]\n{self.fabric}\n[run]\n{self.run}\n"
        )


SIRIUS, CLOS, TREE = 'kind = "sirius"', 'kind = "clos"', 'kind = "tree"\npreset = "4to1"'
MORDIA, ROTOR, OPERA = 'kind = "mordia"', 'kind = "rotornet"', 'kind = "opera"'
LIONS, BUTTERFLY = 'kind = "lions"', 'kind = "flattened-butterfly"'
CTHROUGH, HYDRA = 'kind = "cthrough"', 'kind = "hydra"'
DRAIN = 'stop = "drain"'

CASES = (
    Case("sirius-16", SIRIUS, 16, 100_000),
    Case("sirius-64", SIRIUS, 64, 100_000),
    Case("sirius-128-web", SIRIUS, 128, 5_000, WEB),
    Case("sirius-256-light", SIRIUS, 256, 50_000, load=0.1),
    Case("sirius-1024", SIRIUS, 1_024, 20_000, load=0.3),
    Case("sirius-4096", SIRIUS, 4_096, 20_000, load=0.3),
    Case("sirius-64-drain", SIRIUS, 64, 5_000, WEB, run=DRAIN),
    Case("sirius-32-full", SIRIUS, 32, 100_000, load=1.0),
    Case("sirius-ideal", f'{SIRIUS}\npreset = "ideal"', 64, 100_000),
    Case("sirius-flows", f'{SIRIUS}\npreset = "paper-flows"', 64, 100_000),
    Case("clos-16", CLOS, 16, 1_000_000),
    Case("clos-64", CLOS, 64, 500_000),
    Case("clos-128-web", CLOS, 128, 5_000, WEB),
    Case("clos-512-light", CLOS, 512, 50_000, load=0.1),
    Case("clos-drain", CLOS, 32, 5_000, WEB, run=DRAIN),
    Case("clos-3to1-over", f'{CLOS}\npreset = "ideal-3to1"', 32, 500_000, load=0.8),
    Case("clos-flows", f'{CLOS}\npreset = "ideal-flows"', 32, 100_000),
    Case("clos-flows-large", f'{CLOS}\npreset = "ideal-flows"', 128, 5_000, WEB),
    Case("tree-32", TREE, 32, 100_000, load=0.2),
    Case("tree-128-web", TREE, 128, 3_000, WEB, load=0.2),
    Case("tree-over", TREE, 32, 20_000, load=0.5),
    Case("cthrough-32", CTHROUGH, 32, 1_000, WEB, load=0.1),
    Case("cthrough-16-drain", CTHROUGH, 16, 500, WEB, load=0.1, run=DRAIN),
    Case("hydra-64", HYDRA, 64, 2_000, WEB, load=0.2),
    Case("hydra-16", HYDRA, 16, 1_000, HADOOP, load=0.2),
    Case("mordia-24", MORDIA, 24, 500_000),
    Case("mordia-24-web", MORDIA, 24, 2_000, WEB),
    Case("mordia-24-full", MORDIA, 24, 200_000, load=0.9),
    Case("rotor-64", ROTOR, 64, 500_000),
    Case("rotor-64-web", ROTOR, 64, 2_000, WEB, load=0.3),
    Case("rotor-128-drain", ROTOR, 128, 1_000, WEB, load=0.2, run=DRAIN),
    Case("opera-64", OPERA, 64, 200_000, load=0.1),
    Case("opera-64-web", OPERA, 64, 1_000, WEB, load=0.1),
    Case("opera-128-web", OPERA, 128, 2_000, WEB, load=0.1),
    Case("opera-64-hadoop", OPERA, 64, 5_000, HADOOP, load=0.2),
    Case("lions-64", LIONS, 64, 2_000_000, '{ kind = "fixed", size = "256 B" }', servers=1),
    Case("lions-ao-nack", f'{LIONS}\npreset = "ao-nack"', 64, 2_000_000,
         '{ kind = "fixed", size = "256 B" }', load=0.2, servers=1),
    Case("lions-slb", f'{LIONS}\npreset = "slb"', 64, 300_000, PARETO, load=0.3, servers=1),
    Case("butterfly-64", BUTTERFLY, 64, 1_000_000, '{ kind = "fixed", size = "256 B" }', servers=1),
    Case("butterfly-64-long", BUTTERFLY, 64, 50_000, PARETO, load=0.3, servers=1),
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """A forecast and the results of its run."""

    name: str
    seconds: float
    least_s: float
    most_s: float
    took_s: float
    memory: int
    peak: int

    @property
    def in_time(self) -> bool:
        """Whether the range contains the time."""
        if max(self.seconds, self.took_s) < SHORT_S:
            return True
        return self.least_s <= self.took_s <= self.most_s

    @property
    def in_memory(self) -> bool:
        """Whether the memory is at most the upper limit of the forecast."""
        return self.peak <= self.memory

    def line(self) -> str:
        """It, as printed."""
        time = "" if self.in_time else "  TIME"
        memory = "" if self.in_memory else "  MEMORY"
        return (
            f"{self.name:20} {self.seconds:8.2f} s ({self.least_s:.2f} to {self.most_s:.2f})"
            f" took {self.took_s:8.2f} s;  {self.memory / 1e6:6.0f} MB, took "
            f"{self.peak / 1e6:6.0f} MB{time}{memory}"
        )


def seen(case: Case, start_s: float, folder: Path) -> Outcome:
    """Forecasts an experiment, and runs it."""
    file = folder / f"{case.name}.toml"
    file.write_text(case.toml())
    out, _, _ = measured([str(file), "--dry-run", "--json"])
    told = json.loads(out)
    _, busy_s, peak = measured([str(file), "-o", str(folder / case.name), "--json"])
    within = told["seconds_most"] / told["seconds"]
    seconds = told["processor_seconds"]
    return Outcome(
        case.name, seconds, seconds / within, seconds * within, max(0.0, busy_s - start_s),
        told["memory_bytes"], peak,
    )  # fmt: skip


def measured(arguments: list[str]) -> tuple[str, float, int]:
    """Returns the output of a command, its processor time [s] and its peak memory [B]."""
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True) as process:
        out = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)}: exit code {process.returncode}")
    return out, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def start_up(folder: Path) -> float:
    """Returns the time of the command for a very small simulation [s]."""
    file = folder / "least.toml"
    file.write_text(Case("least", CLOS, 2, 1).toml())
    return min(measured([str(file), "-o", str(folder / "least"), "--json"])[1] for _ in range(3))


def outcomes(names: list[str]) -> Iterator[Outcome]:
    """Runs each experiment whose name begins with one of these, or all, one after another."""
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        start_s = start_up(folder)
        for case in CASES:
            if not names or case.name.startswith(tuple(names)):
                yield seen(case, start_s, folder)


def main() -> None:
    """Prints one line per experiment, and the number of forecasts that hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    print("load before", *os.getloadavg())
    every = []
    for outcome in outcomes(given.names):
        every.append(outcome)
        print(outcome.line(), flush=True)
    print("load after", *os.getloadavg())
    held = sum(one.in_time and one.in_memory for one in every)
    print(f"{held} of {len(every)} held")
    if given.json:
        given.json.write_text(json.dumps([asdict(one) for one in every], indent=1))
    if held < SHARE * len(every):
        sys.exit(1)


if __name__ == "__main__":
    main()
