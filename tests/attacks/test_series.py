"""All attacks: one reading of the source, the cheap ones first, and those that there is no time for are named."""

from __future__ import annotations

import json

import pytest

import reticent as rt
from reticent import catalogue
from reticent.attacks import series
from reticent.attacks import target as seen_module
from reticent.attacks.series import run_attacks
from reticent.cli.main import main
from tests.support.attack_tables import people, published


@pytest.fixture(scope="module")
def release() -> rt.Release:
    return published(people())


def test_a_series_finds_what_each_attack_finds_by_itself(release):
    names = ("naive-bayes", "skewness", "inference", "composition", "overlap", "definetti")
    found = run_attacks(release, people(), names)
    assert [one.attack for one in found.outcomes] == [name for name in catalogue.ATTACKS if name in names]
    for one in found.outcomes:
        assert one.to_dict() == rt.attack(release, people(), one.attack).to_dict()


def test_a_series_reads_the_source_once_for_what_groups_show(release, monkeypatch):
    calls = []
    read = seen_module.count_cells
    monkeypatch.setattr(seen_module, "count_cells", lambda *given: calls.append(1) or read(*given))
    run_attacks(release, people(), ("naive-bayes", "skewness", "inference", "definetti", "linkability"))
    assert len(calls) == 1


def test_attacks_begin_with_those_of_least_cost(release):
    steps: list[str] = []
    run_attacks(release, people(), ("definetti", "skewness", "naive-bayes"), progress=steps.append)
    assert steps == ["attacking as skewness", "attacking as naive-bayes", "attacking as definetti"]


def test_attacks_that_there_is_no_time_for_are_named_with_the_reason(release):
    found = run_attacks(release, people(), ("skewness", "definetti"), budget=0)
    assert found.outcomes == ()
    ((reason, names),) = found.skipped.items()
    assert names == ["skewness", "definetti"] and "budget" in reason


def test_an_attack_that_does_not_end_is_stopped_and_the_others_are_kept(release, monkeypatch):
    real = series.run_attack

    def endless(release, source, name, **given):
        while name == "naive-bayes":
            pass
        return real(release, source, name, **given)

    monkeypatch.setattr(series, "run_attack", endless)
    found = run_attacks(release, people(), ("naive-bayes", "skewness"), budget=1.5)
    assert [one.attack for one in found.outcomes] == ["skewness"]
    assert list(found.skipped.values()) == [["naive-bayes"]]


def test_controls_are_left_out_where_nobody_asks_for_them(release):
    (found,) = run_attacks(release, people(), ("naive-bayes",), control=False).outcomes
    assert found.control is None
    assert rt.attack(release, people(), "naive-bayes").control is not None


def test_the_command_and_the_report_name_what_the_budget_left_out(release, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "ledger"))
    release.save(tmp_path / "release")
    people().write_csv(tmp_path / "people.csv")
    place = str(tmp_path / "release")
    source = str(tmp_path / "people.csv")
    assert main(["attack", place, "--source", source, "--budget", "0"]) == 1
    said = capsys.readouterr()
    assert "The budget of 0 CPU s was used" in said.err + said.out
    assert main(["attack", place, "--source", source, "--as", "definetti", "--budget", "0"]) == 1
    assert "did not end within 0 CPU s" in capsys.readouterr().err
    facts = rt.report(tmp_path / "release", source=source, budget=0).facts
    attacks = next(one for one in facts["sections"] if one["id"] == "attacks")
    assert "definetti" in json.dumps(attacks) and "The budget of 0 CPU s was used" in json.dumps(attacks)
