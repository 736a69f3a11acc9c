"""A release planned in regions, its cells, plans and groups in parts: the plan of one place, the same audit, the same ledger."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.errors import JobError, PromiseUnreachable, SourceError
from reticent.ledger.fingerprint import CountedRows
from reticent.methods.regions import SAMPLE_CELLS
from reticent.models.promise import Promises
from reticent.partitioned import region_planning
from reticent.partitioned.fingerprint import PartitionedCountedRows
from tests.support.in_process_partitions import Spread
from tests.support.region_plans import COLUMNS, DROP, KB, QUASI, in_one_place, labelled, small_parts


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return rt.datasets.load("census", rows=1_800, seed=2)


def published(job, frame, tmp_path, regions=6, **how) -> rt.Release:
    engine = Spread(regions, how.pop("rows", 400))
    with small_parts(sample_cells=how.pop("sample_cells", SAMPLE_CELLS), audit_rows=500):
        return rt.publish(job, frame=frame, to=tmp_path / "out", ledger=tmp_path / "ledger", engine=engine, **how)


@pytest.mark.parametrize(
    "promises",
    [KB, [rt.TCloseness("3/10")], [rt.EntropyLDiversity(3), rt.KAnonymity(4)]],
    ids=["k, beta", "t", "entropy"],
)
def test_parts_publish_the_plan_of_one_place_and_the_audit_of_all_groups_says_the_same(promises, people, tmp_path):
    job = rt.Job(columns=COLUMNS, promises=promises, release=DROP)
    release = published(job, people, tmp_path, seed=3, sample_cells=900)
    assert labelled(release) == in_one_place(job, people, 6, 3, sample_size=900)
    found = rt.audit(release, source=people, job=job)
    assert found.kept and found.source.passed
    once = rt.audit(release)
    assert release.audited.promises == once.promises and release.audited.exact == once.exact
    assert release.audited.groups == once.groups and release.audited.rows == once.rows
    assert release.audited.risk.prosecutor == once.risk.prosecutor
    assert dict(release.audited.utility) == dict(once.utility)  # the loss to the last digit


def test_what_the_manifest_says_is_what_one_plan_of_the_same_labels_would_say(people, tmp_path):
    job = rt.Job(columns=COLUMNS, promises=KB, release=DROP)
    release = published(job, people, tmp_path, seed=3)
    rt.open(tmp_path / "out")  # verified: checksums, shapes, labels
    for entry in release.columns:
        if entry.role == "quasi-identifying" and entry.type == "categorical":
            shown = {text for label in release.frame()[entry.name].unique() for text in label.strip("{}").split(", ")}
            assert set(entry.values or ()) == shown - {"*"}
    assert release.manifest.rows == len(people)


def test_carried_values_stay_with_their_rows_and_several_sensitive_columns_go_together(tmp_path):
    draw = np.random.default_rng(5)
    rows = 700
    frame = pl.DataFrame(
        {
            "age": draw.integers(20, 70, rows),
            "city": draw.choice(["Ulm", "Bonn", "Kiel"], rows),
            "illness": draw.choice(["flu", "cold", "gout"], rows),
            "drug": draw.choice(["a", "b"], rows),
            "note": [f"n{at}" for at in range(rows)],
            "at": pl.Series(range(rows)).cast(pl.Time),
        }
    ).with_columns(city=pl.when(pl.col("age") < 25).then(None).otherwise("city"))
    columns = {
        "age": rt.quasi(), "city": rt.quasi(), "illness": rt.sensitive(), "drug": rt.sensitive(),
        "note": rt.insensitive(acknowledge=True), "at": rt.insensitive(acknowledge=True),
    }  # fmt: skip
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(4), rt.BetaLikeness(3)], jointly=True)
    release = published(job, frame, tmp_path, seed=1, rows=90)
    assert Counter(release.frame().select("note", "at", "illness", "drug").rows()) == Counter(
        frame.select("note", "at", "illness", "drug").rows()
    )
    assert labelled(release, ("age", "city", "illness", "drug")) == in_one_place(job, frame, 6, 1)
    found = rt.audit(release, source=frame, job=job)
    assert found.kept and found.source.passed
    assert release.audited.promises == rt.audit(release).promises
    assert release.audited.carried == rt.audit(release).carried


def test_columns_may_be_called_as_numbers_in_between_are(tmp_path):
    """Codes, labels and values stand by numbers on the way: whatever these are called, no column of a table is."""
    rows = 120
    frame = pl.DataFrame({"l0": [at % 40 for at in range(rows)], "q1": [at % 7 for at in range(rows)]})
    frame = frame.with_columns(pl.Series("v1", ["a", "b", "c"] * 40), pl.Series("s1", ["x", "y"] * 60))
    names = ["q0", "s0", "v0", "v", "l1", "l", "c0", "number", "label", "word", "part", "times", "count"]
    frame = frame.with_columns(pl.Series([f"{name}-{at}" for at in range(rows)]).alias(name) for name in names)
    columns = {"l0": rt.quasi(), "q1": rt.quasi(), "v1": rt.sensitive(), "s1": rt.sensitive()}
    carried = {name: rt.insensitive(acknowledge=True) for name in names}
    job = rt.Job(columns={**columns, **carried}, promises=[rt.KAnonymity(4)])
    release = published(job, frame, tmp_path, regions=3, rows=30)
    kept = ["v1", "s1", *names]
    assert Counter(release.frame().select(kept).rows()) == Counter(frame.select(kept).rows())
    found = rt.audit(release, source=frame, job=job)
    assert found.kept and found.source.passed and release.audited.promises == found.promises


def test_rows_that_are_not_those_that_were_counted_are_refused_and_nothing_is_kept(tmp_path):
    frame = pl.DataFrame({"q": [1, 2, 3, 4] * 20, "s": list("abcd") * 20, "note": list(range(80))})
    columns = {"q": rt.quasi(), "s": rt.sensitive(), "note": rt.insensitive(acknowledge=True)}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(4)])
    for other in (frame[:79], frame.with_columns(q=pl.lit(9)), frame.with_columns(q=pl.Series([2, *frame["q"][1:]]))):
        with (
            mock.patch.object(
                Spread, "read_rows", lambda self, rows, names, other=other: self._in_parts(other.select(names))
            ),
            pytest.raises(SourceError, match="changed"),
        ):
            published(job, frame, tmp_path)
        assert not [path for path in tmp_path.iterdir() if path.name != "ledger"]


def test_the_ledger_knows_rows_in_parts_as_it_knows_them_in_one_place(people, tmp_path):
    keys = [*QUASI, "salary_class"]
    key = b"k" * 32
    one = CountedRows.from_frame(people.lazy(), keys).hash_values(key)
    parts = Spread(2, 300).count_combinations(people.lazy(), keys, tmp_path / "held")
    other = PartitionedCountedRows(parts, keys, None).hash_values(key)
    for name in ("columns", "rows", "mark", "rate"):
        assert getattr(one.content, name) == getattr(other.content, name)
    for name in ("hashes", "counts", "sizes", "multiplicity"):
        assert np.array_equal(getattr(one.content, name), getattr(other.content, name))
    some = ("age", "gender")
    assert all(np.array_equal(*both) for both in zip(one.count_sizes(some), other.count_sizes(some), strict=True))
    wanted = one.combine_columns(some)[:50]
    assert np.array_equal(one.count_rows_with(some, wanted), other.count_rows_with(some, wanted))


def test_a_table_that_was_published_before_is_refused_in_parts_too(people, tmp_path):
    job = rt.Job(columns=COLUMNS, promises=KB, release=DROP)
    published(job, people[:900], tmp_path)
    with pytest.raises(rt.ReticentError, match="before"):
        rt.publish(job, frame=people[:900], to=tmp_path / "after", ledger=tmp_path / "ledger")
    with pytest.raises(rt.ReticentError, match="before"):  # most of its rows
        rt.publish(job, frame=people[20:920], to=tmp_path / "after", ledger=tmp_path / "ledger", engine=Spread(3, 300))
    rt.publish(job, frame=people[1_000:], to=tmp_path / "others", ledger=tmp_path / "ledger", engine=Spread(3, 300))


def told_of(rows: int, values: int, tmp_path) -> tuple[dict[str, int], int]:
    """How much comes to one place of so many rows, nearly distinct, by what it was asked for; and how many labels are published."""
    draw = np.random.default_rng(1)
    frame = pl.DataFrame(
        {f"q{at}": draw.integers(0, values, rows) for at in range(4)} | {"s": draw.integers(0, 5, rows)}
    )
    columns = {f"q{at}": rt.quasi() for at in range(4)} | {"s": rt.sensitive()}
    engine = Spread(4, rows // 3)
    with small_parts(sample_cells=300, bucket_bytes=20_000, sample_rows=100, audit_rows=1_000):
        release = rt.publish(
            rt.Job(columns=columns, promises=[rt.KAnonymity(5)]),
            frame=frame,
            to=tmp_path / f"{rows}-{values}",
            ledger=tmp_path / "ledger",
            engine=engine,
            seed=1,
        )
    most: dict[str, int] = {}
    for doing, size in engine.seen:
        most[doing] = most.get(doing, 0) + size if doing != "bucket" else max(most.get(doing, 0), size)
    return most, sum(release.frame()[f"q{at}"].n_unique() for at in range(4))


@pytest.mark.parametrize("values", [30, 400], ids=["few labels", "more labels of more rows"])
def test_what_comes_to_one_place_does_not_grow_with_the_rows_nor_with_the_labels(values, tmp_path):
    """Nearly distinct rows, of the same values; the sample is bounded, and rows come a bucket at a time."""
    few, labels = told_of(1_500, values, tmp_path)
    many, more = told_of(6_000, values, tmp_path)
    assert values == 30 or more > 1.5 * labels > 500
    asked = {"Counting values", "Drawing a sample", "Planning regions", "number_labels", "Auditing labels", "Auditing"}
    assert set(few) == set(many) >= {*asked, "bucket"}
    assert {doing for doing in few if many[doing] >= 2 * few[doing] + 2_000} == set()
    for doing in (
        "Planning regions",
        "number_labels",
        "count_partition_values",
        "Auditing labels",
    ):  # labels are where they might be
        assert many[doing] < 1.1 * few[doing] + 200, doing


def test_a_release_in_regions_needs_a_place_and_a_promise_in_reach(people, tmp_path):
    job = rt.Job(columns=COLUMNS, promises=KB, release=DROP)
    with pytest.raises(JobError, match="needs a folder"):
        rt.publish(job, frame=people, engine=Spread(4))
    with pytest.raises(PromiseUnreachable):
        published(job.at(promises=[rt.KAnonymity(5_000)]), people, tmp_path)


def test_a_number_that_is_none_is_missing_in_rows_as_in_cells(tmp_path):
    weight = [float("nan"), None, 1.5, 2.5, 70.0] * 12
    frame = pl.DataFrame({"weight": weight, "s": list("abc") * 20, "note": list(range(60))})
    columns = {"weight": rt.quasi(), "s": rt.sensitive(), "note": rt.insensitive(acknowledge=True)}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(4)])
    release = published(job, frame, tmp_path, rows=20)
    found = rt.audit(release, source=frame, job=job)
    assert found.kept and found.source.passed


@pytest.mark.parametrize(
    "phase", ["reading", "planning", "writing", "writing: numbering rows", "writing: moving rows", "auditing"]
)
def test_ctrl_c_in_any_phase_leaves_nothing(phase, people, tmp_path):
    def stop(stage: str) -> None:
        if stage == phase:
            raise KeyboardInterrupt

    columns = {**COLUMNS, "note": rt.insensitive(acknowledge=True)}
    job = rt.Job(columns=columns, promises=KB)
    with pytest.raises(KeyboardInterrupt):
        published(job, people[:300].with_row_index("note"), tmp_path, progress=stop)
    assert [path.name for path in tmp_path.iterdir() if path.name != "ledger"] == []


def test_a_broken_part_breaks_the_release(people, tmp_path):
    """The audit in parts is no formality: groups that break a promise in one part are seen."""
    job = rt.Job(columns=COLUMNS, promises=KB, release=DROP)
    strict = job.at(promises=[rt.KAnonymity(400)])

    carefully = region_planning._plan_region

    def careless(held, number, asked):
        return carefully(held, number, replace(asked, promises=Promises.from_iterable([rt.KAnonymity(3)])))

    with (
        mock.patch("reticent.partitioned.region_planning._plan_region", careless),
        pytest.raises(rt.ReticentError, match="does not keep"),
    ):
        published(strict, people, tmp_path)
    assert not (tmp_path / "out").exists()


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 6), st.sampled_from(["x", "y", None]), st.sampled_from("abc")), min_size=6, max_size=80
    ),
    regions=st.integers(2, 9),
    at_once=st.integers(3, 40),
    carried=st.booleans(),
)
def test_random_tables_in_random_parts_keep_the_promise(rows, regions, at_once, carried, tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("regional")
    frame = pl.DataFrame(rows, schema={"p": pl.Int8, "q": pl.String, "s": pl.String}, orient="row")
    columns = {"p": rt.quasi(), "q": rt.quasi(), "s": rt.sensitive()}
    if carried:
        frame = frame.with_row_index("note")
        columns["note"] = rt.insensitive(acknowledge=True)
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(2), rt.BetaLikeness(1)])
    try:
        release = published(job, frame, tmp_path, regions, rows=at_once, seed=1, sample_cells=20)
    except PromiseUnreachable:
        with pytest.raises(PromiseUnreachable):
            rt.publish(job, frame=frame, seed=1)
        return
    found = rt.audit(release, source=frame, job=job)
    assert found.kept and found.source.passed
    assert release.audited.promises == rt.audit(release).promises


def test_labels_that_are_padded_or_snapped_or_sets_are_published_in_parts_and_hold_their_rows(people, tmp_path):
    """A snapped label of one region may read as another's: the audit counts both as one group."""
    columns = {
        **COLUMNS,
        "age": rt.quasi(labels={"style": "padded", "width": 3}),
        "education": rt.quasi(labels={"style": "snapped", "step": 5}),
    }
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(5)], release=DROP, method=rt.Mondrian(labels="sets"))
    release = published(job, people, tmp_path, seed=2)
    found = rt.audit(release, source=people, job=job)
    assert found.kept and found.source.passed
    assert release.audited.promises == found.promises and release.audited.groups == found.groups
    assert any("wider than their groups" in notice for notice in release.notices)


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_release_of_regions_is_written_and_audited_in_parts_of_its_file_too(format, people, tmp_path):
    job = rt.Job(columns=COLUMNS, promises=KB, release=replace(DROP, format=format, part_rows=1_000))
    release = published(job, people, tmp_path, seed=3)
    assert release.manifest.data == (f"data-00000.{format}", f"data-00001.{format}")
    assert labelled(release) == in_one_place(job, people, 6, 3)
    found = rt.audit(rt.open(tmp_path / "out"), source=people, job=job)
    assert found.kept and found.source.passed
    assert release.audited.promises == found.promises and release.audited.exact == found.exact
