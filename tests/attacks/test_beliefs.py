"""Beliefs without zeros, atoms of people and true values say what dense tables of (points, values) say."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks import attack
from reticent.attacks.beliefs import Beliefs, find_atoms
from reticent.attacks.definetti import assign_values
from reticent.attacks.scoring import TrueValues
from reticent.attacks.target import observe


def random_table(seed: int, rows: int = 40, values: int = 12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    table = rng.random((rows, values)) * (rng.random((rows, values)) < 0.3)
    table[seed % rows] = 0  # somebody of whom nothing is believed
    return table


@pytest.mark.parametrize("seed", range(5))
def test_beliefs_without_zeros_say_what_the_table_says(seed: int):
    table = random_table(seed)
    found = Beliefs.of_table(table)
    assert np.array_equal(found.to_dense(), table)
    assert np.array_equal(found.guess, table.argmax(axis=1))
    assert np.array_equal(found.greatest, table.max(axis=1))
    asked = np.random.default_rng(seed).integers(0, table.shape[1], len(table))
    assert np.array_equal(found.look_up_belief(asked), table[np.arange(len(table)), asked])
    at = np.array([3, 0, 3, len(table) - 1])
    assert np.array_equal(found.take(at).to_dense(), table[at])
    whole = table.sum(axis=1, keepdims=True)
    assert np.allclose(found.scale_to_one().to_dense(), np.divide(table, whole, where=whole > 0, out=table.copy()))
    other = table.copy()
    other[2] = 0
    other[2, [1, 4]] = 0.5
    assert np.array_equal(found.replace_rows({2: (np.array([1, 4]), np.array([0.5, 0.5]))}).to_dense(), other)


@pytest.mark.parametrize("at_once", [1, 7, 10_000])
def test_people_in_the_same_groups_to_the_same_shares_are_one_atom(at_once: int):
    rng = np.random.default_rng(1)
    groups = random_table(2, 6, 9)
    kinds = [[(0, 1.0)], [(1, 0.25), (4, 0.75)], [(1, 0.5), (4, 0.5)], [], [(5, 1.0)]]
    of_point = rng.integers(0, len(kinds), 60)
    entries = [(point, group, share) for point, kind in enumerate(of_point) for group, share in kinds[kind]]
    entries = [entries[at] for at in rng.permutation(len(entries))]
    point, group, share = (np.array(column) for column in zip(*entries, strict=True))
    atoms = find_atoms(point, group, share, 60)
    assert len(atoms) == len(set(of_point.tolist()))
    dense = np.zeros((60, 9))
    for one, which, weight in entries:
        dense[one] += weight * groups[which]
    assert np.allclose(atoms.mix(groups, chunk_pairs=at_once).to_dense()[atoms.of_point], dense, rtol=1e-12, atol=0)


def test_true_values_are_counted_as_in_a_table():
    rng = np.random.default_rng(3)
    point = rng.integers(0, 15, 80)
    value = rng.integers(0, 6, 80)
    people = rng.integers(0, 4, 80)
    table = np.zeros((15, 6), np.int64)
    np.add.at(table, (point, value), people)
    found = TrueValues.count(point, value, people, points=15, values=6)
    assert np.array_equal(found.to_dense(), table) and found.total == table.sum()
    assert np.array_equal(found.by_point, table.sum(axis=1)) and np.array_equal(found.by_value, table.sum(axis=0))
    guess = rng.integers(0, 6, 15)
    assert found.count_hits(guess) == table[np.arange(15), guess].sum()
    assert np.array_equal(found.take(np.array([9, 2])).to_dense(), table[[9, 2]])


def dense_definetti(points, sizes, counts, point, group, weight, rounds):
    """The attack as its module's first lines say it, over whole tables."""
    published = counts / counts.sum(axis=1, keepdims=True)
    present = np.bincount(group, weights=weight, minlength=len(counts))
    belief = published[group]
    for _ in range(rounds):
        held = np.zeros((len(points), counts.shape[1]))
        np.add.at(held, point, belief * weight[:, None])
        likely = np.zeros_like(held)
        for axis, size in enumerate(sizes):
            column = np.zeros((size, counts.shape[1]))
            np.add.at(column, points[:, axis], held)
            likely += np.log((column + 0.5) / (held.sum(axis=0) + 0.5 * size))[points[:, axis]]
        learned = np.exp(likely - likely.max(axis=1, keepdims=True))
        belief = published[group] * learned[point]
        belief /= belief.sum(axis=1, keepdims=True)
        inside = np.zeros(counts.shape)
        np.add.at(inside, group, belief * weight[:, None])
        wanted = published * present[:, None]
        belief *= np.divide(wanted, inside, out=np.zeros_like(inside), where=inside > 0)[group]
        belief /= belief.sum(axis=1, keepdims=True)
    total = np.zeros((len(points), counts.shape[1]))
    np.add.at(total, point, belief * weight[:, None])
    return total / total.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(4))
def test_definetti_over_published_values_alone_believes_what_whole_tables_do(seed: int):
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.integers(0, 4, 50), rng.integers(0, 30, 50)])
    counts = rng.integers(0, 4, (8, 25)) * (rng.random((8, 25)) < 0.4)
    counts[:, 0] += 1
    point = np.append(np.arange(50), rng.integers(0, 50, 20))  # some are in two groups
    group = rng.integers(0, 8, 70)
    _, once = np.unique(point * 8 + group, return_index=True)
    point = point[once]
    group = group[once]
    weight = rng.random(len(once)) + 0.5
    found = assign_values(points, [4, 30], counts, point, group, weight, rounds=8)
    assert np.allclose(found, dense_definetti(points, [4, 30], counts, point, group, weight, 8), atol=1e-9)


def table_of_many_values(rows: int = 1_400) -> pl.DataFrame:
    """More values than Python's stack is deep."""
    rng = np.random.default_rng(5)
    values = np.append(np.arange(1_200), rng.integers(0, 1_200, rows - 1_200))
    return pl.DataFrame(
        {"a": np.arange(rows) // 4, "b": rng.integers(0, 3, rows), "s": [f"v{value}" for value in values]}
    )


def test_releases_of_more_than_a_thousand_values_are_joined():
    frame = table_of_many_values()
    columns = {"a": rt.quasi(numeric=True), "b": rt.quasi(numeric=True), "s": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(2)])
    first = rt.publish(job, frame=frame, seed=1)
    second = rt.publish(job.at(method=rt.Mondrian(weights={"b": 9})), frame=frame, seed=1)
    found = attack(first, frame, "composition", joined=[second], force_join=True).to_dict()
    assert found["exact"] > 0 and found["targets"] == len(frame)
    assert found["worst_posterior"] <= 1


def test_what_is_seen_holds_no_table_of_all_points_and_values():
    frame = table_of_many_values()
    columns = {"a": rt.quasi(numeric=True), "b": rt.quasi(numeric=True), "s": rt.sensitive()}
    shown = observe(rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame, seed=1), frame)
    assert len(shown.truth.people) <= len(frame)
