"""Summarizers that fail in the ways that a case describes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any


def fake(wish: str) -> Callable[[Any], str]:
    """`fake: "text"`, `fake: raises TimeoutError`, `fake: returns N tokens …`, `fake: paraphrases …`."""
    words = wish.removeprefix("fake:").strip()

    def answer(request: Any) -> str:
        if "raises" in words:
            raise TimeoutError("no answer")
        if "overflows" in words:
            raise ValueError("context length exceeded")
        if size := re.search(r"returns (\d+) tokens", words):
            return "word " * int(size[1])
        if "returns text of" in words:
            return next((one.text for one in request.entries if one.role == "assistant"), "")
        if "paraphrases" in words:
            added = re.search(r'adds "(.*?)"', words)
            return f"The user had asked for a change. They {added[1] if added else 'went on'}."
        return words.strip('"')

    return answer
