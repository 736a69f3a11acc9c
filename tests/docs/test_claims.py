"""Every promise says how sure we are of it: proven, enumerated or measured."""

from __future__ import annotations

import re

import pytest

from reticent import catalogue
from tests.support.repository import ROOT

PROMISES = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
SECTION = re.search(r"^## How sure we are$(.*?)^## ", PROMISES, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", catalogue.PROMISES)
def test_every_claim_about_a_promise_is_proven_enumerated_or_measured(name: str):
    assert SECTION
    row = next((line for line in SECTION[1].splitlines() if line.startswith(f"| `{name}` |")), None)
    assert row, f"docs/promises.md does not say how sure we are of {name}"
    claims = [cell.strip() for cell in row.strip("|").split("|")[1:]]
    assert len(claims) == 3
    assert all(claim == "-" or re.search(r"\*(proven|enumerated|measured)\*", claim) for claim in claims)
