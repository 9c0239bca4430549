"""What pictures, sounds and files cost."""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxtree.media import UNKNOWN_AUDIO, UNKNOWN_FILE, UNKNOWN_IMAGE, media_of, media_tokens, size_of
from ctxtree.model import Media
from ctxtree.tokens import count

FAMILIES = ("openai", "anthropic", "gemini")


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def png(width: int, height: int) -> bytes:
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = b"IDAT" + zlib.compress(b"\0" * 100)
    chunks = b"".join(
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", binascii.crc32(chunk))
        for chunk in (head, body, b"IEND")
    )
    return b"\x89PNG\r\n\x1a\n" + chunks


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0" * 40


def jpeg(width: int, height: int, before: int = 40_000) -> bytes:
    """With an EXIF block of `before` bytes that holds a thumbnail's frame, and a comment."""
    thumbnail = b"\xff\xd8\xff\xc0\0\x11\x08" + struct.pack(">HH", 60, 80) + b"\0" * before
    exif = b"\xff\xe1" + struct.pack(">H", len(thumbnail) + 2) + thumbnail
    comment = b"\xff\xfe\0\x06hi!!"
    frame = b"\xff\xc2\0\x11\x08" + struct.pack(">HH", height, width) + b"\x03" + b"\0" * 9
    return b"\xff\xd8" + exif + comment + b"\xff" + frame + b"\xff\xda" + b"\0" * 50


def webp(width: int, height: int, form: bytes) -> bytes:
    if form == b"VP8X":
        size = b"\0" * 4 + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    elif form == b"VP8L":
        size = b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14)
    else:
        size = b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height)
    return b"RIFF" + struct.pack("<I", 100) + b"WEBP" + form + struct.pack("<I", 80) + size + b"\0" * 60


def wav(seconds: float, rate: int = 16_000) -> bytes:
    size = int(seconds * rate * 2)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate * 2, 2, 16)
    note = struct.pack("<4sI", b"LIST", 5) + b"hello\0"
    return b"RIFF" + struct.pack("<I", size + 36) + b"WAVE" + form + note + struct.pack("<4sI", b"data", size)


HEADERS = {
    "png": png(1024, 700),
    "gif": gif(1024, 700),
    "jpeg": jpeg(1024, 700),
    "webp lossy": webp(1024, 700, b"VP8 "),
    "webp lossless": webp(1024, 700, b"VP8L"),
    "webp extended": webp(1024, 700, b"VP8X"),
}


@pytest.mark.parametrize("form", list(HEADERS))
def test_the_size_of_a_picture_is_read_from_its_header(form: str) -> None:
    data = encoded(HEADERS[form])
    assert size_of(Media(data=data)) == (1024, 700)
    assert size_of(Media(url=f"data:image/x;base64,{data}")) == (1024, 700)


@pytest.mark.parametrize("form", list(HEADERS))
def test_a_header_that_is_cut_off_gives_no_size_and_no_error(form: str) -> None:
    for length in range(0, 40, 3):
        size = size_of(Media(data=encoded(HEADERS[form][:length])))
        assert size in (None, (1024, 700))


@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"\xff\xd8\xff", b"GIF89a", b"RIFF\0\0\0\0WAVE", b"RIFF\0\0\0\0WEBP"]),
)
def test_any_bytes_cost_something_bounded(data: bytes, start: bytes) -> None:
    for kind in ("image", "audio", "video", "file"):
        for family in FAMILIES:
            assert 1 <= media_tokens(Media(kind=kind, data=encoded(start + data)), family) <= 200_000


@pytest.mark.parametrize("data", ["not base64 !!", "", "A", "data:image/png", "data:,", "ÿÿÿÿ"])
def test_data_that_is_no_base64_costs_the_allowance(data: str) -> None:
    assert media_tokens(Media(data=data)) == UNKNOWN_IMAGE["openai"]


# From the providers' pages: OpenAI "Images and vision", Anthropic "Vision", Google "Understand and count tokens".
@pytest.mark.parametrize(
    ("family", "width", "height", "tokens"),
    [
        ("openai", 1024, 1024, 765),
        ("openai", 2048, 4096, 1105),
        ("openai", 512, 512, 255),
        ("openai", 1, 1, 255),
        ("openai", 100_000, 100_000, 765),
        ("anthropic", 200, 200, 54),
        ("anthropic", 1000, 1000, 1334),
        ("anthropic", 1092, 1092, 1568),
        ("anthropic", 3000, 2000, 1568),
        ("anthropic", 1, 1, 1),
        ("gemini", 384, 384, 258),
        ("gemini", 960, 540, 1548),
    ],
)
def test_a_picture_costs_what_the_provider_publishes(
    family: str, width: int, height: int, tokens: int
) -> None:
    assert media_tokens(Media(width=width, height=height), family) == tokens


def test_low_detail_is_a_flat_85_at_openai() -> None:
    assert media_tokens(Media(width=4000, height=3000, detail="low")) == 85


@given(st.integers(1, 20_000), st.integers(1, 20_000))
def test_no_picture_costs_more_than_one_of_unknown_size(width: int, height: int) -> None:
    for family in FAMILIES:
        assert 1 <= media_tokens(Media(width=width, height=height), family) <= UNKNOWN_IMAGE[family]


def test_a_wav_is_charged_by_its_length_and_other_sounds_by_an_allowance() -> None:
    sound = Media(kind="audio", mime="audio/wav", data=encoded(wav(30)))
    assert media_tokens(sound) == 300
    assert media_tokens(sound, "gemini") == 960
    assert media_tokens(Media(kind="audio", mime="audio/mp3", data="AAAA")) == UNKNOWN_AUDIO["openai"]


def test_a_stream_that_claims_no_end_is_bounded() -> None:
    endless = wav(1)[:-4] + b"\xff\xff\xff\xff"
    assert media_tokens(Media(kind="audio", data=encoded(endless))) <= 36_000


PICTURE = encoded(png(1024, 1024)) + "A" * 4_000_000
URL = f"data:image/png;base64,{PICTURE}"
WIRE_SHAPES: dict[str, dict[str, Any]] = {
    "image_url": {"type": "image_url", "image_url": {"url": URL}},
    "image_url as text": {"type": "image_url", "image_url": URL},
    "input_image": {"type": "input_image", "image_url": URL},
    "image with a source": {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PICTURE},
    },
    "image with data": {"type": "image", "mimeType": "image/png", "data": PICTURE},
    "file with a data URL": {"type": "file", "file": {"filename": "shot.png", "file_data": URL}},
    "input_file": {"type": "input_file", "filename": "shot.png", "file_data": URL},
    "inlineData": {"inlineData": {"mimeType": "image/png", "data": PICTURE}},
    "inline_data": {"inline_data": {"mime_type": "image/png", "data": PICTURE}},
}


@pytest.mark.parametrize("shape", list(WIRE_SHAPES))
def test_a_picture_costs_the_same_in_every_wire_shape(shape: str) -> None:
    part = WIRE_SHAPES[shape]
    media = media_of(part)
    assert media is not None
    assert media_tokens(media) == 765
    empty = count({"role": "user", "content": []})
    assert count({"role": "user", "content": [part]}) == 765 + empty
    assert count({"role": "user", "content": [part, part]}) == 2 * 765 + empty
    key = "parts" if "inline" in shape else "content"
    assert count({"role": "user", key: [part]}) == 765 + empty


@pytest.mark.parametrize("shape", list(WIRE_SHAPES))
def test_a_picture_in_a_tool_result_is_counted_too(shape: str) -> None:
    result = {"type": "tool_result", "tool_use_id": "c1", "content": [WIRE_SHAPES[shape]]}
    assert 765 < count({"role": "user", "content": [result]}) < 800
    assert 765 < count({"role": "tool", "tool_call_id": "c1", "content": [WIRE_SHAPES[shape]]}) < 800


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        ({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}, UNKNOWN_IMAGE["openai"]),
        ({"type": "image_url", "image_url": {"url": URL, "detail": "low"}}, 85),
        ({"type": "input_image", "file_id": "file-1", "detail": "low"}, 85),
        ({"type": "input_audio", "input_audio": {"data": encoded(wav(10)), "format": "wav"}}, 100),
        ({"type": "file", "file": {"file_id": "file-1"}}, UNKNOWN_FILE),
        (
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"},
            },
            UNKNOWN_FILE,
        ),
        ({"fileData": {"mimeType": "application/pdf", "fileUri": "gs://b/a.pdf"}}, UNKNOWN_FILE),
    ],
)
def test_other_media_cost_their_allowance(part: dict[str, Any], tokens: int) -> None:
    media = media_of(part)
    assert media is not None
    assert media_tokens(media) == tokens


@pytest.mark.parametrize(
    "part", [{"type": "text", "text": "hi"}, {}, {"type": None}, {"text": "x", "data": "y"}]
)
def test_what_is_no_media_is_not_taken_for_one(part: dict[str, Any]) -> None:
    assert media_of(part) is None


def test_an_inline_text_file_costs_its_text() -> None:
    data = encoded(b"word " * 2000)
    part = {"type": "document", "source": {"type": "base64", "media_type": "text/plain", "data": data}}
    assert 1990 <= count({"role": "user", "content": [part]}) <= 2020
