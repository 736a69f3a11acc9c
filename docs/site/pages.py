"""What the site needs beyond the pages as they stand: the order of pages, the API, and links that leave the docs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MARK = "<!-- the public names, each from its docstring -->"
PICTURE = re.compile(
    r'<picture><source media="\(prefers-color-scheme: dark\)" srcset="(?P<dark>[^"]+)">'
    r'<img src="(?P<light>[^"]+)"(?: width="(?P<width>[^"]+)")? alt="(?P<alt>[^"]+)"></picture>'
)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?!https?:|#|mailto:)[^)#\s]+)(#[^)]*)?\)")
ORDER = {
    "Start": ("installing", "how-it-works", "promises", "glossary", "coming-from"),
    "Do": (
        "studio",
        "messy-export",
        "cli",
        "columns",
        "hierarchies",
        "sources",
        "planning",
        "choosing",
        "utility",
        "queries",
        "report",
        "owner",
        "removal",
        "gates",
    ),
    "Reference": ("api", "parameters", "contract", "attacks", "versioning"),
    "Research": ("papers", "errata"),
    "Promises": "promises/*.md",
    "Methods": "methods/*.md",
    "Decisions": "adr/*.md",
}
TITLES = {"models": "Promises", "methods": "Methods", "data": "Columns, sources and hierarchies", "errors": "Errors"}


def setup(app: Any) -> dict[str, Any]:
    app.connect("source-read", read)
    app.connect("build-finished", copy_pictures)
    app.connect("autodoc-process-docstring", docstring)
    return {"parallel_read_safe": True}


def read(app: Any, name: str, source: list[str]) -> None:
    """A page as the site shows it."""
    text = source[0].replace(MARK, api()) if name == "api" else source[0]
    text = LINK.sub(lambda found: inside(found, name), text)
    text = PICTURE.sub(in_both_schemes, text)
    source[0] = text + contents() if name == "index" else text


def in_both_schemes(picture: re.Match[str]) -> str:
    """A picture in light and in dark as the theme's switch shows them, which a browser's own choice knows nothing of."""
    images = "".join(
        f'<img class="only-{scheme}" src="{picture[scheme]}" alt="{picture["alt"]}">' for scheme in ("light", "dark")
    )
    return f'<span class="picture" style="width: {picture["width"] or "100%"}">{images}</span>'


def copy_pictures(app: Any, failure: Exception | None) -> None:
    """Copy what Sphinx does not know of, because it stands in HTML, to where pages look for it."""
    if failure is None and app.builder.format == "html":
        shutil.copytree(
            DOCS / "pictures",
            Path(app.outdir) / "pictures",
            ignore=lambda folder, names: [name for name in names if not name.endswith(".webp")],
            dirs_exist_ok=True,
        )


def docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Our docstrings mark code as Markdown does, a bar in them is a bar, and a word may begin or end with code."""
    for at, line in enumerate(lines):
        parts = line.replace("``", "`").split("`")
        words = [part if code % 2 else part.replace("|", "\\|") for code, part in enumerate(parts)]
        for code in range(1, len(words) - 1, 2):
            before = words[code - 1]
            after = words[code + 1]
            words[code - 1] = f"{before}\\ " if before[-1:].isalnum() else before
            words[code + 1] = f"\\ {after}" if after[:1].isalnum() else after
        lines[at] = "``".join(words)


def inside(found: re.Match[str], name: str) -> str:
    """A link to a page of the docs as it is; one to a file of the repository as the file's name."""
    target = ((DOCS / name).parent / found[2]).resolve()
    if target.suffix == ".md" and target.is_relative_to(DOCS):
        return found[0]
    if target.is_relative_to(DOCS):
        return f'<a href="{found[2]}">{found[1]}</a>'
    return f"{found[1]} (`{target.relative_to(ROOT)}`)"


def contents() -> str:
    """The pages in order; one that no list names stands under Reference, so that none is lost."""
    listed = {
        title: [str(path.relative_to(DOCS).with_suffix("")) for path in sorted(DOCS.glob(pages))]
        if isinstance(pages, str)
        else list(pages)
        for title, pages in ORDER.items()
    }
    known = {"index", *(page for pages in listed.values() for page in pages)}
    listed["Reference"] += sorted({path.stem for path in DOCS.glob("*.md")} - known)
    trees = (
        f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(pages) + "\n```"
        for title, pages in listed.items()
    )
    return "\n\n" + "\n\n".join(trees) + "\n"


def api() -> str:
    """Each public name from its docstring, under the part of the package it comes from."""
    import reticent

    parts: dict[str, list[str]] = {}
    for name, module in reticent._PUBLIC.items():
        folder = module.split(".")[1] if "." in module else ""
        parts.setdefault(TITLES.get(folder, "Work"), []).append(directive(name, module, getattr(reticent, name)))
    return "\n\n".join(f"## {title}\n\n" + "\n\n".join(names) for title, names in parts.items())


def directive(name: str, module: str, thing: Any) -> str:
    kind = "autoclass" if isinstance(thing, type) else "autofunction" if callable(thing) else "autodata"
    if type(thing).__name__ == "module":
        kind = "automodule"
        name = ""
    return f"```{{eval-rst}}\n.. {kind}:: {module}{'.' if name else ''}{name}\n```"
