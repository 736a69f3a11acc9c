"""Cost curves: any steps are drawn within the drawing, one out of reach is said in words, and texts do not meet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.drawing.cost_curves import draw_cost_curve, draw_people
from tests.support.drawings import require_sound

LOSSES = st.lists(st.one_of(st.none(), st.floats(0, 1, allow_nan=False)), min_size=1, max_size=12)


@given(LOSSES, st.data())
def test_any_steps_are_drawn_with_the_present_one_named(losses, data):
    current = data.draw(st.integers(0, len(losses) - 1))
    unreached = [loss is None and data.draw(st.booleans()) for loss in losses]
    steps = [f"{10 * 2**number:,}" for number in range(len(losses))]
    svg = draw_cost_curve(steps, losses, unreached, current, 1.0, "people who share a description")
    require_sound(svg, apart=False)  # what is now may stand at the first step out of reach
    assert ("out of reach" in svg) == any(unreached)
    assert ("now: " in svg) == (losses[current] is not None)


@pytest.mark.parametrize("count", [1, 2, 20, 21, 1_000])
def test_people_are_drawn_up_to_a_number(count):
    require_sound(draw_people(count))
