"""Fixtures for pytest: a test that fails unless every promise of a release or a table is shown to be kept.

    # conftest.py
    pytest_plugins = ["reticent.pytest_plugin"]

    # test_release.py
    def test_patients_are_published_as_promised(require_kept):
        require_kept("patients-release", source="patients.csv")

    def test_nobody_is_in_a_group_of_fewer_than_five(require_k):
        require_k("patients_public.parquet", quasi=["age", "sex", "zip"], k=5)

A promise that the files cannot show fails the test, as `reticent audit --strict` ends with 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from reticent.audit.result import Audit


@pytest.fixture
def require_kept() -> Callable[..., Audit]:
    """Return a function that audits a release and fails the test unless everything is shown to be kept.

    It takes what `rt.audit` takes (a release folder, or a table with `job`, or `quasi`, `sensitive` and `promises`) and
    returns the audit.
    """
    return audit_strictly


@pytest.fixture
def require_k() -> Callable[..., Audit]:
    """Return a function that fails the test unless every group of a table, by `quasi`, has at least `k` people.

    `rows_per_person` is how many rows one person may have; by default 1.
    """

    def require(table: Any, *, quasi: Iterable[str], k: int, rows_per_person: int = 1, **options: Any) -> Audit:
        from reticent.models.k_anonymity import KAnonymity

        return audit_strictly(table, quasi=list(quasi), promises=[KAnonymity(k * rows_per_person)], **options)

    return require


def audit_strictly(release: Any, **options: Any) -> Audit:
    """Audit a release or a table; fail the running test unless every promise is shown to be kept."""
    __tracebackhide__ = True
    from reticent.audit.audit import audit

    result = audit(release, **options)
    if result.kept is not True:
        sentences = [str(result), *(f"  {sentence}" for sentence in result.not_shown)]
        pytest.fail("\n".join(sentences), pytrace=False)
    return result
