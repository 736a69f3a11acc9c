"""A table of 800 columns, declared by patterns."""

import polars as pl
import pytest

import reticent as rt
from reticent.errors import ColumnError


def table(rows=300):
    columns = {f"item_{i:03}": [(row * (i + 3)) % 4 for row in range(rows)] for i in range(780)}
    columns |= {f"geo_{i}": [(row * (i + 1)) % 5 for row in range(rows)] for i in range(4)}
    columns |= {f"id_{i}": [f"{i}/{row}" for row in range(rows)] for i in range(15)}
    return pl.DataFrame({**columns, "illness": [("flu", "cold", "gout")[row % 3] for row in range(rows)]})


COLUMNS = {
    "item_*": rt.insensitive(),
    "item_00[0-2]": rt.quasi(),
    "geo_?": rt.quasi(),
    "id_*": rt.identifying(),
    "illness": rt.sensitive(),
}


def test_800_columns_are_published_by_five_lines():
    columns = {**COLUMNS, **{f"item_00{i}": rt.quasi() for i in range(3)}}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(5)]), frame=table())
    roles = [column.role for column in release.columns]
    assert (roles.count("quasi-identifying"), roles.count("insensitive"), roles.count("sensitive")) == (7, 777, 1)
    assert not [name for name in release.frame().columns if name.startswith("id_")]
    assert release.audited.kept


def test_an_exact_name_has_the_last_word_over_a_pattern():
    columns = {**COLUMNS, "item_007": rt.identifying()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(5)]), frame=table())
    assert "item_007" not in release.frame().columns


def test_a_column_that_no_pattern_fits_is_refused_or_dropped():
    frame = table().with_columns(surprise=pl.lit(1))
    job = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(5)])
    with pytest.raises(ColumnError, match="'surprise'"):
        rt.publish(job, frame=frame)
    assert "surprise" not in rt.publish(job.at(release=rt.Output(undeclared="drop")), frame=frame).frame().columns


def test_patterns_survive_a_job_file():
    import tomllib

    job = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(5)])
    assert rt.Job.from_dict(tomllib.loads(job.to_toml())).columns == COLUMNS
