"""The fixed words that a target adds, and the sentence behind each repair and loss.

They never change between compiles of one version, so that prefixes stay equal.
"""

from __future__ import annotations

BEGINS = "(conversation begins)"
CONTINUE = "(continue)"
NO_RESULT = "(no result recorded here; it may have run)"
NO_OUTPUT = "(no output)"
NO_ANSWER = "(no answer recorded here)"
EMPTY = "(empty message)"
ORPHAN = "(result of a call that is not on this path)"
SYSTEM_NOTE = "[system note]"

REPAIRS = {
    "system_folded": "system messages in mid conversation stand as notes in the next user turn",
    "result_moved": "results were moved to directly after their calls",
    "unanswered_call": "calls without a recorded result got a synthetic one",
    "pending_call": "calls that await their result are told in words",
    "orphan_result": "results whose call is not on this path, or already has one, are quoted as user text",
    "ids_rewritten": "call ids that were empty, repeated or not legal here were replaced",
    "name_changed": "names that are not legal here had the odd characters replaced",
    "arguments_wrapped": "call arguments that were no JSON object stand under _raw",
    "arguments_repaired": "numbers in call arguments that JSON cannot hold became strings, unpaired surrogates U+FFFD",
    "empty_content": "empty texts were left out or given a marker",
    "role_mismatch": "parts that their role cannot hold were told as text",
    "control_tokens": "control tokens in texts were made harmless",
    "notice_imitated": "words that look like a notice or a turn of our own were made visibly different",
    "image_moved": "media of tool results stand in a user message after them",
    "conversation_begins": "a user message was put before a leading assistant message",
    "continue": "a user message was put after a trailing assistant message",
    "turn_separated": "a fixed message was put between turns that the protocol keeps apart",
    "merged_turns": "consecutive messages of one role were merged",
    "tools_declared": "tools used earlier but not given were declared by name alone",
    "cut_dropped": "more cache break points than allowed; the earliest and the newest three were kept",
}

LOSSES = {
    "reasoning_dropped": "reasoning that this target does not take back was left out",
    "unsupported_media": "media that this target cannot hold stand as text",
    "opaque_part": "provider parts of another API stand as placeholders or were left out",
    "response_format_dropped": "this target has no response format",
    "tools_dropped": "tool definitions that this target cannot hold were left out",
}
