"""import, export, formats, doctor, verify, purge: logs and stores."""

from __future__ import annotations

import typer

from ctxtree.cli import show
from ctxtree.cli.compiling import AT, JSON, REDACT
from ctxtree.cli.looking import BRANCH, KIND, STATUS, chosen
from ctxtree.cli.opening import imported, store_of, tree_of
from ctxtree.errors import CtxtreeError
from ctxtree.importers import CODES, FORMATS
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
    """What is wrong in a log, line by line, and what was done about it; without a file, in the store."""
    if file is None:
        verify(context, json)
        return
    report = imported(store_of(context.obj, ":memory:"), file)
    if context.obj.json or json:
        show.data(report)
    else:
        _told(report)
        for issue in report.issues:
            show.line(f"{issue.code}: {issue.message} ({CODES.get(issue.code, '')})")
    if report.skipped:
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
    context: typer.Context, format: str = typer.Option("openai.chat", "--format"), at: str | None = AT,
    branch: list[str] | None = BRANCH, kind: list[str] | None = KIND, status: list[str] | None = STATUS,
    all: bool = typer.Option(False, "--all", help="Fold no runs in mermaid and dot."),
    to: str | None = typer.Option(None, "--to", help="A folder: every tree (or the one named by --tree) as a file of its own."),
    redact: bool = REDACT, json: bool = JSON,
) -> None:  # fmt: skip
    """A path as openai.chat or anthropic messages or markdown, the whole tree as ctxtree, html, mermaid or dot; `--to` for files."""
    options = context.obj
    options.hide(redact)
    choice = {**chosen(branch, kind, status), "fold": False if all else None}
    if to is not None:
        hidden = options.also or options.redact
        trees = None if options.tree is None else [options.tree]
        files = store_of(options).export(to, format, trees=trees, redact=hidden, **choice)
        show.data([str(file) for file in files]) if options.json or json else show.line(
            "\n".join(map(str, files))
        )
        return
    made = tree_of(options).export(format, at, **choice)
    if isinstance(made, str) and not (options.json or json):
        show.text(made)
    else:
        show.data(made)


def purge(
    context: typer.Context, ref: str, reason: str = typer.Option(..., "--reason", help="Kept with the empty place."), json: bool = JSON,
) -> None:  # fmt: skip
    """Erase the words of one node for good, and all that was drawn from them; the node stays as an empty place."""
    tree = tree_of(context.obj)
    node = tree.node(ref)
    tree.store.purge(node.id, reason, tree.name)
    show.data({"erased": node.id}) if context.obj.json or json else show.line(
        f"erased: {node.id[:8]} {node.role}"
    )


def formats(context: typer.Context, json: bool = JSON) -> None:
    """The formats that `import` reads."""
    show.data(list(FORMATS)) if context.obj.json or json else show.line("\n".join(FORMATS))


COMMANDS = {
    "import": import_,
    "export": export,
    "formats": formats,
    "doctor": doctor,
    "verify": verify,
    "purge": purge,
}
