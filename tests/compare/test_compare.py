"""A comparison publishes nothing, measures every candidate as a release is measured, and stands it beside what needs no method."""

from __future__ import annotations

import json
import sys

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import charts
from reticent.compare.compare import find_frontier
from reticent.compare.trivial_sanitizations import COLUMNS_APART, QUASI_DROPPED, SENSITIVE_DROPPED

COLUMNS = {
    "age": rt.quasi(),
    "education": rt.quasi(),
    "gender": rt.quasi(),
    "salary_class": rt.sensitive(type="numeric"),
}
PEOPLE = rt.datasets.load("census", rows=800, seed=1)


def job(**changes) -> rt.Job:
    return rt.Job(columns=COLUMNS, promises=[rt.BetaLikeness(4)], release=rt.Output(undeclared="drop")).at(**changes)


@pytest.fixture(scope="module")
def compared():
    pytest.importorskip("sklearn", reason="needs the extra `stats`")
    return rt.compare(job(), frame=PEOPLE, methods=["mondrian", "beta-perturbation", "anatomy"], runs=2, beta=[2, 4])


def named(found, name: str) -> dict:
    return next(row for row in found.rows if row["name"] == name)


def test_nothing_is_published_and_nothing_enters_the_ledger(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "ledger"))
    rt.compare(job(), frame=PEOPLE, attacks=[], classification=False)
    assert list(tmp_path.iterdir()) == []


def test_every_combination_is_a_row_beside_the_trivial_sanitizations_and_the_source(compared):
    assert [row["name"] for row in compared.rows] == [
        "mondrian beta=2",
        "mondrian beta=4",
        "beta-perturbation beta=2",
        "beta-perturbation beta=4",
        "anatomy",
        QUASI_DROPPED,
        SENSITIVE_DROPPED,
        COLUMNS_APART,
        "source as it is",
    ]
    frame = compared.frame()
    assert frame["beta"].to_list()[:4] == [2, 4, 2, 4]
    assert frame.filter(pl.col("name") == "anatomy")["why"].item() == "anatomy cannot keep beta-likeness."


def test_a_candidate_reaches_what_an_audit_of_its_release_says(compared):
    release = rt.publish(job(promises=[rt.BetaLikeness(2)]), frame=PEOPLE, seed=1)
    row = named(compared, "mondrian beta=2")
    assert row["privacy"] == release.audited.to_dict()["achieved"]
    assert row["loss"] == release.audited.to_dict()["utility"]
    found = rt.attack(release, PEOPLE, "naive-bayes").to_dict()
    assert row["attacks"]["naive-bayes"]["success"] == found["success"]
    assert row["attacks"]["naive-bayes"]["baseline"] == found["baseline"]


def test_a_weaker_promise_of_one_method_loses_less(compared):
    strict = named(compared, "mondrian beta=2")
    loose = named(compared, "mondrian beta=4")
    assert strict["privacy"]["beta-likeness-enhanced"] <= 2 < loose["privacy"]["beta-likeness-enhanced"] <= 4
    assert loose["loss"]["ail"] < strict["loss"]["ail"]
    assert loose["count_error"]["value"] < strict["count_error"]["value"]


def test_a_figure_of_several_runs_has_its_spread(compared):
    for row in compared.rows[:4]:
        for figure in (row["count_error"], row["average_error"], row["row_loss"], row["seconds"]):
            assert figure["low"] <= figure["value"] <= figure["high"] and figure["runs"] == 2
    assert named(compared, "mondrian beta=2")["average_of"] == "salary_class"


def test_errors_are_told_by_dimension_by_selectivity_and_as_guaranteed_ranges(compared):
    for row in (
        named(compared, "mondrian beta=2"),
        named(compared, "beta-perturbation beta=2"),
        named(compared, COLUMNS_APART),
    ):
        assert [line["dimension"] for line in row["count_error_by_dimension"]] == [1, 2, 3]
        shares = row["count_error_by_selectivity"]
        assert sum(line["queries"] for line in shares) == sum(
            line["queries"] for line in row["count_error_by_dimension"]
        )
        assert all(line["above"] < line["until"] for line in shares)
    assert 0 <= named(compared, "mondrian beta=2")["average_range"]["mean"] <= 1
    redrawn = named(compared, "beta-perturbation beta=2")["average_range"]
    assert redrawn["mean"] == 1.0  # of redrawn values only the list they are drawn from is guaranteed
    assert compared.frame().filter(name="mondrian beta=2")["average_range"].item() is not None


def test_the_yardsticks_are_what_they_say(compared):
    dropped, without, apart = (named(compared, name) for name in (QUASI_DROPPED, SENSITIVE_DROPPED, COLUMNS_APART))
    assert dropped["privacy"]["k-anonymity"] == len(PEOPLE) and dropped["privacy"]["beta-likeness-basic"] == 0
    assert set(without["privacy"]) == {"k-anonymity"}
    assert without["marginals"]["age"] == pytest.approx(0, abs=1e-9)
    assert without["marginals"]["salary_class"] > 0.01
    assert max(apart["marginals"].values()) == pytest.approx(0, abs=1e-9)
    assert apart["count_error"]["value"] <= min(dropped["count_error"]["value"], without["count_error"]["value"])
    for pair in apart["association"]:
        assert pair["after"] == pytest.approx(0 if "salary_class" in pair["columns"] else pair["before"], abs=1e-6)
    assert named(compared, "source as it is")["row_loss"]["value"] == 0


def test_a_yardstick_counts_persons_where_a_person_has_several_rows():
    two = pl.DataFrame({"who": [f"p{n // 2}" for n in range(40)], "age": [30] * 40, "ill": list("xy") * 20})
    columns = {"who": rt.identifying(rows_per_person=2), "age": rt.quasi(), "ill": rt.sensitive()}
    found = rt.compare(
        rt.Job(columns=columns, promises=[rt.KAnonymity(5)]), frame=two, attacks=[], classification=False
    )
    assert (
        named(found, QUASI_DROPPED)["privacy"]["k-anonymity"]
        == 20
        == named(found, "mondrian")["privacy"]["k-anonymity"]
    )
    assert named(found, "source as it is")["privacy"]["k-anonymity"] == 20


def test_learners_are_asked_about_people_who_are_not_in_the_release(compared):
    groups, redrawn, source = (
        named(compared, name)["classification"]
        for name in ("mondrian beta=4", "beta-perturbation beta=4", "source as it is")
    )
    assert set(groups) == set(source) == {"naive-bayes", "logistic-regression", "decision-tree", "random-forest"}
    assert set(redrawn) == {"reconstruction-tree"}
    assert (
        max(one["value"] for one in source.values())
        > named(compared, "source as it is")["classification_baseline"]["value"]
    )


def test_everything_is_one_json_object_and_one_flat_table(compared):
    found = json.loads(json.dumps(compared.to_dict()))
    assert found["published"] is False and found["runs"] == 2 and found["people"] == 800
    frame = pl.read_csv(compared.frame().write_csv().encode())
    assert frame.shape == compared.frame().shape
    assert "<table" in compared._repr_html_() and "4 reach" in repr(compared)


def test_the_frontier_is_what_nothing_else_beats():
    frame = pl.DataFrame({"p": [1.0, 2.0, 2.0, None, 3.0], "u": [5.0, 4.0, 6.0, 1.0, 4.0]})
    assert find_frontier(frame, "p", "u") == [True, True, False, False, False]
    rng = np.random.default_rng(1)
    points = rng.integers(0, 6, (40, 2)).astype(float)
    kept = find_frontier(pl.DataFrame(points, schema=["p", "u"]), "p", "u")
    for at, (p, u) in enumerate(points):
        beaten = any(q <= p and v <= u and (q, v) != (p, u) for q, v in points)
        assert kept[at] != beaten


def test_the_frontier_is_a_chart_without_a_script(compared):
    pytest.importorskip("vl_convert", reason="needs the extra `charts`")
    svg = compared.chart().svg
    assert "<script" not in svg and "mondrian beta=2" in svg and "columns apart" in svg
    assert "median relative error of counts" in svg and "what adversaries gain over the baseline" in svg
    assert "k-anonymity" in compared.chart("k-anonymity", "loss").svg
    with pytest.raises(rt.RequestError, match="measured no"):
        compared.chart("beauty")


def test_the_line_of_the_chart_joins_methods_also_where_a_yardstick_beats_them_all(compared, monkeypatch):
    shown = {}
    monkeypatch.setattr("reticent.charts.draw_frontier", lambda frame, across, up, title: shown.update(frame=frame))
    compared.chart("marginal_error", "loss")
    compared.chart()
    frame = shown["frame"]
    joined = frame.filter("frontier")
    assert set(joined["role"]) == {"candidate"}
    names = ["what adversaries gain over the baseline", "median relative error of counts"]
    methods = frame.filter(pl.col("role") == "candidate").select(names).rows()
    for point in joined.select(names).rows():
        assert not any(other != point and other[0] <= point[0] and other[1] <= point[1] for other in methods)


def test_a_table_of_another_tool_is_measured_as_a_release_is():
    release = rt.publish(job(promises=[rt.KAnonymity(20)]), frame=PEOPLE, seed=1)
    other = release.frame()
    found = rt.compare(
        job(promises=[rt.KAnonymity(20)]), frame=PEOPLE, tables={"other": other}, attacks=["naive-bayes"]
    )
    theirs = named(found, "other")
    ours = named(found, "mondrian")
    assert theirs["role"] == "table"
    assert theirs["count_error"] == ours["count_error"] and theirs["marginals"] == ours["marginals"]
    assert theirs["privacy"] == ours["privacy"]
    guessed = theirs["attacks"]["naive-bayes"]
    same = ours["attacks"]["naive-bayes"]
    assert guessed["success"] == same["success"] and guessed["baseline"] == same["baseline"]
    assert theirs["row_loss"]["value"] == pytest.approx(ours["row_loss"]["value"], rel=0.02)
    with pytest.raises(rt.RequestError, match="all rows"):
        rt.compare(job(), frame=PEOPLE, tables={"other": other}, rows=500)


def test_jobs_of_one_source_are_compared_by_name():
    jobs = {"strict": job(promises=[rt.KAnonymity(50)]), "loose": job(promises=[rt.KAnonymity(5)])}
    found = rt.compare(jobs, frame=PEOPLE, attacks=[], classification=False)
    assert [row["name"] for row in found.rows[:2]] == ["strict mondrian", "loose mondrian"]
    with pytest.raises(rt.RequestError, match="different sources"):
        rt.compare([job(), job(source="other.csv")], frame=PEOPLE)


def test_a_promise_out_of_reach_is_a_row_with_the_reason():
    found = rt.compare(job(promises=[rt.KAnonymity(5)]), frame=PEOPLE, k=[5, 5_000], attacks=[], classification=False)
    assert [row["reached"] for row in found.rows[:2]] == [True, False]
    assert found.rows[1]["why"]


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"gamma": [1]}, "has a parameter 'gamma'"),
        ({"methods": ["mondriaan"]}, "Unknown method"),
        ({"methods": []}, "No method"),
        ({"attacks": ["witchcraft"]}, "no attack"),
        ({"beta": []}, "no value"),
        ({"runs": 0}, "1 run or more"),
        ({"rows": 3}, "10 rows or more"),
        ({"beta": list(range(1, 102))}, "more than the 100"),
        ({"method": ["mondrian"]}, "by their names"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_data_is_read(how, says):
    with pytest.raises(rt.ReticentError, match=says):
        rt.compare(job(source="absent.csv"), **how)


def test_several_sensitive_columns_are_refused_with_what_to_do_instead():
    two = job(columns={**COLUMNS, "gender": rt.sensitive()}, promises=[rt.KAnonymity(5)])
    with pytest.raises(rt.RequestError, match="one sensitive column; 2"):
        rt.compare(two, frame=PEOPLE)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(rt.RequestError, match="scikit-learn") as refusal:
        rt.compare(job(), frame=PEOPLE, classification=True)
    assert "reticent[stats]" in str(refusal.value)
    found = rt.compare(job(), frame=PEOPLE, attacks=[])
    assert all("classification" not in row for row in found.rows)
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(rt.RequestError, match=r"altair and vl-convert"):
        found.chart("k-anonymity", "loss")


def test_names_in_the_chart_stand_apart_also_where_points_lie_together():
    """Eight points on the axis, as where no adversary gains anything."""
    points = [(0.1 + at / 50, 0.0, f"a method beta={at}") for at in range(8)] + [
        (0.4, 0.03, "last"),
        (0.4, 0.03, "twin"),
    ]
    placed = charts.place_names(points, 0.42, 0.0315)
    assert [one["name"] for one in placed].count("last") == 1 and len(placed) == len(points)
    boxes = []
    for one in placed:
        left = one["left"] / 0.42 * charts.CHART_WIDTH
        middle = one["middle"] / 0.0315 * charts.CHART_HEIGHT
        boxes.append((left, middle, left + len(one["name"]) * charts.LETTER_WIDTH))
        assert boxes[-1][0] >= 0 and boxes[-1][2] <= charts.CHART_WIDTH
    for at, (left, middle, right) in enumerate(boxes):
        for other in boxes[:at]:
            assert right <= other[0] or other[2] <= left or abs(middle - other[1]) >= charts.LINE_HEIGHT - 1e-6
