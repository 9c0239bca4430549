"""The phrases by which people ask to go back, by language; a further language is a few more lines here.

Patterns are searched for without regard to case, in text with quotation marks blanked out.
"""

from __future__ import annotations

import re
from typing import Literal

Unit = Literal["exchange", "turn", "message"]

MOVES = (
    r"\b(?:go|get|come|jump|move|switch|head|change|flip)\s+(?:\w+\s+)?back\b(?:\s+to\b)?",
    r"^\W*(?:(?:ok|okay|and|now|please|right|so),? )*back to\b",
    r"(?<=about )going back(?:\s+to\b)?|\b(?:take|bring)\s+(?:me|us|it|this)\s+back\b(?:\s+to\b)?",
    r"\b(?:return|revert|rewind|backtrack|roll\s*back|reset|fall back)\s+(?:\w+\s+)?to\b",
    r"\b(?:rewind|backtrack)\b|\brestore\s+(?:to\b)?|\bstep back\b",
    r"\b(?:restart|resume|continue|pick up|start (?:over|again))\s+(?:from|at)\b",
    r"回到|回退到?|退回到?|返回(?=到|.{0,20}(?:方案|版本|计划|步|之前))到?|恢复(?=到|.{0,20}(?:方案|版本|之前))到?",
    r"回滚到?|切回到?|切换回|换回到?|改回到?|跳回到?|倒回到?|退到|倒退到?|回復到?|回歸到?|退(?=[一二两三四五六\d]+步)",
    r"\bstart (?=over\b)|^\W*(?:我们|還是|还是)?从(?=头(?:再)?(?:开始|来)\W*$)|^\W*(?:我们)?重新(?=开始\W*$)",
    r"\bzurück zu[mr]?\b|\brevenir (?:à|au)\b|\brevenons (?:à|au)\b|\bvolver a\b|\bvolvamos a\b",
    r"戻って|戻る|に戻|вернись к|вернёмся к",
)
UNDOES = (
    r"\bundo\b|\brevert\b(?!\s+to\b)|\broll\s*back\b(?!\s+to\b)|\b(?:discard|scrap|drop|throw away)\b"
    r"(?=\s+(?:the\s+)?(?:last|latest|previous|\w+\s+steps?))",
    r"撤销|撤回|撤銷|撤消|取消(?=.{0,6}步)|rückgängig|annule|deshaz|元に戻",
)
LEAD = (
    r"^\W*(?:(?:please|okay|ok|now|just|then|and|so|actually|hmm|no|let'?s|let us|can|could|would|will|you|we|i|i'd"
    r"|want|need|like|should|have|must|to|first|better|go ahead|quickly)\W+)*$"
)
"""What may stand before "undo" where it is an order; after anything else it is a noun or a task."""
RETRACTED = r"\bbut (?:let'?s not|don'?t|not (?:now|yet))\b|\bnever ?mind\b|\bforget it\b|\bor (?:maybe )?not\b|算了$|不用了$"
CHOICES = (
    r"\b(?:use|try|take|go with|stick (?:with|to)|choose|pick|do|follow)\b"
    r"(?=.*\b(?:instead|after all|again|rather)\b)",
    r"还是(?:用|选|走|按|采用|试)|還是用|(?:重新|再)(?:用|采用|选|试)|改用|换成|换用",
)
FOLLOWING = (
    r"\b(?:use|try|take|go with|stick (?:with|to)|choose|pick|do|follow)\b",
    r"(?:用|选|走|按|试)",
)
"""A choice that asks for a move only after another plan was turned down: "forget plan B, use plan A"."""
DENIED = (
    r"(?<!why )(?<!why do)\b(?:do not|don'?t|never|(?<!why )not|no need to|needn'?t|won'?t|wouldn'?t"
    r"|shouldn'?t|can'?t|cannot|mustn'?t|didn'?t|without|avoid|stop|rather than|instead of|refuse to)\b"
    r"(?:\s+\w+){0,4}\s*$",
    r"(?:(?<!要)不要|(?<!特)别|別|不用|不必|(?<!能)不能|(?<!可)不可以|不可|不想|不该|不应该|不需要|没必要"
    r"|无需|勿|莫|不许|不准|禁止|先不|不|没有|没)"
    r"(?:再|想|要|让|我们|我|先|又|急着|马上|现在|随便|轻易|打算)*$",
)
REFUSAL = r"别|不要|不用|不行|放弃|算了|\b(?:not|don'?t|doesn'?t|didn'?t|isn'?t|never|no|forget|scrap|drop|abandon|fail(?:s|ed))\b"
INVITED = r"\b(?:why (?:not|don'?t we)|(?:can|could|should)(?:'?t|n'?t) we)\b"
REPORTED = (
    r"(?<!\bi )\b(?:said|says?|told|tells?|asked|asks?|wrote|suggest(?:s|ed)?|mention(?:s|ed)?)\b",
    r"\b(?:phrase|words?|button|command|means?|explain|describe|define|translate|how (?:to|do)|(?:used|tried|about) to)\b",
    r"\b(?:able|possible|option|ability|function|feature|way|decision|need|reason|chance|idea) to\b",
    r"\b(?:if|when|whenever|once|unless|until|before|after(?! all)|while|because|since|what if|in case)\b",
    r"\b(?:may|might|maybe|perhaps|possibly|someday|(?<!^)could(?! you| we)|would(?! you| like))\b",
    r"\b(?:he|she|they|users?|people|someone|nobody)\b",
    r"(?<!我)说|提到|问|告诉|如果|假如|要是|万一|一旦|等到?|是否|要不要$|怎么|如何|为什么|可能|也许|或许|以后|将来|的时候",
    r"他|她|用户|所谓|叫做|解释|翻译|命令|按钮|什么是",
)
CONDITION = r"^\W*(?:if|when|whenever|once|unless|in case|should|如果|要是|万一|假如|一旦|等)"
ASKING = (
    r"^\W*(?:(?:so|and|but|ok|hmm|well|wait|now),? )*"
    r"(?:what(?!\s+about)|why(?! not| don'?t we)|how(?! about)|when|where|who|which|does|do|did|is|are|was|were"
    r"|has|have|had|should|would(?! you)|will(?! you)|may|might|am)\b",
    r"什么意思|什么叫|什么是|怎么|为什么|为何|是否|要不要|该不该|会不会|是不是|有没有|如何|怎样",
)
POLITE = (
    r"\b(?:can|could|would|will) (?:you|we)\b|\bplease\b|\bcan i\b"
    r"|请|能不能|可不可以|可以|能|好吗|行吗|好不好|吧|麻烦"
)

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
LETTER_KEY = re.compile(r"(?:用|选|走|use|try|with|take|pick)\s*([A-Z])(?![A-Za-z])")
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "couple": 2, "few": 3,
    "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twenty": 20, "thirty": 30, "二十": 20, "三十": 30,
    "first": 1, "second": 2, "third": 3, "fourth": 4, "original": 1, "initial": 1, "last": -1, "latest": -1,
    "newest": -1, "最初": 1, "最早": 1, "最开始": 1, "原来": 1, "起初": 1, "最后": -1, "最新": -1,
}  # fmt: skip
NUMBER = r"(\d{1,3}|an?|one|two|three|four|five|six|(?:a )?couple(?: of)?|(?:a )?few|[一二两兩三四五六])"
UNITS: tuple[tuple[Unit, str], ...] = (
    (
        "exchange",
        r"steps?|exchanges?|changes?|edits?|repl(?:y|ies)|responses?|answers?|attempts?|actions?"
        r"|步骤?|次修改|次|修改|改动|操作",
    ),
    ("turn", r"turns?|rounds?|questions?|prompts?|requests?|轮(?:对话)?|回合|个问题"),
    ("message", r"messages?|nodes?|entries|条(?:消息)?|个节点"),
)
EVENT = (
    r"(?:^|.*?\b)(?:just |right |shortly )?(?:before|prior to)\b\s*(?P<event>.*)",
    r"(?P<event>.+?)(?:之前|以前|(?<![之以先提目])前)(?:的|那|$).*",
)
THIS = re.compile(
    r"\W*(?:this|that|it|these|now|(?:this|that|the) (?:one|plan|current one|last one)|current one"
    r"|这个(?:方案)?|那个|这|它|当前的?|现在)?\W*",
    re.IGNORECASE,
)
PREVIOUS = re.compile(
    r"\b(?:previous|prior|preceding|one before|earlier one)\b|上一?个|前一个|上一版|前一版", re.IGNORECASE
)
ORDINAL = re.compile(
    r"\b(first|second|third|fourth|original|initial|last|latest|newest)\b|第([一二三四五\d])(?:个|种|版)?"
    r"|(最初|最早|最开始|原来|起初|最后|最新)",
    re.IGNORECASE,
)
START = re.compile(
    r"^over$|^头(?:再)?(?:开始|来)|\b(?:the )?(?:very )?(?:beginning|start|scratch|square one|top)\b\W*$|^(?:最)?(?:开头|开始|起点)\W*$",
    re.IGNORECASE,
)
LAST = re.compile(r"\b(?:last|latest|again|most recent)\b|最后|最近|又", re.IGNORECASE)
BARE = re.compile(
    r"^(?:to )?(?:the|that|this|our|my|your|just before|right before|before|prior to|after)\b"
    rf"|^(?:\S+ ){{0,3}}\S*{PLAN_NOUN}\W*$|之前|以前|那(?:个|一?步|版)",
    re.IGNORECASE,
)
SENTENCE_LIKE = re.compile(
    r"^\W*(?:i|we|you|he|she|it|they|there|thanks?|ok|yes|no|let|tell|show|explain|describe|summari[sz]e"
    r"|compare|implement|write|continue|delete|remove|make|do|add|fix|run|test|try|use|give|list|read|return|what"
    r"|why|how|please|is|are|can|could|keep|drop|forget|follow|check|update|create|start)\b"
    r"|^(?!.*\b(?:before|prior to)\b).*\b(?:is|are|was|were|has|have|had|will|would|should|looks?|seems?|works?"
    r"|worked|fails?|failed|sounds?|means?|needs?)\b"
    r"|\b(?:goes|went|came|comes|ran|runs)\b|^.*\b(?:is|are|was|were|fail(?:s|ed)|work(?:s|ed))\b.*\bbefore\b"
    r"|是|说|完了|好了|很|吗|呢|怎么|什么|解释|说明|介绍|看看|比较|执行|实现|继续|讲|写|运行|为什么|觉得|喜欢|太|不",
    re.IGNORECASE,
)
QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|`[^`]*`|(?<!\w)'[^']*'(?!\w)|‘[^’]*’")
CLAUSE = re.compile(r"(?:[^,;.!?，。；！？\n]|\.(?=\w))+[,;.!?，。；！？]*")

HAN_STEP = re.compile(r"第([一二三四五六七八九]|\d{1,2})步")
HAN_LEAD = re.compile(
    r"(?:\W|请|我们?|咱们?|你|还是|还|能不能|可不可以|能|可以|不如|要不|那|就|先|再|直接|马上|现在|立刻|麻烦|帮我?|给我"
    r"|把.{1,12}|想|要|应该|得|让|一起|干脆|算了|好的?|吧|都|全部|重新|都?给|说)*"
)
"""What may stand before a Chinese verb of moving where it is an order; anything else is a subject or a story."""
TOLD = re.compile(
    r"^\s*(?:了|过)|\bnext (?:year|month|week)\b|\btomorrow\b|^\s*(?:is|was|stack|button)\b", re.IGNORECASE
)
"""What stands after the verb of a move that is told, or is for another day."""
LETTING = re.compile(r"\blet (?!us\b|me\b)\w+ \w+", re.IGNORECASE)
THAT = re.compile(r"\bthat\b|刚才|刚刚|那个|之前", re.IGNORECASE)
YESTERDAY = re.compile(r"\byesterday\b|昨天", re.IGNORECASE)
AGO = (
    re.compile(r"\b(\d{1,3}|half an?|[a-z]+) (minutes?|mins?|hours?|days?) ago\b", re.IGNORECASE),
    re.compile(
        r"(\d{1,3}|[一二两三四五六七八九]?十|半|[一二两三四五六七八九])\s*个?(分钟|小时|钟头|天)(?:之?前|以前)"
    ),
)
