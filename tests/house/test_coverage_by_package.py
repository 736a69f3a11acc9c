"""The table of coverage: packages are summed, and one below its least is said."""

from __future__ import annotations

import json

from tests.house.coverage_by_package import LEAST, format_table, list_shortfalls, main, sum_by_package
from tests.support.repository import PACKAGE


def measured(lines: int, run: int, branches: int = 0, taken: int = 0) -> dict:
    counts = (lines, run, branches, taken)
    names = ("num_statements", "covered_lines", "num_branches", "covered_branches")
    return {"summary": dict(zip(names, counts, strict=True))}


FILES = {
    "src/reticent/audit/audit.py": measured(60, 60, 20, 18),
    "/a/clone/reticent/src/reticent/audit/measure/counts.py": measured(20, 16),
    "src/reticent/publish.py": measured(10, 5),
    "src/reticent/empty/__init__.py": measured(0, 0),
}


def test_files_are_summed_by_package_lines_and_branches_alike():
    sums = sum_by_package(FILES)
    assert set(sums) == {"audit", "root", "empty"}
    assert "| `audit` | 80 | 20 | 94.0 % |" in format_table(sums)
    assert format_table(sums).endswith("| `all` | 90 | 20 | 90.0 % |")


def test_a_package_below_its_least_is_an_error(tmp_path, capsys):
    assert [sentence.partition(":")[0] for sentence in list_shortfalls(sum_by_package(FILES))] == ["audit"]
    path = tmp_path / "coverage.json"
    path.write_text(json.dumps({"files": FILES}))
    assert main(path) == 1 and "94.0 % of lines and branches are run, less than 95 %" in capsys.readouterr().out
    path.write_text(json.dumps({"files": {"src/reticent/audit/audit.py": measured(20, 19)}}))
    assert main(path) == 0


def test_the_packages_that_must_reach_the_least_are_there():
    assert set(LEAST) == {"models", "methods", "audit", "ledger"}
    assert all((PACKAGE / package).is_dir() for package in LEAST)
