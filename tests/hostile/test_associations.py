"""Forged associations of every kind against the source: refused exactly where brute force finds no way that they can be true."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.errors import BundleDamaged, PromiseUnreachable
from reticent.format.data_writer import write_data
from tests.support import associations
from tests.support.associations import FORGERIES, ILLNESSES, POSSIBLE, Tables
from tests.support.release_folders import resealed

TABLES = int(os.environ.get("HOSTILE_EXAMPLES", 12)) if os.environ.get("HOSTILE") == "all" else 12
EACH = 3  # forgeries of a kind that a table is tried with
CASES = [(kind, what) for kind, forgeries in FORGERIES.items() for what in forgeries]
METHODS = {
    "generalized": (rt.Mondrian(), rt.KAnonymity(2)),
    "anatomized": (rt.Anatomy(), rt.ProbabilisticLDiversity(2)),
    "perturbed": (rt.BetaPerturbation(), rt.BetaLikeness(4)),
    "transformed": (rt.Distribution(group_by=["zone"], fakes=6), rt.PPrivacy("uniform")),
    "sampled": (rt.PerturbedGeneralization(k=2), rt.DeltaGrowth(delta="0.9", lambda_="0.5")),
}


def publish(kind: str, people: pl.DataFrame, seed: int) -> rt.Release | None:
    method, promise = METHODS[kind]
    columns = {"age": rt.quasi(), "zone": rt.quasi(), "illness": rt.sensitive(order=list(ILLNESSES))}
    try:
        return rt.publish(rt.Job(columns=columns, promises=[promise], method=method), frame=people, seed=seed)
    except PromiseUnreachable:
        return None


def audit_forged(release: rt.Release, tables: Tables, people: pl.DataFrame, folder: Path) -> bool | None:
    """The verdict on a copy of the release with other tables, sealed again; False where it is refused as damaged."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(release.folder, folder)
    folder.chmod(0o755)
    for name, frame in tables.items():
        write_data(folder / f"{name}.parquet", frame, "parquet")
    resealed(folder)
    try:
        return rt.audit(folder, source=people).kept
    except BundleDamaged:
        return False


@pytest.mark.parametrize(("kind", "what"), CASES)
def test_a_false_association_is_refused_and_a_possible_one_is_not(kind, what, tmp_path):
    draw = np.random.default_rng([len(kind), len(what)])
    false = 0
    possible = 0
    seed = 0
    while false < TABLES and seed < 20 * TABLES:
        seed += 1
        people = associations.make_people(draw)
        release = publish(kind, people, seed)
        if release is None:
            continue
        persons = associations.people_of(people)
        honest = dict(release.tables)
        assert POSSIBLE[kind](persons, honest)
        assert rt.audit(release.folder, source=people).kept is not False
        for _ in range(EACH):
            tables = FORGERIES[kind][what](honest, draw)
            if tables is None:
                break
            tables = {**honest, **tables}
            verdict = audit_forged(release, tables, people, tmp_path / "forged")
            if not POSSIBLE[kind](persons, tables):
                false += 1
                assert verdict is False, (seed, people.rows(), tables)
            elif kind == "anatomized":
                possible += 1
                assert verdict is associations.is_diverse(tables, 2), (seed, people.rows(), tables)
            elif kind == "perturbed" or (kind == "generalized" and associations.are_anonymous(tables, 2)):
                possible += 1
                assert verdict is not False, (seed, people.rows(), tables)
    assert false >= TABLES, (false, possible)


def make_many_people(rows: int) -> pl.DataFrame:
    """Everybody is alone with their quasi-identifiers, and illnesses go with age."""
    draw = np.random.default_rng(4)
    age = np.arange(rows) % 50
    illness = (age * len(ILLNESSES) // 50 + (draw.random(rows) < 0.1)) % len(ILLNESSES)
    return pl.DataFrame({"age": age, "zone": np.arange(rows) // 50, "illness": [ILLNESSES[place] for place in illness]})


@pytest.mark.parametrize("kind", ["perturbed", "sampled"])
def test_values_that_were_redrawn_and_then_given_to_others_are_refused(kind, tmp_path):
    """Of one pair of people nobody can say; of all of them the source can."""
    people = make_many_people(4_000)
    release = publish(kind, people, 3)
    assert rt.audit(release.folder, source=people).kept is not False
    tables = associations.shuffle_column("illness")(dict(release.tables), np.random.default_rng(1))
    assert audit_forged(release, tables, people, tmp_path / "forged") is False
