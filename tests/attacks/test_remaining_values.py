"""Lemma 2 beyond generalized releases: who is left with one value in a transformed release, and in a sample of a plain table."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks.remaining_values import find_possible_values
from reticent.errors import RequestError
from reticent.estimate.guaranteed_bounds import AnnotatedHierarchy
from tests.oracle import distribution as oracle

TREE = [(0, 3), (0, 1), (2, 3), (0, 0), (1, 1), (2, 2), (3, 3)]
PARENT = [-1, 0, 0, 1, 1, 2, 2]


def make_hierarchy(weights=(1, 1, 1, 1, 1, 1, 1)) -> AnnotatedHierarchy:
    first, last = np.array(TREE).T
    return AnnotatedHierarchy(["a", "b", "c", "d"], first, last, np.array(PARENT), [list(weights)], np.array([[0, 0]]))


@pytest.mark.parametrize("seed", range(150))
def test_possible_values_are_those_of_tables_with_the_others_as_they_are(seed):
    """By enumeration of every table behind the group in which the others have their values."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 5))
    values = rng.integers(0, 4, rows).tolist()
    covering = [[node for node, (a, b) in enumerate(TREE) if a <= value <= b] for value in values]
    nodes = [int(rng.choice(choice)) for choice in covering]
    nodes += rng.integers(0, len(TREE), int(rng.integers(0, 3))).tolist()
    tables = oracle.possible_groups(rows, [TREE[node] for node in nodes])
    holders = np.bincount(values, minlength=4)
    for victim, value in enumerate(values):
        others = Counter(v for place, v in enumerate(values) if place != victim)
        possible = {x for x in range(4) if any(Counter(table) == others + Counter([x]) for table in tables)}
        found = find_possible_values(make_hierarchy(), Counter(nodes), holders, value, 0)
        assert set(np.flatnonzero(found).tolist()) == possible


def people(rows: int = 60, seed: int = 2) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "area": draw.choice(["east", "west", "north"], rows),
            "age": draw.integers(20, 40, rows),
            "pay": draw.choice([10, 20, 30, 40], rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


def publish(frame, target="source", *, exact=False, **method) -> rt.Release:
    columns = {"area": rt.quasi(), "age": rt.quasi(), "pay": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.PPrivacy(target, exact=exact)], method=rt.Distribution(**method))
    return rt.publish(job, frame=frame)


@pytest.mark.parametrize(
    "method", [{}, {"group_by": ["area"]}, {"within": "qi-sa"}, {"group_by": ["area"], "fakes": 2}]
)
@pytest.mark.parametrize("target", ["uniform", "source", "group"])
def test_the_share_of_unmasked_people_is_that_of_one_possible_value(target, method):
    frame = people()
    release = publish(frame, target, **method)
    found = rt.attack(release, frame, "corruption").to_dict()
    annotated = AnnotatedHierarchy.from_manifest(release.manifest)
    place = {text: number for number, text in enumerate(annotated.texts)}
    spans = {
        span: node for node, span in enumerate(zip(annotated.first.tolist(), annotated.last.tolist(), strict=True))
    }
    with_group = frame.join(release.tables["quasi"].unique(["area", "age"]), on=["area", "age"], how="left")
    listed = release.tables["sensitive"].cast({"lower": pl.String, "upper": pl.String})
    unmasked = 0
    for (group,), part in with_group.group_by("group"):
        nodes = Counter(
            {
                spans[place[a], place[b]]: n
                for a, b, n in listed.filter(pl.col("group") == group).select("lower", "upper", "count").iter_rows()
            }
        )
        codes = [place[str(value)] for value in part["pay"]]
        holders = np.bincount(codes, minlength=len(place))
        number = int(annotated.find_targets(np.array([group]))[0])
        unmasked += sum(find_possible_values(annotated, nodes, holders, code, number).sum() == 1 for code in codes)
    assert found["success"] == unmasked / len(frame)
    assert found["unmasked_by"] == "nodes"
    assert found["worst_posterior"] == (1.0 if unmasked else 0.2)


@pytest.mark.parametrize("target", ["source", "group"])
def test_exact_totals_unmask_everybody(target):
    """Everyone else's values taken from the totals leave the last one's, whatever the groups show (errata 4.7)."""
    frame = people()
    found = rt.attack(publish(frame, target, exact=True, group_by=["area"]), frame, "corruption").to_dict()
    assert (found["success"], found["unmasked_by"], found["worst_posterior"]) == (1.0, "totals", 1.0)


def test_another_source_is_refused():
    frame = people()
    with pytest.raises(RequestError, match="not what the release was made from"):
        rt.attack(publish(frame, group_by=["area"]), pl.concat([frame, frame.head(3)]), "corruption")


def test_withheld_rows_are_no_holders():
    frame = people().with_columns(area=pl.when(pl.col("pay") == 40).then(None).otherwise("area"))
    columns = {"area": rt.quasi(missing="withhold"), "age": rt.quasi(), "pay": rt.sensitive()}
    job = rt.Job(
        columns=columns, promises=[rt.PPrivacy("source", exact=True)], method=rt.Distribution(group_by=["area"])
    )
    found = rt.attack(rt.publish(job, frame=frame), frame, "corruption").to_dict()
    assert found["targets"] == len(frame.drop_nulls()) and found["success"] == 1


# Plain tables.


@pytest.fixture(scope="module")
def generalized() -> tuple[pl.DataFrame, pl.DataFrame]:
    frame = people(200)
    columns = {"area": rt.quasi(), "age": rt.quasi(), "pay": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(8)]), frame=frame, seed=1)
    return frame, release.frame()


def attack_table(table, frame):
    return rt.attack(table, frame, "corruption", quasi=["area", "age"], sensitive=["pay"]).to_dict()


def test_a_complete_plain_table_unmasks_everybody(generalized):
    frame, table = generalized
    found = attack_table(table, frame)
    assert (found["targets"], found["success"], found["published_rows"]) == (200, 1.0, 200)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_of_a_sample_those_fall_whose_group_shows_their_value_as_often_as_it_has_holders(generalized, share):
    """The end of section III, counted by hand: of each group its labels, its people and what the sample shows."""
    frame, table = generalized
    sample = table.sample(fraction=share, seed=3)
    labels = table.select("area", "age").unique()
    unmasked = 0
    for area, age in labels.iter_rows():
        areas = {part.strip() for part in area.strip("{}").split(",")} if area != "*" else set(frame["area"])
        ends = [int(part) for part in age.strip("[]").split(",")] if age != "*" else [0, 99]
        inside = frame.filter(pl.col("area").is_in(list(areas)) & pl.col("age").is_between(ends[0], ends[-1]))
        shown = sample.filter((pl.col("area") == area) & (pl.col("age") == age))
        holders, published = Counter(inside["pay"]), Counter(shown["pay"])
        unmasked += sum(count for value, count in holders.items() if published[value] >= count)
    found = attack_table(sample, frame)
    assert found["success"] == unmasked / 200
    assert 0 < unmasked < 200


def test_lists_of_people_and_beliefs_are_refused_for_a_plain_table(generalized):
    frame, table = generalized
    for options in ({"victim": "age=30"}, {"external": frame}, {"predicate": "pay = 10"}, {"prior": "uniform"}):
        with pytest.raises(RequestError):
            rt.attack(table, frame, "corruption", quasi=["area", "age"], sensitive=["pay"], **options)


def test_every_small_group_of_leaves_and_roots_is_matched_as_by_hand():
    """Leaves alone: the victim's own value remains; a root among them: any value, for who has taken it."""
    for first, second in product(range(4), repeat=2):
        holders = np.bincount([first, second], minlength=4)
        leaves = Counter({3 + first: 1}) + Counter({3 + second: 1})
        assert find_possible_values(make_hierarchy(), leaves, holders, first, 0).sum() == 1
        assert find_possible_values(make_hierarchy(), Counter({0: 2}), holders, first, 0).sum() == 4


def test_a_value_without_mass_in_the_target_is_not_possible():
    holders = np.bincount([0], minlength=4)
    found = find_possible_values(make_hierarchy((1, 1, 1, 1, 0, 1, 1)), Counter({0: 1}), holders, 0, 0)
    assert np.flatnonzero(found).tolist() == [0, 2, 3]
