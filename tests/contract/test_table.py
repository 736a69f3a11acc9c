"""The page that tells readers what works is the table that the tests are made of."""

from __future__ import annotations

from reticent import catalogue
from tests.contract import attacks_table
from tests.contract.table import page
from tests.support.repository import ROOT


def test_the_printed_contract_is_current():
    printed = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    assert printed == page(), "python -m tests.contract.table > docs/contract.md"


def test_the_printed_adversaries_are_current():
    printed = (ROOT / "docs" / "attacks.md").read_text(encoding="utf-8")
    assert printed == attacks_table.page(), "python -m tests.contract.attacks_table > docs/attacks.md"


def test_every_attack_says_who_it_is_and_names_promises_there_are():
    for name, row in catalogue.ATTACKS.items():
        assert row.adversary, name
        assert set(row.promises) <= set(catalogue.PROMISES), name
