"""Downcoding: what is known of a group that could not be cut equals enumeration, and is claimed only where it is proven."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks import attack
from reticent.attacks.downcoding import RangeColumn, compute_composition, downcode, find_possible_values, has_no_cut
from reticent.attacks.target import observe_plain_table
from reticent.cli.main import main
from reticent.errors import RequestError
from tests.oracle import downcoding as oracle

MADE = Path(__file__).parents[1] / "peers" / "made"
COLUMNS = {"a": rt.quasi(numeric=True), "b": rt.quasi(numeric=True), "s": rt.sensitive()}


def test_compositions_equal_an_enumeration_of_everybody_s_value_on_two_thousand_groups():
    draw = random.Random(3)
    for _ in range(2_000):
        people = draw.randint(1, 6)
        width = draw.randint(2, 4)
        k = draw.choice((None, 1, 2, 3))
        low = draw.random() < 0.6
        high = draw.random() < 0.6
        wanted = oracle.known(people, width, k, low, high)
        found = compute_composition(people, width, k, low, high)
        assert (found is None) == (wanted is None)
        if wanted is not None:
            assert found.chance == pytest.approx(float(wanted[0]), rel=1e-12)
            assert found.expected == pytest.approx([float(one) for one in wanted[1]], abs=1e-12)


def test_a_composition_cannot_be_cut_where_an_enumeration_of_its_places_says_so():
    draw = random.Random(4)
    for _ in range(2_000):
        counts = [draw.randrange(4) for _ in range(5)]
        values = tuple(at for at, many in enumerate(counts) for _ in range(many))
        k = draw.randint(1, 4)
        if values:
            assert has_no_cut(np.array(counts), k) == oracle.cannot_be_cut(values, k)


def test_no_value_that_some_table_has_is_called_impossible_and_most_others_are():
    pytest.importorskip("scipy")
    draw = random.Random(6)
    called = 0
    truly = 0
    asked = 0
    while asked < 100:
        k = draw.choice((None, 2))
        codes = 5
        ranges = sorted(tuple(sorted(draw.sample(range(codes), 2))) for _ in range(2))
        sizes = [draw.randint(3, 5) for _ in ranges]
        tight = draw.random() < 0.5
        deals = list(oracle._deals(ranges, sizes, [9] * codes, k, tight)) or _any(ranges, sizes, codes, k, tight)
        if not deals:
            continue
        deal = draw.choice(deals)
        totals = [sum(values.count(at) for values in deal) for at in range(codes)]
        wanted = oracle.possible(ranges, sizes, totals, k, tight)
        first, last = np.array(ranges).T
        ends = np.full((2, 2), tight)
        column = RangeColumn(first, last - first + 1, np.array(sizes, float), ends, np.array(totals, float))
        found = find_possible_values(column, [0, 1], k)
        asked += 1
        for (low, high), fits, true in zip(ranges, found, wanted, strict=True):
            for at in range(low, high + 1):
                assert fits[at - low] or at not in true, "a table has it"
                called += not fits[at - low]
                truly += at not in true
    assert called > 0.8 * truly > 10


def _any(ranges, sizes, codes, k, tight):
    """Two groups' values, whatever totals they have."""
    parts = [
        [
            values
            for values in oracle._sorted(low, high, size)
            if (not tight or (values[0], values[-1]) == (low, high)) and (k is None or oracle.cannot_be_cut(values, k))
        ]
        for (low, high), size in zip(ranges, sizes, strict=True)
    ]
    return [(one, other) for one in parts[0] for other in parts[1]]


def table(rows: int = 1_000, spread: int = 12) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    ages = np.minimum(rng.geometric(0.12, rows), spread)
    return pl.DataFrame({"a": ages, "b": rng.integers(0, 9, rows), "s": rng.choice(list("uvw"), rows)})


def released(method: rt.Method, promise: object, frame: pl.DataFrame | None = None) -> rt.Release:
    job = rt.Job(columns=COLUMNS, promises=[promise], method=method)
    return rt.publish(job, frame=table() if frame is None else frame, seed=1)


def test_what_is_claimed_of_mondrian_is_true_of_every_group():
    found = attack(released(rt.Mondrian(), rt.KAnonymity(5)), table(), "downcoding").to_dict()
    assert found["provable"] and found["holds"] == 1 and found["holds_of"] > 0 and found["bits"] > 0


@pytest.mark.parametrize(
    ("method", "promise"),
    [
        (rt.Mondrian(cuts="median"), rt.KAnonymity(5)),
        (rt.Mondrian(), rt.AlphaKAnonymity("0.8", 5)),
        (rt.Mosaic(effort="quick"), rt.KAnonymity(5)),
    ],
    ids=("median", "another promise", "mosaic"),
)
def test_of_others_nothing_is_claimed(method, promise):
    assert not attack(released(method, promise), table(), "downcoding").to_dict()["provable"]


def test_totals_and_refused_cuts_leave_fewer_values_possible_than_totals_alone():
    pytest.importorskip("scipy")
    release = released(rt.Mondrian(), rt.KAnonymity(3), table(60, 9))
    found = attack(release, table(60, 9), "downcoding", programme=True).to_dict()
    assert found["programmes"] > 0 and found["possible"] <= found["possible_control"] <= 1


def test_a_uniform_column_is_guessed_about_as_often_as_without_the_inequalities():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {"a": rng.integers(0, 400, 900), "b": rng.integers(0, 400, 900), "s": rng.choice(list("uvw"), 900)}
    )
    found = attack(released(rt.Mondrian(), rt.KAnonymity(5), frame), frame, "downcoding").to_dict()
    assert found["low"] < found["control_high"] and found["control_low"] < found["high"]


def test_a_file_of_arx_is_measured_and_nothing_is_claimed_of_it():
    roles = {"quasi": ["age", "zip"], "sensitive": ["illness"], "hierarchy": {"zip": str(MADE / "zip.csv")}}
    found = attack(MADE / "arx.csv", MADE / "arx_source.csv", "downcoding", **roles).to_dict()
    assert not found["provable"] and found["targets"] > 0
    assert found["holds_of"] == 0, "a suppressed row's `*` covers everybody, so nobody's group is known"


def test_of_a_file_of_arx_the_programme_measures_what_remains_possible_and_claims_nothing():
    pytest.importorskip("scipy")
    roles = {"quasi": ["age", "zip"], "sensitive": ["illness"], "hierarchy": {"zip": str(MADE / "zip.csv")}}
    seen = observe_plain_table(MADE / "arx.csv", MADE / "arx_source.csv", **roles)
    found = downcode(seen, k=5, programme=True, max_ranges=3).to_dict()
    assert found["k"] == 5 and found["programmes"] == 3 and not found["provable"]
    assert 0 < found["possible"] <= found["possible_control"] <= 1


def test_exact_quasi_identifiers_and_a_k_that_is_none_are_refused():
    with pytest.raises(RequestError, match="publishes them as they are"):
        attack(released(rt.Anatomy(), rt.ProbabilisticLDiversity(2)), table(), "downcoding")
    with pytest.raises(RequestError, match="at least 1"):
        attack(released(rt.Mondrian(), rt.KAnonymity(5)), table(), "downcoding", k=0)


def test_the_command_line_says_it_in_words(tmp_path, capsys):
    released(rt.Mondrian(), rt.KAnonymity(5)).save(tmp_path / "out")
    table().write_csv(tmp_path / "people.csv")
    words = ["attack", str(tmp_path / "out"), "--source", str(tmp_path / "people.csv"), "--as", "downcoding"]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["promise_speaks_of_it"] is False
    assert main(words) == 0
    assert "cannot have left a group that can be cut" in " ".join(capsys.readouterr().out.split())
