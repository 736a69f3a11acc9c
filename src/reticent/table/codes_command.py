"""The command that makes a hierarchy of the beginnings of a column's codes, as a shell takes it."""

from __future__ import annotations

import re
from shlex import quote

from reticent.table.source import Source


def codes_command(column: str, source: Source | None = None) -> str:
    """With the options by which this source is read; without one, DATA stands for it."""
    return (
        f"reticent hierarchy --data {as_read(source)} --column {quote(column)} --build prefixes -o {codes_file(column)}"
    )


def codes_file(column: str) -> str:
    """A name that every shell and job takes as it is."""
    return f"{re.sub(r'[^0-9A-Za-z_]+', '-', column).strip('-') or 'codes'}.csv"


def as_read(source: Source | None) -> str:
    if source is None or source.path is None:
        return "DATA"
    said = [quote(str(source.path))]
    if source.delimiter is not None:
        said.append(f"--delimiter {quote(source.delimiter)}")
    if source.encoding != "utf-8":
        said.append(f"--encoding {quote(source.encoding)}")
    return " ".join([*said, *(f"--missing {quote(mark)}" for mark in source.missing)])
