"""Builds the Rust documentation, and fails if it has a broken link.

    python scripts/doc_links.py

Doc comments have units in brackets, `[B]`, which rustdoc reads as links; this script knows these
units.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Any

COMMAND = (
    *("cargo", "doc", "--quiet", "--no-deps", "--workspace", "--exclude", "lightloom-python"),
    *("--document-private-items", "--message-format=json"),
)
UNITS = {
    *("s", "µs", "ns", "ps", "time", "Hz", "frequency", "ppm"),
    *("B", "B²", "bytes", "flits", "cells", "symbols"),
    *("dB", "dBm", "mW", "rad", "K", "nm", "mm", "km", "length", "wavelength"),
    *(
        "count",
        "number",
        "ratio",
        "1",
        "units",
        "packets",
        "payload",
        "slots",
        "epochs",
        "channels",
        "list",
    ),
}
"""Texts in brackets that are not links."""


def dead(messages: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Returns the broken links in cargo's messages."""
    for message in messages:
        found = message.get("message") or {}
        code = (found.get("code") or {}).get("code", "")
        if message.get("reason") != "compiler-message" or not code.startswith("rustdoc::"):
            continue
        link = re.fullmatch("unresolved link to `(.*)`", found["message"])
        if link is None or link[1] not in UNITS:
            (place, *_) = [*found["spans"], {}]
            yield f"{place.get('file_name')}:{place.get('line_start')}: {found['message']}"


def main() -> int:
    """Returns exit code 1 if a link is broken, and that of cargo if it fails."""
    done = subprocess.run(COMMAND, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return done.returncode
    found = sorted(dead(map(json.loads, done.stdout.splitlines())))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
