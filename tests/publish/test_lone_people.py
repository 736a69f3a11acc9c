"""Before publishing, the steward hears how many people would stand alone and of whom the adversary was certain before."""

from __future__ import annotations

import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main

NINE = pl.DataFrame({"a": range(9), "s": list("xyzxyzxyz")})
COLUMNS = {"a": rt.quasi(), "s": rt.sensitive()}
POINTS = [{"bandwidth": 0, "t": "0.01"}, {"bandwidth": "whole", "t": 1}]


def heard(promises, table=NINE) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """What `check` warns of, what the release's notices are, and what publishing said before it wrote."""
    job = rt.Job(columns=COLUMNS, promises=promises)
    before = []
    return rt.check(job, frame=table).warnings, rt.publish(job, frame=table, warn=before.append).notices, before


@pytest.mark.parametrize("promise", [rt.BTPrivacy(0, "0.01"), rt.Skyline(POINTS)])
def test_a_release_of_nine_singletons_is_not_published_without_a_word(promise):
    """At bandwidth 0 the adversary knows every prior already, and (B,t) alone publishes the raw table."""
    for said in heard([promise]):
        assert any(line.startswith("9 people stand alone") for line in said)
        assert any("adversary of bandwidth 0 knew the value of 9 before" in line for line in said)
        assert not any("bandwidth whole" in line for line in said)


@pytest.mark.parametrize("promise", [rt.TCloseness("0.9"), rt.BetaLikeness(9, enhanced=False)])
def test_other_promises_that_allow_a_group_of_one_say_so_too(promise):
    for said in heard([promise]):
        assert any(line.startswith("9 people stand alone") for line in said)


def test_columns_that_are_taken_jointly_are_counted_as_one():
    table = NINE.with_columns(r=pl.Series(list("uvuvuvuvu")))
    columns = {**COLUMNS, "r": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.BTPrivacy(0, "0.01")], jointly=True)
    for said in (rt.check(job, frame=table).warnings, rt.publish(job, frame=table).notices):
        assert any("knew the value of 9 before" in line for line in said)


def test_nothing_is_said_where_nobody_stands_alone():
    for said in heard([rt.KAnonymity(3)]):
        assert not any("alone" in line for line in said)


def test_people_whose_neighbours_all_have_one_value_were_certain_before():
    """Two of three people at age 1 and one at age 2 have x, all within the kernel; at age 9 the values differ."""
    table = pl.DataFrame({"a": [1, 1, 2, 9, 9, 9], "s": ["x", "x", "x", "x", "y", "y"]})
    job = rt.Job(columns=COLUMNS, promises=[rt.BTPrivacy("0.3", 1), rt.KAnonymity(2)])
    said = rt.check(job, frame=table).warnings
    assert any("of 6 people the adversary of bandwidth 0.3 knew the value of 3 before" in line for line in said)


def test_the_command_says_it_before_the_release_is_there(tmp_path, capsys):
    NINE.write_csv(tmp_path / "nine.csv")
    (tmp_path / "job.toml").write_text(
        '[source]\npath = "nine.csv"\n[columns]\na = "quasi-identifying"\ns = "sensitive"\n'
        '[[promise]]\nmodel = "bt-privacy"\nbandwidth = 0\nt = 0.01\n'
    )
    assert main(["publish", str(tmp_path / "job.toml"), "-o", str(tmp_path / "release")]) == 0
    said = capsys.readouterr()
    assert said.err.count("9 people stand alone") == 1
