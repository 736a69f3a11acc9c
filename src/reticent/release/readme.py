"""Sentences and Markdown that the READMEs of several kinds share.  All are functions of the manifest alone.

A column may have any name, and a README is opened in browsers and terminals.  A plain name is written as code.  Any
other is written with numeric entities for its marks (`&#60;`), which every reader shows as the characters and none
interprets; unprintable characters, such as a line end or a terminal's escape, are spelled out (`format_code`,
`escape_markup`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from reticent import catalogue
from reticent.data.columns import LabelOptions, Role
from reticent.errors import pluralize
from reticent.format.data_files import format_file_pattern, group_files_by_table
from reticent.format.manifest import ColumnEntry, ComponentEntry, Manifest
from reticent.plugins import get_namespace, is_plugin_name

_PLAIN_NAME_PATTERN = re.compile(
    r"[^\x00-\x1f\x7f-\x9f`<>&|\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+"
)
_MARK_PATTERN = re.compile(r"[^\w ]|_", re.ASCII)
_UNPRINTABLE_PATTERN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_PROSE_MARK_PATTERN = re.compile(r"[\\`*_<>&|\[\]#~$]")
_WORD_PATTERN = re.compile(r"[\w .-]+")
_UNBREAKABLE_PATTERN = re.compile(r"(?:`[^`]*`|\S)+")  # what stands on one line: a word, or words in code
_LINE_MARKUP_PATTERN = re.compile(r"[-+*#>|=~]|\d+[.)]$")  # what would be markup at the beginning of a line
MAX_LINE_WIDTH = 120
SEEDED_WARNING = "**Not for publication: made with a fixed seed, for tests and studies.**"
LABELLED_READERS = (
    "- Who knows everybody's quasi-identifying values and meets labels of which several cover one person can count how many "
    "people fit where, and work out which group the person is in.",
    "- Who knows that no group could be divided further can infer values that a range or a set hides.",
)
"""What is possible where columns are published as labels."""
ABOUT_NAMES = {
    "publisher": "Publisher",
    "period": "Period",
    "contact": "Contact",
    "licence": "Licence",
    "citation": "Citation",
    "purpose": "Purpose",
    "recipients": "Recipients",
    "earlier": "Earlier releases",
}
"""How what is said about a release is named to people; its title is the heading."""
EXACT_COLUMNS_LIMIT = "- Who a row belongs to is not hidden: the other columns are exact. Whether someone is in the data is not hidden either."
FORMULA_NOTES = {
    "quote": "In the CSV files, texts and column names that a spreadsheet would take for formulas begin with an apostrophe (`'`) that\n"
    "is not part of them; `rt.open` takes it away.",
    "present": "**Some texts or column names begin as formulas do (`=`, `+`, `-`, `@`, a tab or a carriage return), and a spreadsheet may\n"
    'run them.** Import the files as text, or open them with `rt.open`. The publisher can quote them (`formulas = "quote"`).',
}
STATISTICS_LIMIT = "- Statistical conclusions that hold for everyone are not stopped, and are what the data is for."
_TIGHT_ENDS_LIMIT = (
    "- The ends of a range, and the least and greatest value that `manifest.json` states of a column, are values that people have,\n"
    "  unless the publisher declared them."
)
_WIDER_ENDS_SENTENCES = {
    "snapped": "the ends of a range were rounded outwards{by}: an end is not a value that somebody has, unless by chance",
    "padded": "each end of a range was moved outwards by a secret amount{by}: an end is not a value that somebody has, unless by chance",
    "shared": "each end of a range was moved outwards by a secret amount{by}, and of at most {share} of the range: the ends of the\n"
    "  narrowest ranges were not moved, and people have them; another end is not a value that somebody has, unless by chance",
}


def render_page(lines: Iterable[str]) -> str:
    """Render the lines of a README; none is too wide to read, except tables and code."""
    joined_lines: list[str] = []
    fenced = False
    for line in "\n".join(lines).split("\n"):
        fenced ^= line.startswith("```")
        if not fenced and line.startswith("  ") and joined_lines and joined_lines[-1].startswith("- "):
            joined_lines[-1] += f" {line.strip()}"  # one item, however its sentence is written in the code
        else:
            joined_lines.append(line)
    return "\n".join(_wrap_lines(joined_lines)) + "\n"


def wrap_line(line: str) -> list[str]:
    """Wrap a paragraph or one item of a list; code and names are never divided."""
    if len(line) <= MAX_LINE_WIDTH or line.startswith("|"):
        return [line]
    wrapped = []
    inset = "  " if line.startswith(("- ", "  ")) else ""
    current = "  " if line.startswith("  ") else ""
    for word in _UNBREAKABLE_PATTERN.findall(line):
        if current.strip() and len(current) + 1 + len(word) > MAX_LINE_WIDTH and not _LINE_MARKUP_PATTERN.match(word):
            wrapped.append(current)
            current = inset + word
        else:
            current += word if not current.strip() else f" {word}"
    return [*wrapped, current]


def format_code(name: str) -> str:
    """Format a name inside a sentence or a table."""
    return f"`{name}`" if _PLAIN_NAME_PATTERN.fullmatch(name) and name.strip() else f'"{escape_markup(name)}"'


def format_cell(name: str) -> str:
    """Format a name alone in a cell of a table: unchanged if it means nothing to Markdown."""
    return name if _WORD_PATTERN.fullmatch(name) and name.strip() else f'"{escape_markup(name)}"'


def format_example_name(name: str) -> str:
    """Format a name in a block of code; dots if it is not a plain name."""
    return name if _WORD_PATTERN.fullmatch(name) and name.strip() else "..."


def escape_markup(text: str) -> str:
    """Escape a text so that nothing in it is markup."""
    return "".join(
        f"&#{ord(mark)};" if mark.isascii() and _MARK_PATTERN.fullmatch(mark) else mark
        for mark in escape_unprintable(text)
    )


def escape_line(text: str) -> str:
    """Escape a line of text that the publisher wrote: it stays readable, and nothing in it is markup."""
    return _PROSE_MARK_PATTERN.sub(lambda match: f"&#{ord(match[0])};", escape_unprintable(text))


def escape_unprintable(text: str) -> str:
    return _UNPRINTABLE_PATTERN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def format_said(said: str | list[str]) -> str:
    """Format what is said about a release under one name: a text, or several."""
    return said if isinstance(said, str) else "; ".join(said)


def describe_release(manifest: Manifest) -> str:
    """Describe a release by its kind and its rows."""
    article = "An" if manifest.kind[0] in "aeiou" else "A"
    return f"{article} {manifest.kind} release of {pluralize(manifest.rows, 'row')}"


def format_heading(manifest: Manifest, summary: str) -> list[str]:
    """Format the title, what the publisher says of the release, and in a sentence or two what this kind of release is."""
    about = manifest.about or {}
    title = about.get("title")
    parts = [f"# {describe_release(manifest) if title is None else escape_line(title)}", ""]
    parts += [SEEDED_WARNING, ""] if manifest.seeded else []
    parts += [f"{describe_release(manifest)}. {summary}" if title is not None else summary, ""]
    return [*parts, *_format_about(about)]


def format_reading_section(manifest: Manifest, *lines: str, labelled: bool = False) -> list[str]:
    """Format the section on the files and columns: what a kind says of them, and what all have in common."""
    return [
        "## How to read the data",
        "",
        *lines,
        "",
        *([FORMULA_NOTES[manifest.formulas], ""] if manifest.formulas else []),
        *_explain_nulls(manifest, labelled=labelled),
        "",
        *_warn_of_spreadsheets(manifest),
        *explain_parts(manifest),
    ]


def list_file_names(manifest: Manifest) -> list[str]:
    """Name each data file for a sentence: one file, or its first part to its last."""
    files = group_files_by_table(manifest.data).values()
    return [f"`{names[0]}`" if len(names) == 1 else f"`{names[0]}` to `{names[-1]}`" for names in files]


def list_file_subjects(manifest: Manifest) -> list[str]:
    """Name each data file as the subject of a sentence, with its verb."""
    are_cut = [len(names) > 1 for names in group_files_by_table(manifest.data).values()]
    return [
        f"{file_name} hold" if cut else f"{file_name} holds"
        for file_name, cut in zip(list_file_names(manifest), are_cut, strict=True)
    ]


def format_promises(manifest: Manifest, sentence: Callable[[ComponentEntry], str] | None = None) -> list[str]:
    """Write the promises in sentences."""
    describe = sentence or describe_promise
    return ["## What is promised", "", *(f"- {describe(promise)}" for promise in manifest.promises)]


def format_limits(manifest: Manifest, *limits: str, labelled: bool = False) -> list[str]:
    """Write what a kind's promises do not cover, what no promise of any release covers, and earlier releases."""
    about = manifest.about or {}
    contact = f": {escape_line(about['contact'])}" if "contact" in about else ""
    unnamed = f"Whether there are earlier releases of the same people is not said here; its publisher knows{contact}."
    named = "The publisher names the earlier ones below."
    return [
        "",
        "## What is not",
        "",
        *limits,
        STATISTICS_LIMIT,
        "",
        "## Who else reads it",
        "",
        "Unless a promise above names them, it is not about these readers. No release is safe because an attack on it failed.",
        "",
        f"- Who holds two releases of the same people, or other data about them, can compare what they say of a person, and learn "
        f"more than from either. {named if 'earlier' in about else unnamed}",
        "- Who knows the method, which `manifest.json` names, and what others may know of everybody can ask from which tables it "
        "would have made just this release, and rule some values out.",
        "- Who learns from the release how sensitive values go with the other columns can guess a person's value better than the "
        "person's own row or group tells.",
        *(LABELLED_READERS if labelled else ()),
        *_format_earlier(about),
    ]


def describe_promise(promise: ComponentEntry) -> str:
    parameters = dict(promise.parameters)
    if is_plugin_name(promise.name):
        stated = "".join(f", {name} = {format_code(json.dumps(value))}" for name, value in parameters.items())
        return (
            f"{promise.name}{stated}: a promise that the plugin {get_namespace(promise.name)} brings and judges, not "
            "reticent, which does not know what it means."
        )
    form = ", frequent ones less than that" if parameters.get("enhanced") else ""
    form += ", and no less frequent than there divided by as much" if parameters.get("two_sided") else ""
    variant = "".join(f", {word.replace('_', '-')}" for word in ("enhanced", "two_sided") if parameters.get(word))
    column = format_code(parameters["column"]) if "column" in parameters else "the sensitive column"
    formatted = {name: _format_parameter(value) for name, value in parameters.items()}
    return catalogue.PROMISES[promise.name].sentence.format(
        **{**formatted, "column": column, "form": form, "which": variant}
    )


def describe_coarsening(column: ColumnEntry) -> list[str]:
    """Describe what top and bottom coding and rounding did to a column."""
    is_date = any(isinstance(end, str) for end in (column.bottom, column.top))
    lower_word, upper_word = ("earlier", "later") if is_date else ("less", "more")
    ends = ((column.bottom, lower_word), (column.top, upper_word))
    sentences = [f"`{end}` means {end} or {word}" for end, word in ends if end is not None]
    return sentences + (
        [f"rounded to the nearest multiple of {column.round_to}"] if column.round_to is not None else []
    )


def describe_coarser_columns(manifest: Manifest) -> list[str]:
    return [
        f"- {format_code(column.name)}: {sentence}."
        for column in manifest.columns
        for sentence in describe_coarsening(column)
    ]


def describe_range_ends(manifest: Manifest) -> list[str]:
    """Describe what the ends of ranges reveal: for columns with tight labels, and for each column with other labels."""
    lines = [column for column in manifest.find_columns_with_role(Role.QUASI) if column.type != "categorical"]
    wider = {column.name: LabelOptions.parse(column.labels) for column in lines if column.labels is not None}
    tight = [column for column in lines if column.name not in wider]
    sentences = [_TIGHT_ENDS_LIMIT] if tight and not wider else []
    if tight and wider:
        names = ", ".join(format_code(column.name) for column in tight)
        sentences = [
            f"- The ends of a range of {names} are values that people have, unless the publisher declared them."
        ]
    return [
        *sentences,
        *(f"- {format_code(name)}: {_describe_wider_ends(label_options)}." for name, label_options in wider.items()),
    ]


def format_rows_per_person(manifest: Manifest) -> str:
    """Describe how many rows a person has, as the job declares it."""
    max_rows = manifest.rows_per_person
    return "one row per person" if max_rows == 1 else f"at most {max_rows} rows per person"


def describe_several_rows(manifest: Manifest, because: str) -> list[str]:
    """Describe what a promise about rows does not cover for a person who has several."""
    if manifest.rows_per_person == 1:
        return []
    return [f"- A person with several rows is protected in each row alone: {because}."]


def format_withheld_rows(manifest: Manifest) -> list[str]:
    """Describe how many rows were withheld, and why where the manifest states it."""
    if not manifest.withheld:
        return []
    total = f"- {pluralize(manifest.withheld, 'row', 'was', 'were')} withheld"
    reasons = explain_withheld_rows(manifest)
    return [f"{total}: {'; '.join(reasons)}." if reasons else f"{total}."]


def explain_withheld_rows(manifest: Manifest) -> list[str]:
    """Explain the withheld rows by their number and the reason; nothing where the method or a stage withheld them all.

    Suppression of the kind `eligible` is said even then: it hides nothing of which values the withheld rows have.
    """
    stage = manifest.stage("suppression")
    shows_values = stage is not None and stage.parameters.get("kind") == "eligible" and manifest.withheld_later > 0
    if not manifest.withheld_before and not shows_values:
        return []
    reasons = []
    if manifest.withheld_missing:
        names = [format_code(column.name) for column in manifest.columns if column.missing == "withhold"]
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
        reasons.append(
            f"{manifest.withheld_missing:,} because {listed} has no value there, so that the published rows are not a "
            "random part of the source"
        )
    if manifest.withheld_surplus:
        reasons.append(
            f"{manifest.withheld_surplus:,}, drawn at random, of people with more than "
            f"{pluralize(manifest.rows_per_person, 'row')}"
        )
    if shows_values:
        assert stage is not None
        column = format_code(stage.column or manifest.sensitive.name)
        reasons.append(
            f"{manifest.withheld_later:,} with the most frequent values of {column}, which are rarer here than in the source"
        )
    elif manifest.withheld_later:
        reasons.append(f"{manifest.withheld_later:,} to keep what is promised, or to lose less")
    return reasons


def _format_about(about: Mapping[str, Any]) -> list[str]:
    """Format what the publisher says of the release, a line for each; earlier releases have a section of their own."""
    lines = [
        f"- **{title}**: {escape_line(format_said(about[name]))}"
        for name, title in ABOUT_NAMES.items()
        if name in about and name != "earlier"
    ]
    return [*lines, ""] if lines else []


def _format_earlier(about: Mapping[str, Any]) -> list[str]:
    if "earlier" not in about:
        return []
    return [
        "",
        "## Earlier releases",
        "",
        "The publisher names these earlier releases of the same people:",
        "",
        *(f"- {escape_line(said)}" for said in about["earlier"]),
    ]


def _explain_nulls(manifest: Manifest, *, labelled: bool) -> list[str]:
    """Explain where a value is missing, and how that is written."""
    written = (
        'In the CSV files it is an empty field; `""` is a text without letters.'
        if manifest.data[0].endswith(".csv")
        else "The files tell it from a text without letters."
    )
    hidden = (
        " In the columns that are made coarser it stands where the whole group has no value; `*` may stand for a missing value too."
        if labelled
        else ""
    )
    return [f"`null` means that the source has no value there. {written}{hidden}"]


def _warn_of_spreadsheets(manifest: Manifest) -> list[str]:
    """Warn that spreadsheets change what they read from a CSV file."""
    if not manifest.data[0].endswith(".csv"):
        return []
    return [
        "A spreadsheet that opens a CSV file turns codes such as 00501 into numbers and some texts into dates: import the "
        "columns as text.",
        "",
    ]


def _wrap_lines(lines: Iterable[str]) -> Iterator[str]:
    fenced = False
    for line in lines:
        fenced ^= line.startswith("```")
        yield from [line] if fenced else wrap_line(line)


def explain_parts(manifest: Manifest) -> list[str]:
    """Explain how to read files that are cut into parts, without reticent."""
    cut = {name: names for name, names in group_files_by_table(manifest.data).items() if len(names) > 1}
    if not cut:
        return []
    reader = "read_csv" if manifest.data[0].endswith(".csv") else "read_parquet"
    part_counts = ", ".join(f"`{name}` into {len(names):,}" for name, names in cut.items())
    polars = [f'{name} = pl.{reader}("{format_file_pattern(names)}")' for name, names in cut.items()]
    pandas = [
        f'{name} = pd.concat(map(pd.{reader}, sorted(glob.glob("{format_file_pattern(names)}"))), ignore_index=True)'
        for name, names in cut.items()
    ]
    return [
        f"The rows are cut into parts of {manifest.part_rows:,}, the last part of a file holding what is left: {part_counts}. Where",
        "they are cut says nothing about them. `rt.open` reads the parts as one table, and so do Polars or pandas, in this folder:",
        "",
        "```python",
        "import polars as pl",
        *polars,
        "```",
        "",
        "```python",
        "import glob",
        "import pandas as pd",
        *pandas,
        "```",
        "",
    ]


def _format_parameter(value: Any) -> Any:
    """Format a parameter for a sentence: a table as its entries, a list as its items."""
    if isinstance(value, Mapping):
        return ", ".join(f"{format_cell(name)} {_format_parameter(entry)}" for name, entry in sorted(value.items()))
    if isinstance(value, list | tuple):
        return "; ".join(str(_format_parameter(entry)) for entry in value)
    return format_cell(value) if isinstance(value, str) and not value[:1].isdigit() else value


def _describe_wider_ends(label_options: LabelOptions) -> str:
    return _WIDER_ENDS_SENTENCES["shared" if label_options.share is not None else label_options.style].format(
        by=_format_step(label_options), share=label_options.share
    )


def _format_step(label_options: LabelOptions) -> str:
    if label_options.step is not None:
        return (
            f", to {label_options.step}s"
            if isinstance(label_options.step, str)
            else f", to multiples of {label_options.step}"
        )
    return f" of at most {label_options.width}" if label_options.width is not None else ""
