"""`lightloom` and `python -m lightloom`: the entry point of the command line.

The imports take a noticeable time. A signal during the imports ends the command as quietly as a
later signal does."""

import _signal  # type: ignore[import-not-found]  # `signal` itself takes a moment to load
import gc
import os
import sys

__all__ = ["main"]


def main() -> None:
    """The `lightloom` command."""
    # Its threads start when NumPy is imported; simulations have those of `--threads`.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # no traceback of an interrupted import
    from lightloom.storage import signals

    signals.handled(signals.leave)
    try:
        from lightloom import cli

        signals.handled()
        signals.watched()
        _write_what_can_be()
        cli.main()
    except BaseException as ended:
        # Python replaces what a signal raises while a class is made, as in an import.
        if isinstance(ended, KeyboardInterrupt) or signals.struck():
            signals.end()
        raise
    finally:
        gc.freeze()  # the collection at the end would search all objects that are left


def _write_what_can_be() -> None:
    """Makes the standard streams print `?` for characters that their encoding does not have."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    main()
