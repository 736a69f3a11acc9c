"""Advice about arguments of Python functions is followed: the call is then made."""

from __future__ import annotations

from typing import Any

import pytest

import reticent as rt
from reticent import validation
from reticent.catalogue import JOB_TABLES
from reticent.catalogue.fields import Field
from reticent.data.hierarchy import Hierarchy
from reticent.errors import JobError, RequestError
from reticent.job.parse import parse_job
from reticent.validation import accept_parameter
from tests.advice.coverage import Trial
from tests.advice.small_jobs import COLUMNS, make_people, publish

CHECKED = "validation.py"
LINE = JOB_TABLES["about"].fields["title"]


def make_job(**parts: Any) -> rt.Job:
    return parse_job({"columns": COLUMNS, "promise": [{"model": "k-anonymity", "k": 3}], **parts})


def count(**options: Any) -> Any:
    return rt.count(make_job(), **{"frame": make_people(), **options})


def say(**texts: Any) -> rt.About:
    return rt.About(**texts)


def accept(field: Field, value: Any) -> Any:
    return accept_parameter(field, value, "x", "the example")


TRIALS = [
    Trial(
        CHECKED,
        'rt.Job(columns={...}, promises=[...]), or rt.Job.read("job.toml").',
        lambda: rt.publish("job.toml"),
        lambda: rt.publish(rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(3)]), frame=make_people(), seed=1),
    ),
    Trial(
        CHECKED,
        'rt.Output(format="csv", undeclared="drop").',
        lambda: rt.Job(columns=COLUMNS, promises=rt.KAnonymity(3), release="csv"),
        lambda: rt.Job(columns=COLUMNS, promises=rt.KAnonymity(3), release=rt.Output(format="csv", undeclared="drop")),
    ),
    Trial(
        CHECKED,
        'rt.About(title="...").',
        lambda: validation.is_about("Visits", "about"),
        lambda: validation.is_about(rt.About(title="Visits"), "about"),
    ),
    Trial(
        CHECKED,
        "what rt.plan(job) returns.",
        lambda: validation.is_plan(5, "planned"),
        lambda: validation.is_plan(rt.plan(make_job(), frame=make_people()), "planned"),
    ),
    Trial(
        CHECKED,
        "what rt.count(job) returns.",
        lambda: validation.is_cells(5, "cells"),
        lambda: validation.is_cells(count(), "cells"),
    ),
    Trial(
        CHECKED,
        'a number such as 4, 0.5 or "1/3".',
        lambda: rt.KAnonymity("many"),
        lambda: [rt.KAnonymity(4), rt.BetaLikeness(0.5), rt.BetaLikeness("1/3")],
    ),
    Trial(
        CHECKED,
        "1 for an ordinary column.",
        lambda: rt.Mondrian(weights={"age": "1"}),
        lambda: rt.Mondrian(weights={"age": 1}),
    ),
    Trial(
        CHECKED,
        "1 for an ordinary column.",
        lambda: validation.weights({"age": -1}, "weights"),
        lambda: validation.weights({"age": 1}, "weights"),
    ),
    Trial(CHECKED, '… = "...".', lambda: publish().query(5), lambda: publish().query("SELECT COUNT(*) FROM release")),
    Trial(
        CHECKED,
        "… = 1.",
        lambda: rt.calibrate("suppression", l="two", counts=[10, 4, 2, 1, 1]),
        lambda: validation.integer(1, "l"),
    ),
    Trial(
        CHECKED,
        "… = [10, 4, 2, 1, 1].",
        lambda: validation.integers("10", "counts"),
        lambda: validation.integers([10, 4, 2, 1, 1], "counts"),
    ),
    Trial(
        CHECKED,
        "… = 0.2.",
        lambda: validation.share(2, "level"),
        lambda: validation.share(0.2, "level"),
    ),
    Trial(
        CHECKED,
        "… = 10.",
        lambda: rt.check(make_job(), frame=make_people(), budget="soon"),
        lambda: validation.seconds(10, "budget"),
    ),
    Trial(
        CHECKED,
        "leaving … out.",
        lambda: rt.publish(make_job(), frame=make_people(), progress=5),
        lambda: rt.publish(make_job(), frame=make_people(), seed=1),
    ),
    Trial(
        CHECKED,
        '… = ["...", "..."].',
        lambda: rt.check(make_job(), frame=make_people(), methods=5),
        lambda: rt.check(make_job(), frame=make_people(), methods=["mondrian", "mosaic"]),
    ),
    Trial(CHECKED, "… = [...].", lambda: Hierarchy.flat("Ulm"), lambda: Hierarchy.flat(["Ulm", "Bonn"])),
    Trial(
        CHECKED,
        '… = {"column": ...}.',
        lambda: validation.mapping(["age"], "columns"),
        lambda: validation.mapping({"age": "quasi-identifying"}, "columns"),
    ),
    Trial(
        CHECKED,
        "{suggest(option, listed)}",
        lambda: say_table(titel="Visits"),
        lambda: say_table(title="Visits"),
    ),
    Trial(
        CHECKED,
        "{suggest(option, listed)}",
        lambda: validation.require_known_options(["window"], [], "The attack 'matrix'"),
        lambda: validation.require_known_options([], [], "The attack 'matrix'"),
    ),
    Trial(
        CHECKED,
        '… = "stream", or rt.Spark(master="local[2]").',
        lambda: count(engine=5),
        lambda: [count(engine="stream"), validation.is_engine(rt.Spark(master="local[2]"), "engine")],
    ),
    Trial(
        CHECKED,
        '… = "folder/name".',
        lambda: rt.open(5),
        lambda: validation.path("folder/name", "folder"),
    ),
    Trial(
        CHECKED,
        '… = "folder/name".',
        lambda: rt.open(""),
        lambda: validation.path("folder/name", "folder"),
    ),
    Trial(
        CHECKED,
        '… = "data.csv", or a pandas, Polars or Arrow table.',
        lambda: rt.audit(publish(), source=5),
        lambda: [
            rt.audit(publish(), source=make_people()),
            rt.audit(publish(), source=make_people().to_arrow()),
            rt.audit(publish(), source=make_people().to_pandas()),
            validation.path_or_table("data.csv", "source"),
        ],
    ),
    Trial(
        CHECKED,
        "rt.…(...), with its parameters.",
        lambda: rt.Job(columns=COLUMNS, promises=rt.KAnonymity),
        lambda: rt.Job(columns=COLUMNS, promises=rt.KAnonymity(5)),
    ),
    Trial(
        CHECKED,
        "promises = [rt.KAnonymity(5)].",
        lambda: rt.Job(columns=COLUMNS, promises="k-anonymity"),
        lambda: rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(5)]),
    ),
    Trial(
        CHECKED,
        '… = "file.csv", or [["Kiel", "north", "*"], ...].',
        lambda: rt.quasi(hierarchy=5),
        lambda: [rt.quasi(hierarchy="file.csv"), rt.quasi(hierarchy=[["Kiel", "north", "*"]])],
    ),
    Trial(
        CHECKED,
        "{suggest(wrong, known)}",
        lambda: rt.publish(make_job(), frames=make_people()),
        lambda: rt.publish(make_job(), frame=make_people(), seed=1),
    ),
    Trial(
        CHECKED,
        '… = 80, or … = "2001-12-31".',
        lambda: rt.quasi(top="old"),
        lambda: [rt.quasi(top=80), rt.quasi(top="2001-12-31")],
    ),
    Trial(CHECKED, "a text in quotes.", lambda: say(title=5), lambda: say(title="5")),
    Trial(
        CHECKED,
        "a shorter text, or leaving … out.",
        lambda: say(title="x" * 100_000),
        lambda: [say(title="x"), say(publisher="x")],
    ),
    Trial(
        CHECKED,
        "the text without it, typed anew.",
        lambda: say(title="Visits\u202e"),
        lambda: say(title="Visits"),
    ),
    Trial(
        CHECKED,
        "{relation.attempt}",
        lambda: rt.quasi(labels={"style": "padded"}),
        lambda: rt.quasi(labels={"style": "padded", "width": 2}),
    ),
    Trial(CHECKED, "{field.attempt}", lambda: rt.KAnonymity(0), lambda: rt.KAnonymity(5)),
    Trial(CHECKED, "{suggest(str(value), words)}", lambda: rt.quasi(type="numric"), lambda: rt.quasi(type="numeric")),
    Trial(
        CHECKED,
        "{suggest('', texts)}",
        lambda: accept(CHOICE, 0.5),
        lambda: [accept(CHOICE, word) for word in CHOICE.choices],
    ),
    Trial(CHECKED, "another value for ….", lambda: accept(WHOLE, 7), lambda: accept(WHOLE, 3)),
    Trial(CHECKED, "fewer of them.", lambda: accept(LIST, [1, 2, 3, 4]), lambda: accept(LIST, [1, 2, 3])),
    Trial(CHECKED, "… with … or more.", lambda: accept(LIST, [1]), lambda: accept(LIST, [1, 2])),
]
CHOICE = Field("choice", "one of two", choices=("low", "high"))
WHOLE = Field("whole", "a number", least=1, most=5)
LIST = Field("list", "some numbers", each=WHOLE, entries=(2, 3))


def say_table(**texts: Any) -> None:
    rt.Job(columns=COLUMNS, promises=rt.KAnonymity(3), about=texts)


@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_advice_about_arguments_is_accepted(trial):
    trial.run()


@pytest.mark.parametrize("word", ["folder", "output", "target"])
def test_a_word_for_where_a_release_goes_is_told_to(word, tmp_path):
    with pytest.raises(RequestError) as refused:
        rt.publish(make_job(), frame=make_people(), seed=1, **{word: tmp_path / "release"})
    assert refused.value.attempt.startswith("'to' instead;")
    assert rt.publish(make_job(), frame=make_people(), seed=1, to=tmp_path / "release").folder.is_dir()


@pytest.mark.parametrize("rate", ["mising", "1.2", 0, -1])
def test_a_wrong_rate_is_told_what_rates_look_like(rate):
    with pytest.raises(JobError) as refused:
        rt.quasi(format="1,234.5", rates={"$": 1, "€": rate})
    example = 'rates = { "$" = 1, "€" = 1.08, "£" = "missing" } with format = "1,234.5".'
    assert refused.value.attempt == example
    assert rt.quasi(format="1,234.5", rates={"$": 1, "€": 1.08, "£": "missing"})
