from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxtree.words import REACH, Words, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("running tests", "The TESTS ran: run a test"),
        ("Größe", "grosse"),
        ("café", "CAFE"),
        ("тестирование", "тестирования"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("Caroline’s", "Caroline"),
        ("安装 sqlite", "用SQLite存储"),
        ("안녕하세요", "안녕"),
        ("プログラム", "プログラムを書く"),
        ("lexer.py", "see src/lexer.py:42 for it"),
        ("import error", "ImportError"),
        ("snake case", "snake_case"),
        ("1,000", "it costs 1000"),
        ("方案", "回到刚才那个方案"),
    ],
)
def test_what_means_the_same_shares_a_term(one: str, other: str) -> None:
    assert set(terms(one)) & set(terms(other))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("src/lexer.py", ["src/lexer.py", "src", "lexer.py", "lexer", "py"]),
        ("ImportError", ["importerror", "import", "error"]),
        ("C++ and C#", ["c++", "c#"]),
        ("I don't, you didn’t", []),
        ("3.14", ["3.14", "3", "14"]),
        ("1,234,567", ["1234567"]),
        ("", []),
        ("--- 🔥 …", []),
        ("的", []),
    ],
)
def test_a_text_gives_these_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_a_chinese_word_unknown_to_the_dictionary_still_matches_by_its_pairs() -> None:
    assert "鑫曜" in terms("我们去找鑫曜公司谈")
    assert "鑫曜" in terms("鑫曜")


def test_different_words_share_no_term() -> None:
    assert not set(terms("the parser plan")) & set(terms("a regex patch"))


def test_of_a_long_text_only_the_two_ends_are_read() -> None:
    text = "alpha " + "x " * (2 * REACH) + "middleword " + "x " * (2 * REACH) + " omega"
    found = terms(text)
    assert (found[0], found[-1]) == ("alpha", "omega")
    assert "middleword" not in found
    assert len(found) <= 2 * REACH


def test_five_megabytes_without_a_break_are_one_short_term_or_few() -> None:
    assert sum(map(len, terms("a" * 5_000_000))) < 1_000


def test_what_was_read_before_does_not_change_what_is_read_now() -> None:
    words = Words()
    words.terms("running RUNNING Running 方案 plan's")
    assert words.terms("Running the plans 方案") == terms("Running the plans 方案")


def test_importing_the_module_loads_no_library() -> None:
    check = "import sys, ctxtree.words; print('rjieba' in sys.modules or 'snowballstemmer' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_any_text_gives_short_terms_without_spaces_and_always_the_same(text: str) -> None:
    found = terms(text)
    assert found == Words().terms(text)
    assert all(term and not term.isspace() for term in found)
