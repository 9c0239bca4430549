from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ctxtree.plan import Counter, SummaryRequest
from ctxtree.summarizers import SUMMARIZERS, afill, digest, fill, name_of
from tests.summarizers.dialogues import CHINESE, ENGLISH, request, roll
from tests.summarizers.test_guard import ENTRIES, GOOD


class Recorder:
    """A user's summarizer that keeps what it was asked."""

    name = "recorder 1"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[SummaryRequest] = []

    def __call__(self, hole: SummaryRequest) -> Any:
        self.asked.append(hole)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("summarizer", [None, "rules"])
def test_without_a_model_the_rules_make_the_summary(summarizer: str | None, counter: Counter) -> None:
    hole = request(ENTRIES)
    assert fill(hole, summarizer, counter) == (digest(hole, counter), ())


def test_a_function_is_called_once_with_the_request(counter: Counter) -> None:
    hole, model = request(ENTRIES), Recorder(GOOD)
    summary, signals = fill(hole, model, counter)
    assert model.asked == [hole]
    assert signals == ()
    assert summary.by == "recorder 1"
    assert "the lexer was slow in one loop" in summary.text


@pytest.mark.parametrize(
    "answer", ["", "I cannot help with that.", TimeoutError("secret words"), "x " * 2_000, None]
)
def test_a_failing_summarizer_is_replaced_and_the_reason_holds_no_content(
    answer: Any, counter: Counter
) -> None:
    hole, model = request(ENTRIES), Recorder(answer)
    summary, (signal,) = fill(hole, model, counter)
    assert summary == digest(hole, counter)
    assert len(model.asked) == 1
    assert signal.code == "summary_rejected"
    assert signal.nodes == ("u1", "a2")
    assert "secret" not in signal.message
    assert "help" not in signal.message
    if isinstance(answer, Exception):
        assert "TimeoutError" in signal.message


def test_a_summary_that_is_longer_with_its_frame_is_rejected(counter: Counter) -> None:
    _, (signal,) = fill(request(ENTRIES), Recorder(GOOD), counter, source=counter(GOOD) + 5)
    assert "not shorter than its source" in signal.message


def test_an_unknown_name_is_told(counter: Counter) -> None:
    _, (signal,) = fill(request(ENTRIES), "gpt", counter)
    assert "no summarizer is called 'gpt'" in signal.message


def test_an_asynchronous_summarizer_is_awaited(counter: Counter) -> None:
    async def model(hole: SummaryRequest) -> str:
        await asyncio.sleep(0)
        return GOOD

    summary, signals = asyncio.run(afill(request(ENTRIES), model, counter))
    assert signals == ()
    assert "the lexer was slow" in summary.text


def test_asynchronous_filling_takes_plain_functions_and_failures(counter: Counter) -> None:
    hole = request(ENTRIES)
    for model in (Recorder(GOOD), Recorder(OSError("secret")), None):
        assert asyncio.run(afill(hole, model, counter)) == fill(hole, model, counter)


def test_an_asynchronous_summarizer_in_a_synchronous_compile_is_told(counter: Counter) -> None:
    async def model(hole: SummaryRequest) -> str:
        return GOOD

    _, (signal,) = fill(request(ENTRIES), model, counter)
    assert "use acompile" in signal.message


@pytest.mark.parametrize("dialogue", [ENGLISH, CHINESE], ids=["english", "chinese"])
def test_rules_survive_a_model_that_forgets_and_then_fails(dialogue: Any, counter: Counter) -> None:
    answers = ["Facts:\n- they talked", "", "Results:\n- some work was done", "I cannot help with that."]

    def step(hole: SummaryRequest) -> Any:
        return fill(hole, Recorder(answers[len(hole.covered) % 4]), counter)[0]

    last = roll(dialogue, step, 300)[-1]
    for kept in (dialogue.kept[1], dialogue.kept[2]):
        assert kept in last.text


def test_names_tell_summarizers_apart() -> None:
    def mine(hole: SummaryRequest) -> str:
        return ""

    assert name_of(None) == name_of("rules") == "rules 1"
    assert name_of(Recorder("")) == "recorder 1"
    assert name_of(mine).endswith("mine")
    assert set(SUMMARIZERS) == {"rules", "openai", "anthropic"}
