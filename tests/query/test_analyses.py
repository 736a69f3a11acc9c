"""A steward's own analyses, before and after, for every kind."""

from __future__ import annotations

import json
from datetime import date

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from tests.support import repeated_releases
from tests.support.query_methods import METHODS

PEOPLE = repeated_releases.people(300)
TOML = """
[[analysis]]
table = ["town", "pay"]

[[analysis]]
mean = "Pay"
by = "town"

[[analysis]]
regression = "pay"
on = ["age", "town"]
"""


@pytest.fixture(scope="module", params=list(METHODS))
def release(request, tmp_path_factory):
    promises, method = METHODS[request.param]
    job = rt.Job(columns=repeated_releases.COLUMNS, promises=promises, method=method)
    folder = tmp_path_factory.mktemp(request.param) / "release"
    rt.publish(job, frame=PEOPLE, to=folder, seed=1, again=True)
    return rt.open(folder)


def test_each_analysis_is_carried_out_on_the_source_and_on_the_release(release, tmp_path):
    (tmp_path / "list.toml").write_text(TOML)
    table, mean, regression = release.analyze(tmp_path / "list.toml", source=PEOPLE)
    counted = {(town, pay): count for town, pay, count in PEOPLE.group_by("town", "pay").len().rows()}
    listed = [cell for cell in table["cells"] if cell["town"] in ("a", "b", "c")]
    assert {(cell["town"], cell["pay"]): cell["before"] for cell in listed if cell["before"]} == counted
    assert all(cell["lower"] <= cell["before"] <= cell["upper"] for cell in listed)
    assert 0 <= table["total_variation"] <= 1 and set(table["cramers_v"]) == {"before", "after"}
    means = dict(PEOPLE.group_by("town").agg(pl.col("pay").mean()).rows())
    assert {group["town"]: group["before"] for group in mean["groups"]} == pytest.approx(means)
    design = np.column_stack(
        [np.ones(len(PEOPLE)), PEOPLE["age"], PEOPLE["town"] == "b", PEOPLE["town"] == "c"]
    ).astype(float)
    wanted = np.linalg.lstsq(design, PEOPLE["pay"].to_numpy().astype(float), rcond=None)[0]
    assert [row["term"] for row in regression["coefficients"]] == ["(intercept)", "age", "town = b", "town = c"]
    assert [row["before"] for row in regression["coefficients"]] == pytest.approx(wanted)
    for row in regression["coefficients"]:
        assert row["difference"] == pytest.approx(row["after"] - row["before"])


def test_a_release_that_loses_nothing_has_the_same_analyses():
    job = rt.Job(columns=repeated_releases.COLUMNS, promises=[rt.KAnonymity(2)])
    twins = pl.concat([PEOPLE, PEOPLE])
    release = rt.publish(job, frame=twins, seed=1)
    table, mean, regression = release.analyze(
        [{"table": ["town", "pay"]}, {"mean": "age", "by": ["pay"]}, {"regression": "pay", "on": ["age", "town"]}],
        source=twins,
    )
    assert table["total_variation"] == pytest.approx(0)
    assert table["cramers_v"]["before"] == pytest.approx(table["cramers_v"]["after"])
    assert mean["largest_difference"] == pytest.approx(0)
    assert [row["difference"] for row in regression["coefficients"]] == pytest.approx([0] * 4, abs=1e-9)
    assert regression["r_squared"]["before"] == pytest.approx(regression["r_squared"]["after"])


def test_the_command_prints_analyses_and_a_recipient_needs_no_source(release, tmp_path, capsys):
    (tmp_path / "list.toml").write_text(TOML)
    PEOPLE.write_csv(tmp_path / "people.csv")
    words = ["query", str(release.folder), "--analyses", str(tmp_path / "list.toml")]
    assert main([*words, "--source", str(tmp_path / "people.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == release.analyze(tmp_path / "list.toml", source=PEOPLE)
    assert main([*words, "--source", str(tmp_path / "people.csv")]) == 0
    printed = capsys.readouterr().out
    assert "Regression of pay on age, town" in printed and "Total variation" in printed and "R squared" in printed
    assert main(words) == 0
    assert "before" not in capsys.readouterr().out
    assert main([*words, "--file", "questions.sql"]) == 1
    assert "asked alone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("analysis", "why"),
    [
        ({}, "a table, a mean or a regression"),
        ({"table": ["town"], "mean": "pay"}, "a table, a mean or a regression"),
        ({"table": []}, "a column is lacking"),
        ({"table": [3]}, "a column is lacking"),
        ({"table": ["town"], "with": 3}, "it has 'with'"),
        ({"mean": "pay"}, "a column is lacking"),
        ({"mean": 3, "by": ["town"]}, "a column is lacking"),
        ({"mean": "town", "by": ["pay"]}, "no numbers"),
        ({"mean": "pay", "by": ["pay"]}, "by itself"),
        ({"regression": "town", "on": ["age"]}, "no numbers"),
        ({"table": ["height"]}, "no column 'height'"),
    ],
)
def test_an_analysis_that_is_not_understood_is_refused_before_any_is_carried_out(release, analysis, why):
    with pytest.raises(rt.RequestError, match=why):
        release.analyze([{"table": ["town"]}, analysis])


@pytest.mark.parametrize("text", ["", "analysis = 3", "[[analysis", "[analysis]\ntable = ['town']"])
def test_a_file_without_analyses_is_refused(release, tmp_path, text):
    (tmp_path / "list.toml").write_text(text)
    with pytest.raises(rt.RequestError, match=r"analysis|TOML"):
        release.analyze(tmp_path / "list.toml")
    with pytest.raises(rt.ReticentError):
        release.analyze(tmp_path / "absent.toml")
    with pytest.raises(rt.RequestError, match="no analysis"):
        release.analyze([])


def test_what_a_release_cannot_answer_says_why_and_the_others_are_carried_out():
    frame = PEOPLE.with_columns(
        born=pl.lit(date(2000, 1, 1)) + pl.duration(days=pl.col("age")),
        wide=pl.col("age") * 1000,
        twice=pl.col("age") * 2,
        note=pl.col("age").cast(pl.Float64),
    )
    columns = {
        **repeated_releases.COLUMNS,
        "born": rt.quasi(),
        "wide": rt.quasi(),
        "twice": rt.insensitive(acknowledge=True),
        "note": rt.insensitive(acknowledge=True, round_to=5),
    }
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(5)]), frame=frame, seed=1)
    results = release.analyze(
        [
            {"table": ["wide"]},
            {"regression": "pay", "on": ["born"]},
            {"regression": "pay", "on": ["note"]},
            {"table": ["note"]},
            {"regression": "twice", "on": ["pay", "town"]},
            {"mean": "note", "by": ["town"]},
        ],
        source=frame,
    )
    assert "more than 1,000 values" in results[0]["refused"]
    assert "dates are no numbers" in results[1]["refused"]
    assert "rounded" in results[2]["refused"] and "rounded" in results[3]["refused"]
    assert results[4]["coefficients"] and results[5]["groups"]
    copied = frame.with_columns(town=pl.lit("a"))
    alone = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(5)]), frame=copied, seed=1)
    (undetermined,) = alone.analyze([{"regression": "twice", "on": ["pay", "age"]}])
    assert "coefficients" in undetermined or "refused" in undetermined


def test_withheld_rows_and_missing_values_are_in_the_table_and_not_in_the_regression():
    frame = pl.DataFrame(
        {
            "age": [*range(20, 60)] * 3,
            "town": ["a", None, "b"] * 40,
            "d": [*"xxxxxxxxyz"] * 12,
            "pay": [1, 2, 4, 7] * 30,
        }
    )
    columns = {
        "age": rt.quasi(numeric=True, top=50),
        "town": rt.quasi(),
        "d": rt.sensitive(),
        "pay": rt.insensitive(acknowledge=True),
    }
    job = rt.Job(
        columns=columns,
        promises=[rt.ProbabilisticLDiversity(2)],
        method=rt.Anatomy(),
        prepare=[rt.Suppression(l=2, kind="safe")],
    )
    release = rt.publish(job, frame=frame, seed=1)
    table, regression, ages = release.analyze(
        [{"table": ["town", "d"]}, {"regression": "pay", "on": ["town", "age"]}, {"table": ["age"]}], source=frame
    )
    assert any(cell["town"] is None and cell["before"] for cell in table["cells"])
    assert table["cells"][-1]["town"] == "any other value" and "before" not in table["cells"][-1]
    assert [row["term"] for row in regression["coefficients"]] == ["(intercept)", "town = b", "age"]
    top = next(cell for cell in ages["cells"] if cell["age"] == "50 or more")
    assert top["before"] == len(frame.filter(pl.col("age") >= 50))
