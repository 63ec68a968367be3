"""`lightloom` and `python -m lightloom`: the command line, from its first instant.

What the commands need takes a moment to import; a Ctrl-C in it ends the command
as quietly as one later.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """The `lightloom` command."""
    try:
        from lightloom.cli import main as command
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: nothing unfinished was written\n")
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
