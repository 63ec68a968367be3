"""SONiC's CONFIG_DB as JSON: the table `OCS_CROSS_CONNECT`, with a key such as `1A-29B` for each
cross-connect, and its `a_side` and `b_side`. The table of ports (`OCS_PORT`) is not written."""

from __future__ import annotations

import json

from lightloom.control.wiring.sheet import Sheet


def text(sheet: Sheet) -> str:
    """Formats the table of cross-connects."""
    pairs = [(sheet.a_name(a), sheet.b_name(b)) for a, b in sheet.all_pairs()]
    table = {f"{a}-{b}": {"a_side": a, "b_side": b} for a, b in pairs}
    return json.dumps({"OCS_CROSS_CONNECT": table}, indent=2) + "\n"
