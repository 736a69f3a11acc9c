"""Every test has a ledger of its own: none reads or writes the one in the user's home."""

from __future__ import annotations

import itertools

import pytest

_NUMBERS = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def _ledgers(tmp_path_factory: pytest.TempPathFactory):
    """For fixtures that live longer than a test."""
    folder = tmp_path_factory.mktemp("ledgers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RETICENT_LEDGER", str(folder / "shared"))
        yield folder


@pytest.fixture(autouse=True)
def _ledger(_ledgers, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RETICENT_LEDGER", str(_ledgers / str(next(_NUMBERS))))
