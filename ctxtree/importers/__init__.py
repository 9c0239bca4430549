"""Logs of other programs, read into conversations. One file a format, one line in `FORMATS`.

    for conversation in read("conversations.json"):
        for draft in conversation.drafts: ...
        print(conversation.issues, conversation.skipped)

Reading is lenient unless told to be strict: it repairs, reports each repair with line and byte
offset, and drops nothing without a count. JSON lines are read in two passes and arrays one element at a
time, so memory grows with the number of records and the largest of them, not with the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from ctxtree.errors import FormatError
from ctxtree.importers import (
    aider,
    anthropic,
    chatgpt,
    claude_ai,
    claude_code,
    codex,
    gemini_cli,
    inspect_log,
    langchain,
    librechat,
    llama_cpp,
    llm_logs,
    loom,
    mini_swe_agent,
    open_webui,
    openai_chat,
    openai_responses,
    pi,
    sharegpt,
    sillytavern,
    swe_agent,
    whole,
)
from ctxtree.importers.base import CODES, Conversation, Draft, Format, Issue
from ctxtree.importers.checks import checked
from ctxtree.importers.files import Source, sourced
from ctxtree.importers.sample import samples
from ctxtree.importers.wire import messages_from, parsed_from

__all__ = [
    "CODES",
    "FORMATS",
    "Conversation",
    "Draft",
    "Format",
    "Issue",
    "detect",
    "messages_from",
    "parsed_from",
    "read",
]

FORMATS: Mapping[str, Format] = {
    "ctxtree": whole.FORMAT,
    "llm": llm_logs.FORMAT,
    "aider": aider.FORMAT,
    "claude-code": claude_code.FORMAT,
    "llama.cpp": llama_cpp.FORMAT,
    "pi": pi.FORMAT,
    "codex": codex.FORMAT,
    "gemini-cli": gemini_cli.FORMAT,
    "sillytavern": sillytavern.FORMAT,
    "chatgpt": chatgpt.FORMAT,
    "claude.ai": claude_ai.FORMAT,
    "open-webui": open_webui.FORMAT,
    "librechat": librechat.FORMAT,
    "loom": loom.FORMAT,
    "swe-agent": swe_agent.FORMAT,
    "mini-swe-agent": mini_swe_agent.FORMAT,
    "inspect": inspect_log.FORMAT,
    "langchain": langchain.FORMAT,
    "sharegpt": sharegpt.FORMAT,
    "openai.responses": openai_responses.FORMAT,
    "anthropic": anthropic.FORMAT,
    "openai.chat": openai_chat.FORMAT,
}
"""Every format, in the order in which detection asks."""

ALIASES: Mapping[str, str] = {
    "openai": "openai.chat",
    "chatgpt.conversations": "chatgpt",
    "claude-code.jsonl": "claude-code",
    "pi.jsonl": "pi",
    "codex.rollout": "codex",
    "openwebui": "open-webui",
    "openwebui.export": "open-webui",
    "librechat.export": "librechat",
    "claude.ai.export": "claude.ai",
    "anthropic.messages": "anthropic",
    "gemini": "gemini-cli",
    "langgraph": "langchain",
    "logs.db": "llm",
    "oasst": "loom",
    "tau": "pi",
}


OWN_CHECKS = frozenset({"chatgpt", "sharegpt", "ctxtree"})
"""Formats without ids of calls, and our own: what answers what is found out as they are read."""


def detect(path: str | Path | BinaryIO) -> str:
    """The name of the format that the file's content fits; its name does not matter.

    Reads the first 256 KiB, and up to 64 MiB where the records in them tell nothing. `FormatError` naming
    what was tried if nothing fits.
    """
    with sourced(path) as source:
        return _detected(source)


def _detected(source: Source) -> str:
    count = 0
    for seen in samples(source):
        for name, form in FORMATS.items():
            if form.fits(seen):
                return name
        count = len(seen.records)
    found = f"{count} JSON objects" if count else "no JSON object"
    raise FormatError(source.name, 0, f"{found} of a known format; tried {', '.join(FORMATS)}")


def read(
    path: str | Path | BinaryIO,
    format: str = "auto",
    strict: bool = False,
) -> Iterator[Conversation]:
    """The conversations of a file, one at a time. Consume one's drafts before taking the next.

    `strict` raises `FormatError(path, line, why)` at the first defect; else defects are repaired and
    stand in the conversation's issues. `FormatError` also for an unknown format and for a file in which
    there is nothing to read. Not one byte of the file is changed.
    """
    with sourced(path) as source:
        name = _detected(source) if format == "auto" else ALIASES.get(format, format)
        if name not in FORMATS:
            raise FormatError(
                source.name, 0, f"{format!r} is no known format; known are {', '.join(FORMATS)}"
            )
        for conversation in FORMATS[name].read(source, strict):
            yield conversation if name in OWN_CHECKS else checked(conversation)
