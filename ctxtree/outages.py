"""A service that does not answer: told by the error, whatever the call asked of it.

Three kinds: `down` (refused, reset, timed out, no such host, 5xx of a gateway), `access` (401, 403, bad key), `quota`
(429, rate limits, spent credit). The service is the host and port that the error or the call names, else the
tool; a shell is no service. A file that may not be read is none of these: it is one argument's own trouble.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ctxtree.model import ToolCall

Kind = Literal["down", "access", "quota"]

REACH = 600
"""Characters read at each end of an error text."""

_STATUS = r"(?:^|\n)\W{{0,3}}{0}\b(?! *(?:==|!=|lines?|rows?|bytes|passed|failed))|\b(?:http(?:/\d(?:\.\d)?)?|status(?:[ _]?code)?|code|error)\W{{0,4}}{0}\b"

_KINDS: tuple[tuple[Kind, str], ...] = (
    ("quota", r"\b429\b.{0,12}too many|too many requests|rate.?limit|quota.{0,20}(?:exceed|exhaust|reached|used up)"
              r"|(?:exceed|exhaust|insufficient)\w*.{0,24}quota|resource_exhausted|insufficient (?:credit|balance|funds)"
              r"|usage limit|billing hard limit|限流|频率限制|请求过于频繁|配额|额度(?:不足|用尽|已用完)|余额不足|欠费|"
              + _STATUS.format("(?:429|402)")),
    ("access", r"\bunauthori[sz]ed\b|\bforbidden\b|insufficient.?(?:permissions?|scopes?|privileges?)|access (?:is )?denied"
               r"|invalid.{0,3}(?:api.?key|token|credentials?)|incorrect api key|(?:token|key|credentials?) (?:has |have |is |are )?expired"
               r"|authentication (?:failed|required|error)|authenticationerror|permission_?denied error|not authenticated"
               r"|login required|password authentication failed|未授权|鉴权失败|认证失败|无权(?:限)?访问|权限不足|禁止访问|"
               + _STATUS.format("(?:401|403|407)")),
    ("down", r"econnrefused|econnreset|etimedout|ehostunreach|enetunreach|enotfound|eai_again|getaddrinfo|socket hang up"
             r"|connection (?:was |is )?(?:refused|reset|aborted|closed|timed out|error)|connect(?:ion)?.?error"
             r"|(?:could not|couldn't|cannot|can't|failed to|unable to) (?:connect|resolve|reach)"
             r"|\btimed.?out\b|(?:\b|connect|read)(?<!['\"])timeout(?:error|exception)?\b(?!['\"=])|deadline.?exceeded|no route to host|(?:network|host|service|server|temporarily) (?:is )?(?:temporarily )?(?:unreachable|unavailable)"
             r"|name or service not known|no such host|nxdomain|name resolution|bad gateway|gateway time.?out"
             r"|超时|拒绝连接|连接被?(?:拒绝|重置)|无法(?:连接|解析|访问)|连接失败|域名解析失败|服务不可用|"
             + _STATUS.format("(?:502|503|504)")),
)  # fmt: skip
_HOST = r"(?P<host>(?!(?:host|server|database|the|a|to|for|name|address|failed)\b(?![.:]))(?:\[[0-9a-f:]+\]|[a-z0-9](?:[\w-]*\.)*[\w-]*))"
_URL = re.compile(rf"\b[a-z][a-z0-9+]{{1,14}}://(?:[^@/\s'\"]*@)?{_HOST}(?::(?P<port>\d+))?", re.I)
_NAMED = (
    re.compile(rf"host=['\"]?{_HOST}['\"]?,? *port=(?P<port>\d+)", re.I),
    re.compile(
        rf"(?:econnrefused|econnreset|etimedout|ehostunreach|enetunreach|dial tcp|connect to(?: host)?|resolve host:?|"
        rf"enotfound|eai_again|lookup|server at|host name|resolve) ['\"]?{_HOST}['\"]?(?:(?::|,? port )(?P<port>\d+))?",
        re.I,
    ),
)
_ARGUMENTS = ("host", "hostname", "server", "endpoint", "base_url", "domain", "address")
_BARE = re.compile(rf"{_HOST}(?::(?P<port>\d+))?$", re.I)
_USUAL = {"80", "443"}
SHELLS = frozenset({
    "bash", "sh", "shell", "zsh", "powershell", "cmd", "terminal", "exec", "run", "execute", "execute_command", "run_command",
    "run_shell_command", "run_terminal_cmd", "local_shell", "container.exec", "command", "python", "ipython", "code_interpreter",
    "execute_code", "run_code", "eval", "execute_bash", "execute_ipython_cell", "exec_command", "write_stdin",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outage:
    """What did not answer, and how."""

    service: str
    kind: Kind


def outage(call: ToolCall | None, text: str, tool: str = "") -> Outage | None:
    """The dead service that an error text tells of, or None. `tool`: its name where the call is not known."""
    kind = _kind(text)
    if kind is None:
        return None
    asked = services(call) if call else iter([] if tool.lower() in SHELLS else [tool])
    service = next(_hosts(_telling(text), named=True), "") or next(asked, "")
    return Outage(service, kind) if service else None


def services(call: ToolCall) -> Iterator[str]:
    """The services that a call speaks to: hosts in its arguments, then its tool, if that is no shell."""
    for name, value in call.object.items():
        if isinstance(value, str):
            bare = _BARE.match(value) if name.lower() in _ARGUMENTS else None
            found = [_service(bare)] if bare else _hosts(value[:4000], named=False)
            yield from found
    if call.name.lower() not in SHELLS:
        yield call.name


def _kind(text: str) -> Kind | None:
    told = _telling(text)
    return next((kind for kind, pattern in _KINDS if re.search(pattern, told, re.I)), None)


def _telling(text: str) -> str:
    """Where errors are named: both ends."""
    return text if len(text) <= 2 * REACH else f"{text[:REACH]}\n{text[-REACH:]}"


def _hosts(text: str, named: bool) -> Iterator[str]:
    patterns = (*_NAMED, _URL) if named else (_URL,)
    for pattern in patterns:
        yield from map(_service, pattern.finditer(text))


def _service(found: re.Match[str]) -> str:
    host, port = found["host"].lower().rstrip("."), found["port"]
    return host if port is None or port in _USUAL else f"{host}:{port}"
