"""U^s, the domain that perturbed values are drawn from (section II): declared by the steward, never the values that occur.

The steward declares it by a hierarchy (its leaves), an order, a column's own domain (the least and the greatest whole
number, or a list of values), or the method's own list.  A domain that is only observed would name the victim: it is
published, and the promise's adversary knows everybody else's value, so a value in it that nobody else has is the
victim's, for certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from reticent.data.cells import Cells
from reticent.data.columns import RECODING_OPTIONS, Column, Role, is_numeric_range, recode_values
from reticent.data.domain import Domain, TreeDomain
from reticent.data.parsing import CANONICAL_NUMBER_PATTERN, parse_dates, parse_numbers, parse_texts
from reticent.data.source import is_text
from reticent.errors import ColumnError, InternalError, JobError, pluralize, quote_list

METHOD_NAME = "perturbed-generalization"
MAX_DOMAIN_VALUES = 100_000
WHY_DECLARED = (
    "The domain is published. The values that occur would tell who knows everybody else's value the value of the last one: "
    "where nobody else has it, that person does."
)
HOW_TO_DECLARE = (
    'rt.sensitive(domain=[...]), in a job domain = ["a", "b", ...] of the column, every value that can occur in any such table: '
    "from the questionnaire, the code list or the classification, not from this table. Or a hierarchy file, an order, "
    "or the least and the greatest whole number."
)


@dataclass(frozen=True, eq=False)
class SensitiveDomain:
    """The domain U^s: `texts` are its values; `code[c]` is the place of the column's code c among them; `declared` is by what."""

    texts: tuple[str, ...]
    code: np.ndarray
    declared: str

    def __len__(self) -> int:
        return len(self.texts)


def require_declared_domain(columns: Mapping[str, Column], method_lists: bool) -> None:
    """Refuse, before any row is read, a sensitive column whose possible values nothing but its data determines."""
    for name, column in columns.items():
        if column.role is not Role.SENSITIVE:
            continue
        if any(getattr(column, option) is not None for option in RECODING_OPTIONS):
            _require_recoded_list(name, column, method_lists)
        if method_lists:
            continue
        if column.hierarchy is None and column.order is None and column.domain is None:
            raise _make_undeclared_error(name)


def declare_types_by_domain(
    columns: Mapping[str, Column], schema: Mapping[str, pl.DataType], method_list: Sequence[str] | None
) -> dict[str, Column]:
    """Make a sensitive text column categorical if its listed domain has texts of several types, unless a type is declared.

    The type is published. Guessed from the values that occur it would tell who knows everybody else's value whether the last
    one is a number like theirs: codes such as 01 beside 10, or a text beside numbers.
    """
    declared = {}
    for name, column in columns.items():
        listed = method_list if method_list is not None else column.domain
        decided = (column.type, column.hierarchy, column.order)
        is_guessed = column.role is Role.SENSITIVE and is_text(schema[name]) and decided == (None, None, None)
        if is_guessed and listed is not None and not is_numeric_range(listed) and not _have_one_type(listed):
            column = replace(column, type="categorical")
        declared[name] = column
    return declared


def find_sensitive_domain(cells: Cells, method_list: Sequence[str] | None) -> SensitiveDomain:
    """Find U^s for the only sensitive column, which must be discrete and without missing values."""
    if len(cells.sensitive) != 1:
        raise InternalError(f"{METHOD_NAME} was given {len(cells.sensitive)} sensitive columns.")
    require_no_missing_values(cells)
    column = cells.sensitive[0]
    totals = cells.totals(0)
    value_totals = totals[: len(column.texts)]
    if method_list is not None:
        return _make_listed_domain(column, value_totals, method_list, "list")
    if getattr(column, "kind", "") == "ordinal" or (isinstance(column, TreeDomain) and column.is_from_steward):
        _require_values_of_type(column, column.texts)
    if getattr(column, "kind", "") == "ordinal":
        return SensitiveDomain(column.texts, np.arange(column.size), "order")
    if isinstance(column, TreeDomain) and column.is_from_steward:
        return SensitiveDomain(column.texts, np.arange(column.size), "hierarchy")
    _require_discrete(column, int(np.count_nonzero(value_totals)), cells.rows)
    if column.declared is None:
        raise _make_undeclared_error(column.name)
    if is_numeric_range(column.declared):
        return _make_listed_domain(column, value_totals, _list_whole_numbers(column), "range")
    return _make_listed_domain(column, value_totals, column.declared, "list")


def require_no_missing_values(cells: Cells) -> None:
    """Refuse missing values of the sensitive column."""
    column = cells.sensitive[0]
    missing = int(cells.totals(0)[column.null_code]) if column.null else 0
    if missing:
        raise ColumnError(
            f"The sensitive column {column.name!r} is missing in {pluralize(missing, 'row')}.",
            why="A missing value cannot be perturbed without saying who had none.",
            attempt="a value of their own for these rows in the source.",
        )


def count_single_holders(cells: Cells, method_list: Sequence[str] | None) -> int:
    """Count the values with one holder, where every value of the declared domain occurs; 0 where some value does not."""
    domain = find_sensitive_domain(cells, method_list)
    totals = cells.totals(0)
    holders = np.zeros(len(domain), np.int64)
    used = np.flatnonzero(totals)
    np.add.at(holders, domain.code[used], totals[used])
    return int((holders == 1).sum()) if holders.all() else 0


def _require_recoded_list(name: str, column: Column, method_lists: bool) -> None:
    """Refuse a domain with values that rounding or bounds would change: drawn, they would be known to be nobody's."""
    values = column.domain
    instead = " (and no hierarchy)" if column.hierarchy is not None else ""
    instead = " (and no domain of the method)" if method_lists else instead
    attempt = f"domain = [...] of {name!r}{instead} with every value that can result, multiples of round_to within bottom and top."
    if method_lists or values is None or is_numeric_range(values) or column.hierarchy is not None:
        raise JobError(
            f"The sensitive column {name!r} is rounded or bounded, and {METHOD_NAME} needs the list of values that result.",
            why="Values are drawn from the whole domain, and one that rounding cannot give would be known to be drawn.",
            attempt=attempt,
        )
    texts = pl.Series([str(value) for value in values])
    bound = column.bottom if column.top is None else column.top
    parsed = parse_dates(name, texts) if isinstance(bound, str) else parse_numbers(name, texts)
    recoded = recode_values(name, column, parsed)
    changed = int((recoded.to_physical().cast(pl.Float64) != parsed.to_physical().cast(pl.Float64)).sum())
    if changed:
        raise JobError(
            f"The domain of {name!r} lists {pluralize(changed, 'value')} that rounding or its bounds would change.",
            why="Values are drawn from the whole domain, and one that rounding cannot give would be known to be drawn.",
            attempt=attempt,
        )


def _make_undeclared_error(name: str) -> JobError:
    return JobError(
        f"{METHOD_NAME} needs a declared domain of the sensitive column {quote_list([name])}.",
        why=WHY_DECLARED,
        attempt=HOW_TO_DECLARE,
    )


def _have_one_type(values: Sequence[Any]) -> bool:
    """Tell whether any of these texts are read as the same type: all as text, as whole numbers or as decimals that are exact."""
    texts = pl.Series([str(value) for value in values], dtype=pl.String)
    if not texts.str.contains(CANONICAL_NUMBER_PATTERN).any():
        return True
    return bool(
        texts.str.contains(r"^-?(0|[1-9]\d{0,17})$").all() or texts.str.contains(r"^-?(0|[1-9]\d{0,6})\.\d{1,8}$").all()
    )


def _make_listed_domain(
    column: Domain, value_totals: np.ndarray, values: Sequence[str], declared: str
) -> SensitiveDomain:
    place = {text: index for index, text in enumerate(values)}
    if len(place) < len(values):
        raise JobError(f"{METHOD_NAME}: domain lists a value twice.", attempt="each value once.")
    _require_values_of_type(column, values)
    code = np.array([place.get(text, -1) for text in (*column.texts, "")][: column.size], np.int64)
    unlisted = int(np.count_nonzero((code[: len(value_totals)] < 0) & (value_totals > 0)))
    if unlisted:
        raise JobError(
            f"{column.name!r} has {pluralize(unlisted, 'value', 'that is', 'that are')} not in the domain that is declared.",
            attempt="listing every value that can occur.",
        )
    return SensitiveDomain(tuple(values), code, declared)


def _require_values_of_type(column: Domain, values: Sequence[str]) -> None:
    """Refuse a domain with values that the column's type does not read."""
    try:
        parsed = parse_texts(list(values), column.dtype)
    except pl.exceptions.PolarsError:  # its message quotes values
        typed = "" if getattr(column, "kind", "") == "ordinal" else ' and type = "categorical"'
        raise JobError(
            f"The domain that is declared of {column.name!r} lists values that a column of type {column.dtype} cannot hold.",
            attempt=f"values as the column has them, or a source in which the column is text{typed}.",
        ) from None
    if parsed.n_unique() < len(parsed):  # 1 and 01 of a column of numbers
        raise JobError(f"{METHOD_NAME}: domain lists a value twice.", attempt="each value once.")


def _require_discrete(column: Domain, values: int, rows: int) -> None:
    discrete = not column.dtype.startswith(("Float", "Decimal", "Datetime", "Time", "Duration"))
    if column.declared is not None and not is_numeric_range(column.declared):
        return
    if not discrete or (2 * values > rows and values > 2 and getattr(column, "kind", "") in ("numeric", "date")):
        raise ColumnError(
            f"The sensitive column {column.name!r} is continuous: {values:,} different values in {rows:,} rows.",
            why="Perturbation draws from a fixed list of values; nearly unique ones would each be published as they are or be noise.",
            attempt="binning it first: a whole number for each class, such as wage // 1000, or a declared order of classes.",
        )


def _list_whole_numbers(column: Domain) -> tuple[str, ...]:
    """List every whole number from the least to the greatest that the column declares."""
    assert column.declared is not None
    ends: list[Any] = [float(end) for end in column.declared]
    if not all(end.is_integer() for end in ends):
        raise JobError(
            f"The domain of {column.name!r} is a range of decimals: {METHOD_NAME} draws from a list of values.",
            attempt="domain = [...] with every value, or two whole numbers.",
        )
    lowest, greatest = (int(end) for end in column.declared)
    if greatest - lowest >= MAX_DOMAIN_VALUES:
        raise JobError(
            f"The domain of {column.name!r} has {greatest - lowest + 1:,} whole numbers; {METHOD_NAME} draws from at most "
            f"{MAX_DOMAIN_VALUES:,}.",
            attempt="binning it first: a whole number for each class, such as wage // 1000.",
        )
    return tuple(map(str, range(lowest, greatest + 1)))
