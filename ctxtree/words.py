"""Words of any text as comparable terms, for search and scoring.

Lower-cased, accents folded, stemmed by script (Snowball: English for Latin letters, Russian for
Cyrillic), without stop words. Han text is segmented by jieba, and every two neighbouring characters
are a term beside it, so that a word missing from the dictionary still matches; kana, Hangul and
scripts without spaces give pairs too. Paths and identifiers stand whole and in their pieces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

REACH = 20_000
"""Characters read at each end of a text; what lies between is not looked at."""

_CACHE = 50_000
_LONGEST = 80

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_KANA = "\u3041-\u3096\u30a1-\u30fa\u30fc"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_LETTER = rf"[^\W{_HAN}{_KANA}{_UNSPACED}]"
_CHUNK = re.compile(
    rf"[A-Za-z](?:\+\+|#)(?!\w)|\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?(?![\w,])"
    rf"|{_LETTER}+(?:['’./\\:@+-]{{1,3}}{_LETTER}+)*"
    rf"|[{_HAN}]+|[{_KANA}]+|(?:[{_UNSPACED}][\u0e31-\u0e4e\u103a-\u103f\u17b4-\u17d3]*)+"
)
_HAN_RUN = re.compile(rf"[{_HAN}]")
_HANGUL = re.compile("[\uac00-\ud7a3]{2,}")
_PLAIN = re.compile(r"[^\W\d_]+")
_POSSESSIVE = re.compile(r"['’]s\b")
_GROUPED_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_PIECES = re.compile(r"[/\\:@]+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
_ACCENTS = re.compile("[\u0300-\u036f]")

STOP = frozenset({
    "a", "an", "the", "of", "to", "in", "on", "at", "for", "and", "or", "but", "is", "are", "was", "were",
    "be", "been", "am", "do", "does", "did", "doing", "has", "have", "had", "having", "what", "when",
    "where", "who", "whom", "which", "why", "how", "with", "from", "by", "as", "it", "its", "this",
    "that", "these", "those", "i", "you", "he", "she", "they", "we", "me", "my", "your", "his", "her",
    "their", "our", "them", "us", "about", "into", "over", "after", "before", "during", "would", "could",
    "should", "will", "can", "not", "no", "yes", "up", "out", "so", "if", "than", "then", "there", "here",
    "dont", "didnt", "doesnt", "isnt", "arent", "wasnt", "im", "ive", "youre", "youve",
    "thats", "lets", "theres", "hes", "shes", "theyre", "weve", "wont", "cant", "couldnt", "wouldnt",
    "shouldnt", "s", "t", "ll", "re", "ve", "m", "d",
})  # fmt: skip
HAN_STOP = frozenset({
    "的", "了", "是", "在", "我", "你", "他", "她", "它", "们", "我们", "你们", "他们", "这", "那",
    "这个", "那个", "这些", "那些", "个", "和", "与", "就", "都", "也", "还", "又", "很", "把", "被",
    "吗", "呢", "吧", "啊", "呀", "着", "过", "到", "说", "要", "去", "有", "没", "没有", "不", "会",
    "能", "可以", "一", "一个", "上", "下", "里", "什么", "怎么", "哪", "哪个", "哪里", "谁", "为",
    "为了", "因为", "所以", "但", "但是", "而", "而且", "如果", "对", "从", "给", "让", "请", "地", "得",
    "之", "其", "或", "或者", "及", "以", "于", "等",
})  # fmt: skip

Stem = Callable[[str], str]


class Words:
    """Texts to terms, with the stems seen so far kept (at most 50,000 words).

    One instance serves one index, one compile or one search; it is not for several threads.
    About 5 microseconds for a message of 100 characters whose words are known, 50 where they are new.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}
        self._stems: dict[str, Stem] = {}

    def terms(self, text: str, reach: int = REACH) -> list[str]:
        """The terms of a text in its order, repeats kept; of a long text those of its two ends."""
        if len(text) > 2 * reach:
            text = f"{text[:reach]}\n{text[-reach:]}"
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text)
        found: list[str] = []
        known = self._known
        for chunk in _CHUNK.findall(text):
            terms = known.get(chunk)
            found.extend(self._learn(chunk) if terms is None else terms)
        return found

    def _learn(self, chunk: str) -> tuple[str, ...]:
        terms = tuple(self._of_chunk(chunk))
        if len(self._known) >= _CACHE:
            self._known.clear()
        if len(chunk) <= _LONGEST:
            self._known[chunk] = terms
        return terms

    def _of_chunk(self, chunk: str) -> Iterator[str]:
        if _HAN_RUN.match(chunk):
            yield from _han(chunk)
        elif not chunk[0].isascii() and re.match(rf"[{_KANA}{_UNSPACED}]", chunk):
            yield from _pairs(chunk)
        else:
            yield from self._of_name(_POSSESSIVE.sub("", chunk))

    def _of_name(self, chunk: str) -> Iterator[str]:
        """A word, or a name and its pieces: `src/lexer.py`, `lexer.py`, `src`, `lexer`, `py`."""
        if _GROUPED_NUMBER.fullmatch(chunk):
            yield chunk.replace(",", "")
            return
        bare = _bare(chunk)
        if bare.lower() in STOP:
            return
        seen = {""}
        for term in self._spellings(bare):
            if term not in seen and term not in STOP:
                seen.add(term)
                yield term
        for run in _HANGUL.findall(bare):
            yield from _pairs(run)

    def _spellings(self, bare: str) -> Iterator[str]:
        parts = _CAMEL.findall(bare)[:_LONGEST]
        if len(parts) < 2:
            yield self._stem(bare[:_LONGEST].lower())
            return
        if len(bare) <= _LONGEST:
            yield bare.lower()
        for piece in _PIECES.split(bare):
            yield piece[:_LONGEST].lower()
        for part in parts:
            if len(part) > 1 or part.isdigit():
                yield self._stem(part[:_LONGEST].lower())

    def _stem(self, word: str) -> str:
        if not _PLAIN.fullmatch(word):
            return word
        language = "russian" if "\u0400" <= word[0] <= "\u04ff" else "english"
        if language not in self._stems:
            self._stems[language] = _stemmer(language)
        return self._stems[language](word)


def terms(text: str) -> list[str]:
    """The terms of one text. For many texts keep a `Words`, which remembers what it has stemmed."""
    return Words().terms(text)


def _stemmer(language: str) -> Stem:
    import snowballstemmer

    stem: Stem = snowballstemmer.stemmer(language).stemWord
    return stem


def _han(run: str) -> Iterator[str]:
    import rjieba

    words = [word for word in rjieba.cut(run) if word not in HAN_STOP]
    yield from words
    whole = set(words)
    yield from (pair for pair in _pairs(run) if pair not in whole and pair not in HAN_STOP)


def _pairs(run: str) -> Iterator[str]:
    if len(run) < 2:
        yield run
    for index in range(len(run) - 1):
        yield run[index : index + 2]


def _bare(word: str) -> str:
    """The word without apostrophes and accents, its case kept: `Größe` is `Grosse`."""
    word = word.replace("'", "")
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word.replace("’", "").replace("ß", "ss"))
    return unicodedata.normalize("NFC", _ACCENTS.sub("", apart))
