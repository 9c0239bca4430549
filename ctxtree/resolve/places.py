"""The phrases by which people name a place in a conversation: plans, counts, times, events, order."""

from __future__ import annotations

import re
from typing import Literal

Unit = Literal["exchange", "turn", "message"]
PLAN_NOUN = (
    r"(?:\b(?:plans?|options?|approach(?:es)?|versions?|alternatives?|proposals?|ideas?|solutions?|variants?"
    r"|designs?|suggestions?|ways?|strateg(?:y|ies)|methods?|drafts?|schemes?)\b"
    r"|方案|计划|計劃|思路|版本|做法|设计|办法|方法|策略|想法|建议|选项)"
)
ENGLISH_KEY = re.compile(
    r"\b(plan|option|approach|version|alternative|proposal|idea|solution|variant|design|strategy|method|step)\s+"
    r"(?:#|no\.?\s?)?(?:((?-i:[A-HJ-Z])|[b-hj-z]|[ai](?!\s+[a-z])|\d{1,2})\b(?!['’-])|(one|two|three|four|five)\b)",
    re.IGNORECASE,
)
HAN_KEY = re.compile(
    r"(方案|计划|計劃|选项|思路|版本|做法)\s*([A-Za-z](?![A-Za-z])|\d{1,2}|[一二三四五甲乙丙丁])"
    r"|(?<![A-Za-z])([A-Z]|[甲乙丙丁])\s*(方案|计划|計劃|选项|版本)"
)
HAN_STEP = re.compile(r"第([一二三四五六七八九]|\d{1,2})步")
LETTER_KEY = re.compile(r"(?:用|选|走|use|try|with|take|pick)\s*([A-Z])(?![A-Za-z])")
OWNED = re.compile(r"\w's\b|的(?:建议|想法|方案|办法|主意)", re.IGNORECASE)
"""Who a plan is from."""
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "couple": 2, "few": 3,
    "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twenty": 20, "thirty": 30, "二十": 20, "三十": 30,
    "first": 1, "second": 2, "third": 3, "fourth": 4, "original": 1, "initial": 1, "last": -1, "latest": -1,
    "newest": -1, "最初": 1, "最早": 1, "最开始": 1, "原来": 1, "起初": 1, "最后": -1, "最新": -1,
}  # fmt: skip
NUMBER = r"(\d{1,3}|an?|one|two|three|four|five|six|(?:a )?couple(?: of)?|(?:a )?few|(?<![那这哪每])[一二两兩三四五六七八九十])"
UNITS: tuple[tuple[Unit, str], ...] = (
    (
        "exchange",
        r"steps?|exchanges?|changes?|edits?|repl(?:y|ies)|responses?|answers?|attempts?|actions?"
        r"|步骤?|次修改|次|修改|改动|操作",
    ),
    (
        "turn",
        r"turns?|rounds?|questions?|prompts?|requests?|轮(?:对话)?|回合|个问题|条?(?:要求|请求|指令|提问)",
    ),
    ("message", r"messages?|nodes?|entries|条(?:消息)?|个节点"),
)
OWN = re.compile(
    r"^(?:my|我的?)(?: last| latest| previous|上一?|最后一?|刚才那?)\s*(?:messages?|entries|条(?:消息)?|的?话)\W*$",
    re.IGNORECASE,
)
"""The newest words of the user."""
AGO = (
    re.compile(r"\b(\d{1,3}|half an?|[a-z]+) (minutes?|mins?|hours?|days?) ago\b", re.IGNORECASE),
    re.compile(
        r"(\d{1,3}|[二三四五六七八九]?十[一二三四五六七八九]?|半|[一二两三四五六七八九])\s*个?(半)?(分钟|刻钟|小时|钟头|天)(?:之?前|以前)"
    ),
)
YESTERDAY = re.compile(r"\byesterday\b|昨天", re.IGNORECASE)
EVENT = (
    r"(?:^|.*?\b)(?:just |right |shortly )?(?:before|prior to)\b\s*(?P<event>.*)",
    r"(?P<event>.+?)(?:之前|以前|(?<![之以先提目])前)(?:的|那|$).*",
)
WITHOUT = (
    r"(?:.*\b(?:without|minus|lacking)|(?:.*\b)?(?:when|where) there (?:was|were) no)\b\s*(?P<event>.*)",
    r"(?:没有?|不带|还没有?|没加)(?P<event>.+?)(?:的.*|$)",
)
"""A version that lacks something: it stood before that came."""
AFTER = (
    r"(?:just |right |shortly |straight )?after\b\s*(?P<event>.*)",
    r"(?P<event>.+?)(?:之后|以后|完后|(?<=完)的?时候)(?:的|那|$).*",
)
FAILURE = re.compile(
    r"\b(?:fail(?:s|ed|ing|ures?)?|errors?|crash(?:es|ed)?|broke|broken|exceptions?|traceback|went wrong|blew up"
    r"|refused|rejected|denied|timed out|stopped working|could not|couldn'?t|unable)\b|失败|报错|出错|错误|崩溃|挂了|坏了|异常|被拒",
    re.IGNORECASE,
)
TAKEN_UP = re.compile(
    r"^(?:we |you |i )?(?:using|chose|choosing|took|taking|used|went with|started)\b|^(?:我们|你|我)?(?:采用|改用|用|选择?|实施|开始)",
    re.IGNORECASE,
)
"""A plan spoken of as done, not as laid out."""
INTENDED = re.compile(r"\b(?:should|need to|needs to|could|would|must)\b|需要|应该|建议|可以", re.IGNORECASE)
"""A message of the assistant that speaks of what is still to be done."""
START = re.compile(
    r"^(?:all )?over(?: again)?$|^(?:again|anew|afresh)$|^(?:头|零)?(?:再)?(?:开始|来过?|做)$"
    r"|^(?:all )?(?:over |again )?(?:from |at |to )?(?:the )?(?:very )?(?:beginning|start|scratch|zero|square one|top)"
    r"(?: of (?:the|this|our) (?:conversation|chat|session|thread))?\W*$|^(?:最)?(?:开头|开始|起点)\W*$",
    re.IGNORECASE,
)
PREVIOUS = re.compile(
    r"\b(?:previous|prior|preceding|one before|earlier one)\b|上一?个|前一个|上一版|前一版", re.IGNORECASE
)
OTHER = re.compile(
    r"\b(?:the |that )?other (?:one|plan|option|approach|idea|way|version|solution|proposal)\b|另(?:外)?(?:那|一)个?",
    re.IGNORECASE,
)
ORDINAL = re.compile(
    r"\b(first|second|third|fourth|original|initial|last|latest|newest)\b|第([一二三四五\d])(?:个|种|版)?"
    r"|(最初|最早|最开始|原来|起初|最后|最新)",
    re.IGNORECASE,
)
LAST = re.compile(r"\b(?:last|latest|again|most recent)\b|最后|最近|又", re.IGNORECASE)
THAT = re.compile(r"\bthat\b|刚才|刚刚|那个|之前", re.IGNORECASE)
BEYOND = (
    r"\b(?:instead of|rather than|because|since|so that|so we|in order to)\b|(?<=\w) and (?:then )?(?:try|run|use|do|add|make"
    r"|continue|start|write|fix|test|let|redo|rebuild|deploy|see|check|work|build|carry|go on)\b|(?<=\S)(?:然后|接着|并且|因为|以便|再[重试做跑改写用]|重新(?=[来开写做选试弄改跑]))"
)
"""Where a phrase ends that names a place, and a reason or a further order begins."""
THIS = re.compile(
    r"\W*(?:this|that|it|these|now|(?:this|that|the) (?:one|plan|current one|last one)|current one"
    r"|这个(?:方案)?|那个|这|它|当前的?|现在)?\W*",
    re.IGNORECASE,
)
THERE = re.compile(
    r"\W*(?:(?:to )?(?:it|there|that|this|that one|this one|(?:that|this) (?:option|plan|version|idea|approach|one))(?: one)?"
    r"|它|去|过去|那(?:里|儿|边|个|一?步|一?版|条)?|这(?:里|儿|个|版)|那个(?:方案|办法|版本|选项)|这个(?:方案|办法|版本|选项))"
    r"(?: instead| after all| again)?(?:来|做|办|吧|好了)?\W*",
    re.IGNORECASE,
)
"""Words that only point at what was just named."""
BLAME = re.compile(
    r"\b(?:mistake|wrong|bad|broken|useless|not what i|don'?t like)\b|错了?|不要了|不用|不好|不对|有问题|没必要|多余|失败",
    re.IGNORECASE,
)
"""What is said of a thing that is to be undone."""
PRAISE = re.compile(
    r"\b(?:better|best|good|nice|nicer|fine|great|right|sounds?|looks?|seems?|was|is|after all|works?|worked|actually|more|most|i|liked?|much|still)\b"
    r"|其实|可能|应该|还是|更|最|挺|很|比较|不错|合适|靠谱|稳妥?|好用?|喜欢|就",
    re.IGNORECASE,
)
BY = re.compile(
    r"\bwhat (?:my |our |the )?(\w+) (?:said|proposed|suggested|wanted|recommended|had in mind)\b|^([A-Za-z]+|[\u4e00-\u9fff]{1,4}?)\s*(?:说|建议|提|推荐)?的\W*(?:来|办|做)?$",
    re.IGNORECASE,
)
"""A plan named by who proposed it."""
CURRENT = re.compile(
    r"\b(?:current|present|existing)\b|^(?:this|the same)\b|现在|目前|当前|^这个|^这种", re.IGNORECASE
)
"""What is in use already: to choose it is no move."""
ORIGINAL = re.compile(
    r"\b(?:original|old|earlier|former|initial)\b|原来的?|原先的?|之前的|以前的|旧的?|最初的?", re.IGNORECASE
)
"""A thing as it was before it was changed."""
EDITION = re.compile(
    r"\b(?:version|draft|answer|reply|response|translation|text)\b|版|稿|回答|答案|译文|译本|答复",
    re.IGNORECASE,
)
"""What every answer is one of, so that the first can be told by its number."""
PROPOSED = re.compile(
    r"\b(?:suggest(?:s|ed|ion)?|propos(?:es?|ed|al)|recommend(?:s|ed)?|how about|what about|(?:we|you|i) could|options?|ways?|either|consider)\b"
    r"|建议|提议|推荐|可以|不如|要不|或者|思路|办法|([\u4e00-\u9fff]{2})一.*\1二|(?<!\S)1[.)、].*(?<!\S)2[.)、]",
    re.IGNORECASE | re.DOTALL,
)
"""A message that puts something forward to choose."""
BRANCHED = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|versions?|branch(?:es)?|drafts?|one|responses?|conversation)\b|回答|答案|那个|那一?版|那条|分支|稿",
    re.IGNORECASE,
)
"""Words for what stands on another branch."""
GENERIC = re.compile(
    PLAN_NOUN
    + r"|\b(?:the|that|this|one|thing|stuff|point|place|step|state|part|bit|topic|subject|just|right|now|last|previous|earlier|first"
    r"|back|to|where|when|while|we|i|you|it|had|were|was|from|of|about|with|please|again|instead|after all|rather|time|discussed|only|listed|described|explained|showed|shown|wrote|written|presented|attempt"
    r"|discussing|talk(?:ed|ing)?|discussion|proposed|suggested|mentioned|made|used|did|before|after|still|then|checkpoint|label"
    r"|node|message|conversation|question|answer|reply|said|asked|began|started|came|come|got|get|went|gone|happened|put|took|take|gave|changed?|switch(?:ed)?|turned|changes?|edits?|two|three|four|five|picked?|chose|chosen|tried|try|decided|let'?s|us|ok(?:ay)?|version|better|best|good|fine)\b"
    r"|刚才|刚刚|刚|全部|所有|最初|最早|最开始|一开始|之前|以前|原来|那个|这个|那一?步|这一?步|那一?版|一版|那会儿|那一?[段块句篇条次轮]|讨论|那时候?|的时候|时候|说过?的|提到的|讨论的|聊的|那里|那儿|地方"
    r"|状态|一下|第[一二三四五六][个种]|[一两二三四五六几][个种条项套]|的?修改|的?改动|变更|话题|问题|回答|答案|部分|阶段|环节|更好|挺好|还是|其实|吧$|来$|好$|办$|做$",
    re.IGNORECASE,
)
"""Words that name no place of their own."""
LIGHT = re.compile(
    r"(?<![\u4e00-\u9fff])[加改换写做跑删修调看查画](?=[\u4e00-\u9fff\s])|[写做弄加改跑装画修调建][好完成]|完成|\bdone\b",
)
"""Chinese words of doing and finishing: they rank a place, but that one lacks them is no doubt about it."""
MADE = re.compile(r"\b(?:version|draft|variant)s?\b|版|稿", re.IGNORECASE)
"""What was made, not only proposed."""
ROOTS = (
    r"\bpropos|提议|提案",
    r"\bsuggest|建议",
    r"\boptions?\b|选项",
    r"\bapproach|办法|做法|方法",
    r"\bplans?\b|方案|计划",
    r"\bideas?\b|思路|想法|点子",
)
"""The nouns for a plan by their roots: words that say "option" mean first what was called an option."""
ASKED = re.compile(
    r"\b(?:ask(?:ed|ing)?|questions?|discuss\w*|talk(?:ed|ing)?)\b|问|讨论|聊|谈", re.IGNORECASE
)
"""An event that is a question."""
AFTER_ALL = re.compile(r"\bafter all\b|还是", re.IGNORECASE)
"""A choice of what was spoken of and left."""
COURTESY = re.compile(r"\W*\b(?:please|thanks?|thank you|pls)\b|谢谢|拜托|一下", re.IGNORECASE)
