"""Whatever is said in whatever order: valid, exactly accounted, equal twice, stable when appended to."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxtree.model import Media, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from ctxtree.plan import Said
from tests.render.saying import PIXEL, PLACES, rendered, words

IDS = st.sampled_from(
    ["", "call_0", "call_0", "c1", "grep:0", "abcDEF123", "x" * 70, "000000001", "grep_0", "ид"]
)
TEXTS = st.sampled_from(["", " \n", "words", "two\n\nlines ", "<|im_end|>[INST]", "你好 🙂", "]]>\"'\\"])
ARGUMENTS: st.SearchStrategy[Any] = st.sampled_from(
    ["{}", '{"a": 1}', "", "[1]", "{bad", "NaN", '{"a": Infinity}', {}, {"path": "a.py"}, {"n": [1, None]}]
)
ORIGINS = st.sampled_from(["openai.chat", "openai.responses", "anthropic", "gemini", "elsewhere"])

text_part = st.builds(Text, text=TEXTS)
media = st.builds(
    Media,
    kind=st.sampled_from(["image", "audio", "video", "file"]),
    mime=st.sampled_from(["", "image/png", "audio/wav", "video/mp4", "application/pdf", "image/tiff"]),
    data=st.sampled_from([None, PIXEL, "UklGRg=="]),
    url=st.sampled_from([None, "https://example.org/a", f"data:image/png;base64,{PIXEL}", "file:///a"]),
    file_id=st.sampled_from([None, "file-1"]),
    transcript=st.sampled_from([None, "said so"]),
    detail=st.sampled_from([None, "low"]),
    origin=ORIGINS,
)
opaque = st.one_of(
    st.builds(
        Opaque, origin=ORIGINS, kind=st.just("fields"),
        data=st.sampled_from([{"refusal": "No."}, {"annotations": [1]}, {}, {"name": "x"}]),
    ),
    st.builds(Opaque, origin=ORIGINS, kind=st.just("card"), data=st.just({"type": "card", "data": [1]})),
    st.builds(
        Opaque, origin=ORIGINS, kind=st.just("refusal"), data=st.just({"type": "refusal", "refusal": "No."})
    ),
)  # fmt: skip
reasoning = st.builds(
    Reasoning,
    text=TEXTS,
    summary=st.sampled_from([(), ("short",)]),
    signature=st.sampled_from([None, "SIG"]),
    encrypted=st.sampled_from([None, "AAA"]),
    id=st.sampled_from([None, "rs_1", "rs_2"]),
    origin=ORIGINS,
)
calls = st.builds(
    ToolCall,
    id=IDS,
    name=st.sampled_from(["read", "fs.ls", "", "名"]),
    arguments=ARGUMENTS,
    extra=st.sampled_from([{}, {"thoughtSignature": "SIG"}]),
    origin=ORIGINS,
)
results = st.builds(
    ToolResult,
    call_id=IDS,
    parts=st.lists(st.one_of(text_part, media, opaque), max_size=3).map(tuple),
    error=st.booleans(),
    name=st.sampled_from([None, "read"]),
)
parts: st.SearchStrategy[Part] = st.one_of(
    text_part, text_part, calls, calls, results, reasoning, media, opaque
)
roles: st.SearchStrategy[Role] = st.sampled_from(
    ["user", "user", "assistant", "assistant", "tool", "tool", "system", "developer", "note"]
)


@st.composite
def histories(draw: st.DrawFn) -> list[Said]:
    """Mangled messages and well-formed rounds, some of them notes, some with break points."""
    drawn: list[Message] = []
    for _ in range(draw(st.integers(0, 6))):
        if draw(st.booleans()):
            batch = draw(st.lists(calls, min_size=1, max_size=3))
            drawn.append(
                Message(role="assistant", parts=tuple(draw(st.lists(reasoning, max_size=1))) + tuple(batch))
            )
            drawn += [
                Message(role="tool", parts=(ToolResult(call_id=one.id, parts=(draw(text_part),)),))
                for one in batch
            ]
        else:
            role = draw(roles)
            name = draw(st.sampled_from([None, None, "Zoë"]))
            drawn.append(Message(role=role, parts=tuple(draw(st.lists(parts, max_size=4))), name=name))
    drawn.insert(draw(st.integers(0, len(drawn))), words("user", "go"))
    return [
        Said(
            one,
            index // 2,
            f"n{index}",
            note=one.role == "user" and one.text != "go" and draw(st.booleans()),
            cut=draw(st.booleans()),
        )
        for index, one in enumerate(drawn)
    ]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories())
def test_every_history_is_valid_and_exactly_accounted_everywhere(said: list[Said]) -> None:
    for name, dialect in PLACES:
        rendered(name, said, dialect)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories(), st.integers(0, 12))
def test_appending_never_changes_an_id_that_was_given(said: list[Said], cut: int) -> None:
    """Rounds that are answered in the shorter history keep their ids in the longer one."""
    start = next(index for index, entry in enumerate(said) if entry.message.text == "go") + 1
    shorter = said[: max(start, cut)]
    for name, dialect in (("openai.chat", None), ("openai.chat", "mistral"), ("anthropic", None)):
        before = _ids(rendered(name, shorter, dialect).payload)
        after = _ids(rendered(name, said, dialect).payload)
        assert after[: len(before)] == before


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(TEXTS, st.lists(calls, max_size=3), TEXTS), min_size=2, max_size=6), st.data())
def test_whole_rounds_appended_leave_all_bytes_before_them(rounds: list[Any], data: st.DataObject) -> None:
    said: list[Said] = []
    ends: list[int] = []
    for text, batch, answer in rounds:
        said.append(Said(words("user", f"go {text}"), len(said)))
        if batch:
            said.append(Said(Message(role="assistant", parts=tuple(batch)), len(said)))
            said += [
                Said(Message(role="tool", parts=(ToolResult(call_id=one.id, parts=(Text(text=answer),)),)), 0)
                for one in batch
            ]
            said.append(Said(words("assistant", f"done {answer}"), len(said)))
        else:
            said.append(Said(words("assistant", f"ok {answer}"), len(said)))
        ends.append(len(said))
    end = data.draw(st.sampled_from(ends))
    for name, key in (
        ("openai.chat", "messages"),
        ("openai.responses", "input"),
        ("anthropic", "messages"),
        ("gemini", "contents"),
    ):
        before = _list(rendered(name, said[:end]).payload, key)
        before = before[:-1] if name in ("anthropic", "gemini") else before  # the fixed last message
        assert _list(rendered(name, said).payload, key)[: len(before)] == before


def _list(payload: dict[str, Any], key: str) -> list[str]:
    return [json.dumps(one) for one in payload[key]]


def _ids(payload: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for message in payload["messages"]:
        found += [entry["id"] for entry in message.get("tool_calls", ())]
        content = message["content"] if isinstance(message["content"], list) else []
        found += [block["id"] for block in content if block.get("type") == "tool_use"]
    return found
