"""Long conversations with tools, in English and Chinese: what was said early is still there at the end."""

from __future__ import annotations

import pytest

import ctxtree
from ctxtree import Budget, ToolCall, Tree
from tests.cases.terms import texts
from tests.test_fuzz import broken
from tests.validity import violations

ENGLISH = {
    0: "Please migrate our billing service to the new database.",
    1: "My name is Ada Okafor and the invoice limit is 4,750 euros.",
    2: "Never touch the production database.",
    3: "I prefer short answers.",
    4: "We decided to use PostgreSQL 16.",
    6: "That's wrong, the total must include tax.",
    7: "The settings are in config/billing.toml.",
    8: "TODO: ask the finance team about refunds.",
}
CHINESE = {
    0: "请帮我把计费服务迁移到新的数据库。",
    1: "我叫李雷，发票上限是4750元。",
    2: "绝对不要动生产数据库。",
    3: "我喜欢简短的回答。",
    4: "我们决定使用 PostgreSQL 16。",
    6: "不对，总额必须含税。",
    7: "配置文件在 config/billing.toml。",
    8: "待办：问财务部门退款的事。",
}
FILLER = {
    "en": (
        "How far is step {n}?",
        "Step {n} has copied its rows and checked their number; the next one can start.",
    ),
    "zh": ("第{n}步进行得怎么样了？", "第{n}步已经复制了所有行，并且核对了数量，下一步可以开始了。"),
}
ROWS = '{{"step": {n}, "status": "ok", "rows": [{rows}]}}'


def talk(tree: Tree, turn: int, words: str, language: str) -> None:
    """One turn: the user's words, a tool round in every third one, an answer."""
    tree.user(words)
    if turn == 5:
        tree.assistant(None, calls=[ToolCall(id="c5", name="run_migration", arguments={"table": "refunds"})])
        tree.tool("c5", "Traceback\nOperationalError: relation refunds does not exist", error=True)
    elif turn % 3 == 0:
        tree.assistant(None, calls=[ToolCall(id=f"c{turn}", name="status", arguments={"step": turn})])
        tree.tool(f"c{turn}", ROWS.format(n=turn, rows=", ".join(str(n) for n in range(60))))
    tree.assistant(FILLER[language][1].format(n=turn))


@pytest.mark.parametrize(("language", "facts"), [("en", ENGLISH), ("zh", CHINESE)])
def test_facts_of_every_kind_outlive_sixty_turns(language: str, facts: dict[int, str]) -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("long", system="You are careful.")
        compactions = 0
        for turn in range(60):
            words = facts.get(turn, FILLER[language][0].format(n=turn))
            made = tree.compile(budget=Budget(1_600, reserve=200), input=words)
            assert not broken(made.report)
            assert not violations("openai.chat", made.payload)
            compactions += made.report.compaction is not None
            talk(tree, turn, words, language)
        made = tree.compile(budget=Budget(1_600, reserve=200))
        text = texts(made.payload)
        lost = [fact for fact in facts.values() if fact not in text]
        assert compactions >= 3
        assert not lost
        assert "relation refunds does not exist" in text


def test_the_code_name_survives_two_compactions_at_a_budget_of_150() -> None:
    turns = [
        ("请记住：项目代号是42。", "好的，我记住了，项目代号是42。"),
        ("北京今天天气怎么样？", "北京今天晴，最高气温二十五度，适合出门散步。"),
        ("上海呢？", "上海今天多云，最高气温二十八度，傍晚可能有小雨。"),
        ("广州呢？", "广州今天有雷阵雨，最高气温三十二度，出门请带伞。"),
        ("项目代号是什么？", ""),
    ]
    lines = []
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("code name")
        for number, (asked, answer) in enumerate(turns):
            tree.user(asked)
            made = tree.compile(budget=Budget(150))
            if made.report.compaction:
                lines.append(made.report.compaction.line)
            assert made.report.tokens <= 150
            if 1 <= number <= 3:
                tree.assistant(
                    None, calls=[ToolCall(id=f"w{number}", name="weather", arguments={"city": asked[:2]})]
                )
                tree.tool(
                    f"w{number}",
                    '{"sky": "多云", "high": 28, "low": 19, "wind": "东南风三级", "humidity": 60}',
                )
                made = tree.compile(budget=Budget(150))
                if made.report.compaction:
                    lines.append(made.report.compaction.line)
            if answer:
                tree.assistant(answer)
    assert len(lines) >= 2, lines
    assert all("->" in line for line in lines)
    assert "42" in str(made.payload)
    print("\n".join(lines))


def test_a_summary_of_summaries_after_three_hundred_turns() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("deep")
        depth = 1
        for turn in range(300):
            tree.user(f"In step {turn} the port of server {turn} is {4000 + turn}.")
            tree.assistant(f"Server {turn} now listens on port {4000 + turn}, as decided in step {turn}.")
            if turn % 5 == 4:
                made = tree.compile(budget=Budget(1_000))
                depth = max(depth, made.report.compaction.depth if made.report.compaction else 1)
        assert depth >= 2
