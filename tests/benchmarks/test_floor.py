"""The floor does the work it stands for, and the measuring process tells what it saw."""

import duckdb
import polars as pl
import pytest

from benchmarks.floor import COMPRESSION, ENGINES
from benchmarks.measure import measure
from benchmarks.row import Row
from reticent.datasets.census import write_census

COLUMNS = ["age", "gender", "education", "salary_class"]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_of_the_floor_writes_the_rows_it_read(engine, tmp_path):
    path = write_census(tmp_path / "census.parquet", 3000)
    given = {"path": str(path), "columns": COLUMNS, "compression": COMPRESSION, "scratch": tmp_path}
    exec(ENGINES[engine][1], {"pl": pl, "duckdb": duckdb} | given)
    written = pl.read_parquet(tmp_path / "out.parquet")
    assert written.sort(COLUMNS).equals(pl.read_parquet(path, columns=COLUMNS).sort(COLUMNS))


def test_a_measured_piece_gets_its_names_and_a_folder_and_returns_a_value():
    body = "(scratch / 'x').write_text('y'); block = bytearray(size); block[::4096] = b'1' * (size // 4096); value = base + 1"
    cost = measure(body, setup="base = given_number * 2", given={"given_number": 20, "size": 1 << 26}, runs=1)
    assert cost.value == 41
    assert cost.peak >= 1 << 26
    assert cost.cpu >= 0 and cost.wall > 0


def test_a_row_knows_whether_its_ratio_is_as_asked():
    assert Row(ours=2, reference=1, against="x", at_most=2).met is True
    assert Row(ours=2.1, reference=1, against="x", at_most=2).met is False
    assert Row(ours=1, reference=100, against="x", at_least=100).met is True
    assert Row(ours=1, reference=1, against="x").met is None
