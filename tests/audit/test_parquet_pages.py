"""A Parquet file of another tool may have pages of any size: they are searched, or there is no room for them."""

import polars as pl
import pyarrow.parquet as pq
import pytest

import reticent as rt
from reticent.audit import byte_search
from reticent.errors import OutOfMemory

SECRET = "Wilhelmina-Ottokar-4711"
LETTERS = 130 << 20


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A file with a page that opens to 130 MiB, at the end of which a name stands; the name is in the source alone."""
    path = tmp_path_factory.mktemp("foreign") / "table.parquet"
    people = pl.DataFrame({"age": [30, 30, 40, 40], "s": list("xyxy")})
    table = people.with_columns(age=pl.col("age").cast(pl.String), note=pl.Series(["", "", "", "x" * LETTERS + SECRET]))
    pq.write_table(table.to_arrow(), path, compression="zstd", use_dictionary=False, store_schema=False)
    return path, people.with_columns(name=pl.Series(["Ann", "Bob", "Eve", SECRET]))


def test_a_page_of_130_mebibytes_is_searched(given):
    path, source = given
    found = rt.audit(path, quasi=["age"], sensitive=["s"], source=source)
    assert ("name", path.name) in [(leak.column, leak.file) for leak in found.source.leaks]


def test_without_room_for_it_the_audit_says_so(given, monkeypatch):
    path, source = given
    monkeypatch.setattr(byte_search, "get_available_memory", lambda: 200 << 20)
    with pytest.raises(OutOfMemory, match=r"It opens to 0\.1 GB, and 0\.2 GB are free"):
        rt.audit(path, quasi=["age"], sensitive=["s"], source=source)
