"""Which tests are handed to one worker together."""

from __future__ import annotations

ONE_WORKER = {
    "tests/engines/test_spark": "spark",
    "tests/advice/test_spark": "spark",
    "tests/data/test_amounts": "spark",
    "tests/data/test_several_formats": "spark",
    "tests/data/test_spellings_map": "spark",
    "tests/house/test_types": "types",
}
"""Tests whose path begins so run in one worker: Spark, and a type checker, are started once and not once for each worker."""


def share_of(nodeid: str) -> str:
    """What is handed to a worker together: a test, or all tests that need the same large thing."""
    return next((share for path, share in ONE_WORKER.items() if nodeid.startswith(path)), nodeid)
