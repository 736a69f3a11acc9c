"""No packed file, folder, sheet or database ends in a bug of ours, by either engine; what is published passes its audit."""

from __future__ import annotations

import pytest

import reticent as rt
from tests.hostile.files import BY_STREAM, CASES
from tests.support.hostile_cases import faults, run, sampled


@pytest.mark.parametrize("name", [*CASES, *sampled(BY_STREAM, most=30)])
def test_a_hostile_file_is_refused_or_published_whole(name, tmp_path):
    case = (CASES | BY_STREAM)[name]
    place = tmp_path / "place"
    place.mkdir()
    ran = run(place, case)
    assert not faults(ran, case.expected), ran.err[:2_000]
    assert not (place / "evil.db").exists()
    if ran.code == 0:
        assert rt.audit(place / "out").kept is not False
