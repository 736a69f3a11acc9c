"""`bandwidth = "auto"`: the bandwidths by which the other people predict the sensitive column best."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial
from math import log2

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.catalogue.promise_fields import BANDWIDTH_CHOICES
from reticent.cli.main import main
from reticent.errors import JobError, RequestError
from reticent.models.background_knowledge import bt_privacy
from reticent.models.background_knowledge.adversary import MAX_COLUMN_VALUES
from reticent.models.background_knowledge.bandwidth_choice import HeldOutScores, choose_bandwidths
from tests.oracle import background
from tests.support.background_tables import draw

COLUMNS = {"age": rt.quasi(), "sex": rt.quasi(), "shoe": rt.quasi(), "disease": rt.sensitive()}


def make_people(rows: int = 900) -> pl.DataFrame:
    """People whose disease goes with their age and sex, and not with their shoes."""
    rng = np.random.default_rng(14)
    age = rng.integers(20, 80, rows)
    sex = rng.choice(["F", "M"], rows)
    names = np.array(["flu", "cancer", "asthma", "ulcer", "gout", "cold"])
    disease = names[np.minimum((age - 20) // 15 + rng.integers(0, 2, rows) + (sex == "M"), 5)]
    return pl.DataFrame({"age": age, "sex": sex, "shoe": rng.integers(36, 47, rows), "disease": disease})


PEOPLE = make_people()


def make_job(promise=None, method=None, columns=COLUMNS):
    return rt.Job(
        columns=columns, promises=[promise or rt.BTPrivacy("auto", "0.2")], method=method or rt.Mondrian(labels="sets")
    )


def held_out_score(drawn, bandwidths) -> float:
    """The mean log2 of what everybody else, and one person like all of them, say of each person's own value."""
    rows = drawn.rows
    kernel = drawn.how["kernel"]
    total = 0.0
    counted = 0
    for i, (q, value) in enumerate(rows):
        holders = sum(other == value for _, other in rows)
        if holders == 1:
            continue
        counted += 1
        own = Fraction(holders - 1, len(rows) - 1)
        everyone = Fraction(1)
        for j, (other_q, other) in enumerate(rows):
            if i == j:
                continue
            weight = Fraction(1)
            for a, b, measure, bandwidth in zip(q, other_q, drawn.measures, bandwidths, strict=True):
                weight *= background.kernel(background.distance(measure, a, b), bandwidth, kernel, a == b)
            everyone += weight
            own += weight if other == value else 0
        total += log2(float(own / everyone))
    return total / counted if counted else 0.0


def test_who_knows_all_and_who_knows_nothing_predict_alike_where_everybody_stands_alone():
    frame = pl.DataFrame({"a": range(12), "s": ["x", "y", "z"] * 4})
    columns = {"a": rt.quasi(), "s": rt.sensitive()}
    cells = rt.count(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame)
    scores = HeldOutScores(cells, 0, "epanechnikov", {})
    assert scores.measure((Fraction(0),)) == pytest.approx(scores.measure(("whole",))) == pytest.approx(log2(3 / 11))
    assert choose_bandwidths(cells, 0, "epanechnikov").bandwidths == {"a": "whole"}


def test_a_table_in_which_nobody_can_be_predicted_leaves_the_adversary_without_knowledge():
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "s": ["w", "x", "y", "z"]})
    job = rt.Job(columns={"a": rt.quasi(), "s": rt.sensitive()}, promises=[rt.BTPrivacy("auto", 1)])
    release = rt.publish(job, frame=frame, seed=1)
    assert release.manifest.promises[0].parameters["bandwidth"] == {"a": "whole"}
    assert rt.audit(release, source=frame, job=job).kept


def test_the_score_is_that_of_leaving_every_person_out_once():
    for seed in range(40):
        drawn = draw(seed, most=14)
        cells = rt.count(drawn.job(), frame=drawn.frame)
        scores = HeldOutScores(cells, 0, drawn.how["kernel"], {})
        for position in (0, 3, 7, 10, len(BANDWIDTH_CHOICES) - 1):
            wanted = [BANDWIDTH_CHOICES[position]] * len(drawn.quasi)
            meant = tuple(scores.match_grid(axis, bandwidth) for axis, bandwidth in enumerate(wanted))
            assert scores.measure(meant) == pytest.approx(held_out_score(drawn, wanted), rel=1e-9)


def test_no_other_bandwidth_of_the_grid_predicts_better_in_one_column():
    for seed in range(40, 60):
        drawn = draw(seed, most=14)
        cells = rt.count(drawn.job(), frame=drawn.frame)
        choice = choose_bandwidths(cells, 0, drawn.how["kernel"])
        chosen = list(choice.bandwidths.values())
        best = held_out_score(drawn, chosen)
        assert choice.bits == pytest.approx(best, rel=1e-9)
        assert choice.gain >= 0
        for axis in range(len(chosen)):
            for other in BANDWIDTH_CHOICES:
                changed = [*chosen[:axis], other, *chosen[axis + 1 :]]
                assert held_out_score(drawn, changed) <= best + 2e-6


def test_what_predicts_nothing_is_known_of_nobody_and_what_does_is_known():
    cells = rt.count(make_job(), frame=PEOPLE)
    chosen = choose_bandwidths(cells, 0, "epanechnikov")
    assert chosen.bandwidths["shoe"] == "whole" or chosen.bandwidths["shoe"] >= 1
    assert chosen.bandwidths["age"] <= Fraction(3, 10)
    assert chosen.gain > 0.5


def test_the_choice_depends_on_no_order_of_rows():
    shuffled = PEOPLE.sample(fraction=1.0, shuffle=True, seed=3)
    manifests = [rt.publish(make_job(), frame=frame, seed=1).manifest for frame in (PEOPLE, shuffled)]
    assert manifests[0].promises == manifests[1].promises


@pytest.mark.parametrize("method", [rt.Mondrian(labels="sets"), rt.Anatomy()], ids=lambda method: method.name)
def test_the_manifest_has_the_numbers_and_the_audit_recomputes_the_choice(method, tmp_path):
    job = make_job(method=method)
    release = rt.publish(job, frame=PEOPLE, to=tmp_path / "r", seed=1)
    stated = release.manifest.promises[0].parameters
    assert set(stated["bandwidth"]) == {"age", "sex", "shoe"}
    assert stated["bandwidth_by"] == "held-out"
    audit = rt.audit(tmp_path / "r", source=PEOPLE, job=job)
    assert audit.kept and not audit.disagreements
    assert audit.promises[0].achieved["bandwidth_is_best"] is True
    attack = rt.attack(release, PEOPLE, "background").to_dict()
    assert attack["vulnerable"] == 0 and attack["bandwidth"] == pytest.approx(dict(stated["bandwidth"]))
    assert rt.attack(release, PEOPLE, "background", bandwidth="auto", t="0.2").to_dict()["vulnerable"] == 0


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_every_engine_chooses_the_same(engine, tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    job = make_job().at(source=rt.Source(path=str(tmp_path / "people.csv")))
    release = rt.publish(job, engine=engine, seed=1)
    assert release.manifest.promises == rt.publish(make_job(), frame=PEOPLE, seed=1).manifest.promises


def test_bandwidths_that_the_table_did_not_choose_are_not_stated_as_chosen():
    release = rt.publish(make_job(), frame=PEOPLE, seed=1)
    stated = dict(release.manifest.promises[0].parameters["bandwidth"])
    for other in ({**stated, "age": 1}, {**stated, "age": "whole"}, {**stated, "age": Fraction(7, 100)}):
        promise = rt.BTPrivacy(other, 1, bandwidth_by="held-out")
        found = rt.audit(release, source=PEOPLE, promises=[promise]).promises[1]
        assert found.kept is False and found.achieved["bandwidth_is_best"] is False
        with pytest.raises(JobError, match="chooses others"):
            rt.publish(make_job(promise), frame=PEOPLE)
    same = rt.publish(make_job(rt.BTPrivacy(stated, "0.2", bandwidth_by="held-out")), frame=PEOPLE, seed=1)
    assert same.manifest.promises == release.manifest.promises


def test_a_release_that_states_no_numbers_is_not_judged():
    release = rt.publish(make_job(), frame=PEOPLE, seed=1)
    with pytest.raises(JobError, match='"auto", which is no adversary'):
        rt.audit(release, source=PEOPLE, promises=[rt.BTPrivacy("auto", "0.2")])


def test_missing_and_joint_values_are_values_like_others():
    columns = {**COLUMNS, "disease": rt.sensitive(missing="category"), "ward": rt.sensitive()}
    whole = PEOPLE.with_columns(pl.Series("ward", ["a", "b", "c"] * 300))
    job = make_job(rt.BTPrivacy("auto", "0.9"), columns=columns).at(jointly=True)
    assert rt.audit(rt.publish(job, frame=whole, seed=1), source=whole).kept
    missing = whole.with_columns(pl.when(pl.col("shoe") == 40).then(None).otherwise(pl.col("disease")).alias("disease"))
    one = make_job(rt.BTPrivacy("auto", "0.9", column="disease"), columns=columns)
    assert rt.audit(rt.publish(one, frame=missing, seed=1), source=missing).kept


def test_a_column_of_too_many_values_is_matched_exactly_or_not_at_all():
    rows = MAX_COLUMN_VALUES + 100
    people = make_people(rows).with_columns(age=pl.col("age") * rows + pl.int_range(rows))
    release = rt.publish(make_job(rt.BTPrivacy("auto", "0.9")), frame=people, seed=1)
    assert release.manifest.promises[0].parameters["bandwidth"]["age"] in (0, "whole")
    assert rt.audit(release, source=people).kept


def test_a_table_on_which_trials_take_too_long_is_refused_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(bt_privacy, "choose_bandwidths", partial(choose_bandwidths, max_work=10))
    with pytest.raises(JobError, match="No bandwidth can be chosen"):
        rt.publish(make_job(), frame=PEOPLE, to=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_auto_is_for_all_columns_of_one_adversary():
    for bad in ({"age": "auto", "default": 0}, "Auto", ["auto"]):
        with pytest.raises(JobError):
            rt.BTPrivacy(bad, "0.2")
    with pytest.raises(JobError):
        rt.Skyline(points=[{"bandwidth": "auto", "t": "0.2"}])
    with pytest.raises(JobError):
        rt.BTPrivacy("auto", "0.2", bandwidth_by="me")


def test_check_shows_the_risk_and_the_cost_of_the_best_predictor_and_what_it_pastes_is_accepted(tmp_path, capsys):
    PEOPLE.write_csv(tmp_path / "people.csv")
    job = make_job(rt.BTPrivacy("0.3", "0.2")).at(source=rt.Source(path=str(tmp_path / "people.csv")))
    (tmp_path / "job.toml").write_text(job.to_toml(), encoding="utf-8")
    assert main(["check", str(tmp_path / "job.toml"), "--json"]) == 0
    advice = next(entry for entry in json.loads(capsys.readouterr().out)["advice"] if entry["about"] == "skyline")
    predictor = advice["predictor"]
    planned = rt.plan(make_job(), frame=PEOPLE)
    assert predictor["ail"] == pytest.approx(planned.loss)
    assert predictor["bits"] > predictor["bits_without"]
    assert predictor["risk"] > 0 and 'bandwidth = "auto"' in predictor["paste"]
    assert main(["check", str(tmp_path / "job.toml")]) == 0
    assert "The adversary who predicts 'disease' best" in capsys.readouterr().out


def test_the_attack_takes_it_from_the_command_line(tmp_path, capsys):
    PEOPLE.write_csv(tmp_path / "people.csv")
    rt.publish(make_job(rt.KAnonymity(3)), frame=PEOPLE, to=tmp_path / "r", seed=1)
    command = ["attack", str(tmp_path / "r"), "--source", str(tmp_path / "people.csv"), "--as", "background"]
    assert main([*command, "--bandwidth", "auto", "--t", "0.2", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["bandwidth"]) == {"age", "sex", "shoe"}
    with pytest.raises(RequestError):
        rt.attack(tmp_path / "r", PEOPLE, "background", bandwidth={"age": "auto"}, t="0.2")


def test_a_bucketized_release_warns_of_people_who_are_alone_and_of_beliefs_that_were_certain():
    frame = pl.DataFrame({"a": range(8), "s": ["x", "y"] * 4})
    columns = {"a": rt.quasi(), "s": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.BTPrivacy(0, "0.2")], method=rt.Anatomy())
    warned = []
    rt.publish(job, frame=frame, seed=1, warn=warned.append)
    assert "8 people stand alone" in warned[0] and "knew the value of 8" in warned[1]
    checked = rt.check(job, frame=frame, methods=["anatomy"])
    assert any("8 people stand alone" in sentence for sentence in checked.warnings)
