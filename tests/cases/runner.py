"""One case after the other: its operations on a tree of its own, its requests checked."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import networkx

import ctxtree
from ctxtree import (
    Budget,
    BudgetError,
    CtxtreeError,
    FormatError,
    Message,
    Node,
    Policy,
    TargetError,
    ToolCall,
)
from ctxtree.importers import messages_from
from ctxtree.model import clean
from tests.cases import budgets, exits, fakes, generate, stress, terms
from tests.cases.budgets import Unsupported
from tests.validity import violations

TARGETS = ("openai.chat", "openai.responses", "anthropic")


class Run:
    """The state of one case while it runs."""

    def __init__(self, case: dict[str, Any], given: dict[str, Any], inputs: Path, out: Path | None) -> None:
        self.case, self.given, self.inputs, self.out = case, given, inputs, out
        self.store = ctxtree.connect(":memory:")
        self.tree = self.store.tree("case")
        self.ids: dict[str, str] = {}
        self.violations: list[str] = []
        self.signals: list[str] = []
        self.compiles: list[dict[str, Any]] = []
        self.at = ""
        self.made: list[tuple[str, Any]] = []
        self.exported = ""
        self.sent: dict[str, str] = {}

    def run(self) -> None:
        self._nodes(self.given.get("nodes", ()))
        if isinstance(self.given.get("gen"), str):
            self._nodes(generate.chain(self.given["gen"]))
        if "items" in self.given:
            self.tree.extend(self.given["items"], format="openai.responses")
        if "text" in self.given and not self.tree.path():
            exits.say_everywhere(self.tree, self.given["text"])
        lacking: list[str] = []
        for op in self.given.get("ops", ()) or self.case["input"].get("ops", ()):
            if "sibling" in op["op"].lower():
                self._sibling()
                continue
            if op["op"] not in ("compile", "close_and_reopen_store", "count", "export", "inspect", "switch"):
                self.sent.clear()
            method = getattr(self, "op_" + re.sub(r"\W+", "_", op["op"]), None)
            if method is None:
                lacking.append(op["op"])
                continue
            method(op)
        if self.made:
            self.violations += terms.unmet(self.case, self.made)
        if lacking:
            raise Unsupported(f"{', '.join(lacking)}: the public API has no such operation")

    def _nodes(self, nodes: Any) -> None:
        for node in nodes:
            parent = self.ids.get(node.get("parent") or "")
            self._stand(parent)
            made = self.tree.extend(_messages(node))
            self.ids[node["id"]] = made[-1].id
            if node.get("pin"):
                self.tree.pin(made[-1])
            stop = (node.get("meta") or {}).get("stop")
            if stop:
                self.tree._mark(made[-1].id, {"stop": stop})

    def _stand(self, at: str | None) -> None:
        head = self.tree.head
        if (head.id if head else None) != at and (at is not None or head is not None):
            if at is None:
                self.tree._open(self.tree._auto(), None)
            else:
                self.tree.fork(self.tree._auto(), at)

    def _id(self, name: str | None) -> str | None:
        if name is None:
            return None
        if name in self.ids:
            return self.ids[name]
        if name.startswith("<"):
            return self.tree.head.id if self.tree.head else None
        found = [node.id for node in self.tree.path() if node.text == name]
        if found:
            return found[-1]
        raise Unsupported(f"node {name!r}")

    def op_import(self, op: dict[str, Any]) -> None:
        if "items" in self.given:
            return
        for name in self.case.get("input_files", ()):
            try:
                report = self.store.import_file(self.inputs / Path(name).name)
            except FormatError as error:
                self._refused(error, [])
                continue
            self.signals += sorted({issue.code for issue in report.issues})
            if report.conversations:
                self.tree = self.store.tree(report.conversations[0].tree)
        if not self.case.get("input_files") and "gen" not in self.given:
            raise Unsupported("import without a file")
        self._import_nested(str(self.given.get("gen") or ""))

    def _import_nested(self, wish: str) -> None:
        deep = generate.nested(wish)
        if not deep:
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "nested.json"
            path.write_text(deep, encoding="utf-8")
            (made,) = self.store.import_file(path, name="nested").conversations
        tree = self.store.tree("nested")
        if len(tree.path()) != made.messages or made.issues:
            self.violations.append(f"{len(tree.path())} of {made.messages} nested messages on the path")
        self.violations += violations("anthropic", tree.compile(budget=4_000, target="anthropic").payload)

    def op_compile(self, op: dict[str, Any]) -> None:
        at, self.at = self._id(op.get("at")), op.get("at") or ""
        targets = [op["target"]] if op.get("target") else list(TARGETS)
        for target in targets:
            ask: dict[str, Any] = {"at": at, "target": target}
            tools = op.get("tools_order") or self.given.get("tools")
            if tools:
                ask["tools"] = generate.tools(tools)
            if op.get("summariser"):
                ask["summarizer"] = fakes.fake(op["summariser"])
            if op.get("dialect") and target == "openai.chat":
                ask["dialect"] = op["dialect"]
            if op.get("policy"):
                ask["policy"] = getattr(Policy, op["policy"])()
            if op.get("keep_tail") or op.get("force_summary_of"):
                ask["policy"] = Policy.hybrid(turns=1)
            for window in self._windows(op.get("budget"), ask):
                for _ in range(op.get("repeat", 1)):
                    self._compile(
                        ask, Budget(window, reserve=op.get("reserve_output", 0)), bool(op.get("redact"))
                    )

    def _windows(self, phrase: Any, ask: dict[str, Any]) -> list[int]:
        try:
            return list(budgets.windows(phrase, self.tree, self.ids, ask))
        except TargetError as error:
            self._refused(error, [])
            return []

    def _refused(self, error: BudgetError | TargetError | FormatError, found: list[str]) -> None:
        codes = {BudgetError: "budget_too_small", FormatError: "no_format"}
        self.signals.append(error.code if isinstance(error, TargetError) else codes[type(error)])
        if not terms.error_allowed(self.case):
            found.append(f"error: {error}")
        self.violations += found

    def _compile(self, ask: dict[str, Any], budget: Budget, redact: bool = False) -> None:
        row: dict[str, Any] = {
            "target": ask["target"],
            "tokens": None,
            "limit": budget.limit,
            "violations": [],
        }
        self.compiles.append(row)
        tree = self.tree.redacted() if redact else self.tree
        try:
            made = tree.compile(budget=budget, **ask)
        except (BudgetError, TargetError) as error:
            self._refused(error, row["violations"])
            return
        report = made.report
        same = self.sent.setdefault(f"{ask} {budget} {report.path.nodes[-1:]}", json.dumps(made.payload))
        if same != json.dumps(made.payload):
            row["violations"].append("other bytes for the same path")
        row["tokens"] = report.tokens
        row["violations"] += violations(ask["target"], made.payload, ask.get("dialect"))
        if report.tokens > report.budget.window - report.budget.reserve:
            row["violations"].append("over budget")
        if sum(item.tokens for item in report.items) + report.budget.overhead != report.tokens:
            row["violations"].append("items do not add up")
        for group in (report.degraded, report.repairs, report.losses, report.notes):
            self.signals += [signal.code for signal in group]
        if redact:
            shown = json.dumps([made.payload, report.model_dump(mode="json")], ensure_ascii=False)
            row["violations"] += exits.unmasked(self.case, self._text(), shown)
        self.violations += row["violations"]
        self.made.append((self.at, made.payload))
        if self.out is not None:
            name = f"{self.case['id']}-{len(self.compiles)}-{ask['target']}.json"
            body = {"payload": made.payload, "report": report.model_dump(mode="json")}
            (self.out / name).write_text(json.dumps(body, ensure_ascii=False), encoding="utf-8")

    def op_compile_each_turn(self, op: dict[str, Any]) -> None:
        """Turns of the described size, a compile after each; the prefix must hold between compactions."""
        turns, size, window = generate.turns(self.given["gen"])
        breaks = 0
        for turn in range(turns):
            self.tree.user(f"step {turn}")
            self.tree.assistant(None, calls=[ToolCall(id=f"c{turn}", name="read", arguments={"n": turn})])
            self.tree.tool(f"c{turn}", generate.generated(f"gen: {size // 4} tokens")[:size])
            self.tree.assistant(f"done {turn}")
            made = self.tree.compile(budget=Budget(window), target="openai.chat", policy=Policy.stable())
            self.violations += violations("openai.chat", made.payload)
            broken = made.report.prefix.break_at >= 0
            breaks += broken
            if broken and made.report.compaction is None:
                self.violations.append(f"the prefix broke at turn {turn} without a compaction")
        if breaks > turns / 10:
            self.violations.append(f"{breaks} prefix breaks in {turns} turns")

    def op_stress(self, op: dict[str, Any]) -> None:
        """`N processes x M appends`: what each stored is there, and what was compiled meanwhile is valid."""
        given = re.search(r"(\d+) processes x (\d+) appends", str(self.given.get("gen")))
        if given is None:
            raise Unsupported(f"stress {self.given.get('gen')!r}")
        self.violations += stress.run(int(given[1]), int(given[2]))

    def op_delete_subtree(self, op: dict[str, Any]) -> None:
        """Erased with all below it: the words are gone, the nodes stay as tombstones and branches whole."""
        top = self.tree.path()[0].id if op["node"] == "root" else self._id(op["node"]) or ""
        before = {row.name: row.nodes for row in self.tree.branches()}
        doomed = {top, *networkx.descendants(self.tree.graph(), top)}
        self.store.purge(top, "a case", self.tree.name, below=True)
        nodes = self.tree.export("ctxtree")["nodes"]
        if doomed & {node["id"] for node in nodes if "message" in node}:
            self.violations.append("words of a deleted node are left")
        if {row.name: row.nodes for row in self.tree.branches()} != before:
            self.violations.append("a branch lost nodes")
        if {one.node for one in self.store.verify() if one.code == "erased"} != doomed:
            self.violations.append("others than the subtree were deleted, or not all of it")

    def _sibling(self) -> None:
        branch = self.tree.branch
        node = self.tree.path()[0]
        self.tree.append(Message.of("assistant", "elsewhere"), at=node)
        self.tree.switch(branch)

    def op_count(self, op: dict[str, Any]) -> None:
        if "gen" in self.given:
            for text in generate.expressions(self.given["gen"]):
                if ctxtree.count(text) < 1:
                    self.violations.append("no tokens")
            return
        given = self.given.get("texts") or [node.message for node in self.tree.path(self._id(op.get("at")))]
        for text in given:
            if ctxtree.count(text if isinstance(text, str) else [text], op.get("tokenizer")) < 0:
                self.violations.append("a negative count")

    def op_condense(self, op: dict[str, Any]) -> None:
        from ctxtree.passes.condensers import condense, condense_bytes
        from ctxtree.tokens import counter_for

        counter = counter_for("o200k_base")
        given = (
            generate.expressions(self.given["gen"]) if "gen" in self.given else self.given.get("texts", ())
        )
        for text in (clean(one)[0] for one in given):
            if "max_bytes" in op:
                short = condense_bytes(text, op["max_bytes"])
                over = len(short.encode()) > op["max_bytes"]
            else:
                short = condense(text, op["max_tokens"], counter)
                over = counter(short) > op["max_tokens"]
            if over or (text and not short) or ("\ufffd" in short and "\ufffd" not in text):
                self.violations.append(f"condensed badly: {len(text)} characters")

    def op_append(self, op: dict[str, Any]) -> None:
        if "raw_json" in self.given and "role" not in op:
            op = json.loads(self.given["raw_json"])
            self.tree.user("?")
        for message in _messages(op):
            node = self.tree.append(message)
            self.ids[str(op.get("content"))] = node.id

    def op_append_result(self, op: dict[str, Any]) -> None:
        self.ids["<result>"] = self.tree.tool(op["result_of"], op["content"]).id

    def op_fork(self, op: dict[str, Any]) -> None:
        self.tree.fork(self.tree._auto(), self._id(op.get("at")))

    def op_switch(self, op: dict[str, Any]) -> None:
        self._stand(self._id(op["to"]))

    op_rewind = op_switch

    def op_edit(self, op: dict[str, Any]) -> None:
        node = self.tree.edit(self._id(op["node"]) or "", op["content"])
        self.ids[op["content"]] = node.id

    def op_regenerate(self, op: dict[str, Any]) -> None:
        for _ in range(op.get("times", 1)):
            node = self.tree.node(self._id(op["node"]) or "")
            self._stand(node.parent)
            self.tree.append(node.message)

    def op_retry(self, op: dict[str, Any]) -> None:
        self.tree.retry()

    def op_mark_dead_end(self, op: dict[str, Any]) -> None:
        self.tree.fail(self._id(op["node"]) or "", op.get("reason", ""))

    def op_re_import_the_compiled_output(self, op: dict[str, Any]) -> None:
        """Requests read again as lists: what stands in them is said, whatever it looks like."""
        for _, payload in self.made:
            listed = payload.get("messages") or payload.get("input") or []
            form = "openai.responses" if "input" in payload else "openai.chat"
            blocks = [one.get("content") for one in listed]
            kinds = {block.get("type") for held in blocks if isinstance(held, list) for block in held}
            form = "anthropic" if kinds & {"tool_use", "tool_result"} or "system" in payload else form
            again = self.store.tree(f"again {len(self.store.trees())}")
            again.extend(listed, format=form)
            made = again.compile(budget=Budget(200_000), input="go on")
            self.violations += violations("openai.chat", made.payload)
            if made.report.compaction is not None or made.report.budget.summary:
                self.violations.append("a text was taken for a summary")

    def op_import_the_export(self, op: dict[str, Any]) -> None:
        before = [node.message for node in self.tree.path()]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "export.jsonl"
            path.write_text(self.exported, encoding="utf-8")
            report = self.store.import_file(path, name="the export")
        after = [node.message for node in self.store.tree(report.conversations[0].tree).path()]
        if before != after:
            self.violations.append(f"{len(before)} messages came back as {len(after)} that differ")

    def op_export(self, op: dict[str, Any]) -> None:
        if op.get("format") == "jsonl":
            rows = self.tree.export("openai.chat", self._id(op.get("at")))
            self.exported = "\n".join(map(json.dumps, rows))
            return
        if op.get("redact"):
            self._export_redacted(op)
            return
        if op.get("to_dir"):
            self._export_to_folder(op)
            return
        if op.get("format") not in ("markdown", "openai.chat", "anthropic", "html"):
            raise Unsupported(f"export {op.get('format')}")
        if op["format"] == "html" and "places" in self.given:
            for words in self.given.get("texts", ()):
                source = exits.said_in_all_places(self.store, words).export("html")
                self.violations += exits.page_problems(source, words)
        made = self.tree.export(op["format"], self._id(op.get("at")))
        json.dumps(made, ensure_ascii=False, allow_nan=False).encode()
        if isinstance(made, str) and any(word in made for word in ("None", "null", "[object")):
            self.violations.append("an export with None or null in it")

    def _export_redacted(self, op: dict[str, Any]) -> None:
        before = self.tree.export("ctxtree")
        for form in (
            [op["format"]]
            if op.get("format")
            else ("openai.chat", "anthropic", "ctxtree", "markdown", "html")
        ):
            shown = json.dumps(self.tree.export(form, redact=True), ensure_ascii=False)
            self.violations += [
                f"{form}: {wrong}" for wrong in exits.unmasked(self.case, self._text(), shown)
            ]
            if form == "anthropic" and '"signature": "signed"' not in shown and "text" in self.given:
                self.violations.append("signed thinking was edited")
        if self.tree.export("ctxtree") != before:
            self.violations.append("what is stored was changed")

    def _export_to_folder(self, op: dict[str, Any]) -> None:
        names = self.given.get("ids", ())
        self.violations += exits.named_trees(self.store, names)
        with exits.watched() as (folder, wrong):
            files = self.store.export(folder, op.get("format") or "markdown")
        self.violations += wrong
        if len(set(files)) != len(self.store.trees()):
            self.violations.append(f"{len(files)} files of {len(self.store.trees())} trees")

    def _text(self) -> str:
        return self.given.get("text") or "\n".join(node.text for node in self.tree.path())

    def op_debug_log(self, op: dict[str, Any]) -> None:
        def work() -> None:
            self.tree.compile(budget=Budget(2_000), record=False)
            self.tree.export("html")
            self.store.verify()

        self.violations += exits.leaks(self._text(), exits.logged(work))

    def op_exception_text(self, op: dict[str, Any]) -> None:
        told = list(exits.errors(self.tree))
        self.signals += [f"{len(told)} error texts"]
        self.violations += exits.leaks(self._text(), "\n".join(told))

    def op_web_GET_conversation_id_(self, op: dict[str, Any]) -> None:
        """There is no server; what one would look the id up with."""
        self.violations += exits.looked_up(self.store, self.given.get("ids", ()))
        self.signals.append("looked up by name: the library has no web server")

    def op_attach_file(self, op: dict[str, Any]) -> None:
        with exits.watched() as (folder, wrong):
            self.violations += exits.attached(self.store, self.given.get("ids", ()), folder)
        self.violations += wrong

    def op_set_model(self, op: dict[str, Any]) -> None:
        """A model is no part of a request here."""

    def op_store_and_reload(self, op: dict[str, Any]) -> None:
        self.tree = self.store.tree("case")

    op_close_and_reopen_store = op_store_and_reload

    def op_inspect(self, op: dict[str, Any]) -> None:
        if self.tree.graph().number_of_nodes() < len(self.tree.path()):
            self.violations.append("the graph lacks nodes")

    def op_resolve_backtrack(self, op: dict[str, Any]) -> None:
        for words in self.given.get("utterances", ()):
            found = self.tree.find(words)
            where = found.winner.node[:8] if found.winner else f"{len(found.candidates)} candidates"
            self.signals.append(f"{words}: {where if found.request else 'no request'}")


def _messages(node: dict[str, Any]) -> list[Message]:
    """The messages of a neutral node."""
    item: dict[str, Any] = {"role": node["role"], "content": node.get("content")}
    if node["role"] == "tool":
        item["tool_call_id"] = node.get("result_of") or ""
    if node.get("refusal"):
        item["refusal"] = node["refusal"]
    content = item["content"]
    if isinstance(content, list) and any(
        isinstance(p, dict) and p.get("type") == "tool_result" for p in content
    ):
        blocks = [
            {"type": "tool_result", "tool_use_id": part["result_of"], "content": part["text"]}
            if part.get("type") == "tool_result"
            else part
            for part in content
        ]
        return messages_from([{"role": "user", "content": blocks}], "anthropic")
    (message,) = messages_from([item], "openai.chat")
    calls = [
        ToolCall(id=call["id"], name=call["name"], arguments=call["args"]) for call in node.get("calls") or ()
    ]
    if calls:
        message = Message(role=message.role, parts=(*message.parts, *calls), name=message.name)
    if node.get("error") and message.results:
        results = [result.model_copy(update={"error": True}) for result in message.results]
        message = Message(role="tool", parts=tuple(results))
    return [message]


def run(case: dict[str, Any], inputs: Path, out: Path | None = None) -> dict[str, Any]:
    """The line of one case."""
    case = {**case, "input": generate.expand(case["input"])}
    row: dict[str, Any] = {"id": case["id"], "status": "ok", "violations": [], "signals": [], "compiles": []}
    for given in case["input"].get("variants") or [case["input"]]:
        one = Run(case, given, inputs, out)
        try:
            one.run()
        except Unsupported as lacking:
            row["status"] = "unsupported"
            one.signals.append(f"unsupported: {lacking}")
        except (CtxtreeError, AssertionError, KeyError, TypeError, ValueError, AttributeError) as error:
            row["status"] = "error"
            one.signals.append(f"{type(error).__name__}: {error}")
        row["violations"] += one.violations
        row["signals"] += list(dict.fromkeys(one.signals))
        row["compiles"] += one.compiles
    if row["violations"] and row["status"] != "error":
        row["status"] = "violation"
    return row


__all__ = ["Node", "run"]
