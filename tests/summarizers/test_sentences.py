from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxtree.summarizers.sentences import both_ends, clauses, sentences, shorten, split

CASES = [
    ("One. Two! Three?", ("One.", "Two!", "Three?")),
    ("Use 3.14 in a.py, e.g. here. Dr. Smith agrees.", ("Use 3.14 in a.py, e.g. here.", "Dr. Smith agrees.")),
    ("绝对不要删除。代号是42！好吗？", ("绝对不要删除。", "代号是42！", "好吗？")),
    ("Do NOT push to main, and 绝对不要删除 migrations 目录.", ("Do NOT push to main, and 绝对不要删除 migrations 目录.",)),
    ("他说“不行。”然后走了。", ("他说“不行。”", "然后走了。")),
    ("Rules:\n- tests first\n* no prints\n1. ask me", ("Rules:", "tests first", "no prints", "ask me")),
    ("Before.\n```\nmust_not = 1\n```\nAfter.", ("Before.", "After.")),
    ("This is a line that was wrapped by an editor in\nthe middle of it. Next.", (
        "This is a line that was wrapped by an editor in the middle of it.", "Next.")),
    ("See no. 5 and fig. 3. There is no. Stop.", ("See no. 5 and fig. 3.", "There is no.", "Stop.")),
    ("J. Smith came. Plan B. Then C.", ("J. Smith came.", "Plan B.", "Then C.")),
    ("", ()),
    (" \n\n ", ()),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_text_splits_at_the_ends_of_sentences(text: str, expected: tuple[str, ...]) -> None:
    assert split(text) == expected


def test_items_of_a_list_are_known_as_such() -> None:
    assert [piece.listed for piece in sentences("Rules:\n- one\n- two\nDone.")] == [False, True, True, False]


@given(st.text(alphabet="ab. ,，。!?\n-:1（）\"'", max_size=300), st.integers(20, 60))
def test_pieces_are_bounded_and_lose_no_letter(text: str, longest: int) -> None:
    pieces = split(text, longest)
    assert all(0 < len(piece) <= longest for piece in pieces)
    kept, letters = "".join(pieces), [mark for mark in text if mark in "ab"]
    assert [mark for mark in kept if mark in "ab"] == letters


def test_a_text_without_any_border_is_cut_at_the_limit() -> None:
    assert [len(piece) for piece in split("x" * 1_000)] == [400, 400, 200]


def test_clauses_keep_their_marks() -> None:
    assert clauses("do it, now; 请，好") == ("do it,", "now;", "请，", "好")


@given(st.text(max_size=200), st.integers(2, 80))
def test_a_shortened_text_fits_and_shows_the_cut(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit
    assert short == text or short.endswith("…")


def test_both_ends_say_how_much_is_missing() -> None:
    assert both_ends("a" * 10 + "b" * 90 + "c" * 5, 15) == "a" * 10 + " […90 characters…] " + "c" * 5
