from __future__ import annotations

import pytest

from ctxtree.summarizers.kinds import ASKED, classify
from ctxtree.summarizers.subjects import subject

KINDS = {
    "constraint": (
        "Never touch prod.", "Do NOT push to main.", "don’t use global variables", "You must ask me first.",
        "Only edit files in src.", "Always run the tests.", "No matter what, keep the API.", "Answer in French only.",
        "Pushing to branch fix/* is fine now.", "Could you please not touch prod, never?", "不要删除这个目录。",
        "绝对不能提交密钥", "必须用中文回答", "只能改 src 目录", "禁止联网。", "别动数据库", "务必先备份", "现在可以推到 main 分支了。",
        "Leave the migrations folder alone.", "It must be under 2 MB.",
    ),
    "preference": ("I prefer tabs.", "I really like dark themes.", "I'd rather have short answers.", "我喜欢深色主题。", "我习惯用 vim。"),
    "decision": ("We decided to use Postgres.", "Let's go with plan B.", "We'll use Redis.", "我们决定用 Go。", "就用方案二"),
    "feedback": ("That's wrong.", "That is not what I asked for.", "No, the other one.", "不对，是另一个。", "不是这样的"),
    "fact": ("My name is Ana.", "The port is 8080.", "我叫李雷。", "代号是42", "The deadline moved to Monday.", "FACT-A"),
    "open": ("TODO: write the docs", "Open question: which licence?", "还没决定用哪个。"),
    "question": ("What does it do?", "Is it always slow?", "这个怎么用？", "你记得我的名字吗？", "Do you remember my name?"),
    "request": ("Fix the parser.", "Please look at a.py.", "帮我看看 a.py。", "Then build it."),
    "talk": ("Thanks a lot.", "Hm, well.", "好的"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "sentence"), [(kind, text) for kind, texts in KINDS.items() for text in texts]
)
def test_a_sentence_is_told_by_its_words(kind: str, sentence: str) -> None:
    assert classify(sentence).kind == kind


@pytest.mark.parametrize(
    "sentence",
    [
        "Don't worry about it.", "I don't know why.", "It never worked.", "You must be joking.", "They only fail at night.",
        "这个特别好", "要不要试试？", "没有别的了", "不要紧",
    ],
)  # fmt: skip
def test_what_only_looks_binding_is_no_constraint(sentence: str) -> None:
    assert classify(sentence).kind != "constraint"


@pytest.mark.parametrize(
    "sentence",
    ["Remember: the code is 42.", "Don't forget that I'm Ana.", "请记住代号是42", "别忘了我叫李雷", "Keep in mind the port is 80.",
     "Remember, never deploy on Fridays."],
)  # fmt: skip
def test_what_is_to_be_remembered_weighs_most(sentence: str) -> None:
    assert classify(sentence).weight == ASKED


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("The deadline is Friday.", "deadline"), ("Actually, the deadline moved to Monday.", "deadline"),
        ("Change the deadline to Monday.", "deadline"), ("代号是42", "代号"), ("把代号改成43", "代号"),
        ("我们的截止日期改为周一", "截止日期"), ("Remember: the code name is 42.", "code name"),
        ("It is late.", ""), ("Her name is Mia.", "her name"), ("Thanks.", ""), ("The problem is the cache.", ""),
    ],
)  # fmt: skip
def test_a_statement_has_a_subject(text: str, about: str) -> None:
    assert subject(text) == about
