"""compile, explain, why, plan, turns, count: what a model would be sent, and why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

import ctxtree
from ctxtree.cli import show
from ctxtree.cli.opening import Options, policy_of, prices_of, tree_from, tree_of
from ctxtree.compiler import Context
from ctxtree.errors import NotFound
from ctxtree.policy import Budget

FILE = typer.Argument(None, help="A log of any format that `import` reads, or - for standard input.")
AT = typer.Option(None, "--at", help="Compile for this node instead of the head.")
BUDGET = typer.Option(8000, "--budget", help="The window, in tokens.")
RESERVE = typer.Option(0, "--reserve", help="Tokens kept for the answer.")
TARGET = typer.Option(
    "openai.chat", "--target", help="openai.chat, openai.responses, anthropic, gemini or text."
)
INPUT = typer.Option(None, "--input", help="What the user says now.")
POLICY = typer.Option("hybrid", "--policy", help="hybrid, window:N, trim, agent, stable, or JSON.")
EMBEDDER = typer.Option(None, "--embedder", help="Relevance also by meaning: wordllama.")
NAME = typer.Option(None, "--name", help="Which conversation of the file.")
REDACT = typer.Option(False, "--redact", help="Mask API keys, tokens, private keys and passwords.")
JSON = typer.Option(False, "--json", help="One JSON document on stdout.")


def _context(
    options: Options, file: str | None, at: str | None, budget: int, reserve: int, target: str,
    text: str | None, policy: str, name: str | None, embedder: str | None,
) -> Context:  # fmt: skip
    tree = tree_from(options, file, name)
    figures = Budget(window=budget, reserve=reserve)
    return tree.compile(
        at, budget=figures, target=target, policy=policy_of(policy), input=text, embedder=embedder
    )


def compile_(
    context: typer.Context, file: str | None = FILE, at: str | None = AT, budget: int = BUDGET, reserve: int = RESERVE,
    target: str = TARGET, input: str | None = INPUT, policy: str = POLICY, name: str | None = NAME,
    embedder: str | None = EMBEDDER, report: bool = typer.Option(False, "--report", help="The report instead of the payload."),
    redact: bool = REDACT, json: bool = JSON,
) -> None:  # fmt: skip
    """The request for a path: payload on stdout, one line of figures on stderr. Exit code 3 if records of FILE were left out."""
    del json
    context.obj.hide(redact)
    made = _context(context.obj, file, at, budget, reserve, target, input, policy, name, embedder)
    show.data(made.report if report else made.payload)
    show.say(figures(made))
    _partly(context.obj)


def figures(made: Context) -> str:
    """One line: tokens of the limit, what became of the nodes, the compaction, alerts."""
    report = made.report
    levels: dict[str, int] = {}
    for item in report.items:
        if item.nodes and item.kind != "recall":
            levels[item.level] = levels.get(item.level, 0) + len(item.nodes)
    told = ", ".join(f"{count} {level}" for level, count in sorted(levels.items()))
    parts = [
        f"{report.target}: {report.tokens:,} of {report.budget.window - report.budget.reserve:,} tokens",
        f"{len(report.path.nodes)} nodes of {report.path.tokens:,} tokens ({told})",
    ]
    recalled = sum(len(item.nodes) for item in report.items if item.kind == "recall")
    parts += [f"{recalled} called back"] if recalled else []
    parts += [report.compaction.line] if report.compaction else []
    parts += [signal.message for signal in (*report.alerts[-1:], *report.degraded)]
    parts += [f"{len(report.repairs)} repairs"] if report.repairs else []
    return "; ".join(parts)


def explain(
    context: typer.Context, file: str | None = FILE, at: str | None = AT, budget: int = BUDGET, reserve: int = RESERVE,
    target: str = TARGET, input: str | None = INPUT, policy: str = POLICY, name: str | None = NAME,
    embedder: str | None = EMBEDDER, redact: bool = REDACT, json: bool = JSON,
) -> None:  # fmt: skip
    """Every item of a request: where it stands, how much of it, what it costs and why."""
    context.obj.hide(redact)
    made = _context(context.obj, file, at, budget, reserve, target, input, policy, name, embedder)
    if context.obj.json or json:
        show.data(made.report)
        _partly(context.obj)
        return
    show.rows(
        ("zone", "kind", "level", "tokens", "full", "score", "parts", "nodes", "reason"),
        (
            (item.zone, item.kind, item.level, item.tokens, item.full_tokens, item.score, _parts(item.parts),
             f"{len(item.nodes)}: {item.nodes[0][:8]}" if item.nodes else "", item.reason)
            for item in made.report.items
        ),
    )  # fmt: skip
    for group in ("alerts", "degraded", "repairs", "losses", "notes"):
        for signal in getattr(made.report, group):
            show.line(f"{group}: {signal.code}: {signal.message}")
    show.say(figures(made))
    _partly(context.obj)


def _partly(options: Options) -> None:
    if options.skipped:
        raise typer.Exit(3)


def _parts(parts: dict[str, float]) -> str:
    return " ".join(f"{name}={value:.2f}" for name, value in parts.items() if value)


def why(context: typer.Context, node: str, json: bool = JSON) -> None:
    """What became of one node in every request so far."""
    tree = tree_of(context.obj)
    identity = tree.node(node).id
    story: list[dict[str, Any]] = []
    for turn in tree.turns():
        for item in turn.report["items"]:
            if identity in item["nodes"]:
                story.append(
                    {"turn": turn.seq, "branch": turn.branch}
                    | {k: item[k] for k in ("kind", "zone", "level", "tokens", "full_tokens", "reason")}
                )
    if context.obj.json or json:
        show.data(story)
    else:
        show.rows(
            ("turn", "branch", "kind", "zone", "level", "tokens", "full", "reason"),
            (list(one.values()) for one in story),
        )


def plan(
    context: typer.Context, file: str | None = FILE, budget: int = BUDGET, reserve: int = RESERVE,
    prices: str = typer.Option("", "--prices", help="In units of an uncached input token: read=.1,write=1.25,input=1,output=5."),
    keep: float | None = typer.Option(None, "--keep", help="Share of the history's room that a compaction must leave."),
    target: str = TARGET, policy: str = POLICY, name: str | None = NAME, json: bool = JSON,
) -> None:  # fmt: skip
    """The watermarks that cost least under prompt caching, and after how many requests a compaction has paid for itself."""
    tree = tree_from(context.obj, file, name)
    figures = Budget(window=budget, reserve=reserve)
    found = tree.plan(figures, prices_of(prices), keep=keep, target=target, policy=policy_of(policy))
    if context.obj.json or json:
        show.data(found)
    else:
        show.rows(
            ("high", "low", "growth", "requests", "break-even", "cost"),
            [(found.budget.high, found.budget.low, round(found.growth), found.requests, found.break_even, round(found.cost))],
        )  # fmt: skip
        show.say(found.why)
    _partly(context.obj)


def turns(context: typer.Context, limit: int = typer.Option(20, "--limit", min=1), json: bool = JSON) -> None:
    """The last compiles."""
    found = tree_of(context.obj).turns(limit)
    if context.obj.json or json:
        show.data(found)
        return
    show.rows(
        ("turn", "branch", "node", "at", "target", "tokens", "stable", "compaction"),
        (
            (turn.seq, turn.branch, (turn.node or "")[:8], turn.at and turn.at.isoformat(timespec="seconds"),
             turn.report["target"], turn.report["tokens"], turn.report["prefix"]["stable_tokens"],
             f"{turn.report['compaction']['before']} -> {turn.report['compaction']['after']}" if turn.report["compaction"] else "")
            for turn in found
        ),
    )  # fmt: skip


def count(
    context: typer.Context, file: str = typer.Argument("-"), model: str | None = typer.Option(None, "--model"), json: bool = JSON
) -> None:  # fmt: skip
    """Tokens of a text file."""
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise NotFound(f"{file}: cannot be opened: {error.strerror}") from error
    tokens = ctxtree.count(text.decode("utf-8", "replace"), model)
    show.data({"tokens": tokens}) if context.obj.json or json else show.line(str(tokens))


COMMANDS = {"compile": compile_, "explain": explain, "why": why, "plan": plan, "turns": turns, "count": count}
