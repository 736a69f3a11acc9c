"""The worked notebook as a page, each object as a notebook shows it:  python -m docs.site.notebook PAGE

For `make docs-look`, which takes its picture: what `_repr_html_` gives is to be looked at where it is seen.
"""

from __future__ import annotations

import ast
import html
import re
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "notebook.py"


def cells(text: str) -> list[tuple[bool, str]]:
    """(whether it is text, its lines) of each cell."""
    parts = re.split(r"^# %%", text, flags=re.MULTILINE)[1:]
    return [(part.startswith(" [markdown]"), part.split("\n", 1)[1].strip()) for part in parts]


def shown(value: Any) -> str:
    """An object as a notebook shows it: a chart drawn, a table as it makes itself, else as text."""
    made = getattr(value, "_repr_html_", None) or getattr(value, "_repr_svg_", None)
    return made() if made is not None else f"<pre>{html.escape(repr(value))}</pre>"


def ran(code: str, names: dict[str, Any]) -> Any:
    """The value of the cell's last line, where that is an expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(SCRIPT), "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), str(SCRIPT), "eval"), names)


def page(text: str) -> str:
    names: dict[str, Any] = {"__name__": "notebook"}
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>A notebook</title><body style='font-family:sans-serif'>"
    ]
    for is_text, code in cells(text):
        if is_text:
            said = " ".join(line.lstrip("# ") for line in code.splitlines())
            parts.append(f"<p>{html.escape(said)}</p>")
            continue
        value = ran(code, names)
        parts.append(f"<pre style='background:#f4f4f4;padding:.5em'>{html.escape(code)}</pre>")
        parts += [] if value is None else [f"<div>{shown(value)}</div>"]
    return "\n".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(SCRIPT.read_text(encoding="utf-8")), encoding="utf-8")
