"""Formats the tables of parameters in the docs from the catalogue's fields.

docs/parameters.md is made of them whole; a page of a promise or method has the table of its own parameters between two
marks. `python -m reticent.job.reference docs` writes them anew, and a test holds the docs to them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from reticent import catalogue
from reticent.catalogue import Field, JobTableRow, MethodRow, PromiseRow
from reticent.catalogue.fields import MAX_COLUMNS, MAX_COUNT, MAX_VALUES
from reticent.job.job import format_toml_value
from reticent.registry import convert_to_plain

PARAMETERS_PAGE = "parameters.md"
_TABLE_PATTERN = re.compile(r"(<!-- parameters of ([a-z-]+) -->\n).*?(<!-- end of parameters -->\n)", re.DOTALL)

_INTRODUCTION = """\
# Parameters

Every parameter of a job: its values, its default, and what it means. A number is exact: `0.1` is one tenth, and
`"1/3"` may be written where TOML has no fraction. Other values are refused with the parameter's name, by the
constructors of Python, in a job file, and in a manifest that is read. [job.schema.json](job.schema.json) has the same
for editors. This page is made from the fields of `src/reticent/catalogue/`: `python -m reticent.job.reference docs`.
"""


def main(folder: str) -> None:
    """Write the page of all parameters, and the tables of other pages, in a folder of docs."""
    docs = Path(folder)
    (docs / PARAMETERS_PAGE).write_text(format_parameters_page(), encoding="utf-8", newline="\n")
    for path in sorted(docs.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        refreshed = refresh_tables(text)
        if refreshed != text:
            path.write_text(refreshed, encoding="utf-8", newline="\n")


def format_parameters_page() -> str:
    """Format the page of all parameters."""
    job_tables = {
        "The job": catalogue.JOB_TABLES["job"],
        "`[source]`": catalogue.JOB_TABLES["source"],
        "A column of `[columns]`": catalogue.JOB_TABLES["column"],
        "`labels` of a column": catalogue.JOB_TABLES["labels"],
        "`[release]`": catalogue.JOB_TABLES["release"],
        "`[about]`": catalogue.JOB_TABLES["about"],
    }
    sections = [_INTRODUCTION]
    sections += [f"## {title}\n\n{_format_row(row)}" for title, row in job_tables.items()]
    components: Mapping[str, Mapping[str, PromiseRow | MethodRow]] = {
        "Promises: `[[promise]]`": catalogue.PROMISES,
        "Methods: `[method]`": catalogue.METHODS,
        "Stages: `[[prepare]]`": catalogue.STAGES,
    }
    for title, rows in components.items():
        sections.append(f"## {title}\n")
        sections += [f"### {name}\n\n{_format_row(row)}" for name, row in rows.items()]
    return "\n".join(sections)


def refresh_tables(text: str) -> str:
    """Write the tables of a page anew that stand between two marks."""
    rows: Mapping[str, PromiseRow | MethodRow] = {**catalogue.PROMISES, **catalogue.METHODS, **catalogue.STAGES}
    return _TABLE_PATTERN.sub(
        lambda match: f"{match[1]}\n{format_parameter_table(rows[match[2]].fields)}\n{match[3]}", text
    )


def format_parameter_table(fields: Mapping[str, Field]) -> str:
    """Format fields as a table in Markdown."""
    lines = ["| parameter | values | default | meaning |", "|---|---|---|---|"]
    for name, field in fields.items():
        cells = (f"`{name}`", _describe_values(field), _describe_default(field), _describe_meaning(field))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _format_row(row: PromiseRow | MethodRow | JobTableRow) -> str:
    text = f"{row.doc.replace('|', chr(92) + '|')}\n\n{format_parameter_table(row.fields)}"
    if row.relations:
        refusals = dict.fromkeys(relation.refusal for relation in row.relations)
        text += "\n" + "".join(f"- Refused: {refusal}\n" for refusal in refusals)
    return text


def _describe_values(field: Field) -> str:
    """Describe the values of a field; bounds that no table reaches are left out."""
    if field.kind == "choice":
        return ", ".join(f"`{format_toml_value(choice)}`" for choice in field.choices)
    if field.kind == "either":
        return " or ".join(dict.fromkeys(_describe_values(alternative) for alternative in field.alternatives))
    if field.kind in ("record", "variant"):
        conjunction = " and " if field.kind == "record" else " or "
        return "a table with " + conjunction.join(f"`{name}`" for name in field.fields)
    most = None if field.most == MAX_COUNT else field.most
    entries = None if field.entries is not None and field.entries[1] in _UNREACHED_COUNTS else field.entries
    return replace(field, most=most, entries=entries).allowed_values


_UNREACHED_COUNTS = (MAX_COUNT, MAX_COLUMNS, MAX_VALUES)


def _describe_default(field: Field) -> str:
    if field.required:
        return "required"
    if field.unset:
        return field.unset
    value = field.implied if field.default is None else field.default
    return "" if value is None or value == () else f"`{format_toml_value(convert_to_plain(value))}`"


def _describe_meaning(field: Field) -> str:
    if not field.roles:
        return field.doc
    *others, last = field.roles
    roles = f"{', '.join(others)} and {last}" if others else last
    return f"{field.doc}; of {roles} columns"


if __name__ == "__main__":
    main(sys.argv[1])
