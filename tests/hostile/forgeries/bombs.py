"""Parquet pages of few bytes that really open to enormous ones, in every codec, and pages that open to more than they say."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.hostile.forgeries.folders import data_file
from tests.hostile.forgeries.parquet_forger import Struct, rewrite


def _texts(many: int, mebibytes: int, codec: str, folder: Path) -> None:
    """So many texts of so many mebibytes of one letter, each in a page of its own."""
    path = data_file(folder)
    if path.suffix != ".parquet":
        return
    table = pq.read_table(path)
    name = next(field.name for field in table.schema if pa.types.is_string(field.type))
    rest = table.column(name).to_pylist()[many:]
    values = pa.chunked_array([pa.array(["x" * (mebibytes << 20)] * many + rest)])
    table = table.set_column(table.column_names.index(name), name, values)
    pq.write_table(
        table,
        path,
        compression=codec,
        use_dictionary=False,
        store_schema=False,
        write_statistics=False,
        data_page_size=1 << 20,
        write_batch_size=1,
    )


def _understated(folder: Path, mebibytes: int = 100) -> None:
    """A page whose header, like the footer, says that it opens to a thousand bytes."""
    _texts(1, mebibytes, "zstd", folder)
    if data_file(folder).suffix != ".parquet":
        return

    def page(header: Struct) -> None:
        if header[2][1] > 1 << 20:
            header[2] = (5, 1_000)

    def footer(metadata: Struct) -> None:
        for group in metadata[4][1][1]:
            for column in group[1][1][1]:
                if column[3][1][6][1] > 1 << 20:
                    column[3][1][6] = (6, column[3][1][6][1] - (mebibytes << 20))

    rewrite(data_file(folder), footer, page)


BOMBS: dict[str, Callable[[Path], None]] = {
    **{
        f"a page of few bytes that opens to 100 MB, {codec}": partial(_texts, 1, 100, codec)
        for codec in ("zstd", "gzip", "brotli", "lz4", "snappy")
    },
    "a page of few bytes that opens to 200 MB": partial(_texts, 1, 200, "zstd"),
    "twenty pages of few bytes that open to 2 GB": partial(_texts, 20, 100, "zstd"),
    "a page that opens to 100,000 times what it says": _understated,
}
"""Each is refused, by every reader, within 2 GB of addresses and without a second of opening it."""
