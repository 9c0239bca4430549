"""Words that tell why something went wrong, or what must hold, and where they stand in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ctxtree.passes.condensers.cut import clip

FAILURES = (
    "error", "fail", "exception", "traceback", "fatal", "panic", "critical", "segfault", "segmentation fault",
    "assert", "denied", "refused", "abort", "killed", "timed out", "timeout", "exit code", "exit status",
    "exited with", "out of memory", "quota", "no such file", "not found", "cannot", "can't", "unable to",
    "undefined", "unexpected", "invalid", "conflict", "not ok ", "err!", "\ne   ", "✗", "✕", "❌",
    "错误", "失败", "异常", "超时", "拒绝", "崩溃", "无法", "找不到", "致命",
    "錯誤", "失敗", "異常", "エラー", "오류",
)  # fmt: skip
# These are looked for as they are written, so that a named error stands out among mentions of the word.
NAMED = (
    "ERROR", "FATAL", "FAILED", "CRITICAL", "PANIC", "Error:", "Exception:", "error:", "fatal:", "FAIL:",
)  # fmt: skip
WARNINGS = ("warn", "deprecated", "skipped", "警告", "告警")
RULES = (
    "never", "must", "do not", "don't", "not allowed", "only ", "always", "forbidden", "important", "except ",
    "without", "todo", "不要", "必须", "禁止", "不能", "不得", "务必", "只能", "不可", "切勿", "别", "不允许",
)  # fmt: skip

_EACH = 24
"""At most this many places of one word are looked at from either end of a text."""

_PASSED = 20_000  # "0 errors" and the like that are passed over for one word

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_GAP = r"[^\S\r\n]*"
_NONE = re.compile(
    rf"(?:(?<!\d)(?<!\d[.,])\b0|\bno|\bzero|\bwithout|没有|无|0{_GAP}个){_GAP}\Z", re.IGNORECASE
)
_GIVEN = rf"[\w-]*[\"']?{_GAP}[:=：]{_GAP}[\"']?"
_NOTHING = re.compile(
    rf"(?:{_GIVEN}|[ \t](?:code )?)(?:0(?![.,]?\d|x)\b)"
    rf"|{_GIVEN}(?:none\b|null\b|nil\b|false\b|no\b|\[\]|\{{\}}|\"\"|无|没有)",
    re.IGNORECASE,
)
_FIGURES = re.compile(r"0x[0-9a-f]+|\d+")


def plain_of_ansi(text: str) -> str:
    """The text without terminal colours and titles."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def failures(text: str) -> list[int]:
    """Offsets of telling words, the most telling first: named errors, then other failures, then warnings.

    Within a grade the last stands first, then the first, and so on inwards. Lines that differ in
    figures alone are told once. "0 errors" and "no failures" do not count. Costs about 5 ms for 1 MB.
    """
    lowered = lower(text)
    strong = sorted({*places(lowered, FAILURES), *places(text, NAMED)})
    loud = [at for at in strong if _is_loud(text, at)]
    heard = set(loud)
    quiet = [at for at in strong if at not in heard]
    weak = sorted(set(places(lowered, WARNINGS)))
    return _distinct(text, [*_inwards(loud), *_inwards(quiet), *_inwards(weak)])


def rules(text: str) -> list[int]:
    """Offsets of words that forbid or demand something, from both ends inwards."""
    return _inwards(sorted(set(places(lower(text), RULES))))


def first_line(text: str, max_chars: int) -> str:
    """One telling line: the last named error near the end, else an error near the start, else the first line.

    Reads the first 1,000 and the last 3,000 characters only. Never longer than `max_chars`.
    """
    head, tail = (text, "") if len(text) <= 4000 else (text[:1000], text[-3000:])
    for part, pick in ((tail, -1), (head, -1 if not tail else 0)):
        lowered = lower(part)
        found = [at for at in sorted(places(lowered, FAILURES)) if _is_loud(part, at)]
        if found:
            return _tidy(_line(part, found[pick]), max_chars)
    lines = (line for line in text[:4000].splitlines() if line.strip())
    first = next(lines, "")
    while sum(map(str.isalnum, first[:200])) < 3:
        following = next(lines, None)
        if following is None:
            break
        first = following
    return _tidy(first, max_chars)


def lower(text: str) -> str:
    """Lower case with every offset kept: the one character that grows is exchanged first."""
    return text.replace("İ", "I").lower()


def places(text: str, words: Sequence[str]) -> Iterator[int]:
    """Offsets of the words as written, at most `2 * _EACH` a word from both ends.

    "0 errors", "errors: 0" and `"error": null` are passed over.
    """
    for word in words:
        at, count, passed, last = text.find(word), 0, 0, -1
        while at >= 0 and count < _EACH and passed < _PASSED:
            if _tells(text, word, at):
                yield at + (word[0] == "\n")
                count += 1
            else:
                passed += 1
            last = at
            at = text.find(word, at + len(word))
        if at >= 0:
            yield from _backwards(text, word, last)


def _backwards(text: str, word: str, floor: int) -> Iterator[int]:
    at, count, passed = text.rfind(word), 0, 0
    while at > floor and count < _EACH and passed < _PASSED:
        if _tells(text, word, at):
            yield at + (word[0] == "\n")
            count += 1
        else:
            passed += 1
        at = text.rfind(word, floor + 1, at)


def _tells(text: str, word: str, at: int) -> bool:
    after = at + len(word) - word.endswith(":")
    return not (_NONE.search(text, max(0, at - 10), at) or _NOTHING.match(text, after))


def _is_loud(text: str, at: int) -> bool:
    """True where a failure is named rather than mentioned: ERROR, `SomeError:`, `E   `, or a Chinese word."""
    word = text[at : at + 4]
    return word.isupper() or word[0] > "\u2000" or word[:2] == "E " or ":" in text[at + 4 : at + 20]


def _inwards(found: list[int]) -> list[int]:
    half = len(found) // 2
    order: list[int] = []
    for index in range(half):
        order += (found[-1 - index], found[index])
    return order + (found[half : half + 1] if len(found) % 2 else [])


def _distinct(text: str, found: list[int]) -> list[int]:
    seen: set[str] = set()
    kept: list[int] = []
    for at in found:
        key = _FIGURES.sub("#", _line(text, at)[:200])
        if key not in seen:
            seen.add(key)
            kept.append(at)
    return kept


def _line(text: str, at: int) -> str:
    start = max(text.rfind("\n", 0, at) + 1, at - 200)
    stop = text.find("\n", at, at + 400)
    return text[start : stop if stop >= 0 else at + 400]


def _tidy(line: str, max_chars: int) -> str:
    return clip(" ".join(plain_of_ansi(line).split()), max_chars)
