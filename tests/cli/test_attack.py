"""`reticent attack` says of each adversary whether the promise speaks of it at all."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def released(run, place):
    assert run("publish", "job.toml", "-o", "release").code == 0
    return place


def test_it_says_of_each_attack_whether_a_promise_speaks_of_it(run, released):
    found = {one["attack"]: one for one in json.loads(run("attack", "release", "--source", "people.csv", "--json").out)}
    assert found["skewness"]["promise_speaks_of_it"] is True, "beta-likeness is about who reads the group"
    for unspoken in ("naive-bayes", "composition", "minimality"):
        assert found[unspoken]["promise_speaks_of_it"] is False
    assert found["singling-out"]["promise_speaks_of_it"] is False


def test_the_table_says_it_too_and_calls_nothing_safe(run, released):
    ran = run("attack", "release", "--source", "people.csv", "--as", "skewness")
    assert "a promise speaks of it" in ran.out
    assert "No release is called safe" in ran.out


def test_a_plain_file_states_no_promise(run, released):
    words = ("--quasi", "age,city", "--sensitive", "illness", "--as", "skewness", "--json")
    found = json.loads(run("attack", "people.csv", "--source", "people.csv", *words).out)
    assert found["promise_speaks_of_it"] is None


def test_a_source_that_is_not_there_is_no_reason_to_leave_attacks_out(run, released):
    ran = run("attack", "release", "--source", "elsewhere.csv")
    assert ran.code == 6
    assert "SourceUnreachable" in ran.err and not ran.out


def test_where_no_attack_can_be_tried_there_is_no_empty_table(run, released):
    ran = run("attack", "release")
    assert ran.code == 1 and not ran.out
    assert "No attack can be tried." in ran.err
    assert "naive-bayes" in ran.err and "--source DATA" in ran.err


def test_attacks_that_were_not_tried_stand_together_with_their_reason(run, released):
    ran = run("attack", "release", "--source", "people.csv")
    said = [line for line in ran.out.splitlines() if line.startswith("Not tried: ")]
    assert "Not tried: matrix, matrix-learned. This attack knows the matrix" in "\n".join(said)
    assert len({line.split(". ", 1)[1] for line in said}) == len(said)


def test_a_plain_file_has_one_line_for_all_adversaries_that_need_a_release_folder(run, released):
    ran = run("attack", "people.csv", "--source", "people.csv", "--quasi", "age,city", "--sensitive", "illness")
    said = [line for line in ran.out.splitlines() if "manifest of a release folder" in line]
    assert len(said) == 1
    assert said[0].startswith("Not tried: composition, matrix, minimality, eligibility, matrix-learned, algorithm.")


def test_each_guess_has_a_sentence_and_no_paragraph_is_empty(run, released):
    ran = run("attack", "people.csv", "--source", "people.csv", "--quasi", "age,city", "--sensitive", "illness")
    assert "naive-bayes: its guesses are right for " in ran.out
    assert "; without the release for " in ran.out
    assert "\n\n\n" not in ran.out


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("--as", "skewness", "--t", "1", "--bandwidth", "2"), "--bandwidth, --t are for --as background."),
        (
            ("--lambda", "1"),
            "--external, --corrupted, --victim, --lambda, --rho1 and --predicate are for --as corruption.",
        ),
        (("--as", "skewness", "--prior", "x"), "--prior is for --as background and --as corruption."),
        (("--as", "skewness", "--others", "x"), "--others is for --as singling-out and --as inference."),
        (("--as", "skewness", "--force-join"), "--with and --force-join are for --as composition."),
        (
            ("--as", "skewness", "--rho1", "1", "--others", "x"),
            "--external, --corrupted, --victim, --lambda, --rho1 and --predicate",
        ),
        (("--bandwidth", "1", "--bandwidth", "2"), "--bandwidth is given twice for all columns."),
        (("--bandwidth", "a=1", "--bandwidth", "2", "--bandwidth", "a=3"), "--bandwidth is given twice for 'a'."),
        (("--bandwidth", "2", "--bandwidth", "=3"), "--bandwidth lacks a column or a number."),
    ],
)
def test_an_option_of_another_attack_is_refused_by_its_words(run, place, words, refusal):
    ran = run("attack", "people.csv", *words)
    assert ran.code == 1 and refusal in ran.err


def test_broken_lines_of_a_plain_table_are_set_aside_as_the_job_says_and_counted(run, place):
    rows = "".join(f"{20 + row // 5},{('flu', 'cold')[row % 2]}\n" for row in range(40))
    (place / "people.csv").write_text("age,illness\n" + rows + "31\n32,flu,more\n", encoding="utf-8")
    (place / "job.toml").write_text(
        '[source]\npath = "people.csv"\nbroken = "set-aside"\n[columns]\n'
        'age = { role = "quasi-identifying", type = "numeric" }\nillness = "sensitive"\n'
        '[[promise]]\nmodel = "k-anonymity"\nk = 2\n',
        encoding="utf-8",
    )
    words = ("attack", "people.csv", "--job", "job.toml", "--source", "people.csv", "--as", "skewness")
    ran = run(*words, "--json")
    assert ran.code == 0, ran.err
    outcome = json.loads(ran.out)
    assert (outcome["targets"], outcome["set_aside"], outcome["source_set_aside"]) == (40, 2, 2)
    ran = run(*words)
    assert "2 broken lines of 42 in people.csv were set aside" in ran.out
    assert "whoever stands there was not attacked" in ran.out
