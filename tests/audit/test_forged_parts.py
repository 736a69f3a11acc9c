"""Parts that somebody swapped, left out, doubled, moved rows between or renamed, sealed again: each is refused, or told from the source."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

import reticent as rt
from reticent.errors import AuditFailed, BundleDamaged
from reticent.release import bundle
from reticent.release.files import write_data
from tests.audit.releases import resealed
from tests.audit.test_forgeries import METHODS

KINDS = {"generalized": "data", "anatomized": "quasi", "perturbed": "data"}
FORMATS = ["parquet", "csv"]
ROWS, PART = 2_400, 1_000


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    found = rt.datasets.load("census", rows=ROWS, seed=3).select("age", "education", "gender", "salary_class")
    return found.sort("age", "salary_class")


@pytest.fixture(scope="module")
def made(people, tmp_path_factory) -> Callable[..., Path]:
    """Honest releases in parts of 1,000, 1,000 and 400 rows, made once."""
    place, known = tmp_path_factory.mktemp("parts"), {}

    def of(kind: str, format: str, target: Path, seed: int = 1) -> Path:
        if (kind, format, seed) not in known:
            method, promises = METHODS[kind]
            job = rt.Job(
                columns={"age": rt.quasi(), "education": rt.quasi(), "salary_class": rt.sensitive(), "gender": rt.insensitive()},
                promises=promises, method=method, release=rt.Output(format=format, part_rows=PART),
            )  # fmt: skip
            to = place / f"{kind}-{format}-{seed}"
            known[kind, format, seed] = rt.publish(job, frame=people, to=to, seed=seed, again=True).folder
        return shutil.copytree(known[kind, format, seed], target)

    return of


def part(folder: Path, number: int) -> Path:
    """A part of the table that people are in."""
    name = "quasi" if any(folder.glob("quasi-*")) else "data"
    return next(iter(folder.glob(f"{name}-00000.*"))).with_stem(f"{name}-{number:05d}")


def exchanged(one: Path, other: Path) -> None:
    held = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(held)


def rows_of(path: Path, folder: Path) -> pl.DataFrame:
    table = rt.open(folder).tables[path.stem.partition("-")[0]]
    return table.slice(int(path.stem[-5:]) * PART, PART)


def moved(folder: Path) -> None:
    """A row of the second part stands in the first."""
    first, second = part(folder, 0), part(folder, 1)
    one, other = rows_of(first, folder), rows_of(second, folder)
    write_data(first, pl.concat([one, other.head(1)]), first.suffix[1:])
    write_data(second, other.slice(1), second.suffix[1:])


def renamed_column(folder: Path) -> None:
    path = part(folder, 1)
    write_data(path, rows_of(path, folder).rename({"education": "educations"}), path.suffix[1:])


def other_order_of_columns(folder: Path) -> None:
    path = part(folder, 1)
    frame = rows_of(path, folder)
    write_data(path, frame.select(reversed(frame.columns)), path.suffix[1:])


def listed(change: Callable[[list[str]], list[str]]) -> Callable[[dict[str, Any]], None]:
    def rewrite(stated: dict[str, Any]) -> None:
        stated["data"] = change(stated["data"])

    return rewrite


def without(folder: Path, number: int) -> Callable[[dict[str, Any]], None]:
    gone = part(folder, number)
    gone.unlink()
    return listed(lambda data: [name for name in data if name != gone.name])


def renumbered(folder: Path, number: int, to: str) -> Callable[[dict[str, Any]], None]:
    path = part(folder, number)
    new = path.with_stem(to.format(path.stem.partition("-")[0]))
    path.rename(new)
    return listed(lambda data: [new.name if name == path.name else name for name in data])


def added(folder: Path) -> Callable[[dict[str, Any]], None]:
    last = part(folder, 3)
    shutil.copy(part(folder, 1), last)
    at = part(folder, 2).name
    return listed(lambda data: [one for name in data for one in ([name, last.name] if name == at else [name])])


Forged = Callable[[Path], Any]
REFUSED: dict[str, tuple[Forged, str]] = {
    "the first and the last swapped": (lambda f: exchanged(part(f, 0), part(f, 2)), "cut into parts of 1,000"),
    "the second left out": (lambda f: without(f, 1), "gap"),
    "the last left out": (lambda f: without(f, 2), "not cut as its manifest says"),
    "the first left out": (lambda f: without(f, 0), "gap"),
    "a further one": (added, "not cut as its manifest says"),
    "a row too many beside one too few": (moved, "cut into parts of 1,000"),
    "a column by another name": (renamed_column, "other columns"),
    "columns in another order": (other_order_of_columns, "other columns"),
    "a gap in the numbers": (lambda f: renumbered(f, 2, "{}-00003"), "gap"),
    "a number of four digits": (lambda f: renumbered(f, 2, "{}-0002"), "gap|has the files"),
    "one without a number": (lambda f: renumbered(f, 0, "{}"), "gap"),
    "listed in another order": (lambda f: listed(lambda data: [data[1], data[0], *data[2:]]), "gap"),
    "listed twice": (lambda f: listed(lambda data: [data[0], data[0], *data[2:]]), "gap"),
    "no number of rows stated": (lambda f: lambda stated: stated.pop("part_rows"), "not cut as its manifest says"),
    "another number of rows": (lambda f: lambda stated: stated.update(part_rows=1_100), "cut into parts of 1,100"),
    "a number of rows for other parts": (lambda f: lambda s: s.update(part_rows=1_200), "not cut as its manifest says"),
    "parts of few rows": (lambda f: lambda stated: stated.update(part_rows=999), "a part may have"),
    "parts of no rows": (lambda f: lambda stated: stated.update(part_rows=0), "a part may have"),
    "parts of true": (lambda f: lambda stated: stated.update(part_rows=True), "no number of rows"),
    "an empty part": (lambda f: write_data(part(f, 2), rows_of(part(f, 2), f).head(0), part(f, 2).suffix[1:]), "cut into"),
}  # fmt: skip
"""Sealed again, with README and checksums made right: refused by whoever opens the folder."""


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_honest_release_in_parts_passes_whole(kind, format, made, people, tmp_path):
    found = rt.audit(made(kind, format, tmp_path / "release"), source=people)
    assert found.kept is True and found.source.passed, str(found)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_parts_that_are_not_those_of_their_manifest_are_refused_by_whoever_opens_them(kind, format, made, tmp_path):
    wrong = {}
    for number, (name, (forge, says)) in enumerate(REFUSED.items()):
        folder = made(kind, format, tmp_path / str(number))
        change = forge(folder)
        resealed(folder, change or (lambda stated: None))
        for read in (rt.open, rt.audit):
            try:
                read(folder)
                wrong[name] = "accepted"
            except BundleDamaged as error:
                if not any(word in str(error) for word in says.split("|")):
                    wrong[name] = str(error)
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_other_types_are_refused_though_they_would_be_read_as_one_another(kind, made, tmp_path):
    """Whole numbers of another width in one part: no value differs, and a reader of several files stumbles."""
    folder = made(kind, "parquet", tmp_path / "release")
    path = part(folder, 1)
    frame = rows_of(path, folder)
    whole = next((name for name in frame.columns if frame[name].dtype.is_integer()), None)
    if whole is None:  # a generalized release has texts alone
        assert set(frame.dtypes) == {pl.String}
        return
    write_data(path, frame.with_columns(pl.col(whole).cast(pl.Int16)), "parquet")
    resealed(folder)
    with pytest.raises(BundleDamaged, match="than the part before it"):
        rt.open(folder)


def test_a_header_in_another_spelling_is_refused(made, tmp_path):
    folder = made("generalized", "csv", tmp_path / "release")
    path = part(folder, 1)
    raw = path.read_bytes()
    path.write_bytes(b'"age"' + raw[3:])
    resealed(folder)
    with pytest.raises(BundleDamaged, match=r"data-00001\.csv is not written as reticent writes it"):
        rt.audit(folder)


CHANGED: dict[str, tuple[Callable[[Path, Path], Any], str]] = {
    "swapped": (lambda f, other: exchanged(part(f, 0), part(f, 1)), "not the file that was published"),
    "missing": (lambda f, other: part(f, 1).unlink(), "is missing"),
    "doubled": (lambda f, other: shutil.copy(part(f, 0), part(f, 1)), "not the file that was published"),
    "of another release": (lambda f, other: shutil.copy(part(other, 1), part(f, 1)), "not the file that was published"),
    "a further one": (lambda f, other: shutil.copy(part(f, 1), part(f, 3)), "does not belong"),
    "the whole beside": (
        lambda f, other: shutil.copy(part(f, 0), part(f, 0).with_stem(part(f, 0).stem[:-6])),
        "does not belong",
    ),
    "a link": (lambda f, other: [part(f, 1).unlink(), part(f, 1).symlink_to(part(f, 0))], "a symbolic link"),
    "a link to its like": (
        lambda f, other: [part(f, 1).unlink(), part(f, 1).symlink_to(part(other, 1))],
        "a symbolic link",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_that_was_changed_without_the_manifest_is_refused(kind, made, tmp_path):
    other = made(kind, "parquet", tmp_path / "other", seed=2)
    for number, (forge, says) in enumerate(CHANGED.values()):
        folder = made(kind, "parquet", tmp_path / str(number))
        forge(folder, other)
        with pytest.raises(BundleDamaged, match=says):
            rt.open(folder)


@pytest.mark.parametrize("name", ["doubled", "of another release"])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_another_part_or_release_are_told_from_the_source(name, kind, made, people, tmp_path):
    folder, other = made(kind, "parquet", tmp_path / "release"), made(kind, "parquet", tmp_path / "other", seed=2)
    CHANGED[name][0](folder, other)
    resealed(folder)
    try:
        found = rt.audit(folder, source=people)
    except AuditFailed:
        return
    assert found.kept is False and found.source.unmatched


@pytest.mark.parametrize("kind", KINDS)
def test_a_last_part_that_was_left_out_and_never_stated_is_told_from_the_source(kind, made, people, tmp_path):
    """With its rows taken from the manifest the folder is a smaller release: it says that nobody was withheld."""
    folder = made(kind, "parquet", tmp_path / "release")
    change = without(folder, 2)
    resealed(folder, lambda stated: [change(stated), stated.update(rows=2 * PART)])
    try:
        found = rt.audit(folder, source=people)
    except AuditFailed:
        return
    assert found.kept is False


def test_rows_are_sorted_across_parts(made, tmp_path):
    """Two whole parts swapped, sealed again: of rows that are sorted by all they show, no other order is one."""
    folder = made("anatomized", "parquet", tmp_path / "release")
    exchanged(part(folder, 0), part(folder, 1))
    resealed(folder)
    with pytest.raises(BundleDamaged, match="not sorted by all that they show"):
        rt.audit(folder)


@pytest.mark.parametrize("kind", ["generalized", "perturbed"])
def test_of_shuffled_rows_a_digest_tells_parts_that_were_swapped(kind, made, people, tmp_path):
    """Any order of rows is as good as another; whoever knows the digest knows that it is another folder."""
    folder = made(kind, "parquet", tmp_path / "release")
    digest = bundle.digest(folder)
    exchanged(part(folder, 0), part(folder, 1))
    resealed(folder)
    assert rt.audit(folder, source=people).source.passed
    with pytest.raises(BundleDamaged, match="not the one expected"):
        rt.audit(folder, expect_digest=digest)


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_in_the_footer_of_a_later_part_is_refused(kind, made, tmp_path):
    folder = made(kind, "parquet", tmp_path / "release")
    path = part(folder, 2)
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({"note": "Canary-00001"}), path, compression="lz4")
    resealed(folder)
    with pytest.raises(BundleDamaged, match="texts beside the columns"):
        rt.open(folder)


def test_a_value_that_no_row_has_in_the_dictionary_of_a_part_is_found(made, people, tmp_path):
    import pyarrow as pa

    folder = made("generalized", "parquet", tmp_path / "release")
    path = part(folder, 1)
    table = pq.read_table(path, read_dictionary=["gender"])
    column = table.column("gender").combine_chunks()
    more = pa.DictionaryArray.from_arrays(
        column.indices, pa.concat_arrays([column.dictionary, pa.array(["Canary-00001"])])
    )
    table = table.set_column(table.column_names.index("gender"), "gender", more)
    pq.write_table(table, path, compression="lz4", store_schema=False, write_statistics=False)
    resealed(folder)
    found = rt.audit(folder, source=people)
    assert ("gender", path.name, 1) in [(leak.column, leak.file, leak.values) for leak in found.source.leaks]
    assert found.kept is False
