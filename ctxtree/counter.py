"""Text in, tokens out: who counts, how exactly, and how far that is from the model's own count.

`counter_for` chooses; `TextCounter` counts and remembers. The accounting of whole messages stands in
`ctxtree.tokens`.

Long runs. Tokenizers cut text at spaces and at changes between letters, digits and signs; a stretch without
such a place costs some of them time that grows with its square, overflows the stack, or ends in a Rust panic
(openai/tiktoken#195, #15). So a run of more than `LONGEST_RUN` characters is handed over in pieces. Where a
piece can end at a place where the tokenizer would cut too, the sum is exact; elsewhere it may be a few
tokens off, and the text is counted in `TextCounter.inexact`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from ctxtree.errors import CtxtreeError
from ctxtree.estimate import estimate

LONGEST_RUN = 4096
"""Characters without a break that go to a tokenizer at once."""

CLAUDE_FACTOR = 1.3
"""Claude's and Gemini's tokens per o200k token until usage says better.

Measured over two recorded sessions of real usage: 1.27 and 1.35 over all, 1.42 and 1.46 at the median step.
"""

CLAUDE_BOUND = 1.53
"""The highest ratio published for whole texts (sammcj/ingest#65)."""

UNKNOWN_BOUND = 1.3
"""What a tokenizer of about the same kind may need beyond o200k."""

ESTIMATE_BOUND = 1.2
"""The estimator's worst error on 500 characters and more; see `docs/tokens.md`."""

ENCODINGS = frozenset(
    ("o200k_base", "cl100k_base", "o200k_harmony", "p50k_base", "p50k_edit", "r50k_base", "gpt2")
)

_LONG = re.compile(r"\S{4097,}|\s{4097,}")
# Places where every tiktoken pattern cuts: after a letter or digit, before a sign, and between ASCII letters
# and digits. An apostrophe is no such sign: contractions join the word before them.
_LETTER = "0-9A-Za-z\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3"
_SIGN = r"!-&(-/:-@\[-`{-~，。、；：！？（）「」『』《》【】"
_PIECE = re.compile(
    rf"[\s\S]{{1,4096}}(?:(?<=[{_LETTER}])(?=[{_SIGN}])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z]))"
)
# Stops that come from outside the tokenizer.
_STOPS = (KeyboardInterrupt, SystemExit, GeneratorExit)
_KEPT_TEXTS = 50_000
_BATCH = 4000  # characters from which on a thread costs less than it saves
_SHORT = 256  # longer texts are remembered by a digest, so that a counter keeps no texts alive


@dataclass(slots=True)
class _Memory:
    """Counts by text, oldest out first; what every copy of a counter shares."""

    counts: dict[str | bytes, int] = field(default_factory=dict)
    inexact: set[str | bytes] = field(default_factory=set)

    def keep(self, key: str | bytes, count: int, exact: bool) -> None:
        if len(self.counts) >= _KEPT_TEXTS:
            oldest = next(iter(self.counts), None)
            if oldest is not None:
                del self.counts[oldest]
                self.inexact.discard(oldest)
        self.counts[key] = count
        if not exact:
            self.inexact.add(key)


@dataclass(slots=True, eq=False)
class TextCounter:
    """Tokens of a text: `counter(text)`. Calls with a known text cost about a microsecond.

    `exact`: the count is the model's own, as far as texts go. `factor` and `bound` turn raw counts into the
    model's tokens (centre, upper). `asked` is the name that was asked for, `fallback` says that nobody knows
    it and o200k_base stands in. Text that spells a special token is ordinary text; unpaired surrogates count
    as U+FFFD. One counter may serve several threads.
    """

    name: str
    tokenize: Callable[[str], int]
    exact: bool = False
    factor: float = 1.0
    bound: float = 1.0
    fallback: bool = False
    asked: str = ""
    encoding: str = "o200k_base"
    batch: Callable[[list[str]], list[int]] | None = None
    memory: _Memory = field(default_factory=_Memory, repr=False, compare=False)
    unsure: set[str | bytes] = field(default_factory=set, repr=False, compare=False)

    def __call__(self, text: str) -> int:
        key = _key(text)
        known = self.memory.counts.get(key)
        if known is None:
            known, exact = self._count(text)
            self.memory.keep(key, known, exact)
        if key in self.memory.inexact:
            self.unsure.add(key)
        return known

    def many(self, texts: Sequence[str]) -> list[int]:
        """The counts of many texts, in their order; large ones go through the tokenizer in parallel."""
        if self.batch is not None:
            seen = self.memory.counts
            large = [text for text in dict.fromkeys(texts) if len(text) > _BATCH and not _is_long(text)]
            new = [text for text in large if _key(text) not in seen]
            if len(new) > 1:
                self._learn(new)
        return [self(text) for text in texts]

    @property
    def inexact(self) -> int:
        """How many texts were counted in pieces or estimated because they, or the tokenizer, gave cause."""
        return len(self.unsure)

    def anew(self) -> TextCounter:
        """The same counter, and the same memory, to which nothing was asked yet: `inexact` is 0."""
        return replace(self, unsure=set())

    def calibrated(self, factor: float, bound: float) -> TextCounter:
        """The same counter, and the same memory, with a factor learned from real usage."""
        return replace(self, factor=factor, bound=bound)

    def _learn(self, texts: list[str]) -> None:
        assert self.batch is not None
        try:
            counts = self.batch(texts)
        except _STOPS:
            raise
        except BaseException:  # noqa: BLE001 - one text made it fail; one by one, only that text is estimated
            return
        for text, count in zip(texts, counts, strict=True):
            self.memory.keep(_key(text), count, True)

    def _count(self, text: str) -> tuple[int, bool]:
        if not _is_long(text):
            return self._tokenize(text)
        total, exact = 0, True
        for piece, clean in pieces(text):
            count, counted = self._tokenize(piece)
            total += count
            exact = exact and clean and counted
        return total, exact

    def _tokenize(self, text: str) -> tuple[int, bool]:
        try:
            found = self.tokenize(text)
        except _STOPS:
            raise
        except BaseException:  # noqa: BLE001 - a Rust panic is no `Exception`
            return estimate(text, self.encoding), False
        if isinstance(found, bool) or not isinstance(found, int) or found < 0:
            raise CtxtreeError(
                f"counter {self.name!r} gave {_shown(found)} for a text of {len(text)} characters; "
                "it must give an int, 0 or more"
            )
        return found, True


def counter_for(name: str | Callable[[str], int] | None = None, target: str = "openai.chat") -> TextCounter:
    """The counter for a model, an encoding, `estimate`, `estimate:cl100k` or a function of the caller.

    Without a name the target decides: o200k_base, exact for `openai.*` and `text`, with `CLAUDE_FACTOR` for
    `anthropic` and `gemini`. Model names are looked up in tiktoken's own tables, without a network; a name
    that nobody knows gets o200k_base and `fallback`. Raises `CtxtreeError` for an encoding that is neither
    shipped nor to be had.
    """
    if isinstance(name, TextCounter):
        return name
    if callable(name):
        return TextCounter("function", name)
    foreign = target.partition(".")[0] in ("anthropic", "gemini")
    if name is None:
        return _claude("") if foreign else _tiktoken("o200k_base")
    if not isinstance(name, str) or not name.isprintable():
        raise CtxtreeError(f"a counter is a model, an encoding or a function, not {ascii(name)[:40]}")
    plain = name.strip().lower()
    if plain.partition(":")[0] == "estimate":
        return _estimator(plain, asked=name)
    if plain in ENCODINGS:
        return _tiktoken(plain, exact=not foreign, bound=CLAUDE_BOUND if foreign else 1.0, asked=name)
    if "claude" in plain or "gemini" in plain:
        return _claude(name)
    known = _encoding_of(plain)
    if known is None:
        return _tiktoken("o200k_base", exact=False, bound=UNKNOWN_BOUND, asked=name, fallback=True)
    return _tiktoken(known, asked=name)


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """A text in parts that are safe to tokenize, and of each whether its end is a sure border.

    Only runs of more than `LONGEST_RUN` characters are cut, at a code point, each piece within that length.
    """
    place = 0
    for run in _LONG.finditer(text):
        start, sure = _start(text, run.start())
        if start > place:
            yield text[place:start], sure
            place = start
        while run.end() - place > LONGEST_RUN:
            found = _PIECE.match(text, place, run.end())
            end = found.end() if found else place + LONGEST_RUN
            yield text[place:end], found is not None
            place = end
    if place < len(text):
        yield text[place:], True


def _start(text: str, start: int) -> tuple[int, bool]:
    """Where a long run is cut off from what is before it: with the space that joins its first word."""
    before = text[start - 1 : start]
    if start == 0 or before in "\r\n" or text[start].isspace():
        return start, not text[start].isspace()
    return start - 1, not text[start - 2 : start - 1].isspace()


def _claude(asked: str) -> TextCounter:
    return _tiktoken("o200k_base", exact=False, factor=CLAUDE_FACTOR, bound=CLAUDE_BOUND, asked=asked)


def _tiktoken(
    name: str,
    exact: bool = True,
    factor: float = 1.0,
    bound: float = 1.0,
    asked: str = "",
    fallback: bool = False,
) -> TextCounter:
    from ctxtree.vocab import encoding

    encode = encoding(name)

    def tokenize(text: str) -> int:
        return len(encode.encode_ordinary(text))

    def batch(texts: list[str]) -> list[int]:
        return [len(tokens) for tokens in encode.encode_ordinary_batch(texts)]

    rates = "cl100k_base" if name == "cl100k_base" else "o200k_base"
    return TextCounter(name, tokenize, exact, factor, bound, fallback, asked, rates, batch)


def _estimator(name: str, asked: str) -> TextCounter:
    rates = {"estimate": "o200k_base", "estimate:o200k": "o200k_base", "estimate:cl100k": "cl100k_base"}
    encoding = rates.get(name.removesuffix("_base"))
    if encoding is None:
        raise CtxtreeError(f"no estimator {asked!r}; there are estimate, estimate:o200k and estimate:cl100k")

    def tokenize(text: str) -> int:
        return estimate(text, encoding)

    return TextCounter(name, tokenize, bound=ESTIMATE_BOUND, asked=asked, encoding=encoding)


def _encoding_of(model: str) -> str | None:
    """The encoding of an OpenAI model by tiktoken's tables, with or without a provider before a slash."""
    from tiktoken.model import encoding_name_for_model

    for name in (model, model.rpartition("/")[2]):
        try:
            return encoding_name_for_model(name)
        except KeyError:
            continue
    return None


def _key(text: str) -> str | bytes:
    if len(text) <= _SHORT:
        return text
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _is_long(text: str) -> bool:
    return len(text) > LONGEST_RUN and _LONG.search(text) is not None


def _shown(found: object) -> str:
    return repr(found) if isinstance(found, int | float) else type(found).__name__
