"""Private keys in PEM armour (RFC 7468, RFC 1421, OpenPGP), whole or cut at either end, also with escaped line breaks."""

from __future__ import annotations

import re

_GAP = r"(?:\s|\\[nr])"
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_HEADERS = rf"(?:{_GAP}{{1,4}}[A-Za-z][A-Za-z-]{{0,40}}: [^\n\\]{{0,200}}){{0,6}}"
_KEY = re.compile(
    rf"-----BEGIN [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----{_HEADERS}"
    rf"(?:[^-]{{0,12000}}?{_END.pattern}|(?:(?:{_GAP}{{0,4}}[A-Za-z0-9+/=]{{60,80}}){{1,300}}(?:{_GAP}{{1,4}}[A-Za-z0-9+/=]{{16,59}})?)?)"
)
_LAST_LINES = re.compile(
    r"(?:\s|[nr]\\){0,4}[A-Za-z0-9+/=]{0,80}(?!\\)(?:(?:\s|[nr]\\){1,4}[A-Za-z0-9+/=]{40,80}(?!\\)){0,300}"
    r"(?:(?:\s|[nr]\\){1,4}[A-Za-z0-9+/=]{16,39}(?![\\A-Za-z0-9+/=]))?"
)
"""The end of a key, read backwards."""
_BODY = 24_000
"""Characters before an end mark that are looked at."""


def without_keys(text: str, tag: str) -> str:
    """The text with `tag` for each private key. Cost: one search, and for each mark a bounded look beside it."""
    if "PRIVATE KEY" not in text:
        return text
    text = _KEY.sub(tag, text)
    pieces, done = [], 0
    for found in _END.finditer(text):
        body = _LAST_LINES.match(text[max(done, found.start() - _BODY) : found.start()][::-1])
        start = found.start() - (body.end() if body else 0)
        pieces += [text[done:start], tag]
        done = found.end()
    return "".join([*pieces, text[done:]])
