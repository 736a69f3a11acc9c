"""Parts that somebody swapped, left out, doubled, moved rows between or renamed, sealed again: each is refused, or told from the source."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

import reticent as rt
from reticent.errors import AuditFailed, BundleDamaged
from reticent.format.data_writer import write_data
from reticent.release import bundle
from tests.hostile.forgeries.parts import CHANGED, SEALED, exchanged, part, rows_of, without
from tests.support.forgeries import METHODS
from tests.support.release_folders import resealed

KINDS = {"generalized": "data", "anatomized": "quasi", "perturbed": "data"}
FORMATS = ["parquet", "csv"]
ROWS = 2_400
PART = 1_000


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    found = rt.datasets.load("census", rows=ROWS, seed=3).select("age", "education", "gender", "salary_class")
    return found.sort("age", "salary_class")


@pytest.fixture(scope="module")
def made(people, tmp_path_factory) -> Callable[..., Path]:
    """Honest releases in parts of 1,000, 1,000 and 400 rows, made once."""
    place = tmp_path_factory.mktemp("parts")
    known = {}

    def of(kind: str, format: str, target: Path, seed: int = 1) -> Path:
        if (kind, format, seed) not in known:
            method, promises = METHODS[kind]
            job = rt.Job(
                columns={
                    "age": rt.quasi(),
                    "education": rt.quasi(),
                    "salary_class": rt.sensitive(),
                    "gender": rt.insensitive(),
                },
                promises=promises,
                method=method,
                release=rt.Output(format=format, part_rows=PART),
            )
            to = place / f"{kind}-{format}-{seed}"
            known[kind, format, seed] = rt.publish(job, frame=people, to=to, seed=seed, again=True).folder
        return shutil.copytree(known[kind, format, seed], target)

    return of


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_honest_release_in_parts_passes_whole(kind, format, made, people, tmp_path):
    found = rt.audit(made(kind, format, tmp_path / "release"), source=people)
    assert found.kept is True and found.source.passed, str(found)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_parts_that_are_not_those_of_their_manifest_are_refused_by_whoever_opens_them(kind, format, made, tmp_path):
    wrong = {}
    for number, (name, (forge, says)) in enumerate(SEALED.items()):
        folder = made(kind, format, tmp_path / str(number))
        change = forge(folder)
        resealed(folder, change or (lambda stated: None))
        for read in (rt.open, rt.audit):
            try:
                read(folder)
                wrong[name] = "accepted"
            except BundleDamaged as error:
                if not any(word in str(error) for word in says):
                    wrong[name] = str(error)
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_other_types_are_refused_though_they_would_be_read_as_one_another(kind, made, tmp_path):
    """Whole numbers of another width in one part: no value differs, and a reader of several files stumbles."""
    folder = made(kind, "parquet", tmp_path / "release")
    path = part(folder, 1)
    frame = rows_of(path, folder)
    whole = next((name for name in frame.columns if frame[name].dtype.is_integer()), None)
    if whole is None:  # a generalized release has texts alone
        assert set(frame.dtypes) == {pl.String}
        return
    write_data(path, frame.with_columns(pl.col(whole).cast(pl.Int16)), "parquet")
    resealed(folder)
    with pytest.raises(BundleDamaged, match="than the part before it"):
        rt.open(folder)


def test_a_header_in_another_spelling_is_refused(made, tmp_path):
    folder = made("generalized", "csv", tmp_path / "release")
    path = part(folder, 1)
    raw = path.read_bytes()
    path.write_bytes(b'"age"' + raw[3:])
    resealed(folder)
    with pytest.raises(BundleDamaged, match=r"data-00001\.csv is not written as reticent writes it"):
        rt.audit(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_that_was_changed_without_the_manifest_is_refused(kind, made, tmp_path):
    other = made(kind, "parquet", tmp_path / "other", seed=2)
    for number, (forge, says) in enumerate(CHANGED.values()):
        folder = made(kind, "parquet", tmp_path / str(number))
        forge(folder, other)
        with pytest.raises(BundleDamaged, match=says):
            rt.open(folder)


@pytest.mark.parametrize("name", ["doubled", "of another release"])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_another_part_or_release_are_told_from_the_source(name, kind, made, people, tmp_path):
    folder = made(kind, "parquet", tmp_path / "release")
    other = made(kind, "parquet", tmp_path / "other", seed=2)
    CHANGED[name][0](folder, other)
    resealed(folder)
    try:
        found = rt.audit(folder, source=people)
    except AuditFailed:
        return
    assert found.kept is False and found.source.unmatched


@pytest.mark.parametrize("kind", KINDS)
def test_a_last_part_that_was_left_out_and_never_stated_is_told_from_the_source(kind, made, people, tmp_path):
    """With its rows taken from the manifest the folder is a smaller release: it says that nobody was withheld."""
    folder = made(kind, "parquet", tmp_path / "release")
    change = without(folder, 2)
    resealed(folder, lambda stated: [change(stated), stated.update(rows=2 * PART)])
    try:
        found = rt.audit(folder, source=people)
    except AuditFailed:
        return
    assert found.kept is False


def test_rows_are_sorted_across_parts(made, tmp_path):
    """Two whole parts swapped, sealed again: of rows that are sorted by all they show, no other order is one."""
    folder = made("anatomized", "parquet", tmp_path / "release")
    exchanged(part(folder, 0), part(folder, 1))
    resealed(folder)
    with pytest.raises(BundleDamaged, match="not sorted by all that they show"):
        rt.audit(folder)


@pytest.mark.parametrize("kind", ["generalized", "perturbed"])
def test_of_shuffled_rows_a_digest_tells_parts_that_were_swapped(kind, made, people, tmp_path):
    """Any order of rows is as good as another; whoever knows the digest knows that it is another folder."""
    folder = made(kind, "parquet", tmp_path / "release")
    digest = bundle.compute_digest(folder)
    exchanged(part(folder, 0), part(folder, 1))
    resealed(folder)
    assert rt.audit(folder, source=people).source.passed
    with pytest.raises(BundleDamaged, match="not the one expected"):
        rt.audit(folder, expect_digest=digest)


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_in_the_footer_of_a_later_part_is_refused(kind, made, tmp_path):
    folder = made(kind, "parquet", tmp_path / "release")
    path = part(folder, 2)
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({"note": "Canary-00001"}), path, compression="lz4")
    resealed(folder)
    with pytest.raises(BundleDamaged, match="texts beside the columns"):
        rt.open(folder)


def test_a_value_that_no_row_has_in_the_dictionary_of_a_part_is_found(made, people, tmp_path):
    import pyarrow as pa

    folder = made("generalized", "parquet", tmp_path / "release")
    path = part(folder, 1)
    table = pq.read_table(path, read_dictionary=["gender"])
    column = table.column("gender").combine_chunks()
    more = pa.DictionaryArray.from_arrays(
        column.indices, pa.concat_arrays([column.dictionary, pa.array(["Canary-00001"])])
    )
    table = table.set_column(table.column_names.index("gender"), "gender", more)
    pq.write_table(table, path, compression="lz4", store_schema=False, write_statistics=False)
    resealed(folder)
    found = rt.audit(folder, source=people)
    assert ("gender", path.name, 1) in [(leak.column, leak.file, leak.values) for leak in found.source.leaks]
    assert found.kept is False
