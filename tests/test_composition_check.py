"""Publishing the same people again: what releases say together is told before the second is kept, and a job can forbid it."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.errors import JobError, PromiseUnreachable

COLUMNS = {"age": rt.quasi(numeric=True), "town": rt.quasi(), "s": rt.sensitive()}


def table(rows: int = 400, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "town": rng.choice(list("abcdefgh"), rows),
            "s": rng.choice(list("uvwxyz"), rows),
        }
    )


def job(age: float = 1, **release) -> rt.Job:
    method = rt.Mondrian(weights={"age": age})
    return rt.Job(
        columns=COLUMNS, promises=[rt.ProbabilisticLDiversity(3)], method=method, release=rt.Output(**release)
    )


def test_a_second_release_is_joined_with_the_first_before_it_is_kept(tmp_path):
    rt.publish(job(), frame=table(), to=tmp_path / "first")
    told = []

    def progress(line: str) -> None:
        told.append((line, (tmp_path / "second").exists()))

    second = rt.publish(job(5), frame=table(), to=tmp_path / "second", again=True, progress=progress)
    said = [line for line in second.notices if line.startswith("Joined with 'first'")]
    assert len(said) == 1 and "the worst belief is" in said[0]
    assert ("joining with earlier releases", False) in told
    assert not any("belief" in line for line, _ in told), "what is found goes to the owner, not to a log"
    assert said[0] in (tmp_path / "reticent-owner" / "second" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("saved", [False, True], ids=["published", "saved"])
def test_a_limit_on_what_releases_say_together_refuses_and_writes_nothing(tmp_path, saved):
    rt.publish(job(), frame=table(), to=tmp_path / "first")
    place = tmp_path / "second"
    asked = job(5, together="0.5")

    def keep() -> None:
        if saved:
            rt.publish(asked, frame=table()).save(place, again=True)
        else:
            rt.publish(asked, frame=table(), to=place, again=True)

    with pytest.raises(PromiseUnreachable, match="above 1/2; nothing was kept") as caught:
        keep()
    assert "The worst belief is" in str(caught.value) and "Try" in str(caught.value)
    assert not (tmp_path / "second").exists() and not (tmp_path / "reticent-owner" / "second").exists()
    rt.publish(job(5, together=1), frame=table(), to=tmp_path / "second", again=True)


def test_the_limit_holds_of_a_release_of_other_columns_of_the_same_people(tmp_path):
    people = table().with_columns(pl.Series("weight", np.random.default_rng(3).integers(30_000, 120_000, 400)))
    weighed = {"weight": rt.quasi(numeric=True), "s": rt.sensitive()}
    promised = {"promises": [rt.KAnonymity(2)], "method": rt.Mondrian()}
    wide = rt.Job(columns={**COLUMNS, **weighed}, **promised)
    rt.publish(wide, frame=people, to=tmp_path / "first")
    narrow = rt.Job(columns=weighed, release=rt.Output(undeclared="drop", together="0.5"), **promised)
    with pytest.raises(PromiseUnreachable, match="'first'"):
        rt.publish(narrow, frame=people, to=tmp_path / "second", again=True)


def test_an_earlier_release_that_is_gone_is_named_and_with_a_limit_refused(tmp_path):
    rt.publish(job(), frame=table(), to=tmp_path / "first")
    shutil.rmtree(tmp_path / "first")
    with pytest.raises(PromiseUnreachable, match="Nothing shows what this release and 'first' say together"):
        rt.publish(job(5, together="0.5"), frame=table(), to=tmp_path / "second", again=True)
    second = rt.publish(job(5), frame=table(), to=tmp_path / "second", again=True)
    assert any("'first' was not joined with this one: it is not where it was put" in line for line in second.notices)


def test_a_release_that_is_replaced_is_joined_and_one_that_was_replaced_before_is_named_as_such(tmp_path):
    for age in (1, 5, 9):
        last = rt.publish(job(age), frame=table(), to=tmp_path / "first", again=age > 1, force=age > 1)
        joined = [line for line in last.notices if line.startswith("Joined with 'first'")]
        apart = [line for line in last.notices if "was not joined" in line]
        assert len(joined) == (age > 1) and len(apart) == (age > 5)
    assert "'first' was not joined with this one: a later one replaced it, and only who was given that of" in apart[0]


def test_an_earlier_release_whose_values_were_redrawn_is_not_joined_and_with_a_limit_refused(tmp_path):
    redrawn = rt.Job(columns=COLUMNS, promises=[rt.BetaLikeness(4)], method=rt.BetaPerturbation())
    rt.publish(redrawn, frame=table(), to=tmp_path / "first")
    with pytest.raises(PromiseUnreachable, match="every row's value was redrawn"):
        rt.publish(job(together="0.5"), frame=table(), to=tmp_path / "second", again=True)
    second = rt.publish(job(), frame=table(), to=tmp_path / "second", again=True)
    assert any("every row's value was redrawn" in line for line in second.notices)


def test_a_release_of_other_people_is_not_joined(tmp_path):
    rt.publish(job(), frame=table(seed=2), to=tmp_path / "first")
    second = rt.publish(job(5, together="0.01"), frame=table(), to=tmp_path / "second", again=True)
    assert not any("oined" in line for line in second.notices)


@pytest.mark.parametrize("limit", [0, "1.5", -1])
def test_a_limit_that_is_no_belief_is_refused(limit):
    with pytest.raises(JobError, match=r"release\.together must be a belief"):
        rt.Output(together=limit)


def test_a_limit_is_kept_exactly_and_written_to_the_job_file():
    asked = job(together="0.5")
    assert asked.release.together == Fraction(1, 2)
    assert rt.Job.from_dict(asked.to_dict()).release.together == Fraction(1, 2)
    assert "together" not in job().to_dict()["release"]


def test_the_command_line_prints_what_releases_say_together_and_refuses_above_the_limit(tmp_path, capsys):
    table().write_csv(tmp_path / "people.csv")
    text = """[source]
path = "people.csv"
[columns]
age = {{ role = "quasi-identifying", type = "numeric" }}
town = {{ role = "quasi-identifying" }}
s = {{ role = "sensitive" }}
[[promise]]
model = "probabilistic-l-diversity"
l = 3
[method]
name = "mondrian"
weights = {{ age = {age} }}
[release]
{limit}
"""
    for name, age, limit in (("one", 1, ""), ("two", 5, ""), ("three", 5, "together = 0.5")):
        (tmp_path / f"{name}.toml").write_text(text.format(age=age, limit=limit), encoding="utf-8")
    assert main(["publish", str(tmp_path / "one.toml"), "-o", str(tmp_path / "one")]) == 0
    capsys.readouterr()
    assert main(["publish", str(tmp_path / "three.toml"), "-o", str(tmp_path / "three"), "--again"]) == 2
    assert "above 1/2" in capsys.readouterr().err and not (tmp_path / "three").exists()
    assert main(["publish", str(tmp_path / "two.toml"), "-o", str(tmp_path / "two"), "--again"]) == 0
    said = capsys.readouterr()
    assert "Joined with 'one'" in " ".join((said.out + said.err).split())
    headline = "Alone, every promise is kept; together with 'one', probabilistic-l-diversity no longer holds."
    assert headline in said.out
    assert "Every promise is kept." not in said.out
    assert (
        main(["publish", str(tmp_path / "two.toml"), "-o", str(tmp_path / "two"), "--again", "--force", "--json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["headline"] == headline
    lead = rt.report(tmp_path / "two", source=tmp_path / "people.csv").facts["lead"]
    assert any("alone; together with 'one', probabilistic-l-diversity no longer holds." in line for line in lead)


def test_what_is_advised_where_a_release_cannot_be_joined_can_be_done(tmp_path):
    """One that is there is not to be put back; one that is gone is."""
    redrawn = rt.Job(columns=COLUMNS, promises=[rt.BetaLikeness(4)], method=rt.BetaPerturbation())
    rt.publish(redrawn, frame=table(), to=tmp_path / "first")
    with pytest.raises(PromiseUnreachable) as caught:
        rt.publish(job(together="0.5"), frame=table(), to=tmp_path / "second", again=True)
    assert "putting it back" not in str(caught.value)
    shutil.rmtree(tmp_path / "first")
    with pytest.raises(PromiseUnreachable, match="putting it back"):
        rt.publish(job(together="0.5"), frame=table(), to=tmp_path / "second", again=True)
