"""Charts of things side by side: any figures are drawn within the drawing, the present job is ringed, names are text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reticent.drawing.comparison_plots import (
    MAX_METHODS,
    MethodMark,
    MethodSeries,
    Yardstick,
    draw_before_after,
    draw_beliefs,
    draw_field,
    draw_frontier,
)
from tests.support.drawings import HOSTILE, require_sound

SHARE = st.floats(0, 1, allow_nan=False)
MARKS = st.lists(st.tuples(SHARE, SHARE), min_size=1, max_size=4)
PEOPLE = st.lists(st.tuples(st.integers(0, 10**6), st.floats(0, 10**6)), min_size=1, max_size=60)


@given(st.lists(MARKS, min_size=1, max_size=MAX_METHODS), st.lists(st.tuples(SHARE, SHARE), max_size=3))
def test_methods_with_any_figures_are_drawn_with_the_present_job_ringed(methods, yardsticks):
    series = [
        MethodSeries(f"method {number}", tuple(MethodMark(loss, gain, number == 0) for loss, gain in marks[:1]))
        for number, marks in enumerate(methods)
    ]
    svg = draw_frontier(series, [Yardstick(HOSTILE, loss, gain) for loss, gain in yardsticks])
    require_sound(svg, apart=False)  # the labels of seven marks in one place have nowhere to go
    assert svg.count('class="ring"') == 1 and "your job" in svg
    assert "<script>" not in svg
    assert all(f">method {number}<" in svg for number in range(len(methods)))


def test_a_line_joins_the_promises_of_a_method_and_each_method_has_a_marker_of_its_own():
    marks = (MethodMark(0.2, 0.1), MethodMark(0.4, 0.05), MethodMark(0.6, 0.01))
    svg = draw_frontier([MethodSeries(f"m{number}", marks) for number in range(MAX_METHODS)], [])
    for number in range(1, MAX_METHODS + 1):
        assert svg.count(f'class="method-{number}"') == 3 and svg.count(f'class="method-line-{number}"') == 2
    require_sound(draw_frontier([MethodSeries("none", ())], []))


@given(PEOPLE)
def test_any_column_is_drawn_before_and_after(people):
    names = [f"{HOSTILE}{number}" for number in range(len(people))]
    svg = draw_before_after(names, [before for before, _ in people], [after for _, after in people], HOSTILE)
    require_sound(svg)
    assert svg.count("<rect") == len(people)


@given(st.integers(1, 9), st.integers(1, 9), st.floats(0, 10**6))
def test_any_two_columns_are_drawn_as_fields(rows, columns, people):
    names = [HOSTILE] * max(rows, columns)
    counts = [[people * (row + column) for column in range(columns)] for row in range(rows)]
    svg = draw_field(counts, max(map(max, counts)) or 1.0, names[:rows], names[:columns], "People by both.")
    require_sound(svg)
    assert svg.count("<rect") == rows * columns


@given(SHARE, SHARE)
def test_any_two_beliefs_are_drawn_with_their_words(alone, together):
    svg = draw_beliefs(alone, together, "surest belief")
    require_sound(svg)
    assert "alone: " in svg and "together: " in svg
