"""Edits of the job's columns: roles, options, and which of the drafted lines the steward has confirmed.

A draft marks what is to be confirmed by `CONFIRM:` in the comment below a column's line (`job/draft.py`).  Confirming takes
the word away, so that the job file alone says what was decided; a job made by hand has no such word and waits for nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

import tomlkit
from tomlkit.items import Comment, Item

from reticent.catalogue.job_fields import COLUMN_FIELDS
from reticent.data.columns import Role
from reticent.errors import ColumnError, quote_list
from reticent.job.job import Job
from reticent.studio.desk import Desk
from reticent.studio.job_file import set_in_document

MARK = "CONFIRM: "
LEFT_OUT = "left out"
DRAFTED_COMMENT = "#   "  # how `init` begins the comments below a column


@contextmanager
def edit_columns(desk: Desk) -> Iterator[tomlkit.TOMLDocument]:
    """Yield the job to be changed; a change that makes a valid job invalid is refused, and nothing is written.

    Raises:
        ReticentError: the job would not be valid.
    """
    was_valid = desk.find_job_error() is None
    with desk.job_file.edit() as document:
        yield document
        if was_valid:
            table = tomllib.loads(tomlkit.dumps(document), parse_float=Decimal)
            Job.from_dict(table, desk.job_file.path.parent)


def list_declared(desk: Desk) -> dict[str, dict[str, Any]]:
    """Return the options of each declared column by its name or pattern; a column declared by its role alone has that."""
    columns = desk.job_file.read_table().get("columns", {})
    if not isinstance(columns, Mapping):
        return {}
    tables = {}
    for name, entry in columns.items():
        table: dict[str, Any] = {"role": entry}
        if not isinstance(entry, str):
            table = dict(entry) if isinstance(entry, Mapping) else {}
        role = table.get("role")
        aliases = COLUMN_FIELDS["role"].aliases
        table["role"] = aliases.get(role, role) if isinstance(role, str) else ""
        tables[name] = table
    return tables


def find_pattern(declared: Mapping[str, Any], name: str) -> str | None:
    """Return the glob pattern of the job that declares a column of this name, where its own name does not."""
    patterns = (entry for entry in declared if any(mark in entry for mark in "*?["))
    return next((pattern for pattern in patterns if fnmatchcase(name, pattern)), None)


def list_unconfirmed(desk: Desk) -> list[str]:
    """List the columns whose drafted line waits for a yes."""
    return [name for name, comments in _read_comments(desk).items() if any(MARK in text for text in comments)]


def is_reading_confirmed(desk: Desk) -> bool:
    """Tell whether nothing in [source] waits for a yes."""
    return not any(MARK in line for line in _list_source_lines(desk.job_file.text))


def confirm_reading(desk: Desk) -> None:
    """Take the word CONFIRM from [source]."""
    text = desk.job_file.text
    lines = text.splitlines(keepends=True)
    wanted = set(_list_source_lines(text))
    desk.job_file.write("".join(line.replace(MARK, "") if line.rstrip("\r\n") in wanted else line for line in lines))


def confirm_columns(desk: Desk, names: Iterable[str]) -> None:
    """Take the word CONFIRM from the comments of these columns."""
    with desk.job_file.edit() as document:
        comments = _find_comments(document)
        for name in names:
            for comment in comments.get(name, ()):
                comment.trivia.comment = comment.trivia.comment.replace(MARK, "")


def set_role(document: tomlkit.TOMLDocument, name: str, role: str) -> None:
    """Give a column a role, or leave it out.  Its drafted comments go, and so do options that the new role refuses.

    Promises about a column that is no longer sensitive go too.
    """
    _remove_drafted_comments(document, name)
    columns = document.setdefault("columns", tomlkit.table())
    entry = columns.get(name)
    if role == LEFT_OUT:
        if name in columns:
            columns.remove(name)
        if not columns:
            raise ColumnError("A job publishes at least one column.", attempt="a role for another column first.")
        set_in_document(document, ["release", "undeclared"], "drop")
    elif isinstance(entry, MutableMapping):
        for option in [option for option in entry if option != "role" and not fits_role(option, role)]:
            entry.pop(option)
        entry["role"] = role
    else:
        columns[name] = role
    if role != Role.SENSITIVE.value:
        _remove_promises(document, name)


def fits_role(option: str, role: str) -> bool:
    """Tell whether a column of this role may have an option."""
    field = COLUMN_FIELDS.get(option)
    return field is None or not field.roles or role in field.roles


def set_option(document: tomlkit.TOMLDocument, name: str, option: str, value: Any) -> None:
    """Set an option of a column, or remove it where the value is None."""
    columns = document["columns"]
    if name not in columns:
        raise ColumnError(f"The job does not declare {quote_list([name])}.", attempt="a role for the column first.")
    if isinstance(columns[name], str):
        table = tomlkit.inline_table()
        table["role"] = str(columns[name])
        columns[name] = table
    set_in_document(document, ["columns", name, option], value)


def make_toml_value(value: Any) -> Any:
    """Return a value as the document holds it: a table of options stands in one line."""
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, entry in value.items():
            table[key] = make_toml_value(entry)
        return table
    return list(value) if isinstance(value, tuple) else value


def _read_comments(desk: Desk) -> dict[str, list[str]]:
    try:
        document = tomlkit.parse(desk.job_file.text)
    except (tomlkit.exceptions.TOMLKitError, RecursionError):
        return {}
    return {name: [comment.as_string() for comment in entries] for name, entries in _find_comments(document).items()}


def _find_comments(document: tomlkit.TOMLDocument) -> dict[str, list[Item]]:
    """Find the drafted comments below the line of each column."""
    columns = document.get("columns")
    comments: dict[str, list[Item]] = {}
    name = None
    for key, item in getattr(getattr(columns, "value", None), "body", ()):
        if key is not None:
            name = key.key
            comments[name] = []
        elif isinstance(item, Comment) and name is not None and item.as_string().startswith(DRAFTED_COMMENT):
            comments[name].append(item)
        else:
            name = None
    return comments


def _remove_drafted_comments(document: tomlkit.TOMLDocument, name: str) -> None:
    drafted = {id(item) for item in _find_comments(document).get(name, ())}
    columns = document.get("columns")
    if not drafted or columns is None:
        return
    body = columns.value.body
    for position, (key, item) in enumerate(body):
        if key is None and id(item) in drafted:
            body[position] = (None, tomlkit.items.Null())


def _remove_promises(document: tomlkit.TOMLDocument, name: str) -> None:
    promises = document.get("promise")
    if isinstance(promises, list):
        for position in reversed(range(len(promises))):
            if isinstance(promises[position], Mapping) and promises[position].get("column") == name:
                del promises[position]


def _list_source_lines(text: str) -> list[str]:
    """List the lines of [source]."""
    lines: list[str] = []
    is_inside = False
    for line in text.splitlines():
        if line.startswith("["):
            is_inside = line.split("#")[0].strip() == "[source]"
        elif is_inside:
            lines.append(line)
    return lines
