"""Ends that were rounded or moved may equal a withheld value by chance; an end that stands where nobody moved it is still found."""

from datetime import date

import polars as pl
import pytest

import reticent as rt
from reticent.data.label_grammar import parse_label
from reticent.errors import BundleDamaged
from reticent.format.data_writer import write_data
from tests.support.release_folders import resealed

PEOPLE = pl.DataFrame(
    {"age": [22 + 2 * (at * 7 % 26) for at in range(60)], "town": ["Ulm", "Bonn", "Kiel"] * 20, "s": ["x", "y"] * 30}
)
STYLES = {"padded": {"style": "padded", "width": 3}, "snapped": {"style": "snapped", "step": 5}, "tight": "tight"}


def made(folder, style):
    columns = {"age": rt.quasi(numeric=True, labels=STYLES[style]), "town": rt.quasi(), "s": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(4)])
    return rt.publish(job, frame=PEOPLE, to=folder / "release", seed=3).folder


def with_withheld(folder, age):
    """The release says that one row more was withheld; the source has it, with this age."""
    resealed(folder, lambda stated: stated.update(withheld=stated["withheld"] + 1))
    return pl.concat([PEOPLE, pl.DataFrame({"age": [age], "town": ["Ulm"], "s": ["x"]})])


def ends_of(folder):
    labels = rt.open(folder).frame()["age"].unique()
    return sorted(int(end) for label in labels if parse_label(label)[0] == "range" for end in parse_label(label)[1])


def leaks(folder, source):
    return {(leak.column, leak.file) for leak in rt.audit(folder, source=source).source.leaks}


def reach(folder, age):
    """Every label that ends last ends at this age."""
    frame = pl.read_parquet(folder / "data.parquet")
    last = ends_of(folder)[-1]
    write_data(
        folder / "data.parquet",
        frame.with_columns(pl.col("age").str.replace(f", {last}]", f", {age}]", literal=True)),
        "parquet",
    )


@pytest.mark.parametrize("style", ["padded", "snapped"])
@pytest.mark.parametrize("side", [0, -1])
def test_a_withheld_value_that_equals_a_moved_end_is_no_leak(tmp_path, style, side):
    folder = made(tmp_path, style)
    moved = [end for end in ends_of(folder) if end not in PEOPLE["age"].to_list()]
    assert leaks(folder, with_withheld(folder, moved[side])) == set()


@pytest.mark.parametrize("style", STYLES)
def test_a_domain_that_ends_at_a_withheld_value_where_no_label_ends_is_found(tmp_path, style):
    folder = made(tmp_path, style)
    source = with_withheld(folder, 97)
    assert leaks(folder, source) == set()
    resealed(folder, lambda stated: stated["columns"][0]["domain"].__setitem__(1, 97))
    assert leaks(folder, source) == {("age", "manifest.json")}


def test_a_tight_label_that_ends_at_a_withheld_value_is_found(tmp_path):
    folder = made(tmp_path, "tight")
    source = with_withheld(folder, 97)
    reach(folder, 97)
    resealed(folder)
    assert ("age", "data") in leaks(folder, source)


def test_a_label_beyond_the_declared_step_is_refused_whatever_it_equals(tmp_path):
    folder = made(tmp_path, "snapped")
    source = with_withheld(folder, 97)
    reach(folder, 97)
    resealed(folder)
    with pytest.raises(BundleDamaged, match="not end on the step that the manifest says"):
        rt.audit(folder, source=source)


def test_a_range_that_ends_with_the_last_day_of_the_calendar_is_published(tmp_path):
    """31 December 9999 is a usual mark for "until now": there is no next day at which a step could begin."""
    days = [date(2020, 1, 5), date(2020, 2, 7), date(9999, 12, 30), date(9999, 12, 31)] * 3
    columns = {"until": rt.quasi(type="date", labels={"style": "snapped", "step": "month"}), "s": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(6)])
    frame = pl.DataFrame({"until": days, "s": ["x", "y"] * 6})
    release = rt.publish(job, frame=frame, to=tmp_path / "release", seed=3)
    assert "[9999-12-01, 9999-12-31]" in release.frame()["until"].to_list()
    assert rt.audit(release).kept
