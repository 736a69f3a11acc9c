"""What is advised is accepted: each case provokes a refusal and follows what it advises."""

from __future__ import annotations

import pytest

from tests.advice import (
    attack_cases,
    audit_cases,
    command_cases,
    ledger_cases,
    measure_cases,
    method_cases,
    promise_cases,
    question_cases,
    target_cases,
)
from tests.advice.cases import Desk

TABLES = [
    attack_cases.TABLE,
    audit_cases.TABLE,
    question_cases.TABLE,
    ledger_cases.TABLE,
    command_cases.TABLE,
    measure_cases.TABLE,
    method_cases.TABLE,
    promise_cases.TABLE,
    target_cases.TABLE,
]


@pytest.fixture
def desk(tmp_path, capsys, monkeypatch) -> Desk:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RETICENT_OWNER", raising=False)
    return Desk(tmp_path, capsys, monkeypatch)


@pytest.mark.parametrize("case", [case for table in TABLES for case in table.cases], ids=str)
def test_what_is_advised_is_accepted(desk, case):
    case.run(desk)
