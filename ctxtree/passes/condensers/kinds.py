"""What kind of content a text is, judged by its first and last few thousand characters."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["json", "rows", "diff", "html", "table", "code", "log", "plain"]

_SAMPLE = 4000
_LINES = 60

_JSON_LINE = re.compile(r"\s*[{\[].*[}\]]\s*$")
_DIFF = re.compile(r"^(?:diff --git |Index: |--- \S.*\n\+\+\+ \S|@@ -\d+(?:,\d+)? \+\d+)", re.MULTILINE)
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?<(?:!doctype html|html|head|body)\b", re.I | re.S
)
_HTML_TAG = re.compile(
    r"</?(?:div|span|p|a|li|ul|ol|td|tr|table|h[1-6]|section|script|style|meta|img|br|nav)\b[^<>]*>", re.I
)
_MARKDOWN_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\s*$")
_LOG_LINE = re.compile(
    r"\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d:\d\d|\w{3} +\d+ \d\d:\d\d|\d{10}\b)"
    r"|.{0,40}\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|PASSED|FAILED|SKIPPED)\b"
)
_TRACE = re.compile(
    r"^(?:Traceback \(most recent|=+ (?:FAILURES|ERRORS)|--- FAIL|FAILED |\s+at \S+\("
    r"|\s+at .+:\d+|thread '.*panicked)",
    re.MULTILINE,
)
DEFINITION = re.compile(
    r"^[ \t]*(?:\d+[→:|\t-][ \t]*)?(?:(?:export|default|public|private|protected|internal|static|abstract"
    r"|final|pub(?:\(\w+\))?|async|declare|unsafe|extern|inline|override|virtual)[ \t]+)*"
    r"(?:def|class|func|fun|fn|function\*?|interface|struct|enum|trait|impl|module|namespace|macro_rules!|type"
    r"|#[ \t]*include|#[ \t]*define|CREATE[ \t]+\w+|ALTER[ \t]+\w+)[ \t]+[\w\"'`<($&*]",
    re.MULTILINE,
)
_PROSE_END = re.compile(r"[.!?](?:\s|$)|[。！？]")


def detect(text: str) -> Kind:
    """The kind of content. A wrong guess costs quality, never correctness; about 0.1 ms."""
    head, tail = text[:_SAMPLE], text[-1000:]
    # Progress bars end their lines with a carriage return.
    lines = [line for line in head.replace("\r", "\n").split("\n") if line.strip()][:_LINES]
    if _looks_like_rows(lines):
        return "rows"
    if _looks_like_json(head, tail):
        return "json"
    if _DIFF.search(head):
        return "diff"
    if _HTML_START.match(head) or len(_HTML_TAG.findall(head)) * 160 >= len(head) > 200:
        return "html"
    if table_delimiter(lines):
        return "table"
    return _by_lines(head, lines)


def table_delimiter(lines: list[str]) -> str:
    """What separates the columns when the lines are a table, else an empty string."""
    if len(lines) >= 3 and "|" in lines[0] and _MARKDOWN_RULE.match(lines[1]):
        return "|"
    body = lines[:12]
    if len(body) < 4:
        return ""
    for delimiter, least in (("\t", 1), (",", 2), (";", 2), ("|", 2)):
        counts = [_outside_quotes(line).count(delimiter) for line in body]
        usual = counts[0]
        if usual >= least and sum(count == usual for count in counts) >= 0.8 * len(counts):
            return delimiter
    return ""


def is_prose(lines: list[str]) -> bool:
    """True for sentences rather than lines of output."""
    if len(lines) < 3:
        return True
    size = sum(map(len, lines))
    wide = sum(char > "\u2e80" for line in lines for char in line[:200])
    ended = sum(len(_PROSE_END.findall(line)) for line in lines)
    return ended >= 0.5 * len(lines) and size + wide >= 40 * len(lines)


def _by_lines(head: str, lines: list[str]) -> Kind:
    if len(lines) < 3:
        return "plain"
    logged = sum(bool(_LOG_LINE.match(line)) for line in lines)
    if logged >= 0.3 * len(lines) or _TRACE.search(head):
        return "log"
    defined = len(DEFINITION.findall(head))
    if defined >= 3 or (defined and _coded(lines) >= 0.3 * len(lines)):
        return "code"
    return "plain" if is_prose(lines) else "log"


def _looks_like_json(head: str, tail: str) -> bool:
    first, last = head.lstrip()[:1], tail.rstrip()[-1:]
    return (first == "{" and last == "}") or (first == "[" and last == "]")


def _looks_like_rows(lines: list[str]) -> bool:
    """One JSON value a line. The last line of the sample may be cut."""
    body = lines[:10] if len(lines) > 10 else lines[:-1]
    return len(body) > 1 and all(map(_JSON_LINE.match, body))


def _coded(lines: list[str]) -> int:
    return sum(line.rstrip().endswith(("{", "}", ";", ":", ")", ",")) for line in lines)


def _outside_quotes(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line) if '"' in line else line
