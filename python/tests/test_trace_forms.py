"""Formats of traces of other tools: each gives the same flows."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lightloom
from lightloom.simulation import traces

FLOWS = [(0, 1, 1_000_000, 0), (2, 3, 5_000, 1_500_000), (3, 0, 20_000, 2_000_000)]
"""Source, destination, bytes and arrival [ps]: at 0, 1.5 and 2 us."""


def csv(header: str, scale: float) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        rows = [f"{s},{d},{size},{at / scale:g}" for s, d, size, at in FLOWS]
        path = folder / "t.csv"
        path.write_text(header + "\n" + "\n".join(rows) + "\n")
        return path

    return write


def cm(scale: float) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        lines = [f"{s}->{d} start {at / scale:.10g} size {size}" for s, d, size, at in FLOWS]
        path = folder / "t.cm"
        path.write_text("\n".join(["Nodes 4", "Connections 3", *lines]) + "\n")
        return path

    return write


def hpcc(folder: Path) -> Path:
    lines = [f"{s} {d} 3 100 {size} {at / 1e12:.9f}" for s, d, size, at in FLOWS]
    path = folder / "flow.txt"
    path.write_text("\n".join(["3", *lines]) + "\n")
    return path


def parquet(names: list[str], times: list[Any]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        columns = [list(column) for column in zip(*FLOWS, strict=True)][:3]
        path = folder / "t.parquet"
        pq.write_table(pa.table([*map(pa.array, columns), pa.array(times)], names=names), path)
        return path

    return write


NAMES = ["web", "10.0.0.7", "2001:db8::1", "db"]
"""Names of the servers 0 to 3."""


def named(write: Callable[[Path], Path]) -> Callable[[Path], Path]:
    """Writes a trace with files that map hosts to servers, by number and by rack."""

    def writer(folder: Path) -> Path:
        by_rack = [f"{name},{rack}" for name, rack in zip(NAMES, "wwdd", strict=True)]
        numbers = [f"{number},{name}" for number, name in enumerate(NAMES)]
        numbers[2] = "2,2001:DB8:0::1"  # another spelling of the same address
        (folder / "racks.csv").write_text("\n".join(["host,rack", *by_rack]) + "\n")
        (folder / "hosts.csv").write_text("\n".join(["number,name", *numbers[::-1]]) + "\n")
        return write(folder)

    return writer


def csv_of_names(folder: Path) -> Path:
    lines = [f'{NAMES[s]},"{NAMES[d]}",{size},{at}' for s, d, size, at in FLOWS]
    path = folder / "t.csv"
    path.write_text("\n".join(["src,dst,bytes,arrival_ps", *lines]) + "\n")
    return path


def hpcc_of_names(folder: Path) -> Path:
    lines = [f"{NAMES[s]} {NAMES[d]} 3 100 {size} {at / 1e12:.9f}" for s, d, size, at in FLOWS]
    path = folder / "flow.txt"
    path.write_text("\n".join(["3", *lines]) + "\n")
    return path


def parquet_of_names(folder: Path) -> Path:
    src, dst, size, at = zip(*FLOWS, strict=True)
    columns = [[NAMES[s] for s in src], [NAMES[d] for d in dst], [*size], [*at]]
    path = folder / "t.parquet"
    names = ["src", "dst", "bytes", "arrival_ps"]
    pq.write_table(pa.table([*map(pa.array, columns)], names=names), path)
    return path


PLAIN = ["src", "dst", "bytes"]
NAMED = {"src": "source", "bytes": "size", "arrival": "start_us"}
FORMS: dict[str, tuple[Callable[[Path], Path], dict[str, Any]]] = {
    "CSV in us": (csv("src,dst,bytes,arrival_us", 1e6), {}),
    "CSV in ms": (csv("src,dst,bytes,arrival_ms", 1e9), {}),
    "CSV with names": (csv("source,dst,size,start_us", 1e6), {"trace_columns": NAMED}),
    "CSV with a unit": (
        csv("src,dst,bytes,start", 1e9),
        {"trace_columns": {"arrival": "start"}, "trace_unit": "ms"},
    ),
    "uet-htsim": (cm(1e6), {"trace_unit": "us"}),
    "csg-htsim": (cm(1), {"trace_unit": "ps"}),
    "HPCC": (hpcc, {}),
    "Parquet in ns": (parquet([*PLAIN, "arrival_ns"], [0, 1500, 2000]), {}),
    "Parquet in us": (parquet([*PLAIN, "arrival_us"], [0.0, 1.5, 2.0]), {}),
    "Parquet in decimals": (
        parquet([*PLAIN, "arrival_us"], [decimal.Decimal(t) for t in ("0.0", "1.5", "2.0")]),
        {},
    ),
    "CSV of hosts by number": (named(csv_of_names), {"trace_hosts": "hosts.csv"}),
    "CSV of hosts by rack": (named(csv_of_names), {"trace_hosts": "racks.csv"}),
    "HPCC of hosts": (named(hpcc_of_names), {"trace_hosts": "hosts.csv"}),
    "Parquet of hosts": (named(parquet_of_names), {"trace_hosts": "racks.csv"}),
    "Parquet with names": (
        parquet(["source", "dst", "size", "start_us"], [0.0, 1.5, 2.0]),
        {"trace_columns": NAMED},
    ),
}


def experiment(path: Path, **more: Any) -> dict[str, Any]:
    if "trace_hosts" in more:
        more["trace_hosts"] = str(path.parent / more["trace_hosts"])
    return {
        "cluster": {"racks": 2, "servers_per_rack": 2, "server_rate": "100 Gb/s"},
        "workload": {"trace": str(path), **more},
        "fabric": [{"kind": "tree"}],
    }


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_flows(form: str, tmp_path: Path) -> None:
    write, told = FORMS[form]
    result = lightloom.run(experiment(write(tmp_path), **told))
    table = result.flows
    columns = (table[name].to_pylist() for name in ("src", "dst", "bytes", "arrival_ps"))
    assert sorted(zip(*columns, strict=True)) == sorted(FLOWS)


def test_a_matrix_of_microseconds_is_not_taken_for_picoseconds(tmp_path: Path) -> None:
    """8.2 Mb within 2 ps, from servers that send 400 Gb/s, are 10^7 times their rate."""
    with pytest.raises(lightloom.ConfigError) as problem:
        lightloom.run(experiment(cm(1e6)(tmp_path)))
    assert "1.02e7 times the bytes" in str(problem.value)
    assert 'trace_unit = "us" if' in str(problem.value)


BAD = {
    "names of a matrix": (cm(1), {"trace_columns": {"src": "a"}}, "only CSV and Parquet have"),
    "hosts of a matrix": (cm(1), {"trace_hosts": "none.csv"}, "trace_hosts = .*cannot be read"),
    "two units": (csv("src,dst,bytes,arrival_us", 1e6), {"trace_unit": "ns"}, "has another unit"),
    "no such unit": (cm(1), {"trace_unit": "h"}, "workload.trace_unit"),
    "no such column": (cm(1), {"trace_columns": {"source": "a"}}, "workload.trace_columns"),
}


def test_names_without_a_file_of_hosts_are_led_to_it(tmp_path: Path) -> None:
    with pytest.raises(lightloom.ConfigError) as refused:
        lightloom.run(experiment(csv_of_names(tmp_path)))
    assert refused.value.limit.startswith("line 2, column 1: ")
    assert "`web`" in refused.value.limit
    assert "hosts by workload.trace_hosts" in str(refused.value.remedy)


@pytest.mark.parametrize("writer", [csv_of_names, hpcc_of_names, parquet_of_names])
def test_a_host_that_the_file_does_not_name_is_refused(
    writer: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = writer(tmp_path)
    (tmp_path / "few.csv").write_text("host,number\nweb,0\n10.0.0.7,1\n2001:db8::1,2\n")
    with pytest.raises(lightloom.ConfigError) as refused:
        lightloom.run(experiment(path, trace_hosts="few.csv"))
    assert refused.value.key == "workload.trace"
    assert "db" in str(refused.value)
    assert "does not name; add" in str(refused.value)


def test_a_file_of_hosts_is_an_input_of_the_run(tmp_path: Path) -> None:
    """The digest of the file is recorded, so that results with another file are not taken as the
    same."""
    path = named(csv_of_names)(tmp_path)
    resolved = lightloom.load(experiment(path, trace_hosts="hosts.csv")).pinned().raw
    assert {*resolved["inputs"]} == {"workload.trace", "workload.trace_hosts"}


@pytest.mark.parametrize("case", BAD)
def test_what_says_nothing_is_refused(case: str, tmp_path: Path) -> None:
    write, told, expected = BAD[case]
    with pytest.raises(lightloom.ConfigError, match=expected):
        lightloom.run(experiment(write(tmp_path), **told))


def test_a_unit_without_a_trace_is_refused() -> None:
    for key, value in (
        ("trace_unit", "us"),
        ("trace_columns", {"src": "a"}),
        ("trace_hosts", "hosts.csv"),
    ):
        told = {"load": 0.1, "sizes": "web-search", "flows": 5, key: value}
        with pytest.raises(lightloom.ConfigError, match=f"workload.{key} = .*a trace"):
            lightloom.run(experiment(Path("x")) | {"workload": told})


AT = {"src": [0], "dst": [1], "bytes": [5]}
OF_PARQUET: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "a time of day": (
        {**AT, "arrival_us": pa.array([7], pa.timestamp("us"))},
        {},
        r"column `arrival_us` holds timestamp\[us\]; write integers",
    ),
    "no time": (
        {**AT, "start_ms": [None]},
        {"arrival": "start_ms"},
        "column `start_ms` holds null",
    ),
    "a size that is none": (
        {"src": [0], "dst": [1], "octets": ["5"], "arrival_us": [7]},
        {"bytes": "octets"},
        "column `octets` holds string; write integers",
    ),
    "names that are not there": (
        {**AT, "arrival_us": [7]},
        {"src": "a", "dst": "b"},
        "has no column `a`, has no column `b`; in workload.trace_columns name some of src, dst, ",
    ),
}


@pytest.mark.parametrize("case", OF_PARQUET)
def test_refusals_of_parquet_name_columns_as_the_file_does(case: str, tmp_path: Path) -> None:
    columns, named, said = OF_PARQUET[case]
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({name: pa.array(cells) for name, cells in columns.items()}), path)
    table = {
        "cluster": {"racks": 2, "servers_per_rack": 2, "server_rate": "10 Gb/s"},
        "workload": {"trace": str(path), **({"trace_columns": named} if named else {})},
        "fabric": [{"kind": "clos"}],
    }
    with pytest.raises(lightloom.ConfigError, match=said):
        lightloom.run(table)


@pytest.mark.parametrize("heading", ["arrival_s", "arrival_ms", "arrival_us", "arrival_ns"])
def test_arrivals_as_pandas_writes_them(heading: str, tmp_path: Path) -> None:
    """Formats: Python's own repr, and exponents with six digits: 0, 1.5 and 2 us."""
    scale = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3}[heading.rpartition("_")[2]]
    for form in ("{!r}", "{:.6e}", "{:.3E}"):
        rows = [f"{s},{d},{size},{form.format(at / scale)}" for s, d, size, at in FLOWS]
        path = tmp_path / "t.csv"
        path.write_text(f"src,dst,bytes,{heading}\n" + "\n".join(rows) + "\n")
        found = traces.read(path).to_pydict()
        assert found["arrival_ps"] == [at for *_, at in FLOWS]
        assert found["bytes"] == [size for _, _, size, _ in FLOWS]
