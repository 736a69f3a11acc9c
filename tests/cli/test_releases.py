"""`reticent releases` and `reticent withdraw`."""

from __future__ import annotations

import json

from reticent.ledger.ledger import Ledger


def published(run) -> None:
    assert run("publish", "job.toml", "-o", "first").code == 0


def test_a_ledger_without_releases_is_no_error(run, place):
    ran = run("releases")
    assert (ran.code, ran.out) == (0, "The ledger knows no release.\n")
    assert json.loads(run("releases", "--json").out) == {"releases": []}


def test_the_list_has_a_line_for_each_release(run, place):
    published(run)
    said = run("releases").out
    assert "first" in said and "k-anonymity, beta-likeness" in said and "in place" in said
    (known,) = json.loads(run("releases", "--json").out)["releases"]
    assert {"release", "folder", "digest", "at", "user", "kind", "promises", "rows", "published"} <= set(known)
    assert {"withheld", "columns", "people", "source", "repeats", "state", "withdrawn", "counts"} <= set(known)
    assert known["source"] == str(place / "people.csv")


def test_one_release_is_shown_in_full(run, place):
    published(run)
    (known,) = json.loads(run("releases", "--json").out)["releases"]
    for name in ("first", known["digest"][:8]):
        assert known["digest"] in run("releases", name).out
    ran = run("releases", "second")
    assert ran.code == 1 and "knows no release 'second'" in ran.err


def test_what_a_shared_ledger_holds_cannot_steer_the_terminal(run, place):
    published(run)
    path = Ledger.open().folder / "ledger.jsonl"
    entry = json.loads(path.read_text())
    entry |= {
        "user": "\x1b[2Jmallory\r",
        "kind": 3,
        "source": ["x"],
        "release": "fi\x07rst",
        "promises": [1, {"model": "\x1b"}],
    }
    path.write_text(json.dumps(entry) + "\n")
    for words in (("releases",), ("releases", entry["digest"])):
        ran = run(*words)
        assert ran.code == 0
        assert not {"\x1b", "\r", "\x07"} & set(ran.out)
        assert "mallory" in ran.out


def test_withdrawing_says_what_it_undoes_and_what_not(run, place):
    published(run)
    said = run("withdraw", "first", "--reason", "wrong column").out
    assert "still counts" in said and "The folder stays where it is" in said and "Tell whoever has a copy" in said
    assert "withdrawn" in run("releases").out
    assert "wrong column" in run("releases", "first").out
    assert run("publish", "job.toml", "-o", "second").code == 5
    assert "withdrawn on" in run("audit", "first").out
    assert "withdrawn before" in run("withdraw", "first", "--reason", "again").err
    ran = run("withdraw", "first", "--reason", "a trial", "--never-handed-out", "--delete", "--json")
    (known,) = json.loads(ran.out)["withdrawn"]
    assert (known["counts"], known["state"]) == (False, "gone")
    assert not (place / "first").exists()
    assert run("publish", "job.toml", "-o", "second").code == 0
    said = run("withdraw", "first", "--reason", "a copy was found", "--handed-out").out
    assert "still counts" in said


def test_a_reason_is_asked_for(run, place):
    published(run)
    assert run("withdraw", "first").code == 1
    assert run("withdraw", "first", "--reason", " ").code == 1
    assert "in place" in run("releases").out


def test_a_person_is_asked_for_by_a_file_or_a_pipe_and_never_repeated(run, place, monkeypatch):
    import io

    published(run)
    (place / "persons.txt").write_text("p0003\n\n P 0007\nnobody\n")
    ran = run("releases", "--person", "persons.txt")
    assert ran.code == 0
    assert ran.out.count("in the rows of 1 release") == 2 and "Person 3: in the rows of 0 releases" in ran.out
    assert "p0003" not in ran.out + ran.err
    monkeypatch.setattr("sys.stdin", io.StringIO("p0003\n"))
    told = json.loads(run("releases", "--person", "-", "--json").out)
    assert [person["person"] for person in told["persons"]] == [1]
    assert told["persons"][0]["digests"] == [told["releases"][0]["digest"]]


def test_an_identifier_among_the_words_is_refused_without_repeating_it(run, place):
    published(run)
    ran = run("releases", "--person", "p0003")
    assert ran.code == 6
    assert "p0003" not in ran.out + ran.err and "others may see that" in ran.err
    (place / "empty.txt").write_text("\n")
    assert run("releases", "--person", "empty.txt").code == 1
    (place / "binary.txt").write_bytes(b"\xff\xfe\x00")
    assert run("releases", "--person", "binary.txt").code == 1
    (place / "persons.txt").write_text("p0003\n")
    assert run("releases", "first", "--person", "persons.txt").code == 1


def test_forget_writes_a_source_and_a_job_and_says_what_differencing_tells(run, place):
    published(run)
    (place / "persons.txt").write_text("p0003\nnobody\n")
    words = ("forget", "job.toml", "--person", "persons.txt", "-o", "less.csv", "--job-to", "less.toml")
    ran = run(*words)
    assert ran.code == 0
    assert "without 1 row of 1 person" in ran.out and "1 of them for certain" in ran.out
    assert "(number 2)" in ran.err
    assert "p0003" not in ran.out + ran.err
    assert run(*words).code == 1
    told = json.loads(run(*words, "--force", "--json").out)
    assert (told["removed_rows"], told["not_found"], told["differences"][0]["certain"]) == (1, [2], 1)
    assert run("publish", "less.toml", "-o", "second").code == 5
    assert run("publish", "less.toml", "-o", "second", "--again").code == 0
    assert run("forget", "job.toml", "-o", "x.csv").code == 1
