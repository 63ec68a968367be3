"""Programs in C with MPI, and in C++, compiled when they are needed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from lightloom.errors import refusal
from lightloom.testbed import shell

COMPILERS = {
    ".c": ("mpicc", "libopenmpi-dev, libfftw3-dev and libfftw3-mpi-dev"),
    ".cc": ("g++", "g++ and libgloo-dev"),
}
"""By the ending of a source's name: the compiler, and the Debian packages that it needs."""


@contextmanager
def built(programs: Mapping[Path, Sequence[str]]) -> Iterator[Path]:
    """Compiles programs into a folder on the search path of this process's applications; removes
    the folder at the end.

    Args:
        programs: source of each program, and the libraries with which it is linked.

    Raises:
        ConfigError: without the compiler, or if a program does not compile.
    """
    before = os.environ.get("PATH", "")
    with tempfile.TemporaryDirectory(prefix="lightloom-programs-") as made:
        folder = Path(made)
        for source, libraries in programs.items():
            compiler, packages = COMPILERS[source.suffix]
            line = [compiler, "-O2", str(source), "-o", str(folder / source.stem), *libraries]
            shell.tool_path(compiler)
            try:
                shell.call(line)
            except RuntimeError as problem:
                last = str(problem).strip().splitlines()[-1]
                remedy = f"install Debian's packages {packages}"
                raise refusal(
                    "testbed", source.name, f"does not compile ({last})", remedy
                ) from None
        os.environ["PATH"] = f"{folder}:{before}"
        try:
            yield folder
        finally:
            os.environ["PATH"] = before
