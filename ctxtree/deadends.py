"""Failed attempts beside a path, and the one line that a model is told of each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ctxtree import effects, notices
from ctxtree.model import Node, ToolCall
from ctxtree.outages import Outage, outage, services
from ctxtree.shapes import shape
from ctxtree.summarizers.entries import brief_call
from ctxtree.tree import DeadEnd, is_failure
from ctxtree.worked import Worked, proofs, same_call

LONGEST = 160
"""Characters of one part of a note."""

SHORTER = (60, 20)
"""Characters of one part of the shorter forms; a reason has 40 more."""

Telling = Callable[[str, int], str]
"""Text and a limit in characters -> its most telling line."""


@dataclass(frozen=True, slots=True)
class Note:
    """One note: where it stands, the attempts that it tells of, its words.

    `shorter` forms are for small budgets, `lesson` is for a summary. `worked`: the place on the path where what failed has
    worked since; from then on only `after` is left to tell (nothing, if empty).
    """

    anchor: str
    nodes: tuple[str, ...]
    text: str
    shorter: tuple[str, ...] = ()
    lesson: str = ""
    worked: float | None = None
    after: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A dead end as it was read: the last failure in it that nothing in it made good, and what it did to the world.

    `key` is equal for equal failures; `failures` are the results that failed so.
    """

    end: DeadEnd
    key: Hashable
    said: str
    tried: str
    call: ToolCall | None
    outcome: str
    outage: Outage | None
    failures: frozenset[tuple[str, str]]
    when: datetime | None
    done: tuple[tuple[str, str], ...]


def notes(
    dead_ends: Sequence[DeadEnd], telling: Telling, places: Mapping[str, float], worked: Worked,
    memo: dict[tuple[str, ...], Attempt] | None = None,
) -> tuple[Note, ...]:  # fmt: skip
    """One note for each kind of failure at each place; equal failures are told once, with their number.

    A kind that is told further up the path comes again in brief, with the number of all, so that what stands
    above keeps its words. An attempt that did not fail is told only for what it did and was not undone. In order of
    the newest attempt of each note, oldest first. `memo` keeps what was read between calls.
    """
    groups: dict[tuple[Hashable, str], list[Attempt]] = {}
    kinds: dict[Hashable, list[Attempt]] = {}
    for dead_end in dead_ends:
        attempt = _remembered(dead_end, telling, memo)
        kind = attempt.key if dead_end.failed else None
        group = groups.pop((kind, dead_end.anchor), [])
        groups[kind, dead_end.anchor] = [*group, attempt]
        kinds.setdefault(kind, []).append(attempt)
    told: set[tuple[str, str]] = set()
    made = []
    for (kind, anchor), attempts in groups.items():
        done = _done(attempts, told)
        if kind is None:
            made += [_left(anchor, attempts, done)] if done else []
            continue
        here = places.get(anchor, -1.0)
        above = [one for one in kinds[kind] if places.get(one.end.anchor, -1.0) < here]
        made.append(_note(anchor, _Group(attempts, above, done), places, worked))
    return tuple(made)


def _remembered(dead_end: DeadEnd, telling: Telling, memo: dict[tuple[str, ...], Attempt] | None) -> Attempt:
    if memo is None:
        return read(dead_end, telling)
    name = (
        dead_end.anchor,
        dead_end.nodes[-1].id,
        dead_end.reason,
        str(dead_end.failed),
        repr(dead_end.effects),
    )
    if name not in memo:
        memo[name] = read(dead_end, telling)
    return memo[name]


@dataclass(slots=True)
class _Failure:
    """One kind of failure in an attempt."""

    call: ToolCall | None
    tool: str
    outcome: str
    outage: Outage | None
    when: datetime | None
    results: set[tuple[str, str]] = field(default_factory=set)


def read(dead_end: DeadEnd, telling: Telling) -> Attempt:
    """What was tried, what came out, what it did. Cost: one step a node of the attempt."""
    held: dict[Hashable, _Failure] = {}
    calls: dict[str, ToolCall] = {}
    for node in dead_end.nodes:
        calls.update((call.id, call) for call in node.message.calls)
        for result in node.message.results:
            call = calls.get(result.call_id)
            if not is_failure(result):
                held = {key: one for key, one in held.items() if call is None or not _makes_good(call, one)}
                continue
            dead = outage(call, result.text, result.name or "")
            outcome = cut(notices.one_line(telling(result.text, LONGEST)), LONGEST)
            tool = call.name if call else result.name or "a tool"
            key: Hashable = dead or (same_call(call) if call else tool, shape(outcome))
            failure = held.pop(key, None) or _Failure(call, tool, outcome, dead, None)
            failure.call, failure.outcome, failure.when = call, outcome, node.created_at
            failure.results.add((node.id, result.call_id))
            held[key] = failure
    said = _said(dead_end.nodes)
    done = (
        effects.effects(dead_end.nodes)
        if dead_end.effects is None
        else tuple(("", what) for what in dead_end.effects)
    )
    if not held:
        tried = _last_calls(dead_end.nodes)
        return Attempt(dead_end, ("words", said, tried), said, tried, None, "", None, frozenset(), None, done)
    kind, last = list(held.items())[-1]
    tried = brief_call(last.call) if last.call else last.tool
    return Attempt(
        dead_end, kind, said, tried, last.call, last.outcome, last.outage, frozenset(last.results), last.when, done
    )  # fmt: skip


def _makes_good(call: ToolCall, failure: _Failure) -> bool:
    return not {same_call(call), *services(call)}.isdisjoint(proofs(failure.call, failure.outage))


def _done(attempts: Sequence[Attempt], told: set[tuple[str, str]]) -> tuple[str, ...]:
    """What these attempts did and no note before has told: attempts may share their first steps."""
    fresh = [done for attempt in attempts for done in attempt.done if done not in told]
    told.update(done for done in fresh if done[0])
    return tuple(what for _, what in fresh)


def _left(anchor: str, attempts: Sequence[Attempt], done: tuple[str, ...]) -> Note:
    full, *shorter = (
        notices.left_behind(_phrase(done, limit), len(attempts)) for limit in (LONGEST, *SHORTER)
    )
    return Note(anchor, _nodes(attempts), full, tuple(shorter), full)


@dataclass(frozen=True, slots=True)
class _Group:
    """Equal failures at one place, those of the same kind further up, and what the attempts did."""

    attempts: Sequence[Attempt]
    above: Sequence[Attempt]
    done: tuple[str, ...]

    @property
    def service(self) -> str:
        """What did not answer, and how."""
        dead = self.attempts[-1].outage
        return f"{dead.service} {notices.WHAT_FAILED[dead.kind]}" if dead else ""

    @property
    def reason(self) -> str:
        """The newest reasons that were given."""
        reasons = dict.fromkeys(
            notices.one_line(one.end.reason) for one in self.attempts if one.end.reason.strip()
        )
        return cut("; ".join(list(reasons)[-3:]), LONGEST)

    def words(self, limit: int) -> str:
        """The note, its parts cut to `limit` characters, the reason to 40 more."""
        return notices.dead_end(
            _tried(self.attempts, limit), cut(self.attempts[-1].outcome, limit), cut(self.reason, min(LONGEST, limit + 40)),
            _times([*self.above, *self.attempts]), again=bool(self.above), service=self.service, done=_phrase(self.done, limit),
        )  # fmt: skip

    def lesson(self) -> str:
        """The note in a summary; of a dead service without what was asked of it, so that all of them are one."""
        call, service, done = self.attempts[-1].call, self.service, _phrase(self.done, LONGEST)
        if service:
            service = f"{call.name if call else 'a tool'}: {service}"
            return notices.lesson("", "", self.reason, _times(self.attempts), service=service, done=done)
        tried = _tried(self.attempts, LONGEST)
        return notices.lesson(tried, self.attempts[-1].outcome, self.reason, _times(self.attempts), done=done)

    def after(self) -> str:
        """What is left to tell once the same has worked."""
        parts = [notices.outlived(self.reason)] if self.reason else []
        parts += [notices.left_behind(_phrase(self.done, LONGEST), len(self.attempts))] if self.done else []
        return "\n".join(parts)


def _note(anchor: str, group: _Group, places: Mapping[str, float], worked: Worked) -> Note:
    wanted = {proof for one in group.attempts for proof in proofs(one.call, one.outage)}
    since = worked.since(wanted, places.get(anchor, -1.0), group.attempts[-1].when)
    full, *shorter = map(group.words, SHORTER if group.above else (LONGEST, *SHORTER))
    return Note(
        anchor, _nodes(group.attempts), full, tuple(shorter), group.lesson(), since, group.after()
    )  # fmt: skip


def _phrase(done: Sequence[str], limit: int) -> str:
    return notices.one_line(effects.told(done, limit))


def _nodes(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    return tuple(node.id for attempt in attempts for node in attempt.end.nodes)


def _times(attempts: Sequence[Attempt]) -> int:
    """How often it failed: each result once, and an attempt without a failed result once."""
    results = {result for attempt in attempts for result in attempt.failures}
    return len(results) + sum(not attempt.failures for attempt in attempts)


def _tried(attempts: Sequence[Attempt], limit: int) -> str:
    """The calls that failed and the words beside them, each once, the newest in full."""
    calls = list(dict.fromkeys(one.tried for one in attempts if one.tried))
    said = list(dict.fromkeys(one.said for one in attempts if one.said))[-3:]
    line = cut(notices.one_line(", ".join(calls[-2:])), limit)
    line += f" and {len(calls) - 2} more like it" if len(calls) > 2 else ""
    words = " / ".join(f'"{cut(words, max(20, limit // 2 // len(said)))}"' for words in said)
    return f"{line} ({words})" if line and words else line or words


def _last_calls(nodes: Sequence[Node]) -> str:
    return ", ".join([brief_call(call) for node in nodes for call in node.message.calls][-2:])


def _said(nodes: Sequence[Node]) -> str:
    """The first words of the attempt, in brief."""
    words = next((node.text for node in nodes if node.role == "assistant" and node.text.strip()), "")
    return cut(notices.one_line(words[:400]), 80)


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
