"""The words by which sentences are told apart, in English and Chinese."""

from __future__ import annotations

import re
from dataclasses import dataclass

WORD = re.compile(r"[a-z']+")
HAN = re.compile(r"[⺀-鿿]")


@dataclass(frozen=True, slots=True)
class Cue:
    """Patterns of one meaning. `words`: one of them stands in all that the English pattern fits (none: no such list)."""

    words: frozenset[str]
    english: re.Pattern[str]
    han: re.Pattern[str] | None

    def found(self, low: str, words: frozenset[str]) -> bool:
        """Whether a sentence in small letters, with its set of words, fits."""
        if (not self.words or not words.isdisjoint(self.words)) and self.english.search(low):
            return True
        return self.han is not None and not low.isascii() and self.han.search(low) is not None


def cue(words: str, *patterns: str) -> Cue:
    """A cue of patterns; those with a Chinese character are tried on texts beyond ASCII only."""
    english = [pattern for pattern in patterns if not HAN.search(pattern)]
    han = [pattern for pattern in patterns if HAN.search(pattern)]
    return Cue(frozenset(words.split()), _joined(*english), _joined(*han) if han else None)


def _joined(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


CODE = _joined(
    r"[{};]\s*$",
    r"^\s*(?:def|class|import|from \S+ import|return|#include|const|let|var)\b.*[:;({=]",
    r"^[<{\[]\S",
)

DESCRIBED = _joined(
    r"\b(?:it|this|he|she|they|which|who|i|i've|we've|has|have|had|was|were)(?:'s|'ve)? "
    r"(?:just |also )?(?:never|always|only)\b(?! want)",
    r"\b(?:i|we|they|you|these|those|most|some|people|users) (?:really |still |just |also )?(?:don't|"
    r"do not) "
    r"(?!want|use|deploy|push|commit|ship|allow|touch|merge|store|log|accept|release|edit|work on)\w+",
    r"\b(?:don't|do not) (?:worry|know|mind|forget|remember|think|care|bother|have to|need to|"
    r"understand|get it)\b",
    r"\b(?:we|you|i) (?:have |had )?(?:never|always) \w+ed\b",
    r"\bmust (?:have (?:been|got)|be (?:joking|kidding|a (?:bug|mistake|typo)|something|because|due|"
    r"wrong))",
    r"\bnever mind\b",
    r"不要紧|要不要|不得不|不得了|绝对值|绝对路径|绝对定位|特别|区别|个别|级别|类别|分别|别人|别的|别处|识别|告别|性别|差别|辨别|别名|别说",
)
BINDS_WORDS_TABLE = (
    "never must mustn't always don't dont do should shouldn't shall may cannot can't can only "
    "circumstances matter forbidden prohibited allowed off limits sure ensure avoid refrain required "
    "requirement mandatory costs ask without than most least stay stick leave hands read keep has "
    "have needs need no not under within exceed instead confirm approval permission rule fine ok okay permitted alright free changed "
    "lifted longer you "
)
BINDS_WORDS = frozenset(BINDS_WORDS_TABLE.split())
STRONG = cue(
    "",
    r"\bnever\b|\bmust\b|\bmustn't\b|\balways\b|\b(?:do not|don't|dont)\b|\bshould(?:n't| not| never|"
    r" always)\b",
    r"\b(?:shall|may) not\b|\byou (?:cannot|can't|can not|are not to)\b|\bunder no circumstances\b|"
    r"\bno matter what\b",
    r"\bonly (?:use|edit|touch|change|modify|write|read|reply|answer|respond|run|work|call|deploy|"
    r"commit|install|"
    r"accept|push|in|with|on|via|from|after|when|if|by|through|the|ever)\b|^(?:please )?only\b",
    r"\b(?:use|reply|answer|respond|write|output|return|touch|edit|change|modify|speak)\b.{0,40}\bonly\b",
    r"\bforbidden\b|\bprohibited\b|\bnot allowed\b|\boff[- ]limits\b|\bmandatory\b|\bat all costs\b|"
    r"\bhands off\b",
    r"\bask (?:me )?(?:first|before|for)\b|\bwithout (?:asking|touching|changing|breaking|my|telling|"
    r"approval|permission)\b",
    r"\bleave .{1,40} (?:alone|as (?:it|they)|untouched)\b|\bcan(?:not|'t) exceed\b|\bhard (?:limit|"
    r"rule|requirement)\b",
    r"不要|不准|不许|不得|不可以|不允许|绝对|绝不|决不|千万|必须|一定要|务必|只能|只可|只许|只用|仅限|禁止|严禁|切勿|勿|始终|永远|别(?:再|动|改|碰|用|删|提交|推|上|发|乱|把|让|给|在|去|做|写|加|问|太|跑|重)",
    r"先问我|先问过我|经我(?:同意|确认)|不能(?:超过|动|改|碰|删|用|提交|推送|上线|低于|少于|泄露|修改|删除|使用)|不(?:得)?超过",
)
WEAK = cue(
    "",
    r"\bmake sure\b|\bensure\b|\bavoid\b|\brefrain\b|\brequire[sd]?\b|\brequirement\b|\bshould\b|"
    r"\bread-only\b",
    r"\b(?:no|not) (?:more|later|fewer|less|longer) than\b|\bat (?:most|least)\b|\bstay (?:on|under|"
    r"within)\b|\bstick (?:to|with)\b",
    r"\bkeep .{1,60}\b(?:under|below|within|unchanged|intact|private|secret|compatible|short)\b|"
    r"\binstead of\b",
    r"\b(?:has|have|needs?) to (?:be|stay|remain|use|run|fit|work|support|pass)\b|\bno (?:new |extra |"
    r"more |external )?\w+(?:s|es)\b$",
    r"确保|保证|不少于|不低于|至少|最多|以内|避免|要求|限制|上限|下限|应该|不应|尽量",
)
RELAXES = cue(
    "fine ok okay allowed permitted alright may can free longer changed lifted over gone",
    r"\b(?:is|are|it's|that's) (?:now )?(?:fine|ok|okay|allowed|permitted|alright)\b(?:.*\bnow\b)?",
    r"\byou (?:can|may) (?:now|also|go ahead|push|use|edit|touch|change|delete|deploy|merge)\b|"
    r"\bfeel free to\b",
    r"\bno longer (?:need|requir|necessary|appl|forbidden|matter)|\bi (?:have )?changed my mind\b|"
    r"\b(?:rule|ban|freeze) is (?:lifted|over|gone)\b",
    r"现在可以|可以.{0,12}了|允许|不再需要|不用再|不必再|改主意|取消.{0,8}(?:限制|要求|规定)|没有.{0,6}限制了",
)
REMEMBER = cue(
    "remember memorize memorise forget mind note record reference fyi important write",
    r"\bremember\b|\bmemori[sz]e\b|\b(?:don't|do not|never) forget\b|\b(?:keep|bear) in mind\b|"
    r"\bnote (?:that|down|this)\b",
    r"\bfor (?:the record|future reference|later reference)\b|\bfyi\b|^important\b|\bmake a note\b|"
    r"\bwrite (?:this|that|it) down\b",
    r"记住|记得|记一下|记下|别忘|不要忘|牢记|请注意|^注意|备忘|记好",
)
RECALLS = cue(
    "remember",
    r"\b(?:do|did|can|could|will|would) (?:you|we|i) (?:still )?remember\b|\bi (?:don't |can't |"
    r"do )?remember\b|\bremember (?:when|what|how|the time)\b",
    r"还记得|记不记得|记得.{0,20}吗",
)
PREFERS = cue(
    "prefer prefers preferred preference preferably like likes love loves hate hates dislike dislikes enjoy enjoys favor favors favour favours rather favorite favourite usually tend normally",
    r"\b(?:i|we|she|he|they) (?:really |also |much |always |usually |generally |strongly |do |don't |"
    r"do not )*"
    r"(?:prefers?|likes?|loves?|hates?|dislikes?|enjoys?|favou?rs?)\b(?! to (?:know|see|ask|have you))",
    r"\b(?:would|'d) rather\b|\bprefer(?:ably|ence|red|s)?\b|\bmy favou?rite\b|\b(?:i|we) (?:usually|"
    r"tend to|normally)\b",
    r"喜欢|偏好|习惯|更愿意|倾向于|讨厌|宁愿|最好用|爱用",
)
DECIDES = cue(
    "decide decided decision go going use chosen choose chose settle settled pick picked adopt adopted agree agreed stick sticking switch switched switching final approved",
    r"\b(?:we|we'll|we will|let's|i'll|we're|i've|we've|i|team|they) (?:have |are |will |both |all |"
    r"finally )*"
    r"(?:decided?|go(?:ing)? with|use|chosen?|chose|settled?|picked?|adopt(?:ed)?|agreed?|"
    r"stick(?:ing)? with|switch(?:ed|ing)? to)\b",
    r"\bdecision\b|\bdecided (?:to|on|that|against)\b|\bfinal choice\b|\bapproved\b|\bagreed (?:on|to|"
    r"that)\b|\bsettled on\b|\bgoing with\b",
    r"决定|选用|采用|选择了|选定|定了|就用|敲定|确定用|最终方案|定为|拍板|改用",
)
STEP = re.compile(
    r"(?:sorry|okay|ok|sure|done|yes|right)?[,.!]? ?(?:let me|let's|i(?:'ll|'ve| will| have| just| now)*"
    r" (?!decid|chose|settle|agree|recommend))|我(?:来|先|会)"
)
"""What an assistant says of its own next or last step."""
OBJECTS = cue(
    "wrong incorrect not no nope misunderstood broke forgot ignored missed got doesn't didn't does did still stop told asked too revert undo bad",
    r"\b(?:that|this|it)(?:'s| is| was) (?:completely |totally |still |all |just |also )?(?:wrong|"
    r"incorrect|not (?:right|correct|what|true|good|it))\b",
    r"\bnot what i (?:asked|wanted|meant|said|need)|\byou (?:misunderstood|broke|forgot|ignored|"
    r"missed|got (?:it|that) wrong)\b",
    r"^(?:no|nope|wrong)\s*[,.!:;—-]|^(?:no|wrong)$|\b(?:doesn't|didn't|does not|did not) (?:work|"
    r"help|answer|compile)\b",
    r"\bstill (?:broken|failing|wrong|not)\b|\bstop (?:doing|adding|using|making)\b|"
    r"\bi (?:already )?(?:told you|asked (?:for|you))\b",
    r"\btoo (?:long|verbose|slow|short|complicated|vague)\b|\b(?:revert|undo) (?:that|this|it)\b|"
    r"\bbad (?:idea|answer)\b",
    r"不对|不是这样|错了|不是我(?:要|想|说)|我说的是|搞错|弄错|没有?用|太长|太慢|太复杂|重来|理解错|你忘了|不满意|不正确",
)
OPEN = cue(
    "todo to-do to do tbd open follow followup remind still not undecided haven't decide decided come",
    r"\bto-?do\b|\btbd\b|\bopen (?:question|issue|point)\b|\bfollow[- ]up\b|\bremind me\b|"
    r"\bstill (?:need|have) to\b|\bnot (?:yet )?decided\b",
    r"\bundecided\b|\bhaven't decided\b|\bstill (?:unclear|open|unknown)\b|"
    r"\blet's decide .{0,20}later\b|\bcome back to (?:this|that|it) later\b",
    r"待办|待定|未定|还没(?:有)?(?:决定|想好|定)|还需要|未解决|悬而未决|回头再|以后再|遗留",
)
ASKS = _joined(
    r"[?？][\"'”’)）]*$|(?:吗|呢)[。！]?$|^(?:what|why|how|when|where|which|who|whose|is|are|was|were|does|"
    r"did|do|can|could|would|will|should|has|have) "
    r"(?:[a-z']+) .*[?？]"
)
POLITE = cue("", r"^(?:please|can you|could you|would you|will you)\b", r"能不能|可不可以|能否|可以不")
LEAD = re.compile(
    r"^(?:(?:please|now|then|ok|okay|so|next|also|great|thanks|thank you|and|hi|hello|hey|well|first|"
    r"finally|alright|actually|good|perfect|cool|yes|just)"
    r"[\s,.!:—-]+)+"
    r"|^(?:谢谢你?|多谢|好的?|嗯|那么?|行|可以|你好|您好|麻烦你?|对了|[\s，。！,.!、])+"
)
IMPERATIVES_TABLE = (
    "add adjust analyse analyze apply arrange ask assess audit backup book build bump bring "
    "calculate call cancel change check clean clone close collect combine commit compare compile "
    "compute configure connect continue convert copy correct count create cut debug define delete "
    "deploy describe design determine develop diagnose disable discuss display document download "
    "draft draw drop edit email enable estimate evaluate examine execute expand explain explore "
    "export extend extract fetch figure fill filter find finish fix format generate get give go "
    "group handle help identify implement import improve inspect install integrate introduce "
    "investigate join keep launch let list load locate log look lower make map mark measure merge "
    "migrate modify monitor mount move name open optimise optimize order organise organize outline "
    "parse paste patch pick plan plot post prepare print produce propose provide publish pull push "
    "put raise read rebase rebuild recommend record redo reduce refactor reformat regenerate release "
    "remove rename render reorder repeat replace reply report request rerun research reset resolve "
    "restart restore retry return review revise rewrite roll rotate round run save scan schedule "
    "search see select send set setup share show simplify sketch solve sort split start stop store "
    "structure submit suggest sum summarise summarize swap switch sync take tell test tidy trace "
    "track train transform translate trim try tune turn undo unify unzip update upgrade upload use "
    "validate verify view visualise visualize wait walk wire work wrap write "
)
IMPERATIVES = frozenset(IMPERATIVES_TABLE.split())
WANTS = cue(
    "",
    r"\b(?:can|could|would|will) you\b|\bi(?:'d| would) like\b|\bi (?:want|need)\b|\blet's\b|"
    r"\bhelp me\b|\bplease\b|\bwe need to\b|\bgo on\b",
    r"^(?:请|帮|麻烦|给|把|我想|我要|我们来|继续|现在|然后|接着|再|写|改|查|看|找|做|加|删|跑|测|列|画|算|解释|总结|翻译|生成|创建|修复|部署|检查|分析|优化|"
    r"实现|重构|更新|发布|运行)",
    r"帮我|帮忙|请(?:你|帮|把|给|先|再|用|写|看)",
)
NAMED = cue(
    "",
    r"\b(?:code ?name|name|password|port|token|budget|deadline|version|address|e-?mail|phone|birthday|"
    r"account|api key|id|number|"
    r"host|url|region|owner|manager|customer|client|limit|price|cost|total|schedule|timezone|"
    r"time zone|allerg\w+|size|date|currency)\b.{0,30}"
    r"(?:\bis\b|\bare\b|\bwas\b|\bwill be\b|=|:|\bmoved\b|\bchanged\b|\bto\b)",
    r"\bmy .{1,40}\b(?:is|are|was)\b|\bcall me\b|\bi(?:'m| am) (?:called |an? |from |in |based |"
    r"allergic |the |[0-9])|\bi (?:live|work) (?:in|at|for|as)\b",
    r"代号|名字|姓名|叫|电话|手机|邮箱|地址|密码|端口|预算|截止|期限|生日|编号|订单|版本|账号|工号|价格|总价|人数|年龄|过敏|负责人|我是|我住|我的",
)
TOLD = re.compile(
    r"(?:代号|名字|姓名|电话|手机|邮箱|地址|密码|端口|预算|截止\w*|期限|生日|编号|订单号?|版本|账号|工号|价格|总价|人数|年龄|负责人)[^，。,]{0,8}(?:是|为|"
    r"叫|：|:)"
    r"|我叫|我是|我住"
)
MOVED = cue(
    "moved changed switched updated renamed set postponed pushed brought change move switch rename update now",
    r"\b(?:moved|changed|switched|updated|renamed|set|postponed|pushed back|brought forward) (?:to|"
    r"from)\b|\b(?:change|move|set|switch|rename|update) (?:the|our|my) .{1,30} to\b|\bis now\b",
    r"改为|改成|改到|换成|变成|推迟到|提前到",
)
MARKED = re.compile(
    r"\d|\b[A-Z]{2,}[-_][A-Z0-9]+\b|\b[A-Z]{3,}\b|\S@\S+\.\S|https?://|[一二三四五六七八九十百千万]{2,}|"
    r"[“\"'`][^“”\"'`]{2,40}[”\"'`]"
)
CODED = re.compile(r"\b[A-Z]{2,}[-_][A-Z0-9]+\b|\S@\S+\.\S|https?://")
NAMES = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
MODAL = cue(
    "",
    r"\bmust\b|\bnever\b|\balways\b|\bdo not\b|\bdon't\b|\bshould(?:n't)?\b|\bshall\b|\bcannot\b|"
    r"\brequired\b|\bforbidden\b|\bnot allowed\b|\bonly\b|\bhas to\b|\bhave to\b|\bmandatory\b|"
    r"\bneeds? to\b",
    r"必须|不要|禁止|绝对|只能|务必|一定要|不得|不准|不许|严禁|应该|不能|不可",
)
HEADS = {
    "rules": cue(
        "",
        r"\b(?:rules?|constraints?|requirements?|restrictions?|limits?|musts?)\b",
        r"约束|规则|要求|限制|注意|规定",
    ),
    "preferences": cue("", r"\bpreferences?\b", r"偏好|习惯"),
    "facts": cue(
        "", r"\b(?:facts?|details?|data|info(?:rmation)?|background|context)\b", r"信息|资料|背景|数据"
    ),
    "decisions": cue("", r"\bdecisions?\b", r"决定|决策"),
    "open": cue("", r"\b(?:to-?dos?|open (?:questions?|issues?))\b", r"待办|问题"),
}
ALONE = re.compile(
    r"^(?:please |and |so |ok,? )*(?:remember|memori[sz]e|don't forget|note|keep in mind|write down|"
    r"write) ?"
    r"(this|that|it|these|them|those|the following|all (?:this|that))?(?: down| in mind|"
    r" well)?(?:,? please)?\s*[.!:]*$"
    r"|^(?:请|你)*(?:一定)?(?:要)?(?:记住|记下|牢记|别忘了|记好)(这个|这些|它|这点|这一点|以下|下面|上面)?(?:内容|信息|几点)?[了哦啊。！：:]*$"
)
