"""A first job file for a table: guessed types, a proposed role for every column with the reason, risky columns named.

It shows column names and counts and never a value: a draft is passed around before anybody has thought about roles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

import polars as pl

from reticent import toml
from reticent.draft.looks import MARKS, look
from reticent.draft.proposals import Proposal, proposals
from reticent.errors import SourceError
from reticent.table import source as sources
from reticent.table.codes_command import codes_command, codes_file
from reticent.table.header import refuse_record
from reticent.table.roles import Role
from reticent.table.source import Source

WIDEST = 120  # of a line that is not one value
NOT_LOOKED_AT = (
    "which columns together single people out (`reticent check` measures that), whether values are right, "
    "names inside other texts, and other tables that hold the same people"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """`guessed_encoding`: the file is not UTF-8, and was read as what `source` says."""

    source: Source
    rows: int
    marks: tuple[str, ...]
    columns: tuple[Proposal, ...]
    guessed_encoding: bool = False

    def to_toml(self) -> str:
        """The job file, commented."""
        return "\n".join([*self._head(), *self._source(), *self._columns(), *self._promises(), *_TAIL])

    def _head(self) -> list[str]:
        lines = [
            f"# A draft for {self.rows:,} rows: types are guessed, roles are proposals.  Confirm every line marked CONFIRM;",
            "# nothing is published that you did not declare.",
            *(f"# {line}" for line in wrap(f"Not looked at: {NOT_LOOKED_AT}.", 110)),
        ]
        risky = [column for column in self.columns if column.risk]
        if risky:
            lines += [
                "#",
                "# Risky columns:",
                *(line for c in risky for line in _wrapped(f"{toml.key_text(c.name)}: {c.risk}")),
            ]
        return lines

    def _source(self) -> list[str]:
        lines = ["", "[source]"]
        for name in ("path", "delimiter", "encoding"):
            given = getattr(self.source, name)
            if given is not None and given != ("utf-8" if name == "encoding" else None):
                guessed = name == "encoding" and self.guessed_encoding
                lines.append(
                    f"{name} = {toml.value_text(given)}" + ("  # CONFIRM: the file is not UTF-8" if guessed else "")
                )
        given = toml.value_text(list(self.source.missing or self.marks))
        if self.source.missing:
            lines.append(f"missing = {given}")
        elif self.marks:
            lines.append(f"missing = {given}  # CONFIRM: these texts occur and usually mean missing")
        else:
            lines.append('# missing = ["?"]  # texts that mean missing, beside the empty field')
        return lines

    def _columns(self) -> list[str]:
        declared = [f"{toml.key_text(column.name)} = {toml.value_text(_declared(column))}" for column in self.columns]
        return [
            "",
            "[columns]  # identifying (never published), quasi-identifying, sensitive, insensitive (published as it is)",
            *(text for line, column in zip(declared, self.columns, strict=True)
              for text in (line, *_wrapped(f"CONFIRM: {column.why}"), *self._hierarchy_lines(column))),
            "# a column can also have:  hierarchy = \"file.csv\"   order = [\"low\", \"high\"]   missing = \"category\"",
        ]  # fmt: skip

    def _hierarchy_lines(self, column: Proposal) -> list[str]:
        """The hierarchy that suits a quasi-identifier, to be moved up into its line; of a sensitive code how to make one."""
        if column.role is Role.SENSITIVE and column.hierarchy:
            read = replace(self.source, missing=self.source.missing or self.marks)
            return [
                "#   These codes share beginnings. To protect families of them, make a hierarchy:",
                f"#     {codes_command(column.name, read)}",
                f'#   Then say hierarchy = "{codes_file(column.name)}" here, and promise semantic-beta-likeness below.',
            ]
        if not column.suits:
            return []
        asked = f"hierarchy = {toml.value_text(column.hierarchy)}" if column.hierarchy else "no hierarchy"
        return _wrapped(f"{asked}: {column.suits}")

    def _promises(self) -> list[str]:
        sensitive = [column.name for column in self.columns if column.role is Role.SENSITIVE]
        lines = ["", "[[promise]]  # every row reads like at least k - 1 others", 'model = "k-anonymity"', "k = 5"]
        for name in sensitive:
            lines += ["", "[[promise]]  # no group lifts a value's frequency by more than beta, relatively",
                      'model = "beta-likeness"', "beta = 4"]  # fmt: skip
            if len(sensitive) > 1:
                lines.append(f"column = {toml.value_text(name)}")
        if not sensitive:
            lines += ["", "# No column looks sensitive.  Declare the one to protect, and promise something about it:",
                      "# [[promise]]", '# model = "beta-likeness"', "# beta = 4"]  # fmt: skip
        return lines


_TAIL = [
    "", "[method]", 'name = "mondrian"', "", "[release]",
    'undeclared = "refuse"  # or "drop"', 'format = "parquet"     # or "csv"', "",
]  # fmt: skip


def draft(source: Source) -> Draft:
    """Look at every column once, by counts.  A file that is not UTF-8, and of which nothing else is said, is read as latin-1."""
    try:
        frame = _read(source)
        guessed = False
    except SourceError as error:
        if source.encoding != "utf-8" or "not UTF-8" not in error.what:
            raise
        source, guessed = replace(source, encoding="latin-1"), True
        frame = _read(source)
    rows = len(frame)
    if not rows:
        raise SourceError("The source has a header and no rows.", attempt="a file with rows.")
    looks = [look(column) for column in frame]
    marks = tuple(mark for mark in MARKS if any(mark in one.marks for one in looks))
    return Draft(source, rows, marks, proposals(looks, rows), guessed)


def _read(source: Source) -> pl.DataFrame:
    lazy = sources.scan(source)
    refuse_record(sources.columns(source), lazy)
    return sources.collect(lazy, "Reading the table")


def _wrapped(said: str) -> list[str]:
    return [f"#   {line}" for line in wrap(said, WIDEST - 4, break_long_words=False, break_on_hyphens=False)]


def _declared(column: Proposal) -> dict[str, Any]:
    return {"role": column.role.value, **column.declared}
