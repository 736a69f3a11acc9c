"""The background knowledge attack: on releases, on anatomized ones, on tables of other tools, with beliefs of one's own."""

from __future__ import annotations

import csv
import json
from datetime import date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from random import Random

import polars as pl
import pytest

import reticent as rt
from reticent import datasets
from reticent.cli.main import main
from reticent.errors import JobError, RequestError
from tests.oracle import background as oracle

MADE = Path(__file__).parent.parent / "peers" / "made"
COLUMNS = {"age": rt.quasi(), "gender": rt.quasi(type="categorical"), "salary_class": rt.sensitive()}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    found = datasets.load("census", rows=800, seed=4).select("age", "gender", "salary_class")
    return found.with_columns(pl.col("salary_class").cast(pl.Int64) // 10)


@pytest.fixture(scope="module")
def release(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("background") / "release"
    bandwidth = {"age": Fraction(1, 20), "gender": 0}
    job = rt.Job(columns=COLUMNS, promises=[rt.BTPrivacy(bandwidth, 0.05)])
    rt.publish(job, frame=people, to=folder, seed=1)
    return folder


def test_asked_at_the_promised_bandwidth_and_t_it_finds_nobody(release, people):
    found = rt.attack(release, people, "background").to_dict()
    assert found["vulnerable"] == 0
    assert found["worst_risk"] <= 0.05
    assert found["t"] == 0.05
    assert found["bandwidth"] == {"age": 0.05, "gender": 0.0}
    assert found["posterior"] == "omega"
    assert found["membership"] == "known"
    assert sum(found["histogram"]["people"]) == 800
    assert list(found)[:8] == ["attack", "targets", "success", "low", "high", "baseline", "worst_posterior", "promised"]


def test_who_infers_exactly_learns_more_than_omega_says(release, people):
    exactly = rt.attack(release, people, "background", posterior="exact").to_dict()
    assert exactly["exact_share"] > 0.5
    assert exactly["worst_risk"] > 0.05
    assert exactly["vulnerable"] > 0


def test_the_ignorant_adversary_of_section_ii_d_learns_from_the_table_itself(release, people):
    assert rt.attack(release, people, "background", prior="uniform", t=0.2).to_dict()["worst_risk"] > 0.2


def test_an_anatomized_release_is_attacked_in_its_groups(people):
    made = rt.publish(
        rt.Job(columns=COLUMNS, promises=[rt.ProbabilisticLDiversity(2)], method=rt.Anatomy()), frame=people, seed=1
    )
    found = rt.attack(made, people, "background", bandwidth=0.3, t=0.2).to_dict()
    assert found["membership"] == "known"
    assert found["vulnerable"] > 200


def test_a_perturbed_release_has_no_groups_to_learn_from(people):
    made = rt.publish(
        rt.Job(columns=COLUMNS, promises=[rt.BetaLikeness(4)], method=rt.BetaPerturbation()), frame=people, seed=1
    )
    try:
        found = rt.attack(made, people, "background", bandwidth=0.3, t=0.2).to_dict()
    except RequestError:
        return
    assert 0 <= found["worst_risk"] <= 1


def peer(name):
    with open(MADE / name, newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def test_a_table_of_anjana_gives_what_the_oracle_gives():
    source, made = peer("people.csv"), peer("anjana_t.csv")
    tree = [line.split(";") for line in (MADE / "town.csv").read_text().split()]
    rows = [((int(row["age"]), row["town"]), row["illness"]) for row in source]
    north = {row[0]: row[1] for row in tree}
    labels = [("[0, 50)" if age < 50 else "[50, 100)", north[town]) for (age, town), _ in rows]
    boxes = sorted({(row["age"], row["town"]) for row in made})
    groups = [[i for i, label in enumerate(labels) if label == box] for box in boxes]
    if sorted(i for group in groups for i in group) != list(range(240)):
        pytest.skip("the table was cut otherwise")
    shown = [sorted(row["illness"] for row in made if (row["age"], row["town"]) == box) for box in boxes]
    line = oracle.on_a_line({age: age for (age, _), _ in rows})
    known = {
        q: oracle.prior(q, rows, [line, oracle.in_a_tree(tree)], [Fraction(3, 10), Fraction(3, 5)])
        for q in {q for q, _ in rows}
    }
    for posterior, rounds in oracle.ROUNDS.items():
        worst = 0.0
        for group, values in zip(groups, shown, strict=True):
            priors = [{v: float(x) for v, x in known[rows[i][0]].items()} for i in group]
            after = oracle.scaled(priors, values, rounds)
            worst = max(worst, *(oracle.js(p, q) for p, q in zip(priors, after, strict=True)))
        found = rt.attack(MADE / "anjana_t.csv", MADE / "people.csv", "background", quasi=["age", "town"], sensitive=["illness"],
                          hierarchy={"town": MADE / "town.csv"}, bandwidth={"age": 0.3, "town": 0.6}, t=0.2, posterior=posterior)  # fmt: skip
        assert found.to_dict()["membership"] == "known"
        assert found.to_dict()["worst_risk"] == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize(("name", "quasi", "tree", "source"), [
    ("anjana_suppressed.csv", ["age", "town"], "town", "people.csv"), ("arx.csv", ["age", "zip"], "zip", "arx_source.csv"),
])  # fmt: skip
def test_tables_with_suppressed_rows_are_attacked_too(name, quasi, tree, source):
    found = rt.attack(MADE / name, MADE / source, "background", quasi=quasi, sensitive=["illness"],
                      hierarchy={tree: MADE / f"{tree}.csv"}, bandwidth=0.3, t=0.1).to_dict()  # fmt: skip
    assert 0 < found["worst_risk"] < 1
    assert found["membership"] == ("shared" if name == "arx.csv" else found["membership"])


def test_tom_does_not_have_it(release, people, tmp_path):
    tom = people.row(0, named=True)
    beliefs = tmp_path / "tom.csv"
    pl.DataFrame(
        {"age": [tom["age"]], "gender": [tom["gender"]], "salary_class": [tom["salary_class"]], "belief": [0.0]}
    ).write_csv(beliefs)
    found = rt.attack(release, people, "background", prior=beliefs)
    assert 0 < found.to_dict()["worst_risk"] <= 1


@pytest.mark.parametrize(("how", "error"), [
    ({"bandwidth": -1}, JobError), ({"bandwidth": "wide"}, JobError), ({"bandwidth": {"age": 0.3}}, JobError),
    ({"bandwidth": {"age": 0.3, "gender": 1, "salary_class": 1}}, JobError), ({"t": 0}, JobError), ({"t": 2}, JobError),
    ({"posterior": "guess"}, JobError), ({"kernel": "boxcar"}, JobError), ({"smoothing": -1}, JobError),
    ({"prior": pl.DataFrame({"age": [40]})}, RequestError),
])  # fmt: skip
def test_bad_knowledge_is_refused(release, people, how, error):
    with pytest.raises(error):
        rt.attack(release, people, "background", **how)


def test_a_release_that_promises_no_bandwidth_asks_for_one(people):
    made = rt.publish(rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(5)]), frame=people, seed=1)
    with pytest.raises(RequestError, match="needs a bandwidth"):
        rt.attack(made, people, "background")


def test_the_command_line_answers_in_json(release, people, tmp_path, capsys):
    people.write_csv(tmp_path / "people.csv")
    call = ["attack", str(release), "--source", str(tmp_path / "people.csv"), "--as", "background", "--bandwidth", "age=0.2",
            "--bandwidth", "gender=whole", "--t", "0.2", "--posterior", "balanced", "--smoothing", "0", "--json"]  # fmt: skip
    assert main(call) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bandwidth"] == {"age": 0.2, "gender": "whole"}
    assert found["posterior"] == "balanced"
    assert main([*call[:6], "--bandwidth", "0.3", "--bandwidth", "age=0.2"]) == 1
    assert main([*call[:4], "--as", "naive-bayes", "--t", "0.2"]) == 1


def _columns(random: Random) -> dict[str, tuple[list, dict]]:
    day = date(2020, 1, 1)
    return {
        "date": ([day + timedelta(days=9 * random.randrange(40)) for _ in range(50)], {}),
        "time": ([datetime(2020, 1, 1) + timedelta(hours=random.randrange(400)) for _ in range(50)], {}),
        "float": ([random.randrange(30) / 7 for _ in range(50)], {}),
        "large": ([random.randrange(5) * 10**15 for _ in range(50)], {}),
        "text": ([f"{random.randrange(20)}.50" for _ in range(50)], {"type": "numeric"}),
        "flag": ([random.random() < 0.5 for _ in range(50)], {}),
        "built": (
            [random.choice("abcd") + random.choice("xyz") for _ in range(50)],
            {"hierarchy": {"build": "prefixes"}},
        ),
        "ends": ([random.randrange(90) for _ in range(50)], {"top": 60, "bottom": 10}),
        "domain": ([random.randrange(90) for _ in range(50)], {"domain": [-50, 150]}),
        "order": ([random.choice(["low", "mid", "high"]) for _ in range(50)], {"order": ["low", "mid", "high"]}),
    }


@pytest.mark.parametrize("name", _columns(Random(1)))
def test_planner_audit_and_attack_agree_on_every_type_of_column(name):
    values, how = _columns(Random(1))[name]
    random = Random(2)
    frame = pl.DataFrame({"q": values, "s": [random.choice([1, 2, 5.5]) for _ in values]}, strict=False)
    for bandwidth, smoothing in ((0.1, 0), (0.5, 0.6)):
        promise = rt.BTPrivacy(bandwidth, 0.4, smoothing=smoothing)
        job = rt.Job(columns={"q": rt.quasi(**how), "s": rt.sensitive()}, promises=[promise])
        made = rt.publish(job, frame=frame, seed=1)
        found, learned = rt.audit(made, source=frame, job=job), rt.attack(made, frame, "background").to_dict()
        assert found.kept
        assert learned["vulnerable"] == 0
        assert learned["worst_risk"] == pytest.approx(found.promises[0].achieved["t"], abs=1e-12)
