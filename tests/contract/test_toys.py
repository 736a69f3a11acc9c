"""A new promise, attack or kind is one file and one row: registered, it is published, audited, attacked and held to the contract."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent import catalogue
from reticent.attacks import attack
from reticent.cli.main import main
from reticent.errors import BundleDamaged, InternalError
from reticent.testing import check_attack, check_kind, check_promise
from tests.contract import toy_attack, toy_kind, toy_promise
from tests.contract.matrix import FEATURES, Feature, cell
from tests.contract.matrix import attack as attacked
from tests.support import contract_examples
from tests.support.method_promise_pairs import Pair, drafted, pairs, released
from tests.support.tampering import resealed

pytestmark = pytest.mark.usefixtures("small_parts")


@pytest.fixture
def register(monkeypatch) -> Iterator:
    """Put rows into the catalogue for one test."""

    def put(table: dict, name: str, row: object) -> None:
        monkeypatch.setitem(table, name, row)
        pairs.cache_clear()

    yield put
    released.cache_clear()
    pairs.cache_clear()


@pytest.fixture
def crowds(register, monkeypatch) -> rt.Job:
    monkeypatch.setitem(contract_examples.EXAMPLES, "crowds", contract_examples.Example({"least": 4}))
    register(catalogue.PROMISES, "crowds", toy_promise.row("judge"))
    return drafted(Pair("mondrian", "crowds")).job()


def total(group: dict[str, int]) -> int:
    return sum(group.values())


def wrong_cells(pair: Pair, features: list[Feature], folder: Path) -> dict[str, str]:
    said = {feature.name: cell(feature, pair, folder / str(number)) for number, feature in enumerate(features)}
    return {name: text for name, text in said.items() if text}


def test_a_promise_that_is_registered_is_held_to_the_contract(crowds, tmp_path):
    mine = [pair for pair in pairs() if pair.promise == "crowds"]
    assert {pair.method for pair in mine} == {"mondrian", "mosaic"}
    assert not wrong_cells(mine[0], FEATURES, tmp_path)
    check_promise({"model": "crowds", "least": 8}, oracle=lambda groups, least: min(map(total, groups)) >= least)
    release = rt.publish(crowds, frame=contract_examples.people())
    assert release.audited.promises[0].achieved["least"] >= 4
    assert "at least 4 in a crowd" in (release.folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("judged_by", ["nobody", "silent"])
def test_a_promise_without_evidence_is_not_published(crowds, register, tmp_path, judged_by):
    """It has no judge, or one that sees nothing and does not say why."""
    register(catalogue.PROMISES, "crowds", toy_promise.row(judged_by))
    with pytest.raises(InternalError):
        rt.publish(crowds, frame=contract_examples.people(), to=tmp_path / "release", again=True)
    assert not (tmp_path / "release").exists()


def test_a_promise_whose_module_of_judges_does_not_load_is_not_published(crowds, register):
    register(
        catalogue.PROMISES, "crowds", replace(toy_promise.row("judge"), judge="reticent.audit.measure.crowds:judge")
    )
    with pytest.raises(InternalError, match="no judge"):
        rt.publish(crowds, frame=contract_examples.people())


def test_a_promise_that_no_file_can_show_is_published_with_the_reason(crowds, register):
    register(catalogue.PROMISES, "crowds", toy_promise.row("candid"))
    release = rt.publish(crowds, frame=contract_examples.people())
    assert release.audited.kept is None
    assert release.audited.promises[0].why == "no file can show it; the parameters were checked"


def test_an_attack_that_is_registered_attacks_every_kind_or_is_refused(register, tmp_path):
    register(catalogue.ATTACKS, "shrug", toy_attack.ROW)
    feature = Feature("attack naive-bayes", attacked("shrug"))  # refused where the other attacks on groups are
    check_attack("shrug", options={"guess": 1})
    by_kind = {pair.kind: pair for pair in pairs()}
    for number, pair in enumerate(by_kind.values()):
        assert cell(feature, pair, tmp_path / str(number)) is None
    release, frame, _ = released(by_kind[catalogue.PLAIN_TABLE_KIND])
    found = attack(release, frame, "shrug")
    assert found.success == pytest.approx(found.baseline)


def test_an_option_that_a_row_names_is_one_of_python_and_of_the_command(register, tmp_path, monkeypatch, capsys):
    register(catalogue.ATTACKS, "shrug", toy_attack.ROW)
    release, frame, _ = released({pair.kind: pair for pair in pairs()}[catalogue.PLAIN_TABLE_KIND])
    guesses = [attack(release, frame, "shrug", guess=rank).success for rank in range(2)]
    assert guesses[0] != guesses[1]
    with pytest.raises(rt.errors.RequestError, match="has no option 'gues'"):
        attack(release, frame, "shrug", gues=0)

    monkeypatch.chdir(tmp_path)
    release.save("release")
    frame.write_csv("people.csv")
    words = ["attack", "release", "--source", "people.csv", "--guess", "1"]
    assert main([*words, "--as", "shrug", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["success"] == guesses[1]
    assert main([*words, "--as", "skewness"]) == 1
    assert "--guess is for --as shrug." in capsys.readouterr().err
    assert main([*words, "--as", "shrug", "--guess", "first"]) != 0
    capsys.readouterr()
    assert main(["attack", "--help"]) == 0
    assert "shrug: the rank of the value" in capsys.readouterr().out


def test_a_kind_that_is_registered_is_held_to_the_contract(register, tmp_path):
    register(catalogue.KINDS, "ticketed", toy_kind.KIND)
    register(catalogue.METHODS, "ticket-office", toy_kind.METHOD)
    mine = [pair for pair in pairs() if pair.kind == "ticketed"]
    assert len(mine) == len([pair for pair in pairs() if pair.method == "mondrian"])
    assert not wrong_cells(mine[0], FEATURES, tmp_path / "matrix")
    check_kind("ticketed", method="ticket-office")
    release, _, _ = released(mine[0])
    assert release.kind == "ticketed" and release.manifest.own == {"prefix": "T"}
    assert release.frame()["ticket"].unique().to_list() == ["T"]
    forged = {"data": release.tables["data"].with_columns(ticket=pl.lit("U"))}
    with pytest.raises(BundleDamaged, match="prefix"):
        rt.audit(resealed(release, tmp_path / "forged", forged))
