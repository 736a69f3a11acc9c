"""Attacks whose baseline is that of people who are not in the release."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks import attack
from reticent.attacks.scoring import compute_excess_risk
from reticent.cli.main import main

COLUMNS = {"a": rt.quasi(type="numeric"), "b": rt.quasi(type="numeric"), "s": rt.sensitive(domain=[1, 9])}
JOBS = {
    "mondrian": (rt.ProbabilisticLDiversity(2), rt.Mondrian()),
    "mosaic": (rt.ProbabilisticLDiversity(2), rt.Mosaic(effort="quick")),
    "anatomized": (rt.ProbabilisticLDiversity(2), rt.Anatomy()),
    "transformed": (rt.PPrivacy("uniform", domain=[1, 9, 1]), rt.Distribution(fakes=2)),
    "perturbed": (rt.BetaLikeness(3), rt.BetaPerturbation()),
    "sampled": (rt.RhoGuarantee("0.2", "0.5", "0.3"), rt.PerturbedGeneralization(k=4)),
}
REFUSED = {
    "perturbed": ("singling-out", "inference"),
    "sampled": ("singling-out", "inference"),
    "anatomized": ("singling-out",),
    "transformed": ("singling-out",),
}
CASES = [(kind, name) for kind in JOBS for name in ("singling-out", "inference")]


def people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 60, rows)
    s = np.where(rng.random(rows) < 0.3, rng.integers(1, 7, rows), 1 + a // 10)
    return pl.DataFrame({"a": a, "b": rng.integers(0, 9, rows), "s": s})


def released(frame: pl.DataFrame, kind: str) -> rt.Release:
    promise, method = JOBS[kind]
    columns = COLUMNS if kind == "sampled" else {**COLUMNS, "s": rt.sensitive()}
    return rt.publish(rt.Job(columns=columns, promises=[promise], method=method), frame=frame, seed=1)


STRANGERS = {
    "like them": people(200, 2),
    "few": people(4, 3),
    "far away": people(50, 4).with_columns(pl.col("a") + 100),
    "of one value": people(200, 5).with_columns(s=pl.lit(4)),
    "of values that nobody has": people(200, 6).with_columns(pl.col("s") + 3),
}


@pytest.mark.parametrize("strangers", STRANGERS)
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_every_kind_is_attacked_or_refused_and_nothing_is_warned_of(kind, name, strangers, tmp_path, capfd):
    frame = people(300, 1)
    released(frame, kind).save(tmp_path / "release")
    frame.write_csv(tmp_path / "people.csv")
    STRANGERS[strangers].write_csv(tmp_path / "others.csv")
    words = ["attack", str(tmp_path / "release"), "--source", str(tmp_path / "people.csv"), "--as", name, "--json"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = main(words)
        without, why = capfd.readouterr()
        both = main([*words, "--others", str(tmp_path / "others.csv")])
    text, told = capfd.readouterr()
    assert alone == both == (1 if name in REFUSED.get(kind, ()) else 0)
    assert told == why
    if both == 0:
        answer = json.loads(text)
        assert 0 <= answer["others"] <= 1
        assert answer["risk"] == compute_excess_risk(answer["success"], answer["others"])
        assert answer["success"] == json.loads(without)["success"]


@pytest.mark.parametrize("strangers", STRANGERS)
@pytest.mark.parametrize("kind", ["mondrian", "mosaic"])
def test_others_are_guessed_as_a_loop_over_people_and_groups_guesses(kind, strangers):
    frame = people(300, 1)
    others = STRANGERS[strangers]
    release = released(frame, kind)
    ends = ["a_lower", "a_upper", "b_lower", "b_upper"]
    groups: dict[tuple, Counter] = {}
    for *box, value in release.frame(bounds=True).select(*ends, "s").iter_rows():
        groups.setdefault(tuple(box), Counter())[int(value)] += 1
    known = [sorted(set(frame[name])) for name in ("a", "b")]

    def room(box):
        return sum(box[0] <= v <= box[1] for v in known[0]) * sum(box[2] <= v <= box[3] for v in known[1])

    prior = Counter(release.frame()["s"].cast(pl.Int64).to_list())
    hits = 0
    doubtful = 0
    for a, b, truth in others.iter_rows():
        beliefs: Counter = Counter()
        for box, held in groups.items():
            if box[0] <= a <= box[1] and box[2] <= b <= box[3]:
                for value, count in held.items():
                    beliefs[value] += Fraction(count, room(box))
        beliefs = beliefs or prior
        likeliest = [value for value in beliefs if beliefs[value] == max(beliefs.values())]
        hits += likeliest == [truth]
        doubtful += len(likeliest) > 1 and truth in likeliest
    found = attack(release, frame, "inference", others=others).to_dict()["others"]
    assert hits <= round(found * len(others)) <= hits + doubtful


def test_of_exact_quasi_identifiers_others_are_guessed_by_rows_like_theirs():
    frame = people(300, 1)
    release = released(frame, "anatomized")
    itself = attack(release, frame, "inference", others=frame).to_dict()
    assert itself["others"] == itself["success"]
    strangers = STRANGERS["far away"]
    found = attack(release, frame, "inference", others=strangers).to_dict()
    frequent = frame["s"].mode().to_list()
    assert len(frequent) == 1
    assert found["others"] == (strangers["s"] == frequent[0]).mean()


def test_numbers_of_another_type_are_the_same_numbers():
    frame = people(300, 1)
    strangers = STRANGERS["like them"]
    for kind in ("mondrian", "anatomized"):
        release = released(frame, kind)
        whole = attack(release, frame, "inference", others=strangers).to_dict()
        assert attack(release, frame, "inference", others=strangers.cast(pl.Float64)).to_dict() == whole


def test_a_file_of_others_is_read_as_the_source_is(tmp_path):
    frame = people(300, 1)
    strangers = STRANGERS["like them"]
    release = released(frame, "mondrian")
    for name, table in (("people", frame), ("others", strangers)):
        (tmp_path / f"{name}.csv").write_text(table.write_csv(separator=";"), encoding="utf-16")
    source = rt.Source(path=str(tmp_path / "people.csv"), delimiter=";", encoding="utf-16")
    for name in ("singling-out", "inference"):
        wanted = attack(release, frame, name, others=strangers).to_dict()
        assert attack(release, source, name, others=tmp_path / "others.csv").to_dict() == wanted


@pytest.mark.parametrize("strangers", STRANGERS)
@pytest.mark.parametrize("name", ["singling-out", "inference"])
def test_a_table_of_another_tool_is_laid_over_others_as_a_release_is(name, strangers):
    frame = people(300, 1)
    others = STRANGERS[strangers]
    release = released(frame, "mondrian")
    table = release.frame().select("a", "b", "s")
    roles = {"quasi": ["a", "b"], "sensitive": ["s"]}
    found = attack(table, frame, name, others=others, **roles).to_dict()
    wanted = attack(release, frame, name, others=others).to_dict()
    assert found["others"] == wanted["others"]


@pytest.mark.parametrize("name", ["singling-out", "inference"])
def test_a_plan_is_not_laid_over_others(name):
    frame = people(300, 1)
    promise, method = JOBS["mondrian"]
    plan = rt.plan(rt.Job(columns={**COLUMNS, "s": rt.sensitive()}, promises=[promise], method=method), frame=frame)
    with pytest.raises(rt.RequestError, match="A plan is attacked"):
        attack(plan, name=name, others=frame)
