from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from ctxtree.errors import FormatError
from ctxtree.importers import read
from ctxtree.model import Reasoning, ToolCall
from tests.importers import chain, found, lines, one

TALK: list[dict[str, Any]] = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]


def test_bom_crlf_and_separators_inside_strings(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    words = "a\u2028b\u0085c"
    first = json.dumps({"role": "user", "content": words}, ensure_ascii=False).encode()
    path.write_bytes(b"\xef\xbb\xbf" + first + b'\r\n{"role": "assistant", "content": "ok"}')
    conversation, drafts = one(path)
    assert chain(drafts) == [("1", None), ("2", "1")]
    assert [draft.message.text for draft in drafts] == [words, "ok"]
    assert found(conversation) == [("bom", 1), ("crlf", 1)]
    assert (conversation.name, conversation.skipped) == ("log", 0)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("value", [TALK, {"messages": TALK}])
def test_an_array_and_an_object_around_one(tmp_path: Path, value: Any, indent: int | None) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(value, indent=indent))
    conversation, drafts = one(path)
    assert chain(drafts) == [("1", None), ("2", "1")]
    assert found(conversation) == []


def test_lines_around_lists_are_a_conversation_each(tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", [{"messages": TALK, "id": "x"}, {"other": 1}, {"messages": TALK}])
    conversations = list(read(path))
    assert [each.name for each in conversations] == ["x", "log-3"]
    assert [len(list(each.drafts)) for each in conversations] == [2, 2]
    assert [found(each) for each in conversations] == [[("no_conversation", 2)], []]


def test_an_array_that_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text('[{"role": "user", "content": "one"},\n{"role": "assistant", "cont')
    conversation, drafts = one(path)
    assert chain(drafts) == [("1", None)]
    assert found(conversation) == [("truncated_line", 2)]
    assert conversation.skipped == 1


def test_a_damaged_line_and_a_line_that_is_no_object(tmp_path: Path) -> None:
    conversation, drafts = one(lines(tmp_path / "log.jsonl", [TALK[0], b"{broken", b"7", TALK[1]]))
    assert [draft.message.text for draft in drafts] == ["one", "two"]
    assert [draft.line for draft in drafts] == [1, 4]
    assert found(conversation) == [("bad_line", 2), ("bad_record", 3)]
    assert conversation.skipped == 2


def test_parallel_calls_with_results_in_another_order(tmp_path: Path) -> None:
    calls = [
        {"id": name, "type": "function", "function": {"name": "look", "arguments": "{}"}} for name in "AB"
    ]
    rows = [
        TALK[0],
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "B", "content": "y"},
        {"role": "tool", "tool_call_id": "A", "content": "x"},
    ]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert chain(drafts) == [("1", None), ("2", "1"), ("3", "2"), ("4", "3")]
    assert [call.id for call in drafts[1].message.calls] == ["A", "B"]
    assert [draft.message.role for draft in drafts] == ["user", "assistant", "tool", "tool"]
    assert found(conversation) == []


def test_messages_with_a_system_beside_them(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "t", "signature": "s"},
        {"type": "tool_use", "id": "A", "name": "look", "input": {}},
    ]
    path = tmp_path / "log.json"
    path.write_text(
        json.dumps({"system": "be brief", "messages": [TALK[0], {"role": "assistant", "content": blocks}]})
    )
    _, drafts = one(path)
    assert chain(drafts) == [("0.1", None), ("1", "0.1"), ("2", "1")]
    assert [draft.message.role for draft in drafts] == ["system", "user", "assistant"]
    assert [type(part) for part in drafts[2].message.parts] == [Reasoning, ToolCall]


def test_a_stream_is_read_like_a_file() -> None:
    (conversation,) = read(io.BytesIO(json.dumps(TALK).encode()))
    assert len(list(conversation.drafts)) == 2


def test_nothing_to_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(b"")
    with pytest.raises(FormatError):
        list(read(path, "openai.chat"))
