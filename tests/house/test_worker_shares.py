"""Every test that starts Spark runs in the one worker that has it."""

from __future__ import annotations

from tests.support.repository import ROOT
from tests.support.worker_shares import share_of


def test_tests_with_spark_are_handed_to_one_worker():
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py"))}
    starting = [path for path, text in texts.items() if "\nfrom tests.support.spark_session import" in text]
    assert len(starting) >= 5
    for path in starting:
        assert share_of(f"{path.relative_to(ROOT).as_posix()}::test_anything[one]") == "spark", path


def test_other_tests_are_handed_out_one_by_one():
    assert share_of("tests/engines/test_stream.py::test_one[a]") == "tests/engines/test_stream.py::test_one[a]"
