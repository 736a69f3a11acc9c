"""The audit against the source: what leaked is found, what did not is not."""

import json

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reticent.audit import audit
from reticent.data.columns import identifying, insensitive, quasi, sensitive
from reticent.errors import AuditFailed, BundleDamaged
from reticent.format.data_writer import write_data
from reticent.release import bundle
from tests.support.release_folders import resealed, write_release

CANARY = "Wilhelmina-Ottokar-4711"
COLUMNS = {
    "person": identifying(),
    "age": quasi(numeric=True),
    "town": quasi(),
    "job": sensitive(),
    "note": insensitive(),
}


@pytest.fixture
def source():
    rng = np.random.default_rng(5)
    n = 400
    frame = pl.DataFrame(
        {
            "person": [f"person {i:05d}" for i in rng.permutation(n)],
            "age": np.sort(rng.integers(20, 60, n)),
            "town": rng.choice(["Northam", "Eastbury", "Westholm"], n),
            "job": rng.choice(["nurse", "baker", "clerk", "miner"], n),
            "note": rng.choice(["a", "b"], n),
            "salary": [str(s) for s in rng.integers(100_000, 999_999, n)],
        }
    )
    outlier = pl.DataFrame(
        {
            "person": [CANARY],
            "age": [97],
            "town": ["Zzyzx-Springs"],
            "job": ["astronaut"],
            "note": ["a"],
            "salary": ["1234567"],
        }
    )
    return pl.concat([frame, outlier])


@pytest.fixture
def release(source, tmp_path):
    """All but the last row is published."""
    path = write_release(tmp_path / "release", source[:-1], COLUMNS, groups=30)
    resealed(path, lambda stated: stated.update(withheld=1))
    return path


def test_a_release_that_says_no_more_passes(release, source):
    found = audit(release, source=source)
    assert found.source.passed, str(found)
    assert found.to_dict()["source"]["withheld"] == 1
    assert CANARY not in str(found) + json.dumps(found.to_dict())


@pytest.mark.parametrize("secret", [CANARY, "astronaut", "Zzyzx-Springs", "1234567"])
def test_a_secret_in_the_readme_is_damage(release, source, secret):
    with open(release / "README.md", "a", encoding="utf-8") as handle:
        handle.write(f"thanks to {secret}\n")
    bundle.seal_folder(release, json.loads((release / "manifest.json").read_text()))
    with pytest.raises(BundleDamaged, match=r"README\.md is not what the manifest says") as failure:
        audit(release, source=source)
    assert secret not in str(failure.value)


@pytest.mark.parametrize("secret", [CANARY, "astronaut", "person 00007"])
def test_a_secret_in_a_field_that_the_manifest_has_is_found(release, source, secret):
    resealed(release, lambda stated: stated["promises"].append({"model": "k-map", "k": 2, "population": secret}))
    assert [leak.file for leak in audit(release, source=source).source.leaks] == ["manifest.json"]


@pytest.mark.parametrize("secret", [CANARY, "astronaut", "person 00007"])
def test_a_secret_where_no_parameter_has_a_text_is_refused(release, source, secret):
    for hide in (
        lambda stated: stated["method"].update(labels=secret),
        lambda stated: stated["method"].update(weights={secret: 1}),
    ):
        before = (release / "manifest.json").read_text()
        resealed(release, hide)
        with pytest.raises(BundleDamaged) as failure:
            audit(release, source=source)
        assert secret not in str(failure.value)
        (release / "manifest.json").write_text(before)


@pytest.mark.parametrize("given", ["with the source", "alone"])
def test_a_listed_value_that_no_row_shows_is_refused(release, source, given):
    resealed(release, lambda stated: stated["columns"][1]["values"].append("astronaut"))
    with pytest.raises(BundleDamaged, match="does not describe column 'town' as it is published") as failure:
        audit(release, source=source if given == "with the source" else None)
    assert "astronaut" not in str(failure.value)


@pytest.mark.parametrize("secret", [CANARY, "astronaut", "person 00007"])
def test_a_secret_in_a_field_that_no_manifest_has_is_refused(release, source, secret):
    for hide in (
        lambda stated: stated.update(note=secret),
        lambda stated: stated["method"].update(note=secret),
        lambda stated: stated["columns"][0].update(note=secret),
    ):
        before = (release / "manifest.json").read_text()
        resealed(release, hide)
        with pytest.raises(BundleDamaged, match="1 field that does not belong") as failure:
            audit(release, source=source)
        assert secret not in str(failure.value)
        (release / "manifest.json").write_text(before)


def test_a_range_that_reaches_to_a_withheld_row_is_found(release, source):
    def reach(stated):
        next(column for column in stated["columns"] if column["name"] == "age")["domain"][1] = 97

    resealed(release, reach)
    assert [(leak.column, leak.file) for leak in audit(release, source=source).source.leaks] == [
        ("age", "manifest.json")
    ]


def test_a_label_that_ends_at_a_withheld_row_is_found(release, source):
    frame = pl.read_parquet(release / "data.parquet")
    label = frame["age"][0]
    frame = frame.with_columns(
        pl.when(pl.col("age") == label)
        .then(pl.lit(f"[{label[1:].split(',')[0]}, 97]"))
        .otherwise(pl.col("age"))
        .alias("age")
    )
    write_data(release / "data.parquet", frame, "parquet")
    resealed(release)
    assert ("age", "data") in [(leak.column, leak.file) for leak in audit(release, source=source).source.leaks]


@pytest.mark.parametrize("where", ["metadata", "compressed metadata"])
def test_a_text_in_a_parquet_footer_is_refused_with_and_without_the_source(release, source, where):
    table = pl.read_parquet(release / "data.parquet").to_arrow()
    if where == "metadata":
        table = table.replace_schema_metadata({"pandas": f'{{"index": "{CANARY}"}}'})
    else:
        field = pa.field("age", pa.large_string(), metadata={"was": CANARY})
        table = table.cast(pa.schema([field if one.name == "age" else one for one in table.schema]))
    pq.write_table(table, release / "data.parquet")
    resealed(release)
    for given in (None, source):
        with pytest.raises(BundleDamaged, match="footer holds texts beside the columns") as failure:
            audit(release, source=given)
        assert CANARY not in str(failure.value)


@pytest.mark.parametrize("compression", ["none", "zstd", "lz4", "snappy", "gzip"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_a_value_that_stands_in_a_dictionary_only_is_found_or_its_packing_refused(
    release, source, compression, version
):
    """What a categorical column keeps of the rows that were removed."""
    table = pl.read_parquet(release / "data.parquet").to_arrow()
    at = table.schema.get_field_index("job")
    coded = table.column(at).cast(pa.string()).combine_chunks().dictionary_encode()
    more = pa.DictionaryArray.from_arrays(coded.indices, pa.concat_arrays([coded.dictionary, pa.array(["astronaut"])]))
    pq.write_table(
        table.set_column(at, "job", more),
        release / "data.parquet",
        compression=compression,
        data_page_version=version,
        store_schema=False,
    )
    resealed(release)
    if compression not in ("none", "lz4"):
        with pytest.raises(BundleDamaged, match="packed otherwise than reticent packs"):
            audit(release, source=source)
        return
    found = audit(release, source=source).source
    assert ("job", "data.parquet") in [(leak.column, leak.file) for leak in found.leaks]


def test_rows_in_the_order_of_the_source_are_found(release, source):
    """Rows are sorted by age in the source; sorted by label they betray it."""
    frame = pl.read_parquet(release / "data.parquet")
    ordered = frame.sort(pl.col("age").str.extract(r"(\d+)").cast(pl.Int64))
    write_data(release / "data.parquet", ordered, "parquet")
    resealed(release)
    found = audit(release, source=source).source
    assert not found.order.shuffled
    assert found.order.correlation > 0.3
    assert not found.passed


def test_a_row_with_the_value_of_another_is_found(release, source):
    frame = pl.read_parquet(release / "data.parquet")
    jobs = frame["job"].to_list()
    jobs[0] = next(job for job in jobs if job != jobs[0])
    write_data(release / "data.parquet", frame.with_columns(pl.Series("job", jobs)), "parquet")
    resealed(release)
    found = audit(release, source=source).source
    assert found.unmatched >= 1
    assert not found.passed


def test_a_miscounted_withholding_is_found(release, source):
    resealed(release, lambda stated: stated.update(withheld=0))
    found = audit(release, source=source)
    assert not found.source.passed
    assert found.kept is False


def test_a_source_without_a_published_column_is_refused(release, source):
    with pytest.raises(AuditFailed, match="'job'"):
        audit(release, source=source.drop("job"))


def test_the_source_may_be_a_file_with_texts_that_mean_missing(source, tmp_path):
    frame = source[:-1].with_columns(
        pl.when(pl.int_range(pl.len()) % 9 == 0).then(None).otherwise(pl.col("town")).alias("town")
    )
    release = write_release(tmp_path / "r", frame, COLUMNS, groups=350)
    frame.with_columns(pl.col("town").fill_null("?")).write_csv(tmp_path / "s.csv")
    assert audit(release, source=tmp_path / "s.csv", missing=["?"]).source.passed
    assert not audit(release, source=tmp_path / "s.csv").source.passed
