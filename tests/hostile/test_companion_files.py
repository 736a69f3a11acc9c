"""No file beside a job ends in a bug of ours, a hang or a canary."""

from __future__ import annotations

import pytest

from tests.hostile.companion_files import CASES
from tests.support.hostile_cases import faults, run, sampled


@pytest.mark.parametrize("name", sampled(CASES, most=90))
def test_a_hostile_file_beside_a_job_is_refused_in_our_own_words(name, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    ran = run(place, CASES[name])
    assert not faults(ran, CASES[name].expected), ran.err[:2_000]
