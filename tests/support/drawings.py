"""What every drawing is: well-formed, without style or script of its own, its marks and its letters within its width."""

from __future__ import annotations

import re
import unicodedata
from itertools import combinations
from xml.etree import ElementTree

HOSTILE = "<script>alert('x')</script>\"&"
PHONE = 328.0  # pixels: what the narrowest screen leaves of 360
DESK = 704.0  # pixels: 44 rem
MARGIN = 16.0  # pixels of a page beside a drawing
LINE_HEIGHT = 11.0


def list_across(svg: str) -> list[float]:
    """Every position across, in per cent."""
    return [float(number) for number in re.findall(r'(?:x|x1|x2|cx|width)="(-?[\d.]+)%"', svg)]


def list_texts(svg: str, width: float) -> list[tuple[str, float, float, float]]:
    """Every text that is shown at a width: its letters, its left and right end and its height, in pixels."""
    texts = []
    for element in ElementTree.fromstring(svg).iter():
        if element.tag.endswith("text") and not (width == PHONE and "roomy" in element.get("class", "")):
            words = element.text or ""
            long = sum(12.0 if unicodedata.east_asian_width(letter) in "WF" else 6.0 for letter in words)
            mark = float(element.attrib["x"].rstrip("%")) / 100 * width + float(element.get("dx", 0))
            left = mark - {"start": 0.0, "middle": long / 2, "end": long}[element.get("text-anchor", "start")]
            texts.append((words, left, left + long, float(element.attrib["y"])))
    return texts


def require_sound(svg: str, *, apart: bool = True) -> None:
    """The drawing is well-formed, has no style or script of its own, and keeps within its width; with `apart`, no text of
    it covers another.
    """
    tree = ElementTree.fromstring(svg)
    assert all("style" not in element.attrib for element in tree.iter())
    assert not [element for element in tree.iter() if element.tag == "script"]
    assert "nan" not in svg and "inf" not in re.sub(r">[^<]*<|aria-label=\"[^\"]*\"", "", svg)
    assert all(-0.01 <= position <= 100.01 for position in list_across(svg))
    for width in (PHONE, DESK):
        texts = list_texts(svg, width)
        outside = [text for text in texts if text[1] < -MARGIN or text[2] > width + MARGIN]
        assert not outside, (width, outside)
        meeting = [
            (one, other)
            for one, other in combinations(texts, 2)
            if one[1] < other[2] and other[1] < one[2] and abs(one[3] - other[3]) < LINE_HEIGHT
        ]
        assert not (apart and meeting), (width, meeting)
