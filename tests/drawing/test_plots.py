"""Drawings: figures in, SVG out; the same figures give the same bytes, nothing of a name is markup, nothing lies outside."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reticent.drawing import plots
from reticent.drawing.svg import LinearScale, choose_log_ticks, choose_ticks
from tests.support.drawings import HOSTILE, require_sound

SIZES = st.lists(st.integers(1, 10**6), min_size=1, max_size=600)
RANGES = st.lists(
    st.tuples(st.integers(-1000, 1000), st.integers(0, 500), st.integers(1, 1000)), min_size=1, max_size=500
)
SHARES = st.lists(st.floats(0, 1, allow_nan=False), min_size=1, max_size=12)


@given(SIZES, st.one_of(st.none(), st.integers(1, 100)))
@example([1], 3)
@example([10**6], 10**6)
@example([1, 12_345, 12_345], None)
def test_group_sizes_of_any_table_are_drawn_within_their_width(sizes, promised):
    svg = plots.draw_group_sizes(sizes, promised, "people in the group")
    require_sound(svg)
    assert svg == plots.draw_group_sizes(list(reversed(sizes)), promised, "people in the group")
    if len(sizes) <= plots.MAX_GROUP_DOTS:
        assert svg.count("<circle") == len(sizes), "a dot for each group"


@given(RANGES)
def test_ranges_of_any_column_are_drawn_in_few_bands_that_keep_all_rows(entries):
    ranges = [(low, low + width, rows) for low, width, rows in entries]
    merged = plots.merge_thin_ranges(plots.sort_ranges(ranges))
    require_sound(plots.draw_ranges(merged, "age", 1.0))
    assert len(merged) <= plots.MAX_DRAWN_RANGES + 1
    assert sum(rows for *_, rows in merged) == sum(rows for *_, rows in ranges)


@given(SHARES)
@example([5e-324])
def test_a_comparison_of_any_shares_is_drawn(shares):
    names = [f"value {number}" for number in range(len(shares))]
    require_sound(plots.draw_comparison(names, shares, list(reversed(shares)), "pay"))


@pytest.mark.parametrize("share", [0.0, 1e-9, 0.5, 1.0])
def test_bars_pairs_and_parts_of_any_share_are_drawn(share):
    for svg in (
        plots.draw_bar(share),
        plots.draw_pair(share, 1 - share),
        plots.draw_shares([(share, "exact-4"), (1 - share, "exact-0")]),
        plots.draw_attack(share, None, 1.0),
        plots.draw_attack(share, 0.5, 1.0, (0.1, 0.9)),
    ):
        require_sound(svg)


def test_one_group_is_not_called_half_of_the_groups():
    assert "the one group: 10" in plots.draw_group_sizes([10], 10, "people")
    assert "half of the groups: 12 or more" in plots.draw_group_sizes([10, 12], 10, "people")


def test_names_are_text_and_never_markup():
    drawings = [
        plots.draw_ranges([(1, 2, 3)], HOSTILE),
        plots.draw_comparison([HOSTILE, "b"], [0.5, 0.5], [0.9, 0.1], HOSTILE),
        plots.draw_group_sizes([1, 2], None, HOSTILE),
    ]
    for svg in drawings:
        require_sound(svg)
        assert "<script" not in svg


LONG_NAMES = ("the_number_of_complete_years_since_the_birth_of_this_person", "W" * 60, "年齢" * 20, HOSTILE)


@pytest.mark.parametrize("name", LONG_NAMES)
@pytest.mark.parametrize("values", [1, 2, 3, 7, 10])
def test_a_name_of_any_length_is_cut_to_its_room(name, values):
    shares = [1 / values] * values
    require_sound(plots.draw_comparison([name] * values, shares, shares, name))
    require_sound(plots.draw_ranges([(-50_000_000, 43_000_000, 5)], name))
    require_sound(plots.draw_group_sizes([5, 6], 5, name))


@pytest.mark.parametrize("top", [1.0, 12.5, 10**9, 10**13])
def test_ticks_of_great_numbers_do_not_meet(top):
    require_sound(plots.draw_ranges([(-top, top, 5), (0, top / 3, 7)], "income", 1.0))
    require_sound(plots.draw_answer_axis(LinearScale(-top, top, left=1.5, right=98.5)))
    require_sound(plots.draw_answer_axis(LinearScale(0, top, left=1.5, right=98.5)))


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_ticks_are_round_few_and_within_the_axis(low, width):
    high = low + width
    ticks = choose_ticks(low, high)
    assert len(ticks) <= 7
    slack = (high - low) * 1e-6 + abs(high) * 1e-9
    assert all(low - slack <= tick <= high + slack for tick in ticks)


def test_logarithmic_ticks_are_one_two_and_five():
    assert choose_log_ticks(10, 1000) == [10, 20, 50, 100, 200, 500, 1000]
    assert choose_log_ticks(1, 10**7) == [10.0**power for power in range(8)]


def test_a_scale_without_width_has_one_place():
    assert LinearScale(3, 3)(3) == 50
    assert plots.draw_ranges([(5, 5, 10)], "age").startswith("<svg")


def test_a_small_share_is_not_called_nothing_and_a_whole_one_has_no_digits():
    assert plots.format_share(0.0004) == "under 0.1\u00a0%"
    assert plots.format_share(0.048) == "4.8\u00a0%"
    assert plots.format_share(0.05) == "5\u00a0%"
    assert plots.format_share(1) == "100\u00a0%"
    assert plots.format_share(0) == "0\u00a0%"


NUMBERS = st.one_of(st.none(), st.floats(-1e9, 1e9, allow_nan=False))


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS), max_size=5))
def test_answers_of_any_numbers_are_drawn_within_their_width(answers):
    numbers = [number for answer in answers for number in answer if number is not None]
    scale = plots.choose_answer_scale(numbers)
    assert all(0 <= scale(number) <= 100 for number in numbers)
    require_sound(plots.draw_answer_axis(scale))
    for estimate, low, high, truth in answers:
        ends = None if low is None or high is None else (min(low, high), max(low, high))
        lower, upper = (low, high) if ends is None else ends
        require_sound(plots.draw_answer(scale, estimate, lower, upper, interval=ends, truth=truth))


def test_an_answer_is_a_filled_disc_between_its_bounds_and_the_truth_is_hollow():
    scale = plots.choose_answer_scale([0, 100])
    svg = plots.draw_answer(scale, 40, 10, 90, interval=(30, 50), truth=60)
    assert svg.count('class="release"') == 1 and svg.count('class="reference-hollow"') == 1
    assert svg.count('class="bounds-line"') == 3, "a line and its two ends"
    assert svg.count('class="interval-line"') == 1
    assert 'class="guide"' in plots.draw_answer(scale, 40, 10, None), "a bound that there is not is dotted"


def test_who_always_guesses_the_most_frequent_value_is_a_line_of_its_own():
    assert 'class="reference-line"' in plots.draw_attack(0.5, 0.2, 1.0, guessing=0.3)
    assert 'class="reference-line"' not in plots.draw_attack(0.5, 0.2, 1.0)
