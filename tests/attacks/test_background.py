"""The background knowledge attack: on releases, on anatomized ones, on tables of other tools, with beliefs of one's own."""

from __future__ import annotations

import csv
import json
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

import polars as pl
import pytest

import reticent as rt
from reticent import datasets
from reticent.cli.main import main
from reticent.errors import JobError, RequestError
from tests.oracle import background as oracle
from tests.oracle import box_members

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
    assert found["posterior"] == "balanced"
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


PLAIN = {
    "anjana_k.csv": ("people.csv", "town"), "anjana_suppressed.csv": ("people.csv", "town"),
    "anjana_t.csv": ("people.csv", "town"), "arx.csv": ("arx_source.csv", "zip"),
}  # fmt: skip
BANDWIDTHS = [(Fraction(3, 10), Fraction(3, 5)), (Fraction(1, 10), "whole")]


def peer(name, quasi):
    with open(MADE / name, newline="", encoding="utf-8") as handle:
        rows = csv.DictReader(handle, delimiter=";" if name == "arx.csv" else ",")
        return [(tuple(row[column] for column in quasi), row["illness"]) for row in rows]


@cache
def prior_beliefs(source, tree, bandwidths):
    """The people of a source and what is believed of each before."""
    rows = [((int(age), place), value) for (age, place), value in peer(source, ("age", tree))]
    measures = [oracle.on_a_line({age: age for (age, _), _ in rows}), oracle.in_a_tree(lines(tree))]
    known = {q: oracle.prior(q, rows, measures, bandwidths) for q in {q for q, _ in rows}}
    return [q for q, _ in rows], [{v: float(x) for v, x in known[q].items()} for q, _ in rows]


def lines(tree):
    return [line.split(";") for line in (MADE / f"{tree}.csv").read_text().split()]


@pytest.mark.parametrize("posterior", ["omega", "balanced", "exact"])
@pytest.mark.parametrize("bandwidths", BANDWIDTHS)
@pytest.mark.parametrize("name", PLAIN)
def test_plain_tables_of_arx_and_anjana_give_what_the_oracle_gives(name, bandwidths, posterior):
    source, tree = PLAIN[name]
    people, priors = prior_beliefs(source, tree, bandwidths)
    risks, shared, exact = box_members.risks(people, priors, peer(name, ("age", tree)), [None, lines(tree)], posterior)
    worst = max(risks)
    for t in (Fraction(1, 20), Fraction(1, 5)):
        found = rt.attack(
            MADE / name,
            MADE / source,
            "background",
            quasi=["age", tree],
            sensitive=["illness"],
            t=t,
            hierarchy={tree: MADE / f"{tree}.csv"},
            bandwidth=dict(zip(("age", tree), bandwidths, strict=True)),
            posterior=posterior,
        ).to_dict()
        assert found["membership"] == ("shared" if shared else "known")
        assert found["worst_risk"] == pytest.approx(worst, abs=1e-12)
        assert found["vulnerable"] == sum(risk > t for risk in risks)
        assert found["histogram"]["people"] == [
            sum(min(int(risk * 20), 19) == at for risk in risks) for at in range(20)
        ]
        if posterior == "exact":
            assert found["exact_share"] == pytest.approx(exact)
            assert (exact == 0) is shared, "who is spread over boxes has no exact posterior"
    assert shared is (name == "arx.csv")


def test_the_oracle_spreads_as_it_enumerates():
    random = Random(3)
    for _ in range(40):
        values = [random.choice("xyz") for _ in range(random.randint(1, 5))]
        weights = [[random.randint(1, 9) for _ in "xyz"] for _ in values]
        priors = [{v: Fraction(w, sum(row)) for v, w in zip("xyz", row, strict=True)} for row in weights]
        for one, other in zip(box_members.exactly(priors, values), oracle.by_enumeration(priors, values), strict=True):
            assert one == pytest.approx({v: float(x) for v, x in other.items()})
        whole = box_members.scaled(dict(enumerate(priors)), dict.fromkeys(range(len(values)), 1), values, 1)
        assert list(whole.values()) == oracle.scaled(priors, values)


def test_people_whom_boxes_share_evenly_are_shared_too():
    source = pl.DataFrame({"age": [1, 1, 2, 2, 3, 3], "s": ["x", "y", "x", "x", "y", "y"]})
    table = pl.DataFrame({"age": ["[1, 2]"] * 3 + ["[2, 3]"] * 3, "s": ["x", "y", "x", "x", "y", "y"]})
    found = rt.attack(table, source, "background", quasi=["age"], sensitive=["s"], bandwidth=0, t=0.1).to_dict()
    rows = [((age,), s) for age, s in source.rows()]
    priors = [{v: float(x) for v, x in oracle.prior(q, rows, [oracle.flat], [0]).items()} for q, _ in rows]
    shown = [((label,), s) for label, s in table.rows()]
    risks, shared, _ = box_members.risks([q for q, _ in rows], priors, shown, [None])
    assert shared
    assert found["membership"] == "shared", (
        "one of the two people of age 2 in each box: a whole number, and yet not known"
    )
    assert found["worst_risk"] == pytest.approx(max(risks), abs=1e-12)
    assert sum(found["histogram"]["people"]) == 6


def test_tom_does_not_have_it(release, people, tmp_path):
    tom = people.row(0, named=True)
    beliefs = tmp_path / "tom.csv"
    pl.DataFrame(
        {"age": [tom["age"]], "gender": [tom["gender"]], "salary_class": [tom["salary_class"]], "belief": [0.0]}
    ).write_csv(beliefs)
    found = rt.attack(release, people, "background", prior=beliefs)
    assert 0 < found.to_dict()["worst_risk"] <= 1


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"bandwidth": -1}, JobError),
        ({"bandwidth": "wide"}, JobError),
        ({"bandwidth": {"age": 0.3}}, JobError),
        ({"bandwidth": {"age": 0.3, "gender": 1, "salary_class": 1}}, JobError),
        ({"t": 0}, JobError),
        ({"t": 2}, JobError),
        ({"posterior": "guess"}, JobError),
        ({"kernel": "boxcar"}, JobError),
        ({"smoothing": -1}, JobError),
        ({"prior": pl.DataFrame({"age": [40]})}, RequestError),
    ],
)
def test_bad_knowledge_is_refused(release, people, how, error):
    with pytest.raises(error):
        rt.attack(release, people, "background", **how)


def test_a_release_that_promises_no_bandwidth_asks_for_one(people):
    made = rt.publish(rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(5)]), frame=people, seed=1)
    with pytest.raises(RequestError, match="needs a bandwidth"):
        rt.attack(made, people, "background")


def test_the_command_line_answers_in_json(release, people, tmp_path, capsys):
    people.write_csv(tmp_path / "people.csv")
    call = [
        "attack",
        str(release),
        "--source",
        str(tmp_path / "people.csv"),
        "--as",
        "background",
        "--bandwidth",
        "age=0.2",
        "--bandwidth",
        "gender=whole",
        "--t",
        "0.2",
        "--posterior",
        "balanced",
        "--smoothing",
        "0",
        "--json",
    ]
    assert main(call) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bandwidth"] == {"age": 0.2, "gender": "whole"}
    assert found["posterior"] == "balanced"
    assert main([*call[:4], "--as", "naive-bayes", "--t", "0.2"]) == 1


def test_a_bandwidth_for_all_columns_may_have_exceptions(release, people, tmp_path, capsys):
    people.write_csv(tmp_path / "people.csv")
    call = ["attack", str(release), "--source", str(tmp_path / "people.csv"), "--as", "background", "--t", "0.2"]
    assert main([*call, "--bandwidth", "whole", "--bandwidth", "age=0.2", "--json"]) == 0
    by_default = json.loads(capsys.readouterr().out)
    assert by_default.pop("bandwidth") == {"default": "whole", "age": 0.2}
    in_full = rt.attack(release, people, "background", bandwidth={"age": 0.2, "gender": "whole"}, t=0.2).to_dict()
    assert by_default["worst_risk"] == in_full["worst_risk"] > 0
    assert by_default["vulnerable"] == in_full["vulnerable"]
    assert main([*call, "--bandwidth", "0.3", "--bandwidth", "gander=0.2"]) == 1
    assert "'gander', which is not quasi-identifying" in capsys.readouterr().err


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
        found = rt.audit(made, source=frame, job=job)
        learned = rt.attack(made, frame, "background").to_dict()
        assert found.kept
        assert learned["vulnerable"] == 0
        assert learned["worst_risk"] == pytest.approx(found.promises[0].achieved["t"], abs=1e-12)


SMALL = pl.DataFrame({"a": [0, 0, 0, 1, 1, 1, 1], "s": ["x", "x", "y", "y", "z", "z", "x"]})


def small_release(**sensitive):
    columns = {"a": rt.quasi(), "s": rt.sensitive(**sensitive)}
    return rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(3)]), frame=SMALL, seed=1)


def small_beliefs():
    """(prior, posterior) of both groups for who knows the overall distribution: the group's histogram, by Omega."""
    whole = {value: Fraction(n, 7) for value, n in (("x", 3), ("y", 2), ("z", 2))}
    first = {"x": Fraction(2, 3), "y": Fraction(1, 3), "z": Fraction(0)}
    second = {value: Fraction(n, 4) for value, n in (("x", 1), ("y", 1), ("z", 2))}
    return whole, (first, second)


def test_kl_is_infinite_where_a_group_rules_out_what_was_believed_and_json_and_text_say_so(tmp_path, capsys):
    release = small_release()
    found = rt.attack(release, SMALL, "background", bandwidth="whole", t="0.2", divergence="kl").to_dict()
    assert found["divergence"] == "kl"
    assert found["worst_risk"] is None and found["infinite"] == 3 and found["vulnerable"] == 3
    whole, (_, second) = small_beliefs()
    assert oracle.kl(whole, second) < 0.2 < found["histogram"]["edges"][-1]
    assert json.loads(json.dumps(found, allow_nan=False))["worst_risk"] is None
    release.save(tmp_path / "r")
    SMALL.write_csv(tmp_path / "s.csv")
    command = ["attack", str(tmp_path / "r"), "--source", str(tmp_path / "s.csv"), "--as", "background"]
    assert main([*command, "--bandwidth", "whole", "--t", "0.2", "--divergence", "kl"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "the worst without bound" in said and "The divergence is infinite for 3 of them" in said


def test_emd_moves_beliefs_over_the_hierarchy_the_order_or_equal_distances():
    whole, groups = small_beliefs()
    equal = max(sum(abs(whole[v] - after[v]) for v in "xyz") / 2 for after in groups)
    ordered = max(
        (abs(whole["x"] - after["x"]) + abs(whole["x"] + whole["y"] - after["x"] - after["y"])) / 2 for after in groups
    )
    tree = [["x", "n", "*"], ["y", "n", "*"], ["z", "m", "*"]]
    options = {"bandwidth": "whole", "t": "0.2", "divergence": "emd"}
    for sensitive, expected in (({}, equal), ({"order": ["x", "y", "z"]}, ordered)):
        found = rt.attack(small_release(**sensitive), SMALL, "background", **options).to_dict()
        assert found["worst_risk"] == pytest.approx(float(expected)) and found["infinite"] == 0
    under_n = [after["x"] + after["y"] - whole["x"] - whole["y"] for after in groups]
    within = []
    for after in groups:
        gained = sum(max(after[v] - whole[v], 0) for v in "xy")
        lost = sum(max(whole[v] - after[v], 0) for v in "xy")
        within.append(min(gained, lost))
    hierarchical = max(abs(moved) + Fraction(1, 2) * inner for moved, inner in zip(under_n, within, strict=True))
    found = rt.attack(small_release(hierarchy=tree), SMALL, "background", **options).to_dict()
    assert found["worst_risk"] == pytest.approx(float(hierarchical))


def test_an_unknown_divergence_is_refused(release, people):
    for bad in ("hellinger", 3, None, ["js"]):
        with pytest.raises(RequestError, match="divergence"):
            rt.attack(release, people, "background", divergence=bad)


def test_the_headline_says_where_exact_inference_exceeds_t(capsys, tmp_path):
    rows = [("a", "x"), ("a", "x"), ("a", "y"), ("b", "y"), ("b", "y"), ("b", "z"), ("c", "z"), ("c", "x"), ("c", "z")]
    frame = pl.DataFrame({"q": [q for q, _ in rows], "s": [s for _, s in rows]})
    job = rt.Job(columns={"q": rt.quasi(), "s": rt.sensitive()}, promises=[rt.KAnonymity(9)])
    release = rt.publish(job, frame=frame, to=tmp_path / "r", seed=1)
    frame.write_csv(tmp_path / "s.csv")
    achieved = rt.audit(release, source=frame, promises=[rt.BTPrivacy(0, 1)]).promises[1].achieved
    assert achieved["t"] < achieved["t_exact"]
    between = Fraction(achieved["t"] + achieved["t_exact"]) / 2
    audit = rt.audit(release, source=frame, promises=[rt.BTPrivacy(0, between)])
    assert audit.promises[1].kept is True
    (caveat,) = audit.caveats
    assert f"{achieved['t_exact']:.4f}" in caveat and "balanced" in caveat and "100%" in caveat
    assert str(audit).splitlines()[1] == caveat and audit.to_dict()["caveats"] == [caveat]
    assert caveat in audit._repr_html_()
    assert rt.audit(release, source=frame, promises=[rt.BTPrivacy(0, achieved["t_exact"] + 1e-6)]).caveats == ()
