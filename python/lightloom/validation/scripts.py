"""Finds the validation folder and loads the figure scripts in it."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lightloom.errors import refusal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The environment variable that overrides the path of the validation folder.
VARIABLE = "LIGHTLOOM_VALIDATION"


@dataclass(frozen=True)
class Script:
    """A figure script: `measure` simulates, `figure` draws the measured values."""

    fabric: str
    name: str
    measure: Callable[..., dict[str, Any]]
    """Measures; its arguments are whether to be quick, the number of processes and, if the script
    has `factors`, a reading of the paper (`grid.Setting`)."""
    figure: Callable[[Any], Figure]
    factors: tuple[str, ...] = ()
    """The factors of `readings.toml` that its figures depend on."""


def find_validation() -> Path:
    """Returns the validation folder: `$LIGHTLOOM_VALIDATION`; or that of the checkout from which
    the package runs; or the nearest one above the working directory."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        if _is_validation(Path(named)):
            return Path(named)
        raise refusal(VARIABLE, named, "holds no <fabric>/claims.toml", "name the folder that does")
    here, cwd = Path(__file__).resolve(), Path.cwd()
    for root in (*here.parents, cwd, *cwd.parents):
        if _is_validation(root / "validation"):
            return root / "validation"
    raise refusal(
        "validation",
        "(not found)",
        "claims and figure scripts come with the source, not with an installed wheel",
        f"run inside a checkout of Lightloom, or set {VARIABLE}",
    )


def _is_validation(folder: Path) -> bool:
    return folder.is_dir() and any(folder.glob("*/claims.toml"))


def targets(folder: Path, wanted: str) -> dict[str, list[str]]:
    """Returns the fabrics and their scripts that `all`, `sirius` or `sirius/fig12` select."""
    known = {
        claims.parent.name: sorted(
            path.stem for path in claims.parent.glob("*.py") if not path.stem.startswith("_")
        )
        for claims in sorted(folder.glob("*/claims.toml"))
    }
    if wanted == "all":
        return known
    fabric, _, name = wanted.partition("/")
    if fabric not in known:
        options = ", ".join(["all", *known])
        raise refusal("TARGET", wanted, "no claims of this name", f"choose one of {options}")
    if name and name not in known[fabric]:
        options = ", ".join(f"{fabric}/{script}" for script in known[fabric])
        raise refusal("TARGET", wanted, "no such figure", f"choose one of {options}")
    return {fabric: [name] if name else known[fabric]}


def load_script(folder: Path, fabric: str, name: str) -> Script:
    """Imports `validation/<fabric>/<name>.py` from its path."""
    module = _load(folder / fabric / f"{name}.py")
    factors = tuple(getattr(module, "FACTORS", ()))
    return Script(fabric, name, module.measure, module.figure, factors)


def load_module(path: Path) -> ModuleType:
    """Imports a script from its path."""
    return _load(path)


def beside(script: str, name: str) -> ModuleType:
    """Imports the module that the scripts of a folder share: `_name.py` beside `script`, which
    passes its own `__file__`."""
    return _load(Path(script).with_name(f"_{name}.py"))


def _load(path: Path) -> ModuleType:
    name = f"lightloom_validation_{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise refusal("TARGET", path.stem, f"{path} cannot be loaded", "check the file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
