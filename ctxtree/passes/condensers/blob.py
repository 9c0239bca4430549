"""Stretches that say nothing to a reader (base64, hex, bytes) become a placeholder with size and hash."""

from __future__ import annotations

import hashlib
import re
from itertools import groupby

_RUN = 512
_ENCODED = re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{_RUN},}}+={{0,2}}")
_WRAPPED = re.compile(r"(?:^[A-Za-z0-9+/]{60,76}\r?\n){8,}+(?:[A-Za-z0-9+/]{1,76}={0,2}$)?", re.MULTILINE)
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffd]")


def fold_blobs(text: str) -> str:
    """The text with every long base64 or hex stretch, and every line of raw bytes, in one line."""
    folded = _ENCODED.sub(_placeholder_of, text)
    if len(folded) > _RUN:
        folded = _WRAPPED.sub(_placeholder_of_lines, folded)
    sample = folded[:2000] + folded[-2000:]
    if len(_CONTROL.findall(sample)) * 20 > len(sample):
        return _fold_bytes(folded)
    return folded


def placeholder(kind: str, content: str) -> str:
    """`[base64, 4,000,000 characters, sha256 1a2b3c4d…]`."""
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return f"[{kind}, {len(content):,} characters, sha256 {digest[:8]}…]"


def _placeholder_of(match: re.Match[str]) -> str:
    run = match.group()
    return placeholder("hex" if _HEX.fullmatch(run) else "base64", run) if _is_dense(run) else run


def _placeholder_of_lines(match: re.Match[str]) -> str:
    run = match.group()
    if not _is_dense(run.replace("\n", "").replace("\r", "")):
        return run
    return placeholder("base64", run.rstrip("\r\n")) + ("\n" if run.endswith("\n") else "")


def _is_dense(run: str) -> bool:
    """True if the characters are as mixed as encoded bytes are; a ruler of dashes or one letter is not."""
    sample = run[:200] + run[len(run) // 2 : len(run) // 2 + 200]
    kinds = (str.islower, str.isupper, str.isdigit)
    if _HEX.fullmatch(sample):
        return len(set(sample)) >= 12
    return len(set(sample)) >= 24 and all(any(map(kind, sample)) for kind in kinds)


def _fold_bytes(text: str) -> str:
    lines = text.split("\n")
    folded: list[str] = []
    for dirty, group in groupby(lines, key=lambda line: bool(_CONTROL.search(line))):
        run = list(group)
        folded += [placeholder("binary", "\n".join(run))] if dirty else run
    return "\n".join(folded)
