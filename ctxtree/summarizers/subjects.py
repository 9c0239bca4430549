"""What a statement is about, so that a later one can take the place of an earlier one."""

from __future__ import annotations

import re

_LEAD = re.compile(
    r"^(?:(?:actually|ok|okay|so|now|wait|correction|sorry|no|update|note|and|but|please|remember|"
    r"don't forget|fyi|important|"
    r"by the way|btw|for the record|keep in mind|also|well)(?: that)?[\s,:.!-]+)+"
    r"|^(?:请|记住|记一下|记下|更正|注意|其实|现在|对了|另外|不对|等等|[，,：:。\s])+"
)
_STATES = re.compile(
    r"^(?P<en>[^,.;:?!]{2,60}?)\s+(?:is|are|was|will be|has been|has|have been)?\s*(?:now |just |still )?"
    r"(?:is|are|was|will be|moved to|moved from|changed to|changed from|switched to|updated to|"
    r"renamed to|set to|postponed to|pushed back to|brought forward to|=)\s*\S"
    r"|^(?:change|move|set|update|switch|rename) (?P<do>[^,.;:?!]{2,60}?) (?:to|from) \S"
    r"|^(?:把|将)?(?P<han>[^，。,；：:？?！!\s]{1,16}?)(?:已经|现在|已|要|就|先|都)*"
    r"(?:是|为|叫|改为|改成|改到|改叫|变成|变为|换成|换为|定为|定在|推迟到|提前到|设为)\S"
)
_ARTICLES = re.compile(
    r"^(?:(?:the|our|my|this|a|an|new|updated|current|final|old|latest|project's)\s+)+|^(?:我们的|我们|我的|"
    r"新的|当前的?|最终的?|这个|那个|项目的?|本|该)+"
)
_VAGUE_TABLE = (
    "it this that there these those he she they i we you what which who here one first second last "
    "next other others both all problem error issue answer result results reason question point "
    "thing things idea bug something everything nothing 他 她 它 这 那 我 你 我们 你们 他们 问题 错误 结果 原因 第一 第二 这里 "
    "那里 其中 都 也 还 不 只 就 "
)
_VAGUE = frozenset(_VAGUE_TABLE.split())


def subject(text: str) -> str:
    """The noun that a statement gives a value ("the deadline is Friday": `deadline`), or "" if there is none.

    Works on "X is Y", "X moved to Y", "change X to Y", "X是Y", "把X改成Y". Vague subjects give "".
    """
    low = _LEAD.sub("", text.casefold().replace("’", "'")).strip()
    found = _STATES.match(low)
    if found is None:
        return ""
    noun = (found["en"] or found["do"] or found["han"] or "").strip()
    noun = _ARTICLES.sub("", noun).strip()
    if not noun or noun in _VAGUE or len(noun.split()) > 6 or noun.split()[0] in _VAGUE:
        return ""
    return noun
