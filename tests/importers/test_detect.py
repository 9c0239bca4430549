from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from ctxtree.errors import FormatError
from ctxtree.importers import FORMATS, anthropic, detect, openai_chat, read
from ctxtree.importers.files import sourced
from ctxtree.importers.sample import samples
from tests.importers import LOGS, lines

PLAIN: dict[str, Any] = {"role": "user", "content": "q"}
LIBRE: dict[str, Any] = {
    "messageId": "a",
    "parentMessageId": None,
    "sender": "User",
    "isCreatedByUser": True,
    "text": "q",
}
LINKED: dict[str, Any] = {"id": "a", "parentId": None, "childrenIds": [], **PLAIN}
CHAT: dict[str, Any] = {"history": {"messages": {"a": LINKED}, "currentId": "a"}, "messages": [LINKED]}
THINKING: dict[str, Any] = {"role": "assistant", "content": [{"type": "thinking", "thinking": "t"}]}

TREES: dict[str, Any] = {
    "librechat": {"conversationId": "c", "title": "t", "messages": [LIBRE]},
    "librechat with roles": {"conversationId": "c", "messages": [PLAIN]},
    "librechat tree": {"conversationId": "c", "messagesTree": [{**LIBRE, "children": []}]},
    "librechat tree beside no messages": {"messages": [], "messagesTree": [LIBRE]},
    "librechat messages": [LIBRE, {**LIBRE, **PLAIN}],
    "librechat messages in an object": {"messages": [PLAIN, LIBRE]},
    "librechat with a system": {"conversationId": "c", "system": "s", "messages": [LIBRE]},
    "librechat with thinking": [{"conversationId": "c", "messages": [THINKING]}],
    "open webui": [{"id": "1", "title": "t", "chat": CHAT}],
    "open webui, one": {"id": "1", "chat": CHAT},
    "open webui, the chat": CHAT,
    "open webui with messages": [{"id": "1", "messages": [PLAIN], "chat": CHAT}],
    "open webui messages": [LINKED],
    "open webui among others": [{"id": "1", "chat": CHAT}, PLAIN],
}
FITTING: dict[str, tuple[str, Any]] = {
    "claude-code": ("claude-code", {"type": "user", "uuid": "a", "parentUuid": None, "message": PLAIN}),
    "pi": ("pi", {"type": "message", "id": "a", "parentId": None, "message": PLAIN}),
    "chatgpt": ("chatgpt", [{"title": "t", "mapping": {"a": {"message": None}}}]),
    "responses": ("openai.responses", {"input": [{"type": "function_call", "call_id": "c"}]}),
    "anthropic": ("anthropic", [PLAIN, THINKING]),
    "anthropic with a system": ("anthropic", {"system": "s", "messages": [PLAIN]}),
    "chat": ("openai.chat", [PLAIN]),
    "chat in an object": ("openai.chat", {"messages": [PLAIN]}),
    "chat without messages": ("openai.chat", {"messages": []}),
}


def stream(value: Any, indent: int | None) -> io.BytesIO:
    return io.BytesIO(json.dumps(value, indent=indent).encode())


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", TREES)
def test_trees_of_other_programs_are_no_lists(name: str, indent: int | None) -> None:
    with sourced(stream(TREES[name], indent)) as source:
        seen = next(samples(source))
    assert seen.records
    assert not openai_chat.fits(seen)
    assert not anthropic.fits(seen)


@pytest.mark.parametrize("name", ["librechat messages", "librechat with roles", "open webui messages"])
def test_a_tree_that_nothing_reads_is_refused(name: str) -> None:
    with pytest.raises(FormatError, match="of a known format; tried ctxtree"):
        detect(stream(TREES[name], None))


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", FITTING)
def test_content_tells_the_format(name: str, indent: int | None) -> None:
    form, value = FITTING[name]
    assert detect(stream(value, indent)) == form


def test_the_file_name_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text('{"role": "user", "content": "q"}\n')
    assert detect(path) == "openai.chat"


@pytest.mark.parametrize(
    ("name", "form"), [("coding-agent.jsonl", "pi"), ("chatgpt-branches.json", "chatgpt")]
)
def test_real_logs(name: str, form: str) -> None:
    assert detect(LOGS / name) == form


@pytest.mark.parametrize(
    "value",
    [
        [{"conversations_memory": "likes tea", "account_uuid": "a"}],
        [{"uuid": "p", "name": "a project", "docs": [{"uuid": "d", "content": "words"}]}],
        {
            "uuid": "d",
            "title": "t",
            "project": {"uuid": "p"},
            "messages": [{"uuid": "m", "role": "user", "content": {}}],
        },
    ],
)
def test_what_lies_beside_the_conversations_of_an_export_is_none(value: Any) -> None:
    with pytest.raises(FormatError, match="of a known format"):
        detect(stream(value, None))


@pytest.mark.parametrize("raw", [b"", b"hello\nworld\n", b"\0" * 100, b"[1, 2]", b'{"a": 1}'])
def test_what_fits_nothing_is_refused(raw: bytes) -> None:
    with pytest.raises(FormatError):
        detect(io.BytesIO(raw))


def test_an_unknown_format_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no known format"):
        next(read(io.BytesIO(b"[]"), "klingon"))
    with pytest.raises(FormatError, match="cannot be opened"):
        detect(tmp_path / "none")


def test_every_format_says_what_it_is() -> None:
    assert all(form.about for form in FORMATS.values())


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", FITTING)
def test_a_first_record_longer_than_the_first_look_tells_the_format(name: str, indent: int | None) -> None:
    form, value = FITTING[name]
    first = value[0] if isinstance(value, list) else value
    long = {"zzz": "word " * 100_000, **first} if name != "chat without messages" else first
    assert detect(stream([long, *value[1:]] if isinstance(value, list) else long, indent)) == form


def test_a_long_record_behind_one_that_tells_nothing(tmp_path: Path) -> None:
    rows = [{"type": "summary", "summary": "s"}, FITTING["claude-code"][1] | {"slug": "word " * 100_000}]
    assert detect(lines(tmp_path / "log", rows)) == "claude-code"
