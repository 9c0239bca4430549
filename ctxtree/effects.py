"""What an attempt did to the world: calls that write, send, delete or pay, told by tool name and by what they ask.

Going back in the tree undoes none of it. A name is judged by its first verb (`get_order` reads, `order_book` acts);
a tool with a `command`, `action` or `method` argument by that; a shell by the commands in its text. What no
table knows is no effect: the caller can say what was done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ctxtree.model import Node, ToolCall, ToolResult
from ctxtree.outages import SHELLS, outage
from ctxtree.tree import is_failure

MOST = 6
"""Effects that one note names; more are counted."""

_ACTS_TABLE = (
    "write edit create make delete remove rm unlink move mv rename copy cp append insert replace patch apply update upsert "
    "upload save put post send email mail sms reply message notify publish tweet comment share commit push merge rebase "
    "revert reset deploy release install uninstall upgrade book reserve order buy purchase pay charge refund transfer "
    "withdraw cancel schedule reschedule drop truncate alter migrate kill stop restart shutdown terminate grant revoke "
    "submit invite archive mkdir touch chmod chown import enable disable toggle register unregister subscribe unsubscribe "
    "exchange return modify change set add close open_pr store "
    "写入 写 编辑 创建 新建 删除 移动 重命名 复制 追加 替换 更新 修改 上传 保存 发送 发布 发邮件 回复 通知 提交 推送 合并 部署 安装 卸载 "
    "预订 预约 预定 下单 购买 支付 付款 退款 转账 取消 停止 重启 授权"
)
ACTS = frozenset(_ACTS_TABLE.split())
_READS_TABLE = (
    "read todo get list search find view show fetch query grep glob ls cat count check validate verify test lint calculate compute think "
    "plan describe inspect lookup look browse open head tail diff status log select retrieve load download ask explain "
    "summarize analyze analyse parse compare preview estimate dry simulate is has can "
    "读取 读 获取 查询 搜索 查找 查看 列出 检查 计算 分析 浏览 预览 统计"
)
READS = frozenset(_READS_TABLE.split())
HAN_ACTS = tuple(sorted((verb for verb in ACTS if not verb.isascii()), key=len, reverse=True))
HAN_READS = tuple(sorted((verb for verb in READS if not verb.isascii()), key=len, reverse=True))
_STEPS = ("command", "action", "operation", "op", "method", "mode", "verb")
_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_METHODS = {
    "GET": False,
    "HEAD": False,
    "OPTIONS": False,
    "POST": True,
    "PUT": True,
    "PATCH": True,
    "DELETE": True,
}
_SHELL = re.compile(
    r"(?:^|[;&|(\n]|\bsudo|\bxargs|\bthen|\bdo)\s*(?:sudo\s+)?(?:\w+=\S+\s+)*(?P<what>"
    r"(?:rm|rmdir|mv|cp|mkdir|touch|tee|ln|chmod|chown|truncate|dd|kill|pkill|shutdown|reboot|mail|sendmail|scp|rsync|patch|unzip|crontab)\b"
    r"|git\s+(?:add|commit|push|reset|checkout|switch|restore|merge|rebase|revert|stash|clean|tag|cherry-pick|am|apply|rm|mv)\b"
    r"|gh\s+\w+\s+(?:create|merge|close|comment|edit|delete)\b"
    r"|(?:pip3?|uv pip|npm|pnpm|yarn|apt|apt-get|brew|cargo|gem|conda)\s+(?:-\S+\s+)*(?:install|i|ci|add|remove|uninstall|upgrade|publish)\b"
    r"|(?:docker|podman)\s+(?:compose\s+)?(?:run|rm|rmi|stop|kill|push|build|up|down|create)\b"
    r"|(?:kubectl|helm|terraform)\s+(?:apply|delete|create|patch|scale|install|upgrade|uninstall|destroy|rollout)\b"
    r"|systemctl\s+(?:start|stop|restart|enable|disable)\b|sed\s+(?:-\S+\s+)*-\w*i|perl\s+-\w*i"
    r"|(?:curl|http|wget)\b[^\n;|&]*?(?:-X\s*|--request[ =])?\b(?:POST|PUT|DELETE|PATCH)\b|curl\b[^\n;|&]*?\s(?:-d|--data\S*|-F|-T)\s"
    r"|(?:psql|mysql|sqlite3)\b[^\n]*?\b(?:insert|update|delete|drop|alter|create|truncate)\b)",
    re.I,
)
_REDIRECT = re.compile(r"(?<![<>&\d=-])>{1,2}\s*(?!/dev/|&)(?P<to>[\w./~$-][^\s;|&)]*)")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*?\n\s*\1(?=\s|$)", re.S)
_CODE = re.compile(
    r"\bopen\([^()\n]*,\s*(?:mode\s*=\s*)?['\"][wax]|\.write_(?:text|bytes)\(|\bos\.(?:remove|unlink|rename|replace|rmdir|makedirs|mkdir)\("
    r"|\bshutil\.\w+\(|\.to_(?:csv|json|excel|parquet|sql)\(|\brequests\.(?:post|put|patch|delete)\(|\.commit\(\)"
)
_CODE_TOOLS = frozenset(
    {"python", "ipython", "code_interpreter", "execute_code", "run_code", "eval", "execute_ipython_cell"}
)
_END = re.compile(r"[;&|\n]")
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_SQL = re.compile(r"^\s*(?:insert|update|delete|drop|alter|create|truncate|replace|merge|grant)\b", re.I)
_OBJECTS = (
    "path", "file_path", "filePath", "filename", "file", "target_file", "notebook_path", "to", "recipient", "recipients", "email",
    "channel", "url", "uri", "destination", "dest", "branch", "name", "title", "subject", "id", "order_id", "reservation_id",
    "user_id", "table", "key", "amount", "sql", "query", "patch", "input", "收件人", "路径",
)  # fmt: skip
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.M)


def effects(nodes: Sequence[Node]) -> tuple[tuple[str, str], ...]:
    """What calls among these nodes did: (the call's node, what was done in brief), in order, each once a node.

    A call that failed did nothing, unless it timed out; that and one without a result "may have happened".
    """
    results = {result.call_id: result for node in nodes for result in node.message.results}
    found: dict[tuple[str, str], None] = {}
    for node in nodes:
        for call in node.message.calls:
            what = effect(call)
            certain = what and _happened(call, results.get(call.id))
            if what and certain is not None:
                found[node.id, what if certain else f"{what} (may have happened)"] = None
    return tuple(found)


def told(done: Sequence[str], limit: int) -> str:
    """The effects as one phrase of about `limit` characters; those that have no room are counted."""
    named: list[str] = []
    unique = list(dict.fromkeys(done))
    for what in unique:
        if named and (len(named) >= MOST or sum(map(len, named)) + len(what) > limit):
            break
        named.append(what)
    more = len(unique) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def effect(call: ToolCall) -> str:
    """What a call does to the world, in brief (`write_file(path=a.py)`); empty if it only looks."""
    given = call.object
    if call.name.lower() in _CODE_TOOLS:
        acts = next(filter(None, map(_CODE.search, _texts(given))), None)
        return f"{call.name}(… {_cut(acts.string[acts.start() :].splitlines()[0])})" if acts else ""
    if call.name.lower() in SHELLS:
        return _of_shell(given)
    if not _acts(call.name, given):
        return ""
    patched = [path for value in given.values() if isinstance(value, str) for path in _PATCHED.findall(value)]
    if patched:
        return f"{call.name}({', '.join(patched[:3])})"
    shown = [
        f"{name}={_cut(given[name])}"
        for name in _OBJECTS
        if isinstance(given.get(name), str | int | list) and name not in ("patch", "input")
    ]
    return f"{call.name}({', '.join(shown[:2])})"


def _acts(name: str, given: dict[str, object]) -> bool:
    step = next((value for key in _STEPS if isinstance(value := given.get(key), str) and value), "")
    if step.upper() in _METHODS:
        return _METHODS[step.upper()]
    if step and " " not in step.strip() and (verdict := _verb(step)) is not None:
        return verdict
    sql = next((value for key in ("sql", "query") if isinstance(value := given.get(key), str)), "")
    if sql:
        return _SQL.match(sql) is not None or bool(_verb(name) and "sql" not in name.lower())
    return bool(_verb(name))


def _verb(name: str) -> bool | None:
    """True if the first verb of a name acts, False if it looks, None if there is none."""
    for piece in _PIECE.findall(name):
        word = piece.lower()
        if word in ACTS or word in READS:
            return word in ACTS and word not in READS
    if any(verb in name for verb in HAN_READS):
        return False
    return True if any(verb in name for verb in HAN_ACTS) else None


def _of_shell(given: dict[str, object]) -> str:
    line = "\n".join(_texts(given))
    line = _HEREDOC.sub(lambda body: " " * len(body[0]), line)
    bare = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), line)
    acts = _SHELL.search(line) if _SHELL.search(bare) else _SHELL.search(_unquoted_sql(line))
    start = acts.start("what") if acts else -1
    if start < 0:
        written = _REDIRECT.search(bare)
        return f"wrote {_cut(line[written.start('to') : written.end('to')])}" if written else ""
    return f"ran {_cut(_END.split(line[start:])[0])}"


def _unquoted_sql(line: str) -> str:
    """The line if it runs a database client: there the quoted text is what acts."""
    return line if re.search(r"\b(?:psql|mysql|sqlite3)\b", line) else ""


def _texts(given: dict[str, object]) -> Iterator[str]:
    for name in ("command", "cmd", "script", "code", "input", "_raw"):
        value = given.get(name)
        if isinstance(value, str):
            yield value[:4000]
        elif isinstance(value, list):
            yield " ".join(str(word) for word in value)[:4000]


def _happened(call: ToolCall, result: ToolResult | None) -> bool | None:
    """True if it was done, False if it may have been, None if it failed."""
    if result is None:
        return False
    if not is_failure(result):
        return True
    dead = outage(call, result.text)
    return (
        False if dead is not None and dead.kind == "down" and "refused" not in result.text.lower() else None
    )


def _cut(value: object, limit: int = 50) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
