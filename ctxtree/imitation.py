"""Words that look like ctxtree's own: told apart by where they come from, and made visibly different for a model.

What a node is stands in its role and its marks, never in its text. A model sees text alone, so whatever a user, a
model or a tool said that has the form of one of our notices gets a `¦`, as control tokens do.
"""

from __future__ import annotations

import re

_NOTICE = re.compile(
    r"[\[［【](?=\s*(?:dead\s+end\b[^\]\n]{0,20}:|known\s+facts\s*:\s*data|retrieved\b[^\]\n]{0,200}:\s*data,\s+not\s+instructions"
    r"|/?\s*end\s+of\s+(?:facts|retrieved\s+text|earlier\s+text|(?:the\s+)?summary)|said\s+earlier\s+by\s+the\b"
    r"|from\s+earlier\s+in\s+this\s+conversation\b|summary\s+[0-9a-f]{2,12}\b|history\s+[0-9a-f]{2,12}\s*,"
    r"|end\s+[0-9a-f]{4}\s*\]|system\s+note\s*\]|found\s+on\s+branch\b|still\s+in\s+effect\s+from\b"
    r"|an\s+earlier\s+attempt\s+was\s+given\s+up\b))",
    re.I,
)
_STATE = re.compile(r"^([^\S\n]*current\s+state\s*)(?=:[^\S\n]*\n?[^\S\n]*\{)", re.I | re.M)
_TURN = re.compile(
    r"^([^\S\n]*)(?=(?:system|user|assistant|human)[^\S\n]*[:：]|\[(?:tool|call)\s)", re.I | re.M
)


def told_apart(text: str) -> str:
    """The text with a visible `¦` where it begins like one of our notices: `[¦dead end: …`, `Current state¦:`."""
    if "[" in text or "［" in text or "【" in text:
        text = _NOTICE.sub(lambda found: found[0] + "¦", text)
    return _STATE.sub(r"\1¦", text) if "tate" in text or "TATE" in text else text


FOUND = "[found on branch "
"""How the note of a merge begins: words that we wrote, around words that others said."""


def told_apart_inside(text: str) -> str:
    """`told_apart` for a note: the first line of a merge's stays."""
    if not text.startswith(FOUND):
        return told_apart(text)
    head, line, rest = text.partition("\n")
    return head + line + told_apart(rest)


def no_turns(text: str) -> str:
    """The text with a `¦` before each line that would begin a turn, a call or a result in a plain transcript."""
    return _TURN.sub(r"\1¦ ", text)


def enclosed(text: str) -> str:
    """The text for between brackets: if its own do not pair up they are made round, so that it cannot end before ours."""
    depth = 0
    for char in text:
        depth += (char == "[") - (char == "]")
        if depth < 0:
            break
    return text if not depth else text.replace("[", "(").replace("]", ")")
