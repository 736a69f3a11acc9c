"""A first job file for a table: guessed types, a proposed role for every column with the reason, risky columns named.

It shows column names and counts and never a value, but texts and codes that files use for "missing": a draft is passed around
before anybody has thought about roles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import wrap
from typing import Any, cast

import polars as pl

from reticent import toml
from reticent.draft.looks import MARKS, Look, look
from reticent.draft.names import numbers_person
from reticent.draft.proposals import Proposal, proposals
from reticent.errors import SourceError
from reticent.table import source as sources
from reticent.table.codes_command import codes_command, codes_file
from reticent.table.header import refuse_record
from reticent.table.roles import Role
from reticent.table.source import Source
from reticent.table.source_types import has_types

MAX_ROWS = 1_000_000  # rows that are looked at
BATCH_ROWS = 200_000
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
    codes: tuple[str, ...] = ()  # numbers that look like "missing", and are no value of any other column
    shared: tuple[str, ...] = ()  # columns with such numbers that another column holds as values
    looked_at: int | None = None  # rows, where only a part of them was looked at

    def to_toml(self) -> str:
        """The job file, commented."""
        return "\n".join([*self._head(), *self._source(), *self._columns(), *self._promises(), *_TAIL])

    @property
    def sampled(self) -> str:
        """What a draft from a part of the rows says of itself; empty where all were looked at."""
        if self.looked_at is None:
            return ""
        return (
            f"Only {self.looked_at:,} of the {self.rows:,} rows were looked at, evenly spread: counts of values, missing ones and "
            "texts for missing are of these, and rarer ones may occur. How many rows a person has is that of some persons with all of "
            "their rows: `reticent check` counts everybody."
        )

    def _head(self) -> list[str]:
        lines = [
            f"# A draft for {self.rows:,} rows: types are guessed, roles are proposals.  Confirm every line marked CONFIRM;",
            "# nothing is published that you did not declare.",
            *(f"# {line}" for line in wrap(self.sampled, 110)),
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
        marks = dict.fromkeys((*(self.source.missing or self.marks), *self.codes))
        given = toml.value_text(list(marks))
        if self.source.missing and not self.codes:
            lines.append(f"missing = {given}")
        elif marks:
            lines.append(f"missing = {given}  # CONFIRM: these occur and usually mean missing")
        else:
            lines.append('# missing = ["?"]  # texts that mean missing, beside the empty field')
        for name in self.shared:
            lines += _wrapped(
                f"{toml.key_text(name)} holds numbers that look like codes for missing, and another column holds the same as "
                "values: `missing` speaks of all columns, so write them as an empty field in that column."
            )
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
                "#   It lists the codes that occur. perturbed-generalization needs the whole classification instead.",
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
    """Look at every column once, by counts.  A file that is not UTF-8, and of which nothing else is said, is read as latin-1.

    Of more than MAX_ROWS rows that many, evenly spread, are looked at; the draft says so.
    """
    try:
        rows_read = _read(source)
        guessed = False
    except SourceError as error:
        if source.encoding != "utf-8" or "not UTF-8" not in error.what:
            raise
        source, guessed = replace(source, encoding="latin-1"), True
        rows_read = _read(source)
    if not rows_read.rows:
        raise SourceError("The source has a header and no rows.", attempt="a file with rows.")
    typed = has_types(source)
    looks = [look(column, typed=typed) for column in rows_read.frame]
    looks = [replace(one, most=max(one.most, rows_read.repeats.get(one.name, 0))) for one in looks]
    marks = tuple(mark for mark in MARKS if any(mark in one.marks for one in looks))
    shared = [one.name for one in looks if one.codes and _is_shared(one, looks)]
    looks = [_kept_codes(one) if one.name in shared else one for one in looks]
    looked_at = len(rows_read.frame)
    sampled = looked_at if looked_at < rows_read.rows else None
    columns = proposals(looks, looked_at)
    published = [one for one, column in zip(looks, columns, strict=True) if column.role is not Role.IDENTIFYING]
    codes = tuple(dict.fromkeys(code for one in published for code in one.codes))
    return Draft(source, rows_read.rows, marks, columns, guessed, codes, tuple(shared), sampled)


def _is_shared(column: Look, looks: Sequence[Look]) -> bool:
    """Whether a code of a column is a value of another one, which `missing` would take away."""
    others = (one.values.cast(pl.String) for one in looks if one is not column)
    return any(bool(values.is_in(list(column.codes)).any()) for values in others)


def _kept_codes(column: Look) -> Look:
    """The same column where its codes stay values, because a job cannot declare them missing here alone."""
    return replace(
        column, codes=(), code_rows=0, missing=column.missing - column.code_rows, far=column.far + column.code_rows
    )


@dataclass(frozen=True, eq=False)
class RowsRead:
    """The rows to look at, how many the source has, and of columns that number persons the most rows that one has."""

    frame: pl.DataFrame
    rows: int
    repeats: Mapping[str, int] = field(default_factory=dict)


def _read(source: Source) -> RowsRead:
    lazy = sources.scan(source, by_pieces=True)
    refuse_record(sources.columns(source), lazy)
    rows = int(sources.collect(lazy.select(pl.len()), "Counting the rows", "streaming").item())
    if rows > MAX_ROWS:
        return _read_some(lazy, rows)
    frame = sources.collect(sources.scan(source), "Reading the table")
    return RowsRead(frame, len(frame))


def _read_some(lazy: pl.LazyFrame, rows: int) -> RowsRead:
    """One row in `step`, evenly spread, and of columns that number persons all rows of one person in as many."""
    step = -(-rows // MAX_ROWS)
    persons = [name for name in lazy.collect_schema().names() if numbers_person(name)]
    kept: list[pl.DataFrame] = []
    numbers: dict[str, list[pl.Series]] = {name: [] for name in persons}
    before = 0
    for batch in sources.batches(lazy, "Reading the table", BATCH_ROWS):
        kept.append(batch.gather_every(step, offset=-before % step))
        before += len(batch)
        for name in persons:
            numbers[name].append(batch[name].filter(batch[name].hash(0) % step == 0))
    repeats = {name: _count_most(pl.concat(parts)) for name, parts in numbers.items()}
    return RowsRead(pl.concat(kept), rows, repeats)


def _count_most(numbers: pl.Series) -> int:
    """How many rows the most frequent number has."""
    counted = numbers.drop_nulls().value_counts(name="\x00rows")
    return cast("int", counted["\x00rows"].max() or 0) if len(counted) else 0


def _wrapped(said: str) -> list[str]:
    return [f"#   {line}" for line in wrap(said, WIDEST - 4, break_long_words=False, break_on_hyphens=False)]


def _declared(column: Proposal) -> dict[str, Any]:
    return {"role": column.role.value, **column.declared}
