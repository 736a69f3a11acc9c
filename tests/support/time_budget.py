"""A plugin of pytest for `make quick`: a part of each file first, until the CPU seconds of a worker are spent.

Faults of one file's code fail several of its tests, so one test of every file finds more than all tests of some. Of each
file the first test runs, then of each the second, and so on; of files that pin many outputs at once several in a turn.
What is left when the seconds are spent is not run, and the last line says how much that is.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

TESTS_IN_A_TURN = {"tests/golden/": 3, "tests/contract/test_matrix": 4, "tests/models/": 2, "tests/hostile/": 2}
"""More than one, for files whose path begins so."""
MAX_TURNS = 6
"""What comes later has no time, and would only be counted."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-seconds", type=float, default=110.0, help="CPU seconds of each worker, children included")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Budget(config.getoption("--cpu-seconds")))


class _Budget:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        places = order_by_turns([item.nodeid for item in items])
        left_out = set(range(len(items))) - set(places)
        config.hook.pytest_deselected(items=[items[place] for place in sorted(left_out)])
        items[:] = [items[place] for place in places]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if sum(os.times()[:4]) > self.seconds:
            pytest.skip("the CPU seconds are spent")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        skipped = terminalreporter.stats.get("skipped", [])
        left = sum("the CPU seconds are spent" in str(report.longrepr) for report in skipped)
        terminalreporter.write_line(f"{left:,} of the chosen tests were left out: their time was spent")


def order_by_turns(names: list[str], max_turns: int = MAX_TURNS) -> list[int]:
    """Return the places of tests in the order in which they run: by turns, and in each turn as they were collected.

    Tests of later turns than `max_turns` are not among them.
    """
    seen: Counter[str] = Counter()
    turns = []
    for name in names:
        file = name.partition("::")[0]
        in_a_turn = next((number for path, number in TESTS_IN_A_TURN.items() if file.startswith(path)), 1)
        turns.append(seen[file] // in_a_turn)
        seen[file] += 1
    return sorted((place for place, turn in enumerate(turns) if turn < max_turns), key=turns.__getitem__)
