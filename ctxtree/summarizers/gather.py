"""Entries to lines: what each turn asked, said, decided, found and failed at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ctxtree.plan import Entry, Line
from ctxtree.summarizers.entries import OWN_CHARACTERS
from ctxtree.summarizers.kinds import decides, leaves_open, plain, words_of
from ctxtree.summarizers.said import ASK_CHARACTERS, Said, said
from ctxtree.summarizers.sentences import both_ends, flat, shorten, split

UNANSWERED = " (not answered within these messages)"
"""Ends the line of a request whose outcome lies outside the entries; `finish_open` looks for it."""

OUTCOME_CHARACTERS = 160

_PATH = re.compile(
    r"(?<![\w/.:@-])(?:~?/|\.{1,2}/)?(?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/(])|"
    r"(?<![\w:/])/?(?:[\w.@-]+/){2,}[\w.@-]*"
)
_NO_PATH = re.compile(
    r"^(?:\d[\d.]*\w*|[ei]\.[ge]|\w+\.(?:com|org|net|io|dev|cn)|[A-Z]\w*\.[a-z]\w*|(?:e|i)\.\w|(?:this|self)\.\w+)$"
)
_CUT_BEFORE, _CUT_AFTER = re.compile(r"…\]?\s?$"), re.compile(r"\s?\[?…")
_ERROR_LINE = re.compile(
    r"error|exception|fail|denied|refused|not found|no such|forbidden|invalid|timed? ?out|"
    r"\b[45]\d\d\b|traceback|panic|fatal|错误|失败|异常|拒绝|超时|无法",
    re.I,
)
_ERROR_START = re.compile(
    r"\s*(?:error\b|fatal\b|traceback \(|exception\b|\w+(?:error|exception):|panic:|错误[：:]|"
    r"exit (?:code|status) [1-9])",
    re.I,
)
_FILLER = re.compile(
    r"^(?:congratulations|congrats|nice|cool|sure|ok|okay|great|certainly|of course|absolutely|understood|got it|no problem|alright|"
    r"thanks|thank you|hello|hi|noted|you're welcome|good (?:question|idea|point))"
    r"\b[\s\w,']{0,20}[.!,:]*$|^(?:好的?|没问题|当然|明白了?|收到|知道了|可以|嗯|行|您好|你好|不客气)[，。！,.!~]*$",
    re.I,
)
_COMPLETED = re.compile(
    r"\b(?:done|finished|complete[d]?|fixed|passed|works now|succeeded|successfully|ready|merged|"
    r"created|deployed|added|updated|removed|wrote|written|"
    r"implemented|released|published|renamed|installed|configured|resolved|refactored|migrated)\b|"
    r"^\w+ed\b|完成|已经?|好了|搞定|成功|通过了",
    re.I,
)
_NOT_DONE = re.compile(
    r"\b(?:couldn't|could not|cannot|can't|unable to|failed|did not succeed|not possible|gave up)\b|"
    r"无法|失败|做不到|没能|不能",
    re.I,
)
_FOUND = re.compile(
    r"\b(?:result|total|average|mean|median|found|shows?|measured|benchmark|took|takes|latency|"
    r"throughput|accuracy|coverage|root cause|caused by|because|turns out|conclusion|equals|is now)\b|"
    r"结果|总共|一共|共计|平均|发现|原因|测得|耗时|结论|得到|等于|合计|根因",
    re.I,
)


@dataclass(slots=True)
class _Turn:
    """A user's message (None before the first) and what followed it."""

    user: Entry | None
    rest: list[Entry] = field(default_factory=list)


def gather(entries: Sequence[Entry], goal: bool) -> tuple[Line, ...]:
    """The lines of the entries, in order of time; with `goal` the first request becomes the goal.

    A headless beginning (its request lies before the entries) gives its outcome as a `done` line that
    begins with "→"; `merge.finish_open` joins it to the request that waits for it. One pass; cost is linear.
    """
    turns = _turns(entries)
    told = [
        said(turn.user, _asked_before(turns, place)) if turn.user else Said()
        for place, turn in enumerate(turns)
    ]
    found: list[Line] = []
    for place, turn in enumerate(turns):
        rejected = place + 1 < len(turns) and told[place + 1].objects
        found.extend(told[place].lines)
        found.extend(_tools(turn.rest))
        line = _ask_line(turn, told[place], rejected, goal)
        found.extend(held for held in _findings(turn.rest) if line is None or held.text not in line.text)
        if line is not None:
            goal = goal and line.kind != "goal"
            found.append(line)
        found.extend(_waiting(turn, last=place + 1 == len(turns)))
    return tuple(found)


def _turns(entries: Sequence[Entry]) -> list[_Turn]:
    turns: list[_Turn] = []
    for entry in entries:
        if entry.role == "user":
            turns.append(_Turn(entry))
        else:
            if not turns:
                turns.append(_Turn(None))
            turns[-1].rest.append(entry)
    return turns


def _asked_before(turns: Sequence[_Turn], place: int) -> str:
    """The question with which the assistant ended the turn before."""
    rest = turns[place - 1].rest if place else []
    last = next((entry for entry in reversed(rest) if entry.role == "assistant"), None)
    return _last_question(last.text) if last is not None else ""


def _last_question(text: str) -> str:
    if "?" not in text[-300:] and "？" not in text[-300:]:
        return ""
    sentences = split(text[-400:])
    return sentences[-1] if sentences and sentences[-1].endswith(("?", "？")) else ""


def _ask_line(turn: _Turn, told: Said, rejected: bool, goal: bool) -> Line | None:
    """The request with its outcome, never alone."""
    answer = next(
        (entry for entry in reversed(turn.rest) if entry.role == "assistant" and entry.text.strip()), None
    )
    if turn.user is None:
        if answer is None:
            return None
        outcome = f"→ {_status(answer.text, False, rejected, False)}"
        return Line("done", outcome, (answer.node,), _weight_of_outcome(answer.text))
    if not told.ask:
        return None
    quoted = f'"{told.ask}"'
    if answer is None:
        return Line("goal" if goal else "open", quoted + UNANSWERED, (turn.user.node,))
    text = f"{quoted} → {_status(answer.text, told.question, rejected, goal)}"
    weight = 1.0 if goal else _weight_of_outcome(answer.text, told.question)
    return Line("goal" if goal else "done", text, (turn.user.node, answer.node), weight)


def _status(text: str, question: bool, rejected: bool, goal: bool) -> str:
    outcome = _outcome(text)
    if rejected:
        return f"answered, and the user objected: {outcome}"
    if _NOT_DONE.search(outcome):
        return f"not done: {outcome}"
    if question or (goal and not _COMPLETED.search(outcome)):
        return f"answered: {outcome}"
    return f"done: {outcome}"


def _outcome(text: str) -> str:
    """The sentence of an answer that says most: one that reports something, else the first that is no filler."""
    sentences = [piece for piece in split(both_ends(text, OWN_CHARACTERS)) if not _FILLER.match(piece)]
    if not sentences:
        return shorten(flat(text), OUTCOME_CHARACTERS)
    told = [piece for piece in sentences if not piece.endswith(("?", "？", ":", "："))] or sentences
    best = next((piece for piece in told if _COMPLETED.search(piece)), None)
    best = best or next(
        (piece for piece in told if _FOUND.search(piece) or any(map(str.isdigit, piece))), told[0]
    )
    return shorten(best, OUTCOME_CHARACTERS)


def _weight_of_outcome(text: str, question: bool = False) -> float:
    """What was measured weighs as much told with its request as it would alone."""
    outcome = _outcome(text)
    if _weight_of_finding(outcome) > 1.0:
        return 1.8
    if question and any(map(str.isdigit, outcome)):
        return 1.2
    return 1.0 if _COMPLETED.search(outcome) else 0.5


def _findings(rest: Sequence[Entry]) -> Iterator[Line]:
    """What the assistant decided, found and left open, in its own words; notes of merges as they are."""
    for entry in rest:
        if entry.failed or entry.role == "state" or not entry.text.strip():
            continue
        if entry.role in ("system", "developer", "note"):
            yield Line("fact", shorten(flat(entry.text), ASK_CHARACTERS), (entry.node,), 1.0)
        elif entry.role == "assistant":
            yield from _of_assistant(entry)


def _of_assistant(entry: Entry) -> Iterator[Line]:
    found = 0
    for sentence in split(both_ends(entry.text, OWN_CHARACTERS)):
        low = plain(sentence)
        words = words_of(low)
        if decides(low, words):
            yield Line("decision", shorten(sentence, ASK_CHARACTERS), (entry.node,), 0.8)
        elif leaves_open(low, words) and not sentence.endswith(("?", "？")):
            yield Line("open", f'"{shorten(sentence, ASK_CHARACTERS)}"', (entry.node,), 0.8)
        elif found < 3 and (weight := _weight_of_finding(sentence)):
            found += 1
            yield Line("result", shorten(sentence, ASK_CHARACTERS), (entry.node,), weight)


def _weight_of_finding(sentence: str) -> float:
    figures = any(map(str.isdigit, sentence))
    if sentence.endswith(("?", "？")) or len(sentence) < 6 or _FILLER.match(sentence):
        return 0.0
    if _FOUND.search(sentence):
        return 1.4 if figures else 0.9
    return 0.5 if figures or _COMPLETED.search(sentence) else 0.0


def _waiting(turn: _Turn, last: bool) -> Iterator[Line]:
    """The assistant's question that no user message answers."""
    if last and turn.rest and turn.rest[-1].role == "assistant":
        question = _last_question(turn.rest[-1].text)
        if question:
            yield Line(
                "open",
                f'the assistant asked: "{shorten(question, OUTCOME_CHARACTERS)}"',
                (turn.rest[-1].node,),
                0.7,
            )


def _tools(rest: Sequence[Entry]) -> Iterator[Line]:
    """Failures, confirmed files, and in little what tools gave."""
    pending: list[str] = []
    for entry in rest:
        if entry.failed:
            yield _given_up(entry)
        elif entry.role == "assistant":
            pending = list(entry.calls)
        elif entry.role == "tool":
            call = _take(pending, entry.tool)
            if entry.error or _ERROR_START.match(entry.text):
                yield Line("failed", f"{call} → {_error_line(entry.text)}", (entry.node,))
            else:
                yield from _succeeded(call, entry)


def _take(pending: list[str], tool: str) -> str:
    """The first waiting call of this tool, else the first that waits, else the tool's name."""
    for call in pending:
        if call.split("(", 1)[0] == tool:
            pending.remove(call)
            return call
    return pending.pop(0) if pending and not tool else tool or "tool"


def _succeeded(call: str, entry: Entry) -> Iterator[Line]:
    for path in dict.fromkeys(paths(call)):
        yield Line("file", path, (entry.node,), 0.6)
    shown = next((flat(line) for line in entry.text.splitlines() if line.strip()), "")
    if shown:
        yield Line("result", f"{call} → {shorten(shown, 120)}", (entry.node,), 0.3)


def _given_up(entry: Entry) -> Line:
    if entry.role == "note":
        return Line("failed", flat(entry.failed), (entry.node,))
    tried = next(iter(entry.calls), "") or shorten(flat(entry.text), 120) or entry.tool
    reason = shorten(flat(entry.failed), OUTCOME_CHARACTERS)
    return Line("failed", f"{tried} → {reason}" if tried else reason, (entry.node,))


def _error_line(text: str) -> str:
    """The last line that names an error (tracebacks end with it), else the last line with words."""
    lines = [flat(line) for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if _ERROR_LINE.search(line) and not plain(line).startswith("traceback")]
    return shorten((telling or lines or ["error without words"])[-1], OUTCOME_CHARACTERS)


def paths(text: str) -> list[str]:
    """The file paths in a text, in order; none that a cut (`…`) has left a piece of."""
    return [
        found.group() for found in _PATH.finditer(text) if not _NO_PATH.match(found.group()) and _whole(found)
    ]


def _whole(found: re.Match[str]) -> bool:
    text, (start, end) = found.string, found.span()
    return not (_CUT_BEFORE.search(text, max(0, start - 3), start) or _CUT_AFTER.match(text, end))
