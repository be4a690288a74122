"""Texts packed into the page, a sixth as long, which its script unpacks: gzip in base64."""

from __future__ import annotations

import base64
import gzip


def pack(source: str) -> str:
    """A text packed; equal texts are packed equally."""
    return base64.b64encode(gzip.compress(source.encode("utf-8"), mtime=0)).decode("ascii")


def unpack(packed: str) -> str:
    """The text that was packed."""
    return gzip.decompress(base64.b64decode(packed)).decode("utf-8")
