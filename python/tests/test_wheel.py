"""The wheel: the compatibility of its tag, and the demo in an environment without other
packages."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
#: Of `make demo`.
DEMO = ["examples/demo-paper.toml", "examples/demo-web-search.toml"]
DECISION = ["examples/decision.toml"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    build = ["bash", ROOT / "scripts/wheel.sh", sys.executable, out]
    done = subprocess.run(build, capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stderr
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def core(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as files:
        return files.read("lightloom/_core.abi3.so")


def test_its_name_says_for_whom_it_is(wheel: Path) -> None:
    assert re.fullmatch(r"lightloom-[\d.]+-cp311-abi3-manylinux_2_28_\w+\.whl", wheel.name)


def test_the_core_asks_no_newer_glibc_than_the_tag_says(core: bytes) -> None:
    asked = {tuple(map(int, v.split(b"."))) for v in re.findall(rb"GLIBC_(\d+\.\d+)", core)}
    assert asked
    assert max(asked) <= (2, 28)


def test_nothing_in_it_names_the_folder_it_was_built_in(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            data = files.read(name)
            assert str(ROOT).encode() + b"/" not in data, name
            assert str(Path.home()).encode() + b"/" not in data, name


def test_the_demo_runs_where_nothing_else_is_installed(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", home], check=True, timeout=300)
    pip = [home / "bin/python", "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt"]
    subprocess.run([*pip, wheel], check=True, timeout=900)
    for files, out in ((DEMO, "demo"), (DECISION, "demo/decision")):
        named = [ROOT / file for file in files]
        # The working folder is not the checkout, because Python would import from it.
        command = [home / "bin/lightloom", "compare", *named, "-o", out]
        subprocess.run(command, check=True, timeout=1200, cwd=tmp_path)
        page = (tmp_path / out / "report.html").read_text(encoding="utf-8")
        assert page.rstrip().endswith("</html>")
    version = [home / "bin/python", "-c", "import lightloom; print(lightloom.__file__)"]
    shown = subprocess.run(version, check=True, capture_output=True, text=True, cwd=tmp_path)
    assert shown.stdout.startswith(str(home))
