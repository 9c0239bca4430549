"""Conversations written in the formats of other programs. One file a format, one line in `EXPORTERS`.

    made = EXPORTERS["pi"].write(tale)

Formats with a tree get the whole of it, the others one path. What a format cannot hold (state, marks, notes,
merges, parts that only one API knows) is left out; `docs/formats.md` says so for each.
"""

from __future__ import annotations

from collections.abc import Mapping

from ctxtree.exporters import (
    chatgpt,
    claude_code,
    langchain,
    librechat,
    llama_cpp,
    open_webui,
    openai_responses,
    pi,
    sharegpt,
    sillytavern,
)
from ctxtree.exporters.tale import Exporter, Tale, tale

__all__ = ["EXPORTERS", "Exporter", "Tale", "tale"]

EXPORTERS: Mapping[str, Exporter] = {
    "openai.responses": openai_responses.EXPORTER,
    "langchain": langchain.EXPORTER,
    "sharegpt": sharegpt.EXPORTER,
    "chatgpt": chatgpt.EXPORTER,
    "open-webui": open_webui.EXPORTER,
    "librechat": librechat.EXPORTER,
    "llama.cpp": llama_cpp.EXPORTER,
    "sillytavern": sillytavern.EXPORTER,
    "pi": pi.EXPORTER,
    "claude-code": claude_code.EXPORTER,
}
"""Every format that can be written, beside those of `ctxtree.exporting`."""
