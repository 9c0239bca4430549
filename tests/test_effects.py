"""What calls did to the world."""

import pytest

from ctxtree import Message, Node, Text, ToolCall, ToolResult
from ctxtree.effects import effect, effects, told


def call(name: str, **given: object) -> ToolCall:
    return ToolCall(id="c", name=name, arguments=given)


@pytest.mark.parametrize(
    ("done", "words"),
    [
        (call("write_file", path="a.py", content="x" * 500), "write_file(path=a.py)"),
        (call("Edit", file_path="b.py", old_string="x"), "Edit(file_path=b.py)"),
        (
            call("str_replace_based_edit_tool", command="create", path="a"),
            "str_replace_based_edit_tool(path=a)",
        ),
        (
            call("apply_patch", input="*** Begin Patch\n*** Update File: lexer.py\n@@"),
            "apply_patch(lexer.py)",
        ),
        (call("send_email", to=["bob@example.org"], body="hi"), "send_email(to=bob@example.org)"),
        (call("mcp__chat__post_message", channel="#a"), "mcp__chat__post_message(channel=#a)"),
        (call("cancel_reservation", reservation_id="Z9"), "cancel_reservation(reservation_id=Z9)"),
        (call("http_request", method="POST", url="https://a.example"), "http_request(url=https://a.example)"),
        (call("execute_sql", sql="drop table users"), "execute_sql(sql=drop table users)"),
        (call("发送邮件", 收件人="张三"), "发送邮件(收件人=张三)"),
        (call("bash", command="ls -la && cat a > b.txt"), "wrote b.txt"),
        (call("bash", command="cd repo && git push origin main; ls"), "ran git push origin main"),
        (call("bash", command="cat > a.py <<'EOF'\nif a > b: pass\nEOF"), "wrote a.py"),
        (call("bash", command="sed -i 's/a/b/' x.py"), "ran sed -i 's/a/b/' x.py"),
        (call("bash", command="psql -c 'delete from t'"), "ran psql -c 'delete from t'"),
        (call("shell", command=["bash", "-lc", "echo hi > out.txt"]), "wrote out.txt"),
        (call("python", code="import os\nos.remove('a.db')"), "python(… os.remove('a.db'))"),
    ],
)
def test_what_writes_sends_or_deletes_is_told_in_brief(done: ToolCall, words: str) -> None:
    assert effect(done) == words


@pytest.mark.parametrize(
    "looks",
    [
        call("read_file", path="a"), call("get_order", order_id=3), call("search_flights", to="OSL"), call("think", thought="x"),
        call("str_replace_based_edit_tool", command="view", path="a"), call("http_request", method="GET", url="u"),
        call("execute_sql", sql="SELECT 1"), call("查询订单", id=3), call("pytest", path="t"), call("TodoWrite", todos=[]),
        call("bash", command="git status; echo 'rm -rf /'"), call("bash", command="pytest 2>&1 | tail"),
        call("bash", command="cat x >/dev/null"), call("bash", command="grep -rn 'a > b' src"), call("bash", command="awk '$1 > 3' f"),
        call("bash", command="python - <<'EOF'\nif a > b: print(1)\nEOF"), call("python", code="print(open('a.txt').read())"),
    ],
)  # fmt: skip
def test_what_only_looks_has_no_effect(looks: ToolCall) -> None:
    assert effect(looks) == ""


def attempt(result: ToolResult | None) -> list[Node]:
    asked = Node.make(Message(role="assistant", parts=(call("send_email", to="bob"),)))
    if result is None:
        return [asked]
    return [asked, Node.make(Message(role="tool", parts=(result,)), (asked.id,))]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("sent", False, ["send_email(to=bob)"]),
        ("no such address", True, []),
        ("Error: invalid address", False, []),
        ("connection timed out", True, ["send_email(to=bob) (may have happened)"]),
        ("connection refused", True, []),
    ],
)
def test_a_failed_call_did_nothing_unless_it_timed_out(text: str, error: bool, words: list[str]) -> None:
    result = ToolResult(call_id="c", parts=(Text(text=text),), error=error)
    assert [what for _, what in effects(attempt(result))] == words


def test_a_call_without_a_result_may_have_happened() -> None:
    assert [what for _, what in effects(attempt(None))] == ["send_email(to=bob) (may have happened)"]


def test_many_effects_are_named_in_part_and_counted() -> None:
    done = [f"write(path={number}.py)" for number in range(20)]
    assert told(done, 1_000).endswith("write(path=5.py) and 14 more")
    assert told(done * 2, 40) == "write(path=0.py), write(path=1.py) and 18 more"
