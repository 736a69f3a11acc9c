"""Bad input: a clear error, the right exit code, nothing written, and the canary in no word of it."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from tests.support.command_line import CANARY, Place, people, write_csv

VARIANTS = ((), ("--json",), ("--traceback",), ("--json", "--traceback"))


@dataclass(frozen=True)
class Case:
    spoil: Callable[[Place], None]
    says: tuple[str, ...]
    code: int = 1


def marked(at: int, text: str = CANARY) -> list[list[str]]:
    """People, one of whom has the canary in a column."""
    rows = people()
    rows[0][at] = text
    return rows


def lacking_two_rules(place: Place) -> None:
    rows = people()
    rows[0][2], rows[1][2], rows[2][3] = CANARY, CANARY + "2", CANARY
    write_csv(place / "people.csv", rows)
    (place / "illness.csv").write_text("flu;*\ncold;*\ngout;*\nmumps;*\n")
    place.job(('illness = "sensitive"', 'illness = { role = "sensitive", hierarchy = "illness.csv" }'))


def with_source(name: str, content: bytes) -> Callable[[Place], None]:
    def spoil(place: Place) -> None:
        (place / name).write_bytes(content)
        place.job(("people.csv", name))

    return spoil


def with_rows(
    rows: list[list[str]], *changes: tuple[str, str], head: str = "person,age,city,illness"
) -> Callable[[Place], None]:
    def spoil(place: Place) -> None:
        write_csv(place / "people.csv", rows, head)
        place.job(*changes)

    return spoil


def with_job(*changes: tuple[str, str]) -> Callable[[Place], None]:
    return lambda place: place.job(*changes)


def without_header() -> Callable[[Place], None]:
    def spoil(place: Place) -> None:
        (place / "people.csv").write_text("".join(",".join(row) + "\n" for row in marked(3)))

    return spoil


BETA = '\n[[promise]]\nmodel = "beta-likeness"\nbeta = 2\n'
NUMERIC_CITY = ('hierarchy = "city.csv"', 'type = "numeric"')
CASES = {
    "no such file": Case(with_job(("people.csv", "nowhere.csv")), ("There is no file", "nowhere.csv"), code=6),
    "a folder as the source": Case(
        lambda place: [(place / "d.csv").mkdir(), place.job(("people.csv", "d.csv"))], ("is a folder",)
    ),
    "an empty file": Case(with_source("empty.csv", b""), ("empty.csv is empty", "header line")),
    "a header without rows": Case(with_source("head.csv", b"person,age,city,illness\n"), ("no rows",)),
    "an unknown file type": Case(with_source("people.doc", b"x"), ("'.doc'", ".parquet")),
    "a damaged Parquet file": Case(
        with_source("x.parquet", b"PAR1" + CANARY.encode() * 9), ("cannot be read as parquet",)
    ),
    "an unknown column": Case(
        with_job(("\nage ", "\nagee ")), ("'agee' is declared but not in the data", "'age' instead")
    ),
    "an undeclared column": Case(
        with_job(("\nage ", "\n# age ")), ("The data has 1 column without a role: 'age'", "drop")
    ),
    "a duplicate column": Case(with_rows(marked(3), head="person,age,age,illness"), ("1 column name twice: 'age'",)),
    "no header": Case(without_header(), ("None of the 4 declared columns",)),
    "no quasi-identifier": Case(
        with_job(
            ('{ role = "quasi-identifying", type = "numeric" }', '"identifying"'),
            ('role = "quasi-identifying"', 'role = "identifying"'),
        ),
        ("No column is quasi-identifying",),
    ),
    "no sensitive column": Case(
        with_job(('illness = "sensitive"', 'illness = "identifying"')), ("beta-likeness needs a sensitive column",)
    ),
    "k greater than the rows": Case(with_job(("k = 5", "k = 201"), (BETA, "")), ("k-anonymity", "200", "201"), 2),
    "k below 2": Case(with_job(("k = 5", "k = 1")), ("k >= 2",)),
    "k that is no number": Case(with_job(("k = 5", 'k = "five"')), ("k must be a number",)),
    "k with a fraction": Case(with_job(("k = 5", "k = 5.5")), ("whole number",)),
    "beta of 0": Case(with_job(("beta = 2", "beta = 0")), ("beta > 0",)),
    "beta below 0": Case(with_job(("beta = 2", "beta = -1.5")), ("beta > 0",)),
    "no promise": Case(
        with_job(('[[promise]]\nmodel = "k-anonymity"\nk = 5\n', ""), (BETA, "")), ("promises nothing",)
    ),
    "an unknown promise": Case(
        with_job(("beta-likeness", "beta-likenes")), ("Unknown promise", "'beta-likeness' instead")
    ),
    "an unknown parameter": Case(with_job(("beta = 2", "bata = 2")), ("no parameter 'bata'", "'beta' instead")),
    "a value the hierarchy lacks": Case(
        lacking_two_rules,
        (
            "hierarchy of 'city' has no rule for 2 of the column's 6",
            "hierarchy of 'illness' has no rule for 1 of the column's 5",
            "--show-values",
        ),
    ),
    "a ragged hierarchy": Case(
        lambda place: (place / "city.csv").write_text(f"Ulm;south;*\nBonn;*\n{CANARY};north;x;*\n"),
        ("hierarchy of 'city'", "ragged rows: 1 row of 2, 1 row of 3, 1 row of 4"),
    ),
    "a hierarchy that is no tree": Case(
        lambda place: (place / "city.csv").write_text(f"Ulm;{CANARY};a;*\nBonn;{CANARY};b;*\nx;;c;+\n"),
        ("3 faults", "several parents", "different roots", "empty label"),
    ),
    "no hierarchy file": Case(lambda place: (place / "city.csv").unlink(), ("hierarchy of 'city' cannot be read",)),
    "a hierarchy that is not UTF-8": Case(
        lambda place: (place / "city.csv").write_bytes(b"M\xfcnchen;*\n"), ("not UTF-8",)
    ),
    "words among numbers": Case(with_rows(marked(1)), ("'age' is declared numeric, but 1 of its", "missing")),
    "words as numbers": Case(with_rows(marked(2), NUMERIC_CITY), ("'city' is declared numeric, but 5 of its 5",)),
    "words as dates": Case(with_rows(marked(2), ('hierarchy = "city.csv"', 'type = "date"')), ("'city'", "YYYY-MM-DD")),
    "a value that is not in the order": Case(
        with_rows(marked(2), ('hierarchy = "city.csv"', 'order = ["Ulm", "Bonn", "Kiel", "Jena"]')),
        ("'city' is ordinal, but 1 of its 5",),
    ),
    "a number outside its domain": Case(
        with_rows(marked(1, "77410"), ('type = "numeric"', "domain = [0, 120]")), ("'age'", "domain")
    ),
    "a missing sensitive value": Case(
        with_rows(marked(3, "")), ("'illness' is missing in 1 row", 'missing = "category"')
    ),
    "bytes that are not UTF-8": Case(
        with_source(
            "latin.csv",
            ("person,age,city,illness\n" + "".join(",".join(row) + "\n" for row in marked(3, CANARY + "ü"))).encode(
                "latin-1"
            ),
        ),
        ("not UTF-8", "latin-1"),
    ),
    "a header that is not UTF-8": Case(
        with_source("latin.csv", "person,größe\n1,2\n".encode("latin-1")), ("header", "latin-1")
    ),
    "a row with too many fields": Case(with_rows(marked(3, CANARY + ",x,y")), ("has 6 fields, the header has 4",)),
    "an unknown encoding": Case(
        with_job(('path = "people.csv"', 'path = "people.csv"\nencoding = "latin-99"')), ("Unknown encoding",)
    ),
    "a job that is no TOML": Case(
        lambda place: (place / "job.toml").write_text("[source\npath = 3"), ("not valid TOML", "line 1")
    ),
    "no job": Case(lambda place: (place / "job.toml").unlink(), ("cannot be read", "reticent init")),
    "an output folder that exists": Case(lambda place: (place / "release").mkdir(), ("release exists", "--force")),
    "an output that is a file": Case(lambda place: (place / "release").write_text("mine"), ("release exists",)),
}


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda words: " ".join(words) or "plain")
@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_clearly_writes_nothing_and_quotes_no_record(run, place, caplog, name, variant):
    case = CASES[name]
    case.spoil(place)
    before = place.contents()
    with caplog.at_level(logging.DEBUG):
        ran = run("publish", "job.toml", "-o", "release", *variant)
    assert ran.code == case.code, ran.err
    for words in case.says:
        assert words in ran.err
    for text in (ran.out, ran.err, caplog.text):
        assert CANARY not in text
        assert "77410" not in text
    assert place.contents() == before
    if "--json" in variant:
        error = json.loads(ran.out)["error"]
        assert error["exit_code"] == case.code
        assert error["what"] in ran.err
    else:
        assert ran.out == ""
    assert ("File " in ran.err) == ("--traceback" in variant)


@pytest.mark.parametrize("name", [name for name in CASES if "output" not in name])
def test_check_refuses_it_alike(run, place, name):
    CASES[name].spoil(place)
    ran = run("check", "job.toml", "--traceback")
    assert ran.code == CASES[name].code
    assert CANARY not in ran.out + ran.err


@pytest.mark.parametrize("name", CASES)
def test_the_library_raises_it_without_quoting_a_record(place, name):
    CASES[name].spoil(place)
    with pytest.raises(rt.ReticentError) as caught:
        rt.publish(rt.Job.read("job.toml"), to="release")
    assert caught.value.exit_code == CASES[name].code
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_values_the_hierarchy_lacks_are_shown_on_request_only(run, place):
    lacking_two_rules(place)
    ran = run("publish", "job.toml", "-o", "release", "--show-values", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["error"]["values"] == [CANARY, CANARY + "2", CANARY]
    assert CANARY + "2" in ran.err
    assert "values" not in json.loads(run("publish", "job.toml", "-o", "release", "--json").out)["error"]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_frame_of_mixed_types_is_refused_without_quoting_it(kind):
    values = [20, 30, CANARY]
    if kind == "pandas":
        frame = pytest.importorskip("pandas").DataFrame({"age": values, "illness": ["a", "b", "c"]})
    else:
        frame = pl.DataFrame({"age": pl.Series(values, dtype=pl.Object), "illness": ["a", "b", "c"]})
    job = rt.Job(columns={"age": rt.quasi(), "illness": rt.sensitive()}, promises=[rt.KAnonymity(2)])
    with pytest.raises(rt.RequestError) as caught:
        rt.publish(job, frame=frame)
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_a_method_that_cannot_keep_a_promise_says_which_can(run, place, monkeypatch):
    from reticent.methods.mondrian import Mondrian
    from reticent.models.k_anonymity import KAnonymity

    monkeypatch.setattr(Mondrian, "keeps", (KAnonymity,))
    (place / "people.csv").unlink()  # refused before any data is read
    ran = run("publish", "job.toml", "-o", "release")
    assert ran.code == 1
    assert "mondrian cannot keep beta-likeness" in ran.err
    assert not Path("release").exists()
