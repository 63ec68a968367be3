"""Makes docs/reproduced.md, the status page, and the table in docs/reproduce.md from the recorded
values of claims (validation/*/measured.json and validation/*/testbed/measured.json, which
`lightloom reproduce --record` and `--testbed --record` write). With
`--check` it writes nothing, and reports whether both are up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lightloom.errors import ConfigError
from lightloom.testbed import claims_table
from lightloom.validation import status

ROOT = Path(__file__).resolve().parents[1]
PAGE, OVERVIEW = ROOT / "docs" / "reproduced.md", ROOT / "docs" / "reproduce.md"


def made() -> dict[Path, str]:
    """Returns the expected contents of both files."""
    known = status.papers(ROOT / "validation")
    overview = OVERVIEW.read_text(encoding="utf-8")
    table = status.inserted(overview, status.summary(known), OVERVIEW.name)
    page = status.page(known) + claims_table.section(ROOT / "validation")
    return {PAGE: page, OVERVIEW: table}


def main(arguments: list[str]) -> int:
    """Writes both files, or checks them.

    Returns 1 if one is not up to date or a claim's status contradicts its value, and 2 if they
    cannot be made.
    """
    try:
        files = made()
        found = [c for p in status.papers(ROOT / "validation") for c in status.contradictions(p)]
        found += claims_table.contradictions(ROOT / "validation")
    except ConfigError as problem:
        print(problem, file=sys.stderr)
        return 2
    old = [path for path, text in files.items() if _read(path) != text]
    for line in found:
        print(line, file=sys.stderr)
    if "--check" in arguments:
        for path in old:
            print(f"{path.name}: not as it is made; run scripts/reproduced.py", file=sys.stderr)
        return 1 if old or found else 0
    for path in old:
        path.write_text(files[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 1 if found else 0


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
