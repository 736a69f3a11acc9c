"""The section of a README that tells its reader how to ask the release: lines of Python and of a shell that run.

The questions are made from the manifest alone: columns with plain names, a number between the ends that the manifest
states of a column, and no text of anybody's. A column's name stands in double quotes inside them, so that Python and a
shell take a whole question in single quotes.
"""

from __future__ import annotations

import re

from reticent.data.columns import Role
from reticent.format.manifest import ColumnEntry, Manifest
from reticent.format.schema_checks import parse_fraction

COUNT_ALL = "SELECT COUNT(*) FROM release"
MAX_NAME_LETTERS = 60
MAX_GROUPED_VALUES = 1_000
MAX_EXAMPLE_NUMBER = 10**15
_WITHHELD_MEANING = (
    "- All rows of the source are meant, withheld ones too; `published` is the answer about the published rows alone."
)
_QUOTABLE_NAME = re.compile(r"\w(?:[\w .-]*\w)?")


def list_example_questions(manifest: Manifest) -> list[str]:
    """List questions that this release answers: of everybody, of some people, and of the sensitive column."""
    questions = [COUNT_ALL]
    quasi = [column for column in manifest.find_columns_with_role(Role.QUASI) if _has_quotable_name(column)]
    questions += [question for column in quasi if (question := _ask_above_middle(column))][:1]
    if len(questions) == 1:
        questions += [_ask_by_value(column) for column in quasi if _has_few_values(column)][:1]
    sensitive = [column for column in manifest.find_columns_with_role(Role.SENSITIVE) if _has_quotable_name(column)]
    for column in sensitive[:1]:
        if column.type == "numeric":
            questions.append(f'SELECT AVG("{column.name}") FROM release')
        elif column.type in ("categorical", "ordinal") and _has_few_possible_values(column, manifest):
            questions.append(_ask_by_value(column))
    return questions


def format_asking_section(manifest: Manifest, *meanings: str) -> list[str]:
    """Format the section: where reticent is had, lines to run in the folder, and what an answer of this kind means."""
    questions = list_example_questions(manifest)
    ranged = next(iter(_list_bounded_names(manifest)), None)
    explained = f"`{ranged}_lower` and `{ranged}_upper` beside `{ranged}`, as numbers or dates" if ranged else ""
    return [
        "## How to ask it",
        "",
        f"The release was made with reticent {manifest.reticent}, a program for Python 3.11 or newer that opens the folder, checks "
        "that it is complete and undamaged, and answers questions about the people behind it. A newer version reads it too.",
        "",
        "```sh",
        "pip install reticent",
        "```",
        "",
        "In Python, in this folder:",
        "",
        "```python",
        "import reticent as rt",
        "",
        'release = rt.open(".")',
        "rows = release.frame(bounds=True)",
        *(_format_python_line(question) for question in questions),
        "```",
        "",
        "`frame()` is the table that is published, `to_pandas()` the same for pandas"
        + (f"; `bounds=True` adds {explained} (null where an end is not known)." if explained else "."),
        "",
        "On a command line, in this folder:",
        "",
        "```sh",
        "reticent audit .",
        *(f"reticent query . '{question}'" for question in questions),
        "```",
        "",
        "A question is put to the values that people had, not to what is printed here. Of an answer,",
        "",
        *meanings,
        *([_WITHHELD_MEANING] if manifest.withheld else ()),
        "",
    ]


def describe_certain_answer(assumption: str) -> list[str]:
    """Describe answers of kinds that have guaranteed bounds and no chance in them."""
    return [
        f"- `estimate` is the number to expect if {assumption};",
        "- `lower` and `upper`, where they are given, are certain: no table of people that fits this release has less or more.",
    ]


def describe_random_answer(column: str, manifest: Manifest) -> list[str]:
    """Describe answers of kinds whose values were redrawn at random; `column` is the redrawn one, as a sentence has it."""
    lines = [
        f"- `estimate` takes back, on average, what the redrawing did to {column};",
        "- `std_error` is its standard error, and `interval` has the true number in 95 of 100 releases made like this one;",
        "- `lower` and `upper`, where they are given, are certain, and often far apart.",
    ]
    if manifest.sensitive.type == "numeric":
        lines.append(
            f"- The least and the greatest {column} (MIN, MAX) cannot be told from redrawn values and are refused."
        )
    return lines


def _format_python_line(question: str) -> str:
    return f"print(release.query('{question}'))"


def _has_quotable_name(column: ColumnEntry) -> bool:
    return len(column.name) <= MAX_NAME_LETTERS and _QUOTABLE_NAME.fullmatch(column.name) is not None


def _ask_above_middle(column: ColumnEntry) -> str:
    """Ask how many have the middle of a numeric column's range or more; empty for a column without a range."""
    if column.type != "numeric" or not column.domain:
        return ""
    lowest, highest = (parse_fraction(end) for end in column.domain)
    middle = round((lowest + highest) / 2)
    if abs(middle) > MAX_EXAMPLE_NUMBER:
        return ""
    return f'SELECT COUNT(*) FROM release WHERE "{column.name}" >= {middle}'


def _ask_by_value(column: ColumnEntry) -> str:
    return f'SELECT "{column.name}", COUNT(*) FROM release GROUP BY "{column.name}"'


def _has_few_values(column: ColumnEntry) -> bool:
    """Tell whether the manifest lists the values of a category, and they are few enough to be asked one by one."""
    listed = column.hierarchy or column.values or column.order or ()
    return column.type in ("categorical", "ordinal") and 0 < len(listed) <= MAX_GROUPED_VALUES


def _has_few_possible_values(column: ColumnEntry, manifest: Manifest) -> bool:
    """Tell whether a sensitive column has few values as far as the manifest tells; rows may have no more than they are."""
    listed = [column.hierarchy, column.order, manifest.own.get("values"), manifest.own.get("domain")]
    return all(entries is None or len(entries) <= MAX_GROUPED_VALUES for entries in listed)


def _list_bounded_names(manifest: Manifest) -> list[str]:
    """List the columns that get typed ends beside them."""
    return [
        column.name
        for column in manifest.find_columns_with_role(Role.QUASI)
        if column.type != "categorical" and _has_quotable_name(column)
    ]
