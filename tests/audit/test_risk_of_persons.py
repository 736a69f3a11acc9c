"""Re-identification risk of people who have several rows: persons are counted, not rows."""

import json
from collections import Counter, defaultdict
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.errors import ColumnError
from tests.support.release_folders import resealed

PEOPLE = 40
VISITS = 9


def visits():
    """40 people whom nobody shares a combination with, and each has nine equal visits."""
    rows = [(f"p{person:02}", person, person % 4, "flu") for person in range(PEOPLE) for _ in range(VISITS)]
    return pl.DataFrame(rows, schema=["patient", "age", "ward", "illness"], orient="row")


def job(most=VISITS, k=5):
    columns = {
        "patient": rt.identifying(rows_per_person=most),
        "age": rt.quasi(),
        "ward": rt.quasi(),
        "illness": rt.sensitive(),
    }
    return rt.Job(columns=columns, promises=[rt.KAnonymity(k)])


def counted_by_hand(rows, threshold):
    """Of (person, combination) rows: highest and average risk, rows at risk, groups of one; people, people at risk, alone."""
    persons = defaultdict(set)
    sizes = Counter()
    for person, combination in rows:
        persons[combination].add(person)
        sizes[combination] += 1
    risks = {combination: Fraction(1, len(held)) for combination, held in persons.items()}
    exposed = {combination for combination, value in risks.items() if value > threshold}
    alone = {combination for combination, held in persons.items() if len(held) == 1}
    average = sum(risks[combination] * size for combination, size in sizes.items()) / len(rows)
    return (
        float(max(risks.values())),
        pytest.approx(float(average)),
        sum(sizes[combination] for combination in exposed),
        len(alone),
        len({person for person, _ in rows}),
        len({person for person, combination in rows if combination in exposed}),
        len({person for person, combination in rows if combination in alone}),
    )


def measured(found):
    people = found.people
    return (
        found.prosecutor.highest,
        found.prosecutor.average,
        found.prosecutor.at_risk,
        found.sample_uniques,
        people.count,
        people.at_risk,
        people.unique,
    )


def test_equal_rows_of_one_person_do_not_hide_the_person():
    found = rt.risk(visits(), job=job())
    assert found.prosecutor.highest == 1
    assert (found.people.count, found.people.at_risk, found.people.unique) == (PEOPLE, PEOPLE, PEOPLE)
    assert "360 records of 40 people in 40 groups" in str(found)


def test_a_column_that_names_persons_may_be_given_without_a_job():
    found = rt.risk(visits(), quasi=["age", "ward"], person="patient")
    assert found.prosecutor.highest == 1
    assert rt.risk(visits(), person="patient", quasi=["ward"]).prosecutor.highest == 1 / 10
    with pytest.raises(ColumnError, match="lacks 1 column"):
        rt.risk(visits(), quasi=["age"], person="patiant")


def test_all_columns_but_the_one_that_names_persons_are_looked_at_where_no_role_is_given():
    assert {one.columns for one in rt.risk(visits(), person="patient", pairs=False).columns} == {
        ("age",),
        ("ward",),
        ("illness",),
    }


def test_the_risk_of_a_release_is_one_over_the_k_that_its_audit_finds(tmp_path):
    rt.publish(job(), frame=visits()).save(tmp_path / "release")
    audited = rt.audit(tmp_path / "release")
    found = rt.risk(tmp_path / "release")
    assert audited.achieved["k-anonymity"] == 5
    assert found.prosecutor.highest == 1 / 5
    assert found.to_dict()["rows_per_person"] == VISITS
    assert audited.to_dict()["risk"]["prosecutor"] == found.to_dict()["prosecutor"]


def test_a_forged_number_of_rows_makes_no_group_empty(tmp_path):
    rt.publish(job(), frame=visits()).save(tmp_path / "release")
    resealed(tmp_path / "release", lambda stated: stated.update(rows_per_person=1_000))
    assert rt.risk(tmp_path / "release").prosecutor.highest == 1


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from("abc"), st.sampled_from("xy")), min_size=1, max_size=40),
    st.sampled_from([Fraction(1, 5), Fraction(1, 3), Fraction(1, 2), Fraction(0)]),
)
def test_persons_are_counted_as_by_hand(rows, threshold):
    """Persons may have rows of several combinations, and missing persons are taken for one."""
    assume(max(Counter(person for person, _, _ in rows).values()) > 1)
    frame = pl.DataFrame(
        [(None if person == 6 else f"p{person}", u, v) for person, u, v in rows],
        schema=["person", "u", "v"],
        orient="row",
    )
    frame = frame.with_columns(pl.col("person").cast(pl.String))
    found = rt.risk(frame, quasi=["u", "v"], person="person", threshold=threshold)
    expected = counted_by_hand([(person, (u, v)) for person, u, v in rows], threshold)
    assert measured(found) == expected


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=12, max_size=50), st.integers(2, 3))
def test_no_release_has_a_smaller_risk_than_its_persons_have(rows, k):
    """What can be said of persons without the column that names them is never less than the truth."""
    most = max(Counter(person for person, _ in rows).values())
    if len(rows) < k * most:
        return
    frame = pl.DataFrame([(f"p{p}", age, "flu") for p, age in rows], schema=["patient", "age", "illness"], orient="row")
    columns = {"patient": rt.identifying(rows_per_person=most), "age": rt.quasi(), "illness": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(k)]), frame=frame)
    persons = []
    for low, high in release.frame(bounds=True).select("age_lower", "age_upper").unique().iter_rows():
        persons.append(frame.filter(pl.col("age").is_between(low, high))["patient"].n_unique())
    found = rt.risk(release)
    assert found.prosecutor.highest >= 1 / min(persons)
    assert found.prosecutor.highest == 1 / max(release.audited.achieved["k-anonymity"], 1)


def test_a_population_that_names_its_persons_is_counted_by_them():
    register = pl.concat(
        [
            visits(),
            visits().with_columns(patient=pl.lit("twin"), age=pl.lit(0, pl.Int64), ward=pl.lit(0, pl.Int64)).head(20),
        ]
    )
    found = rt.risk(visits(), job=job(), population=register)
    assert (found.journalist.highest, found.population_uniques) == (1, PEOPLE - 1)
    assert rt.risk(visits(), job=job(), population=visits()).journalist == found.prosecutor


def test_an_identifier_that_repeats_undeclared_is_named_and_rows_are_counted():
    columns = {"patient": rt.identifying(), "age": rt.quasi(), "illness": rt.sensitive()}
    found = rt.risk(visits(), columns=columns)
    assert found.prosecutor.highest == 1 / VISITS
    assert "'patient' repeats, up to 9 times" in found.notes[0]
    assert found.notes[0] in str(found)


def test_one_row_per_person_is_told_as_before():
    found = rt.risk(visits().unique(), job=job())
    assert "people" not in found.to_dict()
    assert "40 are unique" in str(found)


def test_before_and_after_and_both_reports_count_persons(tmp_path, monkeypatch, capsys):
    from reticent.cli.main import main

    monkeypatch.chdir(tmp_path)
    visits().write_csv("visits.csv")
    rt.publish(job().at(source=rt.Source(path="visits.csv"))).save("release")

    def run(*words):
        assert main(list(words)) in (0, None)
        return capsys.readouterr().out

    both = json.loads(run("risk", "release", "--source", "visits.csv", "--json"))
    assert both["before"]["prosecutor"]["highest"] == 1
    assert both["before"]["people"] == {"count": 40, "at_risk": 40, "unique": 40}
    assert both["after"]["prosecutor"]["highest"] == 1 / 5
    plain = json.loads(run("risk", "visits.csv", "--quasi", "age,ward", "--person", "patient", "--json"))
    assert plain["prosecutor"] == both["before"]["prosecutor"]
    public = json.dumps(rt.report("release").facts)
    assert '["highest risk of a row to be told from all others", 0.2]' in public
    assert "people are counted, who have up to 9 rows each" in public
    internal = json.dumps(rt.report("release", source="visits.csv").facts)
    assert '["highest risk of a row", 1.0, 0.2]' in internal
    assert '["people", 40, null]' in internal
