"""Control tokens of chat templates inside texts, which could forge a turn there."""

from __future__ import annotations

import re

_CONTROL = re.compile(
    r"<\|(?=[A-Za-z_][\w/ -]{0,40}\|>)"  # <|im_start|>, <|eot_id|>
    r"|(?<=[A-Za-z0-9_])\|>"
    r"|<(?=/?(?:s|bos|eos|pad|start_of_turn|end_of_turn)>)"
    r"|<<(?=/?SYS>>)"
    r"|\[(?=/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\])"
)
_MARKS = {"<|": "<¦", "|>": "¦>", "<": "<¦", "<<": "<¦<", "[": "[¦"}


def defused(text: str) -> str:
    """The text with a visible `¦` in each control token: `<|im_end|>` becomes `<¦im_end¦>`."""
    if "<" not in text and "[" not in text:
        return text
    return _CONTROL.sub(lambda found: _MARKS[found.group()], text)
