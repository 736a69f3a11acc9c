"""The page that tells readers what works is the table that the tests are made of."""

from __future__ import annotations

from tests.contract.table import page
from tests.house.repository import ROOT


def test_the_printed_contract_is_current():
    printed = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    assert printed == page(), "python -m tests.contract.table > docs/contract.md"
