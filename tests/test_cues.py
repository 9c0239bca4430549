from __future__ import annotations

import pytest

from ctxtree.cues import asked, lasting


@pytest.mark.parametrize(
    "text",
    [
        "Remember this: the port is 8080.",
        "Please remember my name is Ana.",
        "ok, and don't forget the deadline",
        "Don’t forget!",
        "Note that we use tabs.",
        "Keep this in mind",
        "You must remember to run the tests",
        "记住，代号是42",
        "别忘了周五要交",
        "请记住我的名字",
        "帮我记一下：周五开会",
        "Vergiss nicht: Port 8080",
        "Запомни: порт 8080",
        "忘れないでください",
    ],
)
def test_these_words_ask_for_remembering(text: str) -> None:
    assert asked(text)
    assert lasting(text)


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember the port?",
        "I remember that day",
        "I don't remember.",
        "还记得代号吗？",
        "我不记得了",
        "What is the code?",
        "Thanks for the trip notes",
        "```\nremember = 1\n```",
        "",
    ],
)
def test_these_words_do_not(text: str) -> None:
    assert not asked(text)


@pytest.mark.parametrize(
    "text",
    [
        "Rewrite the parser. Never touch prod.",
        "I prefer the dark theme",
        "Use only Python 3.11, do not add dependencies",
        "My budget is 500 euros",
        "From now on answer in French",
        "We decided on SQLite: I have decided.",
        "I am allergic to nuts",
        "let's go with plan B",
        "Leave the migrations folder alone",
        "请不要删除 migrations 目录。",
        "必须用中文回答",
        "对花生过敏",
        "预算不超过五百",
    ],
)
def test_these_words_bind_later(text: str) -> None:
    assert lasting(text)


@pytest.mark.parametrize(
    "text",
    [
        "How fast is this?",
        "What must I do?",
        "Is it always so slow?",
        "你好，今天天气怎么样",
        "ok thanks",
        "Read src/lexer.py and show me the tokens",
        "一定要这样吗？",
        "```\nif always: never()\n```",
    ],
)
def test_these_words_bind_nothing(text: str) -> None:
    assert not lasting(text)


def test_a_cue_beyond_the_ends_of_a_long_text_is_not_read() -> None:
    filler = "lorem ipsum " * 400
    assert lasting(filler + "\nNever touch prod.")
    assert not lasting(filler + "\nNever touch prod.\n" + filler)
