"""The gallery of the documentation contains every example, and each example is one command."""

import importlib.util
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest
from cli_support import ROOT

import lightloom as ll


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "scripts" / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["gallery"] = made  # dataclasses look up their module
    spec.loader.exec_module(made)
    return made


gallery = _script()


def test_every_experiment_among_the_examples_is_shown() -> None:
    there = {p.stem for p in (ROOT / "examples").glob("*.toml")} - {"sweep", "switch-32"}
    # They need root and namespaces, and show measurements of this machine.
    there = {name for name in there if not name.startswith("testbed-")}
    shown = [s.name for s in gallery.GALLERY]
    assert len(shown) == len(set(shown))
    assert there <= set(shown)


def test_a_command_that_compares_names_an_experiment_that_runs() -> None:
    for shown in gallery.GALLERY:
        program, command, path, *_ = shlex.split(shown.command)
        assert program == "lightloom"
        if command == "compare":
            assert ll.load(ROOT / path).cases()


def test_the_page_has_all_of_each() -> None:
    page = "\n".join(gallery.page())
    for shown in gallery.GALLERY:
        assert f"```sh\n{shown.command}\n```" in page
        assert f"(images/gallery/{shown.name}.png)" in page
        assert shown.see in page


@pytest.mark.parametrize("name", ["trace", "demand-8"])
def test_a_picture_is_made_once(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "KEPT", tmp_path)
    shown = next(s for s in gallery.GALLERY if s.name == name)
    made = gallery.picture(shown)
    assert made.read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(gallery, "make", None)  # a second run would fail
    assert gallery.picture(shown) == made
