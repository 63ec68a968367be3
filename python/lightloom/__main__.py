"""`lightloom` and `python -m lightloom`: the command line, from its first instant.

What the commands need takes a moment to import; a signal in it ends the command as quietly
as one later.
"""

import sys

from lightloom import signals

__all__ = ["main"]


def main() -> None:
    """The `lightloom` command."""
    try:
        signals.handled()
        from lightloom import cli

        signals.watched()
        _write_what_can_be()
        cli.main()
    except KeyboardInterrupt:
        signals.end()
    except SystemExit:
        if signals.struck():
            signals.end()
        raise


def _write_what_can_be() -> None:
    """Characters that an output's encoding does not have become question marks."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    main()
