"""Totals across groups: bounds hold every possible table's answer, are reached where that is claimed, and are never wider."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.errors import BundleDamaged
from reticent.estimate.known_totals import DomainNumbers, KnownTotals, PublishedNodes
from tests.oracle import distribution as oracle

NUMBERS = [0, 10, 25, 70]
SPANS = [(0, 3), (0, 1), (2, 3), (0, 0), (1, 1), (2, 2), (3, 3)]


def draw_release(rng, groups: int, distance: Fraction, fakes: bool, alike: bool = False):
    """Groups as they may be published, and the truth behind: each row's value under a node that covers it."""
    blocks = [0] * groups if alike or rng.random() < 0.6 else rng.integers(0, 2, groups).tolist()
    made = []
    truth = []
    for _ in range(groups):
        rows = int(rng.integers(1, 4 if groups < 3 else 3))
        values = rng.integers(0, 4, rows).tolist()
        entries = [covering[rng.integers(len(covering))] for covering in map(_covering, values)]
        entries += [SPANS[rng.integers(len(SPANS))] for _ in range(int(rng.integers(0, 2)) if fakes else 0)]
        made.append((rows, entries))
        truth.append(values)
    targets = []
    for block in range(max(blocks) + 1):
        held = [value for number, values in enumerate(truth) if blocks[number] == block for value in values]
        counts = [held.count(place) * 4 for place in range(4)] if held else [1] * 4
        shares = [Fraction(count, sum(counts)) for count in counts]
        moved = min(distance, shares[int(np.argmax(counts))])
        shares[int(np.argmax(counts))] -= moved
        shares[int(rng.integers(4))] += moved
        targets.append(shares)
    return made, blocks, targets


def _covering(value: int) -> list[tuple[int, int]]:
    return [span for span in SPANS if span[0] <= value <= span[1]]


def read_totals(made, blocks, targets, distance) -> KnownTotals:
    entries = np.array([(number, *span) for number, (_, spans) in enumerate(made) for span in spans])
    nodes = PublishedNodes(*entries.T, np.ones(len(entries), np.int64))
    shares = np.array([[float(p) for p in target] for target in targets])
    rows = np.array([rows for rows, _ in made])
    found = KnownTotals.from_target("group", distance, nodes, rows, np.array(blocks), shares)
    assert found is not None
    return found


def count_bounds(totals: KnownTotals, made, selected, wanted: set[int]) -> tuple[int, int]:
    may = [sum(bool(wanted & set(range(a, b + 1))) for a, b in spans) for _, spans in made]
    others = [sum(bool(set(range(a, b + 1)) - wanted) for a, b in spans) for _, spans in made]
    mask = np.array([place in wanted for place in range(4)])
    return totals.narrow_count(np.array(selected), np.array(may), np.array(others), mask)


def sum_bounds(totals: KnownTotals, selected) -> tuple[Fraction, Fraction]:
    layers = totals.bound_layers(np.array(selected))
    numbers = DomainNumbers.from_texts(list(map(str, NUMBERS)))
    assert layers is not None and numbers is not None
    lower, upper = map(numbers.add_up_layers, layers)
    return lower, upper


def asked(rng, made):
    selected = [int(rng.integers(0, rows + 1)) for rows, _ in made]
    wanted = {place for place in range(4) if rng.random() < 0.5} or {int(rng.integers(4))}
    return selected, wanted


CASES = [
    (groups, distance, fakes)
    for groups in (1, 2, 3)
    for distance in (Fraction(0), Fraction(1, 20), Fraction(1, 4))
    for fakes in (False, True)
]


@pytest.mark.parametrize(("groups", "distance", "fakes"), CASES)
def test_every_possible_table_s_answer_lies_within_the_bounds(groups, distance, fakes):
    rng = np.random.default_rng(groups * 100 + distance.denominator + fakes)
    for _ in range(25):
        made, blocks, targets = draw_release(rng, groups, distance, fakes)
        totals = read_totals(made, blocks, targets, distance)
        tables = list(oracle.possible_tables(made, blocks, targets, distance))
        assert tables
        for _ in range(4):
            selected, wanted = asked(rng, made)
            least, most = oracle.reached(
                tables, selected, lambda values, wanted=wanted: sum(v in wanted for v in values)
            )
            lower, upper = count_bounds(totals, made, selected, wanted)
            assert lower <= least <= most <= upper
            least, most = oracle.reached(tables, selected, lambda values: sum(NUMBERS[v] for v in values))
            lower, upper = sum_bounds(totals, selected)
            assert lower <= least <= most <= upper


@pytest.mark.parametrize(("groups", "distance", "fakes"), CASES)
def test_a_count_s_bounds_are_reached_by_tables_with_a_possible_number_of_the_values_asked_about(
    groups, distance, fakes
):
    """As the proof has it: over all tables in which each block has a possible number of them, whatever the other values."""
    rng = np.random.default_rng(groups * 100 + distance.denominator + fakes + 1)
    for _ in range(15):
        made, blocks, targets = draw_release(rng, groups, distance, fakes)
        totals = read_totals(made, blocks, targets, distance)
        everything = list(oracle.possible_tables(made, [0] * len(made), [[Fraction(1, 4)] * 4], Fraction(1)))
        for _ in range(4):
            selected, wanted = asked(rng, made)
            fitting = []
            for table in everything:
                for block, target in enumerate(targets):
                    values = [v for number, group in enumerate(table) if blocks[number] == block for v in group]
                    share = sum(target[place] for place in wanted)
                    if abs(sum(v in wanted for v in values) - share * len(values)) > distance * len(values):
                        break
                else:
                    fitting.append(table)
            ends = oracle.reached(fitting, selected, lambda values, wanted=wanted: sum(v in wanted for v in values))
            assert count_bounds(totals, made, selected, wanted) == ends


def test_a_sum_s_bounds_are_reached_where_all_rows_are_one_group():
    rng = np.random.default_rng(7)
    for _ in range(60):
        made, blocks, targets = draw_release(rng, 1, Fraction(0), False)
        totals = read_totals(made, blocks, targets, Fraction(0))
        tables = list(oracle.possible_tables(made, blocks, targets, Fraction(0)))
        for number in range(made[0][0] + 1):
            ends = oracle.reached(tables, [number], lambda values: sum(NUMBERS[v] for v in values))
            assert sum_bounds(totals, [number]) == ends


def test_bounds_by_totals_are_never_wider_than_the_paper_s():
    rng = np.random.default_rng(8)
    narrower = Counter()
    for _ in range(200):
        made, blocks, targets = draw_release(rng, 3, Fraction(0), True)
        totals = read_totals(made, blocks, targets, Fraction(0))
        anything = read_totals(made, blocks, targets, Fraction(1))
        selected, wanted = asked(rng, made)
        for name, ends, papers in (
            ("count", count_bounds(totals, made, selected, wanted), count_bounds(anything, made, selected, wanted)),
            ("sum", sum_bounds(totals, selected), sum_bounds(anything, selected)),
        ):
            assert papers[0] <= ends[0] <= ends[1] <= papers[1]
            narrower[name] += ends != papers
        least, most = [0, 0]
        for number, (rows, spans) in zip(selected, made, strict=True):
            least += sum(sorted(NUMBERS[a] for a, _ in spans)[:number])
            most += sum(sorted((NUMBERS[b] for _, b in spans), reverse=True)[:number])
            assert rows <= len(spans)
        assert sum_bounds(anything, selected) == (least, most)  # section 3.3
    assert min(narrower.values()) > 50


def test_totals_that_contradict_the_groups_are_refused():
    totals = read_totals([(2, [(0, 0), (0, 0)])], [0], [[Fraction(0)] * 3 + [Fraction(1)]], Fraction(0))
    with pytest.raises(BundleDamaged):
        count_bounds(totals, [(2, [(0, 0), (0, 0)])], [1], {0})
    with pytest.raises(BundleDamaged):
        sum_bounds(totals, [1])


def test_numbers_that_do_not_ascend_have_no_layers():
    assert DomainNumbers.from_texts(["1", "3", "2"]) is None
    assert DomainNumbers.from_texts(["1", "x"]) is None
    found = DomainNumbers.from_texts(["0.5", "1.25"])
    assert found is not None and found.add_up_layers(np.array([2, 1])) == Fraction("1.75")


# Through a whole release.


def people(rng, rows: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": np.arange(rows),
            "area": rng.choice(["east", "west"], rows),
            "pay": rng.choice(NUMBERS, rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


def publish(frame: pl.DataFrame, target, exact: bool, *, missing: bool = False, **how) -> rt.Release:
    columns = {
        "id": rt.quasi(numeric=True),
        "area": rt.quasi(missing="withhold") if missing else rt.quasi(),
        "pay": rt.sensitive(),
    }
    promise = rt.PPrivacy(target, exact=exact, distance="1/4")
    return rt.publish(rt.Job(columns=columns, promises=[promise], method=rt.Distribution(**how)), frame=frame)


def read_release(release: rt.Release):
    """Rows in the order of their groups, and what the oracle takes, from the files alone."""
    own = release.manifest.own
    place = {text: number for number, text in enumerate(own["values"])}
    quasi = release.tables["quasi"].sort("group", "id")
    listed = release.tables["sensitive"].cast({"lower": pl.String, "upper": pl.String})
    made = []
    for number in range(int(quasi["group"].max()) + 1):
        entries = [
            (place[a], place[b])
            for a, b, times in listed.filter(pl.col("group") == number).select("lower", "upper", "count").iter_rows()
            for _ in range(times)
        ]
        made.append((int((quasi["group"] == number).sum()), entries))
    starts = [*own["assigned"], [len(made), 0]]
    blocks = [target for (first, target), (end, _) in pairwise(starts) for _ in range(first, end)]
    spans = own["tree"]
    parent = [
        min(
            (i for i, (a, b) in enumerate(spans) if a <= span[0] and span[1] <= b and i != at),
            key=lambda i: spans[i][1] - spans[i][0],
            default=None,
        )
        for at, span in enumerate(spans)
    ]
    targets = [
        oracle.probabilities(
            [(*span, weight, above) for span, weight, above in zip(spans, weights, parent, strict=True)]
        )
        for weights in own["targets"]
    ]
    return quasi, made, blocks, targets


def list_worlds():
    rng = np.random.default_rng(3)
    for at in range(18):
        frame = people(rng, int(rng.integers(4, 7)))
        target = ("source", "group")[at % 2]
        how = {"group_by": ["area"], "fakes": (0, 1)[at // 2 % 2]} if at % 3 else {"within": "qi-sa", "fakes": 0}
        yield frame, target, at % 4 < 2, how


def test_answers_of_whole_releases_hold_every_possible_table_s_and_the_true_one():
    asked_about = 0
    for frame, target, exact, how in list_worlds():
        release = publish(frame, target, exact, **how)
        quasi, made, blocks, targets = read_release(release)
        numbers = [int(text) for text in release.manifest.own["values"]]
        distance = Fraction(0) if exact else Fraction(1, 4)
        tables = [sum(table, ()) for table in oracle.possible_tables(made, blocks, targets, distance)]
        for last in range(1, len(frame) + 1):
            chosen = [row for row, number in enumerate(quasi["id"].to_list()) if number < last]
            worlds = [[numbers[table[row]] for row in chosen] for table in tables]
            true = frame.filter(pl.col("id") < last)["pay"].to_list()
            assert sorted(true) in [sorted(values) for values in worlds]
            for sql, answer in {
                "COUNT(*) FROM release WHERE pay >= 10 AND": lambda values: sum(v >= 10 for v in values),
                "COUNT(*) FROM release WHERE pay IN (0, 25) AND": lambda values: sum(v in (0, 25) for v in values),
                "SUM(pay) FROM release WHERE": sum,
                "MIN(pay) FROM release WHERE": min,
                "MAX(pay) FROM release WHERE": max,
                "AVG(pay) FROM release WHERE": lambda values: Fraction(sum(values), len(values)),
            }.items():
                found = release.query(f"SELECT {sql} id < {last}")
                answers = [answer(values) for values in worlds]
                assert found.lower <= min(answers) <= max(answers) <= found.upper
                assert found.lower <= found.estimate <= found.upper
                asked_about += 1
    assert asked_about > 400


def test_the_whole_table_of_an_exact_source_is_exact():
    frame = people(np.random.default_rng(5), 60)
    release = publish(frame, "source", True, group_by=["area"])
    assert release.query("SELECT SUM(pay) FROM release").upper == frame["pay"].sum()
    found = release.query("SELECT COUNT(*) FROM release WHERE pay = 70")
    assert found.lower == found.upper == int((frame["pay"] == 70).sum())
    assert release.query("SELECT MAX(pay) FROM release").lower == frame["pay"].max()


@pytest.mark.parametrize("exact", [True, False])
def test_totals_are_of_published_rows_where_rows_are_withheld(exact):
    """Every row with much pay lacks an area and is withheld: the target is that of what is published."""
    frame = people(np.random.default_rng(6), 300)
    frame = frame.with_columns(area=pl.when(pl.col("pay") == 70).then(None).otherwise("area"))
    release = publish(frame, "source", exact, missing=True, group_by=["area"])
    published = frame.drop_nulls()
    assert release.manifest.withheld == len(frame) - len(published)
    for area in ("east", "west"):
        for pay in NUMBERS:
            found = release.query(f"SELECT COUNT(*) FROM release WHERE area = '{area}' AND pay >= {pay}")
            inside = published.filter((pl.col("area") == area) & (pl.col("pay") >= pay))
            assert found.published.lower <= len(inside) <= found.published.upper
            assert found.lower <= len(inside) <= found.upper
    assert rt.audit(release, source=frame).kept


def test_several_rows_of_a_person_are_counted_as_rows():
    frame = people(np.random.default_rng(9), 40).with_columns(who=pl.int_range(40) // 2)
    columns = {
        "who": rt.identifying(rows_per_person=2),
        "id": rt.quasi(numeric=True),
        "area": rt.quasi(),
        "pay": rt.sensitive(),
    }
    job = rt.Job(
        columns=columns, promises=[rt.PPrivacy("source", exact=True)], method=rt.Distribution(group_by=["area"])
    )
    release = rt.publish(job, frame=frame)
    found = release.query("SELECT COUNT(*) FROM release WHERE pay = 10")
    assert found.lower == found.upper == int((frame["pay"] == 10).sum())


def test_a_target_that_is_not_made_from_the_data_states_no_total():
    frame = people(np.random.default_rng(5), 60)
    for target in (
        "uniform",
        {"weights": {"0": 4, "10": 3, "25": 2, "70": 1}},
        {"groups": {"east": "source", "west": "source"}},
    ):
        release = publish(frame, target, True, group_by=["area"])
        found = release.query("SELECT COUNT(*) FROM release WHERE pay = 70")
        assert found.lower < found.upper


def test_a_release_whose_promise_contradicts_its_groups_is_refused():
    """A stranger's manifest may say that a uniform target is the table's own distribution."""
    frame = pl.DataFrame({"id": range(8), "area": ["east"] * 8, "pay": [0] * 6 + [70] * 2})
    release = publish(frame, {"weights": {"0": 3, "70": 1}}, True)
    parts = {**release.manifest.promises[0].parameters, "target": "source"}
    forged = replace(release.manifest, promises=(replace(release.manifest.promises[0], parameters=parts),))
    own = {**forged.own, "targets": [[1, 1, 3]]}
    forged = replace(forged, own=own)
    from reticent.estimate.question import Question
    from reticent.release.transformed import READER

    with pytest.raises(BundleDamaged):
        READER.estimate(release.tables, forged, Question(aggregate="sum", column="pay"))
