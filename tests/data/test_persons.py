"""Persons with several rows: counted by identifying columns, which are never published."""

import random
from collections import defaultdict

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.check import check
from reticent.data.passthrough import profile_columns
from reticent.errors import ColumnError, JobError
from tests.support.release_folders import resealed


def table(persons=80, most=3, seed=4):
    draw = random.Random(seed)
    rows = []
    for person in range(persons):
        for _ in range(draw.randint(1, most) if person else most):
            rows.append(
                (
                    f"person {person:03}",
                    f"house {person // 3:03}",
                    draw.randint(20, 60),
                    draw.choice(["flu", "cold", "gout"]),
                )
            )
    return pl.DataFrame(rows, schema=["person", "house", "age", "illness"], orient="row")


def job(most=3, k=4, **columns):
    declared = {
        "person": rt.identifying(rows_per_person=most),
        "house": rt.identifying(),
        "age": rt.quasi(),
        "illness": rt.sensitive(),
    }
    return rt.Job(columns={**declared, **columns}, promises=[rt.KAnonymity(k)])


def group_sizes(release):
    return release.frame().group_by("age").len()["len"].to_list()


def test_a_group_holds_k_times_the_rows_of_a_person():
    release = rt.publish(job(), frame=table())
    assert min(group_sizes(release)) >= 12
    found = rt.audit(release, source=table())
    assert found.kept
    assert found.achieved["k-anonymity"] == min(group_sizes(release)) // 3 >= 4


def methods():
    from reticent.methods.burel import Burel
    from reticent.methods.mosaic import Mosaic
    from reticent.methods.sabre import Sabre

    return [rt.Mondrian(), rt.Mondrian(cuts="median"), Burel(), Mosaic(effort="quick"), Sabre()]


@pytest.mark.parametrize("method", methods(), ids=lambda method: f"{method.name} {getattr(method, 'cuts', '')}")
def test_every_generalizing_method_counts_persons(method):
    about = rt.TCloseness("0.5") if method.name == "sabre" else rt.BetaLikeness(2)
    wanted = job().at(promises=[rt.KAnonymity(4), about], method=method)
    release = rt.publish(wanted, frame=table())
    assert min(group_sizes(release)) >= 12
    assert release.audited.kept


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 9)), min_size=8, max_size=60), st.integers(2, 3))
def test_every_group_holds_k_persons_by_counting_them(rows, k):
    """An age says who may be in a group: the persons behind it are counted from the source."""
    frame = pl.DataFrame([(f"p{p}", age, "flu") for p, age in rows], schema=["person", "age", "s"], orient="row")
    most = max(frame["person"].value_counts()["count"])
    assume(len(frame) >= k * most)
    columns = {"person": rt.identifying(rows_per_person=most), "age": rt.quasi(), "s": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(k)]), frame=frame)
    persons = defaultdict(set)
    for label, low, high in release.frame(bounds=True).select("age", "age_lower", "age_upper").unique().iter_rows():
        persons[label] |= set(frame.filter(pl.col("age").is_between(low, high))["person"])
    assert min(map(len, persons.values())) >= k


def test_the_manifest_and_the_readme_say_so():
    release = rt.publish(job(), frame=table())
    assert release.manifest.rows_per_person == 3
    readme = (release.folder / "README.md").read_text()
    assert "at most 3 rows per person" in readme
    assert "such a group has at least 12 rows, those of at least 4 persons" in readme
    assert "one row per person" not in readme


def test_a_forged_declaration_is_judged_by_the_rows(tmp_path):
    rt.publish(job(), frame=table()).save(tmp_path / "release")
    folder = tmp_path / "release"
    resealed(folder, lambda stated: stated.update(rows_per_person=50))
    assert rt.audit(folder).kept is False


def test_identifying_columns_are_never_published():
    release = rt.publish(job(), frame=table())
    assert release.frame().columns == ["age", "illness"]
    assert not any(
        b"person 0" in path.read_bytes() or b"house 0" in path.read_bytes() for path in release.folder.iterdir()
    )


def test_a_person_with_more_rows_than_declared_is_refused_unnamed():
    with pytest.raises(ColumnError, match="at most 2 rows per person, and one has 3") as caught:
        rt.publish(job(most=2), frame=table())
    assert "person 0" not in str(caught.value)
    with pytest.raises(ColumnError, match="at most 2"):
        check(job(most=2), frame=table())


def test_a_missing_person_cannot_be_counted():
    frame = table().with_columns(pl.when(pl.int_range(pl.len()) > 1).then("person").alias("person"))
    with pytest.raises(ColumnError, match="missing in 2 rows"):
        rt.publish(job(), frame=frame)


def test_a_repeating_column_without_a_declaration_is_noticed():
    columns = {"person": rt.identifying()}
    release = rt.publish(job(**columns), frame=table())
    assert any("'person' repeats, up to 3 times" in notice for notice in release.notices)
    assert "rows_per_person" not in release.manifest.to_dict()
    assert any("'person' repeats" in warning for warning in check(job(**columns), frame=table(), methods=[]).warnings)


def test_where_every_row_is_a_person_s_own_there_is_nothing_to_notice():
    frame = table().with_columns(person=pl.int_range(pl.len()))
    assert rt.publish(job(person=rt.identifying()), frame=frame).notices == ()


def test_an_opened_release_has_no_notices(tmp_path):
    rt.publish(job(person=rt.identifying()), frame=table()).save(tmp_path / "release")
    assert rt.open(tmp_path / "release").notices == ()


def test_a_household_is_protected_as_a_whole_where_its_rows_are_declared():
    columns = {"person": rt.identifying(rows_per_person=3), "house": rt.identifying(rows_per_person=9)}
    release = rt.publish(job(**columns), frame=table())
    assert release.manifest.rows_per_person == 9
    assert min(group_sizes(release)) >= 36


@pytest.mark.parametrize("most", [0, -1, 2.5, "3", True])
def test_the_most_rows_of_a_person_are_a_number(most):
    with pytest.raises(JobError):
        rt.identifying(rows_per_person=most)


def test_nothing_is_read_where_nothing_stands_beside_the_cells():
    def broken(_):
        raise AssertionError

    lazy = table().lazy().map_batches(broken)
    assert profile_columns(lazy, {"age": rt.quasi(), "illness": rt.sensitive()}).rows_per_person == 1
