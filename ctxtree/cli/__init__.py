"""The command line: git's verbs on conversations. Data on stdout, talk on stderr."""

from __future__ import annotations

import sys


def main() -> None:
    """Run a command. Exits 1 with one line for a `CtxtreeError`, 2 for a usage error, 3 if something was skipped."""
    from ctxtree.cli import show
    from ctxtree.cli.app import app
    from ctxtree.errors import CtxtreeError

    try:
        app()
    except CtxtreeError as error:
        show.say(f"ctxtree: {error}")
        sys.exit(1)
