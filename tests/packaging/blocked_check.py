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
    "tests/query",
    "tests/attacks",
    "tests/audit",
    "tests/report",
    "tests/ledger/test_ledger.py",
    "tests/ledger/test_fingerprint.py",
    "tests/ledger/test_identifiers.py",
    "tests/cli/test_demo.py",
    "tests/cli/test_audit.py",
    "tests/cli/test_attack.py",
    "tests/cli/test_bad_input.py",
)


def main(words: list[str]) -> int:
    chosen = os.environ.get("TESTS", "").split() or TESTS
    return subprocess.run([sys.executable, *COMMAND, *words, *chosen], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
