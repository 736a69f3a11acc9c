"""A scikit-learn transformer: `fit` learns the groups of a plan, `transform` writes each row's labels, also of new rows.

    from reticent.sklearn import Anonymizer

    model = make_pipeline(Anonymizer(columns={"age": "quasi", "city": "quasi"}, promises=rt.KAnonymity(10)), OneHotEncoder(), ...)

What it is: the labels of the fitted rows, as a table, keep the promises.  What it is not: a release.  Nothing is audited from
files, nothing enters a ledger, row order is that of the input, and **for rows that were not fitted no promise holds**: a new
row may be the only one that lies where it lies.  To hand data out, use `rt.publish`.

A fitted transformer holds labels and how they are read, never a record.  It needs the extra `stats`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise ImportError("reticent.sklearn needs scikit-learn: pip install 'reticent[stats]'.") from None

from reticent.data.columns import Column, Role, find_columns_with_role, parse_columns
from reticent.data.source import Source, collect_frame, open_source
from reticent.errors import ColumnError, JobError, RequestError, pluralize, quote_list
from reticent.format.manifest import ColumnEntry
from reticent.job.job import Job, Output
from reticent.labels.adversary_view import restore_hierarchies
from reticent.labels.cover import LabelCover, find_places, join_boxes, place_values
from reticent.labels.scale import LineScale, make_scale
from reticent.methods.mondrian import Mondrian
from reticent.planning import Plan, plan


class Anonymizer(TransformerMixin, BaseEstimator):
    """Labels instead of values, learned by a plan.

    `columns` gives the role of each column, as a job does; quasi-identifying ones are transformed, insensitive ones are passed
    on, the others are left out.  `promises` and `method` are a job's; the method's labels must not overlap, as those of
    `rt.Mondrian(labels="sets")` do not, which is the default.  With `target`, `y` is the sensitive column of that name.
    `seed` makes a method that draws repeatable.
    """

    def __init__(
        self,
        columns: Any = None,
        promises: Any = None,
        method: Any = None,
        target: str | None = None,
        seed: int | None = None,
    ) -> None:
        self.columns = columns
        self.promises = promises
        self.method = method
        self.target = target
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> Anonymizer:
        """Plan groups of these rows that keep every promise."""
        declared = self._declare_columns()
        frame = _read_table(X)
        if self.target is not None:
            if y is None:
                raise RequestError(
                    f"y is the sensitive column {self.target!r}, and it is missing.", attempt="fit(X, y)."
                )
            frame = frame.with_columns(pl.Series(self.target, np.asarray(y)))
        job = Job(columns=declared, promises=self.promises, method=self._method(), release=Output(undeclared="drop"))
        planned = plan(job, frame=frame, seed=self.seed)
        self.groups_ = planned.groups
        self.entries_ = restore_hierarchies(planned.entries, planned.cells)
        self.carried_ = tuple(find_columns_with_role(declared, Role.INSENSITIVE))
        self.feature_names_in_ = np.array([name for name in frame.columns if name != self.target], dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        _require_disjoint_groups(self._find_fitted_groups(frame, planned), planned, len(frame))
        return self

    def transform(self, X: Any) -> Any:
        """Return the labels of each row, in the order and the form (pandas, Polars or Arrow) in which the rows came."""
        check_is_fitted(self, "groups_")
        frame = _read_table(X)
        group = self._find_groups(frame)
        if (group < 0).any():
            raise RequestError(
                f"{int((group < 0).sum()):,} of {len(frame):,} rows lie in no fitted group.",
                why="They combine values as no fitted row near them does, and a label would be made up.",
                attempt="fitting on rows that cover them, or leaving them out.",
            )
        names = [entry.name for entry in self.entries_]
        labels = self.groups_.select(names)[group]
        table = labels.hstack(frame.select(self.carried_).get_columns()) if self.carried_ else labels
        return _restore_table_type(table, X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        check_is_fitted(self, "groups_")
        return np.array([*(entry.name for entry in self.entries_), *self.carried_], dtype=object)

    def _declare_columns(self) -> dict[str, Column]:
        if self.columns is None or self.promises is None:
            attempt = 'Anonymizer(columns={"age": "quasi"}, promises=rt.KAnonymity(5)).'
            raise JobError("An Anonymizer needs columns and promises.", attempt=attempt)
        declared = parse_columns(self.columns)
        return declared if self.target is None else {self.target: Column(Role.SENSITIVE), **declared}

    def _method(self) -> Any:
        return Mondrian(labels="sets") if self.method is None or self.method == "mondrian" else self.method

    def _find_fitted_groups(self, frame: pl.DataFrame, planned: Plan) -> np.ndarray:
        """Find the groups of the rows that are fitted; refuse a method whose labels do not say which values they cover."""
        try:
            return self._find_groups(frame)
        except ColumnError as error:
            if planned.job.method.name == Mondrian.name:
                raise
            raise JobError(
                f"The groups of {planned.job.method.name} cannot be told by their labels.",
                why="One of its labels does not say which values it stands for.",
                attempt='method=rt.Mondrian(labels="sets"), or leaving the method out.',
            ) from error

    def _find_groups(self, frame: pl.DataFrame) -> np.ndarray:
        """Find the group whose labels cover each row; -1 if none does, -2 if several do."""
        lacking = [entry.name for entry in self.entries_ if entry.name not in frame.columns]
        lacking += [name for name in self.carried_ if name not in frame.columns]
        if lacking:
            raise ColumnError(
                f"{pluralize(len(lacking), 'fitted column', 'is', 'are')} missing: {quote_list(lacking)}."
            )
        covers = []
        boxes = []
        points = []
        for entry in self.entries_:
            cover, box, point = _locate_values(entry, self.groups_[entry.name], frame[entry.name])
            covers.append(cover)
            boxes.append(box)
            points.append(point)
        regions = join_boxes(covers, np.column_stack(boxes), np.column_stack(points))
        group_of_row = np.full(len(frame), -1, np.int64)
        for box, start, stop in zip(regions.box, regions.start, regions.stop, strict=True):
            rows = regions.order[start:stop]
            group_of_row[rows] = np.where(group_of_row[rows] == -1, box, -2)
        return group_of_row


def _locate_values(
    entry: ColumnEntry, labels: pl.Series, values: pl.Series
) -> tuple[LabelCover, np.ndarray, np.ndarray]:
    """Return what each distinct label covers, the label of each group, and the code of each row."""
    distinct_labels = labels.unique(maintain_order=True)
    values = values.cast(pl.String) if values.dtype in (pl.Categorical, pl.Enum) else values
    distinct = values.unique(maintain_order=True)
    _require_seen_values(entry, distinct_labels, distinct)
    placed = place_values(entry, distinct_labels.to_list(), distinct)
    label_number = {label: number for number, label in enumerate(distinct_labels.to_list())}
    value_number = {value: number for number, value in enumerate(distinct.to_list())}
    box = np.array([label_number[label] for label in labels.to_list()])
    return placed.cover, box, placed.codes[[value_number[value] for value in values.to_list()]]


def _require_seen_values(entry: ColumnEntry, labels: pl.Series, values: pl.Series) -> None:
    """Refuse values that the fitted column does not know: a new category, a number beyond its ends, a null if there was none."""
    column = make_scale(entry, labels.to_list())
    places = find_places(column, entry, values)
    ends = None
    if isinstance(column, LineScale) and column.kind != "ordinal" and entry.domain is not None:
        ends = column.positions([str(end) for end in entry.domain])
    strange = 0
    for value, place in zip(values.to_list(), places, strict=True):
        null = value is None and not entry.null
        beyond = place is not None and ends is not None and not ends[0] <= place <= ends[1]
        strange += null or beyond or (value is not None and place is None)
    if strange:
        raise ColumnError(
            f"The column {entry.name!r} has {pluralize(strange, 'value')} not seen when the groups were learned.",
            why="A label for them would be made up.",
            attempt="fitting on rows that have them, or leaving these rows out.",
        )


def _require_disjoint_groups(group: np.ndarray, planned: Plan, rows: int) -> None:
    """Refuse groups that overlap: every fitted row must lie under one label, that of its own group, or its group is unknown."""
    rows_per_group = np.bincount(group[group >= 0], minlength=len(planned.sizes))
    if (group < 0).any() or not np.array_equal(rows_per_group, planned.sizes):
        raise JobError(
            f"The groups of {planned.job.method.name} overlap: of {rows:,} rows, {int((group < 0).sum()):,} fit several.",
            why="Which group a row belongs to must follow from its quasi-identifiers.",
            attempt='method=rt.Mondrian(labels="sets"), or leaving the method out.',
        )


def _read_table(table: Any) -> pl.DataFrame:
    """Read a table with names; an array has none."""
    if isinstance(table, np.ndarray | list):
        raise RequestError(
            "Columns are known by their names, and an array has none.", attempt="a pandas or Polars frame."
        )
    return collect_frame(open_source(Source(), table).rows, "Reading the rows")


def _restore_table_type(result: pl.DataFrame, original: Any) -> Any:
    kind = type(original).__module__.split(".")[0]
    if kind == "pandas":
        frame = result.to_pandas()
        frame.index = original.index
        return frame
    if kind == "pyarrow":
        return result.to_arrow()
    return result
