"""Tables that ARX and anjana made: our audit gives the oracle's k, l, t and beta, and pyCANON's where that can be trusted."""

from __future__ import annotations

import pytest

import reticent as rt
from tests.oracle import measures
from tests.oracle.groups import histograms, rows_of
from tests.support.peer_tables import MADE, TABLES, rows


@pytest.mark.parametrize("name", TABLES)
def test_the_audit_of_another_tool_s_table_has_the_oracles_measures(name):
    quasi, hierarchies, _ = TABLES[name]
    promises = [
        {"model": "k-anonymity", "k": 4},
        {"model": "t-closeness", "t": "0.25"},
        {"model": "beta-likeness", "beta": 1},
        {"model": "beta-likeness", "beta": 1, "enhanced": False},
    ]
    found = rt.audit(MADE / name, quasi=quasi, sensitive=["illness"], hierarchy=hierarchies, promises=promises)
    groups = histograms(rows_of(rows(name), quasi, "illness"))
    assert found.groups == len(groups) > 1
    for measure, expected in measures.achieved(groups).items():
        assert found.exact[measure] == (pytest.approx(expected) if isinstance(expected, float) else expected), measure
    assert [verdict.kept for verdict in found.promises] == [
        measures.holds(groups=groups, **promise) for promise in promises
    ]
    assert found.utility["ail"] is not None


@pytest.mark.parametrize("name", TABLES)
def test_pycanon_finds_the_same_k_l_t_and_basic_beta(name):
    anonymity = pytest.importorskip("pycanon.anonymity")
    pandas = pytest.importorskip("pandas")
    quasi, _, _ = TABLES[name]
    frame = pandas.DataFrame(rows(name))
    found = rt.audit(MADE / name, quasi=quasi, sensitive=["illness"]).achieved
    assert found["k-anonymity"] == anonymity.k_anonymity(frame, quasi)
    assert found["distinct-l-diversity"] == anonymity.l_diversity(frame, quasi, ["illness"])
    assert found["t-closeness-equal"] == pytest.approx(anonymity.t_closeness(frame, quasi, ["illness"]))
    assert found["beta-likeness-basic"] == pytest.approx(anonymity.basic_beta_likeness(frame, quasi, ["illness"]))


def misplaced(name):
    """Rows whose age is not in the interval they are published with: anjana puts 50 into `[0, 50)`."""
    source = rows("people.csv")
    own = [(source[int(row.get("index") or at)], row) for at, row in enumerate(rows(name))]
    ends = [[int(end) for end in row["age"].strip("[)").split(",")] for _, row in own]
    return sum(not low <= int(person["age"]) < high for (person, _), (low, high) in zip(own, ends, strict=True))


@pytest.mark.parametrize("name", TABLES)
def test_the_audit_finds_rows_that_are_in_the_wrong_place_and_the_order_that_was_kept(name):
    """The order of the source says whose row is whose."""
    quasi, hierarchies, source = TABLES[name]
    found = rt.audit(
        MADE / name, quasi=quasi, sensitive=["illness"], hierarchy=hierarchies, source=MADE / source
    ).source
    if name == "anjana_suppressed.csv":  # another's row may fit where its own does not
        assert 0 < found.unmatched <= misplaced(name)
    else:
        assert found.unmatched == (0 if name == "arx.csv" else misplaced(name))
    assert found.withheld == 240 - len(rows(name))
    if name != "anjana_t.csv":  # four groups only: too little to tell
        assert not found.order.shuffled
    assert not found.passed


def test_a_value_on_the_edge_of_a_band_is_in_the_band_that_says_so():
    """Ours: 50 is in [50, 59], whatever the width."""
    from reticent.data.hierarchy_builders import intervals

    for width in (5, 10, 50):
        for text, label, *_ in intervals(range(100), width).rows():
            low, high = map(int, label.strip("[]").split(","))
            assert low <= int(text) <= high


def test_the_risk_of_another_tool_s_table_is_measured_too():
    from reticent.audit import risk

    found = risk(MADE / "arx.csv", quasi=["age", "zip"])
    assert found.rows == 240
    assert found.prosecutor.highest == 1 / found_least("arx.csv", ["age", "zip"])


def found_least(name, quasi):
    return measures.k_anonymity(histograms(rows_of(rows(name), quasi, "illness")))
