"""Whether two facts say the same: in nearly the same words, or of the same thing with another value. English and Chinese.

A wrong "same" makes a fact disappear behind another one, a missed one only says a thing twice. So the rules ask for much:
equal terms but for glue and synonyms; or the same with one quantity, one of two opposites, or a negation changed; or
a subject that has one value at a time ("the deadline is …", "截止日期…"), or whose change is told ("moved to", "改为").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from ctxtree.summarizers.subjects import subject
from ctxtree.words import HAN_STOP, Words

Verdict = Literal["same", "newer", "other"]

NEAR = 0.8
"""The share of terms, or of Chinese characters, that nearly equal facts have in common."""

_SYNONYMS = (
    "prefer like love favour favor favourit favorit enjoy", "theme mode", "work job", "live resid", "use utilis util", "speak talk",
    "big larg", "dark black", "light bright",
    "喜欢 偏好 偏爱 喜爱", "主题 模式 皮肤", "深色 暗色 黑暗 夜间 暗黑", "浅色 亮色 明亮", "使用 用 采用", "修改 动 改动 更改 碰",
    "开启 启用 打开", "关闭 禁用 关掉", "邮箱 邮件地址 电子邮箱", "电话 手机 手机号 电话号码",
)  # fmt: skip
_OPPOSITES = (
    "dark light", "on off", "enabl disabl", "yes no", "tab space", "metric imperi", "left right", "true false", "public privat",
    "open close", "daili weekli monthli", "upper lower", "sync async", "short long", "vertic horizont",
    "深色 浅色", "开启 关闭", "简体 繁体", "公开 私有", "简短 详细", "同步 异步",
)  # fmt: skip
_GLUE_TABLE = (
    "user rememb note pleas alway current now just also onli still actual kept keep stay "
    "用户 请 记住 一直 总是 目前 现在 已 已经 都 要 应该 需要 尽量 进行 里面 中 会 每 里 回答"
)
_NEGATIVE_TABLE = "never without avoid stop dislik hate forbid forbidden disallow ban 不 不要 不能 不许 不得 不可 别 没 没有 勿 禁止 切勿 不会 讨厌 未 尚未 从未"
_ATTRIBUTES_TABLE = (
    "deadline name nickname surname budget port password version email e-mail phone number address birthday language timezone zone limit "
    "timeout code codename id username login colour color size price cost salary date day time meeting standup launch release owner "
    "manager boss host hostname url branch goal target status stage step priority default editor framework database currency locale "
    "font theme age height weight location city country title role job employer key region"
)
_HAN_ATTRIBUTES_TABLE = (
    "截止日期 截止时间 期限 名字 姓名 名称 代号 预算 端口 密码 版本 邮箱 电话 手机号 地址 生日 语言 时区 上限 限额 超时 超时时间 编号 账号 用户名 颜色 尺寸 "
    "价格 费用 工资 日期 时间 会议 负责人 经理 主机 网址 分支 目标 状态 阶段 步骤 优先级 默认值 编辑器 框架 数据库 货币 字体 主题 年龄 身高 体重 位置 城市 "
    "国家 职位 模型 密钥 区域"
)
_QUANTITY_AFTER_TABLE = (
    "of is are was has have had with to at by than least most about only exactly need needs want wants for in every after before "
    "within from over under until and takes"
)
_GLUE = frozenset(_GLUE_TABLE.split())
_NEGATIVE_TERMS = frozenset(_NEGATIVE_TABLE.split())
_ATTRIBUTES = frozenset(_ATTRIBUTES_TABLE.split())
_HAN_ATTRIBUTES = tuple(_HAN_ATTRIBUTES_TABLE.split())
_QUANTITY_AFTER = frozenset(_QUANTITY_AFTER_TABLE.split())
_COMMON = {word: group.split()[0] for group in _SYNONYMS for word in group.split()}
_CLASS = {word: f"<{group}>" for group in _OPPOSITES for word in group.split()}
_GLUE_CHARACTERS = frozenset("的了在是我用户请记住会对上里于为")

_NEGATIVE = re.compile(
    r"\b(?:not|never|no|without|avoid|stop|dislikes?|hates?|forbidden|disallow(?:ed)?|ban(?:ned)?|cannot)\b|n't\b|不|别(?!的|人|名)|没|未(?!来)|勿|禁止|讨厌"
)
_CHANGED = re.compile(
    r"\b(?:moved?|changed?|switched|updated?|renamed?|set|postponed|pushed back|brought forward) (?:\w+ ){0,4}?(?:to|from)\b"
    r"|改(?:为|成|到|叫|用)|变(?:成|为)|换(?:成|为)|推迟|提前|调整(?:为|到)"
)
_NAMED = re.compile(r"(我|他|她)(?:的名字)?叫")
_FIGURE = re.compile(r"\d[\d.,:/-]*\d|\d")
_WORD_BEFORE = re.compile(r"([a-z]+)[ #:]*$")
_ORDINAL_AFTER = re.compile(r"\s*[号章节步楼层页题期届条回](?!的?[人钱])")
_HAN = re.compile(r"[㐀-鿿]+")
_LETTER = re.compile(r"(?<![A-Za-z'’])[B-HJ-Z](?![A-Za-z'’])|(?<=[^\s.] )A(?= |$)|(?<=[㐀-鿿])A(?![A-Za-z])")
_OWNED = re.compile(r"^(?:the )?user(?:'s|s')? |^用户的?")


@dataclass(frozen=True, slots=True)
class Reading:
    """A fact as it is compared.

    `terms` are its words without glue and negations, synonyms made one; `slots` the same without figures and with
    opposites made one; `figures` name ("#12") or count ("5"); `attribute`: the subject has one value at a time.
    """

    plain: str
    terms: frozenset[str]
    slots: frozenset[str]
    figures: tuple[str, ...]
    opposites: frozenset[str]
    negative: bool
    subject: str
    attribute: bool
    changed: bool
    characters: str


def read(text: str, words: Words | None = None) -> Reading:
    """The reading of one fact; about 50 microseconds. `words` keeps what was stemmed before."""
    even = unicodedata.normalize("NFKC", text).replace("’", "'").strip(" .。!！")
    low = even.casefold()
    terms = frozenset(_terms(even, words or Words()))
    about = _subject(low)
    return Reading(
        plain=re.sub(r"[\W_]+", "", low) or low,
        terms=terms,
        slots=frozenset(_CLASS.get(term, term) for term in terms if not _FIGURE.fullmatch(term)),
        figures=tuple(_figures(low)),
        opposites=terms & _CLASS.keys(),
        negative=len(_NEGATIVE.findall(low)) % 2 == 1,
        subject=about,
        attribute=_single_valued(about),
        changed=_CHANGED.search(low) is not None,
        characters="".join(one for one in "".join(_HAN.findall(low)) if one not in _GLUE_CHARACTERS),
    )


def compare(earlier: Reading, later: Reading) -> Verdict:
    """What a later fact is to an earlier one: the same again, its newer value, or another fact beside it."""
    if earlier.plain == later.plain:
        return "same"
    if earlier.subject and later.subject and earlier.subject != later.subject:
        return "other"
    if earlier.slots and earlier.slots == later.slots:
        return _with_values(earlier, later)
    if earlier.subject and earlier.subject == later.subject and (earlier.attribute or later.changed):
        return "newer"
    return "same" if _near(earlier, later) else "other"


def _with_values(earlier: Reading, later: Reading) -> Verdict:
    """The verdict on facts whose terms are equal but for values."""
    if earlier.figures != later.figures:
        return "newer" if earlier.attribute or _one_quantity(earlier.figures, later.figures) else "other"
    changed = earlier.opposites != later.opposites or earlier.negative != later.negative
    return "newer" if changed else "same"


def _one_quantity(earlier: tuple[str, ...], later: tuple[str, ...]) -> bool:
    """True if one figure has changed, and it counts something rather than naming it."""
    pairs = [(one, other) for one, other in zip(earlier, later, strict=False) if one != other]
    return len(earlier) == len(later) and len(pairs) == 1 and not any(one.startswith("#") for one in pairs[0])


def _near(earlier: Reading, later: Reading) -> bool:
    """True for the same values and nearly the same words: some more or fewer, or one spelt a little otherwise."""
    if (earlier.negative, earlier.figures, earlier.opposites) != (
        later.negative,
        later.figures,
        later.opposites,
    ):
        return False
    one, other = earlier.terms, later.terms
    if min(len(one), len(other)) >= 2 and _close(one - other, other - one):
        return len(one & other) >= NEAR * len(one | other) - 0.5 * bool(one - other and other - one)
    return _near_in_characters(earlier.characters, later.characters) and _latin(one) == _latin(other)


def _close(gone: frozenset[str], come: frozenset[str]) -> bool:
    """True if nothing was exchanged for something else: only left out, added, or spelt otherwise."""
    if not gone or not come:
        return True
    if len(gone) != 1 or len(come) != 1:
        return False
    (one,), (other,) = gone, come
    return min(len(one), len(other)) >= 4 and SequenceMatcher(None, one, other).ratio() >= NEAR


def _near_in_characters(one: str, other: str) -> bool:
    """True for Chinese words of which one holds the other, character by character, and hardly more."""
    short, long = sorted((one, other), key=len)
    at = iter(long)
    return len(short) >= 4 and len(short) >= NEAR * len(long) and all(char in at for char in short)


def _latin(terms: frozenset[str]) -> frozenset[str]:
    return frozenset(term for term in terms if not _HAN.search(term))


def _terms(text: str, words: Words) -> Iterator[str]:
    yield from (f"letter {letter}" for letter in _LETTER.findall(text))
    low = text.casefold()
    for term in (*words.terms(_HAN.sub(" ", low)), *_han_words(low)):
        term = _COMMON.get(term, term)
        if term not in _GLUE and term not in _NEGATIVE_TERMS:
            yield term


def _han_words(low: str) -> Iterator[str]:
    import rjieba

    for run in _HAN.findall(low):
        yield from (word for word in rjieba.cut(run) if word not in HAN_STOP)


def _figures(low: str) -> Iterator[str]:
    for found in _FIGURE.finditer(low):
        before, word = low[: found.start()], _WORD_BEFORE.search(low[: found.start()])
        named = before.endswith("第") or _ORDINAL_AFTER.match(low, found.end()) is not None
        named = named or (word is not None and word[1] not in _QUANTITY_AFTER and word[1] not in _ATTRIBUTES)
        yield f"#{found[0]}" if named else found[0]


def _subject(low: str) -> str:
    called = _NAMED.match(low)
    return f"{called[1]}的名字" if called else subject(_OWNED.sub("", low))


def _single_valued(about: str) -> bool:
    if not about:
        return False
    return about.split()[-1] in _ATTRIBUTES or about.endswith((*_HAN_ATTRIBUTES, "名字"))
