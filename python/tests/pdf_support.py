"""The text of a PDF file of matplotlib, read without a PDF library."""

from __future__ import annotations

import re
import zlib

STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)


def words(pdf: bytes) -> list[str]:
    """Returns its texts, in which each letter is two bytes, its Unicode code point."""
    found = []
    for packed in STREAM.findall(pdf):
        try:
            stream = zlib.decompress(packed)
        except zlib.error:  # an image, or an uncompressed font
            continue
        for text in re.findall(rb"BT\s(.*?)ET\s", stream, re.DOTALL):
            letters = b"".join(re.findall(rb"\((.*?)(?<!\\)\)", text, re.DOTALL))
            found.append(letters.decode("utf-16-be", "replace"))
    return found
