"""What each defect of a log does to a model that is given the log as it stands."""

from __future__ import annotations

from collections.abc import Mapping

EFFECTS: Mapping[str, str] = {
    "bad_line": "what the line said is gone: the model answers without knowing of it",
    "truncated_line": "the last thing said is missing; whoever goes on from here goes on from one step earlier",
    "fused_lines": "a reader that gives up at the line loses both records, and with them every message that hangs on them",
    "nul_bytes": "a reader that takes them for the end of the file loses all that follows",
    "bad_utf8": "the model reads a replacement character where a letter was; words can change their meaning",
    "surrogate": "providers refuse a request that holds half a character: every call fails until it is gone",
    "too_deep": "what the record said is gone: the model answers without knowing of it",
    "bad_record": "what the record said is gone: the model answers without knowing of it",
    "no_conversation": "nothing: there was nothing to say",
    "missing_id": "nothing can point to the message, so answers to it hang elsewhere and edits of it are lost",
    "duplicate_id": "two messages claim one place: a reader that takes the other one shows the model a different past",
    "missing_parent": "a reader takes the message for the beginning: the model loses all that was said before it",
    "dangling_parent": "a reader that stops there gives the model only what follows: it has lost all that was said before",
    "cycle": "a reader that follows the parents never ends, or gives up and shows the model nothing",
    "self_parent": "a reader that follows the parents never ends, or gives up and shows the model nothing",
    "crossed_sidechain": "the model is shown a subagent's thread as if it were its own, and loses the one it was in",
    "parent_disagrees": "two readers show the model two different conversations",
    "dangling_head": "a reader without the pointer may open an abandoned branch: the model goes on from what was given up",
    "missing_role": "a reader cannot tell who spoke: the model may take its own words for the user's",
    "unknown_role": "providers refuse a role that they do not know; left out, its words are missing",
    "orphan_result": "providers refuse a result without its call: every request fails from here on",
    "unknown_type": "nothing, unless a new version of the program says something in them",
    "spliced": "nothing, as long as what hangs on them is not dropped with them: then whole branches are lost",
    "repeated": "read twice, the model is told the same again, and pays for it again",
    "bom": "a reader that does not expect it loses the first record",
    "crlf": "nothing",
}  # fmt: skip
"""For every code of `CODES`: what happens where nothing is done about it."""
