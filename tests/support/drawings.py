"""What every drawing is: well-formed, without style or script of its own, within its width."""

from __future__ import annotations

import re
from xml.etree import ElementTree

HOSTILE = "<script>alert('x')</script>\"&"


def list_across(svg: str) -> list[float]:
    """Every position across, in per cent."""
    return [float(number) for number in re.findall(r'(?:x|x1|x2|cx|width)="(-?[\d.]+)%"', svg)]


def require_sound(svg: str) -> None:
    """The drawing is well-formed, has no style or script of its own, and keeps within its width."""
    tree = ElementTree.fromstring(svg)
    assert all("style" not in element.attrib for element in tree.iter())
    assert not [element for element in tree.iter() if element.tag == "script"]
    assert "nan" not in svg and "inf" not in re.sub(r">[^<]*<|aria-label=\"[^\"]*\"", "", svg)
    assert all(-0.01 <= position <= 100.01 for position in list_across(svg))
