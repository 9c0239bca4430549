"""Counts of texts against tiktoken's own."""

from __future__ import annotations

import base64
import random
import re
import sys
import threading
from typing import Any

import pytest
import tiktoken_ext.openai_public as published  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxtree import vocab
from ctxtree.counter import LONGEST_RUN, counter_for, pieces
from ctxtree.errors import CtxtreeError
from ctxtree.estimate import estimate
from ctxtree.tokens import (
    count,
)

ENCODINGS = ("o200k_base", "cl100k_base")


def true_count(text: str, name: str = "o200k_base") -> int:
    return len(vocab.encoding(name).encode_ordinary(text))


@pytest.mark.parametrize("vocabulary", [vocab.O200K, vocab.CL100K], ids=lambda one: one.name)
def test_pattern_special_tokens_and_hash_are_those_of_the_installed_tiktoken(
    vocabulary: vocab.Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def load(url: str, expected_hash: str) -> dict[bytes, int]:
        asked.update(url=url, sha256=expected_hash)
        return {}

    monkeypatch.setattr(published, "load_tiktoken_bpe", load)
    says = getattr(published, vocabulary.name)()
    assert says["pat_str"] == vocabulary.pattern
    assert says["special_tokens"] == dict(vocabulary.special)
    assert asked["sha256"] == vocabulary.sha256


def test_a_damaged_vocabulary_is_refused() -> None:
    other = vocab.Vocabulary("o200k_base", "0" * 64, vocab.O200K.pattern, vocab.O200K.special)
    with pytest.raises(CtxtreeError, match="sha256"):
        vocab.read(other)
    with pytest.raises(CtxtreeError, match="install ctxtree again"):
        vocab.read(vocab.Vocabulary("none_base", "0" * 64, "", ()))


def test_eight_threads_that_count_at_once_agree() -> None:
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(counter_for("cl100k_base")("one two three")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [3] * 8


def test_importing_the_package_loads_no_tokenizer() -> None:
    import subprocess

    program = "import sys, ctxtree, ctxtree.tokens, ctxtree.counter; print('tiktoken' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"


# --- texts

ODD = st.text(
    st.sampled_from("aZé19 \n\t\r.,;:\"'(){}_-=/\\中國的。あ한🔥\u200d\u3000\u00a0\x00я👨‍👩‍👧🇩🇪|<>"),
    max_size=80,
)
CODE = st.lists(
    st.sampled_from(
        [
            "def f(x):\n",
            "    return x\n",
            "foo_bar",
            "==",
            "{}",
            "# 注释",
            "'''",
            "\t",
            "self.a[0]",
            "\r\n",
            "0x1F",
        ]
    ),
    max_size=30,
).map("".join)


@pytest.mark.parametrize("name", ENCODINGS)
@settings(max_examples=200, deadline=None)
@given(text=st.text(st.characters(exclude_categories=("Cs",)), max_size=200) | ODD | CODE)
def test_counts_equal_those_of_tiktoken(name: str, text: str) -> None:
    assert counter_for(name)(text) == true_count(text, name)


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize(
    "text", ["see <|endoftext|> here", "<|im_start|>system\nobey<|im_end|>", "<|fim_prefix|>"]
)
def test_text_that_spells_a_special_token_is_ordinary_text(text: str, name: str) -> None:
    assert count(text, name) == true_count(text, name) > 4


def test_unpaired_surrogates_are_counted_and_not_refused() -> None:
    for text in ("\ud83c", "\ude00abc", "a \ud835 b"):
        assert count(text) == count(re.sub("[\ud800-\udfff]", "\ufffd", text)) > 0


def test_many_counts_as_one_by_one_and_in_order() -> None:
    texts = ["a b c", "x" * 9000, "word " * 3000, "", "中文 " * 2500, "word " * 3000, "line\n" * 2000]
    assert counter_for("o200k_base").many(texts) == [counter_for("o200k_base")(text) for text in texts]


def test_a_second_count_of_the_same_text_asks_no_tokenizer() -> None:
    asked: list[str] = []

    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    counter = counter_for(length)
    texts = ["short", "long " * 500]
    assert [counter(text) for text in texts * 3] == [len(text) for text in texts * 3]
    assert asked == texts


LONG_RUNS = {
    "letters": "a" * 100_000,
    "carets": "^" * 1_000_000,
    "han": "中" * 100_000,
    "base64": base64.b64encode(random.Random(2).randbytes(3_000_000)).decode(),
    "lines": "1\n" * 30_000,
    "x": "x" * 1_300_000,
    "emoji": "🔥" * 200_000,
    "families": "👨‍👩‍👧‍👦" * 20_000,
    "hex": random.Random(2).randbytes(300_000).hex(),
    "minified": "function(a,b){return a.b[c]+d};" * 10_000,
}


@pytest.mark.parametrize("kind", list(LONG_RUNS))
def test_long_runs_are_counted_to_a_fiftieth(kind: str) -> None:
    text = LONG_RUNS[kind]
    counter = counter_for("o200k_base")
    found = counter(text)
    true = true_count(text)
    assert abs(found - true) <= true / 50, "pieces cost next to nothing"


@pytest.mark.parametrize("space", [" ", "\n", "\t", " \n", "\u3000", "\u00a0"])
def test_a_million_blanks_are_counted_though_tiktoken_panics_on_them(space: str) -> None:
    counter = counter_for("o200k_base")
    found = counter(space * (1_000_000 // len(space)))
    assert 0 < found <= 1_000_000
    assert counter.inexact == 1
    # Shorter runs, which tiktoken can take, show that the figure is right.
    assert abs(counter(space * 20_000) - true_count(space * 20_000)) <= true_count(space * 20_000) / 10 + 4


def test_only_runs_beyond_the_limit_are_cut_and_reported() -> None:
    counter = counter_for("o200k_base")
    counter("word " * 20_000)
    counter("x" * LONGEST_RUN)
    assert counter.inexact == 0
    counter("x" * (LONGEST_RUN + 1))
    assert counter.inexact == 1


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["x" * 5000, "中" * 4500, " " * 6000, "ab1" * 1800, "some words. ", "\n"]), max_size=6
    )
)
def test_pieces_join_to_the_text_and_no_run_in_them_is_too_long(parts: list[str]) -> None:
    text = "".join(parts)
    cut = [piece for piece, _ in pieces(text)]
    assert "".join(cut) == text
    assert not any(re.search(r"\S{4098,}|\s{4098,}", piece) for piece in cut)


class Panic(BaseException):
    """Stands for what a Rust tokenizer raises."""


def panics_on_runs(text: str) -> int:
    if "boom" in text:
        raise Panic
    return len(text.split())


def test_a_tokenizer_that_panics_falls_back_to_the_estimate() -> None:
    counter = counter_for(panics_on_runs)
    assert counter("one two three") == 3
    assert counter("boom boom") == estimate("boom boom")
    assert counter.inexact == 1


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_stop_from_outside_is_not_swallowed(stop: type[BaseException]) -> None:
    def stopped(text: str) -> int:
        raise stop

    with pytest.raises(stop):
        counter_for(stopped)("text")


@pytest.mark.parametrize("answer", [-1, 2.5, True, None, "7"])
def test_a_function_that_gives_no_count_is_refused_without_the_text(answer: Any) -> None:
    with pytest.raises(CtxtreeError, match="must give an int") as caught:
        count("very secret", lambda text: answer)
    assert "secret" not in str(caught.value)


# --- names


@pytest.mark.parametrize(
    ("name", "target", "encoding", "exact", "factor"),
    [
        (None, "openai.chat", "o200k_base", True, 1.0),
        (None, "openai.responses", "o200k_base", True, 1.0),
        (None, "text", "o200k_base", True, 1.0),
        (None, "anthropic", "o200k_base", False, 1.3),
        (None, "gemini", "o200k_base", False, 1.3),
        ("gpt-4o", "openai.chat", "o200k_base", True, 1.0),
        ("gpt-4o-mini-2024-07-18", "openai.chat", "o200k_base", True, 1.0),
        ("openai/gpt-4o", "openai.chat", "o200k_base", True, 1.0),
        ("gpt-4", "openai.chat", "cl100k_base", True, 1.0),
        ("cl100k_base", "openai.chat", "cl100k_base", True, 1.0),
        ("claude-sonnet-4-5", "openai.chat", "o200k_base", False, 1.3),
        ("models/gemini-2.5-pro", "gemini", "o200k_base", False, 1.3),
        ("estimate", "openai.chat", "estimate", False, 1.0),
        ("estimate:cl100k", "openai.chat", "estimate:cl100k", False, 1.0),
    ],
)  # fmt: skip
def test_a_name_or_target_chooses_the_counter(
    name: str | None, target: str, encoding: str, exact: bool, factor: float
) -> None:
    counter = counter_for(name, target)
    assert (counter.name, counter.exact, counter.factor) == (encoding, exact, factor)
    assert not counter.fallback
    assert counter.bound >= counter.factor


def test_a_model_that_nobody_knows_is_counted_with_o200k_and_says_so() -> None:
    counter = counter_for("qwen-next-900b")
    assert (counter.name, counter.fallback, counter.asked, counter.exact) == (
        "o200k_base", True, "qwen-next-900b", False,
    )  # fmt: skip


def test_an_encoding_that_cannot_be_had_is_a_typed_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(proxy, "http://127.0.0.1:9")
    with pytest.raises(CtxtreeError, match="p50k_base"):
        counter_for("p50k_base")
    with pytest.raises(CtxtreeError, match="estimate:gpt2"):
        counter_for("estimate:gpt2")


def test_a_counter_is_given_back_and_a_calibrated_one_remembers() -> None:
    counter = counter_for("claude-opus-4-5")
    assert counter_for(counter) is counter
    learned = counter.calibrated(1.4, 1.6)
    assert (learned.factor, learned.bound, learned("text")) == (1.4, 1.6, counter("text"))


def test_a_counter_asked_anew_has_counted_nothing_in_pieces_yet_but_remembers() -> None:
    calls: list[str] = []
    counter = counter_for(lambda text: calls.append(text) or len(text))
    long = "x" * (LONGEST_RUN + 1)
    found = counter(long)
    asked = len(calls)
    again = counter.anew()
    assert (counter.inexact, again.inexact) == (1, 0)
    assert again("short") == 5
    assert again.inexact == 0
    assert again(long) == found
    assert again.inexact == 1
    assert len(calls) == asked + 1
