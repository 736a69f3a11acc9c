"""What every engine must do with rows: conserve them, hide their order, and choose without favour."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl

import reticent as rt
from reticent.engines import local
from reticent.randomness import Random
from reticent.recipe.recipe import WITHHELD_GROUP, Recipe


def data_bytes(release: rt.Release) -> bytes:
    return (release.folder / "data.parquet").read_bytes()


def multiset(release: rt.Release) -> Counter:
    return Counter(release.frame().select("age", "city", "illness").iter_rows())


def test_a_seeded_job_gives_the_same_release_for_any_chunking(table, carrying, tmp_path):
    whole = rt.publish(carrying, frame=table, seed=7)
    pieces = pl.concat([table[:1], table[1:250], table[250:]], rechunk=False)
    assert data_bytes(rt.publish(carrying, frame=pieces, seed=7)) == data_bytes(whole)
    for size in (17, 200):
        path = tmp_path / f"{size}.parquet"
        table.write_parquet(path, row_group_size=size)
        release = rt.publish(carrying.at(source=str(path)), seed=7)
        assert data_bytes(release) == data_bytes(whole)


def test_another_row_order_gives_the_same_multiset(table, job, carrying):
    shuffled = table.sample(fraction=1.0, shuffle=True, seed=5)
    for wanted in (job, carrying):
        assert multiset(rt.publish(wanted, frame=shuffled, seed=7)) == multiset(rt.publish(wanted, frame=table, seed=7))


def test_an_unseeded_release_differs_every_time_and_a_seeded_one_is_stamped(table, job):
    one = rt.publish(job, frame=table)
    other = rt.publish(job, frame=table)
    assert one.frame().rows() != other.frame().rows()
    assert multiset(one) == multiset(other)
    assert "seeded" not in one.manifest.to_dict()
    stamped = rt.publish(job, frame=table, seed=1)
    assert stamped.manifest.seeded is True
    assert "Not for publication" in (stamped.folder / "README.md").read_text()


def test_unseeded_keys_come_from_the_operating_system(monkeypatch):
    asked = []
    monkeypatch.setattr("secrets.token_bytes", lambda n: asked.append(n) or bytes(range(n)))
    assert Random.from_optional_seed(None).key == bytes(range(32))
    assert asked == [32]


def test_rows_and_sensitive_values_are_conserved(table, carrying):
    frame = rt.publish(carrying, frame=table).frame()
    assert len(frame) == len(table)
    assert sorted(frame["note"]) == sorted(table["note"])
    joined = frame.join(table.select("note", truth="illness"), on="note")
    assert joined["illness"].equals(joined["truth"])
    assert "person" not in frame.columns


def test_a_carried_value_stays_within_its_rows_label(table, carrying):
    release = rt.publish(carrying, frame=table)
    joined = release.frame(bounds=True).join(table.select("note", truth="age"), on="note")
    assert joined.select(pl.col("truth").is_between("age_lower", "age_upper").all()).item()


def test_published_order_says_nothing_about_the_sources(table, carrying):
    position = {note: i for i, note in enumerate(table["note"])}
    correlations = []
    for _ in range(12):
        order = [position[note] for note in rt.publish(carrying, frame=table).frame()["note"]]
        correlations.append(np.corrcoef(np.arange(len(order)), order)[0, 1])
    assert abs(np.mean(correlations)) < 4.5 / np.sqrt(12 * len(table))


def split_recipe(rows: int, quotas: list[tuple[int, int]]) -> tuple[local.CountedTable, Recipe, pl.DataFrame]:
    """One cell of identical rows, shared among groups and withheld."""
    frame = pl.DataFrame({"age": [30] * rows, "illness": ["flu"] * rows, "note": list(range(rows))})
    columns = {"age": rt.quasi(), "illness": rt.sensitive(), "note": rt.insensitive()}
    counted = local.count_rows(frame.lazy(), columns)
    group = np.array([g for g, _ in quotas])
    quota = np.array([q for _, q in quotas])
    return counted, Recipe(counted.cells, np.zeros(len(quotas), np.int64), group, quota, 2), frame


def test_which_of_identical_rows_is_chosen_is_uniform():
    rows = 10
    runs = 3000
    counted, recipe, frame = split_recipe(rows, [(0, 3), (1, 5), (WITHHELD_GROUP, 2)])
    chosen = np.zeros((rows, 2))
    for seed in range(runs):
        rows = local.apply_recipe(counted, recipe, Random.from_seed(seed), frame.lazy())
        assert rows.rows == 8
        for which, note in zip(rows.entry, rows.carried["note"], strict=True):
            chosen[note, which] += 1
    for group, share in ((0, 0.3), (1, 0.5)):
        spread = np.sqrt(runs * share * (1 - share))
        assert np.abs(chosen[:, group] - runs * share).max() < 5 * spread


def test_outcomes_depend_on_the_position_not_on_the_content():
    _, recipe, _ = split_recipe(1000, [(0, 500), (1, 500)])
    cell = np.zeros(1000, np.int64)
    first = local.assign_outcomes(recipe, cell, Random.from_seed(1))
    assert Counter(first.tolist()) == {0: 500, 1: 500}
    assert (first == local.assign_outcomes(recipe, cell, Random.from_seed(1))).all()
    assert (first != local.assign_outcomes(recipe, cell, Random.from_seed(2))).any()


def test_the_position_stream_is_the_same_from_any_start():
    rng = Random.from_seed(4)
    whole = rng.words("rank", 0, 500)
    for start in (1, 2, 7, 250, 499):
        assert (rng.words("rank", start, 500 - start) == whole[start:]).all()
