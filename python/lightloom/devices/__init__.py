"""Devices of optical networks: lasers, gratings, switches, link budgets (`photonics`) and clocks
(`clock`)."""

from importlib import import_module

_MODULES = frozenset({"clock", "photonics"})


def __getattr__(name: str) -> object:
    """Imports a module when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
