"""Names of results that cannot be, refused before anything is simulated."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lightloom import ConfigError
from lightloom.writing import check_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names of other systems are text")


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"a\xff")
    with pytest.raises(ConfigError, match="its name is not UTF-8, and results name"):
        check_folder(folder)
    assert list(tmp_path.iterdir()) == []
    assert check_folder(tmp_path / "\u00e4") == tmp_path / "\u00e4"


def test_a_working_directory_that_is_gone_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    with pytest.raises(ConfigError, match="-o = out: the working directory was deleted; change"):
        check_folder(Path("out"))
    assert check_folder(tmp_path / "out") == tmp_path / "out"
