"""Gemini's parts and signatures, and the readable transcript."""

from __future__ import annotations

from typing import Any

from ctxtree.model import Media, Message, Text
from ctxtree.plan import Said
from tests.render.saying import PIXEL, call, codes, note, rendered, result, says, words

U = words("user", "x")


def contents(*said: Said | Message, dialect: str | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rendered("gemini", said, dialect).payload["contents"]  # type: ignore[assignment]
    return found


def test_calls_and_results_are_parts_without_ids() -> None:
    made = rendered(
        "gemini",
        [
            words("system", "S."),
            U,
            says("I read.", call("c1", arguments={"p": 1}), call("c1", "ls")),
            result("c1", "a"),
            result("c1", "b", error=True),
        ],
    )
    assert made.payload == {
        "systemInstruction": {"parts": [{"text": "S."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "x"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "I read."},
                    {"functionCall": {"name": "read", "args": {"p": 1}}},
                    {"functionCall": {"name": "ls", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "read", "response": {"output": "a"}}},
                    {"functionResponse": {"name": "ls", "response": {"error": "b"}}},
                ],
            },
        ],
    }
    assert made.repairs == ()


def test_signatures_go_back_with_their_call_and_only_to_their_api() -> None:
    own = call("c1", origin="gemini", extra={"thoughtSignature": "SIG"})
    foreign = call("c2", origin="other", extra={"thoughtSignature": "SIG2"})
    parts = contents(U, says(own, foreign), result("c1", "a"), result("c2", "b"))[1]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == ["SIG", None]


def test_gemini_three_gets_the_documented_stand_in_on_the_first_call_of_a_step() -> None:
    said = (U, says(call("c1"), call("c2")), result("c1", "a"), result("c2", "b"))
    assert [part.get("thoughtSignature") for part in contents(*said, dialect="gemini-3")[1]["parts"]] == [
        "skip_thought_signature_validator", None,
    ]  # fmt: skip
    assert not any("thoughtSignature" in part for part in contents(*said)[1]["parts"])


def test_media_are_inline_or_by_address() -> None:
    parts = (
        Media(mime="image/png", data=PIXEL),
        Media(kind="video", mime="video/mp4", url="https://example.org/v.mp4"),
        Media(kind="file", url="https://example.org/unknown"),
    )
    assert contents(Message(role="user", parts=parts))[0]["parts"] == [
        {"inlineData": {"mimeType": "image/png", "data": PIXEL}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "https://example.org/v.mp4"}},
        {"text": "[file, not supported here]"},
    ]


def test_a_transcript_is_readable() -> None:
    made = rendered(
        "text",
        [
            words("system", "Be terse."),
            note("Summary: all is well."),
            words("user", "Read it."),
            says("I will.", call("c1", "read", {"path": "a.py"})),
            result("c1", "body"),
            says("Done."),
        ],
        tools=({"name": "read"},),
    )
    assert made.payload["text"] == (
        "System: Be terse.\n\nUser: Summary: all is well.\n\nRead it.\n\nAssistant: I will.\n\n"
        "[call read(path=a.py)]\n\n[tool read → body]\n\nAssistant: Done."
    )
    assert codes(made) == {"tools_dropped"}


def test_a_transcript_is_counted_as_one_text_and_shared_out_exactly() -> None:
    pieces = [
        Message(role="user", parts=(Text(text=word),)) for word in ("a", "lorem ipsum " * 50, "b", "。", "🙂")
    ]
    made = rendered("text", pieces)
    assert set(made.spans) == set(range(5))
    assert made.overhead == 0
