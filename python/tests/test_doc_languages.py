"""Every block of the documentation has a language that a test reads."""

from __future__ import annotations

from doc_support import PAGES, blocks_of

TESTED = {
    "toml": "test_doc_blocks",
    "python": "test_doc_python",
    "sh": "test_doc_commands",
    "console": "test_doc_commands",
    "text": "test_doc_texts",
    "": "test_doc_texts",
    "rust": "test_contributing",
}
"""The test of each language.

Rust code is compared with the examples that cargo tests, and is only in CONTRIBUTING.md.
"""


def test_each_block_has_a_language_that_a_test_reads() -> None:
    found = [block for page in PAGES for block in blocks_of(page)]
    assert len(found) > 170
    assert [f"{block} {block.language}" for block in found if block.language not in TESTED] == []
    rust = {block.page for block in found if block.language == "rust"}
    assert rust == {"CONTRIBUTING.md"}


def test_each_fence_is_that_of_a_block() -> None:
    """Every fence is that of a block, because text that is not a block (unclosed, or with more
    backticks) is not tested."""
    for page in PAGES:
        fences = sum("```" in line for line in page.read_text(encoding="utf-8").splitlines())
        assert fences == 2 * len(blocks_of(page)), page
