"""Attacks on tables whose people have several rows: persons are told from rows."""

import json
import random
from collections import defaultdict

import polars as pl
import pytest

import reticent as rt

MOST = 4


def table(seed, persons=25):
    """People who have up to four rows, most of them equal in age, some a year apart."""
    draw = random.Random(seed)
    rows = []
    for person in range(persons):
        age = draw.randint(20, 60)
        ward = draw.choice("ab")
        for _ in range(MOST if person == 0 else draw.randint(1, MOST)):
            rows.append((f"p{person}", age + draw.choice([0, 0, 0, 1]), ward, draw.choice(["flu", "cold", "gout"])))
    return pl.DataFrame(rows, schema=["person", "age", "ward", "illness"], orient="row")


def job(**changes):
    columns = {
        "person": rt.identifying(rows_per_person=MOST),
        "age": rt.quasi(labels="tight"),
        "ward": rt.quasi(),
        "illness": rt.sensitive(),
        **changes,
    }
    return rt.Job(columns=columns, promises=[rt.KAnonymity(2)])


def isolated_by_hand(release, frame):
    """The share of ends of ranges that are true, with their labels, of one person of the source; by going through it."""
    hits = 0
    tried = 0
    for low, high, ward in release.frame(bounds=True).select("age_lower", "age_upper", "ward").unique().iter_rows():
        if low == high:
            continue
        for end in (low, high):
            inside = frame.filter(
                (pl.col("age") == end) & (pl.col("ward").is_in(list("ab") if ward == "*" else [ward]))
            )
            hits += inside["person"].n_unique() == 1
            tried += 1
    return hits / tried


@pytest.mark.parametrize("seed", range(6))
def test_ends_isolate_a_person_however_many_rows_the_person_has(seed):
    frame = table(seed)
    release = rt.publish(job(), frame=frame)
    found = rt.attack(release, frame, "singling-out")
    assert found.success == pytest.approx(isolated_by_hand(release, frame))
    assert found.persons == frame["person"].n_unique()


def test_linkability_says_how_many_people_the_rows_are_of():
    frame = table(1)
    release = rt.publish(job(), frame=frame)
    found = rt.attack(release, frame, "linkability").to_dict()
    assert (found["rows"], found["people"]) == (len(frame), 25)
    least = min(size for size in release.frame().group_by("age", "ward").len()["len"])
    assert found["worst_posterior"] == 1 / max(least // MOST, 1)


def test_rows_whose_person_nothing_names_are_called_rows():
    frame = table(2)
    release = rt.publish(job(), frame=frame)
    found = rt.attack(release, frame.drop("person"), "linkability").to_dict()
    assert (found["rows"], found["people"], found["persons"]) == (len(frame), None, None)


def test_the_command_calls_targets_rows_and_counts_their_people(tmp_path, monkeypatch, capsys):
    from reticent.cli.main import main

    monkeypatch.chdir(tmp_path)
    table(3).write_csv("visits.csv")
    rt.publish(job().at(source=rt.Source(path="visits.csv"))).save("release")
    assert main(["attack", "release", "--source", "visits.csv"]) in (0, None)
    said = capsys.readouterr().out
    rows = len(table(3))
    assert f"Targets are rows, and a person may have {MOST} of them. They are those of 25 people." in said
    assert f"of {rows:,} of {rows:,} rows, those of 25 people," in said
    assert f"{rows:,} people" not in said
    internal = json.dumps(rt.report("release", source="visits.csv").facts)
    assert "they are those of 25 people" in internal


def test_attacks_on_one_row_per_person_answer_as_before():
    frame = table(4).unique("person")
    release = rt.publish(job(person=rt.identifying()), frame=frame)
    found = rt.attack(release, frame, "naive-bayes").to_dict()
    assert "persons" not in found
    assert "rows_per_person" not in found


def test_a_plain_table_is_attacked_by_the_persons_of_its_job():
    frame = table(5)
    other = frame.with_columns(age=pl.lit("20-70"), ward=pl.lit("*")).drop("person")
    persons = defaultdict(int)
    for person in frame["person"]:
        persons[person] += 1
    found = rt.attack(other, frame, "linkability", job=job()).to_dict()
    assert (found["people"], found["rows_per_person"]) == (len(persons), max(persons.values()))
