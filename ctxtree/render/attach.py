"""What targets ask about a media part: its bytes, its type, where it may be fetched."""

from __future__ import annotations

import re

from ctxtree.model import Media

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
PDF = "application/pdf"

_HEADS = (
    ("iVBOR", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lG", "image/gif"),
    ("JVBER", PDF),
)
_DATA_URL = re.compile(r"data:([\w.+-]*/?[\w.+-]*)(?:;[^,;]*)*?;base64,(.*)", re.DOTALL)


def inline(media: Media) -> tuple[str, str] | None:
    """Type and base64 bytes, from `data` or a data URL."""
    if media.data:
        return mime(media), media.data
    found = _DATA_URL.fullmatch(media.url or "")
    return (found[1] or mime(media), found[2]) if found and found[2] else None


def mime(media: Media) -> str:
    """The media type as recorded, else by the first bytes."""
    named = media.mime.lower().split(";")[0].strip().replace("image/jpg", "image/jpeg")
    if named or not media.data:
        return named
    if media.data.startswith("UklGR"):
        return "audio/wav" if media.kind == "audio" else "image/webp"
    return next((kind for head, kind in _HEADS if media.data.startswith(head)), "")


def link(media: Media) -> str | None:
    """Its web address, if it has one."""
    return media.url if media.url and media.url.startswith(("https://", "http://")) else None


def file_of(media: Media, origins: frozenset[str]) -> str | None:
    """The provider's file id, if this provider gave it."""
    return media.file_id if media.file_id and media.origin in origins else None


def is_image(media: Media) -> bool:
    """True for a picture in one of the four types that every provider reads."""
    held = inline(media)
    kind = held[0] if held else mime(media)
    return media.kind == "image" and (kind in IMAGES or (not held and not kind))


def is_pdf(media: Media) -> bool:
    held = inline(media)
    return media.kind == "file" and (held[0] if held else mime(media)) == PDF


def data_url(media: Media) -> str | None:
    held = inline(media)
    return f"data:{held[0]};base64,{held[1]}" if held else None


def from_url(url: str, kind: str = "image", **fields: str | None) -> Media:
    """The media part behind an address on the wire."""
    found = _DATA_URL.fullmatch(url)
    if found:
        return Media.model_validate({"kind": kind, "mime": found[1], "data": found[2], **fields})
    return Media.model_validate({"kind": kind, "url": url, **fields})
