"""Tables of other tools: a measure that needs what was not given is absent with the reason, and nothing goes unmentioned."""

from __future__ import annotations

import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from tests.support.peer_tables import MADE, TABLES, rows


def audited(name, *, hierarchies=True, source=False, table=None):
    quasi, trees, made_from = TABLES[name]
    return rt.audit(
        MADE / name if table is None else table,
        quasi=quasi,
        sensitive=["illness"],
        hierarchy=trees if hierarchies else None,
        source=MADE / made_from if source else None,
    )


@pytest.mark.parametrize("name", TABLES)
def test_without_a_hierarchy_the_loss_is_absent_and_says_why(name):
    _, trees, _ = TABLES[name]
    found = audited(name, hierarchies=False)
    (column,) = trees
    assert (found.utility["ail"], found.utility["precision"]) == (None, None)
    assert found.utility["ail_by_column"][column] is None
    assert f"No hierarchy of {column!r} is given" in found.notes[0]
    assert audited(name).utility["ail"] > 0


@pytest.mark.parametrize("hierarchies", [True, False])
@pytest.mark.parametrize("name", TABLES)
def test_entropy_is_never_negative(name, hierarchies):
    found = audited(name, hierarchies=hierarchies, source=True)
    entropy = found.utility["entropy"]
    assert entropy is None or entropy >= 0
    assert (entropy is None) == (found.source.unmatched > 0)
    assert any("entropy is not known" in note for note in found.notes) == (entropy is None)


def test_entropy_of_a_table_with_more_rows_than_its_source_is_not_known():
    table = pl.DataFrame({"age": ["[1, 9]"] * 6, "job": ["a", "b"] * 3})
    found = rt.audit(table, quasi=["age"], sensitive=["job"], source=pl.DataFrame({"age": [1, 2], "job": ["a", "b"]}))
    assert found.utility["entropy"] is None


def test_rows_of_the_source_that_the_table_lacks_are_withheld():
    name = "anjana_suppressed.csv"
    lacking = 240 - len(rows(name))
    assert lacking > 0
    found = audited(name, source=True)
    assert found.withheld == found.source.withheld == lacking
    assert found.utility["dm"] == found.utility["dm_star"] + lacking * 240
    unknown = audited(name)
    assert unknown.withheld is None
    assert unknown.to_dict()["withheld"] is None
    assert "an unknown number withheld" in str(unknown)


def test_a_near_unique_column_without_a_role_is_named(tmp_path, capsys):
    table = pl.read_csv(
        MADE / "arx.csv", separator=";" if ";" in (MADE / "arx.csv").read_text() else ",", infer_schema=False
    )
    table = table.with_columns(
        ssn=pl.Series([f"{i:09d}" for i in range(len(table))]), ward=pl.Series(["N", "S"] * (len(table) // 2))
    )
    found = audited("arx.csv", table=table)
    assert [entry["column"] for entry in found.carried if entry["column"] in ("ssn", "ward")] == ["ssn", "ward"]
    (said,) = [note for note in found.notes if "near-unique" in note]
    assert "'ssn' has no role and is near-unique: 240 of 240" in said
    table.write_csv(tmp_path / "t.csv")
    assert main(["audit", str(tmp_path / "t.csv"), "--quasi", "age,zip", "--sensitive", "illness"]) == 0
    out = capsys.readouterr().out
    assert "'ssn' has no role" in out
    assert "not known (see the notes)" in out


def test_an_identifying_column_that_stands_in_the_table_is_named():
    table = pl.DataFrame({"name": [f"p{i:04d}" for i in range(20)], "age": ["[1, 9]"] * 20, "job": ["a", "b"] * 10})
    columns = {"name": rt.identifying(), "age": rt.quasi(), "job": rt.sensitive()}
    assert any("'name' has no role and is near-unique" in note for note in rt.audit(table, columns=columns).notes)


def test_a_near_unique_column_of_the_source_is_still_a_leak_and_another_is_carried():
    source = pl.DataFrame(
        {
            "ssn": [f"12345{i:04d}" for i in range(20)],
            "ward": ["north", "south"] * 10,
            "age": [1, 9] * 10,
            "job": ["a", "b"] * 10,
        }
    )
    table = source.with_columns(age=pl.lit("[1, 9]")).sample(20, shuffle=True, seed=1)
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        table.write_csv(Path(folder) / "t.csv")
        found = rt.audit(Path(folder) / "t.csv", quasi=["age"], sensitive=["job"], source=source)
    assert [leak.column for leak in found.source.leaks] == ["ssn"]


def test_rows_that_show_nothing_are_counted():
    table = pl.DataFrame({"age": ["[1, 9]"] * 4 + ["*"] * 2, "zip": ["1"] * 4 + ["*"] * 2, "job": ["a", "b"] * 3})
    found = rt.audit(table, quasi=["age", "zip"], sensitive=["job"])
    assert any(note.startswith("2 rows show * in every quasi-identifier") for note in found.notes)
