"""The OCP YANG model of optical circuit switches (0.8), as JSON of RFC 7951: one entry of
`connections/port-connection` for each cross-connect, in the form in which gNMI Set replaces the
list. The switch keeps connections that are in both lists, then deletes, then creates.

The model does not define names. Assumptions: ports have the names of SONiC (`1A`, `29B`; on a
switch with one side, the number alone), connections have those of their ports.
"""

from __future__ import annotations

import json

from lightloom.control.wiring.sheet import Sheet

MODULE = "ocp-ocs-optical-switch-connections"


def text(sheet: Sheet) -> str:
    """Formats all connections."""
    pairs = [(sheet.a_name(a), sheet.b_name(b)) for a, b in sheet.all_pairs()]
    entries = [
        {
            "name": f"{a}-{b}",
            "config": {"name": f"{a}-{b}", "input-port-name": a, "output-port-name": b},
        }
        for a, b in pairs
    ]
    return json.dumps({f"{MODULE}:connections": {"port-connection": entries}}, indent=2) + "\n"
