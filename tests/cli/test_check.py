"""`reticent check`: the outlook of a job, by method, with nothing written."""

from __future__ import annotations

import json

import pytest

from reticent.check import check
from reticent.cli.main import main
from reticent.job.job import Job
from tests.support.command_line import CANARY


def test_a_reachable_promise_is_said_to_be_so_and_nothing_is_written(run, place):
    before = place.contents()
    ran = run("check", "job.toml")
    assert ran.code == 0
    assert "The promise is reachable by mondrian" in ran.out
    assert place.contents() == before


def test_json_has_an_outlook_for_each_method(run, place):
    found = json.loads(run("check", "job.toml", "--json").out)
    assert (found["reachable"], found["method"], found["rows"]) == (True, "mondrian", 200)
    assert found["methods"][0]["smallest"] >= 5
    assert found["methods"][0]["withheld"] == 0


def test_the_expected_loss_is_the_one_the_audit_finds(run, place):
    outlook = json.loads(run("check", "job.toml", "--methods", "mondrian", "--json").out)["methods"][0]
    published = json.loads(run("publish", "job.toml", "-o", "release", "--json").out)
    assert outlook["groups"] == published["groups"]
    assert outlook["ail"] == pytest.approx(published["utility"]["ail"], rel=1e-12)


def test_an_unreachable_promise_ends_with_2_and_says_why(run, place):
    place.job(("k = 5", "k = 201"))
    before = place.contents()
    ran = run("check", "job.toml")
    assert ran.code == 2
    assert "IS NOT reachable" in ran.out
    assert "201" in ran.out
    assert json.loads(run("check", "job.toml", "--json").out)["reachable"] is False
    assert place.contents() == before


def test_an_unknown_method_is_a_wrong_request(run, place):
    ran = run("check", "job.toml", "--methods", "mondrain")
    assert ran.code == 1
    assert "'mondrian' instead" in ran.err


def test_a_carried_column_that_singles_people_out_is_named(run, place):
    place.job(('person  = "identifying"', 'person  = { role = "insensitive", acknowledge = true }'))
    ran = run("check", "job.toml")
    assert ran.code == 0
    assert "'person' has 200 distinct values in 200 rows" in ran.out
    assert "guesses 'illness' in 100.0% of the rows" in ran.out
    assert CANARY not in ran.out


def test_people_with_several_rows_are_warned_about(run, place):
    place.edit("people.csv", "p0001,", "p0000,")
    ran = run("check", "job.toml")
    assert "a person with several rows" in ran.out


def test_a_near_unique_column_needs_to_be_acknowledged(run, place):
    place.job(('person  = "identifying"', 'person  = "insensitive"'))
    ran = run("check", "job.toml")
    assert ran.code == run("publish", "job.toml", "-o", "release").code == 1
    assert "200 of 200 rows have a value of their own" in ran.err
    assert CANARY not in ran.out + ran.err


def test_the_figures_of_carried_columns_are_in_the_json(run, place):
    place.job(('person  = "identifying"', 'person  = { role = "insensitive", acknowledge = true }'))
    found = json.loads(run("check", "job.toml", "--json").out)["carried"]
    assert found == [{"column": "person", "distinct": 200, "unique": 1.0, "association": {"illness": 1.0}}]


def test_weights_enter_the_expected_loss(place):
    job = Job.read("job.toml")
    plain = check(job, methods=[]).methods[0].ail
    weighed = check(job.at(method=type(job.method)(weights={"age": 1, "city": 0})), methods=[]).methods[0].ail
    assert plain != weighed


def test_the_exit_code_is_that_of_publishing(place, capsys):
    for k in (5, 150, 200, 201):
        place.job(("k = 5", f"k = {k}"))
        assert main(["check", "job.toml"]) == main(["publish", "job.toml", "-o", f"release-{k}", "--again"])
    capsys.readouterr()


def test_values_that_are_spelled_alike_are_counted_and_listed_only_on_request(run, place):
    text = (place / "people.csv").read_text()
    value = text.splitlines()[1].split(",")[-1]
    (place / "people.csv").write_text(text.replace(f",{value}\n", f",{value.upper()} \n", 1))
    ran = run("check", "job.toml", "--methods", "mondrian")
    assert "Note: Column 'illness': 2 values are equal up to case, spaces or Unicode form" in ran.out
    assert repr(value) not in ran.out
    assert repr(value) in run("check", "job.toml", "--methods", "mondrian", "--show-values").out


def test_the_weakest_parameters_leave_nothing_weaker_to_name(run, place):
    place.job(("k = 5", "k = 2"))
    found = json.loads(run("check", "job.toml", "--json").out)
    assert not [one for one in found["explained"]["changes"] if one["what"].startswith("k = ")]


def test_words_that_begin_alike_are_no_families(run, place):
    place.job(('model = "k-anonymity"\nk = 5', 'model = "beta-likeness"\nbeta = 1'))
    found = json.loads(run("check", "job.toml", "--methods", "mondrian", "--json").out)
    assert found["explained"]["changes"]
    assert not [one for one in found["explained"]["changes"] if "semantic" in one["what"]]


def test_everything_that_became_a_star_is_said_in_words(run, place):
    place.job(("k = 5", "k = 200"))
    assert "Everything became `*`" in run("check", "job.toml", "--methods", "mondrian").out


def test_a_weaker_promise_is_measured_and_can_be_pasted(run, place):
    ran = run("check", "job.toml", "--methods", "mondrian", "--budget", "30")
    assert "k-anonymity: k = 2" in ran.out
    assert '  [[promise]]\n  model = "k-anonymity"\n  k = 2' in ran.out


def test_a_budget_of_nothing_leaves_the_others_unplanned_and_names_them(run, place):
    found = json.loads(run("check", "job.toml", "--budget", "0", "--json").out)
    assert [one["method"] for one in found["methods"]] == ["mondrian"]
    assert "mosaic" in found["unplanned"]


@pytest.mark.parametrize("method", ["mosaic", "burel", "beta-perturbation"])
def test_a_job_of_any_method_is_checked_whether_or_not_its_loss_is_explained(run, place, method):
    place.job(('model = "k-anonymity"\nk = 5', 'model = "beta-likeness"\nbeta = 4'))
    text = (place / "job.toml").read_text()
    (place / "job.toml").write_text(text + f'\n[method]\nname = "{method}"\n')
    ran = run("check", "job.toml", "--methods", "mondrian")
    assert ran.code == 0, ran.err
