"""Drawings of a tree: an outline, lanes, two sides, Mermaid, DOT, Markdown, a page. A sketch in, text out.

Words, names and reasons are data in all of them: each form escapes what means something in it, and control,
escape and direction characters are shown as what they are.
"""

from ctxtree.drawing.sketch import Choice, Drawing, Line, Sketch, Spot
from ctxtree.drawing.visible import headline, visible

__all__ = ["Choice", "Drawing", "Line", "Sketch", "Spot", "headline", "visible"]
