"""Scripted dialogues of 60 turns: things to keep in the first ten, then work with tools and small talk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ctxtree.plan import Counter, Entry, Summary, SummaryRequest

Fill = Callable[[SummaryRequest], Summary]


@dataclass(frozen=True)
class Dialogue:
    """`planted` are (user, assistant, failing call or "") of the first turns; `kept` must outlive them."""

    planted: tuple[tuple[str, str, str], ...]
    kept: tuple[str, ...]
    chatter: tuple[tuple[str, str], ...]

    def turns(self, count: int = 60) -> Iterator[list[Entry]]:
        for turn in range(count):
            if turn < len(self.planted):
                yield list(planted(turn, *self.planted[turn]))
            else:
                yield list(chat(turn, *self.chatter[turn % len(self.chatter)]))


def planted(turn: int, user: str, assistant: str, failing: str) -> Iterator[Entry]:
    yield Entry(f"u{turn}", "user", user)
    if failing:
        call, error = failing.split(" => ")
        yield Entry(f"c{turn}", "assistant", "", calls=(call,))
        yield Entry(f"t{turn}", "tool", error, tool=call.split("(")[0], error=True)
    yield Entry(f"a{turn}", "assistant", assistant)


def chat(turn: int, user: str, assistant: str) -> Iterator[Entry]:
    yield Entry(f"u{turn}", "user", user.format(n=turn))
    yield Entry(f"c{turn}", "assistant", "", calls=(f"read(path=src/part_{turn}.py)",))
    yield Entry(f"t{turn}", "tool", f"def part_{turn}():\n    return {turn * 7}\n" * 6, tool="read")
    yield Entry(f"a{turn}", "assistant", assistant.format(n=turn, m=turn * 13))


def roll(dialogue: Dialogue, fill: Fill, cap: int, every: int = 8, turns: int = 60) -> list[Summary]:
    """The summaries of a dialogue that is compacted every few turns."""
    summaries: list[Summary] = []
    held: list[Entry] = []
    for number, entries in enumerate(dialogue.turns(turns), 1):
        held += entries
        if number % every == 0 or number == turns:
            summaries.append(fill(request(held, summaries[-1] if summaries else None, cap)))
            held = []
    return summaries


def request(
    entries: list[Entry], previous: Summary | None = None, cap: int = 300, key: str = ""
) -> SummaryRequest:
    covered = (*(previous.covered if previous else ()), *(entry.node for entry in entries))
    return SummaryRequest(key or f"key {len(covered)}", tuple(entries), previous, covered, cap)


def digester(counter: Counter) -> Fill:
    from ctxtree.summarizers import digest

    return lambda hole: digest(hole, counter)


ENGLISH = Dialogue(
    planted=(
        ("Help me rewrite the billing service in Rust.", "Happy to. Let me look around first.", ""),
        ("Remember: the code name is 42.", "Noted.", ""),
        ("Never touch the prod database.", "Understood.", ""),
        ("I prefer short answers with tabs, not spaces.", "Okay.", ""),
        ("My name is Ana Torres and the deadline is March 14.", "Nice to meet you.", ""),
        ("We decided to use PostgreSQL for storage.", "Good choice.", ""),
        ("Please run the load test.", "The benchmark shows a p95 latency of 182 ms.", ""),
        (
            "Publish the doc.",
            "I could not publish it.",
            "gdocs(op=batchUpdate) => 403 insufficientPermissions",
        ),
        ("That's wrong, I asked for CSV output.", "Sorry, I switched to CSV.", ""),
        ("Open question: should we support Windows?", "Let us see later.", ""),
    ),
    kept=(
        "Help me rewrite the billing service in Rust.",
        "the code name is 42",
        "Never touch the prod database.",
        "I prefer short answers with tabs, not spaces.",
        "My name is Ana Torres and the deadline is March 14.",
        "We decided to use PostgreSQL for storage.",
        "p95 latency of 182 ms",
        "gdocs(op=batchUpdate)",
        "403 insufficientPermissions",
        "That's wrong, I asked for CSV output.",
        "should we support Windows?",
    ),
    chatter=(
        ("Look at part {n} please.", "Part {n} returns a number; {m} lines were read."),
        ("What does part_{n} do?", "It multiplies by seven. There are {m} callers."),
        ("Continue.", "I read part_{n} and it looks fine."),
        ("Thanks, go on with part {n}.", "Done with part {n}, {m} tests passed."),
        ("Hm, it seems a bit slow today, don't you think?", "It is the tool; part {n} took {m} ms."),
        ("Add a comment to part_{n}.py.", "Added a comment to part_{n}.py."),
        ("ok", "Next is part {n}."),
    ),
)

CHINESE = Dialogue(
    planted=(
        ("帮我用 Rust 重写计费服务。", "好的，我先看一下代码。", ""),
        ("记住：代号是42。", "好的。", ""),
        ("绝对不要动生产数据库。", "明白。", ""),
        ("我喜欢简短的回答。", "好的。", ""),
        ("我叫李雷，截止日期是3月14日。", "你好。", ""),
        ("我们决定用 PostgreSQL 存储。", "好的。", ""),
        ("请跑一下压测。", "压测结果：p95 延迟是 182 毫秒。", ""),
        ("发布文档。", "发布失败了。", "gdocs(op=batchUpdate) => 403 权限不足"),
        ("不对，我要的是 CSV 格式。", "抱歉，已经改成 CSV。", ""),
        ("还没决定要不要支持 Windows。", "好的。", ""),
    ),
    kept=(
        "帮我用 Rust 重写计费服务。", "代号是42", "绝对不要动生产数据库", "我喜欢简短的回答", "我叫李雷，截止日期是3月14日",
        "我们决定用 PostgreSQL 存储", "p95 延迟是 182 毫秒", "gdocs(op=batchUpdate)", "403 权限不足",
        "不对，我要的是 CSV 格式", "还没决定要不要支持 Windows",
    ),
    chatter=(
        ("看一下第{n}部分。", "第{n}部分返回一个数字，读了{m}行。"),
        ("part_{n} 是做什么的？", "它乘以七，一共有{m}个调用者。"),
        ("继续。", "我看了 part_{n}，没有问题。"),
        ("谢谢，接着看第{n}部分。", "第{n}部分完成，{m}个测试通过了。"),
        ("今天好像有点慢，是不是？", "是工具的原因，第{n}部分花了{m}毫秒。"),
        ("给 part_{n}.py 加个注释。", "已经给 part_{n}.py 加了注释。"),
        ("好", "下一个是第{n}部分。"),
    ),
)  # fmt: skip
