"""Logs with fields of other types, lost fields and records moved: read with what is wrong told, or refused by name."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import ctxtree
from ctxtree import FormatError
from tests.importers.test_scenarios import LINES, LINKED, claude_ai, edge_set, line
from tests.validity import violations

TARGETS = ["openai.chat", "openai.responses", "anthropic", "gemini", "text"]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": "Look."},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
    {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "a page"},
        "title": "t",
    },
]
WORK: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "so", "signature": "S"},
    {"type": "text", "text": "I read it."},
    {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.py", "lines": [1, 2]}},
]
RESULT = {
    "type": "tool_result",
    "tool_use_id": "t1",
    "is_error": True,
    "content": [{"type": "text", "text": "no"}, BLOCKS[1]],
}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": [
        {"type": "text", "text": "hear"}, {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}", "detail": "low"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"}},
    ]},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}},
    ]},
    {"role": "tool", "tool_call_id": "c1", "content": "body"},
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "I can't."}]},
]  # fmt: skip
ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "input_text", "text": "q"}, {"type": "input_image", "image_url": "https://example.org/a.png"}]},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "so"}], "encrypted_content": "AAA"},
    {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "body"}]},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "a", "annotations": []}]},
]  # fmt: skip
GPT: list[dict[str, Any]] = [{"system": "S", "tools": '[{"name": "get"}]', "conversations": [
    {"from": "human", "value": "q"}, {"from": "function_call", "value": '{"name": "get", "arguments": {"k": 2}}'},
    {"from": "observation", "value": "2"}, {"from": "gpt", "value": "2"},
]}]  # fmt: skip
ROLLOUT: list[dict[str, Any]] = [
    {"type": "session_meta", "payload": {"id": "s1", "cwd": "/w"}},
    *({"type": "response_item", "payload": item} for item in ITEMS),
    {"type": "event_msg", "payload": {"type": "user_message", "message": "q"}},
    {"type": "compacted", "payload": {"message": "", "replacement_history": [ITEMS[0]]}},
]


def coded() -> list[dict[str, Any]]:
    """A log of a coding agent with blocks of every kind."""
    rows = LINKED["claude-code"](line(5))
    for row, content in zip(rows[1:], (BLOCKS, WORK, [RESULT], "done"), strict=True):
        row["type"] = row["message"]["role"] = "assistant" if content in (WORK, "done") else "user"
        row["message"]["content"] = content
    return rows


DOCUMENTS: dict[str, tuple[Any, bool]] = {
    **{name: (written(line(6)), name in LINES) for name, written in LINKED.items()},
    "chatgpt edges": (edge_set(), False),
    "claude code": (coded(), True),
    "claude.ai": ([{**claude_ai(line(2))[0], "chat_messages": [
        {"uuid": "u", "sender": "human", "text": "", "content": BLOCKS},
        {"uuid": "a", "sender": "assistant", "text": "", "content": [*WORK, RESULT]}]}], False),
    "chat": (CHAT, False),
    "chat lines": (CHAT, True),
    "anthropic": ([{"role": "user", "content": BLOCKS}, {"role": "assistant", "content": WORK}, {"role": "user", "content": [RESULT]}], False),
    "responses": (ITEMS, False),
    "sharegpt": (GPT, False),
    "codex": (ROLLOUT, True),
}  # fmt: skip
COUNT = 20
"""Mutations of each document."""
ODD: list[Any] = [
    None, 0, -1, 1.5, 1e400, float("nan"), True, "", " ", [], {}, "x", ["x"], {"a": 1}, "\ud800", [[]], {"type": "text"},
    [{"type": "text"}], [{"type": "tool_use"}], [{"type": "tool_result"}], [None], "2026-13-45T99:99", 10**30, "null",
]  # fmt: skip
KEYS = ["parent", "id", "type", "content", "role", "message", "children", "uuid", "text", "name", "source"]


def places(value: Any) -> list[list[Any]]:
    """Where every value of a document stands, below the top."""
    found: list[list[Any]] = []
    todo: list[tuple[Any, list[Any]]] = [(value, [])]
    while todo:
        held, place = todo.pop()
        inner = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
        for key, one in inner:
            found.append([*place, key])
            todo.append((one, found[-1]))
    return found


def mutated(document: Any, rng: random.Random) -> Any:
    """The same with one to four fields of another type, lost, doubled or under another name."""
    made = json.loads(json.dumps(document))
    for _ in range(rng.randint(1, 4)):
        *above, last = rng.choice(places(made) or [[0]])
        holder = made
        for key in above:
            holder = holder[key]
        act = rng.random()
        if act < 0.5:
            holder[last] = json.loads(json.dumps(rng.choice(ODD)))
        elif act < 0.8 and len(holder) > 1:
            del holder[last]
        elif isinstance(holder, list):
            holder.insert(0, holder[last])
        else:
            holder[rng.choice(KEYS)] = holder[last]
    return made


def checked(path: Path) -> str:
    """What came of a log. Raises whatever is no `FormatError`, and AssertionError for a request that breaks a rule."""
    with ctxtree.connect(":memory:") as store:
        try:
            report = store.import_file(path)
        except FormatError as error:
            assert str(path) in str(error)
            return "refused"
        for conversation in report.conversations[:3]:
            tree = store.tree(conversation.tree)
            for target in TARGETS:
                made = tree.compile(budget=50_000, target=target, input="Go on.", record=False)
                assert not violations(target, made.payload)
            for form in ("openai.chat", "anthropic", "ctxtree", "markdown", "html", "mermaid", "dot"):
                json.dumps(tree.export(form), ensure_ascii=False, allow_nan=False).encode()
            assert tree.branches()
        assert store.verify() == ()
        assert store.import_file(path).added == 0
        return "read"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_change_of_a_log_is_an_untyped_error_or_an_invalid_request(name: str, tmp_path: Path) -> None:
    document, as_lines = DOCUMENTS[name]
    path = tmp_path / "log"
    outcomes = []
    for seed in range(COUNT):
        made = mutated(document, random.Random(f"{name} {seed}"))
        path.write_text("\n".join(map(json.dumps, made)) if as_lines else json.dumps(made))
        try:
            outcomes.append(checked(path))
        except Exception as fault:
            raise AssertionError(f"seed {seed}: {type(fault).__name__}: {fault}") from fault
    assert outcomes.count("read") >= COUNT // 2
