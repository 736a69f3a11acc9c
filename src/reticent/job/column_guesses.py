"""Guesses what a column is from counts: distinct and missing values, numbers, dates and their format, codes, free text.

`guess_column` looks at the values; `is_identifier_name` looks at the name: does it name, number or reach one person? A
name is read as words, and the last word of a compound decides: `patient_age` is an age, `home_phone` a phone. A `name`
belongs to the word before it: `patient_name` is a person's, `drug_name` is not. If that word is unknown, a person is
assumed: one column too many that is not published costs less than one too few.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import polars as pl

from reticent.data import source as sources
from reticent.data.columns import Column
from reticent.data.odd_values import find_far_values
from reticent.data.text_formats import build_parse_expression
from reticent.job.reading_guesses import describe_spellings, guess_amounts, guess_date_formats, guess_spellings

KNOWN_NULL_VALUES = (
    "?", "NA", "N/A", "na", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "none", "-", ".",
    "unknown", "Unknown", "UNKNOWN", "missing", "Missing", "not known", "unk", "Unk", "UNK",
)  # fmt: skip
"""What files use for "missing"."""
DATE_FORMATS = (
    "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d %b %Y", "%d-%b-%Y", "%d %B %Y",
    "%b %d, %Y", "%B %d, %Y", "%m/%d/%y", "%d.%m.%y", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%m/%d/%Y %I:%M %p",
    "%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%Y-%m-%d %H:%M:%S%z",
)  # fmt: skip
"""Formats that are recognised, the likelier first; ISO dates and times need none."""
NUMBER_PATTERN = r"^\s*[+-]?\d+(\.\d+)?\s*$"
_PADDED_PATTERN = r"^0\d"
_AMOUNT_PATTERN = r"[$€£¥,.]"
_MIN_FITTING_SHARE = 0.9  # of the distinct values must fit a format that is proposed
_MIN_FREE_TEXT_WORDS = 4.0
_MIN_FREE_TEXT_LENGTH = 30.0
_MIN_FREE_TEXT_VALUES = 50
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)")


@dataclass(frozen=True, eq=False)
class ColumnGuess:
    """Guess about one column.

    `unparsed_count` is the number of distinct values that the format that fits most does not read; `other` is a format
    that fits as well.
    """

    name: str
    dtype: pl.DataType
    values: pl.Series  # distinct, without null and marks
    missing: int
    most: int  # rows that share a value
    marks: tuple[str, ...] = ()
    type: str | None = None
    format: str | tuple[str, ...] | None = None
    unparsed_count: int = 0
    other: str | None = None
    free: bool = False
    codes: tuple[str, ...] = ()  # numbers that stand for "missing" by their looks, as they are written
    code_rows: int = 0  # that hold one of them
    far_rows: int = 0  # rows that hold another value that stretches the range
    row_counts: pl.Series | None = None  # of each of the distinct values of a text column
    rates: Mapping[str, Any] = field(default_factory=dict)
    spellings: Mapping[str, str] = field(default_factory=dict)
    reading: str = ""  # how values are written, where that is in several ways

    @property
    def distinct(self) -> int:
        return len(self.values)

    @property
    def declared(self) -> Column:
        """The column as a draft would declare it, to read its values."""
        if self.unparsed_count or self.format is None:
            return Column("quasi-identifying", self.type)
        ambiguous = "refuse" if isinstance(self.format, str) else "first"
        return Column("quasi-identifying", self.type, format=self.format, rates=self.rates or None, ambiguous=ambiguous)


def guess_column(column: pl.Series, *, typed: bool = False) -> ColumnGuess:
    """Guess what a column is.  `typed`: the source knows which columns are text, so text that spells numbers holds codes."""
    guess = _guess_from_counts(column, typed=typed)
    return _remove_codes(guess, column) if guess.type == "numeric" and guess.format is None else guess


def parse_values(guess: ColumnGuess) -> pl.Series:
    """Parse the distinct values by the draft's declaration."""
    if guess.unparsed_count or guess.dtype != pl.String or (guess.format is None and guess.type != "date"):
        return guess.values
    read = build_parse_expression(guess.values, guess.declared)
    return guess.values if read is None else guess.values.to_frame().select(read)[guess.name]


def split_name(name: str) -> list[str]:
    """Split `patient_name`, `patientName`, `PATIENT NAME` and `patientname` into words in lower case."""
    words = [word for word in re.split(r"[\W_]+", _WORD_BOUNDARY.sub(" ", name).lower()) if word]
    return [part for word in words for part in _split_compound(word)]


def is_identifier_name(name: str) -> bool:
    """Tell whether a column of this name is an identifier."""
    words = split_name(name)
    if _MEASURE_WORDS & set(words[-1:]):
        return False
    name_index = next((index for index, word in enumerate(words) if word in _NAME_WORDS), None)
    if name_index is not None:
        return _find_owner_word(words, name_index) not in _THING_WORDS
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _QUALIFIER_WORDS - _IDENTIFIER_WORDS):
        words = words[:-1]
    head = set(words[-1:])
    before = set(words[-2:-1])
    return bool(
        _ID_WORDS & set(words) or _IDENTIFIER_WORDS & head or (_NUMBER_WORDS & head and _NUMBERED_WORDS & before)
    )


def is_person_number(name: str) -> bool:
    """Tell whether an identifier of this name may number persons, as `patient_id` does and `email` does not."""
    words = set(split_name(name))
    return not _NAME_WORDS & words and bool(
        {*_ID_WORDS, "ssn", "nin", "nhs", "mrn", "person", "patient", "passport"} & words
    )


def _guess_from_counts(column: pl.Series, *, typed: bool) -> ColumnGuess:
    column = column.cast(pl.String) if sources.is_text(column.dtype) else column
    counted = column.drop_nulls().value_counts(name="\x00rows")
    values = counted[column.name] if len(counted) else column.drop_nulls()
    most_rows = cast("int", counted["\x00rows"].max() or 0) if len(counted) else 0
    guess = ColumnGuess(column.name, column.dtype, values, column.null_count(), most_rows)
    if column.dtype != pl.String:
        return replace(guess, type=_find_typed_kind(column.dtype))
    marked = counted.filter(pl.col(column.name).is_in(list(KNOWN_NULL_VALUES)))
    unmarked = counted.filter(~pl.col(column.name).is_in(list(KNOWN_NULL_VALUES)))
    guess = replace(
        guess,
        values=unmarked[column.name],
        missing=guess.missing + int(marked["\x00rows"].sum()),
        most=cast("int", unmarked["\x00rows"].max() or 0),
        marks=tuple(marked[column.name].to_list()),
        row_counts=unmarked["\x00rows"],
    )
    return _guess_text_type(guess, typed=typed) if guess.distinct else guess


def _remove_codes(guess: ColumnGuess, column: pl.Series) -> ColumnGuess:
    """Return the guess without numbers that mean "missing", which would stretch its range."""
    written = guess.values.cast(pl.String)
    numbers = pl.DataFrame({"text": written, "number": written.str.strip_chars().cast(pl.Float64, strict=False)})
    numbers = numbers.filter(pl.col("number").is_finite()).unique("number", maintain_order=True).sort("number")
    if len(numbers) < 3:
        return guess
    rows = column.cast(pl.String).value_counts(name="rows").rename({column.name: "text"})
    counts = numbers.join(rows, on="text", how="left", maintain_order="left")["rows"].fill_null(0).to_numpy()
    far = find_far_values(guess.name, numbers["text"].to_list(), numbers["number"].to_numpy(), counts)
    if far is None:
        return guess
    is_code = written.is_in(list(far.codes))
    code_rows = int(rows.filter(pl.col("text").is_in(list(far.codes)))["rows"].sum())
    return replace(
        guess,
        values=guess.values.filter(~is_code),
        codes=far.codes,
        code_rows=code_rows,
        missing=guess.missing + code_rows,
        far_rows=far.rows - code_rows,
    )


def _split_compound(word: str) -> list[str]:
    """Split a compound: `firstname`, `patientid` and `homephone` are two words; covid, paid and telephone are one."""
    for last, owners in _COMPOUND_ENDINGS.items():
        owner = word.removesuffix(last)
        if owner not in ("", word) and (owners is None or owner in owners):
            return [owner, last]
    return [word]


def _find_owner_word(words: list[str], name_index: int) -> str:
    """Find whose name it is: the word before it, or, if it comes first, the one after."""
    before = [word for word in words[:name_index] if word not in _QUALIFIER_WORDS and not word.isdigit()]
    after = [
        word for word in words[name_index + 1 :] if word not in _QUALIFIER_WORDS | _FILLER_WORDS and not word.isdigit()
    ]
    if before:
        return before[-1]
    return after[0] if after else ""


def _find_typed_kind(dtype: pl.DataType) -> str | None:
    if dtype.is_numeric():
        return "numeric"
    return "date" if dtype in (pl.Date, pl.Datetime) else None


def _guess_text_type(guess: ColumnGuess, *, typed: bool) -> ColumnGuess:
    values = guess.values
    if values.str.contains(NUMBER_PATTERN).all() and not values.str.contains(_PADDED_PATTERN).any():
        return guess if typed else replace(guess, type="numeric")
    if _count_unparsed(values, "date", None) == 0:
        return replace(guess, type="date")
    are_amounts = values.str.contains(_AMOUNT_PATTERN).any() and values.str.contains(r"^[^A-Za-z]*\d").all()
    if are_amounts and not values.str.contains(_PADDED_PATTERN).any():
        amounts = guess_amounts(values, cast("pl.Series", guess.row_counts))
        if amounts is not None:
            return replace(
                guess,
                type="numeric",
                format=amounts.format,
                rates=amounts.rates,
                reading=amounts.describe(),
                missing=guess.missing + amounts.missing_rows,
            )
    if values.str.contains(r"\d").mean() or 0:
        guess = _guess_date_format(guess)
    if guess.type is None and guess.format is None:
        guess = _guess_spellings(guess)
    words = cast("float", values.str.count_matches(r"\S+").mean() or 0.0)
    length = cast("float", values.str.len_chars().mean() or 0.0)
    several = guess.distinct >= _MIN_FREE_TEXT_VALUES and guess.type is None
    return replace(guess, free=several and (words >= _MIN_FREE_TEXT_WORDS or length > _MIN_FREE_TEXT_LENGTH))


def _count_unparsed(values: pl.Series, type: str | None, format: str | None) -> int:
    """Count the distinct values that the type and format do not read."""
    read = build_parse_expression(values, Column("quasi-identifying", type, format=format))
    if read is None:  # ISO days
        return int(values.str.to_date("%Y-%m-%d", strict=False).null_count())
    return int(values.to_frame().select(read.is_null().sum()).item())


def _guess_date_format(guess: ColumnGuess) -> ColumnGuess:
    """Find the format that reads most values, if it reads nearly all; if two do, name the other too."""
    sample = guess.values if guess.distinct <= 200 else guess.values.sample(200, seed=1)
    likely = [
        format
        for format in DATE_FORMATS
        if _count_unparsed(sample, None, format) <= (1 - _MIN_FITTING_SHARE) * len(sample)
    ]
    counts = {format: _count_unparsed(guess.values, None, format) for format in likely}
    best = min(counts, key=lambda format: counts[format]) if counts else ""
    if not counts or counts[best]:
        several = guess_date_formats(guess.values, cast("pl.Series", guess.row_counts), DATE_FORMATS)
        if several is not None and several.unparsed_count <= counts.get(best, guess.distinct):
            return replace(
                guess,
                type=None if several.unparsed_count else "date",
                format=several.formats,
                unparsed_count=several.unparsed_count,
                reading=several.describe(),
            )
    if not counts or counts[best] > (1 - _MIN_FITTING_SHARE) * guess.distinct:
        return guess
    other = next((format for format in counts if format != best and counts[format] == counts[best]), None)
    return replace(guess, type=None if counts[best] else "date", format=best, unparsed_count=counts[best], other=other)


def _guess_spellings(guess: ColumnGuess) -> ColumnGuess:
    """Return the guess with a map of spellings that look like one value, and with the values that are left."""
    rows = cast("pl.Series", guess.row_counts)
    spellings = guess_spellings(guess.values, rows)
    if not spellings:
        return guess
    replaced = pl.DataFrame({"value": guess.values.replace(spellings), "rows": rows})
    counted = replaced.group_by("value", maintain_order=True).agg(pl.sum("rows"))
    return replace(
        guess,
        values=counted["value"].alias(guess.name),
        row_counts=counted["rows"],
        most=cast("int", counted["rows"].max()),
        spellings=spellings,
        reading=describe_spellings(spellings, guess.values, rows),
    )


def _split_words(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NAME_WORDS = _split_words("name names nm")
_ID_WORDS = _split_words("id ids identifier uid pid uuid guid")
_NUMBER_WORDS = _split_words("no nr num nbr number key ref hash")
_IDENTIFIER_WORDS = _split_words(
    "ssn nin nhs mrn maiden initials email mail phone telephone tel fax mobile address street "
    "passport license licence iban account url ip plate vin serial person patient household"
)
_NUMBERED_WORDS = _IDENTIFIER_WORDS | _split_words(
    "id client customer member user subject case record visit encounter episode admission participant respondent employee "
    "student staff hh policy card tax insurance security house file chart hospitalization claim"
)
"""Whose number is an identifier: of persons, of what one person has, and of what happens to one."""
_QUALIFIER_WORDS = _split_words(
    "home work office private mobile cell primary secondary main alternate alt emergency current former permanent "
    "postal mailing line ext full first last middle second given family legal preferred display short long official "
    "local raw clean orig original text"
)
"""Words beside an identifier that say which of several it is."""
_COMPOUND_ENDINGS = {
    "name": None,
    "id": _NUMBERED_WORDS,
    "number": _NUMBERED_WORDS,
    **dict.fromkeys(("phone", "email", "address"), _QUALIFIER_WORDS | _NUMBERED_WORDS),
}
"""Last words that are written without a mark before them, and after which words; None after any."""
_FILLER_WORDS = _split_words("of the a in")
_MEASURE_WORDS = _split_words(
    "length len count type changed flag score match valid missing quality origin language frequency rank"
)
"""What is measured of a name or an id, and is neither."""
_THING_WORDS = _split_words(
    "hospital clinic ward unit department dept division section facility site location institution institute center "
    "centre lab laboratory pharmacy school university college campus city town village municipality county country "
    "nation state province region district area zone borough parish neighborhood neighbourhood precinct constituency "
    "station stop airport port building room store shop branch bank market company employer firm business vendor "
    "supplier manufacturer organization organisation org agency association union insurer payer plan team club league "
    "event incident accident disaster holiday storm conference drug medication medicine med substance compound "
    "chemical ingredient vaccine antibiotic product item good brand generic trade scientific common proprietary "
    "device equipment machine instrument model make species breed animal organism gene variant allele protein allergy "
    "allergen specimen test panel analyte exam procedure operation surgery treatment therapy intervention service "
    "diagnosis disease illness condition disorder symptom syndrome finding specialty speciality program programme "
    "project study trial cohort survey course module degree major field discipline grade class category group type "
    "kind status stage level label job position role occupation profession industry sector task activity sport "
    "currency language religion ethnicity race nationality tribe month day weekday season period quarter color colour "
    "variable column table dataset data file sheet question questionnaire measure measurement metric indicator index "
    "scale score outcome parameter attribute feature property code vehicle ship vessel route road airline carrier "
    "network channel campaign app browser platform system software version technique method source standard scheme "
    "fund award contract policy hosp fac inst univ corp prod proc mfr dx rx"
)
"""What has a name and is no person."""
