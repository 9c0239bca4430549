"""The vocabularies that ship with the package, as tiktoken encodings, without a network.

The files are OpenAI's own (`<token in base64> <rank>` a line), packed with gzip. Each is checked against the
SHA-256 that tiktoken itself expects. The patterns and special tokens are tiktoken's
(`tiktoken_ext/openai_public.py`, MIT licence); a test compares them with the installed tiktoken.
"""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxtree.errors import CtxtreeError

if TYPE_CHECKING:
    from tiktoken import Encoding


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What makes an encoding, less its ranks."""

    name: str
    sha256: str
    pattern: str
    special: tuple[tuple[str, int], ...]


_O200K_WORD = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
)

O200K = Vocabulary(
    name="o200k_base",
    sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    pattern="|".join(
        (
            *_O200K_WORD,
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
    special=(("<|endoftext|>", 199999), ("<|endofprompt|>", 200018)),
)

CL100K = Vocabulary(
    name="cl100k_base",
    sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    pattern=(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    special=(
        ("<|endoftext|>", 100257),
        ("<|fim_prefix|>", 100258),
        ("<|fim_middle|>", 100259),
        ("<|fim_suffix|>", 100260),
        ("<|endofprompt|>", 100276),
    ),
)

# `o200k_harmony` differs in its special tokens alone, and text never becomes one here.
SHIPPED = {O200K.name: O200K, CL100K.name: CL100K, "o200k_harmony": O200K}

_LOADING = threading.Lock()


def encoding(name: str) -> Encoding:
    """The tiktoken encoding of this name; the shipped ones never touch the network.

    The first call for a name costs about half a second, later ones nothing. Raises `CtxtreeError` if a
    shipped file is damaged, if tiktoken knows no such name, or if it cannot fetch the file.
    """
    with _LOADING:
        return _load(SHIPPED[name]) if name in SHIPPED else _fetch(name)


@functools.cache
def _load(vocabulary: Vocabulary) -> Encoding:
    import tiktoken

    return tiktoken.Encoding(
        vocabulary.name,
        pat_str=vocabulary.pattern,
        mergeable_ranks=ranks(read(vocabulary)),
        special_tokens=dict(vocabulary.special),
    )


def read(vocabulary: Vocabulary) -> bytes:
    """The unpacked file of a shipped vocabulary, checked; `CtxtreeError` if it is damaged or not there."""
    import gzip
    import hashlib
    import zlib
    from importlib import resources

    file = f"{vocabulary.name}.tiktoken.gz"
    try:
        data = gzip.decompress(resources.files(__name__).joinpath(file).read_bytes())
    except (OSError, EOFError, zlib.error) as problem:
        raise CtxtreeError(f"{file} cannot be read ({problem}); install ctxtree again") from problem
    found = hashlib.sha256(data).hexdigest()
    if found != vocabulary.sha256:
        raise CtxtreeError(
            f"{file} has sha256 {found[:12]}, expected {vocabulary.sha256[:12]}; install ctxtree again"
        )
    return data


def ranks(data: bytes) -> dict[bytes, int]:
    """Token bytes to rank, from the lines of a `.tiktoken` file."""
    from binascii import a2b_base64

    fields = data.split()
    return {a2b_base64(token): int(rank) for token, rank in zip(fields[::2], fields[1::2], strict=True)}


def _fetch(name: str) -> Encoding:
    """An encoding that tiktoken has cached or can download."""
    import tiktoken

    try:
        return tiktoken.get_encoding(name)
    except (OSError, ValueError, KeyError, ImportError) as problem:
        raise CtxtreeError(
            f"encoding {name!r} does not ship with ctxtree and tiktoken could not provide it "
            f"({type(problem).__name__}); use o200k_base, cl100k_base or estimate, or give tiktoken a "
            "network or a TIKTOKEN_CACHE_DIR"
        ) from problem
