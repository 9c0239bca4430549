"""What a secret looks like: one row a shape. Only the group `secret` is masked, or the whole match without one.
Private keys have a file of their own, `pem.py`.

Four kinds of evidence, strongest first: a shape that its issuer gives to nothing else (the prefixes are from the
issuers' documentation, and from gitleaks and detect-secrets, which list them too), the place in a URL or a header,
the name that a value is assigned to, and the words before it. Length alone is none: hashes, ids and UUIDs stay.
"""

from __future__ import annotations

import re

_B = r"(?<![A-Za-z0-9_-])"
_E = r"(?![A-Za-z0-9_-])"

_ISSUED = {
    "aws-key": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    "github-token": r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255}",
    "gitlab-token": r"gl(?:pat|ptt|dt|rt|ft|soat|cbt)-[A-Za-z0-9_-]{20,}",
    "google-key": r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}",
    "slack-token": r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}",
    "stripe-key": r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,}",
    "api-key": (
        r"sk-(?:(?=[\w-]*\d)[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})|(?:gsk|tvly|xai|pplx|nvapi|fw|csk|lsv2_pt|lsv2_sk|phc|fc|exa)"
        r"[-_](?:[A-Za-z]+-)?[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{30,}|r8_[A-Za-z0-9]{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|key-[0-9a-f]{32}"
        r"|sq0[a-z]{3}-[\w-]{22,}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}|lin_api_[A-Za-z0-9]{30,}|dapi[0-9a-f]{32}|dop_v1_[0-9a-f]{64}"
        r"|sbp_[0-9a-f]{40}|figd_[\w-]{30,}|PMAK-[\w-]{40,}|sntrys_[\w+/=]{40,}|AGE-SECRET-KEY-1[0-9A-Z]{50,}|ATATT3[\w=-]{50,}"
    ),
    "package-token": r"npm_[A-Za-z0-9]{36}|pypi-AgE[\w-]{50,}|dckr_pat_[\w-]{20,}|rubygems_[0-9a-f]{48}|cio[A-Za-z0-9]{32}",
    "bot-token": r"\d{8,10}:AA[A-Za-z0-9_-]{33}|[MNO][A-Za-z\d]{23,25}\.[\w-]{6}\.[\w-]{27,38}",
    "jwt": r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?",
}  # fmt: skip

_NAMES = (
    r"(?:api|access|auth|account|secret|private|client|master|signing|encryption|service|storage|subscription|app)[_.-]?keys?|secret|secret[_.-]?token"
    r"|(?:access|auth|api|id|refresh|bearer|bot|session|security|personal)?[_.-]?token|client[_.-]?secret|credentials?"
)
_WORDS = r"passw(?:or)?d|passphrase|passcode|pwd"
NAME = re.compile(rf"(?:^|[_.-]|(?<=[a-z0-9])(?=[A-Z]))(?:{_NAMES}|{_WORDS})(?:[_-]?\d+)?$", re.I)
"""Names of fields whose string is a secret, whatever it looks like."""

_KEY = r"(?:keys?|secret|token|passw(?:or)?d|passphrase|passcode|pwd|credentials?)(?:[_-]?\d+)?"  # the end of a name
_IS = r"[\"'\\]{0,4}\]?\s{0,3}(?:=>|:=|=|:)\s{0,3}"

TABLE: tuple[tuple[str, re.Pattern[str]], ...] = (
    *((kind, re.compile(rf"{_B}(?:{shape}){_E}")) for kind, shape in _ISSUED.items()),
    ("webhook", re.compile(r"https://hooks\.slack\.com/(?:services|workflows)/[\w/+-]{20,}|https://discord(?:app)?\.com/api/webhooks/\d+/[\w-]{20,}")),
    ("password", re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'<>\\]{0,200}:(?P<secret>[^\s/@\"'<>\\]{1,400})@(?=[\w\[])", re.I)),
    (
        "token",
        re.compile(
            r"[?&;](?:[\w-]{0,30}(?:token|secret|signature|password|api_?key)|sig|code|key)=(?P<secret>[^&\s\"'#<>\\]{8,4000})", re.I
        ),
    ),
    ("token", re.compile(r"\bauthorization[\"'\\]{0,4}\s{0,3}[:=]\s{0,3}[\"'\\]{0,4}(?:bearer|basic|token|apikey|negotiate|digest)\s+(?P<secret>[^\s\"'\\,;<>{}$]{6,4000})", re.I)),
    ("token", re.compile(r"\b(?:bearer|x-api-key:)\s+(?P<secret>(?=[^\s]*\d)[A-Za-z0-9._~+/=-]{16,4000}|[A-Za-z0-9._~+/=-]{24,4000})", re.I)),
    ("storage-key", re.compile(r"\b(?:AccountKey|SharedAccessKey|SharedAccessSignature)=(?P<secret>[A-Za-z0-9+/=%&_-]{20,2000})")),
    ("secret", re.compile(rf"(?P<name>{_KEY}){_IS}(?:(?P<quote>[\"'`])(?P<secret>(?:(?!(?P=quote))[^\n\\]){{4,4000}}+)(?P=quote)|\\[\"'](?P<escaped>[^\s\\\"']{{4,4000}})\\)", re.I)),
    ("secret", re.compile(rf"(?P<name>{_KEY}){_IS}(?P<secret>[^\s\"'`\\,;&(){{}}<>\[\]]{{6,4000}}+)(?![(\[])", re.I)),
    ("secret", re.compile(rf"(?<=-)(?P<name>(?:(?:api|access|auth|client|secret|private)-)?{_KEY})\s+[\"']?(?P<secret>[^\s\"'`\\-][^\s\"'`\\]{{5,4000}})", re.I)),
    ("secret", re.compile(r"(?P<name>\b(?:password|passphrase|passcode|api key|secret key|access token)) (?:is|was|to) [\"'`]?(?P<secret>[^\s\"'`\\]{6,400})", re.I)),
    ("secret", re.compile(r"(?P<name>密码|口令|密钥|令牌)(?:是|为|改成|设为)?\s{0,3}[:：=]?\s{0,3}[\"'`「“]?(?P<secret>[!-~]{6,400})")),
)  # fmt: skip
"""Kind -> shape, in the order in which they are looked for. Groups: `secret` (or `escaped`), and `name` for the end of the name where that is the evidence."""

EMAIL = (
    "email",
    re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])"),
)
"""Not masked unless asked for."""

_NOTHING = re.compile(
    r"(?:\W+|none|null|nil|true|false|undefined|optional|required|str|string|text|bytes|secret|token|password|passwd|hidden|"
    r"your[\w-]*|<.*|\$.*|%.*|\{.*|\[.*|\*+.*|x{3,}|\.{3,}|…|process\.env.*|os\.environ.*|env\..*)[.,;:]?",
    re.I,
)
_CODE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*[.,;:!?]?")
WORD = re.compile(rf"(?:{_WORDS}|密码|口令)", re.I)
"""Names of passwords."""
_SIGN = re.compile(r"[^\w\s.,:;!?'/-]")


_BEFORE = re.compile(r"[A-Za-z0-9_.-]{0,60}$")


def name_in(found: re.Match[str]) -> str:
    """The whole name that a match ends with: the group `name` and what stands before it, or "" if it tells nothing."""
    end = found.start("name")
    before = _BEFORE.search(found.string, max(0, end - 60), end)
    name = (before[0] if before else "") + found["name"]
    return (
        name.lstrip(".-") if NAME.search(name) or not found["name"].isascii() or " " in found["name"] else ""
    )


def is_secret(name: str, value: str, quoted: bool) -> bool:
    """Whether a value that stands behind a telling name is one, and no placeholder, type, word, path or piece of code."""
    if _NOTHING.fullmatch(value) or value.casefold().rstrip("0123456789") == name.casefold():
        return False
    digits = any(char.isdigit() for char in value)
    number = value.replace(".", "").replace(",", "").replace(":", "").isdigit()
    if quoted:
        return _quoted(bool(WORD.search(name)), value, digits, number)
    if value[0] in "/.~@&#" or "://" in value:
        return False
    if number:
        return bool(WORD.search(name)) and len(value) >= 6
    return _bare(name, value, digits)


def _quoted(word: bool, value: str, digits: bool, number: bool) -> bool:
    if " " in value:
        return (
            word
            and len(value) <= 60
            and not WORD.search(value)
            and value.count(" ") <= 6
            and value[-1] not in ".:!?"
        )
    return word or (not number and (digits or len(value) >= 20))


def _bare(name: str, value: str, digits: bool) -> bool:
    code = bool(_CODE.fullmatch(value))
    dotted = code and ("." in value.rstrip(".") or "->" in value or "::" in value)
    if WORD.search(name):
        return not dotted and (digits or bool(_SIGN.search(value)))
    if name.isupper() and len(name) >= 5:
        return len(value) >= 8 and not dotted and not (code and value.isupper() and "_" in value)
    if code:
        return not dotted and "_" not in value and ((digits and len(value) >= 16) or len(value) >= 32)
    return len(value) >= (12 if digits else 20)
