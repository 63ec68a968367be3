"""The notebook among the examples runs from its first cell to its last."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from cli_support import ROOT
from nbclient import NotebookClient
from traitlets.config import Config

NOTEBOOK = ROOT / "examples" / "compare.ipynb"
CELL_S = 120
"""Time limit of a cell [s]."""
SHOWN = {
    "compare": "text/html",
    "tail": "image/png",
    "queues": "image/png",
    "flows": "text/html",
    "summary": "text/html",
    "plan": "text/html",
    "schedule": "image/png",
}


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Runs the notebook; returns its code cells by name."""
    stored: Any = nbformat.read(NOTEBOOK, as_version=4)
    folder = tmp_path_factory.mktemp("nb")
    # Unix sockets: no port is opened, and no other machine can reach the kernel.
    config = Config({"KernelManager": {"transport": "ipc", "ip": str(folder / "k")}})
    client = NotebookClient(
        stored,
        config=config,
        timeout=CELL_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()  # an error of a cell is raised here
    assert not [p for p in folder.iterdir() if not p.name.startswith("k-")]  # nothing written
    return {cell["id"]: cell for cell in stored["cells"] if cell["cell_type"] == "code"}


def test_it_is_stored_without_outputs_and_counts() -> None:
    stored: Any = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(stored)
    for cell in stored["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
    assert NOTEBOOK.stat().st_size < 10_000


@pytest.mark.parametrize("cell", list(SHOWN))
def test_a_cell_shows_what_it_should(executed: dict[str, Any], cell: str) -> None:
    (output,) = executed[cell]["outputs"]
    assert output["output_type"] == "execute_result"
    assert output["data"][SHOWN[cell]]
    assert output["data"]["text/plain"]


def test_nothing_else_is_printed_and_nothing_fails(executed: dict[str, Any]) -> None:
    for name, cell in executed.items():
        kinds = [output["output_type"] for output in cell["outputs"]]
        assert kinds == (["execute_result"] if name in SHOWN else []), name


def test_the_comparison_has_its_verdict_and_the_plan_its_proof(executed: dict[str, Any]) -> None:
    compared = executed["compare"]["outputs"][0]["data"]
    verdict = "sirius and clos-3to1 are level in the 99th percentile of short flows"
    assert compared["text/plain"] == (
        f"<Comparison skewed racks: {verdict}; sirius, clos-3to1; seeds 1 to 3>"
    )
    assert "What would overturn it" in compared["text/html"]
    assert "Means of 3 seeds" in compared["text/html"]
    assert "dual bound = weight" in executed["plan"]["outputs"][0]["data"]["text/html"]


def test_pictures_are_as_large_as_on_paper(executed: dict[str, Any]) -> None:
    output = executed["tail"]["outputs"][0]
    assert 300 < output["metadata"]["image/png"]["width"] < 700
