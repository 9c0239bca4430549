"""Tokens of pictures, sounds and files, by the provider's published rule; never by the length of the base64.

What a picture costs follows its width and height. They are taken from the value, else from the first bytes of
inline data (PNG, JPEG, GIF, WebP). Where they are unknown, an allowance stands in: the most that the rule can
give at that provider, so that a request is never larger than counted.

Sources: OpenAI, "Images and vision" (85 for low detail; high: fit into 2,048 squared, short side to 768,
85 + 170 for each tile of 512; 1,024 squared is 765) and "Audio" (10 tokens a second). Anthropic, "Vision"
(width x height / 750, at most about 1,568). Google, "Understand and count tokens" (258 up to 384 squared,
else 258 a tile; 32 a second of audio, 263 a second of video).
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Mapping
from typing import Any, Literal

from ctxtree.model import Media, MediaKind

Family = Literal["openai", "anthropic", "gemini"]

UNKNOWN_IMAGE: Mapping[str, int] = {"openai": 1445, "anthropic": 1568, "gemini": 4128}
"""A picture of unknown size: the largest result of each rule."""

AUDIO_SECOND: Mapping[str, int] = {"openai": 10, "anthropic": 10, "gemini": 32}
UNKNOWN_AUDIO: Mapping[str, int] = {"openai": 1200, "anthropic": 1200, "gemini": 3840}
"""A sound of unknown length: two minutes."""

UNKNOWN_VIDEO = 5000
UNKNOWN_FILE = 3000
"""A document of unknown length: about two pages as text and picture (Anthropic, "PDF support")."""

LOW_DETAIL = 85
_LONGEST_AUDIO = 3600.0  # seconds; headers of streams claim more than there is
_GEMINI_TILES = 16
_TYPES = frozenset(
    ("image_url", "input_image", "image", "audio", "input_audio", "document", "input_file", "file", "video")
)
_TYPED_FIELDS = ("image_url", "source", "file", "input_audio")
_FIELDS = ("inlineData", "inline_data", "fileData", "file_data")  # Gemini's parts have no type
_HEAD = 128 * 1024  # characters of base64 read: an EXIF block before a JPEG's frame holds up to 64 KiB


def family_of(target: str) -> Family:
    """The provider whose rules hold for a target; `text` counts as OpenAI does."""
    provider = target.partition(".")[0]
    return provider if provider in ("anthropic", "gemini") else "openai"  # type: ignore[return-value]


def media_tokens(media: Media, family: str = "openai") -> int:
    """Tokens of a picture, sound, video or file at `openai`, `anthropic` or `gemini`; 1 at least."""
    family = family if family in UNKNOWN_IMAGE else "openai"
    match kind_of(media):
        case "image":
            return _image(media, family)
        case "audio":
            seconds = _seconds(head(media))
            return max(1, math.ceil(seconds * AUDIO_SECOND[family])) if seconds else UNKNOWN_AUDIO[family]
        case "video":
            return UNKNOWN_VIDEO
        case _:
            return UNKNOWN_FILE


def kind_of(media: Media) -> MediaKind:
    """What it is by its MIME type, where that says more than its field (a picture sent as a file)."""
    kinds: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
    return kinds.get(_mime(media).partition("/")[0], media.kind)


def inline_text(media: Media) -> str | None:
    """The text of an inline text file, which costs what the text costs; None for everything else."""
    data = _inline(media)
    if data is None or not _mime(media).startswith(("text/", "application/json")):
        return None
    try:
        return base64.b64decode(data, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return data  # some APIs take the text as it is


def size_of(media: Media) -> tuple[int, int] | None:
    """Width and height in pixels: as given, else from the header of the inline data, else None."""
    if media.width and media.height and media.width > 0 and media.height > 0:
        return media.width, media.height
    data = head(media)
    for read in (_png, _gif, _webp, _jpeg):
        try:
            size = read(data)
        except (struct.error, IndexError):
            continue
        if size and size[0] > 0 and size[1] > 0:
            return size
    return None


def head(media: Media) -> bytes:
    """The first bytes of inline data, at most 96 KiB; empty if there is none or it is no base64."""
    data = (_inline(media) or "")[:_HEAD]
    plain = "".join(data.split()).replace("-", "+").replace("_", "/").rstrip("=")
    plain = plain[:-1] if len(plain) % 4 == 1 else plain
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4))
    except (binascii.Error, ValueError):
        return b""


def media_of(part: Mapping[str, Any]) -> Media | None:
    """A wire part as a `Media`, or None if it is none.

    Reads `image_url`, `input_image`, `image` and `document` with `source` (or MCP's `data`), `file` and
    `input_file` with a data URL, `input_audio`, and Gemini's `inlineData` and `fileData`.
    """
    kind = part.get("type")
    typed = isinstance(kind, str) and kind in _TYPES
    for key in _TYPED_FIELDS + _FIELDS if typed else _FIELDS:
        held = part.get(key)
        if isinstance(held, Mapping):
            return _media(key, held, part)
    return _media(str(kind), part, part) if typed else None


def _media(key: str, held: Mapping[str, Any], part: Mapping[str, Any]) -> Media:
    kind: MediaKind = "image"
    label = f"{key} {part.get('type')}"
    if "audio" in label:
        kind = "audio"
    elif "video" in label:
        kind = "video"
    elif "file" in label or "document" in label:
        kind = "file"
    url = _first(held, "url", "image_url", "file_url", "fileUri", "file_uri")
    mime = _first(held, "media_type", "mime_type", "mimeType", "mime") or ""
    if not mime and held.get("format"):
        mime = f"audio/{held['format']}"
    return Media(
        kind=kind,
        mime=mime,
        data=_first(held, "data", "file_data", "bytes"),
        url=url,
        file_id=_first(held, "file_id", "id"),
        detail=_first(held, "detail") or _first(part, "detail"),
    )


def _first(held: Mapping[str, Any], *names: str) -> str | None:
    return next((held[name] for name in names if isinstance(held.get(name), str)), None)


def _inline(media: Media) -> str | None:
    """The inline data without the head of a data URL."""
    for text in (media.data, media.url):
        if text and text[:5].lower() == "data:":
            return text.partition(",")[2]
    return media.data


def _mime(media: Media) -> str:
    if media.mime:
        return media.mime.lower()
    for text in (media.data, media.url):
        if text and text[:5].lower() == "data:":
            return text[5:100].partition(",")[0].partition(";")[0].lower()
    return ""


def _image(media: Media, family: str) -> int:
    if family == "openai" and media.detail == "low":
        return LOW_DETAIL
    size = size_of(media)
    if size is None:
        return UNKNOWN_IMAGE[family]
    if family == "anthropic":
        return _anthropic(*size)
    return _gemini(*size) if family == "gemini" else _openai(*size)


def _openai(width: int, height: int) -> int:
    scale = min(1.0, 2048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    # The rounding keeps 1024 * (768 / 1024) from ending a hair above a whole tile.
    tiles = math.prod(max(1, math.ceil(round(side * scale, 6) / 512)) for side in (width, height))
    return LOW_DETAIL + 170 * tiles


def _anthropic(width: int, height: int) -> int:
    scale = min(1.0, 1568 / max(width, height))
    return max(1, min(UNKNOWN_IMAGE["anthropic"], math.ceil(width * scale * height * scale / 750)))


def _gemini(width: int, height: int) -> int:
    if width <= 384 and height <= 384:
        return 258
    unit = min(768, max(256, int(min(width, height) / 1.5)))
    return 258 * min(_GEMINI_TILES, math.ceil(width / unit) * math.ceil(height / unit))


def _png(data: bytes) -> tuple[int, int] | None:
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _gif(data: bytes) -> tuple[int, int] | None:
    if data[:6] not in (b"GIF87a", b"GIF89a"):
        return None
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _webp(data: bytes) -> tuple[int, int] | None:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        return None
    match data[12:16]:
        case b"VP8X" if len(data) >= 30:
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """From the first frame header (SOF), past the blocks before it."""
    if data[:2] != b"\xff\xd8":
        return None
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker == 0xFF:
            place += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width, height
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:
            place += 2
        else:
            place += 2 + max(2, struct.unpack_from(">H", data, place + 2)[0])
    return None


def _seconds(data: bytes) -> float:
    """Length of a WAV by its header; 0 if it is none."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        return 0.0
    place, rate = 12, 0
    while place + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, place)
        if name == b"fmt " and place + 20 <= len(data):
            (rate,) = struct.unpack_from("<I", data, place + 16)
        elif name == b"data":
            return min(_LONGEST_AUDIO, size / rate) if rate else 0.0
        place += 8 + size + size % 2
    return 0.0
