"""Builds hierarchies from a column's values, from groups that a steward names, and from other tools' files.

A job file asks for a builder by name, `hierarchy = { build = "intervals", width = [5, 10] }`; `build` calls it with
the column's values and the number of rows that hold each. Builders share `DistinctValues` (values with their weights)
and return a `BuiltHierarchy`.

Numbers: `intervals` makes bands of a fixed width, `edges` bands between given edges, `quantiles` bands of equally
many rows. Bands are computed on exact numbers: 0.3 in steps of 0.1 is where it should be. Over whole numbers a band
prints with both ends included, `[20, 29]`; over others it is half open, `[0.5, 1)`.

Dates: `dates` groups by month, quarter, year and decade: `2024-03-17`, `2024-03`, `2024-Q1`, `2024`, `2020s`, `*`.

Any values: `grouped` takes groups named by the steward, `ordered` groups neighbours in an order, `balanced` makes a
balanced tree. `prefixes` redacts codes whose every character refines them (ZIP, ICD, NACE) from the right: `12345`,
`1234*`, `123**`, ..., `*`. Codes with an extension beside codes without one (ZIP `12345` beside ZIP+4 `12345-6789`) are
redacted to the form of the short ones: `12345-6789`, `12345-****`, `1234*`, `123**`, ..., `*`.

Other tools: `from_frame` takes data frames with a column for each level, `from_amnesia` and `from_tree` Amnesia's
text and JSON. Amnesia's text file names the kind (`distinct` or `range`), then `name`, `type` and `height`, then the
nodes, level by level, as `parent has child child ...`; of a range hierarchy the nodes are `low,high`, and the values
of the data are put under the first of the finest ranges that holds them. Its JSON lists nodes and edges; a nested
tree is accepted too.

`parse_node_ends` returns the ends that a node of a built hierarchy has by itself: the first and last day of a month,
the edges of a band.
"""

from __future__ import annotations

import inspect
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from math import floor
from pathlib import Path
from typing import Any

import polars as pl

from reticent.data.hierarchy import Hierarchy
from reticent.data.label_grammar import format_decimal
from reticent.errors import HierarchyError, suggest
from reticent.exact_arithmetic import as_ratio, is_whole
from reticent.limits import is_moderate_number, read_text_file

__all__ = ["BUILDERS", "BuiltHierarchy", "balanced", "build", "dates", "edges", "from_amnesia", "from_frame", "from_tree",
           "grouped", "intervals", "ordered", "prefixes", "quantiles"]  # fmt: skip
ROOT = "*"
CALENDAR_LEVELS = {
    "month": lambda day: f"{day.year:04d}-{day.month:02d}",
    "quarter": lambda day: f"{day.year:04d}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04d}",
    "decade": lambda day: f"{day.year // 10 * 10:04d}s",
}
"""From fine to coarse; a day is the leaf."""
Children = dict[str, list[str]]
_CALENDAR_LABEL_PATTERN = re.compile(r"(\d{4})(?:-(\d{2})|-Q([1-4])|(s))?")
_BAND_LABEL_PATTERN = re.compile(r"\[([^,]+), ([^,\])]+)([\])])")
_LAST_YEAR = 9999
_ZIP_WIDTH = 5
_ZIP_PATTERN = re.compile(r"\d{5}(-?\d{4})?")
_EXTENDED_CODE_PATTERN = re.compile(r"\w+(-\w+)?")


@dataclass(frozen=True, eq=False)
class BuiltHierarchy(Hierarchy):
    """A hierarchy over numbers, dates or other values (`kind`), made by a builder.

    If its leaves are the data's own values (`is_from_data`), it is published only as far as its labels occur in the
    release; if a steward listed them, it is published as it is. `request` holds the job's options for the builder,
    from which an audit against the source builds the hierarchy again.
    """

    kind: str = "categorical"
    is_from_data: bool = True
    request: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class DistinctValues:
    """Distinct values as they print, with the rows that hold each; `is_from_data` is whether they come from the data."""

    texts: list[str]
    rows: list[int]
    is_from_data: bool

    @classmethod
    def from_values(cls, values: Any, rows: Sequence[int] | None = None) -> DistinctValues:
        """Collect distinct values from a Series, an array, a list or a `range`.

        Nulls are left out: a null is a leaf of its own in any column.
        """
        is_from_data = not isinstance(values, range)
        series = values if isinstance(values, pl.Series) else _to_series(values)
        if isinstance(series.dtype, pl.Categorical | pl.Enum):
            series = series.cast(pl.String)
        if series.dtype.is_float():
            series = series.fill_nan(None)
        weight = pl.Series("rows", rows if rows is not None else [1] * len(series), dtype=pl.Int64)
        table = (
            pl.DataFrame([series.alias("value"), weight])
            .drop_nulls("value")
            .group_by("value")
            .agg(pl.sum("rows"))
            .sort("value")
        )
        if not len(table):
            raise HierarchyError("There are no values to build a hierarchy over.", attempt="a column with values.")
        return cls(table["value"].cast(pl.String).to_list(), table["rows"].to_list(), is_from_data)

    def parse_numbers(self) -> list[Fraction]:
        """Parse the values as exact numbers."""
        numbers = [number for text in self.texts if (number := _try_parse_fraction(text)) is not None]
        if lacking := len(self.texts) - len(numbers):
            raise HierarchyError(
                f"{lacking} of {len(self.texts)} distinct values are no numbers.",
                attempt="missing = [...] in [source] if they stand for nothing, or a builder for text.",
            )
        return numbers

    def sort_by_keys(self, keys: Sequence[Any]) -> DistinctValues:
        order = sorted(range(len(self.texts)), key=lambda index: keys[index])
        return DistinctValues(
            [self.texts[index] for index in order], [self.rows[index] for index in order], self.is_from_data
        )

    def build_hierarchy(self, rows: Iterable[Sequence[str]], kind: str = "categorical") -> BuiltHierarchy:
        tree = Hierarchy.from_rows(rows, "a built hierarchy")
        parts = {field.name: getattr(tree, field.name) for field in fields(Hierarchy)}
        return BuiltHierarchy(**parts, kind=kind, is_from_data=self.is_from_data)


def intervals(values: Any, width: Any = 10, *, start: Any = 0, rows: Sequence[int] | None = None) -> BuiltHierarchy:
    """Build bands of one width, or of several: `width=[5, 10, 20]` nests tens in twenties."""
    distinct = DistinctValues.from_values(values, rows)
    widths = [parse_fraction(step, "width") for step in (width if isinstance(width, Sequence) else [width])]
    origin = parse_fraction(start, "start")
    if any(step <= 0 for step in widths):
        raise HierarchyError("A band needs a width above 0.", attempt="width = 10.")
    if any(wide % narrow or wide == narrow for narrow, wide in pairwise(widths)):
        raise HierarchyError("Each width must be a multiple of the one before it.", attempt="width = [5, 10, 20].")
    numbers = distinct.parse_numbers()
    are_whole = _are_integers([*numbers, *widths, origin])

    def band(number: Fraction, wide: Fraction) -> str:
        low = origin + floor((number - origin) / wide) * wide
        return format_band(low, low + wide, are_whole)

    table = [
        [text, *(band(number, wide) for wide in widths), ROOT]
        for text, number in zip(distinct.texts, numbers, strict=True)
    ]
    return distinct.build_hierarchy(_sort_by_number(table, numbers), "numeric")


def edges(values: Any, *levels: Sequence[Any], rows: Sequence[int] | None = None) -> BuiltHierarchy:
    """Build bands between given edges, open at both ends: `edges(ages, [18, 30, 45, 65], [18, 65])`, finest first."""
    distinct = DistinctValues.from_values(values, rows)
    cuts = [[parse_fraction(edge, "an edge") for edge in level] for level in levels]
    if not cuts or not all(cuts) or any(low >= high for level in cuts for low, high in pairwise(level)):
        raise HierarchyError("Edges must be numbers in rising order.", attempt="edges = [18, 30, 45, 65].")
    if any(not set(coarse) <= set(fine) for fine, coarse in pairwise(cuts)):
        raise HierarchyError(
            "A coarser level may only use edges of the finer one.", attempt="edges = [[18, 30, 65], [18, 65]]."
        )
    numbers = distinct.parse_numbers()
    are_whole = _are_integers([*numbers, *(edge for level in cuts for edge in level)])

    def band(number: Fraction, level: list[Fraction]) -> str:
        position = bisect_right(level, number)
        if position == 0:
            return f"< {_format_fraction(level[0])}"
        if position == len(level):
            return f">= {_format_fraction(level[-1])}"
        return format_band(level[position - 1], level[position], are_whole)

    table = [
        [text, *(band(number, level) for level in cuts), ROOT]
        for text, number in zip(distinct.texts, numbers, strict=True)
    ]
    return distinct.build_hierarchy(_sort_by_number(table, numbers), "numeric")


def quantiles(values: Any, groups: Any = (16, 4), *, rows: Sequence[int] | None = None) -> BuiltHierarchy:
    """Build bands of about equally many rows: `groups=[16, 4]` makes quarters of four sixteenths each.

    A value is never divided, so that one held by many rows makes its band larger.
    """
    distinct = DistinctValues.from_values(values, rows)
    distinct = distinct.sort_by_keys(distinct.parse_numbers())
    return distinct.build_hierarchy(drop_idle_levels(cut_into_shares(distinct, _parse_group_counts(groups))), "numeric")


def dates(
    values: Any, levels: Sequence[str] = tuple(CALENDAR_LEVELS), *, rows: Sequence[int] | None = None
) -> BuiltHierarchy:
    """Build a calendar, with levels in the order of `CALENDAR_LEVELS`.

    Text must be YYYY-MM-DD, of a time only the day counts.
    """
    distinct = DistinctValues.from_values(values, rows)
    order = list(CALENDAR_LEVELS)
    are_known = all(level in CALENDAR_LEVELS for level in levels)
    if not levels or not are_known or sorted(levels, key=order.index) != list(levels):
        raise HierarchyError("Levels of a calendar go from fine to coarse.", attempt=f"levels = {order}.")
    table = sorted((day, text) for text in distinct.texts if (day := _parse_day(text)) is not None)
    if lacking := len(distinct.texts) - len(table):
        raise HierarchyError(
            f"{lacking} of {len(distinct.texts)} distinct values are no dates.", attempt="dates as YYYY-MM-DD."
        )
    return distinct.build_hierarchy(
        [[text, *(CALENDAR_LEVELS[level](day) for level in levels), ROOT] for day, text in table], "date"
    )


def prefixes(
    values: Any, keep: Sequence[int] | None = None, *, mask: str = "*", rows: Sequence[int] | None = None
) -> BuiltHierarchy:
    """Build one level for each number of characters kept, by default every one that groups.

    A code that is no longer than that stays as it is. Codes with an extension beside codes without one are redacted to
    the length of the latter; where that length is kept, an extension is redacted whole. Codes that look like numbers
    have often lost their zeros: keep such a column as text.
    """
    distinct = DistinctValues.from_values(values, rows)
    base_width = find_base_width(distinct.texts)
    width = base_width or max(len(text) for text in distinct.texts)
    first_length = width if base_width is not None else width - 1
    lengths = list(range(first_length, 0, -1)) if keep is None else list(keep)
    if len(mask) != 1:
        raise HierarchyError("A mask is one character.", attempt='mask = "*".')
    if any(length < 1 for length in lengths) or sorted(set(lengths), reverse=True) != lengths:
        raise HierarchyError("Prefix lengths must be whole numbers in falling order.", attempt="keep = [3, 2].")

    extended = {text[:width]: text for text in distinct.texts if len(text) > width}

    def redact(text: str, length: int) -> str:
        if length < width:
            return text if len(text) <= length else text[:length] + mask * (width - length)
        if length == width and text[:width] in extended:
            return text[:width] + re.sub(r"\w", mask.replace("\\", r"\\"), extended[text[:width]][width:])
        return text[:length] + mask * (len(text) - length)

    table = [[text, *(redact(text, length) for length in lengths), ROOT] for text in sorted(distinct.texts)]
    return distinct.build_hierarchy(drop_idle_levels(table) if keep is None else table)


def find_base_width(texts: Sequence[str]) -> int | None:
    """Return the length of codes without an extension if others of the texts have one; None if all or none have.

    Extensions are set off by a hyphen, or are the last four digits of a ZIP code of nine.
    """
    if len({len(text) for text in texts}) < 2:
        return None
    if all(_ZIP_PATTERN.fullmatch(text) for text in texts):
        return _ZIP_WIDTH if any(len(text) == _ZIP_WIDTH for text in texts) else None
    if not all(_EXTENDED_CODE_PATTERN.fullmatch(text) for text in texts):
        return None
    widths = {len(text.partition("-")[0]) for text in texts}
    return widths.pop() if len(widths) == 1 and any("-" not in text for text in texts) else None


def balanced(
    values: Any, fanout: int = 2, *, order: Sequence[Any] | None = None, rows: Sequence[int] | None = None
) -> BuiltHierarchy:
    """Build a tree over sorted (or ordered) values, each node cut in `fanout` parts of about equal weight.

    A value weighs 1, and with `rows` its share of the rows besides, so that the tree follows the data's own
    distribution, frequent values near the root, and stays shallow. Numbers are sorted as numbers.
    """
    distinct = DistinctValues.from_values(values, rows)
    if fanout < 2:
        raise HierarchyError("A balanced tree needs a fanout of 2 or more.", attempt="fanout = 2.")
    keys = _make_sort_keys(distinct, order)
    distinct = distinct.sort_by_keys(keys)
    total = max(sum(distinct.rows), 1)
    weights = [total + len(distinct.texts) * count for count in distinct.rows]
    paths: list[list[str]] = [[] for _ in distinct.texts]
    waiting = [range(len(distinct.texts))]
    while waiting:
        part = waiting.pop()
        label = ROOT if len(part) == len(paths) else format_span(distinct.texts[part[0]], distinct.texts[part[-1]])
        for index in part:
            paths[index].insert(0, label)
        if len(part) > fanout:
            share = assign_shares([weights[index] for index in part], fanout)
            starts = [index for index in range(len(part)) if index == 0 or share[index] != share[index - 1]]
            waiting += [part[low:high] for low, high in pairwise([*starts, len(part)]) if high - low > 1]
    table = pad_rows([[text, *path] for text, path in zip(distinct.texts, paths, strict=True)])
    return distinct.build_hierarchy(table, "numeric" if isinstance(keys[0], Fraction) else "categorical")


def grouped(groups: Mapping[str, Any], *, root: str = ROOT) -> Hierarchy:
    """Build from nested names.

    An example is {"married": ["spouse present", "spouse absent"], "single": {"was": [...], "never": [...]}}.
    """
    rows = pad_rows([[*reversed(path), root] for path in _iterate_paths(groups)])
    return Hierarchy.from_rows(rows, "named groups")


def ordered(order: Sequence[Any], size: int = 2, *, levels: int = 1) -> Hierarchy:
    """Group neighbours in the given order: `size` values in a group, then `size` groups in one, for `levels` levels."""
    texts = [str(value) for value in order]
    if len(set(texts)) != len(texts):
        raise HierarchyError("The order names a value twice.", attempt="each value once.")
    if size < 2 or levels < 1:
        raise HierarchyError("Ordered groups need a size of 2 or more, and a level or more.", attempt="size = 3.")

    def label(index: int, width: int) -> str:
        first = index // width * width
        return format_span(texts[first], texts[min(first + width, len(texts)) - 1])

    rows = [
        [text, *(label(index, size**level) for level in range(1, levels + 1)), ROOT] for index, text in enumerate(texts)
    ]
    return Hierarchy.from_rows(drop_idle_levels(rows), "ordered groups")


def from_frame(frame: Any) -> Hierarchy:
    """Build from columns from leaf to root, as in ARX; a root is added where the last column has more than one value."""
    from reticent.data.source import Source, scan_source

    table = scan_source(Source(), frame).collect()
    rows = [
        ["" if cell is None else str(cell) for cell in row] for row in table.unique(maintain_order=True).iter_rows()
    ]
    if rows and len({row[-1] for row in rows}) > 1:
        rows = [[*row, ROOT] for row in rows]
    return Hierarchy.from_rows(rows, "a frame")


def from_amnesia(given: str | Path, values: Any = None) -> Hierarchy:
    """Build from the path of a file, or its text; `values` are the data's, which a range hierarchy needs."""
    text = _read_text(given)
    if text.lstrip().startswith(("{", "[")):
        try:
            tree = json.loads(text)
        except json.JSONDecodeError as error:
            raise HierarchyError(f"The hierarchy is not valid JSON (line {error.lineno}).") from None
        except RecursionError:
            raise _make_tree_error() from None
        return from_tree(tree)
    head, _, body = text.partition("\n")
    kind = head.strip().lower()
    if kind not in ("distinct", "range"):
        raise HierarchyError(
            "An Amnesia hierarchy starts with `distinct` or `range`.", attempt="the file as Amnesia saved it."
        )
    children = _parse_amnesia_lines(body)
    if kind == "distinct":
        return Hierarchy.from_rows(_list_paths(children), "an Amnesia hierarchy")
    return _place_under_ranges(_list_paths(children), values)


def from_tree(tree: Any) -> Hierarchy:
    """Build from a tree in JSON.

    It is {"nodes": [{"id", "label"}], "edges": [{"from", "to"}]}, or nested {"name", "children"} with any of the
    usual keys.
    """
    try:
        children = _parse_json_tree(tree)
    except (LookupError, TypeError, RecursionError):
        # A node is no table, lacks its name, or names one that is not there.
        raise _make_tree_error() from None
    return Hierarchy.from_rows(_list_paths(children), "a JSON hierarchy")


def parse_fraction(value: Any, subject: str) -> Fraction:
    """Parse a number exactly as it was written: 0.1 is one tenth."""
    text = repr(float(value)) if isinstance(value, float) else str(value)
    number = None if isinstance(value, bool) else _try_parse_fraction(text)
    if number is None:
        raise HierarchyError(f"{subject} must be a number.", attempt="a number such as 10 or 0.5.")
    return number


def drop_idle_levels(rows: list[list[str]]) -> list[list[str]]:
    """Drop levels between leaf and root that have as many groups as the level below, or just one."""
    levels = [0]
    groups = len({row[0] for row in rows})
    for level in range(1, len(rows[0]) - 1):
        groups_on_level = len({row[level] for row in rows})
        if 1 < groups_on_level < groups:
            levels.append(level)
            groups = groups_on_level
    levels.append(len(rows[0]) - 1)
    return [[row[level] for level in levels] for row in rows]


def pad_rows(rows: list[list[str]]) -> list[list[str]]:
    """Make rows equally long: a value nearer to the root stands for itself on the levels it lacks."""
    width = max(len(row) for row in rows)
    return [[row[0]] * (width - len(row)) + row for row in rows]


def cut_into_shares(distinct: DistinctValues, groups: Sequence[int]) -> list[list[str]]:
    """Cut values, in their order, into shares of the rows, finest first."""
    columns = [distinct.texts]
    for count in groups:
        share = assign_shares(distinct.rows, count)
        ends: dict[int, tuple[str, str]] = {}
        for text, number in zip(distinct.texts, share, strict=True):
            ends[number] = (ends.get(number, (text, text))[0], text)
        columns.append(
            [ends[number][0] if len(set(ends[number])) == 1 else "[{}, {}]".format(*ends[number]) for number in share]
        )
    return [[*row, ROOT] for row in zip(*columns, strict=True)]


def assign_shares(weights: Sequence[int], count: int) -> list[int]:
    """Return which of `count` equal shares of the whole the middle of each weight falls in.

    Shares rise, and are nested for multiples of `count`.
    """
    total = sum(weights)
    shares = []
    before = 0
    for weight in weights:
        shares.append(count * (2 * before + weight) // (2 * total))
        before += weight
    return shares


def format_band(low: Fraction, high: Fraction, are_whole: bool) -> str:
    """Format the band of numbers from low up to, not including, high."""
    if are_whole:
        return _format_fraction(low) if high - low == 1 else f"[{_format_fraction(low)}, {_format_fraction(high - 1)}]"
    return f"[{_format_fraction(low)}, {_format_fraction(high)})"


def format_span(first: str, last: str) -> str:
    """Format the label of neighbours in an order by the first and the last of them."""
    return first if first == last else f"{first} .. {last}"


def parse_node_ends(builder: str, label: str) -> tuple[str, str] | None:
    """Return both ends of a node by its label, or None where the builder takes them from data or leaves one open."""
    if builder == "dates":
        return _parse_calendar_ends(label)
    return _parse_band_ends(label) if builder in ("intervals", "edges") else None


def build(
    asked: Mapping[str, Any], values: Any, rows: Sequence[int] | None = None, name: str = "hierarchy"
) -> Hierarchy:
    """Build a hierarchy from a job file's options: `{build = "intervals", width = 10}`."""
    request = dict(asked)
    asked = dict(asked)
    kind = asked.pop("build", None)
    if kind not in BUILDERS:
        raise HierarchyError(
            f"The hierarchy of {name!r} is to be built by {kind!r}.", attempt=suggest(str(kind), BUILDERS)
        )
    builder = BUILDERS[kind]
    parameters = [
        parameter for parameter in inspect.signature(builder).parameters if parameter not in ("values", "rows")
    ]
    for parameter in asked:
        if parameter not in parameters:
            raise HierarchyError(
                f"The builder {kind!r} has no parameter {parameter!r}.", attempt=suggest(parameter, parameters)
            )
    try:
        return replace(builder(values, **asked, rows=rows), request=request)
    except TypeError:
        raise HierarchyError(
            f"The builder {kind!r} lacks a parameter or has one of the wrong type.", attempt=f"{', '.join(parameters)}."
        ) from None
    except HierarchyError as error:
        raise HierarchyError(
            f"The hierarchy of {name!r}: {error.what}", why=error.why, attempt=error.attempt, values=error.values
        ) from None


def _to_series(values: Any) -> pl.Series:
    try:
        return pl.Series("value", values)
    except Exception as error:
        raise HierarchyError(
            f"The values cannot be read as one column: {type(error).__name__}.", attempt="values of one type."
        ) from None


def _try_parse_fraction(text: str) -> Fraction | None:
    try:
        return Fraction(text.strip()) if is_moderate_number(text) else None
    except (ValueError, ZeroDivisionError):
        return None


def _are_integers(numbers: Sequence[Fraction]) -> bool:
    return all(map(is_whole, numbers))


def _sort_by_number(table: list[list[str]], numbers: Sequence[Fraction]) -> list[list[str]]:
    return [table[index] for index in sorted(range(len(table)), key=lambda index: numbers[index])]


def _format_fraction(number: Fraction) -> str:
    """Format a fraction, as a decimal where there is one."""
    if is_whole(number):
        return str(number)
    rest = as_ratio(number)[1]
    for factor in (2, 5):
        while rest % factor == 0:
            rest //= factor
    return f"{float(number):.15g}" if rest == 1 else str(number)


_bands_between = edges  # under a name that the parameter of `_build_edges` does not hide


def _parse_group_counts(groups: Any) -> list[int]:
    counts = [groups] if isinstance(groups, int) else list(groups)
    fine = all(isinstance(count, int) and not isinstance(count, bool) and count > 1 for count in counts)
    if not counts or not fine or any(finer % coarser or finer == coarser for finer, coarser in pairwise(counts)):
        raise HierarchyError(
            "Quantile groups must be whole numbers above 1, each a divisor of the one before it.",
            attempt="groups = [16, 4].",
        )
    return counts


def _parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError:
        return None


def _make_sort_keys(distinct: DistinctValues, order: Sequence[Any] | None) -> list[Any]:
    if order is None:
        try:
            return distinct.parse_numbers()
        except HierarchyError:
            return distinct.texts
    position_of_value = {str(value): position for position, value in enumerate(order)}
    lacking = sum(text not in position_of_value for text in distinct.texts)
    if lacking:
        raise HierarchyError(
            f"{lacking} of {len(distinct.texts)} distinct values are not in the order.", attempt="every value once."
        )
    return [position_of_value[text] for text in distinct.texts]


def _iterate_paths(groups: Any) -> Iterator[list[str]]:
    if isinstance(groups, Mapping):
        for name, members in groups.items():
            for path in _iterate_paths(members):
                yield [str(name), *path]
    elif isinstance(groups, str) or not isinstance(groups, Sequence | set | frozenset):
        yield [str(groups)]
    else:
        for value in groups:
            yield [str(value)]


def _read_text(path_or_text: str | Path) -> str:
    if isinstance(path_or_text, str) and "\n" in path_or_text:
        return path_or_text
    try:
        return read_text_file(path_or_text)
    except OSError as error:
        raise HierarchyError(
            f"The hierarchy cannot be read: {error.strerror}.", why=f"Looked for {path_or_text}."
        ) from None
    except UnicodeDecodeError as error:
        raise HierarchyError(
            f"The hierarchy is not UTF-8 (byte {error.start}).", attempt="saving it as UTF-8."
        ) from None


def _make_tree_error() -> HierarchyError:
    return HierarchyError(
        "The JSON is no tree that is understood, or one of too many levels.",
        attempt='{"nodes": [{"id", "label"}], "edges": [{"from", "to"}]}, or nested {"name", "children"}.',
    )


def _parse_amnesia_lines(body: str) -> Children:
    children: Children = {}
    for number, line in enumerate(body.splitlines(), start=2):
        tokens = line.split()
        if not tokens or tokens[0].lower() in ("name", "type", "height"):
            continue
        if len(tokens) < 3 or tokens[1] != "has":
            raise HierarchyError(
                f"Line {number} of the hierarchy is not `parent has child ...`.", attempt="values without spaces."
            )
        children.setdefault(tokens[0], []).extend(tokens[2:])
    return children


def _list_paths(children: Children) -> list[list[str]]:
    """List the paths from every leaf to the one root."""
    children = {above: [child for child in below if child != above] for above, below in children.items()}
    parent: dict[str, str] = {}
    for above, below in children.items():
        for child in below:
            if parent.setdefault(child, above) != above:
                raise HierarchyError("Not a tree: a node has two parents.", values=[child])
    roots = [node for node in children if node not in parent]
    if len(roots) != 1:
        raise HierarchyError(
            f"A hierarchy has one root; this one has {len(roots)}.", attempt="one node above all others."
        )
    rows: list[list[str]] = []
    waiting = [[roots[0]]]
    while waiting:
        path = waiting.pop()
        below = children.get(path[0], [])
        if not below:
            rows.append(path)
        waiting += [[child, *path] for child in reversed(below)]
    return pad_rows(rows)


def _place_under_ranges(ranges: list[list[str]], values: Any) -> Hierarchy:
    if values is None:
        raise HierarchyError("A range hierarchy needs the data's values.", attempt="from_amnesia(path, values).")
    distinct = DistinctValues.from_values(values)
    bounds = [tuple(parse_fraction(end, "the end of a range") for end in row[0].split(",")) for row in ranges]
    if any(len(ends) != 2 for ends in bounds):
        raise HierarchyError("A node of a range hierarchy is `low,high`.", attempt="the file as Amnesia saved it.")
    rows: list[Sequence[str]] = []
    for number, text in sorted(zip(distinct.parse_numbers(), distinct.texts, strict=True)):
        index = next((index for index, (low, high) in enumerate(bounds) if low <= number <= high), None)
        if index is not None:
            rows.append([text, *(f"[{node.replace(',', ', ')}]" for node in ranges[index][:-1]), ROOT])
    if len(rows) < len(distinct.texts):
        lacking = len(distinct.texts) - len(rows)
        raise HierarchyError(
            f"{lacking} of {len(distinct.texts)} distinct values lie in no range.", attempt="wider ranges."
        )
    return distinct.build_hierarchy(rows, "numeric")


def _parse_json_tree(tree: Any) -> Children:
    children: Children = {}
    if isinstance(tree, Mapping) and _find_first_key(tree, "nodes", "nodeList") is not None:
        text = {
            str(node["id"]): str(_find_first_key(node, "label", "text", "name", "id"))
            for node in _find_first_key(tree, "nodes", "nodeList")
        }
        for edge in _find_first_key(tree, "edges", "edgeList") or []:
            children.setdefault(text[str(edge["from"])], []).append(text[str(edge["to"])])
    else:
        for parent, child in _iterate_edges(tree[0] if isinstance(tree, list) and len(tree) == 1 else tree):
            children.setdefault(parent, []).append(child)
    return children


def _parse_calendar_ends(label: str) -> tuple[str, str] | None:
    """Return the first and the last day of a month, quarter, year or decade."""
    match = _CALENDAR_LABEL_PATTERN.fullmatch(label)
    if match is None:
        return None
    year = int(match[1])
    month = match[2]
    quarter = match[3]
    decade = match[4]
    if month is not None:
        first = (year, int(month))
        months = 1
    elif quarter is not None:
        first = (year, 3 * int(quarter) - 2)
        months = 3
    else:
        first = (year, 1)
        months = 120 if decade else 12
    past = first[0] * 12 + first[1] - 1 + months
    last = date(_LAST_YEAR, 12, 31)
    if past // 12 <= _LAST_YEAR:
        last = date(past // 12, past % 12 + 1, 1) - timedelta(days=1)
    return date(max(first[0], 1), first[1], 1).isoformat(), last.isoformat()


def _parse_band_ends(label: str) -> tuple[str, str] | None:
    """Return the edges of `[20, 29]` or `[0.5, 1)`; a band that is open prints with both of its edges."""
    match = _BAND_LABEL_PATTERN.fullmatch(label)
    if match is None:
        return None
    try:
        return format_decimal(Decimal(match[1])), format_decimal(Decimal(match[2]))
    except InvalidOperation:  # an edge that no decimal is, as a third
        return None


def _find_first_key(node: Mapping[str, Any], *names: str) -> Any:
    return next((node[name] for name in names if name in node), None)


def _iterate_edges(node: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(node, Mapping) or _find_first_key(node, "label", "text", "name", "value", "id") is None:
        raise HierarchyError("A node of the JSON tree has no name.", attempt='{"name": "*", "children": [...]}.')
    name = str(_find_first_key(node, "label", "text", "name", "value", "id"))
    for child in _find_first_key(node, "children", "nodes") or []:
        child = child if isinstance(child, Mapping) else {"name": child}
        yield name, str(_find_first_key(child, "label", "text", "name", "value", "id"))
        yield from _iterate_edges(child)


def _build_edges(values: Any, edges: Sequence[Any], *, rows: Sequence[int] | None = None) -> BuiltHierarchy:
    """Build from a job's `edges = [18, 65]` or, with several levels, `edges = [[18, 30, 65], [18, 65]]`."""
    nested = bool(edges) and isinstance(edges[0], Sequence) and not isinstance(edges[0], str)
    return _bands_between(values, *(edges if nested else [edges]), rows=rows)


BUILDERS: dict[str, Callable[..., BuiltHierarchy]] = {
    "intervals": intervals,
    "edges": _build_edges,
    "quantiles": quantiles,
    "prefixes": prefixes,
    "dates": dates,
    "balanced": balanced,
}
"""The builders that a job file names; each takes the column's values first, and by name the rows of each value."""
