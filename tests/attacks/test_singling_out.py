"""Singling out by the ends of ranges: what the attack counts is what enumeration counts, and what lowers it lowers it."""

from __future__ import annotations

import os
import random
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks import attack
from reticent.attacks.singling_out import PredicateLimits, attack_by_singling_out, single_out
from reticent.attacks.target import make_target, observe
from reticent.cli.main import main
from reticent.engines import local
from reticent.errors import RequestError
from reticent.format.manifest import ColumnEntry
from reticent.labels.adversary_view import build_boxes
from reticent.labels.range_ends import find_range_ends
from tests.oracle import singling_out as oracle

COLUMNS = {"a": rt.quasi(numeric=True), "b": rt.quasi(numeric=True), "c": rt.quasi(), "s": rt.sensitive()}
ENTRIES = [
    ColumnEntry(name="a", role="quasi-identifying", type="numeric", dtype="Int64"),
    ColumnEntry(name="b", role="quasi-identifying", type="numeric", dtype="Int64"),
    ColumnEntry(name="c", role="quasi-identifying", type="categorical", values=["u", "v"]),
]
TABLES = int(os.environ.get("RETICENT_TINY_TABLES", "120"))
"""More of them where time allows: 2,000 were equal to the enumeration when this was written (77 CPU seconds)."""


def text(label: oracle.Label) -> str:
    if isinstance(label, frozenset):
        return next(iter(label)) if len(label) == 1 else "{u, v}"
    return str(label[0]) if label[0] == label[1] else f"[{label[0]}, {label[1]}]"


def tight(rows: list[tuple]) -> tuple[oracle.Label, ...]:
    a, b, c = zip(*rows, strict=True)
    return (min(a), max(a)), (min(b), max(b)), frozenset(c)


def tiny(draw: random.Random) -> tuple[list[tuple], list[tuple], list[int]]:
    """People, the labels of groups of two to four of them, and the groups' sizes; equal labels are one group."""
    people = [(draw.randint(0, 5), draw.randint(0, 3), draw.choice("uv")) for _ in range(draw.randint(4, 10))]
    found: dict[tuple, int] = {}
    start = 0
    while start < len(people):
        size = draw.randint(2, 4) if len(people) - start > 5 else len(people) - start
        labels = tight(people[start : start + size])
        found[labels] = found.get(labels, 0) + size
        start += size
    return people, list(found), list(found.values())


def test_the_attack_counts_what_enumeration_counts():
    draw = random.Random(3)
    attacked = 0
    for _ in range(TABLES):
        people, groups, sizes = tiny(draw)
        if not any(oracle.ranged(group, column) for group in groups for column in (0, 1)):
            continue
        attacked += 1
        source = pl.DataFrame(people, schema=["a", "b", "c"], orient="row").with_columns(s=pl.lit("x"))
        shown = [[*map(text, group), "x"] for group, size in zip(groups, sizes, strict=True) for _ in range(size)]
        cells = local.count_rows(source.lazy(), COLUMNS).cells
        sight = build_boxes(ENTRIES, pl.DataFrame(shown, schema=["a", "b", "c", "s"], orient="row"), cells)
        found = attack_by_singling_out(make_target(cells, sight))
        counts = [count for column in (0, 1) for count in oracle.ends(groups, column, people)]
        assert sorted(found.posterior.astype(int).tolist()) == sorted(counts)
        assert found.success == counts.count(1) / len(counts)
        for at, name in enumerate("ab"):
            wanted = oracle.control(groups, at, people)
            if wanted is not None:
                assert found.details["columns"][name]["control"] == pytest.approx(float(wanted))
                assert found.details["columns"][name]["certain"] == float(oracle.certain(groups, sizes, at))
    assert attacked > 0.9 * TABLES


def table(rows: int = 2_000, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = np.clip(rng.gamma(6, 7, rows) + 17, 17, 90).astype(int)
    return pl.DataFrame(
        {
            "age": age,
            "town": rng.choice(list("abcdefghijklmnop"), rows),
            "job": rng.choice(list("pqrst"), rows),
            "s": rng.choice(list("xyz"), rows),
        }
    )


def released(labels: object, k: int = 5) -> rt.Release:
    columns = {"age": rt.quasi(numeric=True, labels=labels), "town": rt.quasi(), "job": rt.quasi(), "s": rt.sensitive()}
    return rt.publish(
        rt.Job(columns=columns, promises=[rt.KAnonymity(k)], method=rt.Mosaic(effort="quick")), frame=table(), seed=1
    )


def test_padding_and_snapping_bring_isolation_to_what_a_random_value_isolates():
    tight_ends = attack(released("tight"), table(), "singling-out").to_dict()
    assert tight_ends["low"] > tight_ends["control_high"] and tight_ends["certain"] > 0.2
    for labels in ({"style": "padded", "width": 8}, {"style": "snapped", "step": 5}):
        found = attack(released(labels), table(), "singling-out").to_dict()
        assert found["success"] <= found["control_high"] and found["certain"] < 0.02
        assert found["success"] < tight_ends["low"]


def test_people_who_are_not_in_the_release_are_its_baseline():
    release = released("tight")
    found = attack(release, table(), "singling-out", others=table(seed=2)).to_dict()
    assert found["baseline"] == found["others"] and found["others"] < found["low"]
    itself = attack(release, table(), "singling-out", others=table()).to_dict()
    assert itself["others"] == itself["success"]
    assert attack(release, table(), "singling-out").to_dict()["baseline"] == found["control"]


def test_a_control_of_drawn_values_is_near_that_of_all():
    seen = observe(released("tight"), table())
    exact = single_out(seen).to_dict()
    drawn = single_out(seen, limits=PredicateLimits(exact_pairs=0)).to_dict()
    assert drawn["control_low"] < exact["control"] < drawn["control_high"]
    assert single_out(seen, limits=PredicateLimits(exact_pairs=0, predicates=200)).to_dict()["targets"] == 200


def test_a_declared_top_is_nobody_s_value():
    frame = pl.DataFrame({"age": [20, 30, 40, 90, 95, 99], "s": list("xyzxyz")})
    for top, wanted in ((None, Fraction(2, 6)), (80, Fraction(1, 6))):
        columns = {"age": rt.quasi(numeric=True, top=top), "s": rt.sensitive()}
        release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(6)]), frame=frame)
        assert attack(release, frame, "singling-out").to_dict()["certain"] == float(wanted)


def test_a_release_without_ranges_has_no_ends():
    frame = pl.DataFrame({"town": ["a", "b"] * 6, "s": list("xyz") * 4})
    job = rt.Job(columns={"town": rt.quasi(), "s": rt.sensitive()}, promises=[rt.KAnonymity(2)])
    with pytest.raises(RequestError, match="this release has none"):
        attack(rt.publish(job, frame=frame), frame, "singling-out")


def test_the_command_says_what_the_ends_give_away(tmp_path, capsys):
    released("tight").save(tmp_path / "release")
    table().write_csv(tmp_path / "people.csv")
    said = ["attack", str(tmp_path / "release"), "--source", str(tmp_path / "people.csv")]
    assert main([*said, "--as", "singling-out", "--others", str(tmp_path / "people.csv")]) == 0
    out = capsys.readouterr().out
    assert "are true of one person alone" in out and "No promise speaks of this adversary." in out
    assert main([*said, "--as", "skewness", "--others", str(tmp_path / "people.csv")]) == 1


def test_a_table_of_another_tool_is_attacked_by_its_ends():
    source = pl.DataFrame(
        {"age": [21, 22, 25, 29, 31, 33, 38, 39], "town": ["a"] * 4 + ["b"] * 4, "s": list("xyxyxyxy")}
    )
    for labels, isolated in ((["21-29", "31-39"], 1.0), (["[20, 30[", "[30, 40["], 0.0)):
        made = source.with_columns(age=pl.Series([label for label in labels for _ in range(4)]))
        found = attack(made, source, "singling-out", quasi=["age", "town"], sensitive=["s"], others=source).to_dict()
        assert found["success"] == found["others"] == isolated and found["certain"] == 0


@pytest.mark.parametrize("share", [0.2, 0.34, 0.5, 1])
def test_an_end_is_certain_where_no_narrower_range_can_have_been_padded_to_it(share):
    """Every range and every two pads that its share and its width allow, enumerated."""
    release = released({"style": "padded", "width": 3, "share": share})
    made = {}
    for span, low, high in product(range(1, 30), range(4), range(4)):
        if max(low, high) <= Fraction(str(share)) * span:
            made.setdefault(span + low + high, set()).add((low, high))
    widths = sorted(made)[:20]
    labels = [f"[20, {20 + width}]" for width in widths]
    ages = pl.Series("age", [str(age) for age in range(17, 90)])
    found = find_range_ends(release.manifest.columns[0], labels, ages)
    assert found.known.tolist() == [[made[width] == {(0, 0)}] * 2 for width in widths]


def test_padding_by_a_share_spares_narrow_ranges_and_isolates_no_more_than_a_random_value():
    tight_ends = attack(released("tight"), table(), "singling-out").to_dict()
    found = attack(released({"style": "padded", "width": 8, "share": 0.5}), table(), "singling-out").to_dict()
    assert found["success"] <= found["control_high"] and found["success"] < tight_ends["low"]
    assert found["certain"] < tight_ends["certain"]
