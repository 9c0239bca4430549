"""The estimator against the exact counter.

`python tests/test_estimate.py` prints the table of `docs/tokens.md`.
"""

from __future__ import annotations

import base64
import json
import random
import re
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ctxtree
from ctxtree.errors import CtxtreeError
from ctxtree.estimate import COMMON_HAN, COMMON_HANGUL, estimate
from ctxtree.vocab import encoding

ENCODINGS = ("o200k_base", "cl100k_base")
WINDOW = 1000
WORST = 0.20
FIXTURES = Path(__file__).parent / "data" / "estimate"
TABLE = Path(__file__).parent.parent / "docs" / "tokens.md"


def windows(text: str, size: int = WINDOW, step: int = WINDOW) -> list[str]:
    """The text in samples of `size` characters, one every `step`; a rest below 500 is left out."""
    cuts = [text[start : start + size] for start in range(0, len(text), step)]
    return [cut for cut in cuts if len(cut) >= 500]


def records(count: int) -> list[dict[str, object]]:
    rng = random.Random(7)
    cities = ("Lisbon", "Nairobi", "Osaka", "Tromsø", "Quito")
    return [
        {
            "order_id": f"A{rng.randrange(10**6):06}",
            "status": rng.choice(("shipped", "pending", "cancelled")),
            "address": {"city": rng.choice(cities), "zip": f"{rng.randrange(10**5):05}"},
            "items": [{"sku": rng.randrange(10**8), "quantity": 1, "price": 12.5}],
            "note": "leave it at the door if nobody answers",
        }
        for _ in range(count)
    ]


def log_lines(count: int) -> str:
    rng = random.Random(11)
    said = (
        "INFO http.server: GET /api/v1/orders/{n} 200 in {m}ms",
        "WARN db.pool: connection {m} was idle for {n} seconds and is closed",
        "ERROR worker: job {n} failed: TimeoutError: no answer after {m}s",
        "DEBUG cache: miss for key user:{n}:profile",
    )
    lines = []
    for second in range(count):
        text = rng.choice(said).format(n=rng.randrange(10**5), m=rng.randrange(100))
        lines.append(
            f"2024-03-09T08:{second // 60 % 60:02}:{second % 60:02}.{rng.randrange(1000):03}Z {text}\n"
        )
    return "".join(lines)


def samples() -> dict[str, list[str]]:
    """Samples of 500 to 1,000 characters by kind: fixtures, this package's code, and generated data."""
    rng = random.Random(3)
    english, chinese, japanese, korean = (
        (FIXTURES / f"{name}.txt").read_text("utf-8") for name in ("english", "chinese", "japanese", "korean")
    )
    code = (Path(ctxtree.__file__).parent / "model.py").read_text("utf-8")
    mixed = [
        english[at : at + 300] + code[at : at + 300] + chinese[at % 400 :][:150] for at in range(0, 1000, 100)
    ]
    return {
        "English prose": windows(english, 500, 100),
        "Chinese prose": windows(chinese, 500, 40),
        "Japanese prose": windows(japanese, 500, 40),
        "Korean prose": windows(korean, 500, 40),
        "Python": windows(code),
        "JavaScript": windows((FIXTURES / "script.js").read_text("utf-8"), 500, 100),
        "JSON, compact": windows(json.dumps(records(60), separators=(",", ":"))),
        "JSON, indented": windows(json.dumps(records(40), indent=2)),
        "base64": windows(base64.b64encode(rng.randbytes(12_000)).decode()),
        "hex": windows(rng.randbytes(8000).hex()),
        "logs": windows(log_lines(200)),
        "mixed": mixed,
    }


def errors(texts: list[str], name: str) -> list[float]:
    exact = encoding(name)
    return [estimate(text, name) / len(exact.encode_ordinary(text)) - 1 for text in texts]


def rows() -> list[str]:
    table = []
    for kind, texts in samples().items():
        cells = [kind, str(len(texts))]
        for name in ENCODINGS:
            found = errors(texts, name)
            cells += [f"{sum(found) / len(found):+.1%}", f"{max(found, key=abs):+.1%}"]
        table.append("| " + " | ".join(cells) + " |")
    return table


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("kind", list(samples()))
def test_no_sample_of_500_characters_is_off_by_a_fifth(kind: str, name: str) -> None:
    assert max(map(abs, errors(samples()[kind], name))) < WORST


def test_the_table_in_the_docs_is_what_is_measured() -> None:
    said = TABLE.read_text("utf-8")
    # The package's own code is one of the samples and changes with every release; its figures may move.
    missing = [row for row in rows() if row not in said and not row.startswith(("| Python", "| mixed"))]
    assert not missing


CJK = (
    "请不要删除 migrations 目录，回到刚才那个方案。", "你好世界", "안녕하세요 세계", "🔥🎉💯",
    "👨‍👩‍👧‍👦", "🏳️‍🌈🇯🇵👍🏽", "カタカナ", "コンピューターのデータ", "ありがとうございます", "錯誤處理與記憶體管理",
    "饕餮魑魅魍魉", "中", "한",
)  # fmt: skip


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("text", CJK)
def test_short_chinese_japanese_korean_and_emoji_are_never_underestimated(text: str, name: str) -> None:
    assert estimate(text, name) >= len(encoding(name).encode_ordinary(text))


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("file", ["chinese", "japanese", "korean"])
def test_sentences_of_prose_are_never_underestimated(file: str, name: str) -> None:
    text = (FIXTURES / f"{file}.txt").read_text("utf-8")
    exact = encoding(name)
    for sentence in filter(None, re.split("[。.\n]", text)):
        assert estimate(sentence, name) >= len(exact.encode_ordinary(sentence))


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("kind", ["Chinese prose", "Japanese prose", "Korean prose"])
def test_pages_of_chinese_japanese_and_korean_are_never_underestimated(kind: str, name: str) -> None:
    assert min(errors(samples()[kind], name)) >= 0


@pytest.mark.parametrize("name", ENCODINGS)
def test_an_english_sentence_is_at_most_half_again_as_much(name: str) -> None:
    text = "Hello world, please do not delete the migrations directory."
    assert estimate(text, name) <= 1.5 * len(encoding(name).encode_ordinary(text))


ODD = st.text(
    st.sampled_from("aZé19 \n\t\r.,;:\"'(){}_-=/\\中國的。あ한🔥\u200d\u3000\u00a0\x00\ud800я"), max_size=40
)


BLANK = st.text(st.sampled_from(" \n\t\r,a1中"), max_size=12)


@example("────", "──────────────────")
@example(",#1\x00Y1 )。的\n ", "\n")
@example("'[\"\x00  ", "я")
@given(ODD | BLANK | st.text(max_size=40), ODD | BLANK | st.text(max_size=40))
@settings(max_examples=300, deadline=None)
def test_appending_text_never_lowers_the_estimate(text: str, more: str) -> None:
    for name in ENCODINGS:
        assert estimate(text, name) <= estimate(text + more, name)


@given(st.text(min_size=1))
def test_only_the_empty_text_is_free(text: str) -> None:
    assert estimate(text) > 0
    assert estimate("") == 0


def test_the_common_characters_are_those_that_cl100k_knows_whole() -> None:
    exact = encoding("cl100k_base")
    whole = {chr(code) for code in range(0x4E00, 0x9FFF) if len(exact.encode_ordinary(chr(code))) == 1}
    assert whole == COMMON_HAN
    whole = {chr(code) for code in range(0xAC00, 0xD7A4) if len(exact.encode_ordinary(chr(code))) == 1}
    assert whole == COMMON_HANGUL


def test_another_encoding_is_refused() -> None:
    with pytest.raises(CtxtreeError, match="p50k_base"):
        estimate("text", "p50k_base")


if __name__ == "__main__":
    sys.stdout.write("\n".join(rows()) + "\n")
