"""Beside the verdict stands what is left: a release that keeps its promise and says nothing does not look like a success."""

from __future__ import annotations

import json
import random

import polars as pl
import pytest

import reticent as rt
from reticent.audit.remainder import describe_remainder, format_lost_share
from reticent.cli.output import say_findings
from reticent.labels.label_loss import format_kept_share
from tests.support.loss_jobs import VALUES, draw_table

QUASI = {"age": rt.quasi(), "town": rt.quasi(), "zip": rt.quasi(type="categorical")}
SENSITIVE = {"s": rt.sensitive(domain=list(VALUES))}
JOBS = {
    "generalized": ([rt.KAnonymity(5)], rt.Mondrian()),
    "anatomized": ([rt.DistinctLDiversity(3)], rt.Anatomy()),
    "perturbed": ([rt.BetaLikeness(2)], rt.BetaPerturbation()),
    "transformed": ([rt.PPrivacy()], rt.Distribution()),
    "sampled": ([rt.RhoGuarantee(rho1=".2", rho2=".7", lambda_=".3")], rt.PerturbedGeneralization()),
}
SAYS = {
    "generalized": "of its quasi-identifiers",
    "anatomized": "Lost is the link to the sensitive value: a row has one of those that its group lists, and one drawn",
    "perturbed": "Lost is the sensitive value: it was redrawn, and is the row's own with a chance of",
    "transformed": "of these are fakes",
    "sampled": "Of each group a share of its rows is published",
}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return draw_table(random.Random(11), 400).drop_nulls()


def publish(kind: str, people: pl.DataFrame, **output: object) -> rt.Release:
    promises, method = JOBS[kind]
    job = rt.Job(
        columns={**QUASI, **SENSITIVE},
        promises=promises,
        method=method,
        release=rt.Output(undeclared="drop", **output),
    )
    return rt.publish(job, frame=people, seed=2)


@pytest.mark.parametrize("kind", JOBS)
def test_every_kind_says_what_is_left_wherever_it_gives_its_verdict(kind, people, capsys):
    release = publish(kind, people)
    audit = rt.audit(release)
    sentence = audit.remainder.sentence
    assert SAYS[kind] in sentence
    assert sentence in str(audit)
    assert audit.to_dict()["left"]["says"] == sentence
    assert sentence in [figure["means"] for figure in rt.report(release).facts["figures"]]
    say_findings(audit.to_dict())
    assert sentence in capsys.readouterr().out
    assert sentence.replace("'", "&#x27;") in audit._repr_html_()
    json.dumps(audit.to_dict())


@pytest.mark.parametrize("kind", ["generalized", "sampled"])
def test_a_row_keeps_what_its_labels_do_not_lose(kind, people):
    audit = rt.audit(publish(kind, people))
    assert audit.remainder.row_keeps == 1 - audit.utility["ail"]


@pytest.mark.parametrize("kind", ["anatomized", "perturbed", "transformed"])
def test_kinds_with_exact_quasi_identifiers_keep_them_all(kind, people):
    assert rt.audit(publish(kind, people)).remainder.row_keeps == 1


def test_the_chance_that_anatomy_states_is_that_of_a_value_drawn_from_the_group(people):
    release = publish("anatomized", people)
    counts = pl.read_parquet(release.folder / "sensitive.parquet")
    sizes = counts.group_by("group").agg(pl.col("count").sum().alias("size"))
    joined = counts.join(sizes, on="group")
    own = (joined["count"] ** 2 / joined["size"]).sum() / joined["count"].sum()
    assert format_lost_share(1 - own) in rt.audit(release).remainder.sentence


def test_columns_that_are_as_good_as_stars_are_named():
    by_column = {"age": 1.0, "zip": 0.9995, "sex": 0.2}
    left = describe_remainder(90, 10, {"ail": 0.7331, "ail_by_column": by_column})
    assert left.starred == ("age", "zip")
    assert left.sentence == (
        "Of 3 quasi-identifiers 2 are as good as `*` in every row ('age', 'zip'); a row keeps 26 % of its "
        "quasi-identifiers. 10 of 100 rows were withheld and count as lost whole."
    )


def test_a_release_of_stars_alone_says_so():
    left = describe_remainder(90, 0, {"ail": 1.0, "ail_by_column": {"age": 1.0, "sex": 1.0}})
    assert (
        left.sentence
        == "All 2 quasi-identifiers are as good as `*` in every row: a row keeps 0 % of its quasi-identifiers."
    )


def test_shares_are_rounded_against_the_publisher():
    assert [format_kept_share(share) for share in (0.0, 0.001, 0.1499, 0.9999, 1.0)] == [
        "0 %",
        "less than 1 %",
        "14 %",
        "99 %",
        "100 %",
    ]
    assert [format_lost_share(share) for share in (0.0, 0.001, 0.1401, 0.9999, 1.0)] == [
        "0 %",
        "1 %",
        "15 %",
        "more than 99 %",
        "100 %",
    ]


def test_withheld_rows_are_lost_whole(people):
    outlier = people[:1].with_columns(age=pl.lit(5_000, pl.Int64))
    audit = publish("generalized", pl.concat([people, outlier]), suppress_at_most=0.1).audited
    assert audit.withheld
    assert (
        f"{audit.withheld:,} of {len(people) + 1:,} rows were withheld and count as lost whole."
        in audit.remainder.sentence
    )


def test_a_table_without_quasi_identifiers_has_none_to_lose():
    left = describe_remainder(90, 0, {"ail": None, "ail_by_column": {}})
    assert left.row_keeps is None
    assert left.sentence == "There are no quasi-identifiers to lose anything of."


def test_columns_whose_loss_is_not_known_are_named():
    left = describe_remainder(90, None, {"ail": None, "ail_by_column": {"age": 0.2, "town": None}})
    assert left.row_keeps is None
    assert left.sentence.endswith("is not known: nothing explains the labels of 'town'.")
