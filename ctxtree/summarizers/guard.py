"""A model's summary is taken only if it is one, and never in place of the user's own binding words."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

from ctxtree.plan import Counter, Line, LineKind, Summary, SummaryRequest
from ctxtree.summarizers.fit import fit, lesson, protected
from ctxtree.summarizers.frame import SECTIONS
from ctxtree.summarizers.kinds import modal, plain
from ctxtree.summarizers.merge import same
from ctxtree.summarizers.rules import digest
from ctxtree.summarizers.sentences import flat, split

UNVERIFIED = " (unverified)"
LESSONS = 8
"""Notes of failed attempts that stay word for word, the newest: a model's summary must not make them be tried again."""

_REASONING = re.compile(r"<(think|thinking|reasoning|thought)>.*?(?:</\1>|\Z)", re.S | re.I)
_TOOL_CALL = re.compile(
    r"^\s*(?:```\w*\s*)?(?:<\W?(?:tool_call|function_call|tool_use|function|invoke|antml)|"
    r"\[TOOL_CALLS?\]|<\|(?:tool|python_tag)|functions\.\w+)",
    re.I,
)
_CALL_KEYS = (
    {"tool_calls"},
    {"function_call"},
    {"name", "arguments"},
    {"name", "input"},
    {"tool", "arguments"},
    {"function", "arguments"},
    {"name", "parameters"},
)
_REFUSAL = re.compile(
    r"^\W*(?:(?:i'm|i am) (?:very |so |really )?(?:sorry|unable|not able|afraid)|(?:sorry|apologies|"
    r"unfortunately)\b.{0,40}\b(?:can|could|unable|not)|"
    r"i (?:cannot|can't|can not|won't|will not|must decline|do not have (?:access|enough))|"
    r"i apologi[sz]e|as an ai\b|"
    r"抱歉|对不起|很遗憾|我(?:无法|不能|没办法|没有办法)|作为(?:一个|一名)?(?:ai|人工智能))",
    re.I,
)
_ERROR_START = re.compile(
    r"^\W*(?:error|exception|traceback|fatal)\b\s*[:(\d]|^\W*错误[：:]|"
    r"^\W*(?:http(?:/\d\S*)?\s*|status(?: code)?:?\s*|error:?\s*)?[45]\d\d\b.{0,40}\b(?:error|limit|unavailable|"
    r"too many|bad|unauthori[sz]ed|forbidden|not found|time-?out|overloaded|gateway|payment|request)", re.I)  # fmt: skip
_ERROR_WORDS = re.compile(
    r"rate.?limit|too many requests|quota|internal server error|service unavailable|bad gateway|gateway time-?out|"
    r"overloaded|context (?:length|window) (?:was )?exceeded|maximum context length|request timed out|"
    r"connection (?:error|refused|reset)|unauthori[sz]ed|invalid api key|请求(?:过多|失败|超时)|服务(?:不可用|繁忙)", re.I)  # fmt: skip
_JSON_ERROR = ({"error"}, {"detail"}, {"errors"})
_PREAMBLE = re.compile(
    r"^\W*(?:(?:sure|okay|ok|certainly|of course)\W+)?(?:here(?: is|'s| are)|below is|this is|"
    r"the following is|以下是|这是|下面是)?[^.\n。]{0,80}(?:summary|notes|digest|summari[sz]e|总结|摘要|概要|"
    r"笔记)[^.\n。]{0,60}[:：.]?\s*$",
    re.I,
)
_SHORT = 400
_HEADING = re.compile(r"^\W*([A-Za-z ]{2,30}|[⺀-鿿]{2,12})\W*(?:\([^)]*\))?\W*[:：]\W*(.*)$")
_HEADINGS: dict[str, LineKind] = {
    "goal": "goal", "goals": "goal", "user said": "fact", "constraints": "fact", "preferences": "fact", "facts": "fact",
    "key facts": "fact", "decisions": "decision", "results": "result", "done": "done", "failed": "failed", "tried and failed": "failed",
    "files": "file", "open": "open", "open questions": "open", "目标": "goal", "约束": "fact", "偏好": "fact", "事实": "fact",
    "决定": "decision", "决策": "decision", "结果": "result", "已完成": "done", "失败": "failed", "文件": "file", "待办": "open", "未解决": "open",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verdict:
    """`text` to use (without reasoning and preamble), or "" and the `reason` in words that hold no content."""

    text: str = ""
    reason: str = ""


def accept(text: object, request: SummaryRequest, counter: Counter, source: int) -> Verdict:
    """Whether a model's answer can stand for the entries; `source` is what they cost, in tokens."""
    if not isinstance(text, str):
        return Verdict(reason=f"no text but {type(text).__name__}")
    answer = _REASONING.sub("", text).strip()
    reason = _unfit(answer, text) or _error(answer, request) or _copied(answer, request)
    answer = _without_preamble(answer)
    if not reason and not answer:
        reason = "only a preamble"
    tokens = 0 if reason else counter(answer)
    if tokens > request.max_tokens:
        reason = f"{tokens} tokens, more than the {request.max_tokens} allowed"
    elif not reason and tokens >= source:
        reason = f"{tokens} tokens, not shorter than its source of {source}"
    return Verdict(reason=reason) if reason else Verdict(text=answer)


def finish(text: str, request: SummaryRequest, counter: Counter, by: str = "model") -> Summary:
    """An accepted text as a summary: framed, the user's binding words first and verbatim, invented rules marked.

    What does not fit goes from the end of the least important section; the frame counts.
    """
    rules = digest(request, counter)
    lessons = [line for line in rules.lines if lesson(line)][-LESSONS:]
    own = [line for line in rules.lines if protected(line) or line in lessons]
    held = {same(line.text) for line in own}
    told = [line for line in _lines(text, request, own) if same(line.text) not in held]
    fitted = fit([*own, *told], request.max_tokens, request.key, len(request.covered), counter)
    if not fitted.text:
        return rules
    return replace(rules, lines=fitted.lines, text=fitted.text, tokens=fitted.tokens, by=by)


def _unfit(answer: str, text: str) -> str:
    if not answer:
        return "only reasoning" if text.strip() else "empty"
    if _TOOL_CALL.match(answer):
        return "a tool call"
    shape = _json_shape(answer)
    if shape:
        return shape
    if _REFUSAL.match(plain(answer)):
        return "a refusal"
    return ""


def _error(answer: str, request: SummaryRequest) -> str:
    """A server's error text in place of a summary; words that the conversation itself uses prove nothing."""
    if not answer or len(answer) >= _SHORT:
        return ""
    found = _ERROR_WORDS.search(answer)
    spoken = found is not None and any(found[0].lower() in entry.text.lower() for entry in request.entries)
    return "an error message" if _ERROR_START.match(answer) or (found and not spoken) else ""


def _json_shape(answer: str) -> str:
    bare = re.sub(r"^```\w*\s*|\s*```$", "", answer)
    if not bare.startswith(("{", "[")):
        return ""
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return ""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return ""
    if first.get("type") in ("tool_use", "function_call", "function") or any(
        keys <= first.keys() for keys in _CALL_KEYS
    ):
        return "a tool call"
    return "an error message" if any(keys <= first.keys() for keys in _JSON_ERROR) else ""


def _copied(answer: str, request: SummaryRequest) -> str:
    """A stale reply, or the notes before, are no summary of what came since."""
    if not answer:
        return ""
    mine = same(answer)
    for entry in request.entries:
        theirs = same(entry.text)
        if (
            mine == theirs
            or (len(mine) >= 20 and mine in theirs)
            or (len(theirs) >= 40 and theirs in mine and len(theirs) > 0.9 * len(mine))
        ):
            return f"a copy of node {entry.node[:12]}"
    if request.previous is not None and request.entries and mine == same(request.previous.text):
        return "a copy of the summary before it"
    return ""


def _without_preamble(answer: str) -> str:
    first, _, rest = answer.partition("\n")
    return rest.strip() if _PREAMBLE.match(first) else answer


def _lines(text: str, request: SummaryRequest, own: list[Line]) -> list[Line]:
    """The model's words as lines under the sections that it names; modal ones without a source are marked."""
    sources = [_words(sentence) for sentence in _spoken(request, own)]
    kind: LineKind = "fact"
    lines: list[Line] = []
    for row in text.splitlines():
        heading = _HEADING.match(row)
        named = _HEADINGS.get(heading[1].strip().lower()) if heading else None
        if heading and named:
            kind, row = named, heading[2]
        shown = flat(row).lstrip("-*•#> ").strip()
        if shown and not _SECTION_NAMES.get(shown.rstrip(":：").lower()):
            lines.append(Line(kind, _marked(shown, sources), (), 0.9))
    return lines


_SECTION_NAMES = {title.lower(): title for title, _ in SECTIONS}


def _spoken(request: SummaryRequest, own: list[Line]) -> list[str]:
    """What users said, here and in the lines kept from before; what is unverified there is no source."""
    before = request.previous.lines if request.previous else ()
    kept = [line.text for line in (*before, *own) if not line.text.endswith(UNVERIFIED) and line.nodes]
    return kept + [
        sentence for entry in request.entries if entry.role == "user" for sentence in split(entry.text)
    ]


def _marked(text: str, sources: list[frozenset[str]]) -> str:
    """The line with "(unverified)" after each modal sentence that no source backs."""
    if not modal(text):
        return text
    pieces = split(text)
    return " ".join(
        piece + UNVERIFIED if modal(piece) and not _backed(piece, sources) else piece for piece in pieces
    )


def _backed(sentence: str, sources: list[frozenset[str]]) -> bool:
    """True if two thirds of the words stand in one sentence of the source."""
    words = _words(sentence)
    return any(len(words & source) * 3 >= len(words) * 2 for source in sources) if words else True


_GLUE_TABLE = (
    "the a an to of in on and or is are be it that this user said asked wants we you i for with not "
    "do must never always should only "
)
_GLUE = frozenset(_GLUE_TABLE.split())


def _words(text: str) -> frozenset[str]:
    """Content words, Chinese as pairs of characters."""
    low = plain(text)
    latin = {word.rstrip("s") for word in re.findall(r"[a-z0-9_./-]+", low)} - _GLUE
    han = re.findall(r"[⺀-鿿]+", low)
    return frozenset(latin | {run[place : place + 2] for run in han for place in range(max(1, len(run) - 1))})
