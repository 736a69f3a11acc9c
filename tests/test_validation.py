"""One checked door: a wrong value anywhere in `rt.*` is an error of ours that says so, and leaves nothing behind."""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest

import reticent as rt
from reticent.errors import InternalError, JobError, ReticentError
from tests.support.public_calls import PEOPLE, columns, constructors, functions, job, wrong_calls

DONE = {"saved", "saved.csv", "batches", "reticent-owner", "x.db"}  # by calls whose other value fits after all
PERSON = "the-only-person-of-that-name"


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.write_csv("people.csv")
    (tmp_path / "nonsense").write_text("nonsense", encoding="utf-8")
    return tmp_path


def outcome(function, arguments) -> str:
    try:
        function(**arguments)
    except InternalError as error:
        return f"a bug of ours: {error.what}"
    except ReticentError:
        return "ours"
    except TypeError as error:
        # What Python itself says of a name that a constructor does not have.
        return "ours" if "unexpected keyword argument 'unheard_of'" in str(error) else f"TypeError: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


def judged(calls) -> tuple[int, list[str]]:
    tried = 0
    faults = []
    for what, function, arguments, fits in wrong_calls(calls):
        tried += 1
        found = outcome(function, arguments)
        if found != "ours" and not (fits and found == "accepted"):
            faults.append(f"{what}: {found[:200]}")
    return tried, faults


def test_a_wrong_value_for_a_function_is_an_error_of_ours_and_nothing_is_written(people):
    release = rt.publish(job())
    planned = rt.plan(job())
    calls = functions(release, planned, people)
    tried, faults = judged(calls)
    assert not faults, "\n".join(faults)
    assert tried > 2_000
    left = {path.name for path in people.iterdir()}
    assert left <= {"people.csv", "nonsense", *DONE}


def test_a_wrong_value_for_a_promise_a_method_or_a_stage_is_an_error_of_ours(people):
    tried, faults = judged(constructors())
    assert not faults, "\n".join(faults)
    assert tried > 1_500


def test_every_public_callable_is_tried(people):
    called = {*functions(rt.publish(job()), rt.plan(job()), people), *constructors()}
    public = {name for name in rt.__all__ if callable(getattr(rt, name))}
    errors = {
        name for name in public if isinstance(getattr(rt, name), type) and issubclass(getattr(rt, name), Exception)
    }
    protocols = {name for name in public if getattr(getattr(rt, name), "_is_protocol", False)}
    apart = {
        "About",
        "Answer",
        "Answers",
        "Audit",
        "Hierarchy",
        "Workload",
    }  # what a function returns, or makes by its class methods
    assert public - errors - protocols - apart <= called


@pytest.mark.parametrize("wrong", [{"name": 3}, {"name": None}, {"rows": "5"}, {"rows": -1}, {"seed": "a"}], ids=str)
def test_a_wrong_request_for_a_data_set_is_refused(wrong):
    with pytest.raises(rt.RequestError):
        rt.datasets.load(**{"name": "census", "rows": 5, "seed": 1, **wrong})


def test_promises_as_a_text_publish_nothing(people):
    """They were iterated letter by letter, and a release without any promise came out."""
    with pytest.raises(JobError, match="promises must be promises; it is a text") as refused:
        rt.Job(source="people.csv", columns=columns(), promises="k")
    assert "rt.KAnonymity(5)" in str(refused.value)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"promises": [rt.KAnonymity]}, "rt.KAnonymity(...)"),
        ({"method": rt.Mosaic}, "rt.Mosaic(...)"),
        ({"method": "mosiac"}, "'mosaic'"),
        ({"columns": {"age": rt.quasi}}, "rt.quasi()"),
        ({"columns": {"age": "quasy"}}, "'quasi-identifying'"),
        ({"columns": ["age"]}, "rt.sensitive()"),
        ({"release": "csv"}, 'rt.Output(format="csv"'),
        ({"source": PEOPLE}, "rt.publish(job, frame=...)"),
        ({"prepare": rt.Suppression}, "rt.Suppression(...)"),
        ({"jointly": "false"}, "true or false"),
    ],
)
def test_a_refusal_says_what_to_write(given, told):
    with pytest.raises(JobError) as refused:
        rt.Job(**{"source": "people.csv", "columns": columns(), "promises": [rt.KAnonymity(3)], **given})
    assert told in str(refused.value)


def test_names_tables_and_single_objects_are_taken_for_what_they_mean(people):
    spelled = rt.Job(
        source="people.csv",
        columns={"age": "quasi-identifying", "city": {"role": "quasi"}, "d": "sensitive"},
        promises=rt.KAnonymity(3),
        method="mosaic",
        prepare=rt.Suppression(l=2),
    )
    assert spelled.columns == columns()
    assert list(spelled.promises) == [rt.KAnonymity(3)]
    assert spelled.method == rt.Mosaic()
    assert spelled.prepare == (rt.Suppression(l=2),)
    tables = dataclasses.replace(spelled, promises=[{"model": "k-anonymity", "k": 3}], method={"name": "mosaic"})
    assert tables == spelled


def test_one_name_may_stand_where_a_list_is_meant():
    assert rt.risk(PEOPLE, quasi="age").to_dict() == rt.risk(PEOPLE, quasi=["age"]).to_dict()


def test_a_refusal_never_quotes_what_was_handed_over(people):
    for parameter in ("job", "frame", "seed", "force", "ledger"):
        with pytest.raises(ReticentError) as refused:
            rt.publish(**{"job": job(), parameter: {PERSON: pl.DataFrame({PERSON: [1]})}})
        assert PERSON not in str(refused.value)


def test_an_unknown_argument_is_named_with_those_that_there_are():
    with pytest.raises(rt.RequestError, match="unexpected keyword argument 'fram'") as refused:
        rt.publish(job(), fram=PEOPLE)
    assert "'frame' instead" in str(refused.value)


def test_a_switch_in_words_is_refused_and_nothing_is_replaced(people):
    rt.publish(job()).save("release")
    with pytest.raises(JobError, match="force must be true or false"):
        rt.publish(job(), to="release", force="no", again=True)
