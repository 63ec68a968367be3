"""Plans as JSON, in the form that docs/control.md defines."""

from __future__ import annotations

import json
from typing import Any

from lightloom import _core
from lightloom.control.circuit_table import CircuitTable
from lightloom.control.demand.reading import Reading
from lightloom.control.files import Demand
from lightloom.control.proofs import AssignmentProof, MatchingProof
from lightloom.control.schedules import Schedule
from lightloom.control.topology import Topology, Vlans

FORMAT = "lightloom-plan/1"


def as_text(table: dict[str, Any]) -> str:
    """Returns a plan as JSON, with a line for each circuit and slot."""
    return _lines(table, "") + "\n"


def head(algorithm: str, demand: Demand) -> dict[str, Any]:
    """States the demand, the algorithm and the version."""
    matrix = demand.matrix
    return {
        "format": FORMAT,
        "version": _core.__version__,
        "algorithm": algorithm,
        "demand": {
            "nodes": len(matrix),
            "pairs": int((matrix > 0).sum()),
            "bytes": int(matrix.sum()),
            "names": demand.names or None,
        },
    }


def read(reading: Reading | None) -> dict[str, Any]:
    """Describes how the demand was read; empty if it was a matrix in bytes."""
    return {} if reading is None or reading.is_plain else {"read": reading.as_dict()}


def circuits(table: CircuitTable) -> list[dict[str, Any]]:
    """Returns a row for each circuit."""
    columns: dict[str, list[Any]] = {"a": table.a.tolist(), "b": table.b.tolist()}
    if table.plane is not None:
        columns["plane"] = table.plane.tolist()
    columns["bytes"] = table.carried.tolist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def schedule(schedule: Schedule, carried: Any) -> dict[str, Any]:
    """Returns the schedule, with a row for each slot."""
    slots = zip(schedule.starts_ps, schedule.days_ps, carried, schedule.permutations, strict=True)
    return {
        "ports": schedule.ports,
        "period_ps": schedule.period_ps,
        "night_ps": schedule.night_ps,
        "slots": [
            {
                "start_ps": int(start),
                "day_ps": int(day),
                "bytes": int(sent.sum()),
                "permutation": outputs.tolist(),
            }
            for start, day, sent, outputs in slots
        ],
    }


def proof(proof: MatchingProof | AssignmentProof) -> dict[str, Any]:
    """Returns the proof and whether it holds."""
    checked = {"verified": proof.verify(), "weight": proof.weight, "bound": proof.bound}
    if isinstance(proof, AssignmentProof):
        return {
            "kind": "potentials",
            **checked,
            "u": proof.row_potential.tolist(),
            "v": proof.column_potential.tolist(),
        }
    sets = [{"z": b.z, "members": b.members.tolist()} for b in proof.blossoms]
    return {"kind": "duals in half units", **checked, "y": proof.y.tolist(), "blossoms": sets}


def paths(topology: Topology, vlans: Vlans | None) -> list[dict[str, Any]]:
    """Returns a row for each pair with demand; its list of racks is empty if it is not served."""
    rows = [
        {"a": a, "b": b, "bytes": weight, "racks": path.tolist()}
        for (a, b, weight, _), path in zip(topology.demands.tolist(), topology.paths, strict=True)
    ]
    if vlans is not None:
        for row, vlan in zip(rows, vlans.vlan_of.tolist(), strict=True):
            row["vlan"] = vlan if vlan >= 0 else None
    return rows


def _lines(value: Any, indent: str) -> str:
    """Formats JSON with nested tables on separate lines, and each row on one line."""
    inner = indent + "  "
    if isinstance(value, dict) and len(indent) < 4 and value:
        rows = [f"{inner}{json.dumps(key)}: {_lines(v, inner)}" for key, v in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        rows = [inner + json.dumps(row, allow_nan=False) for row in value]
        return "[\n" + ",\n".join(rows) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False, ensure_ascii=False)
