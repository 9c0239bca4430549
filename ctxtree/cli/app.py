"""The verbs."""

from __future__ import annotations

import typer

from ctxtree.cli import compiling, looking, moving, reading
from ctxtree.cli.opening import Options

app = typer.Typer(
    name="ctxtree", no_args_is_help=True, pretty_exceptions_enable=False,
    help="A conversation is a tree. A context is compiled from one path through it.",
)  # fmt: skip


@app.callback()
def options(
    context: typer.Context,
    store: str = typer.Option("ctxtree.db", envvar="CTXTREE_STORE", help="A file or a database URL."),
    tree: str | None = typer.Option(
        None, envvar="CTXTREE_TREE", help="The tree; the one used last if none is named."
    ),
    json: bool = typer.Option(False, "--json", help="One JSON document on stdout."),
    redact: bool = typer.Option(False, "--redact", help="Mask API keys, tokens, private keys and passwords."),
    also: list[str] | None = typer.Option(
        None, "--redact-also", help="Mask these as well: email, detect-secrets."
    ),
) -> None:
    context.obj = Options(store, tree, json, redact=redact, also=tuple(also or ()))
    context.call_on_close(context.obj.close)


for module in (compiling, reading, looking, moving):
    for name, command in module.COMMANDS.items():
        app.command(name)(command)
