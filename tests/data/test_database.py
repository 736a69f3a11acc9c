"""Data where it lives: real servers and files, types preserved, nothing replaced, no password told."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import polars as pl
import pytest

import reticent as rt
from reticent.errors import OutputExists, SourceError
from tests.support.database_tables import people

CANARY = "canary-4711"


COLUMNS = {
    "age": rt.quasi(numeric=True),
    "weight": rt.quasi(numeric=True),
    "born": rt.quasi(type="date"),
    "city": rt.quasi(),
    "smokes": rt.insensitive(),
    "illness": rt.sensitive(),
}


def job(url: str, **where: str) -> rt.Job:
    return rt.Job(source=rt.Source(url=url, **where), columns=COLUMNS, promises=[rt.KAnonymity(4)])


def test_a_table_in_a_database_publishes_like_the_frame_it_holds(database):
    kind, url = database
    release = rt.publish(job(url, table="people"), seed=1)
    same = rt.publish(rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(4)]), frame=people(), seed=1)
    columns = ["age", "weight", "born", "city", "illness"]
    assert sorted(release.frame()[columns].rows(), key=str) == sorted(same.frame()[columns].rows(), key=str)
    if kind != "sqlite":  # which has neither dates nor booleans
        assert release.frame(bounds=True).schema == same.frame(bounds=True).schema


def test_the_server_of_the_tests_keeps_no_file_in_the_folder_that_pytest_closes_to_other_users(postgres):
    """A run of pytest, also one that a test starts, takes that folder from the server's user, and the server ends."""
    folder = Path(parse_qs(urlsplit(postgres).query)["host"][0])
    assert not any(part.startswith("pytest-of-") for part in folder.parts)


def test_a_query_may_choose_rows_and_columns(database):
    _, url = database
    release = rt.publish(
        rt.Job(
            source=rt.Source(url=url, query="SELECT age, illness FROM people WHERE age > 24"),
            columns={"age": rt.quasi(numeric=True), "illness": rt.sensitive()},
            promises=[rt.KAnonymity(3)],
        )
    )
    assert release.manifest.rows == people().filter(pl.col("age") > 24).height


def test_a_release_can_be_written_back_as_tables_with_its_manifest(database):
    kind, url = database
    release = rt.publish(job(url, table="people"))
    assert release.to_database(url, "released") == ["released", "released_manifest"]
    from reticent.data.database import read_database

    back = read_database(url, table="released")
    wanted = release.frame()
    if kind == "sqlite":
        wanted = wanted.with_columns(pl.col(pl.Boolean).cast(pl.Int64))
    assert back.schema == wanted.schema
    assert sorted(back.rows(), key=str) == sorted(wanted.rows(), key=str)
    assert '"k-anonymity"' in read_database(url, table="released_manifest")["manifest"][0]
    with pytest.raises(OutputExists, match="never replaced"):
        release.to_database(url, "released")


def test_a_wrong_table_is_an_error_that_quotes_no_password(database):
    kind, url = database
    if kind == "postgresql":
        url = url.replace("postgres:@", f"postgres:{CANARY}@")
    with pytest.raises(SourceError) as caught:
        rt.publish(job(url, table="nobody"))
    assert CANARY not in str(caught.value)


def test_a_stored_job_holds_no_password():
    assert CANARY not in job(f"postgresql://owner:{CANARY}@localhost/x", table="people").to_toml()


@pytest.mark.parametrize(
    ("url", "where", "said"),
    [
        ("oracle://x", {"table": "t"}, "not supported"),
        ("sqlite:////nowhere/x.db", {"table": "t"}, "no database file"),
        ("sqlite:////nowhere/x.db", {}, "table or a query"),
        ("sqlite:////nowhere/x.db", {"table": "t", "query": "SELECT 1"}, "not both"),
    ],
)
def test_a_wrong_address_says_what_is_wrong(url, where, said):
    with pytest.raises(SourceError, match=said):
        rt.publish(job(url, **where))
