"""A broken log explained to its owner."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxtree import FormatError
from ctxtree.doctor import SHOWN, examine
from ctxtree.importers.base import CODES, HARMLESS
from ctxtree.importers.effects import EFFECTS
from tests.importers.logs import FIXTURES
from tests.importers.test_formats import EXPECTED


def test_it_says_what_and_where_and_what_it_does_to_a_model_and_what_was_done() -> None:
    found = examine(FIXTURES / "cc_dangling.jsonl")
    (one,) = found.conversations
    (finding,) = one.findings
    (place,) = finding.places
    raw = (FIXTURES / "cc_dangling.jsonl").read_bytes().split(b"\n")
    assert (finding.code, place.line, place.what) == ("dangling_parent", 4, "a2 names parent gone-1")
    assert place.byte == sum(len(line) + 1 for line in raw[:3])
    assert place.done == "attached to u2"
    assert "lost all that was said before" in finding.effect
    for words in (
        "line 4 (byte",
        "a2 names parent gone-1",
        "done: attached to u2",
        f"to a model: {finding.effect}",
    ):
        assert words in found.text


@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if expected[3]])
def test_every_defect_of_a_fixture_is_told_once_with_all_its_places(name: str) -> None:
    found = examine(FIXTURES / name)
    told: dict[str, int] = {}
    for one in found.conversations:
        for finding in one.findings:
            assert (finding.meaning, finding.effect) == (CODES[finding.code], EFFECTS[finding.code])
            if not finding.harmless:
                told[finding.code] = told.get(finding.code, 0) + len(finding.places)
    assert told == EXPECTED[name][3]
    assert all(code in found.text for code in told)


def test_a_request_that_must_be_mended_is_told_too() -> None:
    (one,) = examine(FIXTURES / "openai_parallel.json").conversations
    assert [code for code, _ in one.request] == ["orphan_result"]


def test_a_log_in_which_nobody_asked_anything_says_so(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps([{"role": "assistant", "content": "hello"}]))
    (one,) = examine(path).conversations
    assert one.request[0][0] == "no_user_turn"


def test_many_places_of_one_defect_are_told_in_short(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    rows = ['{"role": "user", "content": "hi"}', *["{broken"] * 30, '{"role": "assistant", "content": "ok"}']
    path.write_text("\n".join(rows))
    found = examine(path)
    assert f"and in {30 - SHOWN} more: lines 7, 8," in found.text
    assert len(found.conversations[0].findings[0].places) == found.skipped == 30


def test_a_sound_log_is_called_sound_and_of_many_only_the_others_are_told(tmp_path: Path) -> None:
    sound = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    broken = {"messages": [{"role": "oracle", "content": "a"}, {"role": "user", "content": "b"}]}
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in (sound, broken, sound, sound)))
    text = examine(path).text
    assert "3 conversations have nothing wrong." in text
    assert text.count("unknown_role") == 1
    path.write_text(json.dumps(sound))
    assert "nothing is wrong with it" in examine(path).text


def test_words_of_the_conversation_are_never_repeated() -> None:
    for name in EXPECTED:
        text = examine(FIXTURES / name).text
        for secret in (
            "Keep the old import path",
            "Port 9090",
            "nobody asked",
            "Begin anew",
            "From elsewhere",
        ):
            assert secret not in text


def test_what_is_only_worth_knowing_comes_last() -> None:
    (one,) = examine(FIXTURES / "gemini_rewind.jsonl").conversations
    assert [finding.code in HARMLESS for finding in one.findings] == [False, True]


def test_the_file_stays_as_it_was_and_a_file_that_is_no_log_is_refused(tmp_path: Path) -> None:
    before = (FIXTURES / "cc_truncated.jsonl").read_bytes()
    examine(FIXTURES / "cc_truncated.jsonl")
    assert (FIXTURES / "cc_truncated.jsonl").read_bytes() == before
    path = tmp_path / "none.txt"
    path.write_text("hello")
    with pytest.raises(FormatError):
        examine(path)
