"""Good jobs and files, mutated: a sample in the suite, thousands by `make hostile` (HOSTILE_EXAMPLES)."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hostile.mutation import edited_files, odd_parameters
from tests.support.hostile_cases import Case, faults, run

EXAMPLES = int(os.environ.get("HOSTILE_EXAMPLES", "60"))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(st.one_of(edited_files(), edited_files(), odd_parameters()))
def test_a_mutated_job_or_file_is_no_bug_of_ours(case: Case):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "place"
        place.mkdir()
        ran = run(place, case)
        assert not faults(ran, None), (
            ran.err[:2_000],
            {path.name: path.read_bytes()[:3_000] for path in place.glob("*.*")},
        )
