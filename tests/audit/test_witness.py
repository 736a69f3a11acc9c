"""The owner's witness of who is in which group: honest releases are decided by it, forged ones never pass by it, nobody else reads it."""

from __future__ import annotations

import os
import shutil
import stat
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.audit import group_assignment
from reticent.audit.group_assignment import ASSIGNMENT_EXISTS, ASSIGNMENT_UNDECIDED, PairTally, is_assignment
from reticent.batches import publish_batches
from reticent.format.data_writer import write_data
from reticent.ledger.paths import resolve_ledger_folder, resolve_notes_folder
from reticent.ledger.storage import read_key
from reticent.ledger.witness import WITNESS, decrypt_witness, encrypt_witness
from tests.support.associations import FORGERIES, ILLNESSES, is_assignable, make_people, people_of
from tests.support.audit_comparison import in_parts
from tests.support.release_folders import resealed

COLUMNS = {"age": rt.quasi(), "salary_class": rt.sensitive()}


def census(rows: int = 2_000, columns: tuple[str, ...] = ("age",), seed: int = 1) -> pl.DataFrame:
    return rt.datasets.load("census", rows=rows, seed=seed).select(*columns, "salary_class")


def make_job(diversity: int = 5, columns: dict | None = None, **options) -> rt.Job:
    promises = [rt.ProbabilisticLDiversity(diversity)]
    return rt.Job(columns=columns or COLUMNS, promises=promises, method=rt.Anatomy(), **options)


def assignment(folder: Path, source: object) -> tuple[str, str]:
    audit = rt.audit(folder, source=source)
    return audit.verdict, audit.source.to_dict()["assignment"]


def witness_of(folder: Path) -> Path:
    return resolve_notes_folder(folder) / WITNESS


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return census()


@pytest.fixture
def release(people, tmp_path) -> Path:
    """A release whose groups no search finds an assignment for."""
    rt.publish(make_job(), frame=people, to=tmp_path / "release", seed=1)
    return tmp_path / "release"


@pytest.mark.parametrize("diversity", [5, 10])
@pytest.mark.parametrize(("rows", "quasi"), [(2_000, ("age",)), (20_000, ("age", "education"))])
def test_an_honest_release_of_middling_density_is_kept(rows, quasi, diversity, tmp_path):
    source = census(rows, quasi, seed=diversity)
    columns = {**dict.fromkeys(quasi, rt.quasi()), "salary_class": rt.sensitive()}
    rt.publish(make_job(diversity, columns), frame=source, to=tmp_path / "release", seed=diversity)
    assert assignment(tmp_path / "release", source) == ("kept", ASSIGNMENT_EXISTS)


def test_without_the_witness_it_is_undecided_and_said_how_to_decide_it(release, people):
    witness_of(release).unlink()
    audit = rt.audit(release, source=people)
    assert (audit.verdict, audit.source.to_dict()["assignment"]) == ("undecided", ASSIGNMENT_UNDECIDED)
    assert "could not be decided" in str(audit) and "RETICENT_LEDGER" in str(audit) and "owner's notes" in str(audit)


@pytest.mark.parametrize("options", [{}, {"release": rt.Output(format="csv")}, {"release": rt.Output(part_rows=1_000)}])
def test_rows_that_were_withheld_repeat_or_carry_columns_are_counted_in_parts_too(options, people, tmp_path):
    source = people.with_row_index("row").select(
        "age",
        (pl.col("row") % 7).cast(pl.Int64).alias("ward"),
        pl.when(pl.col("row") % 10 < 3)
        .then(pl.lit(7))
        .otherwise(pl.col("salary_class").cast(pl.Int64))
        .alias("salary_class"),
    )
    for name, columns in {"plain": COLUMNS, "carried": {**COLUMNS, "ward": rt.insensitive()}}.items():
        table = source.select(*columns)
        table.write_parquet(tmp_path / f"{name}.parquet")
        job = make_job(5, columns, prepare=[rt.Suppression(l=5)], **options)
        published = rt.publish(job, frame=table, to=tmp_path / name, seed=2, again=True)
        assert published.manifest.withheld > 0
        assert assignment(tmp_path / name, table) == ("kept", ASSIGNMENT_EXISTS)
        with in_parts():
            assert assignment(tmp_path / name, tmp_path / f"{name}.parquet") == ("kept", ASSIGNMENT_EXISTS)


def test_more_than_256_values_and_every_engine(tmp_path):
    draw = np.random.default_rng(5)
    source = pl.DataFrame({"age": draw.integers(20, 60, 4_000), "salary_class": draw.integers(0, 300, 4_000)})
    source.write_parquet(tmp_path / "source.parquet")
    for engine in ("local", "stream"):
        job = make_job(3, source=rt.Source(path=str(tmp_path / "source.parquet")))
        rt.publish(job, to=tmp_path / engine, seed=1, again=True, engine=engine)
        content = witness_of(tmp_path / engine).read_bytes()
        assert decrypt_witness(content, read_key(resolve_ledger_folder()), 2 * 4_000) is not None
        assert assignment(tmp_path / engine, source) == ("kept", ASSIGNMENT_EXISTS)


def test_a_release_that_is_saved_later_and_batches_have_one(people, tmp_path):
    rt.publish(make_job(), frame=people, seed=1).save(tmp_path / "saved")
    assert assignment(tmp_path / "saved", people) == ("kept", ASSIGNMENT_EXISTS)
    wards = people.with_columns(ward=pl.Series(["east", "west"] * 1_000))
    publish_batches(
        make_job(release=rt.Output(undeclared="drop")), "ward", tmp_path / "batches", frame=wards, seed=1, again=True
    )
    folders = [path.parent for path in (tmp_path / "batches").rglob("manifest.json")]
    assert len(folders) == 2
    for folder in folders:
        ward = wards.filter(ward="east" if "east" in folder.name else "west")
        assert assignment(folder, ward) == ("kept", ASSIGNMENT_EXISTS)


def test_only_the_owner_can_read_it_and_only_with_the_ledgers_secret(release, people, monkeypatch, tmp_path):
    path = witness_of(release)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not any("witness" in name.name for name in release.rglob("*"))
    content = path.read_bytes()
    key = read_key(resolve_ledger_folder())
    assert len(zlib.compress(content, 9)) >= len(content)  # no structure is seen in it
    assert len(decrypt_witness(content, key, len(people))) == len(people)
    assert decrypt_witness(content, bytes(32), len(people)) is None
    assert encrypt_witness(b"the same", key) != encrypt_witness(b"the same", key)
    other = pl.DataFrame({"age": [1, 1, 2, 3, 3, 3], "salary_class": list("acbabb")})
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "another"))
    rt.publish(make_job(2), frame=other, to=tmp_path / "other", seed=1)
    assert assignment(release, people)[1] == ASSIGNMENT_UNDECIDED


def plant_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def plant_link(path: Path) -> None:
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


def plant_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


PLANTED = {
    "nothing in it": lambda path: path.write_bytes(b""),
    "noise": lambda path: path.write_bytes(np.random.default_rng(1).bytes(1_000)),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "a bit that flipped": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\x00"),
    "a bomb": lambda path: path.write_bytes(encrypt_witness(bytes(1 << 28), read_key(resolve_ledger_folder()))),
    "all of one value": lambda path: path.write_bytes(encrypt_witness(bytes(2_000), read_key(resolve_ledger_folder()))),
    "values that are none": lambda path: path.write_bytes(
        encrypt_witness(b"\xff" * 2_000, read_key(resolve_ledger_folder()))
    ),
    "a pipe": plant_pipe,
    "a link": plant_link,
    "an endless device": plant_device,
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("what", PLANTED)
def test_a_witness_that_is_wrong_is_as_none(what, release, people):
    PLANTED[what](witness_of(release))
    audit = rt.audit(release, source=people)
    assert (audit.verdict, audit.source.to_dict()["assignment"]) == ("undecided", ASSIGNMENT_UNDECIDED)
    assert ("does not fit" in str(audit)) == (what == "all of one value")


@pytest.mark.parametrize("what", FORGERIES["anatomized"])
def test_no_forged_association_passes_by_the_witness_of_the_honest_release(what, tmp_path, monkeypatch):
    """Nothing is searched: what is not undecided was decided by the witness, or refuted at once."""
    monkeypatch.setattr(group_assignment, "_decide", lambda problem, max_rows: ASSIGNMENT_UNDECIDED)
    draw = np.random.default_rng(len(what))
    columns = {"age": rt.quasi(), "zone": rt.quasi(), "illness": rt.sensitive(order=list(ILLNESSES))}
    outcomes = Counter()
    folder = tmp_path / "release"
    for seed in range(12):
        source = make_people(draw)
        try:
            honest = rt.publish(make_job(2, columns), frame=source, to=folder, seed=seed, again=True, force=True)
        except rt.PromiseUnreachable:
            continue
        tables = dict(honest.tables)
        assert assignment(folder, source) == ("kept", ASSIGNMENT_EXISTS)
        forged = FORGERIES["anatomized"][what](tables, draw)
        if forged is None:
            continue
        forged = {**tables, **forged}
        kept = resolve_notes_folder(folder) / WITNESS
        witness = kept.read_bytes()
        for name, frame in forged.items():
            write_data(folder / f"{name}.parquet", frame, "parquet")
        resealed(folder)
        resolve_notes_folder(folder).mkdir(exist_ok=True)
        kept.write_bytes(witness)
        possible = is_assignable(people_of(source), forged)
        found = rt.audit(folder, source=source)
        outcomes[possible] += 1
        assert possible or found.source.to_dict()["assignment"] != ASSIGNMENT_EXISTS
        shutil.rmtree(folder)
    assert outcomes[False] > 0, outcomes


def test_what_is_counted_is_every_row_every_listed_value_and_every_person():
    people = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 1)]
    rows = [(0, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0)]

    def tally(pairs: list[tuple[int, int]]) -> PairTally:
        first, second = np.array(pairs).T
        return PairTally.add_up(first, second, np.ones(len(first), np.int64))

    published = tally([row[:2] for row in rows])
    listed = tally([row[1:] for row in rows])

    def confirmed(claimed: list[tuple[int, int, int]]) -> bool:
        return is_assignment(published, listed, tally(people), *np.array(claimed).T)

    assert confirmed(rows) and confirmed(rows[::-1])
    assert not confirmed(rows[:-1]) and not confirmed([*rows, rows[0]])
    assert not confirmed([(0, 0, 1), (1, 0, 1), (1, 1, 1), (1, 1, 0)])  # the group lists 0 and 1
    assert not confirmed([(1, 0, 0), (0, 0, 1), (1, 1, 1), (1, 1, 0)])  # one person of combination 1 has value 0
    assert not confirmed([(0, 0, 0), (1, 1, 1), (1, 1, 1), (1, 0, 0)])
