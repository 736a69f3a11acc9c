"""A file without a header: its first record stands where names are expected, and no message and no table shows it."""

from __future__ import annotations

import traceback

import polars as pl
import pytest

import reticent as rt
from tests.support.command_line import CANARY, JOB, people, place, run, write_csv  # noqa: F401  # fixtures

RECORDS = {
    "numbers": f"{CANARY},34,Ulm,flu",
    "words": f"{CANARY},thirty,Ulm,flu",
    "dates": f"{CANARY},1980-02-03,Xcity,Yillness",
    "an address": f"{CANARY},{CANARY}@example.org,Xcity,Yillness",
    "twice": f"{CANARY},{CANARY},Xcity,Yillness",
}
CALLS = [
    ("risk", "bare.csv"),
    ("risk", "bare.csv", "--quasi", "age"),
    ("risk", "bare.csv", "--quasi", "age,city", "--json"),
    ("audit", "bare.csv", "--quasi", "age", "--sensitive", "illness"),
    ("attack", "bare.csv", "--source", "people.csv", "--quasi", "age", "--sensitive", "illness", "--as", "naive-bayes"),
    ("attack", "people.csv", "--source", "bare.csv", "--quasi", "age", "--sensitive", "illness", "--as", "naive-bayes"),
    ("hierarchy", "--data", "bare.csv", "--column", "age"),
    ("init", "bare.csv", "-o", "-"),
    ("risk", "people.csv", "--quasi", "age", "--population", "bare.csv"),
    ("publish", "bare.toml", "-o", "made"),
    ("check", "bare.toml"),
    ("publish", "any.toml", "-o", "made"),
    ("publish", "bare.toml", "-o", "made", "--batch-by", "city"),
]


@pytest.mark.parametrize("record", RECORDS)
def test_no_command_shows_the_first_record_of_a_file_without_a_header(run, place, record):  # noqa: F811
    write_csv(place / "bare.csv", people(), head=RECORDS[record])
    (place / "bare.toml").write_text(JOB.replace("people.csv", "bare.csv"))
    anything = JOB.replace("people.csv", "bare.csv").replace('person  = "identifying"\n', "")
    anything = anything.replace("age     =", '"*"     =').replace('illness = "sensitive"', '"Y*" = "sensitive"')
    (place / "any.toml").write_text("\n".join(line for line in anything.splitlines() if not line.startswith("city ")))
    for words in CALLS:
        ran = run(*words)
        assert ran.code not in (0, 70), (words, ran.out, ran.err)
        assert CANARY not in ran.out + ran.err, words


HALVES = {
    "two names and two values": f"person,age,{CANARY},Yillness",
    "one name and three values": f"person,Xage,{CANARY},flu",
    "a value beside the names": f"person,age,city,illness,{CANARY}@example.org",
}


@pytest.mark.parametrize("half", HALVES)
def test_a_first_line_that_is_half_a_record_is_quoted_by_nobody(run, place, half):  # noqa: F811
    """The names that the job knows are there, so that nothing looks like a record: what else stands there is not shown."""
    rows = people()
    write_csv(place / "bare.csv", rows, head=HALVES[half])
    if half == "a value beside the names":
        lines = (place / "bare.csv").read_text().splitlines()
        (place / "bare.csv").write_text("\n".join([lines[0], *(f"{line},x" for line in lines[1:])]) + "\n")
    (place / "bare.toml").write_text(JOB.replace("people.csv", "bare.csv"))
    for words in [
        ("publish", "bare.toml", "-o", "made"),
        ("check", "bare.toml"),
        ("risk", "bare.csv", "--quasi", "age,town"),
        ("hierarchy", "--data", "bare.csv", "--column", "town"),
        ("publish", "bare.toml", "-o", "made", "--batch-by", "town"),
    ]:
        ran = run(*words)
        assert ran.code not in (0, 70), (words, ran.out, ran.err)
        assert CANARY not in ran.out + ran.err, words


def test_a_header_is_listed_where_a_name_is_mistyped(run, place):  # noqa: F811
    assert "'city'" in run("hierarchy", "--data", "people.csv", "--column", "citty").err
    assert "'city'" in run("risk", "people.csv", "--quasi", "age,citty").err


def failing(frame: pl.DataFrame) -> pl.DataFrame:
    raise ValueError(CANARY)


@pytest.mark.parametrize("how", ["rows", "a value", "the schema"])
def test_the_exception_of_a_lazy_frame_is_not_passed_on(how, tmp_path):
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "illness": ["a", "b", "a", CANARY]})
    lazy = {
        "rows": frame.lazy().map_batches(failing, schema=frame.schema),
        "a value": frame.lazy().with_columns(pl.col("illness").map_elements(lambda _: failing(frame), pl.String)),
        "the schema": frame.lazy().with_columns(pl.col("illness").cast(pl.Int64)).select(pl.col(f"x{CANARY}"), "age"),
    }[how]
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(2)])
    calls = [
        lambda: rt.publish(job, frame=lazy, to=tmp_path / "out"),
        lambda: rt.check(job, frame=lazy),
        lambda: rt.audit(lazy, quasi=["age"], sensitive=["illness"]),
        lambda: rt.audit(frame, quasi=["age"], sensitive=["illness"], source=lazy),
        lambda: rt.risk(lazy, quasi=["age", "illness"]),
    ]
    for call in calls:
        with pytest.raises(rt.RequestError) as caught:
            call()
        assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert not (tmp_path / "out").exists()
