"""Values that read like labels of a release, whole or in part: in a plain table each is what somebody wrote."""

from __future__ import annotations

VALUES = {
    "a quotation at the beginning": '"Old" Town',
    "a quotation mark": '"',
    "half a quotation": '"x',
    "a whole quotation": '"x"',
    "a star": "*",
    "a range": "[1, 2]",
    "a range of another tool": "[1-2]",
    "a half open range": "[20, 30[",
    "a comparison": ">= 80",
    "a range that is not closed": '["a, b]',
    "a range of nothing": "[]",
    "a set": "{a, b}",
    "a set without a blank": "{a,b}",
    "a set that is not closed": "{a",
    "a set with half a quotation": '{"a}',
    "a set of nothing": "{}",
    "two dots": "a..b",
    "a bar": "a|b",
    "a list of Python": "['a', 'b']",
    "an escape": '"\\u12',
}
