"""The shared corpus of real logs, where it lies beside the project (or where CTXTREE_CORPUS says)."""

from __future__ import annotations

from pathlib import Path

import pytest

import ctxtree
from tests.importers.logs import CORPUS, as_counted, compiled, counted, imported_twice

TRANSCRIPTS = sorted(path for path in (CORPUS / "transcripts").glob("*") if path.name != "INDEX.json")

if TRANSCRIPTS:

    @pytest.mark.corpus
    @pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.name)
    def test_a_real_log_imports_with_exact_counts_and_compiles_validly(path: Path) -> None:
        with ctxtree.connect(":memory:") as store:
            report = imported_twice(store, path)
            assert as_counted(report) == counted(path, report.format)
            assert list(compiled(store)) == []
