"""`suppress_at_most`: outlying rows are withheld where that lowers the loss, and never otherwise; promises hold on what is published."""

from collections import Counter
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.check import check
from reticent.errors import JobError
from tests.oracle import loss, measures
from tests.oracle.groups import histograms
from tests.support.random_jobs import frame_of, job_of, oracle_columns, published_rows
from tests.support.strategies import conjunctions, for_the_oracle, tables


def crowd(outliers=(95,), rows=200):
    ages = [20 + (i * 7) % 20 for i in range(rows)] + list(outliers)
    return pl.DataFrame({"age": ages, "illness": [("flu", "cold", "gout")[i % 3] for i in range(len(ages))]})


def job(at_most, **how):
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    return rt.Job(
        columns=columns,
        promises=how.pop("promises", [rt.KAnonymity(5)]),
        release=rt.Output(suppress_at_most=at_most),
        **how,
    )


def test_nothing_is_withheld_by_default():
    release = rt.publish(job(0), frame=crowd())
    assert (release.manifest.withheld, release.manifest.rows) == (0, 201)


def test_one_outlier_is_withheld_where_five_would_lose_more():
    release = rt.publish(job("0.02"), frame=crowd())
    assert release.manifest.withheld == 1
    assert "95" not in "".join(release.frame()["age"])
    assert release.audited.withheld == 1
    assert release.audited.utility["ail"] == pytest.approx(1 / 201)
    assert "1 row was withheld" in (release.folder / "README.md").read_text()
    assert rt.audit(release, source=crowd()).kept


def test_the_share_bounds_what_is_withheld():
    assert rt.publish(job(Fraction(1, 202)), frame=crowd()).manifest.withheld == 0
    assert rt.publish(job(Fraction(1, 201)), frame=crowd()).manifest.withheld == 1


def test_rows_that_do_not_stand_out_are_not_withheld():
    assert rt.publish(job("0.5"), frame=crowd(outliers=())).manifest.withheld == 0


@settings(deadline=None, max_examples=120, suppress_health_check=list(HealthCheck))
@given(tables(missing_sensitive=True, least_rows=6), st.data())
def test_promises_hold_on_the_published_table_and_the_loss_is_no_greater(table, data):
    """Both by the oracle: the reference distribution is that of the rows that were published."""
    promises = data.draw(conjunctions(hierarchical=table.columns["s"]["hierarchy"] is not None))
    share = data.draw(st.fractions(0, 1, max_denominator=20))
    wanted = job_of(table, promises)
    try:
        plain = rt.publish(wanted, frame=frame_of(table))
    except rt.PromiseUnreachable:
        return
    release = rt.publish(wanted.at(release=rt.Output(suppress_at_most=share)), frame=frame_of(table))
    rows = published_rows(release, table)
    withheld = release.manifest.withheld
    assert len(rows) + withheld == len(table.rows)
    assert withheld <= share * len(table.rows)
    assert measures.all_hold(histograms(rows), for_the_oracle(table, promises))
    assert not Counter(value for _, value in rows) - Counter(row["s"] for row in table.rows)
    if not any(column["hierarchy"] is None and column["kind"] == "categorical" for column in table.columns.values()):
        columns = oracle_columns(table)
        lost = [
            loss.ail(
                Counter(labels for labels, _ in published_rows(one, table)), columns, withheld=one.manifest.withheld
            )
            for one in (plain, release)
        ]
        assert lost[1] <= lost[0]
    assert rt.audit(release, source=frame_of(table)).source.unmatched == 0


@pytest.mark.parametrize("method", ["burel"])
def test_other_generalizing_methods_withhold_too(method):
    from reticent import registry

    release = rt.publish(
        job("0.02", promises=[rt.BetaLikeness(2)], method=registry.load_method_class(method)()), frame=crowd()
    )
    assert release.manifest.withheld <= 4
    assert rt.audit(release, source=crowd()).kept


def test_check_expects_what_publishing_does():
    found = check(job("0.02"), frame=crowd(), methods=[]).methods[0]
    release = rt.publish(job("0.02"), frame=crowd())
    assert (found.withheld, found.ail) == (1, pytest.approx(release.audited.utility["ail"]))


def test_weights_say_which_columns_stand_out():
    frame = crowd().with_columns(shoe=pl.Series([40] * 201))
    columns = {"age": rt.quasi(), "shoe": rt.quasi(), "illness": rt.sensitive()}
    for weight, withheld in ((1, 1), (0, 0)):
        method = rt.Mondrian(weights={"age": weight})
        release = rt.publish(job("0.02", method=method).at(columns=columns), frame=frame)
        assert release.manifest.withheld == withheld


def test_it_cannot_be_combined_with_what_it_would_undo():
    from reticent.methods.beta_perturbation import BetaPerturbation
    from reticent.methods.suppression import Suppression

    with pytest.raises(JobError, match="methods whose groups lose less"):
        rt.publish(job("0.02", promises=[rt.BetaLikeness(2)], method=BetaPerturbation()), frame=crowd())
    with pytest.raises(JobError, match="preparing stage"):
        rt.publish(job("0.02", prepare=[Suppression(l=2)]), frame=crowd())


@pytest.mark.parametrize("share", [-1, 2, "many", True])
def test_a_share_is_a_number_from_0_to_1(share):
    with pytest.raises(JobError):
        rt.Output(suppress_at_most=share)


def test_the_share_survives_a_job_file():
    import tomllib

    for share in ("0.02", "1/3"):
        wanted = job(share)
        assert rt.Job.from_dict(tomllib.loads(wanted.to_toml())).release.suppress_at_most == Fraction(share)
