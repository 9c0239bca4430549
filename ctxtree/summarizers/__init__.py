"""Summarizers: a request in, text out. The rule-based one needs no model and stands in for all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ctxtree.summarizers.entries import entry
from ctxtree.summarizers.filling import Summarizer, afill, fill, name_of
from ctxtree.summarizers.frame import frame
from ctxtree.summarizers.guard import accept, finish
from ctxtree.summarizers.http import anthropic_summarizer, openai_summarizer
from ctxtree.summarizers.prompt import prompt
from ctxtree.summarizers.rules import digest

SUMMARIZERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {"rules": digest, "openai": openai_summarizer, "anthropic": anthropic_summarizer}
)
"""`rules` takes (request, counter) and is always at hand; the others take where to find a model and give a callable."""

__all__ = [
    "SUMMARIZERS",
    "Summarizer",
    "accept",
    "afill",
    "anthropic_summarizer",
    "digest",
    "entry",
    "fill",
    "finish",
    "frame",
    "name_of",
    "openai_summarizer",
    "prompt",
]
