"""The visits of the benchmarks are what the rows' names say."""

from __future__ import annotations

from benchmarks import visits


def test_visits_have_the_people_and_the_codes_that_are_named():
    frame = visits.make_visits()
    assert frame.height == visits.VISITS == 40_000
    assert frame["patient"].n_unique() == visits.PEOPLE == 20_613
    assert frame["diagnosis"].n_unique() == visits.CODES == 901
    assert frame.group_by("patient").len()["len"].max() == visits.MAX_VISITS_PER_PERSON == 9
