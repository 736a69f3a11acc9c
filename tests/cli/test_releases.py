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
