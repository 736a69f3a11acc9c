"""A data file in parts: the same rows, the same verdicts, cut where the number of rows says, whatever made and reads it."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reticent as rt
from reticent.catalogue.job_fields import RELEASE_FIELDS
from reticent.errors import BundleDamaged, JobError
from reticent.format import data_files
from reticent.format.data_files import (
    DataFile,
    count_distinct_rows,
    count_partitions,
    read_batches,
    read_data,
    read_partition,
)
from reticent.format.data_writer import FileRows, write_data, write_data_parts
from reticent.release import bundle
from reticent.release.kind import find_data_files, list_schemas
from tests.support import method_promise_pairs
from tests.support.audit_comparison import assert_same, in_parts
from tests.support.method_promise_pairs import drafted
from tests.support.releases_in_parts import FORMATS, KINDS, released

pytestmark = pytest.mark.usefixtures("small_parts")


def lengths(release: rt.Release) -> dict[str, list[int]]:
    """How many rows each file of each table has."""
    files = find_data_files(release.folder, release.manifest)
    schemas = list_schemas(release.manifest)
    return {name: [len(read_data(one, schemas[name])) for one in file.each()] for name, file in files.items()}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_parts_hold_the_rows_of_the_one_file_in_their_order(kind, format):
    whole = released(kind, format)[0]
    part = released(kind, format, 17)[0]
    assert whole.manifest.part_rows is None and part.manifest.part_rows == 17
    assert all(part.tables[name].equals(table) for name, table in whole.tables.items())
    assert part.frame().equals(whole.frame()) and part.frame(bounds=True).equals(whole.frame(bounds=True))
    for name, some in lengths(part).items():
        rows = len(whole.tables[name])
        assert some == [17] * (rows // 17) + [rows % 17] * (rows % 17 > 0)
    named = {path.name for path in part.folder.iterdir()}
    assert (
        named
        == {*part.manifest.data, bundle.MANIFEST_FILE, bundle.README_FILE}
        == {*part.manifest.files, bundle.MANIFEST_FILE}
    )


@pytest.mark.parametrize("kind", KINDS)
def test_an_engine_that_reads_in_pieces_cuts_where_local_does(kind):
    one = released(kind, part_rows=17)[0]
    other = released(kind, part_rows=17, engine="stream")[0]
    assert lengths(one) == lengths(other) and one.manifest.data == other.manifest.data
    for name, table in one.tables.items():
        columns = table.columns
        assert other.tables[name].sort(columns).equals(table.sort(columns))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_audit_says_the_same_of_parts_with_and_without_the_source(kind, format, tmp_path):
    (whole, frame), (part, _) = released(kind, format), released(kind, format, 17)
    frame.write_parquet(tmp_path / "people.parquet")
    for source in ({}, {"source": tmp_path / "people.parquet"}):
        one, other = (rt.audit(release.folder, **source).to_dict() for release in (whole, part))
        assert one.pop("identity")["digest"] != other.pop("identity")["digest"]
        assert_same(one, other)
        with in_parts():
            bounded = rt.audit(part.folder, **source).to_dict()
        assert bounded.pop("identity")["digest"] == part.digest
        assert_same(one, bounded)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_no_more_rows_than_a_part_is_one_file_and_every_byte_is_as_without(kind, format):
    whole = released(kind, format)[0]
    most = max(map(len, whole.tables.values()))
    other = released(kind, format, most)[0]
    assert other.manifest.part_rows is None
    assert {path.name: path.read_bytes() for path in other.folder.iterdir()} == {
        path.name: path.read_bytes() for path in whole.folder.iterdir()
    }


def test_a_table_with_few_rows_stays_one_file_beside_another_that_is_cut():
    whole = released("transformed")[0]
    rows = {name: len(table) for name, table in whole.tables.items()}
    least = min(rows.values())
    most = max(rows.values())
    assert least < most
    part = released("transformed", "parquet", least)[0]
    assert {name: len(some) for name, some in lengths(part).items()} == {
        name: -(-many // least) for name, many in rows.items()
    }
    assert rt.open(part.folder).frame().equals(whole.frame())


@given(rows=st.integers(1, 5_000), part_rows=st.integers(1, 400), format=st.sampled_from(["parquet", "csv"]))
def test_where_rows_are_cut_is_read_back_from_the_names_alone(rows, part_rows, format):
    names = data_files.list_part_names("quasi", format, rows, part_rows)
    assert len(names) == max(-(-rows // part_rows), 1) and len(set(names)) == len(names) and sorted(names) == names
    found = data_files.match_table_files([*names, f"sensitive.{format}"], ["quasi", "sensitive"])
    assert found == {"quasi": tuple(names), "sensitive": (f"sensitive.{format}",)}
    data_files.require_stated_parts({"quasi": tuple(names)}, rows, part_rows if len(names) > 1 else None)
    for wrong in (part_rows - 1, part_rows + 1):
        if len(names) > 1 and wrong and -(-rows // wrong) != len(names):
            with pytest.raises(BundleDamaged, match="not cut as its manifest says"):
                data_files.require_stated_parts({"quasi": tuple(names)}, rows, wrong)


@pytest.mark.parametrize(
    "names",
    [
        ["data-00000.parquet"],
        ["data-00001.parquet", "data-00000.parquet"],
        ["data-00001.parquet", "data-00002.parquet"],
        ["data-00000.parquet", "data-00002.parquet"],
        ["data-00000.parquet", "data-00000.parquet"],
        ["data.parquet", "data-00000.parquet"],
        ["data.parquet", "data-00001.parquet"],
        ["data-00000.parquet", "data-00001.csv"],
        ["data-0000.parquet", "data-0001.parquet"],
        ["data-000000.parquet", "data-000001.parquet"],
        ["Data-00000.parquet", "Data-00001.parquet"],
        ["data-00000.arrow", "data-00001.arrow"],
        ["more-00000.parquet", "more-00001.parquet"],
        [],
    ],
)
def test_any_other_list_of_files_is_none_of_a_release(names):
    assert data_files.match_table_files(names, ["data"]) is None


@pytest.mark.parametrize("rows", [0, -1, 999, True, 1.5, 2_000.0, "2000", float("nan"), [1_000], 10**400])
def test_a_number_of_rows_that_no_part_has_is_refused_with_a_reason(rows, monkeypatch):
    monkeypatch.setitem(RELEASE_FIELDS, "part_rows", replace(RELEASE_FIELDS["part_rows"], least=1_000))
    if rows == 10**400:
        assert rt.Output(part_rows=rows).part_rows == rows  # no table has so many: it is one file
        return
    with pytest.raises(JobError, match="whole number of rows, 1,000 or more") as refused:
        rt.Output(part_rows=rows)
    assert "could be guessed" in str(refused.value)
    with pytest.raises(JobError):
        rt.Job.from_dict(
            {"columns": {"a": "quasi"}, "promise": [{"model": "k-anonymity", "k": 2}], "release": {"part_rows": rows}}
        )


def test_a_job_keeps_it():
    job = rt.Job(columns={"a": rt.quasi()}, promises=[rt.KAnonymity(2)], release=rt.Output(part_rows=4_000))
    assert "part_rows = 4000" in job.to_toml()
    assert rt.Job.from_dict(job.to_dict()).release.part_rows == 4_000


def test_more_files_than_a_manifest_lists_are_refused_and_nothing_is_written(tmp_path):
    draft = drafted(method_promise_pairs.pairs()[0], method_promise_pairs.cut)
    draft.output["part_rows"] = 1
    copies = data_files.MAX_PARTS // len(draft.frame) + 1
    with pytest.raises(JobError, match=r"10,080 rows would be 10,080 files.*") as refused:
        rt.publish(draft.job(), frame=pl.concat([draft.frame] * copies), to=tmp_path / "release")
    assert "part_rows = 2 or more" in str(refused.value)
    assert not (tmp_path / "release").exists()


def test_a_list_of_parts_is_as_long_as_the_limit_allows():
    with pytest.raises(JobError, match=r"240 rows would be 15 files.*") as refused:
        data_files.list_part_names("data", "csv", 240, 17, max_parts=3)
    assert "part_rows = 80 or more" in str(refused.value)
    names = data_files.list_part_names("data", "csv", 240, 17)
    assert data_files.match_table_files(names, ["data"])
    assert data_files.match_table_files(names, ["data"], max_parts=14) is None


class Once:
    """Pieces that can be read once, and say whether they were read to their end."""

    def __init__(self, rows: FileRows):
        self.inner = rows.pieces
        self.rows = len(rows)
        self.beside = rows.pieces.beside
        self.ended = False

    def __iter__(self):
        yield from self.inner
        self.ended = True


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("rows", [40, 41, 59, 60])
def test_pieces_are_read_to_their_end_so_that_an_engine_can_compare_both_passes(rows, format, tmp_path):
    frame = FileRows.from_frame(pl.DataFrame({"a": range(rows), "b": [f"text {row % 7}" for row in range(rows)]}))
    frame = replace(frame, pieces=replace(frame.pieces, batch_rows=7))
    pieces = Once(frame)
    names = data_files.list_part_names("data", format, rows, 20)
    write_data_parts([tmp_path / name for name in names], FileRows(frame.columns, pieces), format, 20, max_group_rows=6)
    assert pieces.ended
    read = pl.read_csv if format == "csv" else pl.read_parquet
    assert [len(read(tmp_path / name)) for name in names] == [20] * (rows // 20) + [rows % 20] * (rows % 20 > 0)
    file = DataFile("data", tuple(tmp_path / name for name in names))
    schema = {"a": "Int64", "b": "String"}
    whole = FileRows.from_frame(read_data(file, schema)).frame()
    assert whole["a"].to_list() == list(range(rows))
    assert sum(int(times.sum()) for times in [count_distinct_rows(file, schema, ["b"])[1]]) == rows
    assert pl.concat(read_batches(file, schema, 9)).equals(whole)
    readers = min(count_partitions(file), 3)
    some = [frame for part in range(readers) for frame in read_partition(file, schema, ["a", "b"], part, readers)]
    assert pl.concat(some).sort("a").equals(whole)


def test_dictionaries_of_a_part_list_the_values_of_its_own_rows(tmp_path):
    from reticent.audit.byte_search import read_dictionary_pages
    from reticent.format.data_writer import CodedColumn, InMemoryRows

    values = pl.Series([f"value {number:04d}" for number in range(500)])
    import numpy as np

    entry = np.arange(500, dtype=np.int32)
    rows = FileRows({"a": CodedColumn(values, entry)}, InMemoryRows(entry, 500))
    paths = [tmp_path / name for name in data_files.list_part_names("data", "parquet", 500, 30)]
    write_data_parts(paths, rows, "parquet", 30)
    held = [[entry.decode() for page in read_dictionary_pages(path) for entry in page.entries()] for path in paths]
    assert held == [pl.read_parquet(path)["a"].to_list() for path in paths]
    write_data(tmp_path / "data.parquet", rows, "parquet")
    assert sum(path.stat().st_size for path in paths) < 3 * (tmp_path / "data.parquet").stat().st_size
