"""Drawings with their colours in themselves, for a notebook, which knows nothing of our style sheet.

Each class becomes attributes of its element.  Text and lines take the notebook's own colour, and marks have one that is
told apart on white and on black; so a drawing follows a notebook's light or dark theme, and nothing of its style can touch
the notebook.
"""

from __future__ import annotations

import re

_RELEASE = "#3a86ad"
_ATTENTION = "#c9652a"
_GREY = "#85857e"
_METHODS = ("#3a86ad", "#c9652a", "#2f9a78", "#b0689a", "#998408")
_SMALL_TEXT = 'font-size="12" fill="currentColor" fill-opacity="0.75"'
_TEXT = 'font-size="13" fill="currentColor"'
_BOLD_TEXT = 'font-size="13" font-weight="650" fill="currentColor"'
ATTRIBUTES = {
    "release": f'fill="{_RELEASE}"',
    "reference": f'fill="{_GREY}" fill-opacity="0.25" stroke="{_GREY}"',
    "reference-hollow": f'fill="none" stroke="{_GREY}" stroke-width="2"',
    "attention": f'fill="{_ATTENTION}"',
    "release-line": f'stroke="{_RELEASE}" stroke-width="3"',
    "reference-line": f'stroke="{_GREY}" stroke-width="2"',
    "bounds-line": f'stroke="{_RELEASE}" stroke-width="1.5"',
    "interval-line": f'stroke="{_RELEASE}" stroke-width="6" stroke-opacity="0.45"',
    "attention-line": f'stroke="{_ATTENTION}" stroke-width="2"',
    "yardstick": f'fill="none" stroke="{_GREY}" stroke-width="2.2"',
    "ring": f'fill="none" stroke="{_ATTENTION}" stroke-width="2"',
    "axis": 'stroke="currentColor" stroke-opacity="0.5"',
    "grid": 'stroke="currentColor" stroke-opacity="0.15"',
    "guide": 'stroke="currentColor" stroke-dasharray="2 3"',
    "tick": _SMALL_TEXT,
    "tick roomy": _SMALL_TEXT,
    "tick halo": _SMALL_TEXT,
    "halo": _TEXT,
    "yardstick-text halo": _TEXT,
    "strong halo": _BOLD_TEXT,
    "attention-text halo": _BOLD_TEXT,
    **{f"method-{number}": f'fill="{colour}"' for number, colour in enumerate(_METHODS, start=1)},
    **{
        f"method-line-{number}": f'stroke="{colour}" stroke-width="2"'
        for number, colour in enumerate(_METHODS, start=1)
    },
}
"""What each class of a drawing looks like."""


def colour_drawing(svg: str) -> str:
    """Give a drawing its colours in attributes, as wide as where it is shown, and nothing cut at its edge."""
    coloured = re.sub(r'class="([^"]*)"', lambda match: ATTRIBUTES.get(match[1], match[0]), svg)
    return coloured.replace('class="plot"', 'width="100%" overflow="visible"', 1)
