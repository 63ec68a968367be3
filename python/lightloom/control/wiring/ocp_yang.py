"""The OCP's YANG model of optical circuit switches (0.8), as the JSON of RFC 7951: an entry
of `connections/port-connection` for each cross-connect, as gNMI's Set takes it to replace
the list. The switch itself leaves alone what stays, then deletes, then creates.

Assumptions, as the model leaves it open: ports have the names that SONiC gives them (`1A`,
`29B`; on a switch of one side, the number alone), connections those of their ports.
"""

from __future__ import annotations

import json

from lightloom.control.wiring.sheet import Sheet

MODULE = "ocp-ocs-optical-switch-connections"


def text(sheet: Sheet) -> str:
    """All connections."""
    pairs = [(sheet.a_name(a), sheet.b_name(b)) for a, b in sheet.all_pairs()]
    entries = [
        {
            "name": f"{a}-{b}",
            "config": {"name": f"{a}-{b}", "input-port-name": a, "output-port-name": b},
        }
        for a, b in pairs
    ]
    return json.dumps({f"{MODULE}:connections": {"port-connection": entries}}, indent=2) + "\n"
