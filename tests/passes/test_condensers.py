from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxtree.counter import counter_for
from ctxtree.passes.condensers import condense, condense_bytes, detect, first_line
from ctxtree.passes.condensers.arguments import shorten
from ctxtree.passes.condensers.cut import ends

DATA = Path(__file__).parent.parent / "data" / "condense"
TEXTS = sorted(path.name for path in DATA.iterdir() if path.suffix != ".condensed")
PAIR_TOKENS = 150


def read(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


def size(text: str) -> int:
    return len(text.encode("utf-8"))


@pytest.fixture(scope="module")
def counter() -> Callable[[str], int]:
    return counter_for("o200k_base")


# Several code points each: a family, flags, a skin tone, an accent, Hangul, Devanagari; and ordinary ones.
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
FLAGS = ["\U0001f1e9\U0001f1ea", "\U0001f1e8\U0001f1f3"]
JOINED = [
    FAMILY,
    *FLAGS,
    "\U0001f44d\U0001f3fd",
    "e\u0301",
    "\u1100\u1161\u11a8",
    "\u0928\u093f",
    "\u2764\ufe0f",
]
GRAPHEMES = [*JOINED, "漢", "🔥", "a", "b", " ", "\n", ". ", "ERROR ", "。"]
mixed = st.lists(st.sampled_from(GRAPHEMES), min_size=1, max_size=400).map("".join)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_becomes_what_stands_beside_it(name: str, counter: Callable[[str], int]) -> None:
    condensed = condense(read(name), PAIR_TOKENS, counter)
    assert condensed + "\n" == read(f"{name}.condensed")
    assert counter(condensed) <= PAIR_TOKENS


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("orders.json", "json"), ("trace.json", "json"), ("events.jsonl", "rows"), ("change.diff", "diff"),
        ("page.html", "html"), ("orders.csv", "table"), ("plans.md", "table"), ("module.py", "code"),
        ("service.log", "log"), ("service_zh.log", "log"), ("tests.txt", "log"), ("letter.txt", "plain"),
    ],
)  # fmt: skip
def test_the_kind_is_found_by_content(name: str, kind: str) -> None:
    assert detect(read(name)) == kind


@settings(max_examples=150, deadline=None)
@given(mixed, st.integers(1, 300))
def test_bytes_stay_within_the_limit_and_no_character_breaks(text: str, limit: int) -> None:
    condensed = condense_bytes(text, limit)
    assert size(condensed) <= limit
    assert condensed
    assert "\ufffd" not in condensed
    whole = set(regex.findall(r"\X", text))
    # A marker may stand right before an accent that opens the text; nothing else may be new.
    pieces = set(regex.findall(r"\X", condensed)) - whole
    assert all(piece.isascii() or piece in "…×" for piece in pieces), pieces


@settings(max_examples=60, deadline=None)
@given(mixed, st.integers(1, 120))
def test_the_final_line_break_changes_nothing(text: str, limit: int) -> None:
    body = text.rstrip("\n")
    if body:
        assert condense_bytes(body, limit) == condense_bytes(body + "\n", limit)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=600), st.integers(1, 120))
def test_any_text_fits_any_limit_and_is_never_emptied(text: str, limit: int) -> None:
    def words(some: str) -> int:
        return len(some.split()) + len(some) // 6

    condensed = condense(text, limit, words)
    assert words(condensed) <= limit
    assert bool(condensed) == bool(text)


@settings(max_examples=60, deadline=None)
@given(mixed, st.integers(1, 80))
def test_both_ends_of_a_text_are_kept(text: str, room: int) -> None:
    shorter = ends(text, room)
    assert len(shorter) <= max(room, 1)
    if len(text) > room:
        head, tail = shorter.split("…")
        assert text.startswith(head)
        assert text.endswith(tail)


def test_emoji_bytes_are_cut_between_characters() -> None:
    assert condense_bytes("🔥" * 10, 18) == "🔥🔥…🔥"
    assert condense_bytes("é" * 7, 14) == "é" * 7
    assert condense_bytes(FAMILY * 3, 53) == FAMILY + "…" + FAMILY
    assert condense_bytes(FAMILY * 3, 24) == "…"
    assert condense_bytes("".join(FLAGS) * 9, 20) == FLAGS[0] + "…" + FLAGS[1]


def test_one_long_line_keeps_both_ends_with_and_without_its_line_break(counter: Callable[[str], int]) -> None:
    line = "start" + "X" * 300_000 + "finish"
    condensed = condense(line, 60, counter)
    assert condensed == condense(line + "\n", 60, counter)
    assert condensed.startswith("start")
    assert condensed.endswith("finish")
    assert counter(condensed) <= 60


def test_the_verdict_after_thousands_of_equal_lines_is_kept(counter: Callable[[str], int]) -> None:
    condensed = condense("ok\n" * 5000 + "FATAL: out of memory\n", 60, counter)
    assert condensed == "ok (×5,000)\nFATAL: out of memory"


def test_a_300_row_result_keeps_schema_totals_both_ends_and_the_failure(
    counter: Callable[[str], int],
) -> None:
    rows = [{"id": n, "name": f"user {n}", "state": "active"} for n in range(300)]
    rows[150]["state"] = "error: quota"
    condensed = condense(json.dumps({"status": "ok", "total": 300, "rows": rows}), 200, counter)
    value = json.loads(condensed)
    assert (value["status"], value["total"]) == ("ok", 300)
    assert value["rows"][0] == rows[0]
    assert value["rows"][-1] == rows[-1]
    assert rows[150] in value["rows"]
    left_out = [row for row in value["rows"] if isinstance(row, str)]
    counts = [int(text.split()[1]) for text in left_out]
    assert all(text.endswith("more items") for text in left_out)
    assert sum(counts) + len(value["rows"]) - len(left_out) == 300


@pytest.mark.parametrize("limit", [20, 60, 200, 1000])
def test_json_stays_json_wherever_there_is_room(limit: int, counter: Callable[[str], int]) -> None:
    condensed = condense(read("orders.json"), limit, counter)
    assert counter(condensed) <= limit
    if limit >= 100:
        assert json.loads(condensed)["total"] == 300


def test_json_nested_past_the_readers_limit_is_still_condensed(counter: Callable[[str], int]) -> None:
    condensed = condense("[" * 100_000 + "]" * 100_000, 50, counter)
    assert condensed
    assert counter(condensed) <= 50


def test_unpaired_surrogate_escapes_in_json_stay_escapes(counter: Callable[[str], int]) -> None:
    condensed = condense(json.dumps({"name": "\ud83d", "rows": list(range(2000))}), 60, counter)
    assert "\\ud83d" in condensed
    condensed.encode("utf-8")


@pytest.mark.parametrize(
    "word",
    [
        "ERROR disk full",
        "Exception in thread main",
        "WARNING low memory",
        "发生错误",
        "任务失败了",
        "出现异常",
        "收到警告",
    ],
)
def test_a_telling_line_in_the_middle_of_a_log_is_kept(word: str, counter: Callable[[str], int]) -> None:
    lines = [f"2024-01-01 10:00:00 request {n} done" for n in range(4000)]
    lines[1717] = f"2024-01-01 10:00:00 {word}"
    condensed = condense("\n".join(lines), 150, counter)
    assert word in condensed
    assert "request 0 " in condensed
    assert "request 3999 " in condensed


def test_zero_errors_do_not_count_as_errors(counter: Callable[[str], int]) -> None:
    lines = [f"suite {n}: 0 errors, 0 failed" for n in range(500)]
    lines[250] = "suite 250: 2 errors"
    condensed = condense("\n".join(lines), 100, counter)
    assert "suite 250: 2 errors" in condensed


@pytest.mark.parametrize(
    "usual",
    [
        "suite {n}: 0 errors",
        'n={n} {{"error": null}}',
        "step {n} exit code 0",
        "GET /{n} error_rate=0.1",
        "第{n}批：没有错误",
    ],
)
def test_one_named_error_is_found_among_thousands_of_mentions(
    usual: str, counter: Callable[[str], int]
) -> None:
    lines = [usual.format(n=n) for n in range(6000)]
    lines[3123] = "ERROR: volume 7 is read-only"
    assert "ERROR: volume 7 is read-only" in condense("\n".join(lines), 150, counter)


def test_encoded_bytes_become_their_size_and_hash(counter: Callable[[str], int]) -> None:
    blob = base64.b64encode(random.Random(3).randbytes(3_000_000)).decode()
    condensed = condense(f"before\n{blob}\nafter", 60, counter)
    assert regex.fullmatch(r"before\n\[base64, 4,000,000 characters, sha256 [0-9a-f]{8}…\]\nafter", condensed)
    wrapped = "\n".join(blob[start : start + 76] for start in range(0, 76 * 100, 76))
    assert "[base64, " in condense(f"key\n{wrapped}\nend", 40, counter)


def test_a_ruler_or_a_single_letter_is_no_encoded_text(counter: Callable[[str], int]) -> None:
    assert "base64" not in condense("-" * 9000, 30, counter)
    assert "base64" not in condense("a" * 9000, 30, counter)


def test_raw_bytes_are_folded_and_the_message_after_them_stays(counter: Callable[[str], int]) -> None:
    noise = "".join(chr(byte) for byte in random.Random(5).randbytes(20_000) if byte not in (10, 13))
    condensed = condense(f"{noise}\nERROR: not a text file", 60, counter)
    assert condensed.startswith("[binary, ")
    assert condensed.endswith("ERROR: not a text file")


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 15, 31, 64, 128, 400])
def test_every_kind_keeps_to_every_limit(name: str, limit: int, counter: Callable[[str], int]) -> None:
    condensed = condense(read(name), limit, counter)
    assert 0 < counter(condensed) <= limit
    assert 0 < size(condense_bytes(read(name), limit)) <= limit


def five_megabytes() -> dict[str, str]:
    log = "".join(f"2024-05-01 12:00:00 INFO request {n} took {n % 97} ms\n" for n in range(110_000))
    rows = json.dumps([{"id": n, "name": f"user {n}", "mail": f"u{n}@example.org"} for n in range(90_000)])
    page = "<html><title>T</title>" + "".join(
        f"<div><p>Item {n} costs <b>{n}</b>.</p></div>" for n in range(120_000)
    )
    prose = "".join(f"The part {n} is described elsewhere. " for n in range(140_000))
    table = "a,b,c\n" + "".join(f"{n},item {n},{n * 3}\n" for n in range(220_000))
    return {"log": log, "json": rows, "html": page, "prose": prose, "table": table, "line": "x" * 5_000_000}


@pytest.mark.parametrize("kind", ["log", "json", "html", "prose", "table", "line"])
def test_five_megabytes_are_condensed(kind: str, counter: Callable[[str], int]) -> None:
    text = five_megabytes()[kind]
    condensed = condense(text, 200, counter)
    assert 100 < counter(condensed) <= 200 or kind == "html"


def test_a_log_of_482_000_tokens_still_ends_in_its_error(counter: Callable[[str], int]) -> None:
    lines = [f"[{n}] copied block {n * 7919 % 100_003} to volume {n % 7}" for n in range(32_000)]
    text = "\n".join([*lines, "ERROR disk quota"])
    assert counter(text) > 400_000
    condensed = condense(text, 200, counter)
    assert condensed.endswith("ERROR disk quota")
    assert condensed.startswith("[0] copied block 0")


def test_the_first_line_is_the_error_where_there_is_one() -> None:
    trace = 'Traceback (most recent call last):\n  File "a.py", line 3\n    import foo\nImportError: foo\n'
    assert first_line(trace, 60) == "ImportError: foo"
    assert first_line("\n\n  building 4 targets\nall good\n", 60) == "building 4 targets"
    assert first_line("ok\n" * 90_000 + "ERROR disk quota\n", 60) == "ERROR disk quota"
    assert first_line("", 60) == ""


@given(mixed, st.integers(1, 60))
def test_a_first_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = first_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.text(max_size=8), values, max_size=6), st.integers(1, 100))
def test_shortened_arguments_keep_every_key_and_are_json(arguments: dict[str, object], limit: int) -> None:
    shorter = shorten(arguments, limit, size)
    assert list(shorter) == list(arguments)
    assert json.loads(json.dumps(shorter)) == shorter
    if size(json.dumps(arguments, ensure_ascii=False)) <= limit:
        assert shorter == arguments


def test_long_arguments_say_how_much_is_left_out(counter: Callable[[str], int]) -> None:
    shorter = shorten({"path": "src/lexer.py", "content": "word " * 2000, "force": True}, 60, counter)
    assert shorter["path"] == "src/lexer.py"
    assert shorter["force"] is True
    assert regex.fullmatch(r"(?:word ?)+… \[9,\d{3} characters left out\]", shorter["content"])
    assert counter(json.dumps(shorter)) <= 60


def test_arguments_that_are_no_object_become_one(counter: Callable[[str], int]) -> None:
    assert shorten("not json " * 200, 20, counter)["_raw"].startswith("not json")
    assert shorten("[1, 2]", 20, counter) == {"_raw": [1, 2]}
    assert shorten("", 20, counter) == {}
