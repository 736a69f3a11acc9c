"""Converts values between Polars and Spark, and Spark's batches into rows as every engine reads them.

Values cross as types that both hold exactly, under names that neither interprets. Spark has no unsigned numbers, no
times of day and no nanoseconds: these cross as wider or as plain whole numbers, and are cast back.  Columns cross as
c0, c1, ...: Spark interprets dots and backticks in names, and takes `Age` and `age` for one.

`BatchReader` gives a batch its names, types, null values, and values as they are declared. Some facts about a whole
column must be known before one of its values can be parsed (are all moments midnights, are all numbers whole): the
driver decides them from the distinct values, and a value is then looked up.  Everything else is done row by row, by the
functions that the local engine calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from reticent.data.columns import Column
from reticent.data.passthrough import recode_passthrough
from reticent.data.source import is_text, replace_null_values
from reticent.data.spellings import Spellings, replace_spellings

_WIDER_TYPES: dict[Any, pl.DataType] = {
    pl.UInt8: pl.Int16(),
    pl.UInt16: pl.Int32(),
    pl.UInt32: pl.Int64(),
    pl.UInt64: pl.Decimal(20, 0),
}
_SAME_TYPES = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Float32, pl.Float64, pl.Boolean, pl.Date, pl.Decimal)
READ_ROWS = 1 << 18  # rows that are read at once


def to_crossing_type(dtype: pl.DataType) -> pl.DataType:
    """Return the type that a column crosses as."""
    if isinstance(dtype, pl.Datetime | pl.Time):
        return pl.Int64()
    if isinstance(dtype, _SAME_TYPES):
        return dtype
    return _WIDER_TYPES.get(type(dtype), pl.String())


def can_cross(dtype: pl.DataType) -> bool:
    """Tell whether Spark can hold the column: nested values and bytes are refused by name, and are not sent."""
    return is_text(dtype) or not (dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration))


def number_columns(count: int) -> list[str]:
    """Return the names under which columns cross: c0, c1, ..."""
    return [f"c{position}" for position in range(count)]


def encode_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Convert a frame to the form in which it crosses."""
    encoded = frame.select(pl.col(name).cast(to_crossing_type(dtype)) for name, dtype in frame.schema.items())
    encoded.columns = number_columns(encoded.width)
    return encoded


def decode_frame(frame: pl.DataFrame, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Restore names and types of a frame that crossed."""
    decoded = frame.clone()
    decoded.columns = list(schema)
    return decoded.select(_cast_back(name, decoded.schema[name], dtype) for name, dtype in schema.items())


def build_spark_schema(dtypes: Iterable[pl.DataType], names: Iterable[str] | None = None) -> Any:
    """Build the Spark schema of columns that cross."""
    from pyspark.sql import types

    simple_types = {
        pl.String: types.StringType(), pl.Int8: types.ByteType(), pl.Int16: types.ShortType(),
        pl.Int32: types.IntegerType(), pl.Int64: types.LongType(), pl.Float32: types.FloatType(),
        pl.Float64: types.DoubleType(), pl.Boolean: types.BooleanType(), pl.Date: types.DateType(),
    }  # fmt: skip
    kinds = [to_crossing_type(dtype) for dtype in dtypes]
    spark_types = []
    for kind in kinds:
        if isinstance(kind, pl.Decimal):
            spark_types.append(types.DecimalType(kind.precision or 38, kind.scale))
        else:
            spark_types.append(simple_types[type(kind)])
    field_names = number_columns(len(spark_types)) if names is None else names
    return types.StructType(
        [types.StructField(name, kind) for name, kind in zip(field_names, spark_types, strict=True)]
    )


def read_polars_schema(frame: Any) -> dict[str, pl.DataType]:
    """Return the Polars types of a Spark frame's columns, by place: names may repeat."""
    return {f"c{position}": _to_polars_type(field.dataType) for position, field in enumerate(frame.schema.fields)}


def to_record_batches(frame: pl.DataFrame) -> Any:
    """Return the record batches of a frame that crosses."""
    import pyarrow as pa

    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    large = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    plain = pa.schema([field.with_type(large.get(field.type, field.type)) for field in table.schema])
    return table.cast(plain).to_batches()


@dataclass(frozen=True, eq=False)
class BatchReader:
    """Reads batches: `schema` is the source's; `read` maps values of a column to what they are declared to be."""

    schema: Mapping[str, pl.DataType]
    missing: tuple[str, ...] = ()
    read: Mapping[str, pl.DataFrame] = field(default_factory=dict)  # of two columns, "raw" and "read"
    columns: Mapping[str, Column] = field(default_factory=dict)  # those that are rounded or bounded
    spellings: Spellings = ()

    def select_columns(self, names: Iterable[str]) -> BatchReader:
        """Return the reader of some columns, in that order."""
        selected = list(names)
        return replace(
            self,
            schema={name: self.schema[name] for name in selected},
            read={name: frame for name, frame in self.read.items() if name in selected},
            columns={name: column for name, column in self.columns.items() if name in selected},
        )

    def read_frame(self, crossed: pl.DataFrame) -> pl.DataFrame:
        rows = decode_frame(crossed, self.schema)
        if self.spellings:
            rows = replace_spellings(rows.lazy(), rows.schema, self.spellings).collect()
        if self.missing:
            rows = replace_null_values(rows.lazy(), rows.schema, self.missing).collect()
        for name, value_map in self.read.items():
            known = value_map.with_columns(is_known=pl.lit(True))
            joined = rows.select(raw=pl.col(name)).join(known, on="raw", how="left", maintain_order="left")
            values = joined["read"]
            is_unknown = joined["raw"].is_not_null() & joined["is_known"].is_null()
            if is_unknown.any():  # a value that was not there when it was asked for
                from reticent.engines.cell_lookup import make_source_changed_error

                raise make_source_changed_error()
            rows = rows.with_columns(values.alias(name))
        return recode_passthrough(rows.lazy(), self.columns).collect() if self.columns else rows

    def read_frames(self, batches: Iterable[Any]) -> Iterator[pl.DataFrame]:
        """Read the rows of a partition, a limited number at a time."""
        for table in gather_frames(batches):
            yield self.read_frame(table)


def gather_frames(batches: Iterable[Any], max_rows: int = READ_ROWS) -> Iterator[pl.DataFrame]:
    """Gather record batches into frames of `max_rows` rows or a few more; the last may have fewer."""
    pending = []
    rows = 0
    for batch in batches:
        pending.append(batch)
        rows += batch.num_rows
        if rows >= max_rows:
            yield concat_batches(pending)
            pending = []
            rows = 0
    if pending:
        yield concat_batches(pending)


def concat_batches(batches: list[Any]) -> pl.DataFrame:
    """Concatenate record batches as one frame, categories as texts."""
    import pyarrow as pa

    frame = pl.from_arrow(pa.Table.from_batches(batches))
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(pl.col(name).cast(pl.String) for name, kind in frame.schema.items() if is_text(kind))


def _cast_back(name: str, dtype: pl.DataType, target: pl.DataType) -> pl.Expr:
    """Cast a column back.  Moments of a zone are the same moments in another; Spark holds those without a zone unchanged."""
    column = pl.col(name)
    if dtype == pl.String and not is_text(target):
        return _parse_folder_value(column, target)
    if isinstance(target, pl.Datetime) and isinstance(dtype, pl.Datetime) and dtype.time_zone != target.time_zone:
        column = column.dt.convert_time_zone("UTC") if dtype.time_zone else column.dt.replace_time_zone("UTC")
        zone = target.time_zone
        column = column.dt.convert_time_zone(zone) if zone else column.dt.replace_time_zone(None)
    return column if dtype == target else column.cast(target)


def _to_polars_type(kind: Any) -> pl.DataType:
    """Convert a type; one that Arrow does not hold is a Spark object, and is refused by its column's name if it is declared."""
    import pyarrow as pa
    from pyspark.errors import PySparkException
    from pyspark.sql import types
    from pyspark.sql.pandas.types import to_arrow_type

    if isinstance(kind, types.TimestampType):
        return pl.Datetime("us", "UTC")  # moments, whatever zone a session shows them in
    if isinstance(kind, types.ArrayType):
        return pl.List(pl.String())
    if isinstance(kind, types.StructType | types.MapType):
        return pl.Struct({})
    try:
        table = pl.from_arrow(pa.schema([pa.field("c0", to_arrow_type(kind))]).empty_table())
    except PySparkException:
        return pl.Object()
    assert isinstance(table, pl.DataFrame)
    return pl.String() if is_text(table.dtypes[0]) else table.dtypes[0]


def _parse_folder_value(text: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Parse the value in a folder's name (`day=2020-01-31`), which Spark holds as text."""
    if dtype == pl.Boolean:
        return text == "true"
    if dtype == pl.Date:
        return text.str.to_date("%Y-%m-%d")
    if isinstance(dtype, pl.Datetime):
        return text.str.to_datetime(time_unit=dtype.time_unit, time_zone=dtype.time_zone)
    return text.cast(dtype)
