"""Tables that other tools made: their labels, their files, and the figures other tools give for them."""

import numpy as np
import polars as pl
import pytest

from reticent.audit import audit
from reticent.data.columns import quasi, sensitive
from reticent.errors import ColumnError, JobError
from reticent.format.manifest import ColumnEntry
from reticent.job.job import Job
from reticent.labels.scale import UnreadableLabel, make_scale
from tests.oracle import measures as oracle

TREE = [["Bachelors", "Undergraduate", "Higher", "*"], ["Some-college", "Undergraduate", "Higher", "*"],
        ["Masters", "Graduate", "Higher", "*"], ["9th", "Secondary", "School", "*"]]  # fmt: skip


@pytest.fixture
def table():
    rng = np.random.default_rng(2)
    n = 600
    return pl.DataFrame(
        {
            "age": rng.choice(["[20, 30[", "[30, 40[", "[40, 50["], n),
            "education": rng.choice(["Undergraduate", "Masters", "*"], n),
            "job": rng.choice(["nurse", "baker", "clerk", "?"], n, p=[0.5, 0.3, 0.15, 0.05]),
        }
    )


def entry(**more) -> ColumnEntry:
    return ColumnEntry(name="x", role="quasi-identifying", type="numeric", **more)


def histograms(table, quasi, job="job"):
    groups = {}
    for row in table.iter_rows(named=True):
        value = None if row[job] == "?" else row[job]
        group = groups.setdefault(tuple(row[q] for q in quasi), {})
        group[value] = group.get(value, 0) + 1
    return list(groups.values())


@pytest.mark.parametrize("kind", ["csv", "semicolons", "parquet", "polars", "pandas", "arrow"])
def test_a_plain_table_has_the_oracles_measures(table, tmp_path, kind):
    if kind in ("csv", "semicolons"):
        given = tmp_path / "t.csv"
        table.write_csv(given, separator="," if kind == "csv" else ";")
    elif kind == "parquet":
        given = tmp_path / "t.parquet"
        table.write_parquet(given)
    elif kind == "pandas":
        pytest.importorskip("pandas")
        given = table.to_pandas().astype("category")
    else:
        given = table if kind == "polars" else table.to_arrow()
    found = audit(
        given,
        quasi=["age", "education"],
        sensitive=["job"],
        hierarchy={"education": TREE},
        missing=["?"],
        promises=[{"model": "k-anonymity", "k": 5}, {"model": "beta-likeness", "beta": 4}],
    )
    groups = histograms(table, ["age", "education"])
    for name, expected in oracle.achieved(groups).items():
        assert found.exact[name] == (pytest.approx(expected) if isinstance(expected, float) else expected), name
    assert [verdict.kept for verdict in found.promises] == [
        oracle.holds("k-anonymity", groups, k=5),
        oracle.holds("beta-likeness", groups, beta=4),
    ]
    assert found.utility["ail"] is not None
    assert found.kept is not None


def test_without_promises_there_is_no_verdict(table):
    assert audit(table, quasi=["age"], sensitive=["job"]).kept is None


@pytest.mark.parametrize(
    ("label", "low", "high", "open_low", "open_high"),
    [
        ("[20, 30[", 20, 30, False, True),
        ("[20, 30)", 20, 30, False, True),
        ("]20, 30]", 20, 30, True, False),
        ("(20, 30]", 20, 30, True, False),
        ("[20, 30]", 20, 30, False, False),
        ("20-29", 20, 29, False, False),
        ("-5 - -1", -5, -1, False, False),
        ("20~29", 20, 29, False, False),
        ("0.5-1.25", 0.5, 1.25, False, False),
        (">=80", 80, 99, False, False),
        ("> 80", 80, 99, True, False),
        ("<20", 0, 20, False, True),
        ("≤20", 0, 20, False, False),
        ("37", 37, 37, False, False),
    ],
)
def test_intervals_are_read_as_other_tools_write_them(label, low, high, open_low, open_high):
    found = make_scale(entry(domain=[0, 99]), foreign=True).read([label])[0]
    assert (found.lower, found.upper, found.open_lower, found.open_upper) == (low, high, open_low, open_high)


def test_a_half_open_interval_does_not_cover_its_end():
    source = pl.DataFrame({"age": [20, 30], "job": ["a", "b"]})
    closed = pl.DataFrame({"age": ["[20, 30]", "[20, 30]"], "job": ["a", "b"]})
    half = pl.DataFrame({"age": ["[20, 30[", "[20, 30["], "job": ["a", "b"]})
    assert audit(closed, quasi=["age"], sensitive=["job"], source=source).source.unmatched == 0
    assert audit(half, quasi=["age"], sensitive=["job"], source=source).source.unmatched == 1


def test_labels_that_nobody_understands_leave_the_promises_judged():
    table = pl.DataFrame({"age": ["young", "young", "old", "old"], "job": ["a", "b", "a", "b"]})
    found = audit(
        table, columns={"age": quasi(numeric=True), "job": sensitive()}, promises=[{"model": "k-anonymity", "k": 2}]
    )
    assert found.kept
    assert found.utility["ail"] is None
    assert "age" in found.notes[0]
    with pytest.raises(UnreadableLabel):
        make_scale(entry(), ["young"], foreign=True)


def test_roles_are_needed(table):
    with pytest.raises(ColumnError):
        audit(table, sensitive=["job"])
    with pytest.raises(ColumnError):
        audit(table, quasi=["agee"], sensitive=["job"])
    with pytest.raises(JobError):
        audit(table, quasi=["age"], hierarchy={"education": TREE})
    with pytest.raises(JobError):
        audit(table, quasi=["age"], expect_digest="0" * 64)


def test_k_map_counts_the_population_under_each_label():
    table = pl.DataFrame({"age": ["[20, 29]", "[20, 29]", "[30, 39]"], "town": ["A", "A", "*"], "job": ["a", "b", "a"]})
    people = pl.DataFrame({"age": [21, 25, 29, 30, 33, 40, None], "town": ["A", "A", "B", "B", None, "A", "A"]})
    asked = [{"model": "k-map", "k": 2}]
    found = audit(table, quasi=["age", "town"], sensitive=["job"], promises=asked, population=people).promises[0]
    assert (dict(found.achieved), found.kept) == ({"k": 2}, True)
    unknown = audit(table, quasi=["age", "town"], sensitive=["job"], promises=asked)
    assert (unknown.promises[0].kept, unknown.promises[0].evidence, unknown.kept) == (None, "needs source", None)


def test_pycanon_gives_the_same_k_l_t_and_basic_beta(table):
    anonymity = pytest.importorskip("pycanon.anonymity")
    frame = table.filter(pl.col("job") != "?")
    found = audit(frame, quasi=["age", "education"], sensitive=["job"]).achieved
    data = frame.to_pandas()
    q = ["age", "education"]
    s = ["job"]
    assert found["k-anonymity"] == anonymity.k_anonymity(data, q)
    assert found["distinct-l-diversity"] == anonymity.l_diversity(data, q, s)
    assert found["t-closeness-equal"] == pytest.approx(anonymity.t_closeness(data, q, s))
    assert found["beta-likeness-basic"] == pytest.approx(anonymity.basic_beta_likeness(data, q, s))
    assert found["alpha"] == pytest.approx(anonymity.alpha_k_anonymity(data, q, s)[0])
    assert found["delta-disclosure-ignoring-absent"] == pytest.approx(anonymity.delta_disclosure(data, q, s))


def test_two_sensitive_columns_are_judged_each_alone_or_jointly():
    rows = [("g", "a", "x"), ("g", "a", "y"), ("g", "b", "x"), ("h", "a", "x"), ("h", "b", "x"), ("h", "b", "y")]
    table = pl.DataFrame(rows, schema=["q", "s", "u"], orient="row")
    found = audit(
        table, quasi=["q"], sensitive=["s", "u"], promises=[{"model": "distinct-l-diversity", "l": 2, "column": "u"}]
    )
    assert found.kept
    assert found.exact["distinct-l-diversity"] == 2
    assert set(found.to_dict()["achieved_by_column"]) == {"s", "u"}

    jointly = Job(
        columns={"q": quasi(), "s": sensitive(), "u": sensitive()},
        promises=[{"model": "distinct-l-diversity", "l": 3}, {"model": "distinct-l-diversity", "l": 3, "column": "s"}],
        jointly=True,
    )
    assert [verdict.achieved for verdict in audit(table, job=jointly).promises] == [{"l": 3}, {"l": 2}]


def test_labels_that_are_values_of_the_source_lose_nothing_and_stars_all():
    """Another tool suppressed cells of columns without a hierarchy: with the source its loss is known."""
    source = pl.DataFrame(
        {"town": ["x", "y", "z", "w"] * 5, "sex": ["f", "m"] * 10, "s": ["a", "b", "c", "d", "e"] * 4}
    )
    suppressed = source.with_columns(
        town=pl.when(pl.col("sex") == "f").then(pl.lit("*")).otherwise(pl.col("town")), sex=pl.lit("*")
    )
    roles = {"quasi": ["town", "sex"], "sensitive": ["s"]}
    blind = audit(suppressed, **roles)
    assert blind.utility["ail"] is None
    assert blind.remainder.row_keeps is None
    assert "not known" in blind.remainder.sentence
    audited = audit(suppressed, source=source, **roles)
    assert audited.utility["ail_by_column"] == {"town": 0.5, "sex": 1.0}
    assert audited.utility["ail"] == 0.75
    assert audited.remainder.sentence == (
        "Of 2 quasi-identifiers 1 is as good as `*` in every row ('sex'); a row keeps 25 % of its quasi-identifiers."
    )


def test_labels_that_are_no_values_of_the_source_have_no_known_loss():
    source = pl.DataFrame({"town": ["x", "y"] * 5, "s": ["a", "b"] * 5})
    recoded = source.with_columns(town=pl.lit("valley"))
    audited = audit(recoded, source=source, quasi=["town"], sensitive=["s"])
    assert audited.utility["ail"] is None
    assert any("not all values of the source, and no hierarchy explains them" in note for note in audited.notes)


def test_a_notebook_shows_the_audit_of_a_plain_table():
    table = pl.DataFrame({"town": ["x", "y"] * 5, "s": ["a", "b"] * 5})
    page = audit(table, quasi=["town"], sensitive=["s"])._repr_html_()
    assert "an unknown number withheld" in page
    assert "nothing explains the labels of" in page
