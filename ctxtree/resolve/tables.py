"""The phrases by which people ask to go back, and those that only sound like it, by language.

A further language is a few more lines here. Patterns are searched for without regard to case, in text with
quotation marks blanked out.
"""

from __future__ import annotations

import re

from ctxtree.resolve.places import PLAN_NOUN

MOVES = (
    r"\b(?:go|get|come|jump|move|switch|head|change|flip)\s+(?:\w+\s+)?back\b(?:\s+to\b)?",
    r"\bback up (?=(?:an?|one|two|three|four|\d+|a few|a couple of) (?:steps?|turns?|rounds?|messages?)\b)",
    r"^\W*(?:(?:ok|okay|and|now|please|right|so|then|no|just),? )*(?:right |straight )?back to\b",
    r"^\W*(?=(?:an?|one|two|three|four|\d{1,2}) (?:steps?|turns?|rounds?|messages?) back\b)",
    r"(?<=about )going back(?:\s+to\b)?|\b(?:take|bring)\s+(?:me|us|it|this|things)\s+back\b(?:\s+to\b)?",
    r"\b(?:return|revert|rewind|backtrack|roll\s*back|reset|fall back)\s+(?:\w+\s+)?to\b",
    r"\b(?:rewind|backtrack)\b|\bstep back\b|\brestore (?:to\b|(?=(?:\S+ ){0,4}(?:version|plan|state|step|point|checkpoint)\b))",
    r"\b(?:restart|resume|continue|pick up|start (?:over|again))\s+(?:from|at)\b",
    r"回到|回退到?|退回到?|返回(?=到|.{0,20}(?:方案|版本|计划|步|之前))到?|恢复(?=到|.{0,20}(?:方案|版本|之前))到?",
    r"回滚到?|切回到?|切换回|换回到?|改回到?|用回|[说聊谈讲]回(?![答复应报])|跳回到?|倒回到?|退到|倒退到?|后退|回復到?|回歸到?",
    r"^\W*从(?=\S{1,15}(?:重新|再)(?:来|开始|做|试)\W*$)",
    r"退(?=[一二两三四五六\d]+(?:步|轮|个回合|条))",
    r"\b(?:start|begin) (?=(?:all )?over\b|again\b|anew\b|afresh\b|from (?:scratch|zero|the (?:very )?(?:beginning|start|top)))",
    r"^\W*(?:我们|還是|还是|全部|一切|所有|都|推翻|推倒)*从(?=(?:头|零)(?:再)?(?:开始|来过?|做)\W*$)|^\W*(?:我们|推倒|推翻|全部|都)*重新?(?=(?:开始|来过|来)\W*$)",
    r"\bzurück zu[mr]?\b|\brevenir (?:à|au)\b|\brevenons (?:à|au)\b|\bvolver a\b|\bvolvamos a\b",
    r"戻って|戻る|に戻|вернись к|вернёмся к",
)
UNDOES = (
    r"\bundo\b|\brevert\b(?!\s+to\b)|\broll\s*back\b(?!\s+to\b)",
    r"\b(?:discard|scrap|drop|throw away|cancel|scratch|remove|delete)\b(?=\s+(?:(?:the|my|your|that|this|our)\s+)?"
    r"(?:last|latest|previous)\s+(?:\w+\s+)?(?:steps?|changes?|edits?|turns?|messages?|exchanges?|rounds?|attempts?|one)\b)",
    r"\bscratch (?=that\W*$)|\btake (?:that|it|this) back\b|\btake back (?=(?:that|it|this|what|my last|the last)\b)",
    r"撤销|撤回|撤銷|撤消|撤掉|^撤(?=了?$)|[复還还]原(?=上|刚|最后|.{0,4}步)|取消(?=.{0,6}步)|收回(?=.{0,6}(?:话|消息|修改|改动))|rückgängig|annule|deshaz|元に戻",
)
_TAKE = r"(?:use|try|take|have|go with|stick (?:with|to)|choose|pick|do|follow|switch (?:over )?to|change to|swap to)"
CHOICES = (
    rf"\b{_TAKE}\b(?=.*\b(?:instead|after all|again|rather)\b)",
    rf"\b(?:i|we)(?:'d| would) (?:rather|prefer)(?: (?:to )?{_TAKE})?\b|\b(?:i|we) prefer\b|\bswitch (?:over )?to\b",
    r"^\W*(?=(?:plan|option|approach|version|idea|solution|method)\s+\w+,?\s+(?:please|after all|again|then)\W*$)",
    r"还是(?:用|选|走|按|采用|试|听|照|要)|还是(?=.*(?:吧|好|合适|靠谱|稳妥)\W*$)|還是用|(?:重新|再)(?:用|采用|选|试)|改用|换成|换用|切换?到(?!底)",
    r"^(?:那|我们|咱们|请)*就(?:按|照|听|用|选)(?=.*(?:吧|来|办|做|的)\W*$)",
    r"^(?:那|我们|咱们|请)*(?:按|照|用|选)(?=(?:它|那个|这个)(?:方案|办法|版本)?(?:吧|来|办|做)*\W*$)",
)
"""A choice of a plan that was left: it asks for a move where it names a plan."""
PICKS = (
    *CHOICES,
    rf"\b{_TAKE}\b(?= what (?:my |our |the )?\w+ (?:said|proposed|suggested|wanted|recommended|had in mind)\b)",
    rf"\blet'?s (?:{_TAKE} )?(?=.*\b(?:instead|after all)\b)",
)
"""A choice in any words: it asks for a move only where exactly what it names stands in a plan that is not in use."""
FOLLOWING = (
    r"\b(?:use|try|take|go with|stick (?:with|to)|choose|pick|do(?! not)|follow)\b",
    r"(?:用|选|走|按|试)",
)
"""A choice that asks for a move only after another plan was turned down: "forget plan B, use plan A"."""
LEAD = (
    r"(?:(?:please|okay|ok|now|just|then|and|so|but|or|actually|hmm+|hm|no|nope|yes|well|right|alright|sorry|wait|oh|hey|let'?s"
    r"|let us|let me|let|me|can|could|would|will|you|we|i|i'd|i'll|we'd|want|wanna|need|like|love|prefer|should|have|must|got|gotta"
    r"|to|first|better|best|go ahead|quickly|simply|rather|also|still|again|instead|think|guess|say|said|feel|it's|is|it|time"
    r"|how about|what about|why don'?t|why not|help|mean|mind|all|kindly|maybe(?= we should| let)|for)\W+)*$"
)
"""What may stand before an English verb of moving where it is an order; after anything else it is told of, or a noun."""
ORDERED = (
    r"\b(?:let'?s|let us|please|can (?:you|we)|could (?:you|we)|would you|i'?d like to|i want to|i'd rather|we should"
    r"|we'd better|(?:^|\W)(?:so|then|just))\s+(?:just |now |please |all )*$"
)
"""The end of what stands before a verb that is an order, whatever the clause began with."""
DROPPED = (
    r"^\W*(?:\w+ )?(?:forget|scrap|drop|discard|abandon|ignore|leave|stop|undo|cancel|throw|delete|remove|skip|trash|dump)\b"
    r".*\b(?:and|then)\W+(?:\w+ )?$"
)
"""An order of dropping something, coordinated with the move."""
HAN_LEAD = (
    r"(?:\W|请|我们?|咱们?|你|还是|还|能不能|可不可以|能|可以|不如|要不|那|就|先|再|直接|马上|现在|立刻|麻烦|帮我?|给我"
    r"|把.{1,12}|.{1,10}(?:[那这]一?(?:步|段|次|条|个(?:修改|改动|步骤))|的(?:修改|改动))都?(?=撤|$)|(?:最后|刚才|前面)?[一二两三四五六]个?(?:步|轮|回合|条|次)|想|要|应该|得|让|一起|干脆|算了|好的?|吧|都|全部|重新|都?给|说|往|向|希望|需要|建议|劳烦|劳驾|赶紧|快|最好|不然|其实)*"
)
"""What may stand before a Chinese verb of moving where it is an order; anything else is a subject or a story."""
HAN_COMPLAINT = r".{0,16}(?:不行|不好|不对|没用|失败了|行不通|不合适|太\w{1,3}了?)" + HAN_LEAD
"""The same after a complaint without a comma: 方案B不行我们还是回到方案A."""
DESIRED = re.compile(
    r"\bi(?:'d| would)? (?:want|like|need|love|have|had|got|wish|hope)\b.*$|我(?:们)?(?:很|还|也)?(?:想|要|得|需要|希望|打算)\W*$",
    re.IGNORECASE,
)
"""A wish of one's own, which is as often about the world as about the conversation."""
CONVERSED = re.compile(
    rf"{PLAN_NOUN}|^\W*(?:the|that|this|those|these|your|where|when|what|how|before|after|just|right|an?|one|two|three|\d)\b|^\W*$"
    r"|[那这第刚上][个里儿步版一轮才面\d]|第.|之前|以前|之后|时候|时|[步轮条版稿]|说|聊|讨论|最初|开始",
    re.IGNORECASE,
)
"""What a conversation holds, and the world does not: a plan, a step, a turn, what was said."""
DENIED = (
    r"(?<!why )(?<!why do)\b(?:do not|don'?t|never|(?<!why )not|no need to|needn'?t|won'?t|wouldn'?t"
    r"|shouldn'?t|can'?t|cannot|mustn'?t|didn'?t|without|avoid|stop|rather than|instead of|refuse to)\b"
    r"(?:\s+\w+){0,4}\s*$",
    r"(?:(?<!要)不要|(?<!特)别|別|不用|不必|(?<!能)不能|(?<!可)不可以|不可|不想|不该|不应该|不需要|没必要"
    r"|无需|勿|莫|不许|不准|禁止|先不|不|没有|没)"
    r"(?:再|想|要|让|我们|我|先|又|急着|马上|现在|随便|轻易|打算)*$",
)
REFUSAL = (
    r"别|不要|不用|不行|不好|不对|没用|放弃|算了|行不通|失败了|改主意|反悔|太.{1,4}了?"
    r"|\b(?:not|don'?t|doesn'?t|didn'?t|isn'?t|never|no|forget|scrap|drop|abandon|fail(?:s|ed)|too \w+"
    r"|changed my mind|won'?t (?:do|work)|boring|awful|terrible|ugly|useless|bad idea|mistake)\b"
)
RETRACTED = r"\bbut (?:let'?s not|don'?t|not (?:now|yet))\b|\bnever ?mind\b\W*$|\bforget it\b|\bor (?:maybe )?not\b|算了$|不用了$"
INVITED = r"\b(?:why (?:not|don'?t we)|(?:can|could|should)(?:'?t|n'?t) we)\b"
REPORTED = (
    r"(?<!\bi )\b(?:said|says?|told|tells?|asked|asks?|wrote|suggest(?:s|ed)?|mention(?:s|ed)?)\b",
    r"\b(?:wants?|thinks|believes|hopes|wishes|insists|prefers|feels|recommends?|recommended|knows?|had) (?:to|that|we|it)\b"
    r"(?<!\bi want to)(?<!\bwe want to)(?<!\byou want to)",
    r"\b(?:phrase|words?|button|command|(?<!\bi )means?|explain|describe|define|translate|how (?:to|do)|(?:used|tried|about) to)\b",
    r"\b(?:able|possible|option|ability|function|feature|way|decision|need|reason|chance|idea) to\b",
    r"\b(?:if|when|whenever|once|unless|until|before|after(?! all)|while|because|since|what if|in case)\b",
    r"\b(?:may|might|maybe(?! (?:we should|let))|perhaps|possibly|someday|(?<!^)could(?! you| we)|would(?! you| like))\b",
    r"\b(?:he|she|they|users?|people|someone|nobody|anyone|everyone)\b|^\W*(?:in order )?to\s*$",
    r"(?<!我)说|提到|问|告诉|如果|假如|假设|要是|万一|一旦|除非|等到?|是否|要不要$|怎么|如何|为什么|可能|也许|或许|以后|将来|的时候",
    r"他|她|用户|所谓|叫做|解释|翻译|命令|按钮|什么是|明天|下次|改天|稍后|下周|下个?月",
)
LETTING = re.compile(r"\blet (?!us\b|me\b)\w+ \w+", re.IGNORECASE)
TOLD = re.compile(
    r"^\s*(?:了|过)(?!去)|\bnext (?:year|month|week|time)\b|\b(?:tomorrow|tonight|later)\W*$|\bif (?:needed|necessary)\b"
    r"|\bon (?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bby (?:train|car|bus|plane)\b|^\s*(?:is|was)\b"
    r"|\bwhere (?:we|you|i|it) left off\b|\S(?<!right)(?<!just)(?<!version)(?<!state)(?<!point) after \w+\W*$"
    r"|的(?:理由|好处|坏处|风险|代价|原因|成本|影响|可能性?|必要)|那[天年晚周](?!的)|(?:以后|之后|的时候)(?![\W的那]|$)"
    r"|也不迟|再说\W*$|也行\W*$",
    re.IGNORECASE,
)
"""What stands after the verb of a move that is told, or is for another day."""
CALLED = re.compile(
    r"\s*(?:stacks?|buttons?|features?|functions?|commands?|history|logs?|buffers?|operations?|keys?|shortcuts?|support|logic"
    r"|scripts?|happens?|occurs?|works|takes|fails|runs|and redo|/ ?redo"
    r"|(?:(?!what|everything|all|the|that)\w+\s+){1,2}(?:is|was|are|were|isn't|aren't|must|should|cannot|can't))\b"
    r"|\s*(?:之前|以前|之后|以后|时|前|后)(?![的那面间候端台]|\W*$)|\s*[这那一]?个?[词字](?![典段符])|\s*给"
    r"|\s*(?:功能|按钮|机制|脚本|逻辑|接口|栈|记录|日志|原因|流程|快捷键|键|支持|权限|策略|点\W|和重做|与重做)"
    r"|.{0,8}(?:功能|按钮|机制|接口).*(?:也|要|做|加|实现|写|支持)",
    re.IGNORECASE,
)
"""What stands after a verb like "undo" where the two are a name (undo button, 回滚脚本) or a sentence about undoing."""
WORLD = re.compile(
    r"^\s*(?:to\s+)?(?:me|you|him|her|them|us|home(?! ?page)|work|bed|sleep|school|town|business|normal(?=\W*$)|the office"
    r"|(?:my|our|his|her|their|its) (?:office|home|house|hotel|room|desk|place|owner|family|country|city))\b"
    r"|^\s*(?:我|你|他|她|您)(?:们)?(?:家|身边|这儿?|这里)?\W*$"
    r"|^\s*(?:家里?|公司|学校|办公室|单位|国内|老家|宿舍|现实|正常|正轨|过去)(?![的那这里版]|方案|计划)",
    re.IGNORECASE,
)
"""Where people go back to in the world, and conversations do not."""
CONDITION = r"^\W*(?:if|when|whenever|once|unless|in case|should|如果|要是|万一|假如|假设|一旦|除非|等)"
CONDITIONED = r"\b(?:if|unless|in case|whenever|once)\s+(?:\w+\s+)?(?:\w+)\b|(?<!刚才)(?<!我)(?<!你)(?<!说)的话(?!题)|(?:如果|要是|万一|除非)"
"""A condition told after the verb."""
ASKING = (
    r"^\W*(?:(?:so|and|but|ok|hmm|well|wait|now),? )*"
    r"(?:what(?!\s+about)|why(?! not| don'?t we)|how(?! about)|when|where|who|which|does|do|did|is|are|was|were"
    r"|has|have|had|should|would(?! you)|will(?! you)|may|might|am)\b",
    r"什么(?!都|也)|多[久少宽大远长高快]|几[点次]|谁|怎么|为什么|为何|是否|要不要|该不该|会不会|是不是|有没有|如何|怎样",
)
POLITE = (
    r"\b(?:can|could|would|will) (?:you|we)\b|\bplease\b|\bcan i\b"
    r"|请|能不能|可不可以|可以|能|好吗|行吗|好不好|吧|麻烦"
)
CODE = re.compile(
    r"^\s*(?:>>>|\$ |//|#!|(?:def|class|import|elif|const|let|var|func|fn|public) [\w ]+[(=.;{:]|return \w+[.(\[]\S"
    r"|git (?:add|commit|checkout|revert|reset|log|stash|push|pull|merge|rebase|restore|clone|init|diff|status|switch|branch)\b"
    r"|(?:npm|pip|docker|kubectl|alembic|cargo) (?:install|run|test|publish|compose|build|exec|rollout|apply|get|logs|upgrade"
    r"|downgrade|ERR!)|(?:sudo|psql|curl) [\w-]|(?:ROLLBACK|BEGIN|COMMIT|SAVEPOINT|UNDO)\b[\s\w]*;)"
    r"|[A-Za-z_][\w.]+\((?:\s*|[^()]*[=,.\"'\d\0][^()]*)\)|\b\w+\.\w+\(|[!=]=|=>|->|\+=|[{}]\s*$",
    re.ASCII,
)
"""Text that is code: it is looked at, and never a wish."""
LOGGED = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]|\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE|CRITICAL)\b|Traceback\b"
    r"|(?:log|output|stdout|stderr|日志|输出|报错信息)\s*[:：])"
    r"|\brollback (?:to|of) (?:\w+ )*(?:complete|finished|failed|done)",
    re.IGNORECASE,
)
"""A line of a log."""
BARE = re.compile(
    r"^(?:to )?(?:just |right )?(?:before|prior to)\b(?!.*\b(?:the|our|my) \w+ (?:the|our|my|we|i|you|they|it|everything|all)\b)"
    rf"|^(?:to )?(?:the |that |this |our |my |your )(?:[^\s,]+ ){{0,4}}{PLAN_NOUN}(?:\W*$| (?:with|about|for|from|of|before|that|where|by|at|in|on|without|using)\b)"
    r"|^(?:to )?(?:the |that )(?:\w+ ){0,3}(?:step|point|moment|state|checkpoint|part)\b(?:\W*$| (?:where|before|when|with|at)\b)"
    r"|(?:之前|以前)(?:的(?:版本|样子|状态|方案|那版|那一?步|时候))?\W*$|那(?:个\w{0,4}|一?步|版|一版)\W*$|^(?=[^，。]*(?:那|第|上|前|原|最初|的))[^，。]{0,12}(?:方案|版本|办法|思路)\W*$|^上一?步$",
    re.IGNORECASE,
)
"""A place named without a verb."""
SENTENCE_LIKE = re.compile(
    r"^\W*(?:i|we|you|he|she|it|they|there|thanks?|ok|yes|no|let|tell|show|explain|describe|summari[sz]e"
    r"|compare|implement|write|continue|delete|remove|make|do|add|fix|run|test|try|use|give|list|read|return|what"
    r"|why|how|please|is|are|can|could|keep|drop|forget|follow|check|update|create|start)\b"
    r"|^(?!.*\b(?:before|prior to)\b).*\b(?:is|are|was|were|has|have|had|will|would|should|looks?|seems?|works?"
    r"|worked|fails?|failed|sounds?|means?|needs?|wants?)\b"
    r"|\b(?:goes|went|came|comes|ran|runs)\b|^.*\b(?:is|are|was|were|fail(?:s|ed)|work(?:s|ed))\b.*\bbefore\b"
    r"|是|说|完了|好了|很|吗|呢|怎么|什么|解释|说明|介绍|看看|比较|执行|实现|继续|讲|写|运行|为什么|觉得|喜欢|太|不|别|没|有|住|用过",
    re.IGNORECASE,
)
QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|`[^`]*`|(?<!\w)'[^']*'(?!\w)|‘[^’]*’")
CLAUSE = re.compile(r"(?:[^,;.!?，。；！？\n]|\.(?=\w))+[,;.!?，。；！？]*")
JOINED = re.compile(r"\band(?= (?:use|take|try|go with|go back|return to|switch)\b)", re.IGNORECASE)
"""An "and" that begins a further order."""
