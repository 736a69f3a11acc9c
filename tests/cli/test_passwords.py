"""No command tells a password: whatever takes a path, an address or a job is tried, as the registry of commands lists them."""

from __future__ import annotations

import importlib
import itertools
import json
import logging
from pathlib import Path
from typing import get_type_hints

import pytest

import reticent as rt
import reticent.data.database
import reticent.query.run  # all three are loaded before one is replaced, else they would keep the replacement
import reticent.release.export
from reticent.cli.commands import COMMANDS, build_parser
from reticent.redaction import redact
from tests.support.command_line import CITIES, JOB, Place, people, write_csv

SECRET = "hunter2Zq"
PASSWORDS = [SECRET, f"p@{SECRET}", f"{SECRET}/x@y", f"%40{SECRET}%2F", f"{SECRET} z", f"a:{SECRET}?b#c[", f"/{SECRET}"]
ADDRESSES = [f"postgresql://bob:{password}@host/people" for password in PASSWORDS]
ADDRESSES += [
    f"postgresql://bob:{SECRET}@host",
    f"mysql://:{SECRET}@h/x.csv",
    f"postgresql://host/people?password={SECRET}",
    f"postgresql:/bob:{SECRET}@host/people.csv",
    f"sqlite:///bob:{SECRET}@host/x.db",
]
FITTING = {"job": "job.toml", "output": "made", "method": "suppression", "question": "SELECT COUNT(*) FROM release",
           "table": "people", "url": "sqlite:///made.db", "release": "release", "data": "people.csv"}  # fmt: skip


def options(name: str) -> list[str]:
    """Every parameter of a command that takes a text or a path."""
    hints = get_type_hints(getattr(importlib.import_module(f"reticent.cli.{name}"), name))
    return [one for one, kind in hints.items() if one != "return" and kind not in (bool, int, int | None)]


def words(name: str, tried: str | None, address: str) -> list[str]:
    """A call of the command that is whole but for one parameter, which is the address."""
    found = [name]
    for one in build_parser().commands[name].params:
        if one.name not in (tried, *FITTING) or (one.name != tried and not one.required and one.name != "release"):
            continue
        value = address if one.name == tried else FITTING[one.name]
        found += [value] if one.param_type_name == "argument" else [one.opts[0], value]
    return found


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A place with a release, for all calls of this page."""
    folder = tmp_path_factory.mktemp("published")
    write_csv(folder / "people.csv", people())
    (folder / "city.csv").write_text("".join(f"{city};{part};*\n" for city, part in CITIES.items()))
    (folder / "job.toml").write_text(JOB)
    rt.publish(rt.Job.read(folder / "job.toml"), to=folder / "release", ledger=folder / "ledger")
    return Place(folder)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_tells_a_password(run, published, caplog, monkeypatch, name):
    monkeypatch.chdir(published.folder)
    for module in ("data.database", "query.run", "release.export"):
        monkeypatch.setattr(f"reticent.{module}.import_driver", refused)
    before = set(published.contents())
    for at, (tried, address) in enumerate(itertools.product(options(name), ADDRESSES[::3])):
        with caplog.at_level(logging.DEBUG):
            ran = run(*words(name, tried, address), *[[], ["--json", "--traceback"]][at % 2])
        assert SECRET not in ran.out + ran.err + caplog.text, (tried, address)
        for path in sorted(set(published.contents()) - before, reverse=True):
            assert SECRET not in path, (tried, address)
            found = published / path
            found.unlink() if found.is_file() else found.rmdir()


def refused(*_: object) -> None:
    """A driver that says all it knows."""
    raise RuntimeError(SECRET)


@pytest.mark.parametrize("address", ADDRESSES[::2])
@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("publish", "-o", "made"),
        ("publish", "-o", "made", "--batch-by", "city"),
        ("risk", "--job"),
        ("audit", "--job"),
        ("attack", "--job"),
    ],
)
def test_no_command_tells_the_password_of_a_job(run, place, caplog, monkeypatch, address, words):
    monkeypatch.setattr("reticent.data.database.import_driver", refused)
    for key in ("url", "path"):
        place.job(('path = "people.csv"', f"{key} = {json.dumps(address)}\n" + ('table = "x"' if key == "url" else "")))
        asked = (
            [words[0], "people.csv", *words[1:], "job.toml"] if "--job" in words else [words[0], "job.toml", *words[1:]]
        )
        with caplog.at_level(logging.DEBUG):
            ran = run(*asked, "--json", "--traceback")
        assert SECRET not in ran.out + ran.err + caplog.text
        assert ran.code != 70, ran.err
    assert not Path("made").exists()


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_stored_job_has_no_password_and_says_where_it_belongs(address):
    source = rt.Source(url=address, table="people")
    text = rt.Job(source=source, columns={"age": rt.quasi()}, promises=[rt.KAnonymity(2)]).to_toml()
    assert SECRET not in text
    assert "PGPASSFILE" in text


def test_a_job_may_refer_to_an_environment_variable(monkeypatch):
    from reticent.data.database import expand_environment

    url = "postgresql://bob:${CLINIC_PASSWORD}@host/people"
    job = rt.Job(source=rt.Source(url=url, table="x"), columns={"age": rt.quasi()}, promises=[rt.KAnonymity(2)])
    assert url in job.to_toml()
    assert "PGPASSFILE" not in job.to_toml()
    monkeypatch.setenv("CLINIC_PASSWORD", "a@b/c%")
    assert expand_environment(url) == "postgresql://bob:a%40b%2Fc%25@host/people"
    monkeypatch.delenv("CLINIC_PASSWORD")
    with pytest.raises(rt.RequestError, match="CLINIC_PASSWORD, which is not set"):
        expand_environment(url)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://host:5432/people",
        "postgresql://bob@host/x",
        "sqlite:////tmp/a.db",
        "Write to a@b.",
        "see https://example.org: or a@b",
        "age=3, name=x",
    ],
)
def test_what_holds_no_password_stays_as_it_is(text):
    assert redact(text) == text
