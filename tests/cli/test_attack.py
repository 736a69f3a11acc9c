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
