"""`map` replaces spellings before anything counts them: in every engine, and wherever the source is read again."""

from __future__ import annotations

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.data.source import MappedSource, Source, collect_frame, scan_source, with_spellings
from reticent.data.spellings import collect_spellings
from reticent.errors import ColumnError, JobError
from reticent.job.draft import draft_job
from tests.support.spark_session import spark

ROWS = 120
MAP = {"m": "M", "male": "M", "female": "F"}
WRITTEN = ["m", "male", "M", "F", "female"]
PEOPLE = pl.DataFrame(
    {
        "sex": [WRITTEN[index % 5] for index in range(ROWS)],
        "age": [20 + index % 7 for index in range(ROWS)],
        "ill": [["flu", "Flu", "gout", "cold"][index % 4] for index in range(ROWS)],
        "ward": [["a", "A ", "b"][index % 3] for index in range(ROWS)],
    }
)
COLUMNS = {
    "sex": rt.quasi(map=MAP),
    "age": rt.quasi(),
    "ill": rt.sensitive(map={"Flu": "flu"}),
    "ward": rt.insensitive(map={"A ": "a"}),
}
PLAIN = PEOPLE.with_columns(
    sex=pl.col("sex").replace(MAP),
    ill=pl.col("ill").str.to_lowercase(),
    ward=pl.col("ward").str.head(1).str.to_lowercase(),
)


def job(source=None, columns=COLUMNS, **more):
    return rt.Job(source=source, columns=columns, promises=[rt.KAnonymity(4)], **more)


def rows_of(release):
    frame = release.frame()
    return sorted(frame.rows(), key=str)


@pytest.mark.parametrize("engine", ["local", "stream", "spark"])
@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_a_mapped_table_is_published_as_the_table_with_those_values_would_be(tmp_path, engine, kind):
    worker = spark() if engine == "spark" else engine
    unmapped = {name: rt.Column(column.role) for name, column in COLUMNS.items()}
    expected = rt.publish(job(columns=unmapped), frame=PLAIN, seed=1)
    if kind == "frame":
        release = rt.publish(job(), frame=PEOPLE, seed=1, engine=worker)
    else:
        path = tmp_path / f"people.{kind}"
        PEOPLE.write_csv(path) if kind == "csv" else PEOPLE.write_parquet(path)
        release = rt.publish(job(Source(path=str(path))), seed=1, engine=worker)
    if kind != "csv":
        assert rows_of(release) == rows_of(expected)
    assert set(release.frame()["ill"]) == {"flu", "gout", "cold"}
    assert set(release.frame()["ward"]) == {"a", "b"}


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet", "xlsx"])
def test_audit_attack_query_and_risk_read_the_source_as_it_was_published(tmp_path, kind):
    path = tmp_path / f"people.{kind}"
    if kind != "frame":
        getattr(PEOPLE, {"csv": "write_csv", "parquet": "write_parquet", "xlsx": "write_excel"}[kind])(path)
    source = None if kind == "frame" else Source(path=str(path))
    again = PEOPLE if kind == "frame" else str(path)
    frame = PEOPLE if kind == "frame" else None
    release = rt.publish(job(source), frame=frame, to=tmp_path / "release", seed=1, ledger=tmp_path / "ledger")
    for opened in (release, rt.open(tmp_path / "release")):
        assert rt.audit(opened, source=again).source.passed
        (answer,) = opened.measure(["SELECT COUNT(*) FROM release WHERE sex = 'M'"], source=again)
        assert answer["true"] == ROWS * 3 // 5
        guesses = rt.attack(opened, again, "naive-bayes")
        assert guesses is not None


def test_a_map_is_in_no_byte_of_the_release(tmp_path):
    release = rt.publish(job(), frame=PEOPLE, to=tmp_path / "release", seed=1, ledger=tmp_path / "ledger")
    for file in release.folder.iterdir():
        assert b"female" not in file.read_bytes(), file.name
    manifest = json.loads((release.folder / "manifest.json").read_text())
    assert all("map" not in column for column in manifest["columns"])


def test_texts_that_are_no_key_stay_and_texts_that_occur_nowhere_are_noted():
    columns = {**COLUMNS, "sex": rt.quasi(map={"m": "M", "hombre": "M", "mujer": "F"})}
    release = rt.publish(job(columns=columns), frame=PEOPLE, seed=1)
    assert set(release.columns[0].values or ()) >= {"male", "female"}
    (notice,) = [notice for notice in release.notices if "map" in notice]
    assert "2 of the 3 texts in its map occur nowhere" in notice and "hombre" not in notice
    assert notice in rt.check(job(columns=columns), frame=PEOPLE, methods=[]).warnings


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_batches_are_mapped_once_and_say_nothing_of_unused_texts(tmp_path, engine):
    PEOPLE.write_csv(tmp_path / "people.csv")
    made = job(Source(path=str(tmp_path / "people.csv")))
    summary = rt.publish_batches(made, "ward", tmp_path / "out", seed=1, ledger=tmp_path / "ledger", engine=engine)
    assert [batch["batch"] for batch in summary["batches"]] == ["a", "b"]
    assert summary["published"] == 2


def test_an_empty_replacement_makes_a_value_missing_in_this_column_alone():
    frame = PEOPLE.with_columns(code=pl.col("sex"))
    rows = collect_frame(scan_source(MappedSource(spellings=(("sex", (("m", ""),)),)), frame), "")
    assert rows["sex"].null_count() == ROWS // 5 and rows["code"].null_count() == 0


def test_a_map_comes_before_the_texts_that_mean_missing():
    frame = pl.DataFrame({"region": ["NA", "EU", "none", "?"], "other": ["NA", "x", "y", "z"]})
    spellings = collect_spellings({"region": rt.quasi(map={"NA": "North America", "none": "?"})})
    rows = collect_frame(scan_source(with_spellings(Source(missing=("NA", "?")), spellings), frame), "")
    assert rows["region"].to_list() == ["North America", "EU", None, None]
    assert rows["other"].to_list() == [None, "x", "y", "z"]


def test_hierarchies_orders_and_domains_are_about_the_replacements(tmp_path):
    columns = {
        "sex": rt.quasi(map=MAP, hierarchy=[["M", "*"], ["F", "*"]]),
        "age": rt.quasi(),
        "ill": rt.sensitive(map={"Flu": "flu"}, order=["cold", "flu", "gout"]),
    }
    release = rt.publish(job(columns=columns), frame=PEOPLE.drop("ward"), seed=1)
    assert release.columns[2].order == ["cold", "flu", "gout"]


def test_a_map_of_a_pattern_is_for_every_column_that_fits():
    frame = PEOPLE.with_columns(sex_of_mother="sex", sex_of_father="sex").drop("ward")
    columns = {"sex*": rt.quasi(map=MAP), "age": rt.quasi(), "ill": rt.sensitive()}
    release = rt.publish(job(columns=columns), frame=frame, seed=1)
    assert all(set(release.frame()[name]) <= {"M", "F", "*"} for name in frame.columns if name.startswith("sex"))


def test_a_map_of_numbers_is_refused_with_the_type():
    columns = {**COLUMNS, "age": rt.quasi(map={"20": "21"})}
    for engine in ("local", spark()):
        with pytest.raises(ColumnError, match="'age' has a map, and its type is Int64"):
            rt.publish(job(columns=columns), frame=PEOPLE, engine=engine)


BAD = {
    "no table": "M",
    "empty": {},
    "a number": {"m": 1},
    "a list": ["m", "M"],
    "a chain": {"m": "male", "male": "M"},
    "an exchange": {"m": "f", "f": "m"},
}


@pytest.mark.parametrize("name", BAD)
def test_a_map_that_is_none_is_refused(name):
    with pytest.raises(JobError):
        rt.quasi(map=BAD[name])


def test_an_identifying_column_has_no_map():
    with pytest.raises(JobError, match="map is for columns that are published"):
        rt.Column("identifying", map=MAP)


def test_a_job_with_a_map_is_written_and_read_back(tmp_path):
    made = job(Source(path="people.csv"))
    (tmp_path / "job.toml").write_text(made.to_toml())
    again = rt.Job.read(tmp_path / "job.toml")
    assert again.columns == made.columns and again.source.spellings == made.source.spellings
    assert "spellings" not in made.to_toml()


@pytest.mark.parametrize(
    ("written", "spellings"),
    [
        (["m", "male", "M", "F", "female", "M"], {"m": "M", "male": "M", "female": "F"}),
        (["yes", "Y", "no", "n", "yes", "no"], {"Y": "yes", "n": "no"}),
        (["Kiel", "kiel", "KIEL ", "Ulm", "Kiel", "Ulm"], {"KIEL ": "Kiel", "kiel": "Kiel"}),
        (["m", "female", "other", "m", "female", "x"], {}),
        (["m", "male", "child", "m", "male", "child"], {}),
        (["m", "male", "F"] * 4 + ["not asked"], {"male": "m"}),
        (["m", "F", "M"] * 4 + ["XL"], {"m": "M"}),
    ],
)
def test_a_draft_proposes_one_spelling_for_those_that_look_alike(tmp_path, written, spellings):
    pl.DataFrame({"v": written * 10, "w": range(10 * len(written))}).write_csv(tmp_path / "t.csv")
    column = draft_job(Source(path=str(tmp_path / "t.csv"))).columns[0]
    assert column.declared.get("map", {}) == spellings
    if spellings:
        changed = 10 * sum(text in spellings for text in written)
        assert f"({changed} rows change)" in column.why


TEXT = st.text("abA ", max_size=2)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.one_of(TEXT, st.none()), min_size=1, max_size=20), st.dictionaries(TEXT, TEXT, min_size=1, max_size=5)
)
def test_random_columns_are_replaced_as_a_dictionary_replaces_them(texts, spellings):
    if any(spellings.get(text, text) != text for text in spellings.values()):
        with pytest.raises(JobError):
            rt.quasi(map=spellings)
        return
    frame = pl.DataFrame({"a": pl.Series(texts, dtype=pl.String)})
    source = with_spellings(Source(), collect_spellings({"a": rt.quasi(map=spellings)}))
    once = collect_frame(scan_source(source, frame), "")["a"].to_list()
    expected = [None if text is None else spellings.get(text, text) for text in texts]
    expected = [
        None if text in spellings and spellings[text] == "" else new for text, new in zip(texts, expected, strict=True)
    ]
    assert once == expected
    assert (
        collect_frame(scan_source(source, pl.DataFrame({"a": pl.Series(once, dtype=pl.String)})), "")["a"].to_list()
        == once
    )
