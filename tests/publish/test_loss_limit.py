"""`loss_at_most`: a release that would lose more is refused with its loss, the columns that cost most, and what to try."""

from __future__ import annotations

import random
import re
import tomllib
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.errors import JobError, LossTooHigh, PromiseUnreachable
from tests.support.in_process_partitions import Spread
from tests.support.loss_jobs import VALUES, draw_table

COLUMNS = {
    "age": rt.quasi(),
    "town": rt.quasi(),
    "zip": rt.quasi(type="categorical"),
    "s": rt.sensitive(domain=list(VALUES)),
}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return draw_table(random.Random(11), 400).drop_nulls()


def make_job(limit: object = None, **parts: object) -> rt.Job:
    output = rt.Output(undeclared="drop", loss_at_most=limit)
    return rt.Job(**{"columns": COLUMNS, "promises": [rt.KAnonymity(5)], "release": output, **parts})


def test_a_loss_above_the_limit_is_refused_before_anything_is_written(people, tmp_path, monkeypatch):
    loss = rt.publish(make_job(), frame=people, seed=1).audited.utility["ail"]
    monkeypatch.setattr("reticent.tables.WholePlan.write", lambda *_: pytest.fail("something was written"))
    with pytest.raises(LossTooHigh) as refusal:
        rt.publish(make_job("0.1"), frame=people, seed=1, to=tmp_path / "out", ledger=tmp_path / "ledger")
    assert f"{loss:.4f}" in refusal.value.what
    assert "'zip' (1.0000)" in refusal.value.why
    assert not (tmp_path / "out").exists()
    assert refusal.value.exit_code == PromiseUnreachable.exit_code


def test_the_limit_that_the_refusal_advises_publishes_the_release(people):
    with pytest.raises(LossTooHigh) as refusal:
        rt.publish(make_job("0.1"), frame=people, seed=1)
    advised = re.search(r"loss_at_most = ([\d.]+)", refusal.value.attempt)
    assert advised is not None
    assert rt.publish(make_job(advised[1]), frame=people, seed=1).audited.kept


def test_a_loss_that_equals_the_limit_is_published(people):
    loss = rt.publish(make_job(), frame=people, seed=1).audited.utility["ail"]
    assert rt.publish(make_job(Fraction(loss)), frame=people, seed=1).audited.utility["ail"] == loss


@pytest.mark.parametrize(
    ("method", "promise"),
    [
        (rt.Anatomy(), rt.DistinctLDiversity(3)),
        (rt.BetaPerturbation(), rt.BetaLikeness(2)),
        (rt.Distribution(), rt.PPrivacy()),
    ],
    ids=["anatomized", "perturbed", "transformed"],
)
def test_kinds_without_labels_refuse_the_limit_before_data_is_read(method, promise):
    job = make_job("0.5", method=method, promises=[promise], source=Path("nowhere.csv"))
    for call in (rt.publish, rt.check, rt.plan):
        with pytest.raises(JobError, match="loss_at_most is about labels"):
            call(job)


def test_a_sampled_release_has_the_limit_too(people):
    parts = {
        "method": rt.PerturbedGeneralization(k=6),
        "promises": [rt.RhoGuarantee(rho1=".2", rho2=".7", lambda_=".3")],
    }
    loss = rt.publish(make_job(**parts), frame=people, seed=1).audited.utility["ail"]
    assert rt.publish(make_job(Fraction(loss), **parts), frame=people, seed=1).kind == "sampled"
    with pytest.raises(LossTooHigh):
        rt.publish(make_job(Fraction(loss) - Fraction(1, 10**6), **parts), frame=people, seed=1)


def test_a_table_in_parts_is_refused_at_its_audit(people, tmp_path):
    places = {"ledger": tmp_path / "ledger", "to": tmp_path / "out"}
    with pytest.raises(LossTooHigh, match="nothing was published"):
        rt.publish(make_job("0.1"), frame=people, engine=Spread(3, 100), **places)
    assert not places["to"].exists()
    assert rt.publish(make_job(1), frame=people, engine=Spread(3, 100), **places).audited.kept


def test_the_check_says_for_each_method_whether_the_limit_is_met(people):
    for limit, within in ((0, False), (1, True)):
        checked = rt.check(make_job(limit), frame=people, methods=["mosaic", "anatomy"])
        by_method = {summary.method: summary for summary in checked.methods}
        assert by_method["mondrian"].within_limit is by_method["mosaic"].within_limit is within
        assert checked.to_dict()["within_limit"] is within
        assert checked.reachable
    assert rt.check(make_job(), frame=people, methods=[]).within_limit is None


def test_the_command_line_refuses_with_the_code_of_an_unreachable_promise(people, tmp_path, capsys):
    people.write_csv(tmp_path / "people.csv")
    (tmp_path / "job.toml").write_text(make_job("0.1", source=tmp_path / "people.csv").to_toml())
    assert main(["check", str(tmp_path / "job.toml")]) == 2
    assert "loss_at_most = 0.1 IS NOT met by mondrian: publishing would be refused." in capsys.readouterr().out
    assert main(["publish", str(tmp_path / "job.toml"), "-o", str(tmp_path / "out")]) == 2
    assert "LossTooHigh" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_limit_survives_the_job_file():
    text = make_job("1/3").to_toml()
    assert rt.Job.from_dict(tomllib.loads(text)).release.loss_at_most == Fraction(1, 3)


def test_a_comparison_reports_a_candidate_above_the_limit_as_not_reached(people):
    compared = rt.compare(make_job("0.1"), frame=people, attacks=[], classification=False)
    row = compared.rows[0]
    assert row["reached"] is False
    assert "loss_at_most" in row["why"]
