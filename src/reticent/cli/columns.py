"""Columns and files as options name them: `--quasi A,B`, `--hierarchy COLUMN=FILE`."""

from __future__ import annotations


def names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def files(given: list[str] | None) -> dict[str, str]:
    from reticent.errors import RequestError

    pairs = [entry.partition("=") for entry in given or ()]
    if wrong := [column for column, mark, path in pairs if not (column and mark and path)]:
        raise RequestError(
            f"--hierarchy: {wrong[0]!r} names no column and file.", attempt="--hierarchy education=education.csv."
        )
    return {column: path for column, _, path in pairs}
