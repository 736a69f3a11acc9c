"""Advice of refused attacks: provoked and followed, on a release of each kind."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import polars as pl
import pytest

import reticent as rt
from reticent.errors import RequestError
from tests.advice.cases import CaseTable, Desk, Steps
from tests.advice.kind_releases import publish_kind
from tests.support import contract_examples
from tests.support.contract_examples import CITIES, ILLNESS, people, skewed

TABLE = CaseTable()
follows = TABLE.follows

BACKGROUND = {"bandwidth": 0.3, "t": 0.7}


def attack(kind: str, name: str, source: Any = None, **options: Any) -> Any:
    """Attack a release of a kind; without a source, with the people that it was made from."""
    return rt.attack(publish_kind(kind), name=name, source=people() if source is None else source, **options)


@cache
def plan_release() -> Any:
    """Return a plan of the generalized release."""
    job = rt.Job(columns=contract_examples.columns("illness"), promises=[rt.KAnonymity(3)], method=rt.Mondrian())
    return rt.plan(job, frame=people())


@cache
def publish_categories() -> rt.Release:
    """Return a release whose labels are categories and single values: it has no range."""
    columns = {
        "name": rt.identifying(),
        "city": rt.quasi(hierarchy=CITIES),
        "illness": rt.sensitive(hierarchy=[[row[0], "*"] for row in ILLNESS]),
    }
    return rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(3)]), frame=people().select(*columns))


@cache
def publish_suppressed() -> rt.Release:
    """Return a release from which suppression withheld rows."""
    job = rt.Job(
        columns=contract_examples.columns("illness"),
        promises=[rt.KAnonymity(3)],
        method=rt.Mondrian(),
        prepare=[rt.Suppression(l=2)],
    )
    return rt.publish(job, frame=skewed())


@cache
def publish_two_sensitive() -> rt.Release:
    columns = contract_examples.columns("illness", {"wage": rt.sensitive()})
    job = rt.Job(
        columns=columns,
        promises=[rt.KAnonymity(3)],
        method=rt.Mondrian(),
        prepare=[rt.Suppression(l=2, column="illness")],
    )
    return rt.publish(job, frame=skewed())


def attack_two(column: str | None) -> Any:
    return rt.attack(publish_two_sensitive(), name="eligibility", column=column)


def strangers() -> pl.DataFrame:
    """People of the same ages and cities, in other combinations."""
    return people().with_columns(age=pl.col("age").shuffle(seed=1))


# Which releases, plans and tables an attack reads.


@follows("attacks/__init__.py", "source=..., --source DATA.")
def attack_without_people(desk: Desk) -> Steps:
    yield lambda: rt.attack(publish_kind("generalized"), name="skewness")
    yield lambda: attack("generalized", "skewness")
    people().write_csv(desk / "people.csv")
    yield desk.command("attack", publish_kind("generalized").folder, "--as", "skewness", "--source", "people.csv")


@follows("attacks/__init__.py", "leaving them out.")
def attack_release_with_roles(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "skewness", quasi=["age"])
    yield lambda: attack("generalized", "skewness")


@follows("attacks/__init__.py", "a folder that `reticent publish` made, or another attack.")
def attack_table_that_lacks_a_manifest(desk: Desk) -> Steps:
    roles: dict[str, Any] = {"quasi": ["age", "city"], "sensitive": ["illness"]}
    table = people().select("age", "city", "illness")
    yield lambda: rt.attack(table, name="composition", source=people(), **roles)
    yield lambda: attack("generalized", "composition", joined=[publish_kind("anatomized")])
    yield lambda: rt.attack(table, name="skewness", source=people(), **roles)


@follows("attacks/__init__.py", "leaving the source out.")
def attack_plan_with_source(desk: Desk) -> Steps:
    yield lambda: rt.attack(plan_release(), name="skewness", source=people())
    yield lambda: rt.attack(plan_release(), name="skewness")


@follows("attacks/__init__.py", "rt.publish(...) first.")
def attack_plan_that_has_no_files(desk: Desk) -> Steps:
    yield lambda: rt.attack(plan_release(), name="minimality")
    yield lambda: attack("generalized", "minimality")


@follows("attacks/__init__.py", "rt.publish(...) first, or leaving others out.")
def attack_plan_for_others(desk: Desk) -> Steps:
    yield lambda: rt.attack(plan_release(), name="inference", others=people())
    yield lambda: attack("generalized", "inference", others=people())
    yield lambda: rt.attack(plan_release(), name="inference")


@follows("attacks/target.py", "--quasi A,B and --sensitive C, or --job JOB.")
def attack_table_without_roles(desk: Desk) -> Steps:
    people().write_csv(desk / "people.csv")
    (desk / "job.toml").write_text(
        '[source]\npath = "people.csv"\n[columns]\nname = "identifying"\nage = "quasi-identifying"\n'
        'city = "quasi-identifying"\nillness = "sensitive"\nwage = "identifying"\n[[promise]]\nmodel = "k-anonymity"\nk = 3\n'
    )
    words = ("attack", "people.csv", "--source", "people.csv", "--as", "skewness")
    yield desk.command(*words)
    yield desk.command(*words, "--quasi", "age,city", "--sensitive", "illness")
    yield desk.command(*words, "--job", "job.toml")


@follows("attacks/target.py", "--quasi or --sensitive.")
def attack_table_with_hierarchy_of_no_role(desk: Desk) -> Steps:
    people().write_csv(desk / "people.csv")
    (desk / "city.csv").write_text("".join(";".join(row) + "\n" for row in CITIES))
    (desk / "illness.csv").write_text("".join(";".join(row) + "\n" for row in ILLNESS))
    words = ("attack", "people.csv", "--source", "people.csv", "--as", "skewness")
    yield desk.command(*words, "--quasi", "age", "--sensitive", "illness", "--hierarchy", "city=city.csv")
    yield desk.command(*words, "--quasi", "age,city", "--sensitive", "illness", "--hierarchy", "city=city.csv")
    yield desk.command(*words, "--quasi", "age,city", "--sensitive", "illness", "--hierarchy", "illness=illness.csv")


@follows("attacks/target.py", "the data that it was made from.")
def attack_table_with_values_of_others(desk: Desk) -> Steps:
    roles: dict[str, Any] = {"quasi": ["age", "city"], "sensitive": ["illness"]}
    table = people().select("age", "city", "illness")
    yield lambda: rt.attack(table, name="skewness", source=people().with_columns(illness=pl.lit("flu")), **roles)
    yield lambda: rt.attack(table, name="skewness", source=people(), **roles)


@follows("attacks/target.py", "the data that the release was made from.")
def attack_with_source_that_lacks_a_column(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "skewness", people().drop("city"))
    yield lambda: attack("generalized", "skewness")


@follows("labels/adversary_view.py", "the data that the release was made from.")
def attack_exact_rows_of_strangers(desk: Desk) -> Steps:
    yield lambda: attack("anatomized", "skewness", strangers())
    yield lambda: attack("anatomized", "skewness")


@follows(
    "labels/adversary_view.py",
    "--hierarchy …=FILE, the hierarchy by which the table was made (`reticent hierarchy` builds one from the source), or "
    "the source as it was read then.",
)
def attack_table_whose_labels_nothing_explains(desk: Desk) -> Steps:
    zips = ["12001", "12002", "12003", "13001", "13002", "13003"]
    illnesses = ["flu", "cold", "gout"] * 2
    pl.DataFrame({"zip": zips, "illness": illnesses}).write_csv(desk / "people.csv")
    pl.DataFrame({"zip": [text[:2] + "***" for text in zips], "illness": illnesses}).write_csv(desk / "table.csv")
    words = ("attack", "table.csv", "--quasi", "zip", "--sensitive", "illness", "--source", "people.csv")
    yield desk.command(*words, "--as", "skewness")
    build = ("--build", "prefixes", "--with", "keep=[2]", "-o", "zip.csv")
    yield desk.command("hierarchy", "--data", "people.csv", "--column", "zip", *build)
    yield desk.command(*words, "--as", "skewness", "--hierarchy", "zip=zip.csv")


# Attacks that are of no use on a kind of release.


@follows("attacks/algorithm.py", "another attack, or a transformed release.")
def attack_release_without_targets(desk: Desk) -> Steps:
    yield lambda: rt.attack(publish_kind("generalized"), name="algorithm")
    yield lambda: attack("generalized", "skewness")
    yield lambda: rt.attack(publish_kind("transformed"), name="algorithm")


@follows("attacks/downcoding.py", "another attack.")
def downcode_exact_values(desk: Desk) -> Steps:
    yield lambda: attack("anatomized", "downcoding")
    yield lambda: attack("anatomized", "naive-bayes")


@follows("attacks/downcoding.py", "k = 5.")
def downcode_groups_of_nobody(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "downcoding", k=0)
    yield lambda: attack("generalized", "downcoding", k=5)


@follows("attacks/downcoding.py", "another attack: every label is a category, a single value or `*`.")
def downcode_categories(desk: Desk) -> Steps:
    yield lambda: rt.attack(publish_categories(), name="downcoding", source=people())
    yield lambda: rt.attack(publish_categories(), name="skewness", source=people())


@follows("attacks/downcoding.py", "pip install 'reticent[stats]', or programme = False.")
def downcode_without_scipy(desk: Desk) -> Steps:
    def refuse() -> Any:
        with desk.patch.context() as patch:
            patch.setitem(__import__("sys").modules, "scipy.optimize", None)
            return attack("generalized", "downcoding", programme=True)

    yield refuse
    yield lambda: attack("generalized", "downcoding", programme=True)
    yield lambda: attack("generalized", "downcoding", programme=False)


@follows("attacks/eligibility/attack.py", "another attack.")
def attack_withholding_where_nothing_was(desk: Desk) -> Steps:
    yield lambda: rt.attack(publish_kind("generalized"), name="eligibility")
    yield lambda: attack("generalized", "skewness")


@follows("attacks/eligibility/attack.py", "one of its sensitive columns.")
def attack_withholding_by_another_column(desk: Desk) -> Steps:
    yield lambda: attack_two("age")
    yield lambda: attack_two("illness")


@follows("attacks/linkability.py", "another attack: whoever knows somebody's quasi-identifiers finds the row.")
def link_exact_values(desk: Desk) -> Steps:
    yield lambda: attack("anatomized", "linkability")
    yield lambda: attack("anatomized", "skewness")


@follows("attacks/linkability.py", "first = […].")
def link_everything(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "linkability", first=["age", "city"])
    yield lambda: attack("generalized", "linkability", first=["age"])


@follows("attacks/minimality/attack.py", "the attack 'algorithm', which knows that method.")
def publish_targets_again(desk: Desk) -> Steps:
    yield lambda: attack("transformed", "minimality")
    yield lambda: rt.attack(publish_kind("transformed"), name="algorithm")


@follows("attacks/minimality/attack.py", "… = 20.")
def publish_again_with_no_key(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "minimality", draws=0)
    yield lambda: attack("generalized", "minimality", draws=20)


@follows("attacks/overlap.py", "another attack.")
def separate_exact_values(desk: Desk) -> Steps:
    yield lambda: attack("anatomized", "overlap")
    yield lambda: attack("anatomized", "skewness")


@follows("attacks/overlap.py", "another attack: everybody is in the group whose label covers them.")
def separate_disjoint_labels(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "overlap")
    yield lambda: attack("generalized", "skewness")


@follows("attacks/perturbation.py", "another attack, or a release of beta-perturbation.")
def reconstruct_values_that_are_true(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "matrix")
    yield lambda: attack("generalized", "skewness")
    yield lambda: attack("perturbed", "matrix")


@follows("attacks/perturbation.py", "the data that the release was made from.")
def reconstruct_values_of_strangers(desk: Desk) -> Steps:
    yield lambda: attack("perturbed", "matrix", strangers())
    yield lambda: attack("perturbed", "matrix")


@follows("attacks/singling_out.py", "another attack: whoever knows somebody's quasi-identifiers finds the row.")
def single_out_exact_values(desk: Desk) -> Steps:
    yield lambda: attack("anatomized", "singling-out")
    yield lambda: attack("anatomized", "skewness")


@follows("attacks/singling_out.py", "another attack: every label is a category, a single value or `*`.")
def single_out_categories(desk: Desk) -> Steps:
    yield lambda: rt.attack(publish_categories(), name="singling-out", source=people())
    yield lambda: rt.attack(publish_categories(), name="skewness", source=people())


@follows("attacks/group_reading.py", "window = 5.")
def read_families_of_nobody(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "similarity", window=0)
    yield lambda: attack("generalized", "similarity", window=5)


@follows("attacks/group_reading.py", "a sensitive hierarchy with a level between, or window = 5.")
def read_families_without_a_level(desk: Desk) -> Steps:
    yield lambda: rt.attack(publish_categories(), name="similarity", source=people())
    yield lambda: attack("generalized", "similarity")
    yield lambda: rt.attack(publish_categories(), name="similarity", source=people(), window=5)


@follows("release/perturbed.py", "--as matrix, or reticent audit, which judges the matrix that values were redrawn by.")
def read_groups_of_redrawn_values(desk: Desk) -> Steps:
    yield lambda: attack("perturbed", "skewness")
    people().write_csv(desk / "people.csv")
    folder = publish_kind("perturbed").folder
    yield desk.command("attack", folder, "--source", "people.csv", "--as", "matrix")
    yield desk.command("audit", folder)


@follows("release/sampled.py", "--as corruption, the attack that it is made against.")
def read_groups_of_one_value(desk: Desk) -> Steps:
    yield lambda: attack("sampled", "skewness")
    people().write_csv(desk / "people.csv")
    yield desk.command(
        "attack", publish_kind("sampled").folder, "--source", "people.csv", "--as", "corruption", "--lambda", "0.4"
    )


# Background knowledge.


@follows("attacks/background.py", "--bandwidth 0.3 --t 0.2.")
def know_nothing_stated(desk: Desk) -> Steps:
    people().write_csv(desk / "people.csv")
    words = ("attack", publish_kind("generalized").folder, "--source", "people.csv", "--as", "background")
    yield desk.command(*words)
    yield desk.command(*words, "--bandwidth", "0.3", "--t", "0.2")


@follows("attacks/background.py", "--t 0.2.")
def know_a_bandwidth_and_no_t(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "background", bandwidth=0.3)
    yield lambda: attack("generalized", "background", bandwidth=0.3, t=0.2)


@follows("attacks/background.py", "--bandwidth 0.3.")
def know_a_t_and_no_bandwidth(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "background", t=0.2)
    yield lambda: attack("generalized", "background", t=0.2, bandwidth=0.3)


@follows("attacks/background.py", "the quasi-identifiers, the sensitive column, and `belief`.")
def believe_without_columns(desk: Desk) -> Steps:
    belief = people().head(1).select("age", "city", "illness", belief=pl.lit(0.5))
    yield lambda: attack("generalized", "background", prior=belief.drop("city"), **BACKGROUND)
    yield lambda: attack("generalized", "background", prior=belief, **BACKGROUND)


@follows("attacks/background.py", "quasi-identifiers of the source's own rows.")
def believe_of_strangers(desk: Desk) -> Steps:
    belief = people().head(1).select("age", "city", "illness", belief=pl.lit(0.5))
    outside = belief.with_columns(age=pl.lit(20), city=pl.lit("Rom"))
    yield lambda: attack("generalized", "background", prior=outside, **BACKGROUND)
    yield lambda: attack("generalized", "background", prior=belief, **BACKGROUND)


@follows(
    "attacks/background.py",
    "js (Jensen-Shannon), kl (Kullback-Leibler, which may be infinite) or emd (earth mover's distance).",
)
def measure_beliefs_by_unknown_divergence(desk: Desk) -> Steps:
    people().write_csv(desk / "people.csv")
    words = ("attack", publish_kind("generalized").folder, "--source", "people.csv", "--as", "background")
    knowledge = ("--bandwidth", "0.3", "--t", "0.7", "--divergence")
    yield desk.command(*words, *knowledge, "hellinger")
    for divergence in ("js", "kl", "emd"):
        yield desk.command(*words, *knowledge, divergence)


# Releases joined with one another.


@follows("attacks/composition/attack.py", "a release folder.")
def join_with_something_else(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "composition", joined=[people()])
    yield lambda: attack("generalized", "composition", joined=[publish_kind("anatomized").folder])


@follows("attacks/composition/attack.py", "rt.publish(...) first.")
def join_a_plan(desk: Desk) -> Steps:
    yield lambda: rt.attack(plan_release(), name="composition", joined=[publish_kind("anatomized")])
    yield lambda: attack("generalized", "composition", joined=[publish_kind("anatomized")])


@follows(
    "attacks/composition/alignment.py", "the data that all of them were made from, or --force-join (force_join=True)."
)
def join_releases_of_other_values(desk: Desk) -> Steps:
    mixed = people().with_columns(illness=pl.col("illness").shuffle(seed=3))
    columns = contract_examples.columns("illness")
    other = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(3)]), frame=mixed)
    yield lambda: attack("generalized", "composition", joined=[other])
    yield lambda: attack("generalized", "composition", joined=[publish_kind("anatomized")])
    yield lambda: attack("generalized", "composition", joined=[other], force_join=True)


def publish_wages(most: int) -> rt.Release:
    """Return a release of redrawn wages, of which a job declares those up to `most` as possible."""
    wage = rt.sensitive(domain=[0, most])
    job = rt.Job(
        columns={"age": rt.quasi(), "wage": wage},
        promises=[rt.RhoGuarantee("0.4", "0.7", "0.5")],
        method=rt.PerturbedGeneralization(k=2),
    )
    return rt.publish(job, frame=few_wages())


def few_wages() -> pl.DataFrame:
    """People with one of three wages."""
    return people().select("age", wage=pl.int_range(pl.len()) % 3)


def join_wages(*mosts: int) -> Any:
    first, *others = [publish_wages(most) for most in mosts]
    return rt.attack(first, few_wages(), "composition", joined=others)


@follows("attacks/composition/redrawn_releases.py", "releases of the same sensitive column, or each of them alone.")
def join_releases_of_other_columns(desk: Desk) -> Steps:
    ages = few_wages().select(wage=pl.col("age"), age=pl.col("wage"))
    job = rt.Job(
        columns={"wage": rt.quasi(), "age": rt.sensitive(domain=[0, 2])},
        promises=[rt.RhoGuarantee("0.4", "0.7", "0.5")],
        method=rt.PerturbedGeneralization(k=2),
    )
    other = rt.publish(job, frame=ages)
    yield lambda: rt.attack(publish_wages(2), few_wages(), "composition", joined=[other])
    yield lambda: join_wages(2, 2)
    yield lambda: rt.attack(publish_wages(2), few_wages(), "corruption", lambda_="0.4", rho1="0.2")


@follows(
    "attacks/composition/redrawn_releases.py",
    "releases whose sensitive column has the same domain, type and rounding, or each of them alone.",
)
def join_releases_of_other_domains(desk: Desk) -> Steps:
    yield lambda: join_wages(2, 4)
    yield lambda: join_wages(2, 2)
    yield lambda: rt.attack(publish_wages(4), few_wages(), "corruption", lambda_="0.4", rho1="0.2")


# Corruption.


CORRUPTION = {"lambda_": "0.4", "rho1": "0.2"}


def corrupt(**options: Any) -> Any:
    return attack("sampled", "corruption", **CORRUPTION, **options)


@follows("attacks/corruption.py", "a table with every quasi-identifier of the release.")
def know_people_without_a_column(desk: Desk) -> Steps:
    yield lambda: corrupt(external=people().drop("city"))
    yield lambda: corrupt(external=people())


@follows("attacks/corruption.py", "the columns that tell people apart, and the sensitive one.")
def corrupt_people_without_names(desk: Desk) -> Steps:
    yield lambda: corrupt(corrupted=people().head(3).select("illness"))
    yield lambda: corrupt(corrupted=people().head(3).select("name", "illness"))


@follows("attacks/corruption.py", "lines that agree with it in every column that both have.")
def corrupt_strangers(desk: Desk) -> Steps:
    few = people().head(3)
    yield lambda: corrupt(corrupted=few.with_columns(name=pl.lit("nobody")))
    yield lambda: corrupt(corrupted=few)


@follows("attacks/corruption.py", "exactly one.")
def attack_several_victims(desk: Desk) -> Steps:
    yield lambda: corrupt(victim="city=Ulm")
    yield lambda: corrupt(victim=f"name={people()['name'][0]}")


@follows("attacks/corruption.py", "column=value[,column=value]. …")
def attack_victim_by_unknown_column(desk: Desk) -> Steps:
    row = people().row(0, named=True)
    yield lambda: corrupt(victim="nane=x")
    yield lambda: corrupt(victim=f"name={row['name']}")
    yield lambda: corrupt(victim=f"name={row['name']},age={row['age']}")


@follows("attacks/corruption.py", "--rho1 0.2.")
def corrupt_where_all_is_believed(desk: Desk) -> Steps:
    people().write_csv(desk / "people.csv")
    words = (
        "attack",
        publish_kind("sampled").folder,
        "--source",
        "people.csv",
        "--as",
        "corruption",
        "--lambda",
        "0.4",
    )
    yield desk.command(*words, "--rho1", "1.5")
    yield desk.command(*words, "--rho1", "0.2")


@follows("attacks/corruption.py", "--lambda … or more, or leaving it out.")
def corrupt_with_an_even_belief(desk: Desk) -> Steps:
    people().write_csv(desk / "people.csv")
    words = ("attack", publish_kind("sampled").folder, "--source", "people.csv", "--as", "corruption")
    refused = desk.command(*words, "--lambda", "0.001")
    yield refused
    yield desk.command(*words, "--lambda", str(1 / len(publish_kind("sampled").manifest.own["domain"]) + 1e-6)[:8])
    yield desk.command(*words)


@follows("attacks/corruption.py", "the data that was published.")
def corrupt_people_of_another_table(desk: Desk) -> Steps:
    yield lambda: attack("sampled", "corruption", people().head(100), **CORRUPTION)
    yield lambda: corrupt()


@follows("attacks/composition/redrawn_releases.py", "the data that was published.")
def join_redrawn_releases_of_another_table(desk: Desk) -> Steps:
    yield lambda: attack("sampled", "composition", people().head(100), joined=[publish_kind("sampled")])
    yield lambda: attack("sampled", "composition", joined=[publish_kind("sampled")])
    yield lambda: attack("perturbed", "composition", joined=[publish_kind("perturbed")])


@follows("attacks/corruption.py", "a list with everybody in the release.")
def know_too_few_people(desk: Desk) -> Steps:
    yield lambda: corrupt(external=people().head(100))
    yield lambda: corrupt(external=people())


@follows("attacks/corruption.py", "a list of corrupted people without the victim, or another victim.")
def attack_whom_one_has_corrupted(desk: Desk) -> Steps:
    names = people()["name"]
    victim = f"name={names[0]}"
    yield lambda: corrupt(victim=victim, corrupted=people().head(3))
    yield lambda: corrupt(victim=victim, corrupted=people().slice(1, 2))
    yield lambda: corrupt(victim=f"name={names[7]}", corrupted=people().head(3))


@follows("attacks/corruption.py", "a victim who is in the data and not corrupted.")
def attack_nobody(desk: Desk) -> Steps:
    yield lambda: corrupt(corrupted=people())
    yield lambda: corrupt(corrupted=people().slice(1), victim=f"name={people()['name'][0]}")


@follows("attacks/corruption.py", "corrupted people with the values that they have.")
def corrupt_more_than_there_are(desk: Desk) -> Steps:
    more = pl.concat([people(), people().with_columns(name=pl.col("name") + "-2")])
    yield lambda: corrupt(external=more, corrupted=more.head(400))
    yield lambda: corrupt(external=more, corrupted=people().head(40))


@follows(
    "attacks/corruption.py", "an external list that holds everybody in the release, and corrupted people as they are."
)
def link_more_corrupted_people_than_the_group_has(desk: Desk) -> Steps:
    from reticent.attacks.corruption import LinkingSituation

    yield lambda: LinkingSituation(Fraction(1, 2), 3, 0, 2, corrupted=(0, 1))
    yield lambda: LinkingSituation(Fraction(1, 2), 3, 0, 3, corrupted=(0, 1))


# A predicate and a prior of the adversary's own.


PRIOR_FORMS = (
    "columns value and probability, beside them columns that tell people apart where each has a prior of their own; or one row "
    "for each person, with a column for each value."
)
EVERYBODYS_PRIOR = pl.DataFrame({"value": ["flu", "cold"], "probability": ["1/2", "0.25"]})


def list_own_priors(rows: int = 2) -> pl.DataFrame:
    """Return a prior for each of the first people, in rows of a value and its probability."""
    return people().head(rows).select("name", value=pl.lit("flu"), probability=pl.lit(0.5))


def list_priors_by_column(rows: int = 2) -> pl.DataFrame:
    """Return a prior for each of the first people, with a column for each of some values."""
    return people().head(rows).select("name", flu=pl.lit(0.5), cold=pl.lit(0.25))


def believe(prior: Any, **options: Any) -> Any:
    return attack("sampled", "corruption", prior=prior, **options)


@follows("attacks/corruption.py", "--prior FILE alone, or --lambda and --rho1 without it.")
def believe_beside_lambda(desk: Desk) -> Steps:
    people().write_csv(desk / "people.csv")
    EVERYBODYS_PRIOR.write_csv(desk / "prior.csv")
    words = ("attack", publish_kind("sampled").folder, "--source", "people.csv", "--as", "corruption")
    limits = ("--lambda", "0.4", "--rho1", "0.2")
    yield desk.command(*words, "--prior", "prior.csv", *limits)
    yield desk.command(*words, "--prior", "prior.csv")
    yield desk.command(*words, *limits)


@follows("attacks/corruption.py", "one prior for everybody: columns value and probability.")
def believe_of_each_person_where_values_are_shown(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "corruption", prior=list_own_priors())
    for kind in ("generalized", "anatomized", "transformed"):
        yield lambda kind=kind: attack(kind, "corruption", prior=EVERYBODYS_PRIOR)


@follows("attacks/corruption.py", "leaving --predicate and --prior out, or a folder that `reticent publish` made.")
def believe_of_a_plain_table(desk: Desk) -> Steps:
    people().write_csv(desk / "people.csv")
    words = ("--source", "people.csv", "--as", "corruption")
    roles = ("--quasi", "age,city", "--sensitive", "illness")
    stated = ("--predicate", "illness = 'flu'", "--prior", "uniform")
    yield desk.command("attack", "people.csv", *words, *roles, *stated)
    yield desk.command("attack", "people.csv", *words, *roles)
    yield desk.command("attack", publish_kind("sampled").folder, *words, *stated)
    yield desk.command("attack", publish_kind("generalized").folder, *words, *stated)


@follows("attacks/corruption.py", "leaving them out.")
def name_a_victim_of_a_plain_table(desk: Desk) -> Steps:
    roles: dict[str, Any] = {"quasi": ["age", "city"], "sensitive": ["illness"]}
    table = people().select("age", "city", "illness")
    named: dict[str, Any] = {"external": people(), "corrupted": people().head(3), "victim": "age=20"}
    yield lambda: rt.attack(table, name="corruption", source=people(), **roles, **named)
    yield lambda: rt.attack(table, name="corruption", source=people(), **roles)


@follows(
    "attacks/corruption.py",
    "--victim COLUMN=VALUE, or neither --external nor --corrupted: then each person is the victim in turn.",
)
def believe_of_each_person_without_a_victim(desk: Desk) -> Steps:
    names = people()["name"]
    yield lambda: believe(list_own_priors(), external=people(), corrupted=people().slice(9, 3))
    for named in ({"external": people()}, {"corrupted": people().slice(9, 3)}, {}):
        yield lambda named=named: believe(list_own_priors(), victim=f"name={names[0]}", **named)
    yield lambda: believe(list_own_priors())


@follows("attacks/remaining_values.py", "the data that was published.")
def count_other_people_of_groups(desk: Desk) -> Steps:
    yield lambda: attack("transformed", "corruption", pl.concat([people(), people()]))
    yield lambda: attack("transformed", "corruption")


@cache
def publish_uniform_targets() -> rt.Release:
    """Return a transformed release whose target tells nothing of the totals of its values."""
    job = rt.Job(
        columns=contract_examples.columns("illness"),
        promises=[rt.PPrivacy("uniform")],
        method=rt.Distribution(),
    )
    return rt.publish(job, frame=people())


@follows("attacks/remaining_values.py", "the data that was published.")
def match_values_of_other_people(desk: Desk) -> Steps:
    all_ill_alike = people().with_columns(illness=pl.lit("flu"))
    yield lambda: rt.attack(publish_uniform_targets(), name="corruption", source=all_ill_alike)
    yield lambda: rt.attack(publish_uniform_targets(), name="corruption", source=people())


def add_predicates(text: str, *refused: str) -> None:
    """Register predicates that are refused with an advice, each followed by predicates that it leads to."""
    for predicate in refused:

        def follow(desk: Desk, predicate: str = predicate) -> Steps:
            yield lambda: corrupt(predicate=predicate)
            yield lambda: corrupt(predicate="illness = 'flu'")
            yield lambda: corrupt(predicate="illness IN ('flu', 'cold')")

        follow.__name__ = f"believe that {predicate}"
        follows("attacks/stated_belief.py", text)(follow)


add_predicates(
    "a condition on the sensitive column, such as … = ... or … IN (...).",
    "illness = = 'flu'",
    "illness = 'flu'; illness = 'cold'",
    "",
    "1 = 1",
)
add_predicates(
    "a condition that some of the values meet.",
    "illness <> 'plague'",
    "illness = 'plague'",
)


@cache
def publish_odd_name(name: str) -> rt.Release:
    """Return a sampled release whose sensitive column has a name that SQL reads as something else."""
    columns = {"age": rt.quasi(), name: rt.sensitive(domain=[row[0] for row in ILLNESS])}
    promises = [rt.RhoGuarantee("0.2", "0.6", "0.4")]
    job = rt.Job(columns=columns, promises=promises, method=rt.PerturbedGeneralization(k=2))
    return rt.publish(job, frame=people().rename({"illness": name}).select(*columns))


def add_odd_name(name: str) -> None:
    def follow(desk: Desk) -> Steps:
        source = people().rename({"illness": name})
        words = {"name": "corruption", "source": source, **CORRUPTION}
        yield lambda: rt.attack(publish_odd_name(name), predicate="1 = 1", **words)
        with pytest.raises(RequestError) as refusal:
            rt.attack(publish_odd_name(name), predicate="1 = 1", **words)
        advised = re.search(r"such as (.*) = \.\.\. or (.*) IN \(\.\.\.\)\.", refusal.value.attempt)
        assert advised is not None
        yield lambda: rt.attack(publish_odd_name(name), predicate=f"{advised[1]} = 'flu'", **words)
        yield lambda: rt.attack(publish_odd_name(name), predicate=f"{advised[2]} IN ('flu', 'cold')", **words)

    follow.__name__ = f"believe of a column called {name}"
    follows("attacks/stated_belief.py", "a condition on the sensitive column, such as … = ... or … IN (...).")(follow)


for odd_name in ("illness", "illness-code", "case", 'a "b"'):
    add_odd_name(odd_name)


def follow_prior_forms(refused: Any) -> Steps:
    """Yield a prior that cannot be read, and priors of all forms that are advised."""
    yield lambda: believe(refused)
    yield lambda: believe(EVERYBODYS_PRIOR)
    yield lambda: believe(list_own_priors())
    yield lambda: believe(list_priors_by_column())


@follows("attacks/stated_belief.py", PRIOR_FORMS)
def believe_nothing(desk: Desk) -> Steps:
    yield from follow_prior_forms(EVERYBODYS_PRIOR.head(0))


@follows("attacks/stated_belief.py", PRIOR_FORMS)
def believe_without_probabilities(desk: Desk) -> Steps:
    yield from follow_prior_forms(EVERYBODYS_PRIOR.drop("probability"))


@follows("attacks/stated_belief.py", PRIOR_FORMS)
def believe_of_people_by_unknown_column(desk: Desk) -> Steps:
    yield from follow_prior_forms(list_own_priors().rename({"name": "patient"}))


@follows("attacks/stated_belief.py", "one row for each person.")
def believe_of_a_person_in_two_rows(desk: Desk) -> Steps:
    yield lambda: believe(pl.concat([list_priors_by_column()] * 2))
    yield lambda: believe(list_priors_by_column())


@follows("attacks/stated_belief.py", "lines that agree with it in every column that both have.")
def believe_of_people_not_on_the_list(desk: Desk) -> Steps:
    yield lambda: believe(list_own_priors().with_columns(name=pl.lit("nobody")))
    yield lambda: believe(list_own_priors())


@follows("attacks/stated_belief.py", "each value once.")
def believe_a_value_twice(desk: Desk) -> Steps:
    yield lambda: believe(pl.concat([EVERYBODYS_PRIOR] * 2))
    yield lambda: believe(EVERYBODYS_PRIOR)


@follows("attacks/stated_belief.py", "probabilities that add up to 1.")
def believe_too_much(desk: Desk) -> Steps:
    yield lambda: believe(EVERYBODYS_PRIOR.with_columns(probability=pl.lit("0.8")))
    yield lambda: believe(EVERYBODYS_PRIOR.with_columns(probability=pl.lit("0.5")))


# Names of things.


@follows("attacks/__init__.py", "{suggest(str(name), ATTACKS)}")
def attack_by_misspelled_name(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "skewnes")
    yield lambda: attack("generalized", "skewness")


@follows("attacks/linkability.py", "{suggest(str(name), names)}")
def link_by_unknown_column(desk: Desk) -> Steps:
    yield lambda: attack("generalized", "linkability", first=["aje"])
    yield lambda: attack("generalized", "linkability", first=["age"])


@follows("attacks/perturbation.py", "{suggest(str(prior), LEARNED_PRIORS)}")
def learn_from_unknown_prior(desk: Desk) -> Steps:
    yield lambda: attack("perturbed", "matrix-learned", prior="sauce")
    yield lambda: attack("perturbed", "matrix-learned", prior="source")
    yield lambda: attack("perturbed", "matrix-learned", prior="release")


@follows("attacks/eligibility/suppressed_tables.py", "{suggest(self.name, PRIORS)}")
def believe_unknown_prior_of_the_withheld(desk: Desk) -> Steps:
    yield lambda: rt.attack(publish_suppressed(), name="eligibility", prior="unifrom")
    yield lambda: rt.attack(publish_suppressed(), name="eligibility", prior="uniform")


@follows("attacks/eligibility/attack.py", "attacking a release from which suppression alone withheld.")
def attack_withholding_for_two_reasons(desk: Desk) -> Steps:
    other = rt.open(publish_suppressed().folder)
    other.manifest = replace(other.manifest, withheld=1)  # as if others had been withheld for another reason
    yield lambda: rt.attack(other, name="eligibility")
    yield lambda: rt.attack(publish_suppressed(), name="eligibility")
