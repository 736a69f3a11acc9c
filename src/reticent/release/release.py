"""The release as its recipient holds it: the folder, its manifest and its rows."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import polars as pl

from reticent import html_repr
from reticent.audit.result import Audit
from reticent.catalogue.about_fields import ABOUT_FIELDS
from reticent.data import source as sources
from reticent.data.cells import Cells
from reticent.errors import ColumnError, OutputExists, RequestError, suggest
from reticent.estimate.answer import CONFIDENCE_LEVEL, Answer
from reticent.estimate.answers import Answers
from reticent.estimate.question import Question, require_known_reconstruction
from reticent.format.folder import translate_disk_errors
from reticent.format.manifest import ColumnEntry, Manifest
from reticent.ledger import staging
from reticent.ledger.commit import (
    commit,
    place_copy,
    place_export,
    prepare_target,
    require_export_free,
    require_not_recorded,
)
from reticent.ledger.ledger import Ledger
from reticent.ledger.notes import PublicationRecord
from reticent.ledger.release_desk import find_withdrawal
from reticent.ledger.source_options import resolve_source
from reticent.ledger.withdrawals import Withdrawal
from reticent.release import bundle
from reticent.release.kind import AdversaryView, NeededColumns, Reader, read_needed, read_tables, reader_for
from reticent.validation import (
    flag,
    is_cells,
    mapping,
    optional,
    path,
    path_or_table,
    seconds,
    share,
    text,
    validate_arguments,
    value_list,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MAX_ROWS_READ = 2_000_000
"""A release of so many rows or more is not read whole for a question."""
MAX_TABLES_CACHED = 4
"""Sets of columns whose rows are kept for the next question."""


def _check_questions(value: Any, name: str) -> Any:
    """Check the path of a file, or a list of questions."""
    if isinstance(value, str | Path):
        return path(value, name)
    listed = [text(one, name) for one in value_list(value, name)]
    if not listed:
        raise RequestError("The list has no question.", attempt='["SELECT COUNT(*) FROM release"].')
    return listed


def _check_analyses(value: Any, name: str) -> Any:
    """Check the path of a file, or a list of analyses."""
    if isinstance(value, str | Path):
        return path(value, name)
    listed = [mapping(analysis, name) for analysis in value_list(value, name)]
    if not listed:
        raise RequestError("The list has no analysis.", attempt='[{"table": ["town", "illness"]}].')
    return listed


class Release:
    """Files that can be given away.  Made by `publish`, or opened from a folder by `open`."""

    @validate_arguments(folder=path)
    def __init__(self, folder: str | Path):
        self._hold(Path(folder), bundle.verify_bundle(folder))

    def _hold(self, folder: Path, manifest: Manifest, publication: PublicationRecord | None = None) -> None:
        self.folder = folder
        self.manifest = manifest
        self._publication = publication  # None for a release that was opened
        self._max_rows_read = MAX_ROWS_READ
        self._ledger: Ledger | str | Path | None = None
        self._question_cache: dict[str, Any] = {}  # what questions found of the tables
        self._partial: dict[tuple[tuple[str, NeededColumns], ...], tuple[dict[str, pl.DataFrame], dict[str, Any]]] = {}

    @property
    def kind(self) -> str:
        return self.manifest.kind

    @property
    def columns(self) -> tuple[ColumnEntry, ...]:
        return self.manifest.columns

    @property
    def about(self) -> dict[str, Any]:
        """What the publisher says of the release: title, publisher, period and others; empty where nothing is said."""
        said = self.manifest.about or {}
        return {name: said[name] for name in ABOUT_FIELDS if name in said}

    @cached_property
    def audited(self) -> Audit:
        """What `rt.audit` returns: found at publication or, for a release that was opened, recounted from its files now."""
        if self._publication is not None:
            return cast(Audit, self._publication.audit)
        from reticent.audit.audit import audit

        return audit(self.folder)

    @property
    def job_text(self) -> str | None:
        """The job it was published by, as TOML without a password; None for a release that was opened."""
        return None if self._publication is None else self._publication.job

    @property
    def notices(self) -> tuple[str, ...]:
        """What the owner should know and nothing forbade; empty for a release that was opened."""
        return () if self._publication is None else self._publication.notices

    @property
    def set_aside(self) -> int:
        """The number of broken lines of the source that were set aside; 0 for a release that was opened."""
        return 0 if self._publication is None else self._publication.set_aside

    @property
    def digest(self) -> str:
        return bundle.compute_digest(self.folder)

    @property
    def withdrawal(self) -> Withdrawal | None:
        """Its withdrawal, by the ledger of whoever opens it; None if that ledger has none, as a recipient's has not."""
        return find_withdrawal(self.folder)

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every data file by name, typed: `data`, or `quasi` and `sensitive` of an anatomized release."""
        return read_tables(self.folder, self.manifest)

    @property
    def _reader(self) -> Reader:
        return reader_for(self.kind)

    @validate_arguments(bounds=flag)
    def frame(self, *, bounds: bool = False) -> pl.DataFrame:
        """Return what the recipient sees; with `bounds`, typed lower and upper ends beside each column that has an order."""
        return self._reader.frame(self.tables, self.manifest, bounds=bounds)

    @validate_arguments(bounds=flag)
    def to_pandas(self, *, bounds: bool = False) -> pd.DataFrame:
        """Return `frame()` as a pandas data frame; missing texts are None, missing numbers NaN."""
        try:
            return self.frame(bounds=bounds).to_pandas()
        except ImportError:
            raise RequestError(
                "pandas is not installed.", attempt="pip install pandas, or release.to_arrow()."
            ) from None

    @validate_arguments(bounds=flag)
    def to_arrow(self, *, bounds: bool = False) -> pa.Table:
        """Return `frame()` as a pyarrow table."""
        return self.frame(bounds=bounds).to_arrow()

    @validate_arguments(values=optional(value_list), by=text)
    def count(
        self,
        where: pl.Expr | None = None,
        values: Iterable[Any] | None = None,
        *,
        by: Literal["inversion", "em", "shrunk"] = "inversion",
    ) -> Answer:
        """Estimate how many people in a selection of published rows have one of the sensitive values; `query` takes
        conditions on values.
        """
        try:
            answer = self._reader.estimate(self.tables, self.manifest, Question.from_arguments(where, values, by))
        except pl.exceptions.PolarsError:
            raise RequestError(
                "The selection or the values do not fit the columns that are published.",
                why="A number is compared with a column of texts, or the other way round.",
                attempt="values of the sensitive column's own type.",
            ) from None
        from reticent.query.certainty import describe_leaning

        sentences = [sentence for sentence in (answer.note, describe_leaning([answer], self.manifest)) if sentence]
        return replace(answer, note=" ".join(sentences) or None)

    @validate_arguments(sql=text, level=share, by=text, density=optional(text), time_limit=optional(seconds))
    def query(
        self,
        sql: str,
        *,
        level: float = CONFIDENCE_LEVEL,
        by: Literal["inversion", "em", "shrunk"] = "inversion",
        density: Literal["likelihood", "even"] | None = None,
        time_limit: float | None = 60.0,
    ) -> Answer | Answers:
        """Return the `Answer` to a question in SQL, with guaranteed bounds or a standard error if the kind has them.

        With GROUP BY or several aggregates it is `Answers`: a list of them, each answer with its `keys`.  Both have
        `frame()`, `to_pandas()`, and a `note` that says what is certain and what is assumed.

        Parameters:
            sql: one SELECT of aggregates, FROM release.
            level: that of the `interval` that a standard error gives.
            by: how perturbed values are reconstructed: "inversion", unbiased; "em", never negative; or "shrunk", moved
                towards what everybody's frequencies would give, and nearer to the truth over many questions.
            density: how people are taken to lie within their labels: "likelihood", as all labels of a column together make
                likely (also if left out), or "even".  Refused where quasi-identifiers are published as they were.
            time_limit: in CPU seconds, without reading the release; None sets no limit.

        Raises:
            RequestError: if the question is not understood, or cannot be answered.
        """
        from reticent.query import QueryOptions, ask

        tables, known = self._find_tables([sql])
        options = QueryOptions(level=level, by=by, density=density, known=known, time_limit=time_limit)
        return ask(tables, self.manifest, sql, options)

    def _find_tables(self, questions: Sequence[str]) -> tuple[Mapping[str, pl.DataFrame], dict[str, Any]]:
        """Return the tables for some questions, and the cache of what earlier questions found in them.

        A large release is not read whole: only the needed columns of each file are read, as counts of distinct rows if
        these suffice, and cached for the next questions about the same columns.
        """
        if self.manifest.rows < self._max_rows_read or "tables" in self.__dict__:
            return self.tables, self._question_cache
        from reticent.query.run import find_asked_columns

        needed = self._reader.list_needed_columns(self.manifest, find_asked_columns(questions, self.manifest))
        if needed is None:
            return self.tables, self._question_cache
        key = tuple(sorted(needed.items()))
        if key not in self._partial:
            while len(self._partial) >= MAX_TABLES_CACHED:
                self._partial.pop(next(iter(self._partial)))
            self._partial[key] = read_needed(self.folder, self.manifest, needed), {}
        return self._partial[key]

    @validate_arguments(
        questions=_check_questions,
        source=optional(path_or_table),
        level=share,
        by=text,
        density=optional(text),
        time_limit=optional(seconds),
    )
    def measure(
        self,
        questions: Any,
        source: Any = None,
        *,
        level: float = CONFIDENCE_LEVEL,
        by: Literal["inversion", "em", "shrunk"] = "inversion",
        density: Literal["likelihood", "even"] | None = None,
        time_limit: float | None = 60.0,
    ) -> list[dict[str, Any]]:
        """Answer a list of questions in SQL, or those of a file; with the source, add the `true` answers and relative `error`s.

        True answers are about the source: they stay with its owner.  `time_limit` is in CPU seconds, for each question.
        """
        from reticent.query import QueryOptions
        from reticent.query.run import measure_questions, read_questions

        listed = questions if isinstance(questions, list) else read_questions(questions)
        people = None
        if source is not None:
            read, frame = resolve_source(self, source)
            people = sources.collect_frame(sources.scan_source(read, frame), "Reading the source")
        tables, known = self._find_tables(listed)
        how = QueryOptions(level=level, by=by, density=density, known=known, time_limit=time_limit)
        return measure_questions(tables, self.manifest, listed, people, how)

    @validate_arguments(
        analyses=_check_analyses,
        source=optional(path_or_table),
        by=text,
        density=optional(text),
        time_limit=optional(seconds),
    )
    def analyze(
        self,
        analyses: str | Path | Iterable[Mapping[str, Any]],
        source: Any = None,
        *,
        by: Literal["inversion", "em", "shrunk"] = "inversion",
        density: Literal["likelihood", "even"] | None = None,
        time_limit: float | None = 60.0,
    ) -> list[dict[str, Any]]:
        """Carry out a list of analyses on the release and, if it is given, on the source: what is `before`, `after`, and the `difference`.

        Parameters:
            analyses: a TOML file with tables [[analysis]], or a list of `{"table": ["town", "illness"]}`,
                `{"mean": "income", "by": ["town"]}` and `{"regression": "income", "on": ["age", "sex"]}`.
            source: the table that the release was made from; what is `before` stays with its owner.
            by: how perturbed values are reconstructed.
            density: how people are taken to lie within their labels.
            time_limit: in CPU seconds, for each analysis; None sets no limit.

        Returns:
            A table of each: of a contingency table the `cells`, of means the `groups`, of a regression the
            `coefficients`; what this release cannot answer has the reason as `refused`.

        Raises:
            RequestError: if an analysis is not understood, or names a column that the release does not have.
        """
        from reticent.query import QueryOptions
        from reticent.query.analyses import measure_analyses, read_analyses

        require_known_reconstruction(by)
        listed = analyses if isinstance(analyses, list) else read_analyses(cast(str, analyses))
        people = None
        if source is not None:
            read, frame = resolve_source(self, source)
            people = sources.collect_frame(sources.scan_source(read, frame), "Reading the source")
        options = QueryOptions(by=by, density=density, known=self._question_cache, time_limit=time_limit)
        return measure_analyses(self.tables, self.manifest, listed, people, options)

    @validate_arguments(sql=text, dialect=text, table=text)
    def sql(self, sql: str, dialect: Literal["duckdb", "sqlite", "postgresql"], table: str = "release") -> str:
        """Return the same question as plain SQL over the tables that `to_database` writes: "duckdb", "sqlite" or "postgresql"."""
        from reticent.query.compile import compile_sql

        return compile_sql(self.manifest, sql, dialect, table)

    @validate_arguments(cells=is_cells)
    def sight(self, cells: Cells) -> AdversaryView:
        """Return what an adversary sees who knows the quasi-identifiers of everybody in these cells of the source."""
        return self._reader.sight(self.tables, self.manifest, cells)

    @validate_arguments(column=text)
    def value_counts(self, column: str) -> pl.DataFrame:
        """Return the published values of a sensitive column, with the `count` of their rows; for a column called count, the `rows`."""
        sensitive = [entry.name for entry in self.manifest.find_columns_with_role("sensitive")]
        if column not in sensitive:
            raise ColumnError(f"{column!r} is no sensitive column of the release.", attempt=suggest(column, sensitive))
        return self._reader.value_counts(self.tables, self.manifest, column)

    @validate_arguments(target=path, force=flag, again=flag, ledger=optional(path))
    def save(
        self, target: str | Path, *, force: bool = False, again: bool = False, ledger: str | Path | None = None
    ) -> Path:
        """Move the folder to its target, atomically, and record it in the ledger and in the owner's folder beside it."""
        target = Path(target)
        publication = self._publication
        book = Ledger.open(ledger or self._ledger)
        prepare_target(target, book, force)
        if publication is None:
            require_not_recorded(target, self.digest)
        else:
            book.require_not_published(target, publication.rows, again)
        recorded_in = None if publication is None and ledger is None else book.folder  # a copy needs no ledger
        with staging.stage_folder(target, recorded_in) as staged:
            with translate_disk_errors(target):
                shutil.copytree(self.folder, staged, dirs_exist_ok=True)
            if publication is None:
                place_copy(staged, target, force)
            else:
                self._publication = commit(staged, target, publication, book, force=force, again=again)
        return target

    @validate_arguments(
        url=text,
        table=text,
        bounds=flag,
        append=flag,
        batch=optional(text),
        batch_column=text,
        replace_batch=flag,
    )
    def to_database(
        self,
        url: str,
        table: str,
        *,
        bounds: bool = False,
        append: bool = False,
        batch: str | None = None,
        batch_column: str = "batch",
        replace_batch: bool = False,
    ) -> list[str]:
        """Write the release as tables of a database (PostgreSQL, SQLite, DuckDB) and its manifest beside them.

        With `bounds`, the table that people are in has typed lower and upper ends too, as `frame(bounds=True)`. With
        `append`, several releases share the tables: each row says in `batch_column` of which `batch` it is (by default
        the folder's name); a batch that is there already is refused, or replaced with `replace_batch`.
        """
        from reticent.release.export import export_tables, find_new_file, open_export_tables
        from reticent.release.export_append import append_tables

        if not append and (batch is not None or replace_batch):
            raise RequestError("A batch is that of tables that several releases share.", attempt="append=True.")
        frames = open_export_tables(self.folder, self.manifest, bounds=bounds)
        manifest = (self.folder / bundle.MANIFEST_FILE).read_text(encoding="utf-8")

        def write_tables(path: Path | None) -> list[str]:
            if not append:
                return export_tables(frames, manifest, url, table, path, about=self.about)
            name = Path(self.folder).resolve().name if batch is None else batch
            options: dict[str, Any] = {"batch": name, "batch_column": batch_column, "replace_batch": replace_batch}
            return append_tables(frames, manifest, url, table, **options, path=path)

        if (path := find_new_file(url)) is None:
            return write_tables(None)
        with staging.stage_file(path, only_new=True) as staged:
            return write_tables(staged)

    @validate_arguments(folder=path, bounds=flag, force=flag)
    def to_csv(self, folder: str | Path, *, bounds: bool = False, force: bool = False) -> list[str]:
        """Write a copy of the release as a folder of CSV files, for other programs; return the names of its files.

        What is audited stays the release folder: the copy has its manifest under another name, and says so. With
        `bounds`, ends of ranges stand beside them, as in `frame(bounds=True)`; `force` replaces an earlier export.
        Raises `OutputExists` if something else is there.
        """
        from reticent.release.export import open_export_tables
        from reticent.release.export_files import MANIFEST_COPY, write_csv_folder

        target = Path(folder)
        self._require_outside(target)
        require_export_free(target, force, MANIFEST_COPY)
        tables = open_export_tables(self.folder, self.manifest, bounds=bounds)
        with staging.stage_folder(target) as staged:
            with translate_disk_errors(target):
                names = write_csv_folder(staged, tables, self.manifest, self._read_manifest_text(), self.digest)
            place_export(staged, target, force, MANIFEST_COPY)
        return names

    @validate_arguments(file=path, bounds=flag, force=flag)
    def to_excel(self, file: str | Path, *, bounds: bool = False, force: bool = False) -> list[str]:
        """Write a copy of the release as an Excel file, with a sheet for each table; return the names of its sheets.

        Needs the extra `excel`. `bounds` and `force` are as of `to_csv`. Raises `RequestError` if a table has more rows,
        columns or letters than a sheet holds, and `OutputExists` if something is there.
        """
        from reticent.release.export import open_export_tables
        from reticent.release.export_files import MANIFEST_COPY, write_excel_file

        target = Path(file)
        if target.suffix.lower() != ".xlsx":
            raise RequestError("An Excel file ends in .xlsx.", attempt=f"{target.with_suffix('.xlsx').name}.")
        self._require_outside(target)
        if target.is_dir():
            raise OutputExists(f"{target} is a folder.", why="Nothing was written.", attempt="another name.")
        require_export_free(target, force, MANIFEST_COPY)
        tables = open_export_tables(self.folder, self.manifest, bounds=bounds)
        with staging.stage_file(target, only_new=not force) as staged:
            return write_excel_file(staged, tables, self.manifest, self._read_manifest_text(), self.digest)

    def _require_outside(self, target: Path) -> None:
        """Refuse to write a copy into the release folder, or over a folder that holds it."""
        folder = self.folder.resolve()
        if target.resolve().is_relative_to(folder) or folder.is_relative_to(target.resolve()):
            raise RequestError(
                "The target lies in the release folder, or holds it.",
                why="A release folder holds its own files and no other.",
                attempt="a name beside the release.",
            )

    def _read_manifest_text(self) -> str:
        return (self.folder / bundle.MANIFEST_FILE).read_text(encoding="utf-8")

    def _repr_html_(self) -> str:
        return html_repr.render_release(self)

    def __repr__(self) -> str:
        promises = ", ".join(promise.name for promise in self.manifest.promises)
        title = f"{self.about['title']}: " if "title" in self.about else ""
        return f"<{title}{self.kind} release of {self.manifest.rows:,} rows: {promises}>"


def hold_publication(
    folder: Path,
    manifest: Manifest,
    publication: PublicationRecord,
    *,
    ledger: Ledger | str | Path | None = None,
    temporary: bool = False,
) -> Release:
    """Return a release that was just published; its manifest was verified when it was audited.

    A temporary one is removed with the object, and stays as a copy where `save` puts it; `ledger` is where `save`
    records it.
    """
    release = Release.__new__(Release)
    release._hold(folder, manifest, publication)
    release._ledger = ledger
    if temporary:
        weakref.finalize(release, staging.discard_staged, folder)
    return release


@validate_arguments(folder=path)
def open(folder: str | Path) -> Release:
    """Open a release from its folder, complete and undamaged, with types restored from the manifest."""
    return Release(folder)
