"""A steward's own list of questions."""

from __future__ import annotations

import json

import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.query.listed import measured, questions_in
from tests.query import redraws

LIST = """
-- how many are there?
SELECT COUNT(*) FROM people WHERE age < 33;
SELECT town, AVG(pay), MAX(age) FROM people WHERE pay > 10 GROUP BY town;
SELECT COUNT(*) FROM people WHERE age > 100
"""


@pytest.fixture
def release(tmp_path):
    job = rt.Job(columns=redraws.COLUMNS, promises=[rt.KAnonymity(5)])
    return rt.publish(job, frame=redraws.people(200), seed=1, to=tmp_path / "release")


def test_every_question_of_a_file_is_answered_and_measured(release, tmp_path):
    (tmp_path / "asked.sql").write_text(LIST)
    frame = redraws.people(200)
    found = measured(release.tables, release.manifest, questions_in(tmp_path / "asked.sql"), frame)
    assert len(found) == 1 + 3 * 2 + 1
    assert found[0]["true"] == len(frame.filter(frame["age"] < 33))
    here = frame.filter((frame["pay"] > 10) & (frame["town"] == "a"))
    assert [line["true"] for line in found[1:3]] == [pytest.approx(here["pay"].mean()), here["age"].max()]
    for line in found:
        assert line["lower"] <= line["true"] <= line["upper"]
        if line["true"]:
            assert line["error"] == pytest.approx(abs(line["estimate"] - line["true"]) / line["true"])
    assert "error" not in found[-1]  # nobody: there is nothing to divide by


def test_the_command_answers_a_file(release, tmp_path, capsys):
    (tmp_path / "asked.sql").write_text(LIST)
    folder = str(tmp_path / "release")
    assert main(["query", folder, "--file", str(tmp_path / "asked.sql"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 8
    assert main(["query", folder, "--file", str(tmp_path / "asked.sql")]) == 0
    assert "MAX(age)" in capsys.readouterr().out
    assert main(["query", folder]) == 1
    assert main(["query", folder, "SELECT COUNT(*) FROM r", "--file", str(tmp_path / "asked.sql")]) == 1
    assert main(["query", folder, "--file", str(tmp_path / "absent.sql")]) != 0


def test_a_list_with_one_bad_question_is_not_answered_in_part(release, tmp_path):
    (tmp_path / "asked.sql").write_text(LIST + "; SELECT MEDIAN(age) FROM people")
    with pytest.raises(rt.RequestError, match="Median"):
        measured(release.tables, release.manifest, questions_in(tmp_path / "asked.sql"))
    with pytest.raises(rt.RequestError, match="lacks 1 column"):
        measured(release.tables, release.manifest, ["SELECT COUNT(*) FROM r"], redraws.people(9).drop("town"))
