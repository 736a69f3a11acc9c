"""Drafts a first job file for a table: guessed types, a proposed role for every column with the reason, risky columns named.

`draft_job` reads the rows (a sample of a large table), guesses what each column is (`column_guesses`), and makes a
`ColumnProposal` for each: its role and the reason, what is risky about it, and what else a steward would declare.
`Draft.to_toml` writes the commented job file.

A draft shows column names and counts and never a value, except texts and codes that files use for "missing", and
spellings of few categories that look like one value (`map`): it is passed around before anybody has thought about roles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import wrap
from typing import Any, cast

import polars as pl

from reticent.catalogue.job_fields import SOURCE_FIELDS
from reticent.data import source as sources
from reticent.data.broken_lines import BrokenLines, describe_set_aside
from reticent.data.columns import Role, has_types
from reticent.data.csv import require_header
from reticent.data.hierarchy_proposal import (
    choose_round_width,
    format_hierarchy_command,
    name_hierarchy_file,
    propose_builder,
)
from reticent.data.rare_values import MAX_RARE_ROWS
from reticent.data.source import Source
from reticent.errors import SourceError, pluralize
from reticent.job import job
from reticent.job.column_guesses import (
    KNOWN_NULL_VALUES,
    ColumnGuess,
    guess_column,
    is_identifier_name,
    is_person_number,
    parse_values,
)
from reticent.job.evidence import DraftEvidence, collect_evidence
from reticent.job.preset import Preset

NEAR_UNIQUE_SHARE = 0.9
OFTEN_UNIQUE_SHARE = 0.25
MIN_ROWS_FOR_UNIQUENESS = 20
MANY_VALUES = 50
MAX_ROWS_PER_PERSON = 100  # rows of one person; an identifier that repeats more often names something else
_PRIVATE_NAME = re.compile(
    r"disease|diagnos|illness|icd|condition|symptom|treat|drug|medic|hiv|cancer|disab|salar|income|wage|earning|debt|credit|"
    r"relig|faith|politic|party|vote|orientation|crime|offen[cs]e|convict|verdict|grade|score|result|occupation|cause",
    re.IGNORECASE,
)
_PLACE_OR_BIRTH_NAME = re.compile(
    r"zip|post(al)?_?code|birth|dob|lat(itude)?$|lon(gitude)?$|geo|county|district", re.IGNORECASE
)
_WEIGHT_NAME = re.compile(
    r"^(?!.*(kg|lbs?|pounds?|grams?)$)(|.*_)(weight|wgt|wt|pweight|fnlwgt)(_|$)|fnlwgt", re.IGNORECASE
)
MAX_ROWS = 1_000_000  # rows that are looked at
BATCH_ROWS = 200_000
MAX_LINE_LETTERS = 120  # of a line that is not one value
SCHEMA_FILE = "job.schema.json"
UNEXAMINED_PROPERTIES = (
    "which columns together single people out (`reticent check` measures that), whether values are right, "
    "names inside other texts, and other tables that hold the same people"
)
_TAIL_LINES = [
    "", "[method]", 'name = "mondrian"', "", "[release]",
    'undeclared = "refuse"  # or "drop"', 'format = "parquet"     # or "csv"', "",
]  # fmt: skip


_ABOUT_LINES = [
    "# What recipients should know of the release; each line is published as it is written, so name no person of the data.",
    "# [about]",
    '# title = "..."',
    '# publisher = "..."',
    '# period = "..."',
    '# contact = "..."',
    '# licence = "..."',
    '# citation = "..."',
    '# purpose = "..."',
    '# recipients = ["..."]',
    '# earlier = ["..."]  # earlier releases of the same people that recipients may know of',
    "",
]


@dataclass(frozen=True, slots=True)
class ColumnProposal:
    """Proposal for one column.

    It has counts, the type to declare (None: decided from the data), the role and the reason, what is risky about the
    column, what else is `declared` of it, and for a quasi-identifier the hierarchy that `suits` it (empty: none does).
    """

    name: str
    distinct: int
    missing: int
    type: str | None
    role: Role
    why: str
    risk: str = ""
    hierarchy: Mapping[str, Any] = field(default_factory=dict)
    suits: str = ""
    declared: Mapping[str, Any] = field(default_factory=dict)


def propose_columns(guesses: Sequence[ColumnGuess], rows: int) -> tuple[ColumnProposal, ...]:
    proposals = [_propose_column(guess, rows) for guess in guesses]
    person_index = _find_person_column(guesses, proposals)
    if person_index is not None:
        rows_per_person = guesses[person_index].most
        proposals[person_index] = replace(
            proposals[person_index],
            declared={**proposals[person_index].declared, "rows_per_person": rows_per_person},
            why=f"{proposals[person_index].why}; one has up to {rows_per_person} rows, so that k-anonymity counts persons",
        )
    return tuple(proposals)


@dataclass(frozen=True, slots=True)
class Draft:
    """A drafted job file.  `guessed_encoding`: the file is not UTF-8, and was read in the encoding of `source`."""

    source: Source
    rows: int
    marks: tuple[str, ...]
    columns: tuple[ColumnProposal, ...]
    guessed_encoding: bool = False
    codes: tuple[str, ...] = ()  # numbers that look like "missing", and are no value of any other column
    shared: tuple[str, ...] = ()  # columns with such numbers that another column holds as values
    looked_at: int | None = None  # rows, where only a part of them was looked at
    set_aside: tuple[str, ...] = ()  # sentences about broken lines that were not looked at
    guesses: tuple[ColumnGuess, ...] = ()  # from which columns were proposed
    evidence: DraftEvidence | None = None  # where it was asked for
    preset: Preset | None = None  # what a plugin proposes to promise, where it was named

    def to_toml(self) -> str:
        """Write the job file, with comments."""
        return "\n".join(
            [
                *self._head_lines(),
                *self._source(),
                *self._columns(),
                *(self._promise_lines() if self.preset is None else self.preset.format_lines()),
                *(_TAIL_LINES if self.preset is None else ()),
                *_ABOUT_LINES,
            ]
        )

    @property
    def sampled(self) -> str:
        """A sentence about the sample that the draft was made from; empty if all rows were read."""
        if self.looked_at is None:
            return ""
        return (
            f"Only {self.looked_at:,} of the {self.rows:,} rows were looked at, evenly spread: counts of values, missing ones and "
            "texts for missing are of these, and rarer ones may occur. How many rows a person has is that of some persons with all of "
            "their rows: `reticent check` counts everybody."
        )

    def _head_lines(self) -> list[str]:
        lines = [
            f"#:schema ./{SCHEMA_FILE}",
            f"# An editor checks this file by that one; `reticent schema -o {SCHEMA_FILE}` writes it.",
            "#",
            f"# A draft for {self.rows:,} rows: types are guessed, roles are proposals.  Confirm every line marked CONFIRM;",
            "# nothing is published that you did not declare.",
            *(f"# {line}" for line in wrap(self.sampled, 110)),
            *(f"# {line}" for line in wrap(f"Not looked at: {UNEXAMINED_PROPERTIES}.", 110)),
        ]
        risky = [column for column in self.columns if column.risk]
        if risky:
            lines += [
                "#",
                "# Risky columns:",
                *(
                    line
                    for column in risky
                    for line in _wrap_comment(f"{job.format_toml_key(column.name)}: {column.risk}")
                ),
            ]
        return lines

    def _source(self) -> list[str]:
        lines = ["", "[source]"]
        for name in ("path", "url", "table", "query", "delimiter", "quote", "encoding", "empty"):
            value = getattr(self.source, name)
            if value is not None and value != SOURCE_FIELDS[name].default:
                guessed = name == "encoding" and self.guessed_encoding
                lines.append(
                    f"{name} = {job.format_toml_value(value)}"
                    + ("  # CONFIRM: the file is not UTF-8" if guessed else "")
                )
        lines += self._broken_lines()
        marks = dict.fromkeys((*(self.source.missing or self.marks), *self.codes))
        value = job.format_toml_value(list(marks))
        if self.source.missing and not self.codes:
            lines.append(f"missing = {value}")
        elif marks:
            lines.append(f"missing = {value}  # CONFIRM: these occur and usually mean missing")
        else:
            lines.append('# missing = ["?"]  # texts that mean missing, beside the empty field')
        for name in self.shared:
            lines += _wrap_comment(
                f"{job.format_toml_key(name)} holds numbers that look like codes for missing, and another column holds the same as "
                "values: `missing` speaks of all columns, so write them as an empty field in that column."
            )
        return lines

    def _broken_lines(self) -> list[str]:
        """Write what becomes of broken lines, with their number."""
        if self.source.broken == "refuse":
            return []
        comments = [comment for sentence in self.set_aside for comment in _wrap_comment(f"CONFIRM: {sentence}")]
        return [f"broken = {job.format_toml_value(self.source.broken)}", *comments]

    def _columns(self) -> list[str]:
        declared = [
            f"{job.format_toml_key(column.name)} = {job.format_toml_value(_make_declaration(column))}"
            for column in self.columns
        ]
        return [
            "",
            "[columns]  # identifying (never published), quasi-identifying, sensitive, insensitive (published as it is)",
            *(
                text
                for line, column in zip(declared, self.columns, strict=True)
                for text in (line, *_wrap_comment(f"CONFIRM: {column.why}"), *self._hierarchy_lines(column))
            ),
            '# a column can also have:  hierarchy = "file.csv"   order = ["low", "high"]   missing = "category"',
        ]

    def _hierarchy_lines(self, column: ColumnProposal) -> list[str]:
        """Write the hierarchy that suits a quasi-identifier, to be moved into its line; for a sensitive code, how to make one."""
        if column.role is Role.SENSITIVE and column.hierarchy:
            source = replace(self.source, missing=self.source.missing or self.marks)
            return [
                "#   These codes share beginnings. To protect families of them, make a hierarchy:",
                f"#     {format_hierarchy_command(column.name, source)}",
                f'#   Then say hierarchy = "{name_hierarchy_file(column.name)}" here, and promise semantic-beta-likeness below.',
                "#   It lists the codes that occur. perturbed-generalization needs the whole classification instead.",
            ]
        if not column.suits:
            return []
        declaration = f"hierarchy = {job.format_toml_value(column.hierarchy)}" if column.hierarchy else "no hierarchy"
        return _wrap_comment(f"{declaration}: {column.suits}")

    def _promise_lines(self) -> list[str]:
        sensitive = [column.name for column in self.columns if column.role is Role.SENSITIVE]
        lines = ["", "[[promise]]  # every row reads like at least k - 1 others", 'model = "k-anonymity"', "k = 5"]
        for name in sensitive:
            lines += [
                "",
                "[[promise]]  # no group lifts a value's frequency by more than beta, relatively",
                'model = "beta-likeness"',
                "beta = 4",
            ]
            if len(sensitive) > 1:
                lines.append(f"column = {job.format_toml_value(name)}")
        if not sensitive:
            lines += [
                "",
                "# No column looks sensitive.  Declare the one to protect, and promise something about it:",
                "# [[promise]]",
                '# model = "beta-likeness"',
                "# beta = 4",
            ]
        return lines


def draft_job(
    source: Source,
    max_rows: int = MAX_ROWS,
    batch_rows: int = BATCH_ROWS,
    *,
    evidence: bool = False,
    preset: str | None = None,
) -> Draft:
    """Draft a job from counts of every column.  A file that is not UTF-8, without a declared encoding, is read as latin-1.

    Of more than `max_rows` rows that many, evenly spread, are read; the draft notes it.  With `evidence` the draft has the
    distributions of columns, and whom those single out that are proposed to describe people. `preset` names a plugin's,
    which stands in the draft instead of promises that are proposed.
    """
    loaded_preset = None if preset is None else Preset.load(preset)
    source = replace(source, broken="set-aside")
    try:
        rows_read = _read_rows(source, max_rows, batch_rows)
        guessed = False
    except SourceError as error:
        if source.encoding != "utf-8" or "not utf-8" not in error.what.lower():
            raise
        source = replace(source, encoding="latin-1")
        guessed = True
        rows_read = _read_rows(source, max_rows, batch_rows)
    if not rows_read.rows:
        raise SourceError("The source has a header and no rows.", attempt="a file with rows.")
    typed = has_types(source)
    guesses = [guess_column(column, typed=typed) for column in rows_read.frame]
    guesses = [replace(guess, most=max(guess.most, rows_read.repeats.get(guess.name, 0))) for guess in guesses]
    marks = tuple(mark for mark in KNOWN_NULL_VALUES if any(mark in guess.marks for guess in guesses))
    shared = [guess.name for guess in guesses if guess.codes and _has_shared_code(guess, guesses)]
    guesses = [_keep_codes(guess) if guess.name in shared else guess for guess in guesses]
    rows_looked_at = len(rows_read.frame)
    sampled = rows_looked_at if rows_looked_at < rows_read.rows else None
    columns = propose_columns(guesses, rows_looked_at)
    published = [guess for guess, column in zip(guesses, columns, strict=True) if column.role is not Role.IDENTIFYING]
    codes = tuple(dict.fromkeys(code for guess in published for code in guess.codes))
    set_aside = tuple(describe_set_aside(rows_read.broken, "whoever stands there was not looked at"))
    source = source if set_aside else replace(source, broken="refuse")
    collected = None
    if evidence:
        quasi = [column.name for column in columns if column.role is Role.QUASI]
        person = next((column.name for column in columns if "rows_per_person" in column.declared), None)
        collected = collect_evidence(rows_read.frame, guesses, quasi, person)
    return Draft(
        source,
        rows_read.rows,
        marks,
        columns,
        guessed,
        codes,
        tuple(shared),
        sampled,
        set_aside,
        tuple(guesses),
        collected,
        loaded_preset,
    )


@dataclass(frozen=True, eq=False)
class DraftRows:
    """The rows to look at, the number of rows of the source, and for columns that number persons the most rows of one person.

    `broken` are lines that were not looked at.
    """

    frame: pl.DataFrame
    rows: int
    repeats: Mapping[str, int] = field(default_factory=dict)
    broken: tuple[BrokenLines, ...] = ()


def _propose_column(guess: ColumnGuess, rows: int) -> ColumnProposal:
    counts = f"{guess.distinct:,} distinct values in {rows:,} rows"
    if guess.distinct + bool(guess.missing) <= 1:
        return _make_proposal(guess, Role.INSENSITIVE, "it says the same of everybody")
    if is_identifier_name(guess.name):
        named = "its name is that of an identifier"
        return _make_proposal(guess, Role.IDENTIFYING, f"{named} ({counts})", named)
    if guess.type == "numeric" and _WEIGHT_NAME.search(guess.name):
        return _propose_weight(guess, counts)
    if rows >= MIN_ROWS_FOR_UNIQUENESS and guess.distinct >= NEAR_UNIQUE_SHARE * (rows - guess.missing):
        free = ", free text" if guess.free else ""
        return _make_proposal(guess, Role.IDENTIFYING, f"near-unique: {counts}", f"near-unique{free}: {counts}")
    if guess.free:
        reason = f"free text, which may hold names ({counts})"
        return _make_proposal(guess, Role.IDENTIFYING, reason, reason)
    if _PRIVATE_NAME.search(guess.name):
        return _propose_private(guess, counts)
    built, suits = propose_builder(parse_values(guess), guess.name)
    quasi = _make_proposal(
        guess, Role.QUASI, f"an adversary may know it ({counts})", _describe_risk(guess, rows, counts)
    )
    code = built.get("build") == "prefixes" and guess.type is None and "by its name" in suits
    moved = {**quasi.declared, "hierarchy": built} if code else quasi.declared
    return replace(
        quasi,
        declared=moved,
        hierarchy={} if code else built,
        suits="" if code else suits,
        why=f"{quasi.why}; {suits}" if code else quasi.why,
    )


def _find_person_column(guesses: Sequence[ColumnGuess], proposals: Sequence[ColumnProposal]) -> int | None:
    """Find the identifier that numbers persons: of those that repeat as persons do, the one with most values."""
    candidates = [
        index
        for index, (guess, proposal) in enumerate(zip(guesses, proposals, strict=True))
        if proposal.role is Role.IDENTIFYING
        and is_person_number(guess.name)
        and not guess.missing
        and 1 < guess.most <= MAX_ROWS_PER_PERSON
    ]
    return max(candidates, key=lambda index: guesses[index].distinct, default=None)


def _wrap_comment(text: str) -> list[str]:
    return [f"#   {line}" for line in wrap(text, MAX_LINE_LETTERS - 4, break_long_words=False, break_on_hyphens=False)]


def _make_declaration(column: ColumnProposal) -> dict[str, Any]:
    return {"role": column.role.value, **column.declared}


def _read_rows(source: Source, max_rows: int, batch_rows: int) -> DraftRows:
    scan = sources.open_source(source, by_pieces=True)
    require_header(scan.names, scan.rows)
    rows = int(sources.collect_frame(scan.rows.select(pl.len()), "Counting the rows", "streaming").item())
    if rows > max_rows:
        return replace(_read_sample(scan.rows, rows, max_rows, batch_rows), broken=scan.broken)
    sources.require_source_fits_memory(source)
    frame = sources.collect_frame(scan.rows, "Reading the table")
    return DraftRows(frame, len(frame), broken=scan.broken)


def _has_shared_code(column: ColumnGuess, guesses: Sequence[ColumnGuess]) -> bool:
    """Tell whether a code of a column is a value of another column, which `missing` would remove."""
    others = (guess.values.cast(pl.String) for guess in guesses if guess is not column)
    return any(bool(values.is_in(list(column.codes)).any()) for values in others)


def _keep_codes(column: ColumnGuess) -> ColumnGuess:
    """Return the column with its codes as values, because a job cannot declare them missing in one column alone."""
    return replace(
        column,
        codes=(),
        code_rows=0,
        missing=column.missing - column.code_rows,
        far_rows=column.far_rows + column.code_rows,
    )


def _make_proposal(guess: ColumnGuess, role: Role, why: str, risk: str = "") -> ColumnProposal:
    declared: dict[str, Any] = {}
    if guess.type is not None and role is Role.QUASI:
        declared["type"] = guess.type
    if guess.format is not None and not guess.unparsed_count and role is not Role.IDENTIFYING:
        declared["format"] = guess.format
        declared.pop("type", None)
        if guess.rates:
            declared["rates"] = dict(guess.rates)
    if guess.spellings and role is not Role.IDENTIFYING:
        declared["map"] = dict(guess.spellings)
    if guess.missing:
        why += f"; {guess.missing:,} missing"
    if guess.reading and role is not Role.IDENTIFYING:
        why += f"; {guess.reading}"
    return ColumnProposal(
        guess.name,
        guess.distinct,
        guess.missing,
        guess.type,
        role,
        why + _describe_misfit(guess),
        risk,
        declared=declared,
    )


def _propose_weight(guess: ColumnGuess, counts: str) -> ColumnProposal:
    """Propose a role for a survey weight: each row needs it, and an exact one identifies the row."""
    numbers = parse_values(guess).cast(pl.Float64, strict=False).drop_nulls()
    step = choose_round_width(numbers, 20)
    proposal = _make_proposal(guess, Role.INSENSITIVE, f"a weight, rounded so that it singles nobody out ({counts})")
    risk = f"a survey's weight is carried, rounded to {step}; the weight of a body is quasi-identifying"
    return replace(proposal, risk=risk, declared={**proposal.declared, "round_to": step})


def _propose_private(guess: ColumnGuess, counts: str) -> ColumnProposal:
    proposal = _make_proposal(guess, Role.SENSITIVE, f"its name is that of something private ({counts})")
    if guess.missing:
        proposal = replace(
            proposal,
            declared={**proposal.declared, "missing": "category"},
            why=f'{proposal.why}, published as a category of their own; missing = "refuse" stops instead',
        )
    if guess.type is None and guess.row_counts is not None:
        is_rare = guess.row_counts <= MAX_RARE_ROWS
        if is_rare.any():
            rare = pluralize(int(is_rare.sum()), "value", "has", "have")
            held = f"{rare} at most {MAX_RARE_ROWS} rows ({int(guess.row_counts.filter(is_rare).sum()):,} in all)"
            proposal = replace(proposal, why=f"{proposal.why}; {held}, and `reticent check --show-values` names them")
    built, _ = propose_builder(guess.values, f"code {guess.name}") if guess.type is None else ({}, "")
    return replace(proposal, hierarchy=built) if built.get("build") == "prefixes" else proposal


def _describe_risk(guess: ColumnGuess, rows: int, counts: str) -> str:
    """Explain why a quasi-identifier deserves a second look."""
    if _PLACE_OR_BIRTH_NAME.search(guess.name):
        return "a place or a birth date singles people out together with little else"
    if rows >= MIN_ROWS_FOR_UNIQUENESS and guess.distinct >= OFTEN_UNIQUE_SHARE * rows:
        return f"many people have a value of their own ({counts})"
    unordered = guess.distinct > MANY_VALUES and guess.type is None
    return f"many values and no order ({counts}): a hierarchy would lose less" if unordered else ""


def _read_sample(lazy: pl.LazyFrame, rows: int, max_rows: int, batch_rows: int) -> DraftRows:
    """Read one row in `step`, evenly spread, and for columns that number persons all rows of one person in as many."""
    step = -(-rows // max_rows)
    persons = [name for name in lazy.collect_schema().names() if is_person_number(name)]
    samples: list[pl.DataFrame] = []
    numbers: dict[str, list[pl.Series]] = {name: [] for name in persons}
    before = 0
    for batch in sources.iterate_batches(lazy, "Reading the table", batch_rows):
        samples.append(batch.gather_every(step, offset=-before % step))
        before += len(batch)
        for name in persons:
            numbers[name].append(batch[name].filter(batch[name].hash(0) % step == 0))
    repeats = {name: _count_most_frequent(pl.concat(parts)) for name, parts in numbers.items()}
    return DraftRows(pl.concat(samples), rows, repeats)


def _describe_misfit(guess: ColumnGuess) -> str:
    """Describe values that the best format does not read, another format that fits as well, and numbers far from the others."""
    if guess.codes:
        rows = pluralize(guess.code_rows, "row", "holds", "hold")
        return f"; {rows} a number that files use for missing: see `missing` above, bands are proposed without it"
    if guess.far_rows:
        rows = pluralize(guess.far_rows, "row", "holds", "hold")
        return (
            f"; {rows} a number several ranges away from all others: a code for missing, or `top` and `bottom` bound it"
        )
    if guess.unparsed_count:
        formats = guess.format if isinstance(guess.format, str) else " and ".join(guess.format or ())
        verb = "reads" if isinstance(guess.format, str) else "read"
        declaration = job.format_toml_value(guess.format)
        return f"; {formats} {verb} all but {guess.unparsed_count:,} of its distinct values: mend them, then format = {declaration}"
    return f'; every value reads as "{guess.other}" too' if guess.other else ""


def _count_most_frequent(numbers: pl.Series) -> int:
    """Count the rows of the most frequent number."""
    counted = numbers.drop_nulls().value_counts(name="\x00rows")
    return cast("int", counted["\x00rows"].max() or 0) if len(counted) else 0
