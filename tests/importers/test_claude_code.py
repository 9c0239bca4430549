from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ctxtree.errors import FormatError
from ctxtree.importers import CODES, read
from ctxtree.model import Reasoning, Text, ToolCall
from tests.importers import chain, found, lines, one


def row(uuid: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": content, **more.pop("message", {})}
    return {"uuid": uuid, "parentUuid": parent, "type": role, "message": message, **more}


def talk(*names: str) -> list[dict[str, Any]]:
    """Rows in one line, the user's and the model's by turns."""
    parents = (None, *names)
    return [
        row(name, parent, "assistant" if number % 2 else "user", f"words of {name}")
        for number, (name, parent) in enumerate(zip(names, parents, strict=False))
    ]


def test_a_bad_middle_line_costs_only_itself(tmp_path: Path) -> None:
    rows = talk("a", "b", "c", "d")
    path = lines(tmp_path / "log.jsonl", [*rows[:2], b"{not json", *rows[2:]])
    before = path.read_bytes()
    conversation, drafts = one(path)
    assert chain(drafts) == [("a", None), ("b", "a"), ("c", "b"), ("d", "c")]
    assert (conversation.head, conversation.skipped) == ("d", 1)
    assert found(conversation) == [("bad_line", 3)]
    assert conversation.issues[0].offset == before.index(b"{not")
    assert [draft.line for draft in drafts] == [1, 2, 4, 5]
    assert path.read_bytes() == before


def test_a_bad_first_line_does_not_hide_the_rest(tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", [b'{"type":"session_meta","sess', *talk("u1", "a2")])
    conversation, drafts = one(path)
    assert chain(drafts) == [("u1", None), ("a2", "u1")]
    assert found(conversation) == [("bad_line", 1)]


def test_a_truncated_last_line_and_a_line_of_nul(tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", [*talk("a", "b"), b"\0" * 64, row("c", "b", "user", "more")])
    path.write_bytes(path.read_bytes() + b'{"uuid":"d","parentUuid":"c","type":"assistant","mess')
    conversation, drafts = one(path)
    assert chain(drafts) == [("a", None), ("b", "a"), ("c", "b")]
    assert (conversation.head, conversation.skipped) == ("c", 2)
    assert found(conversation) == [("nul_bytes", 3), ("truncated_line", 5)]


def test_torn_fused_and_padded_lines(tmp_path: Path) -> None:
    fused = (
        b'{"uuid":"x","type":"pr-link","prNu{"uuid":"a1","parentUuid":"u1","type":"assistant",'
        b'"message":{"role":"assistant","content":"two"}}'
    )
    bad = (
        b'{"uuid":"u2","parentUuid":"a1","type":"user","message":{"role":"user","content":"three \xe4\xb8"}}'
    )
    rows = [row("u1", None, "user", "one"), fused, b"\0" * 400, bad, row("a2", "u2", "assistant", "four")]
    path = lines(tmp_path / "log.jsonl", rows)
    path.write_bytes(path.read_bytes() + b'{"uuid":"u3","parentUuid":"a2","type":"user","mess')
    conversation, drafts = one(path)
    assert chain(drafts) == [("u1", None), ("a1", "u1"), ("u2", "a1"), ("a2", "u2")]
    assert [draft.message.text for draft in drafts] == ["one", "two", "three \ufffd", "four"]
    assert found(conversation) == [
        ("fused_lines", 2),
        ("nul_bytes", 3),
        ("bad_utf8", 4),
        ("truncated_line", 6),
    ]
    assert (conversation.head, conversation.skipped) == ("a2", 3)


def test_bom_crlf_and_separators_inside_strings(tmp_path: Path) -> None:
    words = "a\u2028b\u2029c\u0085d"
    path = lines(
        tmp_path / "log.jsonl", [row("a", None, "user", words), row("b", "a", "assistant", "ok")], b"\r\n"
    )
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    conversation, drafts = one(path)
    assert [draft.message.text for draft in drafts] == [words, "ok"]
    assert found(conversation) == [("bom", 1), ("crlf", 1)]
    assert len(list(next(read(path, strict=True)).drafts)) == 2


def test_a_dangling_parent_hangs_on_the_row_before(tmp_path: Path) -> None:
    rows = talk("a", "b", "c", "d", "e", "f")
    rows[3]["parentUuid"] = "gone"
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert chain(drafts) == [("a", None), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "d"), ("f", "e")]
    assert found(conversation) == [("dangling_parent", 4)]
    assert (conversation.head, conversation.skipped) == ("f", 0)


def test_a_circle_is_cut_at_its_earliest_row(tmp_path: Path) -> None:
    rows = [row("a", "b", "user", "one"), row("b", "a", "assistant", "two"), row("c", "b", "user", "three")]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert chain(drafts) == [("a", None), ("b", "a"), ("c", "b")]
    assert found(conversation) == [("cycle", 1)]


def test_a_row_that_is_its_own_parent_starts_a_path(tmp_path: Path) -> None:
    rows = [*talk("a", "b"), row("c", "c", "user", "again"), row("d", "c", "assistant", "yes")]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert chain(drafts) == [("a", None), ("b", "a"), ("c", None), ("d", "c")]
    assert found(conversation) == [("self_parent", 3)]
    assert conversation.head == "d"


def test_of_two_rows_with_one_uuid_the_first_holds(tmp_path: Path) -> None:
    rows = talk("a", "b")
    other = row("b", "a", "assistant", "other words", timestamp="2026-01-02T00:00:00Z")
    conversation, drafts = one(lines(tmp_path / "log.jsonl", [*rows, other]))
    assert [draft.message.text for draft in drafts] == ["words of a", "words of b"]
    assert found(conversation) == [("duplicate_id", 3)]
    assert conversation.skipped == 1


def test_a_row_that_is_repeated_is_read_once(tmp_path: Path) -> None:
    rows = talk("a", "b")
    conversation, drafts = one(lines(tmp_path / "log.jsonl", [*rows, *rows]))
    assert chain(drafts) == [("a", None), ("b", "a")]
    assert found(conversation) == [("repeated", 0)]
    assert conversation.skipped == 0


def test_progress_and_snapshots_are_spliced_through(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    rows = [
        row("u1", None, "user", "do"),
        row("a1", "u1", "assistant", [call], message={"id": "m1"}),
        {"uuid": "p1", "parentUuid": "a1", "type": "progress", "data": {}},
        {"uuid": "p2", "parentUuid": "p1", "type": "progress", "data": {}},
        {"messageId": "r1", "type": "file-history-snapshot"},
        row("r1", "a1", "user", [result]),
        row("a2", "p2", "assistant", [{"type": "text", "text": "done"}], message={"id": "m2"}),
    ]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert chain(drafts) == [("u1", None), ("a1", "u1"), ("r1", "a1"), ("a2", "r1")]
    assert [draft.message.role for draft in drafts] == ["user", "assistant", "tool", "assistant"]
    assert found(conversation) == [("spliced", 0)]
    assert conversation.issues[0].message.endswith("file-history-snapshot 1, progress 2")
    assert (conversation.head, conversation.skipped) == ("a2", 0)


def test_rows_of_one_answer_are_one_message(tmp_path: Path) -> None:
    def piece(uuid: str, parent: str, block: dict[str, Any], output: int) -> dict[str, Any]:
        usage = {"input_tokens": 5, "output_tokens": output}
        return row(uuid, parent, "assistant", [block], message={"id": "m1", "usage": usage})

    rows = [
        row("u1", None, "user", "look"),
        piece("l1", "u1", {"type": "thinking", "thinking": "t", "signature": "s"}, 1),
        piece("l2", "l1", {"type": "text", "text": "I will look"}, 1),
        piece("l3", "l2", {"type": "tool_use", "id": "A", "name": "Read", "input": {}}, 90),
        piece("l4", "l3", {"type": "tool_use", "id": "B", "name": "Grep", "input": {}}, 90),
        row("r1", "l3", "user", [{"type": "tool_result", "tool_use_id": "A", "content": "x"}]),
        row("r2", "l4", "user", [{"type": "tool_result", "tool_use_id": "B", "content": "y"}]),
    ]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert chain(drafts) == [("u1", None), ("l1", "u1"), ("r1", "l1"), ("r2", "r1")]
    answer = drafts[1]
    assert [type(part) for part in answer.message.parts] == [Reasoning, Text, ToolCall, ToolCall]
    assert [call.id for call in answer.message.calls] == ["A", "B"]
    assert dict(answer.marks)["usage"] == {"input_tokens": 5, "output_tokens": 90}
    assert dict(answer.marks)["source"]["rows"] == ["l1", "l2", "l3", "l4"]
    assert (conversation.head, found(conversation)) == ("r2", [])


def test_a_sidechain_is_a_path_of_its_own_and_never_the_head(tmp_path: Path) -> None:
    rows = [
        *talk("a", "b"),
        row("s1", None, "user", "search", isSidechain=True),
        row("c", "b", "user", "and then"),
        row("s2", "s1", "assistant", "found", isSidechain=True),
    ]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert {draft.source: draft.parent for draft in drafts} == {
        "a": None,
        "b": "a",
        "c": "b",
        "s1": None,
        "s2": "s1",
    }
    assert [draft.source for draft in drafts if ("sidechain", True) in draft.marks] == ["s1", "s2"]
    assert (conversation.head, found(conversation)) == ("c", [])


def test_a_main_row_on_a_subagent_goes_back_to_the_main_line(tmp_path: Path) -> None:
    rows = [
        *talk("a", "b"),
        row("s1", None, "user", "search", isSidechain=True),
        row("c", "s1", "user", "and then"),
    ]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert {draft.source: draft.parent for draft in drafts}["c"] == "b"
    assert found(conversation) == [("crossed_sidechain", 4)]


def test_a_compaction_cuts_nothing(tmp_path: Path) -> None:
    boundary = {
        "uuid": "k", "parentUuid": None, "logicalParentUuid": "b", "type": "system",
        "subtype": "compact_boundary",
    }  # fmt: skip
    summary = row("s", "k", "user", "What was said", isCompactSummary=True)
    rows = [*talk("a", "b"), boundary, summary, row("c", "s", "user", "go on")]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert chain(drafts) == [("a", None), ("b", "a"), ("c", "b")]
    notes = [value for name, value in drafts[1].marks if name == "annotation"]
    assert [note["line"] for note in notes] == [3, 4]
    assert notes[1]["summary"] == "What was said"
    assert conversation.head == "c"


def test_an_answer_without_a_parent_is_attached(tmp_path: Path) -> None:
    rows = [*talk("a", "b", "c"), row("d", None, "assistant", "lost")]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert chain(drafts)[-1] == ("d", "c")
    assert found(conversation) == [("missing_parent", 4)]
    assert all(issue.code in CODES for issue in conversation.issues)


def test_strict_reading_stops_at_the_first_defect(tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", [*talk("a"), b"{broken", *talk("b")])
    with pytest.raises(FormatError, match="bad_line"):
        list(next(read(path, strict=True)).drafts)


def test_a_log_without_a_message_is_refused(tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", [{"uuid": "p", "type": "progress"}])
    with pytest.raises(FormatError, match="no message"):
        next(read(path, "claude-code"))
