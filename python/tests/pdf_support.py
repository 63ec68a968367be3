"""What a PDF of matplotlib says, read without a library of PDF."""

from __future__ import annotations

import re
import zlib

STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)


def words(pdf: bytes) -> list[str]:
    """Its texts, of which each letter is two bytes: its place in Unicode."""
    found = []
    for packed in STREAM.findall(pdf):
        try:
            stream = zlib.decompress(packed)
        except zlib.error:  # a picture, or a font that is not packed
            continue
        for text in re.findall(rb"BT\s(.*?)ET\s", stream, re.DOTALL):
            letters = b"".join(re.findall(rb"\((.*?)(?<!\\)\)", text, re.DOTALL))
            found.append(letters.decode("utf-16-be", "replace"))
    return found
