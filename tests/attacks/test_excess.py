"""More than chance: the whole interval of an attack's success lies beyond its control and beyond guessing."""

from __future__ import annotations

import pytest

from reticent.attacks.excess import (
    WHO_GUESSES,
    WHO_KNOWS_MORE,
    describe_excess,
    exceeds_chance,
    find_control,
    find_guessing,
    measure_excess,
)


def outcome(success, low, control, baseline):
    return {"success": success, "low": low, "control": control, "baseline": baseline}


@pytest.mark.parametrize(
    ("fields", "exceeds"),
    [
        (outcome(0.5, 0.45, 0.3, 0.4), True),
        (outcome(0.5, 0.4, 0.3, 0.4), False),
        (outcome(0.5, 0.35, 0.3, 0.4), False),
        (outcome(0.5, 0.45, 0.46, 0.1), False),
        (outcome(0.5, 0.45, None, 0.4), True),
        (outcome(0.5, None, None, None), True),
        (outcome(None, None, None, None), False),
    ],
)
def test_the_whole_interval_is_beyond_the_control_and_guessing(fields, exceeds):
    assert exceeds_chance(fields) is exceeds


def test_where_no_control_was_computed_guessing_stands_in_its_place():
    assert find_control(outcome(0.5, 0.4, None, 0.3)) == 0.3
    assert find_guessing(outcome(0.5, 0.4, None, 0.3)) is None
    assert find_guessing(outcome(0.5, 0.4, 0.2, 0.3)) == 0.3
    assert measure_excess(outcome(0.5, 0.4, 0.2, 0.3)) == pytest.approx(0.2)


def test_the_sentence_is_true_of_none_one_and_several():
    more, less = outcome(0.5, 0.4, 0.1, 0.1), outcome(0.1, 0.05, 0.2, 0.1)
    assert describe_excess([outcome(None, None, None, None)], WHO_GUESSES).startswith("No adversary who knows")
    assert describe_excess([more], WHO_GUESSES).endswith(
        "who knows the describing columns alone reaches more than chance"
    )
    assert describe_excess([less], WHO_GUESSES).endswith("reaches no more than chance")
    assert describe_excess([less, less], WHO_KNOWS_MORE).startswith("None of 2 adversaries who know more")
    assert describe_excess([more, less], WHO_GUESSES).startswith("1 of 2 adversaries who know the describing")
    assert describe_excess([more, more], WHO_GUESSES).endswith("reach more than chance")
