"""Modules that only POSIX systems have are taken away in a child process, which runs a part of the suite without them."""

from __future__ import annotations

import subprocess
import sys

from tests.packaging.blocked_check import COMMAND, QUICK_TESTS
from tests.support.repository import ROOT


def test_what_needs_no_posix_system_runs_without_its_modules():
    ran = subprocess.run([sys.executable, *COMMAND, *QUICK_TESTS], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
