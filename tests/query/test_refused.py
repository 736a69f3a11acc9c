"""What is not understood is refused by its name, by every kind, and nothing is written."""

from __future__ import annotations

import pytest

import reticent as rt
from reticent.cli.main import main
from tests.query import redraws

METHODS = {
    "generalized": ([rt.KAnonymity(5)], rt.Mondrian()),
    "anatomized": ([rt.ProbabilisticLDiversity(2)], rt.Anatomy()),
    "transformed": ([rt.PPrivacy("uniform")], rt.Distribution()),
    "perturbed": ([rt.BetaLikeness(3)], rt.BetaPerturbation()),
    "sampled": ([rt.DeltaGrowth("0.9", "0.6")], rt.PerturbedGeneralization(k=4, p="0.5")),
}
BAD = {
    "SELECT COUNT(*) FROM r JOIN s ON r.age = s.age": "JOIN",
    "SELECT COUNT(*) FROM r WHERE age IN (SELECT age FROM r)": "question within a question",
    "SELECT COUNT(*) OVER (PARTITION BY age) FROM r": "Window",
    "SELECT COUNT(*) FROM r WHERE height > 3": "no column 'height'",
    "SELECT SUM(height) FROM r": "no column 'height'",
    "SELECT MEDIAN(age) FROM r": "Median",
    "SELECT COUNT(*) FROM r WHERE UPPER(town) = 'A'": "Upper",
    "SELECT AVG(town) FROM r": "no numbers",
    "SELECT MAX(town) FROM r": "no numbers",
    "SELECT COUNT(*) FROM r WHERE age < pay": "one column with a value",
    "SELECT COUNT(*) FROM r WHERE age > 'old'": "compared with a text",
    "SELECT COUNT(*) FROM r WHERE age > 'nan'": "compared with a text",
    "SELECT COUNT(*) FROM r WHERE age = NULL": "Null",
    "SELECT COUNT(*) FROM r HAVING COUNT(*) > 3": "HAVING",
    "DROP TABLE r": "one SELECT",
}


@pytest.fixture(scope="module", params=list(METHODS))
def release(request, tmp_path_factory):
    promises, method = METHODS[request.param]
    job = rt.Job(columns=redraws.COLUMNS, promises=promises, method=method)
    folder = tmp_path_factory.mktemp(request.param) / "release"
    rt.publish(job, frame=redraws.people(200), to=folder, seed=1, again=True)
    return rt.open(folder)


def test_a_bad_question_is_refused_by_name_and_nothing_is_written(release, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before = sorted(path.stat().st_mtime_ns for path in release.folder.iterdir())
    for question, why in BAD.items():
        with pytest.raises(rt.RequestError) as refused:
            release.query(question)
        assert why in str(refused.value), question
    assert main(["query", str(release.folder), "SELECT COUNT(*) FROM r, s"]) == 1
    assert "JOIN" in capsys.readouterr().err
    assert sorted(path.stat().st_mtime_ns for path in release.folder.iterdir()) == before
    assert not list(tmp_path.iterdir())


def test_every_kind_answers_several_aggregates_by_groups(release, capsys):
    frame = redraws.people(200)
    asked = "SELECT town, COUNT(*), AVG(age) FROM r WHERE pay >= 20 OR age < 30 GROUP BY town"
    found = release.query(asked)
    assert [one.keys["town"] for one in found] == ["a", "a", "b", "b", "c", "c"]
    assert {one.of for one in found} == {"COUNT(*)", "AVG(age)"}
    counted = [one for one in found if one.of == "COUNT(*)"]
    reach = 5 * sum(one.std_error or 0 for one in counted) + 0.3 * len(frame)
    assert sum(one.estimate for one in counted) == pytest.approx(len(frame), abs=reach)
    assert main(["query", str(release.folder), asked]) == 0
    assert "AVG(age)" in capsys.readouterr().out


def test_a_question_about_quasi_identifiers_alone_has_guaranteed_bounds_in_every_kind(release):
    frame = redraws.people(200)
    found = release.query("SELECT COUNT(*) FROM r WHERE age < 31 OR age >= 44")
    assert found.lower <= len(frame.filter((frame["age"] < 31) | (frame["age"] >= 44))) <= found.upper
    whole = release.query("SELECT COUNT(*) FROM r WHERE age < 31 OR age >= 31")
    assert whole.lower == whole.upper == whole.estimate == len(frame)


def test_beyond_a_declared_top_nothing_is_told_apart():
    columns = {**redraws.COLUMNS, "age": rt.quasi(numeric=True, top=50)}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(5)]), frame=redraws.people(200), seed=1)
    for condition in ("age > 50", "age = 50", "age < 55", "age <= 50"):
        with pytest.raises(rt.RequestError, match="declared top"):
            release.query(f"SELECT COUNT(*) FROM r WHERE {condition}")
    found = release.query("SELECT COUNT(*) FROM r WHERE age >= 50")
    assert found.lower <= len(redraws.people(200).filter(redraws.people(200)["age"] >= 50)) <= found.upper
