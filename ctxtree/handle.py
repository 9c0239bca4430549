"""A `Tree`: one conversation seen from one head, and everything that can be done with it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

from ctxtree import billing, branching, compiling, exporting, facts, memory, merging, moves, planning, syncing
from ctxtree.compiler import Context, acompile_path, compile_path
from ctxtree.drawing import Choice, Drawing
from ctxtree.errors import CtxtreeError, FormatError, NotFound, PolicyError
from ctxtree.facts import Scope
from ctxtree.history import History, OnPath
from ctxtree.masking import Mask, mask_for
from ctxtree.masking.view import Masked
from ctxtree.model import Mark, Message, Node, ToolCall, clean
from ctxtree.naming import check_name, next_name
from ctxtree.planner import Prices, WatermarkPlan
from ctxtree.policy import Budget
from ctxtree.recalling import Reader
from ctxtree.resolve import Resolution
from ctxtree.results import Backtrack, Branch, Diff, Fact, Turn
from ctxtree.saying import message_of, messages_of, object_of, parts_of, patch_text, result_of
from ctxtree.store.records import Draft
from ctxtree.tree import fold_state
from ctxtree.usage import Used

if TYPE_CHECKING:
    from ctxtree.api import Store


_NEVER = datetime.min.replace(tzinfo=UTC)


class Tree:
    """One conversation and all its branches, seen from one head. For one thread or task.

    The handle keeps its own active branch; another process's moves never move it.
    """

    def __init__(self, store: Store, history: History, name: str, branch: str) -> None:
        self.store, self.name = store, name
        self._history = history
        self._database = history.database
        self._branch = branch
        row = self._database.branch(history.tree, branch)
        self._head: str | None = row.head if row else None
        self._desk = compiling.Desk(Reader(history.words))
        self._mask: Mask | None = None

    # -- where we are ------------------------------------------------------------------

    @property
    def branch(self) -> str:
        return self._branch

    @property
    def head(self) -> Node | None:
        return self._history.node(self._head) if self._head else None

    def path(self, at: str | Node | None = None) -> tuple[Node, ...]:
        """Root to the head, or to `at`."""
        return self._history.path(self._head if at is None else self._id(at))

    def node(self, ref: str | Node) -> Node:
        """The node that a full id, a unique prefix of 8 digits, a branch, a label or `HEAD~2` names."""
        identity = self._id(ref)
        node = self._history.node(identity) if identity else None
        if node is None:
            raise NotFound(f"{ref!r} names no node: the branch is empty")
        return node

    def branches(self) -> tuple[Branch, ...]:
        """All branches with their heads, in the order in which they were made. Cost: one path each."""
        bills = billing.bills(self._history)
        rows = []
        for row in self._database.branches(self._history.tree):
            path = self._database.path(self._history.tree, row.head) if row.head else ()
            tokens = sum(self._count(path).values())
            used = sum((bills[node.id] for node in path if node.id in bills), Used())
            rows.append(
                Branch(
                    row.name, row.head, row.parent, row.fork, row.status, len(path), tokens, row.updated,
                    row.name == self._branch, used,
                )
            )  # fmt: skip
        return tuple(rows)

    # -- saying things -----------------------------------------------------------------

    def append(
        self,
        message: Message | Mapping[str, Any],
        at: str | Node | None = None,
        key: str | None = None,
        created_at: datetime | None = None,
    ) -> Node:
        """Store a message below the head, or below `at` on a branch of its own; the branch moves to it.

        The same `key` gives the same node, so that an append whose answer was lost can be sent again.
        A tool result is put where its call is, whatever branch is active.
        """
        said = message_of(message)
        if at is None and said.results:
            return self._append_result(said, key, created_at)
        if at is not None and self._id(at) != self._head:
            self._open(None, self._id(at))
        return self._add([Draft(said, created_at or datetime.now(UTC), key)])[-1]

    def extend(self, messages: Sequence[Any], format: str = "openai.chat") -> tuple[Node, ...]:
        """Store many messages in one transaction."""
        now = datetime.now(UTC)
        return self._add([Draft(message, now) for message in messages_of(messages, format)])

    def sync(self, messages: Sequence[Any], format: str = "openai.chat") -> tuple[Node, ...]:
        """Take a client's whole list: what is known is recognised, only the new tail is stored.

        An edited history becomes a branch. Gives the nodes that were added.
        """
        return syncing.sync(self, messages_of(messages, format))

    def user(self, text: str | Sequence[Any], **options: Any) -> Node:
        return self.append(Message(role="user", parts=parts_of(text)), **options)

    def assistant(
        self, text: str | Sequence[Any] | None = None, calls: Sequence[ToolCall] = (), **options: Any
    ) -> Node:
        return self.append(Message(role="assistant", parts=(*parts_of(text), *calls)), **options)

    def tool(
        self,
        call_id: str,
        text: str | Sequence[Any],
        error: bool = False,
        name: str | None = None,
        **options: Any,
    ) -> Node:
        """The result of a call. `error=True` marks it as failed."""
        result = result_of(call_id, text, error, name)
        return self.append(Message(role="tool", parts=(result,)), **options)

    def system(self, text: str, **options: Any) -> Node:
        """A further system message, from here on."""
        return self.append(Message.of("system", text), **options)

    # -- moving ------------------------------------------------------------------------

    def fork(self, name: str, at: str | Node | None = None) -> str:
        """A new branch at a node, active from now on. Copies nothing."""
        check_name(name, "branch")
        self._open(name, self._head if at is None else self._id(at))
        return name

    def switch(self, name: str) -> Node | None:
        """Make another branch active; its head."""
        row = self._database.branch(self._history.tree, name)
        if row is None:
            raise NotFound(f"no branch {name!r}")
        self._branch, self._head = name, row.head
        self._database.activate(self._history.tree, name)
        return self.head

    def retry(
        self, reason: str | None = None, at: str | Node | None = None, effects: Sequence[str] | None = None
    ) -> Node | None:
        """Mark the newest attempt and go back to the step before it; the next append is the next attempt.

        The attempt starts at the first assistant step after the last user message, or after `at`.
        It is `failed`, and told to the model in one line, if there is a reason or an error in it;
        else it is `abandoned`. Gives the node gone back to. The model is also told what the attempt did to the
        world and nothing has undone: files written, messages sent, judged by tool names, or what `effects`
        says in your words (an empty list: all of it was undone).
        """
        return branching.retry(self, reason, at, effects)

    def edit(self, node: str | Node, text: str | Sequence[Any]) -> Node:
        """A sibling of a node with new words, on a new branch; the old one stays."""
        return branching.edit(self, node, text)

    def find(self, words: str) -> Resolution:
        """The nodes that words like "go back to that plan" may mean, best first; nothing moves.

        Raises `NoBacktrack` if `words` is no text.
        """
        return branching.find(self, words)

    def backtrack(
        self, words: str, reason: str | None = None, choice: str | Node | None = None,
        effects: Sequence[str] | None = None,
    ) -> Backtrack:  # fmt: skip
        """Fork where the words point and mark what was left: failed if there is a reason or it ended in an error, else abandoned.

        Raises `AmbiguousBacktrack` or `NoBacktrack` rather than guess; `choice` names the candidate meant.
        `effects`: what was done and not undone, as for `retry`.
        """
        return branching.backtrack(self, words, reason, choice, effects)

    def undo(self) -> Node | None:
        """Take back the move that led to the active branch: its origin is active again, its mark as before.

        A second undo there makes the move again. No node is changed or lost. Raises `NoBacktrack` without a move.
        """
        return moves.undo(self)

    def merge(self, branch: str, note: str | None = None) -> Node:
        """One node on the active branch that tells what another branch found, and where; merging twice adds nothing.

        `note` stands in place of the findings. A branch that has grown since its last merge is told from there on.
        Fields of the state that only the branch has changed are taken over, as a state node before the note; those that
        both have changed stay, and the note and its mark `merged` tell of the conflict.
        """
        return merging.merge(self, branch, note)

    def diff(self, a: str | Node | None, b: str | Node | None) -> Diff:
        """The last common node of two places, and what each knows that the other does not: nodes and state.

        What a merge or a pick has brought over is known.
        """
        return merging.diff(self, a, b)

    def pick(self, nodes: str | Node | Sequence[str | Node]) -> tuple[Node, ...]:
        """Copies of nodes of other branches below the head, in the order given; a call comes with all its results.

        Each copy has a mark `picked` with the id of its original; what already stands on the path is not copied
        again. Gives the nodes that stand there for what was picked. Raises `NotFound` for an erased node.
        """
        return merging.pick(self, nodes)

    # -- marks, state, facts -----------------------------------------------------------

    def mark(
        self,
        node: str | Node,
        status: str | None = None,
        reason: str | None = None,
        pin: bool | None = None,
        importance: float | None = None,
        effects: Sequence[str] | None = None,
    ) -> None:
        """Say something about a node: `status` ok, failed or abandoned; a later mark takes it back.

        `effects`: what an attempt that ends here did and nothing has undone; an empty list: nothing is left of it.
        """
        identity = self.node(node).id
        if importance is not None and not (isinstance(importance, int | float) and isfinite(importance)):
            raise PolicyError(f"importance is {ascii(importance)[:40]}; it must be a number")
        given: dict[str, Any] = {"pin": pin, "importance": importance}
        values = {name: value for name, value in given.items() if value is not None}
        if status is not None or reason is not None:
            if reason is not None and not isinstance(reason, str):
                raise FormatError("reason", 0, f"a {type(reason).__name__}; it must be a text")
            if status not in (None, "ok", "failed", "abandoned"):
                raise NotFound(f"no status {status!r}; it is ok, failed or abandoned")
            values["status"] = {"status": status or "failed", "reason": clean(reason or "")[0]}
        if effects is not None:
            if isinstance(effects, str):
                raise CtxtreeError("effects are a list of texts, one for each thing that was done")
            values["effects"] = [clean(str(what))[0] for what in effects]
        self._mark(identity, values)

    def label(self, node: str | Node, text: str) -> None:
        check_name(text, "label")
        self._mark(self.node(node).id, {"label": clean(text)[0]})

    def pin(self, node: str | Node, pinned: bool = True) -> None:
        self.mark(node, pin=pinned)

    def fail(self, node: str | Node, reason: str) -> None:
        self.mark(node, status="failed", reason=reason)

    def marks(self, node: str | Node) -> dict[str, Any]:
        """The marks of a node that hold now, the bulky ones included."""
        rows = self._database.marks(self._history.tree, [self.node(node).id])
        return {row.name: row.value for row in rows}

    @property
    def state(self) -> dict[str, Any]:
        """The state object here: all patches on the path, in order."""
        return fold_state(self.path())

    def set_state(self, **fields: Any) -> Node:
        return self.patch_state(fields)

    def patch_state(self, merge_patch_: Mapping[str, Any]) -> Node:
        """Store a merge patch (RFC 7396) below the head; null takes a field away."""
        text = patch_text(merge_patch_)
        return self._add([Draft(Message.of("state", text), datetime.now(UTC))])[-1]

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Facts of this branch, of this tree and of the store, last used first."""
        return self._facts_at(self._head)

    def _facts_at(self, head: str | None) -> tuple[Fact, ...]:
        own = facts.facts(self._database, self._history.tree, OnPath(self._history, head))
        return tuple(sorted((*own, *self.store.facts), key=lambda fact: fact.used_at or _NEVER, reverse=True))

    def remember(self, text: str, key: str | None = None, scope: Scope = "tree") -> Fact:
        """Keep a fact for good: in all of the tree, from the head on (`branch`), or in all trees (`store`).

        What says nearly the same, or gives the same thing another value, is one fact with it, as is the same key: the
        later wording holds, the earlier stays in its history. Raises `StoreError` without words.
        """
        return facts.remember_at(
            self._database, self._history.tree, text, key, scope, self._head,
            OnPath(self._history, self._head), self._desk.readings,
        )  # fmt: skip

    def forget(self, key: str) -> None:
        """Let go of a fact: of this branch, from the head on, if it holds there, else of the tree. Its history stays."""
        facts.forget(self._database, self._history.tree, key, self._head, OnPath(self._history, self._head))

    def fact_history(self, key: str) -> tuple[Fact, ...]:
        """Every wording that a fact had here, oldest first; an empty text where it was let go of."""
        return facts.history(self._database, self._history.tree, key, OnPath(self._history, self._head))

    def evict_facts(self, keep: int) -> tuple[Fact, ...]:
        """Let go of all facts of the tree but the `keep` used last; those let go of. Facts of branches stay."""
        return facts.evict(self._database, self._history.tree, keep)

    def record_usage(
        self, node: str | Node, usage: Mapping[str, Any], context: Context | None = None
    ) -> None:
        """Keep a provider's usage, as it came, with the answer that it was for.

        It is held against the compile that made `context`, else the newest one on the node's path, and
        corrects the factor between our count and the model's own from the next compile on.
        """
        identity = self.node(node).id
        billing.record(self._history, self.path(identity), usage, context)
        self._mark(identity, {"usage": object_of(usage, "usage")})

    # -- compiling ---------------------------------------------------------------------

    def compile(
        self, at: str | Node | None = None, *, budget: Budget | int, target: str = "openai.chat",
        summarizer: Any = None, embedder: Any = None, record: bool = True, **ask: Any,
    ) -> Context:  # fmt: skip
        """The request for this path, and the report of it. Raises `BudgetError` or `TargetError`.

        `embedder`: texts -> vectors, or "wordllama"; relevance is then by words and by meaning. Vectors
        are stored under its `name`, if it has one.
        """
        asked, source = self._source(at, budget, target, ask)
        tools = compiling.tools_for(self._history, self._desk, summarizer, embedder)
        made = compiling.told(compile_path(source, asked, tools, summarizer), tools)
        return self._finish(source, asked, made, record)

    async def acompile(
        self, at: str | Node | None = None, *, budget: Budget | int, target: str = "openai.chat",
        summarizer: Any = None, embedder: Any = None, record: bool = True, **ask: Any,
    ) -> Context:  # fmt: skip
        """`compile` with an asynchronous summarizer."""
        asked, source = self._source(at, budget, target, ask)
        tools = compiling.tools_for(self._history, self._desk, summarizer, embedder)
        made = compiling.told(await acompile_path(source, asked, tools, summarizer), tools)
        return self._finish(source, asked, made, record)

    def plan(
        self, budget: Budget | int, prices: Prices | None = None, *, keep: float | None = None,
        at: str | Node | None = None, target: str = "openai.chat", summarizer: Any = None, **ask: Any,
    ) -> WatermarkPlan:  # fmt: skip
        """The watermarks for which requests like those of this path cost least, and when a compaction has paid for itself.

        `keep`: the share of what is available that a compaction must leave (.4); the rest as for `compile`. Writes nothing.
        """
        asked, source = self._source(at, budget, target, ask)
        return planning.plan_for(source, asked, prices or Prices(), keep, summarizer)

    def _source(
        self, at: str | Node | None, budget: Budget | int, target: str, ask: dict[str, Any]
    ) -> tuple[Any, Any]:
        asked = compiling.asked(budget=budget, target=target, desk=self._desk, mask=self._mask, **ask)

        def read() -> tuple[Any, Any]:
            held = billing.calibrated(self._history, asked)
            head = self._head if at is None else self._id(at)
            branch = self._branch if head == self._head else ""
            compiling.recollect(self._history, branch, self._desk)
            known = facts.nearest(self._facts_at(head), self._desk.readings)
            return held, compiling.source_for(self._history, head, branch, known, held, self._desk)

        return self._database.together(read, writing=False)

    def _finish(self, source: Any, asked: Any, made: Any, record: bool) -> Context:
        now = compiling.sent(made, source, asked)
        made, now = compiling.with_prefix(made, now, self._desk.before, source)
        if record:
            keep = partial(compiling.keep, self._history, source, asked, made, now, self._desk)
            self._database.together(keep, writing=True, tree=self._history.tree)
            for held in self._desk.vectors.values():
                held.fresh.clear()
        return made.context  # type: ignore[no-any-return]

    def turns(self, limit: int | None = None) -> tuple[Turn, ...]:
        """Past compiles, newest last, each with its whole report."""
        turns = []
        for row in reversed(self._database.turns(self._history.tree, limit=limit)):
            whole = self._database.turn(self._history.tree, row.seq)
            path = [node.id for node in self.path(row.node)] if row.node else []
            report = memory.report_in(memory.unpack(whole.data)["report"], path) if whole else {}
            report = self._mask.value(report) if self._mask else report
            turns.append(Turn(row.seq, row.branch, row.node, row.at, row.payload_hash, report))
        return tuple(turns)

    def recall(self, id: str) -> str:
        """The whole of what was condensed, by the id in its notice: the results of a node, or its words."""
        node = self.node(id)
        results = [result.text for result in node.message.results]
        if results:
            return "\n".join(results)
        calls = [json.dumps(call.arguments, ensure_ascii=False) for call in node.message.calls]
        return node.text or "\n".join(calls)

    # -- looking at it -----------------------------------------------------------------

    def graph(self) -> Any:
        """A networkx `DiGraph`, parent to child; attributes role, status, label, tokens, branch."""
        return exporting.graph(self)

    def draw(self, style: str = "outline", *, limit: int = 0, page: int = 1, **choice: Any) -> Drawing:
        """The tree as lines: `outline`, or `lanes` (the log as a graph, newest first). `str()` gives the text.

        `limit`: lines of a page, or nodes of the log; 0 for all. The rest as for `ctxtree.drawing.Choice`: `branches`, `kinds`,
        `statuses`, `fold`. What is not drawn is told in `left_out`.
        """
        return exporting.draw(self, style, Choice(**choice), limit, page)

    def draw_diff(self, a: str | Node, b: str | Node, limit: int = 20) -> Drawing:
        """What two places share and what each has beyond it, drawn; at most `limit` nodes a side (0: all)."""
        return exporting.draw_diff(self, a, b, limit)

    def export(
        self, format: str = "openai.chat", at: str | Node | None = None, *, redact: bool | Collection[str] = False, **choice: Any,
    ) -> Any:  # fmt: skip
        """The path as `openai.chat` or `anthropic` messages or `markdown`; the whole tree as `ctxtree`, `html`, `mermaid` or `dot`.

        With `at`, the last three show the path to a node. `choice`, for these: `branches`, `kinds`, `statuses`, `fold`.
        `redact`: True masks secrets, names mask those as well (see `redacted`).
        """
        there = self.redacted(() if redact is True else tuple(redact)) if redact else self
        return exporting.export(there, format, at, Choice(**choice))

    def redacted(self, also: Collection[str] = ()) -> Tree:
        """This tree, seen through a mask: everything that leaves it, requests and reports too, is without secrets.

        API keys, tokens, private keys and passwords stand as `[redacted: kind]`; `also`: "email", "detect-secrets"
        (`ctxtree[redact]`). What is stored stays as it is, and so does reasoning that a provider has signed. The view only
        reads: it keeps reports and summaries of its own, but nothing can be said or moved in it.
        """
        mask = mask_for(tuple(also))
        hidden: Any = Masked(self._database, mask)
        view = Tree(
            type(self.store)(hidden), History(hidden, self._history.tree), mask.text(self.name), self._branch
        )
        view._head, view._mask = self._head, mask
        return view

    # -- inside ------------------------------------------------------------------------

    def _id(self, ref: str | Node | None) -> str | None:
        if ref is None or isinstance(ref, Node):
            return ref.id if ref is not None else None
        return self._history.resolve(ref, self._head)

    def _count(self, path: Sequence[Node]) -> dict[str, int]:
        from ctxtree.tokens import counter_for, message_tokens

        held = self._history.counts("o200k_base/openai/1")
        counter = counter_for("o200k_base")
        fresh = {node.id: message_tokens(node.message, counter) for node in path if node.id not in held}
        if fresh:
            self._history.keep_counts("o200k_base/openai/1", fresh)
        return {node.id: held.get(node.id, fresh.get(node.id, 0)) for node in path}

    def _add(self, drafts: Sequence[Draft]) -> tuple[Node, ...]:
        if not drafts:
            return ()
        done = self._database.append(self._history.tree, self._head, drafts, self._branch)
        if done.forked:
            warnings.warn(
                f"another writer moved branch {self._branch!r}; these nodes are on {done.branch!r}",
                stacklevel=3,
            )
        self._history.extend(done.nodes)
        self._branch, self._head = done.branch, done.nodes[-1].id
        return tuple(done.nodes)

    def _append_result(self, said: Message, key: str | None, created_at: datetime | None) -> Node:
        return syncing.append_result(self, Draft(said, created_at or datetime.now(UTC), key))

    def _open(self, name: str | None, head: str | None) -> None:
        """A new active branch; without a name it gets the next free one, also while others take names."""
        tree = self._history.tree

        def made() -> str:
            chosen = self._auto() if name is None else name
            self._database.create_branch(tree, chosen, head, parent=self._branch, fork=head)
            self._database.activate(tree, chosen)
            return chosen

        self._branch = self._database.together(made, writing=True, tree=tree)
        self._head = head

    def _auto(self) -> str:
        taken = {row.name for row in self._database.branches(self._history.tree)}
        return next_name(self._branch, taken)

    def _mark(self, identity: str, values: Mapping[str, Any]) -> None:
        now = datetime.now(UTC)
        marks = [Mark(node=identity, name=name, value=value, at=now) for name, value in values.items()]
        self._database.add_marks(self._history.tree, marks)

    def _set_system(self, text: str) -> None:
        path = self.path()
        marks = self._history.marks()
        slots = [node for node in path if node.role == "system" and marks.get(node.id, {}).get("slot")]
        if slots and slots[-1].text == clean(text)[0]:
            return
        if not slots and path and path[0].role in ("system", "developer") and path[0].text == clean(text)[0]:
            return
        self._add([Draft(Message.of("system", clean(text)[0]), datetime.now(UTC), marks=(("slot", True),))])
