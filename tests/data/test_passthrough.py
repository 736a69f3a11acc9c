"""Insensitive columns: measured before they are published, rounded where asked for, refused where they single people out."""

import math
import random
from collections import Counter
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.check import check
from reticent.data.passthrough import compute_cramers_v
from reticent.engines.local import count_distinct_rows
from reticent.errors import ColumnError, JobError
from tests.support.release_folders import resealed


def table(rows=300, seed=3):
    draw = random.Random(seed)
    frame = {
        "age": [draw.randint(20, 60) for _ in range(rows)],
        "illness": [draw.choice(["flu", "cold", "gout"]) for _ in range(rows)],
        "weight": [draw.randint(100, 9_000) / 10 for _ in range(rows)],
        "ward": [draw.choice("NSEW") for _ in range(rows)],
    }
    return pl.DataFrame(frame)


def job(**columns):
    declared = {"age": rt.quasi(), "illness": rt.sensitive(), "weight": rt.insensitive(), "ward": rt.insensitive()}
    return rt.Job(columns={**declared, **columns}, promises=[rt.KAnonymity(5)])


def oracle_v(pairs):
    """Cramer's V by the definition, over the whole contingency table, exactly until the root."""
    n = len(pairs)
    both = Counter(pairs)
    left = Counter(a for a, _ in pairs)
    right = Counter(b for _, b in pairs)
    if min(len(left), len(right)) < 2:
        return 0.0
    square = sum(
        (Fraction(both[a, b]) - Fraction(left[a] * right[b], n)) ** 2 / Fraction(left[a] * right[b], n)
        for a in left
        for b in right
    )
    return math.sqrt(square / (n * (min(len(left), len(right)) - 1)))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from([1, 2, None])), min_size=2, max_size=30))
def test_association_is_cramers_v_in_planning_and_in_the_audit(pairs):
    frame = pl.DataFrame(
        {"c": [a for a, _ in pairs], "s": pl.Series([b for _, b in pairs], dtype=pl.Int64), "q": ["x"] * len(pairs)}
    )
    expected = pytest.approx(oracle_v(pairs), abs=1e-9)
    assert compute_cramers_v(count_distinct_rows(frame.lazy(), ["c", "s"])) == expected
    audited = rt.audit(frame, columns={"q": rt.quasi(), "s": rt.sensitive(missing="category"), "c": rt.insensitive()})
    assert audited.to_dict()["carried"][0]["association"]["s"] == expected


def test_a_near_unique_column_is_refused_with_numbers_and_no_value():
    with pytest.raises(ColumnError, match=r"'weight' is near-unique: \d+ of 300 rows") as caught:
        rt.publish(job(), frame=table())
    assert "acknowledge = true" in str(caught.value)
    assert not any(str(weight) in str(caught.value) for weight in table()["weight"])


def test_one_row_in_ten_may_have_a_value_of_its_own():
    values = [f"own{i}" for i in range(30)] + ["common"] * 270
    fine = table().with_columns(weight=pl.Series(values))
    assert rt.publish(job(), frame=fine).manifest.rows == 300
    with pytest.raises(ColumnError, match="31 of 300"):
        rt.publish(job(), frame=table().with_columns(weight=pl.Series([*values[:-1], "own30"])))


def test_who_acknowledges_it_may_publish_it():
    release = rt.publish(job(weight=rt.insensitive(acknowledge=True)), frame=table())
    assert Counter(release.frame()["weight"]) == Counter(table()["weight"])


def test_the_check_and_the_audit_report_the_same_figures():
    wanted = job(weight=rt.insensitive(acknowledge=True))
    planned = check(wanted, frame=table(), methods=[]).to_dict()["carried"]
    audited = rt.audit(rt.publish(wanted, frame=table())).to_dict()["carried"]
    assert [one["column"] for one in planned] == ["weight", "ward"]
    for one, other in zip(planned, audited, strict=True):
        assert one["association"]["illness"] == pytest.approx(other["association"]["illness"])
        assert (one["column"], one["distinct"], one["unique"]) == (other["column"], other["distinct"], other["unique"])


def test_the_check_refuses_what_publishing_refuses():
    with pytest.raises(ColumnError, match="near-unique"):
        check(job(), frame=table(), methods=[])


@pytest.mark.parametrize("text", [False, True], ids=["numbers", "text"])
@pytest.mark.parametrize("step", [10, 0.1, 100, 0.25])
def test_a_sampling_weight_is_published_rounded(step, text):
    frame = table().with_columns(pl.when(pl.int_range(pl.len()) % 50 > 0).then("weight").alias("weight"))
    frame = frame.with_columns(pl.col("weight").cast(pl.String)) if text else frame
    release = rt.publish(job(weight=rt.insensitive(round_to=step, acknowledge=True)), frame=frame)
    entry = next(c for c in release.columns if c.name == "weight")
    assert (entry.round_to, entry.dtype) == (step, "Int64" if isinstance(step, int) else "Float64")
    expected = [None if w is None else round(float(w) / step) * step for w in frame["weight"]]
    assert Counter(release.frame()["weight"]) == Counter(expected)
    assert rt.audit(release, source=frame).source.passed
    assert f"rounded to the nearest multiple of {step}" in (release.folder / "README.md").read_text()


def test_the_unrounded_value_is_nowhere_in_the_release(tmp_path):
    frame = table().with_columns(pl.col("weight") + 0.123456)
    wanted = job(weight=rt.insensitive(round_to=100))
    release = rt.publish(wanted.at(release=rt.Output(format="csv")), frame=frame)
    assert not any(str(value).encode() in (release.folder / "data.csv").read_bytes() for value in frame["weight"])
    assert rt.audit(release, source=frame).kept
    exact = rt.publish(job(weight=rt.insensitive(acknowledge=True)), frame=frame)
    exact.save(tmp_path / "forged")

    def coarsen(stated):
        next(c for c in stated["columns"] if c["name"] == "weight")["round_to"] = 100

    resealed(tmp_path / "forged", coarsen)
    assert rt.audit(tmp_path / "forged", source=frame).kept is False


def test_a_weight_can_be_a_quasi_identifier_instead():
    release = rt.publish(job(weight=rt.quasi()), frame=table())
    assert rt.audit(release, source=table()).achieved["k-anonymity"] >= 5


def test_what_is_no_number_cannot_be_rounded():
    with pytest.raises(ColumnError, match="'ward' is to be rounded, but 300 of its values are no numbers"):
        rt.publish(job(ward=rt.insensitive(round_to=10)), frame=table())
    with pytest.raises(ColumnError, match="1 of its values"):
        rt.publish(
            job(weight=rt.insensitive(round_to=10)),
            frame=table()
            .with_columns(weight=pl.lit(float("inf")))
            .with_columns(pl.when(pl.int_range(pl.len()) == 0).then("weight").alias("weight")),
        )


@pytest.mark.parametrize("step", [0, -1, "10", True, float("inf"), float("nan")])
def test_a_step_is_a_number_above_zero(step):
    with pytest.raises(JobError):
        rt.insensitive(round_to=step)


def test_only_insensitive_columns_are_rounded():
    with pytest.raises(JobError, match="insensitive"):
        rt.quasi(round_to=10)


def written(tmp_path, frame, **carried):
    """A CSV and a job over it, with these declarations of carried columns."""
    frame.write_csv(tmp_path / "people.csv")
    return job(**carried).at(source=rt.Source(path=str(tmp_path / "people.csv")))


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("method", [rt.Mondrian(), rt.Anatomy()])
def test_the_declared_type_of_a_carried_column_of_a_csv_is_obeyed(tmp_path, format, method):
    frame = table().with_columns(
        weight=pl.Series([f"{value // 50 * 50:.2f}" for value in table()["weight"]]),
        ward=pl.Series([f"2020-01-{1 + i % 5:02d}" for i in range(300)]),
        visits=pl.Series([f" {i % 4:02d}" for i in range(300)]),
        code=pl.Series([f"{i % 4:02d}" for i in range(300)]),
    )
    declared = {
        "weight": rt.insensitive(type="numeric"),
        "ward": rt.insensitive(type="date"),
        "visits": rt.insensitive(type="numeric"),
        "code": rt.insensitive(type="categorical"),
    }
    wanted = written(tmp_path, frame, **declared).at(release=rt.Output(format=format), method=method)
    wanted = wanted.at(promises=[rt.DistinctLDiversity(2)]) if method == rt.Anatomy() else wanted
    rt.publish(wanted, to=tmp_path / "release")
    shown = rt.open(tmp_path / "release").frame()
    assert [shown.schema[name] for name in declared] == [pl.Float64, pl.Date, pl.Int64, pl.String]
    assert sorted(shown["weight"].to_list()) == sorted(frame["weight"].cast(pl.Float64).to_list())
    assert rt.audit(tmp_path / "release", source=tmp_path / "people.csv").verdict == "kept"


@pytest.mark.parametrize("kind", ["numeric", "date"])
def test_a_carried_value_that_is_none_of_its_declared_type_is_refused_without_quoting_it(tmp_path, kind):
    frame = table().with_columns(ward=pl.Series(["canary"] + ["2020-01-01"] * 299))
    with pytest.raises(ColumnError, match="'ward' is declared") as caught:
        rt.publish(written(tmp_path, frame.drop("weight").with_columns(weight=1), ward=rt.insensitive(type=kind)))
    assert "canary" not in str(caught.value)
