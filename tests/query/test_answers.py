"""Answers as an analyst holds them: a list, a table, a page, a chart, and one line on what is certain and what is assumed."""

from __future__ import annotations

import json
import sys
from datetime import date

import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.estimate.answer import EstimateSpread
from reticent.query.certainty import list_interval_remarks
from tests.support import repeated_releases
from tests.support.query_methods import METHODS, publish_by

BY_TOWN = "SELECT town, COUNT(*), AVG(pay) FROM release WHERE age < 40 GROUP BY town"
ASSUMED = {
    "generalized": "people lie within their labels as all labels of a column together make likely",
    "anatomized": "every way to match a group's rows with its values is as likely",
    "transformed": "distributed as its target says",
    "perturbed": "95 % of such intervals",
    "sampled": "95 % of such intervals",
}


@pytest.fixture(scope="module", params=list(METHODS))
def release(request, tmp_path_factory):
    return publish_by(request.param, tmp_path_factory.mktemp(request.param) / "release")


def test_answers_are_a_list_and_a_frame_with_a_row_for_each(release):
    answers = release.query(BY_TOWN)
    assert isinstance(answers, rt.Answers) and isinstance(answers, list)
    assert all(isinstance(answer, rt.Answer) for answer in answers)
    frame = answers.frame()
    assert frame["town"].to_list() == [answer.keys["town"] for answer in answers]
    assert frame["aggregate"].to_list() == [answer.of for answer in answers]
    assert frame["estimate"].to_list() == [answer.estimate for answer in answers]
    assert frame["lower"].dtype.is_numeric() and frame["upper"].dtype.is_numeric()
    assert ("interval_lower" in frame.columns) == any(answer.interval is not None for answer in answers)
    assert answers.to_pandas().shape == frame.shape
    alone = release.query("SELECT COUNT(*) FROM release WHERE pay = 10")
    assert isinstance(alone, rt.Answer)
    assert alone.frame().rows(named=True)[0]["estimate"] == alone.estimate
    assert len(alone.to_pandas()) == 1


def test_one_line_says_what_is_certain_and_what_is_assumed_in_each_kind(release, capsys):
    question = "SELECT COUNT(*) FROM release WHERE age < 33 AND pay = 10"
    answer = release.query(question)
    assert answer.certainty.startswith("Certain: the true answer lies from `lower` to `upper`.")
    assert ASSUMED[release.kind] in answer.certainty and "\n" not in answer.certainty
    assert ("estimates lean towards what independence would give" in answer.certainty) == (release.kind == "anatomized")
    assert answer.note.startswith(answer.certainty)
    assert main(["query", str(release.folder), question]) == 0
    assert answer.certainty in capsys.readouterr().out
    assert main(["query", str(release.folder), question, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["note"] == answer.note
    whole = release.query("SELECT COUNT(*) FROM release")
    assert whole.certainty == "Exact: every table that fits the release has this answer."
    answers = release.query("SELECT pay, COUNT(*) FROM release WHERE age < 33 GROUP BY pay")
    assert ASSUMED[release.kind] in answers.certainty
    assert answers.note in str(answers)


def test_a_count_of_an_anatomized_release_says_that_it_leans_unless_it_is_exact(release):
    leans = "estimates lean towards what independence would give"
    assert leans not in (release.count(values=[10]).note or "")
    if release.kind == "anatomized":
        assert leans in release.count(pl.col("age") < 33, [10]).note
    assert leans not in (release.count().note or "")


def test_a_level_stands_only_beside_the_interval_that_has_it(release):
    exact = release.query("SELECT COUNT(*) FROM release")
    assert "level" not in repr(exact) and "level" not in exact.to_dict()
    answer = release.query("SELECT COUNT(*) FROM release WHERE age < 33 AND pay = 10", level=0.5)
    has_interval = answer.interval is not None
    assert has_interval == (release.kind in ("perturbed", "sampled"))
    assert ("level=0.5" in repr(answer)) == ("level" in answer.to_dict()) == has_interval
    assert ("interval=(" in repr(answer)) == has_interval


def test_a_count_below_zero_is_explained_and_its_interval_ends_at_zero():
    promises, method = METHODS["perturbed"]
    job = rt.Job(columns=repeated_releases.COLUMNS, promises=promises, method=method)
    negative = 0
    for seed in range(8):
        release = rt.publish(job, frame=repeated_releases.people(200), seed=seed)
        for age in range(20, 60, 4):
            question = f"SELECT COUNT(*) FROM release WHERE age BETWEEN {age} AND {age + 3} AND pay = 10"
            answer = release.query(question)
            if answer.std_error:
                assert answer.lower <= answer.interval[0] <= answer.interval[1] <= answer.upper
            if answer.estimate < 0:
                negative += 1
                assert "An estimate below `lower` is read as `lower`" in answer.note
                assert release.query(question, by="em").estimate >= 0
            if answer.interval != answer.unlimited_interval:
                assert "An interval ends where what is possible does." in answer.note
    assert negative


def test_an_interval_that_misses_what_is_possible_is_left_and_named():
    answer = rt.Answer(-20.0, 0, 50, std_error=2.0, spread=EstimateSpread(-20.0, 4.0))
    assert answer.interval == answer.unlimited_interval and answer.interval[1] < 0
    assert any("far off" in remark for remark in list_interval_remarks(answer))


def test_answers_are_a_table_in_a_notebook_with_every_text_escaped(release):
    html = release.query(BY_TOWN)._repr_html_()
    assert html.count("<tr>") == 7 and "Certain" in html
    assert "<td" in release.query("SELECT COUNT(*) FROM release WHERE pay = 10")._repr_html_()
    nasty = rt.Answers([rt.Answer(1, keys={"<b>": "<script>"})], note="<i>")
    assert "<script>" not in nasty._repr_html_() and "<i>" not in nasty._repr_html_()


def test_a_chart_has_a_point_and_error_bars_for_each_line(release, tmp_path):
    pytest.importorskip("altair")
    answers = release.query(BY_TOWN)
    chart = answers.chart(tmp_path / "towns.svg")
    assert (tmp_path / "towns.svg").read_text(encoding="utf-8") == chart.svg
    assert "<script" not in chart.svg and "COUNT(*)" in chart.svg and "AVG(pay)" in chart.svg
    for town in "abc":
        assert f">{town}<" in chart.svg


def test_a_chart_of_dates_or_of_nothing_or_of_too_much(tmp_path):
    pytest.importorskip("altair")
    frame = repeated_releases.people(60).with_columns(born=pl.lit(date(2000, 1, 1)) + pl.duration(days=pl.col("age")))
    columns = {**repeated_releases.COLUMNS, "born": rt.insensitive(acknowledge=True)}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(3)]), frame=frame, seed=1)
    assert "<svg" in release.query("SELECT town, MIN(born), COUNT(*) FROM release GROUP BY town").chart().svg
    with pytest.raises(rt.RequestError, match="no estimate to draw"):
        rt.Answers([rt.Answer(None)]).chart()
    with pytest.raises(rt.RequestError, match="more than a chart shows"):
        rt.Answers([rt.Answer(1, keys={"n": number}) for number in range(100)]).chart()


def test_without_the_extra_a_chart_says_what_to_install(release, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(rt.RequestError, match=r"reticent\[charts\]"):
        release.query(BY_TOWN).chart()


def test_keys_of_several_types_and_of_names_that_measures_have_stand_in_a_frame():
    answers = rt.Answers(
        [
            rt.Answer(1, 0, 2, keys={"level": 70, "born": date(2000, 1, 1)}),
            rt.Answer(2.5, 0, 4, keys={"level": "80 or more", "born": None}),
            rt.Answer(None, keys={"level": "any other value", "born": "any other value"}, rest=True),
        ]
    )
    frame = answers.frame()
    assert frame["key_level"].to_list() == ["70", "80 or more", "any other value"]
    assert frame["born"].to_list() == ["2000-01-01", None, "any other value"]
    assert frame["estimate"].to_list() == [1.0, 2.5, None]
    assert frame["rest"].to_list() == [False, False, True]
    assert rt.Answers().frame().shape == (0, 4)


def test_withheld_rows_and_coded_values_are_named_among_what_is_assumed():
    frame = pl.DataFrame({"age": [*range(20, 60)] * 3, "d": ["x", "y", "z"] * 40})
    columns = {"age": rt.quasi(numeric=True, top=50), "d": rt.sensitive()}
    release = rt.publish(
        rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(2)], method=rt.Anatomy()), frame=frame, seed=1
    )
    assert "values at a top or bottom" in release.query("SELECT AVG(age) FROM release").certainty
    assert "top" not in release.query("SELECT COUNT(*) FROM release WHERE d = 'x'").certainty
