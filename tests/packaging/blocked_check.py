"""Run a part of the suite without what only POSIX systems have:  python -m tests.packaging.blocked_check [-n 2]  (`make blocked`)

`tests/support/blocked_modules.py` lists what is taken away. TESTS='...' chooses other tests. Left out are those of what such a
system refuses: replacing a release, recovery, modes of files, and limits of addresses.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ("-m", "pytest", "-q", "-p", "tests.support.blocked_modules", "-p", "no:cacheprovider")
QUICK_TESTS = ("tests/packaging/blocked_cases.py",)
"""What the suite runs of it."""
TESTS = (
    *QUICK_TESTS,
    "tests/release",
    "tests/publish",
    "tests/ledger/test_ledger.py",
    "tests/ledger/test_fingerprint.py",
    "tests/ledger/test_identifiers.py",
    "tests/audit/test_honest_releases.py",
    "tests/audit/test_record_risk.py",
    "tests/attacks/test_attacks.py",
    "tests/query/test_bounds.py",
    "tests/report/test_command.py",
    "tests/cli/test_audit.py",
    "tests/cli/test_demo.py",
    "tests/cli/test_init.py",
    "tests/cli/test_output.py",
)
LEFT_OUT = (
    # They replace a folder, which is refused there.
    "tests/release/test_export_files.py::test_nothing_is_replaced_without_force_and_with_it_nothing_but_exports",
    "tests/release/test_export_files.py::test_a_copy_that_fails_leaves_the_old_one_and_nothing_else[csv]",
    "tests/release/test_export_files.py::test_the_command_writes_what_its_target_names",
    # Of modes.
    "tests/ledger/test_ledger.py::test_only_the_owner_can_read_it_whatever_the_umask",
    "tests/ledger/test_ledger.py::test_a_folder_that_a_team_shares_stays_shared",
    # Chromium runs as the superuser, whom nobody knows without user ids.
    "tests/report/test_command.py::test_a_page_is_printed_by_chromium_for_the_committees_file",
)
"""What a system without POSIX calls refuses, or has not got."""


def main(words: list[str]) -> int:
    chosen = os.environ.get("TESTS", "").split() or TESTS
    left_out = [word for name in LEFT_OUT for word in ("--deselect", name)]
    return subprocess.run([sys.executable, *COMMAND, *words, *left_out, *chosen], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
