"""What a user's words ask of the memory: to remember something, or to hold to it from now on.

The tables are phrases of several languages; a sentence is judged alone. Questions and fenced code
are no requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

REACH = 2_000
"""Characters read at each end of a text."""

ASKED = (
    # English
    r"(?:^|[,;:(] ?|\b(?:please|must|should|to|and|also|just|always|so|then|but) )remember\b(?! when\b)",
    r"\b(?:don'?t|do not|never|without) forget(?:ting)?\b",
    r"\b(?:keep|bear) (?:\w+ ){0,4}in mind\b",
    r"\bnote (?:that|this|down)\b|\bplease note\b|^note:|\b(?:make|take) (?:a )?note\b",
    r"\bmemori[sz]e\b|\bfor (?:future reference|the record)\b|\bwrite (?:this|that|it) down\b",
    # Chinese
    r"(?<!没)(?<!不)(?<!没有)(?:记住|记牢|牢记|谨记|切记|記住|牢記)(?!了吗)",
    r"(?:请|要|得|给我|帮我|一定|务必|你)?记(?:一下|下来|着|好)|(?:请|要|一定|务必|你得)记得|請記得|备忘|備忘",
    r"(?:别|不要|不能|不可|勿|別)忘(?:记|了|記)?",
    # other languages
    r"\bmerk(?:e|t)? (?:dir|euch)\b|\bvergiss nicht\b|\bvergesst nicht\b|\bdenk daran\b",
    r"\bsouviens-toi\b|\bn'oublie(?:z)? pas\b|\brappelle-toi\b|\bretiens (?:que|bien)\b",
    r"\brecuerda(?:d)? que\b|\bno (?:te )?olvides\b|\blembre-se\b|\bnão esqueça\b",
    r"\bricorda(?:ti)? (?:che|di)\b|\bnon dimenticare\b",
    r"覚えて(?:おいて|て|ください)|忘れないで|기억해|잊지 ?마|запомни|не забудь|не забывай",
)
NOT_ASKED = (
    r"\b(?:do|did|does|don't|didn't|doesn't|can't|cannot|if|whether) (?:you|i|we|he|she|they) "
    r"(?:still |even |not )?remember\b",
    r"\b(?:i|we|they|he|she) (?:still |also |don't |do not |can't |never |always )?(?:remember|forget)s?\b",
    r"\bnothing to remember\b|\b(?:don'?t|do not|need(?:n't| not)) (?:have to |need to )?remember\b",
    r"(?:还|是否|我|我们|他|她)记得|記得嗎|记得吗|不记得|没记|记不|不(?:用|必|需要)记",
)
BINDING = (
    # English, orders and bans
    r"\b(?:never|always|must(?:n'?t)?|shall|under no circumstances|no matter what|at (?:all|any) times?)\b",
    r"^\W*(?:(?:please|and|but|also|so|ok|okay|now),? ){0,2}(?:do not|don'?t|avoid|refrain from|no more)\b",
    r"[,;:] ?(?:please |and |but )?(?:do not|don'?t)\b",
    r"\b(?:please|you should|and|but) (?:do not|don'?t|avoid)\b",
    r"\b(?:only|just) (?:use|touch|edit|change|write|answer|reply|speak|work|read)\b",
    r"\bfrom now on\b|\bgoing forward\b|\b(?:make|be) sure\b|\bensure\b|\bnot allowed\b|\bforbidden\b",
    r"\brequire(?:d|ments?)\b|\bconstraints?\b|\boff[- ]limits\b|\bhands off\b",
    r"\bleave .{1,40} (?:alone|untouched)\b",
    # English, likes, facts about the user, figures
    r"\bprefer(?:s|red|ably|ence)?\b|\bi(?:'d| would) rather\b|\binstead of\b",
    r"\bi (?:really |don't |do not )?(?:like|love|hate|dislike)\b",
    r"\bmy (?:\w+ )?(?:name|budget|deadline|email|address|phone|preference|limit|birthday)\b",
    r"\bmy favou?rite\b|\bcall me\b|\bi(?:'m| am) (?:vegan|vegetarian|based|called)\b|\ballerg(?:y|ic)\b",
    r"\b(?:budget|deadline|limit|maximum|minimum|code ?name|password) (?:is|of|must)\b",
    r"\b(?:at most|at least|no more than|no later than|not more than)\b|\bwithin \d",
    # English, decisions
    r"\b(?:we|i)(?:'ve| have)? (?:decided|agreed|settled|chose|chosen)\b|\bthe decision is\b",
    r"\b(?:let'?s|we(?:'ll| will)|i(?:'ll| will)) (?:go with|use|stick (?:with|to)|keep|take)\b",
    # Chinese
    r"不要|不准|不许|不得|不能|不可以|禁止|严禁|切勿|绝不|绝对|千万|必须|务必|一定要|只能|只用|只许|始终|总是|永远",
    r"从现在起|从今以后|今后|以后(?:都|请|要)|一律|尽量|确保|保证|至少|至多|最多|不超过|不少于|(?:^|[，,])别",
    r"预算|截止|我叫|我的名字|我(?:不|更|最)?喜欢|我偏好|我讨厌|过敏|决定|就用|就选|約定|必須|別",
    # other languages
    r"\b(?:immer|niemals|nie|müssen|muss|darf nicht|bitte nicht|nur noch)\b",
    r"\b(?:toujours|jamais|il faut|ne .{1,20} pas|siempre|nunca|debes?|prefiero|je préfère)\b",
    r"必ず|絶対|しないで|항상|절대|반드시|всегда|никогда|нельзя|должн|обязательно",
)

TRIGGERS = frozenset({
    "remember", "forget", "forgetting", "mind", "note", "memorize", "memorise", "reference", "record",
    "write", "never", "always", "must", "mustn't", "mustnt", "shall", "circumstances", "matter", "time",
    "times", "do", "don't", "dont", "avoid", "refrain", "no", "only", "just", "now", "forward", "sure",
    "ensure", "not", "forbidden", "required", "requirement", "requirements", "constraint", "constraints",
    "off", "leave", "prefer", "prefers", "preferred", "preferably", "preference", "rather", "instead",
    "like", "love", "hate", "dislike", "my", "call", "i'm", "i", "allergy", "allergic", "budget", "deadline",
    "limit", "maximum", "minimum", "code", "codename", "password", "most", "least", "more", "later",
    "within", "decided", "agreed", "settled", "chose", "chosen", "decision", "let's", "lets", "we'll",
    "i'll", "will", "merk", "merke", "merkt", "vergiss", "vergesst", "denk", "souviens", "n'oublie",
    "n'oubliez", "rappelle", "retiens", "recuerda", "recuerdad", "olvides", "lembre", "ricorda",
    "ricordati", "dimenticare", "immer", "niemals", "nie", "muss", "darf", "bitte", "nur", "toujours",
    "jamais", "il", "ne", "siempre", "nunca", "debe", "debes", "prefiero",
})  # fmt: skip
"""A sentence in ASCII without any of these words matches no pattern above; a cheap first look."""

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?:[^.!?。！？；;\n]|\.(?=\w))+[.!?。！？；;]*")
_QUESTION = re.compile(r"[?？]\W*$|(?:吗|呢|嗎)\W*$")
_WORD = re.compile(r"[a-z']+")


def asked(text: str) -> bool:
    """Whether a user's words ask for something to be remembered ("don't forget", 记住)."""
    wanted, unwanted = _joined(ASKED), _joined(NOT_ASKED)
    return any(wanted.search(sentence) and not unwanted.search(sentence) for sentence in _sentences(text))


def lasting(text: str) -> bool:
    """Whether a user's words state what binds later.

    A constraint, a preference, a decision, a fact about the user, or a request to remember. Only the
    first and last 2,000 characters are read.
    """
    binding = _joined(BINDING)
    return asked(text) or any(
        binding.search(sentence) and not _QUESTION.search(sentence) for sentence in _sentences(text)
    )


def _joined(patterns: tuple[str, ...]) -> re.Pattern[str]:
    # `re` keeps what it has compiled, so this costs one look-up.
    return re.compile("|".join(patterns), re.IGNORECASE)


def _sentences(text: str) -> Iterator[str]:
    """The sentences that may hold a cue."""
    ends = text if len(text) <= 2 * REACH else f"{text[:REACH]}\n{text[-REACH:]}"
    lowered = _FENCE.sub(" ", ends).replace("’", "'").lower()
    for sentence in _SENTENCE.findall(lowered):
        if not sentence.isascii() or not TRIGGERS.isdisjoint(_WORD.findall(sentence)):
            yield sentence.strip()
