"""import, export, formats, doctor, verify: logs and stores."""

from __future__ import annotations

import sys

import typer

from ctxtree.cli import show
from ctxtree.cli.compiling import AT, JSON
from ctxtree.cli.opening import imported, store_of, tree_of
from ctxtree.doctor import examine
from ctxtree.errors import CtxtreeError
from ctxtree.importers import FORMATS
from ctxtree.results import ImportReport


def import_(
    context: typer.Context, files: list[str], format: str = typer.Option("auto", "--format"),
    name: str | None = typer.Option(None, "--name"), strict: bool = typer.Option(False, "--strict"), json: bool = JSON,
) -> None:  # fmt: skip
    """Read logs into the store; a file that cannot be read stops no other. Exit code 3 if something was left out."""
    store = store_of(context.obj)
    as_json = context.obj.json or json
    reports: list[ImportReport] = []
    failed: list[CtxtreeError] = []
    for file in files:
        try:
            reports.append(imported(store, file, format, name, strict))
        except CtxtreeError as error:
            failed.append(error)
            continue
        if not as_json:
            _told(reports[-1])
    if as_json:
        show.data(reports)
    for earlier in failed[:-1]:
        show.say(f"ctxtree: {earlier}")
    if failed:
        raise failed[-1]
    if any(report.skipped for report in reports):
        raise typer.Exit(3)


def _told(report: ImportReport) -> None:
    for one in report.conversations:
        show.line(
            f"{one.tree}: {one.messages} messages, {one.added} new, {one.branches} branches, "
            f"{len(one.issues)} issues, {one.skipped} left out ({report.format})"
        )


def doctor(context: typer.Context, file: str | None = typer.Argument(None), json: bool = JSON) -> None:
    """What is wrong in a log and where, what it does to a model, what was done about it; without a file, in the store."""
    if file is None:
        verify(context, json)
        return
    with show.progress(file) as step:
        found = examine(file if file != "-" else sys.stdin.buffer, progress=step)
    if context.obj.json or json:
        told = {"path": found.path, "format": found.format, "skipped": found.skipped}
        show.data({**told, "conversations": found.conversations})
    else:
        show.line(found.text)
    if found.skipped:
        raise typer.Exit(3)


def verify(context: typer.Context, json: bool = JSON) -> None:
    """Derive every id anew and check every link of the store."""
    problems = store_of(context.obj).verify()
    if context.obj.json or json:
        show.data(problems)
    else:
        for problem in problems:
            show.line(f"{problem.code}: {problem.message}")
    show.say(f"{len(problems)} problems")
    if any(problem.code != "erased" for problem in problems):
        raise typer.Exit(1)


def export(
    context: typer.Context, format: str = typer.Option("openai.chat", "--format"), at: str | None = AT, json: bool = JSON,
) -> None:  # fmt: skip
    """A path as messages or Markdown, or the whole tree as ctxtree, mermaid or dot."""
    made = tree_of(context.obj).export(format, at)
    if isinstance(made, str) and not (context.obj.json or json):
        show.line(made.rstrip("\n"))
    else:
        show.data(made)


def formats(context: typer.Context, json: bool = JSON) -> None:
    """The formats that `import` reads."""
    show.data(list(FORMATS)) if context.obj.json or json else show.line("\n".join(FORMATS))


COMMANDS = {"import": import_, "export": export, "formats": formats, "doctor": doctor, "verify": verify}
