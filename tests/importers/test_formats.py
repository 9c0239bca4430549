"""Every format's fixtures: found, counted, compiled, and each thing in them as what it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ctxtree
from ctxtree import FormatError
from ctxtree.importers import FORMATS, Draft, detect, read
from ctxtree.importers.base import HARMLESS
from ctxtree.model import Media, Opaque, Reasoning, Text
from tests.importers import found, lines
from tests.importers.counting import COUNTERS
from tests.importers.logs import (
    FIXTURES,
    as_counted,
    compiled,
    counted,
    database,
    evaluation,
    imported_twice,
    shards,
)

Expected = tuple[str, list[int], list[int], dict[str, int]]

EXPECTED: dict[str, Expected] = {
    "aider.md": ("aider", [6, 2], [1, 1], {}),
    "anthropic_thinking.json": ("anthropic", [6], [1], {}),
    "cc_attachments.jsonl": ("claude-code", [5], [1], {}),
    "cc_compact.jsonl": ("claude-code", [6], [1], {}),
    "cc_cycle.jsonl": ("claude-code", [4], [2], {"cycle": 1, "self_parent": 1}),
    "cc_dangling.jsonl": ("claude-code", [6], [1], {"dangling_parent": 1}),
    "cc_dup_uuid.jsonl": ("claude-code", [3], [1], {"duplicate_id": 1}),
    "cc_parallel_tools.jsonl": ("claude-code", [5], [1], {}),
    "cc_sidechain.jsonl": ("claude-code", [6], [2], {}),
    "cc_truncated.jsonl": ("claude-code", [2], [1], {"nul_bytes": 1, "truncated_line": 1}),
    "cc_u2028.jsonl": ("claude-code", [2], [1], {}),
    "chatgpt_dangling_head.json": ("chatgpt", [3], [2], {"dangling_head": 1}),
    "chatgpt_edges.json": ("chatgpt", [7], [2], {"no_conversation": 1}),
    "chatgpt_nochildren.json": ("chatgpt", [3], [2], {}),
    "claude_ai_legacy.json": ("claude.ai", [3], [1], {"no_conversation": 1}),
    "claude_ai_sentinel.json": ("claude.ai", [7], [2], {}),
    "codex_fork.jsonl": ("codex", [4], [1], {}),
    "codex_rollback.jsonl": ("codex", [13], [2], {}),
    "gemini_legacy.json": ("gemini-cli", [3], [1], {}),
    "gemini_rewind.jsonl": ("gemini-cli", [11], [3], {"dangling_head": 1}),
    "inspect.json": ("inspect", [6, 3], [2, 1], {"no_conversation": 1}),
    "langchain_dict.json": ("langchain", [7], [1], {"unknown_role": 1}),
    "langchain_dumpd.json": ("langchain", [6], [1], {}),
    "langgraph_history.json": ("langchain", [5], [2], {"dangling_parent": 1}),
    "librechat_tree.json": ("librechat", [7], [2], {}),
    "llamacpp.jsonl": ("llama.cpp", [7], [3], {"dangling_head": 1, "dangling_parent": 1}),
    "llamacpp_old.json": ("llama.cpp", [2], [1], {}),
    "loom.json": ("loom", [5], [3], {}),
    "mini_swe_agent.traj.json": ("mini-swe-agent", [5], [1], {}),
    "oasst.jsonl": ("loom", [4], [2], {}),
    "openai_parallel.json": ("openai.chat", [7], [1], {"orphan_result": 1}),
    "owui_roots.json": ("open-webui", [5], [3], {"dangling_head": 1, "no_conversation": 1}),
    "pi_v1.jsonl": ("pi", [4], [1], {}),
    "pi_v3.jsonl": ("pi", [7], [2], {}),
    "responses.json": ("openai.responses", [5], [1], {}),
    "sharegpt.jsonl": ("sharegpt", [5, 4], [1, 1], {"orphan_result": 1, "unknown_role": 1}),
    "st_swipes.jsonl": ("sillytavern", [7], [4], {}),
    "swe_agent.traj": ("swe-agent", [5], [1], {}),
    "swe_agent_attempts.traj": ("swe-agent", [6], [2], {}),
}
MADE: dict[str, tuple[Callable[[Path], Path], Expected]] = {
    "chatgpt.zip": (shards, ("chatgpt", [2, 3], [1, 1], {})),
    "inspect.eval": (evaluation, ("inspect", [6, 3], [2, 1], {"no_conversation": 1})),
    "llm_responses.db": (lambda path: database(path, "llm_responses.sql"), ("llm", [8, 2], [1, 1], {})),
    "llm_tree.db": (lambda path: database(path, "llm_tree.sql"), ("llm", [6], [2], {})),
    "ctxtree.json": (lambda path: FIXTURES / path.name, ("ctxtree", [10], [3], {})),
}


def drafts_of(name: str) -> dict[str, Draft]:
    return {draft.source: draft for one in read(FIXTURES / name) for draft in one.drafts}


def marks_of(draft: Draft) -> dict[str, Any]:
    return dict(draft.marks)


def fields_of(draft: Draft) -> dict[str, Any]:
    fields: dict[str, Any] = marks_of(draft)["source"].get("fields", {})
    return fields


def test_every_format_has_a_fixture_and_every_fixture_is_tested() -> None:
    every = [*EXPECTED.values(), *(expected for _, expected in MADE.values())]
    assert {form for form, *_ in every} == set(FORMATS)
    there = {
        path.name for path in FIXTURES.iterdir() if path.is_file() and path.suffix not in (".md", ".sql")
    }
    assert there - set(EXPECTED) - set(MADE) == set()
    assert {form for form, *_ in EXPECTED.values()} == set(COUNTERS)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_fixture_imports_with_the_counts_that_its_raw_text_has(name: str) -> None:
    form, messages, branches, defects = EXPECTED[name]
    before = (FIXTURES / name).read_bytes()
    with ctxtree.connect(":memory:") as store:
        report = imported_twice(store, FIXTURES / name)
        assert report.format == form
        assert as_counted(report) == counted(FIXTURES / name, form)
        assert (as_counted(report).messages, as_counted(report).branches) == (messages, branches)
        assert dict(as_counted(report).defects) == defects
        assert list(compiled(store)) == []
    assert (FIXTURES / name).read_bytes() == before


@pytest.mark.parametrize("name", MADE)
def test_databases_and_archives_import_with_exact_counts(name: str, tmp_path: Path) -> None:
    make, (form, messages, branches, defects) = MADE[name]
    path = make(tmp_path / name)
    with ctxtree.connect(":memory:") as store:
        report = imported_twice(store, path)
        assert report.format == detect(path) == form
        told = as_counted(report)
        assert (told.messages, told.branches, dict(told.defects)) == (messages, branches, defects)
        assert list(compiled(store)) == []


@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if expected[3]])
def test_strict_reading_stops_at_a_defect_and_names_the_file(name: str) -> None:
    with ctxtree.connect(":memory:") as store:
        with pytest.raises(FormatError, match=name.split(".")[0]):
            store.import_file(FIXTURES / name, strict=True)
        assert store.trees() == ()


@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if not expected[3]])
def test_a_fixture_without_defects_is_read_strictly(name: str) -> None:
    with ctxtree.connect(":memory:") as store:
        assert store.import_file(FIXTURES / name, strict=True).skipped == 0


@pytest.mark.parametrize("name", EXPECTED)
def test_a_fixture_cut_anywhere_is_read_or_refused_and_never_crashes(name: str) -> None:
    raw = (FIXTURES / name).read_bytes()
    for end in range(0, len(raw), max(1, len(raw) // 40)):
        import io

        try:
            for conversation in read(io.BytesIO(raw[:end])):
                assert all(draft.message.role for draft in conversation.drafts)
        except FormatError as error:
            assert error.path


def test_shards_of_one_conversation_become_one_tree(tmp_path: Path) -> None:
    with ctxtree.connect(":memory:") as store:
        store.import_file(shards(tmp_path / "export.zip"))
        assert store.trees() == ("cg-split",)
        assert [node.text for node in store.tree("cg-split").path()] == [
            "Say one.",
            "One.",
            "Say two.",
        ]


def test_what_a_user_typed_while_the_model_worked_is_a_message_and_files_stand_beside_theirs() -> None:
    drafts = drafts_of("cc_attachments.jsonl")
    assert (drafts["x2"].message.role, drafts["x2"].message.text) == ("user", "Answer in one sentence.")
    first, file = marks_of(drafts["u1"])["attachments"]
    assert (first["type"], file["type"], file["filename"]) == ("agent_listing_delta", "file", "notes.md")
    assert file["content"]["file"]["content"] == "The parser reads left to right."


def test_subagents_are_sidechains_and_compactions_annotations() -> None:
    side = drafts_of("cc_sidechain.jsonl")
    assert [name for name, draft in side.items() if marks_of(draft).get("sidechain")] == ["s1", "s2"]
    compact = drafts_of("cc_compact.jsonl")
    notes = [value for name, value in compact["a2"].marks if name == "annotation"]
    assert [note.get("summary", note.get("metadata", {}).get("trigger")) for note in notes] == [
        "auto",
        "Summary: tabs are used; a reader was written.",
    ]
    assert compact["u3"].parent == "a2"


def test_regenerated_answers_and_alternatives_are_siblings() -> None:
    for name, one, other in (
        ("chatgpt_edges.json", "a1", "a2"), ("claude_ai_sentinel.json", "m2", "m2b"), ("owui_roots.json", "r2", "r3"),
        ("librechat_tree.json", "x2", "x3"), ("llamacpp.jsonl", "a", "b"), ("loom.json", "l1", "l2"),
        ("langgraph_history.json", "a1", "a1b"), ("inspect.json", "a2", "a2b"), ("oasst.jsonl", "p2", "p3"),
        ("st_swipes.jsonl", "line:5", "line:5.swipe:2"), ("codex_rollback.jsonl", "line:10", "line:15"),
        ("gemini_rewind.jsonl", "g4", "g6"), ("pi_v3.jsonl", "e2", "e3"), ("swe_agent_attempts.traj", "3", "5"),
    ):  # fmt: skip
        drafts = drafts_of(name)
        assert drafts[one].parent == drafts[other].parent, name


def test_the_active_leaf_is_where_the_log_was_left() -> None:
    heads = {name: [one.head for one in read(FIXTURES / name)] for name in EXPECTED}
    for name, head in {
        "chatgpt_edges.json": "u2", "chatgpt_nochildren.json": "a1", "chatgpt_dangling_head.json": "a2",
        "claude_ai_sentinel.json": "m4", "codex_rollback.jsonl": "line:19", "pi_v3.jsonl": "e9",
        "gemini_rewind.jsonl": "g9", "owui_roots.json": "b2", "llamacpp.jsonl": "c", "loom.json": "l2",
        "langgraph_history.json": "h2", "st_swipes.jsonl": "line:5", "swe_agent_attempts.traj": "6",
    }.items():  # fmt: skip
        assert heads[name] == [head], name
    assert heads["inspect.json"] == ["a2", "t9"]


def test_hidden_nodes_are_kept_and_hidden() -> None:
    for name, hidden in {
        "chatgpt_edges.json": ["ctx"], "st_swipes.jsonl": ["line:4"], "gemini_rewind.jsonl": ["g0"],
        "gemini_legacy.json": ["h3"], "langchain_dict.json": ["5", "7"], "mini_swe_agent.traj.json": ["5"],
        "codex_rollback.jsonl": ["line:2"],
    }.items():  # fmt: skip
        marked = [source for source, draft in drafts_of(name).items() if marks_of(draft).get("hidden")]
        assert marked == hidden, name
    assert fields_of(drafts_of("langchain_dict.json")["5"])["removed"] is True


def test_a_gemini_message_that_is_said_again_holds_its_last_words_at_its_first_place() -> None:
    drafts = drafts_of("gemini_rewind.jsonl")
    assert [part.type for part in drafts["g2"].message.parts] == ["reasoning", "tool_call"]
    assert marks_of(drafts["g2"])["usage"]["total"] == 15
    assert drafts["g2.2"].message.results[0].text == "all well"
    assert (drafts["g2.2"].parent, drafts["g3"].parent, drafts["g8"].parent) == ("g2", "g2.2", None)


def test_reasoning_that_is_folded_into_a_text_is_reasoning() -> None:
    parts = drafts_of("owui_roots.json")["b2"].message.parts
    assert parts == (Reasoning(text="It is late.", origin="open-webui"), Text(text="Welcome back."))
    assert marks_of(drafts_of("owui_roots.json")["r3"])["incomplete"] is True
    assert fields_of(drafts_of("owui_roots.json")["r3"])["modelIdx"] == 1


def test_attachments_stay_with_their_message() -> None:
    parts = drafts_of("llamacpp.jsonl")["u"].message.parts
    assert [part.type for part in parts] == ["text", "media", "text"]
    assert fields_of(drafts_of("llamacpp.jsonl")["u"])["attachments"][1] == {"type": "TEXT", "name": "x.txt"}
    first = drafts_of("claude_ai_sentinel.json")["m1"]
    assert first.message.text == "What is an oak?\noak, ash"
    assert fields_of(first)["attachments"][0]["file_name"] == "list.txt"
    assert fields_of(first)["files"] == [{"file_name": "leaf.png"}]
    assert fields_of(drafts_of("owui_roots.json")["r1"])["files"][0]["name"] == "plan.txt"
    image = drafts_of("chatgpt_edges.json")["t1"].message.results[0].parts[0]
    assert image == Media(file_id="file-service://file-abc", origin="chatgpt", width=10, height=10)


def test_an_agents_demonstration_and_sealed_thinking_are_kept_as_such() -> None:
    drafts = list(drafts_of("swe_agent.traj").values())
    assert [bool(fields_of(draft).get("is_demo")) for draft in drafts] == [False, True, False, False, False]
    edit = drafts_of("swe_agent_attempts.traj")["5"].message
    assert edit.parts[0] == Reasoning(text="Edit.", signature="sig", origin="anthropic")
    assert drafts_of("swe_agent_attempts.traj")["6"].message.results[0].call_id == "c1"


def test_an_evaluation_gives_back_texts_that_it_keeps_apart_and_tells_errors() -> None:
    drafts = drafts_of("inspect.json")
    assert drafts["t1"].message.results[0].text == "4"
    assert drafts["a1"].message.parts[0] == Reasoning(text="Use the tool.", signature="sig", origin="inspect")
    failed = drafts["t9"].message.results[0]
    assert (failed.error, failed.text) == (True, "took too long")
    assert marks_of(drafts["a2b"])["usage"]["total_tokens"] == 8


def test_databases_of_llm_say_what_was_asked_and_answered(tmp_path: Path) -> None:
    (older, drafts), (alone, _) = (
        (one, list(one.drafts)) for one in read(database(tmp_path / "old.db", "llm_responses.sql"))
    )
    assert [draft.message.role for draft in drafts] == [
        "system", "user", "assistant", "tool", "assistant", "system", "user", "assistant",
    ]  # fmt: skip
    assert drafts[3].message.results[0].call_id == drafts[2].message.calls[0].id == "c1"
    assert isinstance(drafts[6].message.parts[1], Media)
    assert (older.title, older.head, alone.name) == ("What time is it", "01c", "02a")
    ((tree, by_hash),) = (
        (one, {draft.source: draft for draft in one.drafts})
        for one in read(database(tmp_path / "new.db", "llm_tree.sql"))
    )
    assert by_hash["h2"].message.text == "Read this: some long text"
    assert (by_hash["h6"].parent, tree.head, tree.labels[0]) == ("h2", "h6", ("Counting", "h5"))


def test_aiders_output_is_hidden_and_a_fence_is_the_models() -> None:
    first, second = ([*one.drafts] for one in read(FIXTURES / "aider.md"))
    assert [draft.message.role for draft in first] == [
        "note",
        "user",
        "assistant",
        "note",
        "user",
        "assistant",
    ]
    assert first[1].message.text == "Add a greeting\nto main.py"
    assert "#### not a user's line\n> not output" in first[2].message.text
    assert [draft.message.text for draft in second] == ["Aider v0.80", "/exit"]


def test_a_notice_of_the_program_is_no_message_to_a_model() -> None:
    with ctxtree.connect(":memory:") as store:
        store.import_file(FIXTURES / "aider.md", name="aider")
        payload = store.tree("aider").compile(budget=4_000).payload
        assert "Applied edit" not in json.dumps(payload)
        assert "Add a greeting" in json.dumps(payload)


def test_every_issue_of_a_fixture_names_what_and_where() -> None:
    for name in EXPECTED:
        for conversation in read(FIXTURES / name):
            for _ in conversation.drafts:
                pass
            for issue in conversation.issues:
                assert issue.message
                assert issue.action
                assert issue.line > 0 or issue.code in HARMLESS | {"dangling_head", "missing_parent"}, (
                    name,
                    issue,
                )


def test_unknown_parts_are_kept_whole() -> None:
    (last,) = [
        part
        for draft in drafts_of("responses.json").values()
        for part in draft.message.parts
        if isinstance(part, Opaque)
    ]
    assert last.data == {"type": "item_reference", "id": "it_1"}
    assert found(next(read(FIXTURES / "responses.json"))) == []


def test_a_list_that_gemini_replaced_is_an_abandoned_branch_with_a_note(tmp_path: Path) -> None:
    def said(name: str, kind: str) -> dict[str, Any]:
        return {"id": name, "type": kind, "content": f"words of {name}", "timestamp": "2026-03-01T10:00:00Z"}

    rows = [
        {"sessionId": "s", "projectHash": "h", "startTime": "2026-03-01T10:00:00Z", "messages": []},
        *(
            said(name, kind)
            for name, kind in (("a", "user"), ("b", "gemini"), ("c", "user"), ("d", "gemini"))
        ),
        {"$set": {"messages": [said("a", "user"), said("sum", "gemini"), said("d", "gemini")]}},
        said("e", "user"),
    ]
    ((conversation, drafts),) = ((one, list(one.drafts)) for one in read(lines(tmp_path / "s.jsonl", rows)))
    assert [(draft.source, draft.parent) for draft in drafts] == [
        ("a", None), ("b", "a"), ("c", "b"), ("d", "c"), ("sum", "a"), ("d@6", "sum"), ("e", "d@6"),
    ]  # fmt: skip
    assert marks_of(drafts[3])["annotation"] == {"kind": "replaced", "line": 6, "kept": 1, "by": 2}
    assert conversation.head == "e"
