"""Compiling from a store: read what belongs to the path, compile, keep what was derived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from ctxtree import facts, memory
from ctxtree.billing import model_key
from ctxtree.compaction import Tools
from ctxtree.compiler import Compiled, Context, compile_path
from ctxtree.counter import TextCounter
from ctxtree.embedding import Embedder, embedder_for
from ctxtree.errors import CtxtreeError, TargetError
from ctxtree.gather import DERIVATION, Ask, Source, count_key, words_now
from ctxtree.history import History
from ctxtree.importers import messages_from
from ctxtree.masking import Mask
from ctxtree.meaning import Fused, Vectors
from ctxtree.memory import Print
from ctxtree.model import Message, Node, clean
from ctxtree.plan import Counter, Epoch, Passage, Summary
from ctxtree.policy import Budget, Policy
from ctxtree.prefix import Sent, prefix_of
from ctxtree.preparing import epoch_key
from ctxtree.recalling import Reader
from ctxtree.render import target as find_target
from ctxtree.report import Signal
from ctxtree.results import Fact
from ctxtree.saying import message_of, object_of, objects_of, parts_of
from ctxtree.store.records import EpochRow
from ctxtree.tokens import counter_for
from ctxtree.trail import Trail


def asked(
    *,
    budget: Budget | int,
    target: str,
    policy: Policy | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    response_format: Mapping[str, Any] | None = None,
    input: Any = None,
    retrieved: Sequence[Any] = (),
    counter: Any = None,
    dialect: str | None = None,
    desk: Desk | None = None,
    mask: Mask | None = None,
) -> Ask:
    """The caller's arguments, checked and in one shape, masked if a mask is given. A desk keeps what its counters have counted."""
    find_target(target)
    said, texts = _input(input), _passages(retrieved)
    if mask is not None:
        said = mask.message(said) if said else None
        texts = tuple(replace(one, text=mask.text(one.text), source=mask.text(one.source)) for one in texts)
    name = "openai.chat" if target == "openai" else target
    return Ask(
        budget=budget if isinstance(budget, Budget) else Budget(budget),
        target=name,
        policy=policy or Policy.hybrid(),
        counter=_counter(counter, name, desk),
        tools=objects_of(tools, "tools"),
        response_format=object_of(response_format, "response_format") if response_format else None,
        input=said,
        retrieved=texts,
        dialect=dialect,
    )


def _counter(counter: Any, target: str, desk: Desk | None) -> Counter:
    if counter is not None and not isinstance(counter, str):
        return counter if hasattr(counter, "factor") else counter_for(counter, target)
    if desk is None:
        return counter_for(counter, target)
    key = (counter or "", target)
    if key not in desk.counters:
        desk.counters[key] = counter_for(counter, target)
    return desk.counters[key].anew()


def _input(given: Any) -> Message | None:
    if given is None or isinstance(given, Message):
        return given if given is None else message_of(given)
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
        return Message(role="user", parts=parts_of(given))
    items = [given] if isinstance(given, Mapping) else [{"role": "user", "content": list(given)}]
    (message,) = messages_from(items, "openai.chat")
    return message


def _passages(given: Any) -> tuple[Passage, ...]:
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise CtxtreeError(f"retrieved texts are a list, not a {type(given).__name__}")
    return tuple(passage(one) for one in given)


def passage(given: Any) -> Passage:
    """A retrieved text: a string, a mapping with `text`, `source` and `score`, or a `Passage`."""
    if isinstance(given, Passage):
        return given
    if isinstance(given, str):
        return Passage(clean(given)[0])
    if isinstance(given, Mapping) and "text" in given:
        text, source = (clean(str(given.get(name, "")))[0] for name in ("text", "source"))
        return Passage(text, source, float(given.get("score", 0.0)))
    raise CtxtreeError(f"a retrieved text is a string or a mapping with 'text', not {type(given).__name__}")


EMBEDDERS = 4
"""Embedders whose vectors a handle holds; over that all go (a new function at each call must not fill the memory)."""


@dataclass(slots=True)
class Desk:
    """What a handle keeps between compiles.

    The reader, the last epoch, the readings of facts, counters by name and target, what is kept of the last request, the alerts that fired,
    vectors by embedder and the erasures that they know of.
    """

    reader: Reader
    epoch: tuple[EpochRow, Epoch] | None = None
    counters: dict[tuple[str, str], TextCounter] = field(default_factory=dict)
    before: Sent | None = None
    fired: tuple[float, ...] = ()
    branch: str | None = None
    vectors: dict[Embedder, Vectors] = field(default_factory=dict)
    erasures: int = 0
    readings: facts.Readings = field(default_factory=facts.Readings)


def source_for(
    history: History, head: str | None, branch: str, known: Sequence[Fact], ask: Ask, desk: Desk
) -> Source:
    """Everything that the store holds for this path and this ask."""
    trail = history.trail(head)
    if ask.policy.recall:
        desk.reader.follow(trail)
    if is_function(ask):  # two functions have one name: nothing that is kept under it may be used
        trail = trail.again(trail.marks)
    epoch = _epoch(history, trail, epoch_key(ask), desk)
    if epoch is not None and epoch.spent and not is_function(ask):
        trail.known(count_key(ask), int(trail.places[epoch.node]) + 1, epoch.spent)
    source = Source(
        trail=trail,
        facts=tuple(known),
        notes=history.notes(trail, epoch.covered.beside if epoch else ()),
        branch=branch,
        epoch=epoch,
        counts={} if is_function(ask) else history.counts(count_key(ask)),
        fired=desk.fired,
    )
    return (
        replace(source, facts=facts.ranked(known, words_now(source, ask), desk.readings)) if known else source
    )


def is_function(ask: Ask) -> bool:
    """True if a function of the caller counts."""
    return ask.counter.name == "function"


def _epoch(history: History, trail: Trail, key: str, desk: Desk) -> Epoch | None:
    row = history.epoch(key, trail)
    if row is None:
        return None
    if desk.epoch is None or desk.epoch[0] is not row:
        epoch = memory.epoch_in(row.data, row.node, key, trail.ids, lambda name: _summary(history, name))
        desk.epoch = row, epoch
    return desk.epoch[1]


def _summary(history: History, key: str) -> Summary | None:
    data = history.database.summary(history.tree, key)
    return memory.summary_in(data) if data else None


def tools_for(history: History, desk: Desk, summarizer: Any, embedder: Any = None) -> Tools:
    """What the driver needs of this handle. Raises CtxtreeError for an embedder that cannot be used."""
    by = getattr(summarizer, "name", None) or getattr(summarizer, "__qualname__", None)
    return Tools(
        _relevance(history, desk, embedder_for(embedder)),
        lambda key: _summary(history, key),
        by=str(by or summarizer or "rules"),
    )


def _relevance(history: History, desk: Desk, embedder: Embedder | None) -> Reader | Fused:
    if desk.erasures != history.erasures:
        desk.vectors.clear()
        desk.erasures = history.erasures
    if embedder is None:
        return desk.reader
    if embedder not in desk.vectors and len(desk.vectors) >= EMBEDDERS:
        desk.vectors.clear()
    held = desk.vectors.setdefault(embedder, Vectors(embedder))
    load = partial(history.database.vectors, history.tree, embedder.name)
    return Fused(desk.reader, held, load)


def told(made: Compiled, tools: Tools) -> Compiled:
    """The same with an alert if the embedder failed."""
    failure = getattr(tools.relevance, "failure", "")
    if not failure:
        return made
    message = f"the embedder failed ({failure}); relevance is by words alone"
    report = made.context.report
    alerts = (*report.alerts, Signal(code="embedder_failed", message=message))
    return replace(made, context=Context(made.context.payload, report.model_copy(update={"alerts": alerts})))


def keep(history: History, source: Source, ask: Ask, made: Compiled, now: Sent, desk: Desk) -> None:
    """Store what was derived: counts, the summary, the epoch and the turn's report."""
    database, tree = history.database, history.tree
    if made.counts and not is_function(ask):
        history.keep_counts(count_key(ask), made.counts)
    history.keep_segments(source.trail, partial(desk.reader.segment, source.trail))
    for held in desk.vectors.values():
        database.put_vectors(tree, held.embedder.name, held.stored())
    if source.facts:
        facts.touch(database, tree, source.facts, words_now(source, ask), desk.readings)
    if made.epoch is not None:
        summary = made.epoch.summary
        if summary is not None and database.summary(tree, summary.key) is None:
            ends = (summary.covered[0], summary.covered[-1]) if summary.covered else ("", "")
            database.put_summary(tree, summary.key, memory.summary_out(summary), *ends)
        database.put_epoch(
            tree, made.epoch.node, made.epoch.key, memory.epoch_out(made.epoch, source.trail.places)
        )
    data = {
        "report": now.report, "fired": made.fired, "print": now.print.pieces, "model": model_key(ask),
        "version": now.version, "budget": now.budget,
    }  # fmt: skip
    database.put_turn(
        tree,
        source.branch,
        now.head,
        datetime.now(UTC),
        memory.payload_hash(made.context.payload),
        memory.pack(data),
    )
    desk.before, desk.fired, desk.branch = now, made.fired, source.branch


def recollect(history: History, branch: str, desk: Desk) -> None:
    """Take up where the last compile on this branch left off, also after a restart."""
    if desk.branch == branch:
        return
    desk.branch, desk.before, desk.fired = branch, None, ()
    rows = history.database.turns(history.tree, branch=branch, limit=1)
    turn = history.database.turn(history.tree, rows[-1].seq) if rows else None
    if turn is not None:
        held = memory.unpack(turn.data)
        print_ = Print(tuple((name, code, size) for name, code, size in held["print"]))
        desk.before = Sent(
            print_, turn.node, held["report"], held.get("budget", {}), held.get("version", DERIVATION)
        )  # fmt: skip
        desk.fired = tuple(held["fired"])


def sent(made: Compiled, source: Source, ask: Ask) -> Sent:
    """What is kept of a request for the next one to be held against."""
    report = memory.report_out(made.context.report, source.trail.places, source.trail.ids)
    head = source.trail.ids[-1] if source.trail.ids else None
    return Sent(Print.of(made.context.payload), head, report, ask.budget.model_dump(mode="json"))


def with_prefix(made: Compiled, now: Sent, before: Sent | None, source: Source) -> tuple[Compiled, Sent]:
    """The same with the report's `prefix` filled in against the request before."""
    prefix = prefix_of(now, before, source.trail.places)
    report = made.context.report.model_copy(update={"prefix": prefix})
    now = replace(now, report={**now.report, "prefix": prefix.model_dump(mode="json")})
    return replace(made, context=Context(made.context.payload, report)), now


def compile_list(
    messages: Sequence[Any],
    ask: Ask,
    summarizer: Any = None,
    format: str = "openai.chat",
    embedder: Any = None,
) -> Context:
    """A plain list in, a context out; nothing is stored, so nothing can be recalled."""
    read = [one for given in messages for one in _as_messages(given, format)]
    nodes: list[Node] = []
    for message in read:
        parents = (nodes[-1].id,) if nodes else ()
        nodes.append(Node.make(message, parents))
    source = Source(Trail(nodes))
    found = embedder_for(embedder)
    relevance = Fused(Reader(), Vectors(found), lambda _nodes: {}) if found else Reader()
    tools = Tools(relevance, recall_ids=False)
    return told(compile_path(source, ask, tools, summarizer), tools).context


def _as_messages(given: Any, format: str) -> list[Message]:
    if isinstance(given, Message):
        return [given]
    if isinstance(given, Mapping):
        return messages_from([given], format)
    raise TargetError("bad_message", f"a message is a Message or a mapping, not {type(given).__name__}")
