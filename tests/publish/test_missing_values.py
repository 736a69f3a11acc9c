"""Missing values from the file to the audit: a leaf of its own in a quasi-identifier, refused or set apart in a sensitive column."""

from collections import Counter
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent.errors import ColumnError
from tests.oracle import measures
from tests.oracle.groups import histograms, rows_of

TOWNS = [["Ulm", "south", "*"], ["Lindau", "south", "*"], ["Kiel", "north", "*"], ["Husum", "north", "*"]]


def table(rows=120):
    """Every sixth age, every fourth town and every tenth illness is not known."""
    return pl.DataFrame(
        {
            "age": ["?" if i % 6 == 0 else str(20 + (i * 7) % 40) for i in range(rows)],
            "town": [None if i % 4 == 0 else TOWNS[i % 3][0] for i in range(rows)],
            "illness": ["?" if i % 10 == 0 else ("flu", "cold", "gout")[i % 3] for i in range(rows)],
        }
    )


def publish(tmp_path: Path, promises, *, missing="category", format="parquet", towns=TOWNS):
    table().write_csv(tmp_path / "t.csv")
    columns = {
        "age": rt.quasi(numeric=True),
        "town": rt.quasi(hierarchy=towns),
        "illness": rt.sensitive(missing=missing),
    }
    source = rt.Source(path=str(tmp_path / "t.csv"), missing=("?",))
    return rt.publish(rt.Job(source=source, columns=columns, promises=promises, release=rt.Output(format=format)))


def known(text):
    return None if text in ("?", "") else text


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("towns", [TOWNS, None], ids=["hierarchy", "flat"])
def test_a_missing_quasi_identifier_is_a_leaf_of_its_own(tmp_path, format, towns):
    release = publish(tmp_path, [rt.KAnonymity(3)], format=format, towns=towns)
    frame = release.frame(bounds=True)
    assert 0 < frame["age"].null_count() <= 20
    ranges = frame.filter(pl.col("age").str.starts_with("["))
    assert ranges["age_lower"].null_count() == 0
    entry = next(c for c in release.columns if c.name == "age")
    assert entry.null is True
    source = rt.Source(path=str(tmp_path / "t.csv"), missing=("?",))
    assert rt.audit(release, source=source).kept


def test_a_group_of_missing_and_known_values_prints_a_star(tmp_path):
    release = publish(tmp_path, [rt.KAnonymity(100)])
    assert set(release.frame()["age"]) == {"*"}
    assert set(release.frame()["town"]) == {"*"}
    assert release.audited.utility["ail"] == 1


def test_rows_with_missing_values_are_all_published(tmp_path):
    release = publish(tmp_path, [rt.KAnonymity(3)])
    assert (release.manifest.rows, release.manifest.withheld) == (120, 0)
    assert Counter(release.frame()["illness"]) == Counter(known(i) for i in table()["illness"])


def test_a_missing_sensitive_value_is_refused_by_default(tmp_path):
    with pytest.raises(ColumnError, match="'illness' is missing in 12 rows"):
        publish(tmp_path, [rt.KAnonymity(3)], missing="refuse")


def groups_of(release):
    return histograms(rows_of(release.frame().to_dicts(), ["age", "town"], "illness"))


def test_a_missing_sensitive_value_never_counts_toward_diversity(tmp_path):
    from reticent.models.l_diversity import DistinctLDiversity

    release = publish(tmp_path, [DistinctLDiversity(3)])
    assert min(len(set(group) - {None}) for group in groups_of(release)) >= 3
    assert release.audited.achieved["distinct-l-diversity"] == 3


@pytest.mark.parametrize(
    "promise", [rt.ProbabilisticLDiversity(2), rt.BetaLikeness(1), rt.TCloseness("0.3")], ids=lambda p: p.name
)
def test_caps_hold_with_and_without_the_rows_that_lack_a_value(tmp_path, promise):
    release = publish(tmp_path, [promise])
    groups = groups_of(release)
    assert len(groups) > 1
    asked = release.manifest.promises[0].to_dict("model")
    assert measures.holds(groups=groups, **asked)
    without = [group for group in ({v: n for v, n in g.items() if v is not None} for g in groups) if group]
    assert measures.holds(groups=without, **asked)
    assert rt.audit(release).kept


def test_a_group_that_hides_behind_missing_values_is_found_by_the_audit():
    """Half of a group lacks a value: with those rows no value exceeds one in two, without them one is certain."""
    frame = pl.DataFrame({"q": ["a"] * 4 + ["b"] * 4, "s": ["flu", "flu", None, None] + ["flu", "cold"] * 2})
    asked = [{"model": "probabilistic-l-diversity", "l": 2}]
    found = rt.audit(frame, columns={"q": rt.quasi(), "s": rt.sensitive(missing="category")}, promises=asked)
    assert found.kept is False
    assert found.exact["probabilistic-l-diversity"] == Fraction(1)
