"""How values cross between Polars and Spark: as types that both hold exactly, under names that neither reads anything into.

Spark has no unsigned numbers, no times of day and no nanoseconds: these cross as wider or as plain whole numbers, and are
cast back.  Columns cross as c0, c1, ...: Spark reads dots and backticks in names, and takes `Age` and `age` for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from reticent.table.source import is_text

_WIDER: dict[Any, pl.DataType] = {
    pl.UInt8: pl.Int16(),
    pl.UInt16: pl.Int32(),
    pl.UInt32: pl.Int64(),
    pl.UInt64: pl.Decimal(20, 0),
}
_SAME = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Float32, pl.Float64, pl.Boolean, pl.Date, pl.Decimal)


def stored(dtype: pl.DataType) -> pl.DataType:
    """The type that a column crosses as."""
    if isinstance(dtype, pl.Datetime | pl.Time):
        return pl.Int64()
    if isinstance(dtype, _SAME):
        return dtype
    return _WIDER.get(type(dtype), pl.String())


def crosses(dtype: pl.DataType) -> bool:
    """Whether Spark can hold the column at all: nested values and bytes are refused by name, and are not sent."""
    return is_text(dtype) or not (dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration))


def numbered(count: int) -> list[str]:
    return [f"c{at}" for at in range(count)]


def sent(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame as it crosses."""
    found = frame.select(pl.col(name).cast(stored(dtype)) for name, dtype in frame.schema.items())
    found.columns = numbered(found.width)
    return found


def received(frame: pl.DataFrame, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """A frame that crossed, with its names and types."""
    found = frame.clone()
    found.columns = list(schema)
    return found.select(_cast(name, found.schema[name], dtype) for name, dtype in schema.items())


def _cast(name: str, held: pl.DataType, wanted: pl.DataType) -> pl.Expr:
    """Moments of a zone are the same moments in another; Spark holds those of no zone as they are."""
    found = pl.col(name)
    if held == pl.String and not is_text(wanted):
        return _read(found, wanted)
    if isinstance(wanted, pl.Datetime) and isinstance(held, pl.Datetime) and held.time_zone != wanted.time_zone:
        found = found.dt.convert_time_zone("UTC") if held.time_zone else found.dt.replace_time_zone("UTC")
        zone = wanted.time_zone
        found = found.dt.convert_time_zone(zone) if zone else found.dt.replace_time_zone(None)
    return found if held == wanted else found.cast(wanted)


def _read(text: pl.Expr, wanted: pl.DataType) -> pl.Expr:
    """What a folder's name says (`day=2020-01-31`), which Spark holds as text."""
    if wanted == pl.Boolean:
        return text == "true"
    if wanted == pl.Date:
        return text.str.to_date("%Y-%m-%d")
    if isinstance(wanted, pl.Datetime):
        return text.str.to_datetime(time_unit=wanted.time_unit, time_zone=wanted.time_zone)
    return text.cast(wanted)


def spark_types(dtypes: Iterable[pl.DataType], names: Iterable[str] | None = None) -> Any:
    """A Spark schema of columns that cross."""
    from pyspark.sql import types

    plain = {
        pl.String: types.StringType(), pl.Int8: types.ByteType(), pl.Int16: types.ShortType(),
        pl.Int32: types.IntegerType(), pl.Int64: types.LongType(), pl.Float32: types.FloatType(),
        pl.Float64: types.DoubleType(), pl.Boolean: types.BooleanType(), pl.Date: types.DateType(),
    }  # fmt: skip
    kinds = [stored(dtype) for dtype in dtypes]
    found = [
        types.DecimalType(kind.precision or 38, kind.scale) if isinstance(kind, pl.Decimal) else plain[type(kind)]
        for kind in kinds
    ]
    known = numbered(len(found)) if names is None else names
    return types.StructType([types.StructField(name, kind) for name, kind in zip(known, found, strict=True)])


def schema_of(frame: Any) -> dict[str, pl.DataType]:
    """The Polars types of a Spark frame's columns, by place: names may repeat."""
    return {f"c{at}": _held(field.dataType) for at, field in enumerate(frame.schema.fields)}


def _held(kind: Any) -> pl.DataType:
    """A type that Arrow does not hold is one of Spark's own objects, and refused by the column's name where it is declared."""
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
        found = pl.from_arrow(pa.schema([pa.field("c0", to_arrow_type(kind))]).empty_table())
    except PySparkException:
        return pl.Object()
    assert isinstance(found, pl.DataFrame)
    return pl.String() if is_text(found.dtypes[0]) else found.dtypes[0]


def to_batches(frame: pl.DataFrame) -> Any:
    """The record batches of a frame that crosses."""
    import pyarrow as pa

    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    large = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    plain = pa.schema([field.with_type(large.get(field.type, field.type)) for field in table.schema])
    return table.cast(plain).to_batches()
