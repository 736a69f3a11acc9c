"""Where a figure is on its way to as rows are added: along a power of their number, between a hopeful and a doubtful line."""

from __future__ import annotations

import pytest

from reticent.compare.advise import Projection, find_possible_overtakers


def figure(low: float, high: float | None = None) -> dict:
    high = low if high is None else high
    return {"low": low, "high": high, "value": (low + high) / 2}


def test_a_figure_that_falls_as_one_over_a_root_goes_on_to_do_so_or_half_as_fast_again_or_half_as_fast():
    way = Projection.from_figures(figure(0.4), figure(0.2), times=4, further=16, less_is_better=True)
    assert way.hopeful == pytest.approx(0.2 / 2**3) and way.doubtful == pytest.approx(0.2 / 2)
    assert way.hopeful < 0.2 / 2**2 < way.doubtful


def test_a_figure_that_grows_may_go_on_to_do_so_and_may_yet_fall_as_one_over_a_root():
    way = Projection.from_figures(figure(0.1), figure(0.2), times=4, further=4, less_is_better=True)
    assert way.hopeful == pytest.approx(0.2 / 2) and way.doubtful == pytest.approx(0.2 * 2**1.5)


def test_a_spread_opens_the_way():
    narrow = Projection.from_figures(figure(0.4), figure(0.2), times=4, further=16, less_is_better=True)
    way = Projection.from_figures(figure(0.38, 0.42), figure(0.19, 0.21), times=4, further=16, less_is_better=True)
    assert way.hopeful < narrow.hopeful < narrow.doubtful < way.doubtful


def test_where_more_is_better_what_is_missing_to_all_of_it_shrinks():
    way = Projection.from_figures(figure(0.6), figure(0.8), times=4, further=4, less_is_better=False)
    assert way.hopeful == pytest.approx(1 - 0.2 / 2**1.5) and way.doubtful == pytest.approx(1 - 0.2 / 2**0.5)


def test_nothing_is_less_than_none():
    assert Projection.from_figures(figure(0.1), figure(0.0), times=4, further=16, less_is_better=True).hopeful == 0
    assert Projection.from_figures(figure(0.0), figure(0.0), times=4, further=16, less_is_better=True) == Projection(
        0.0, 0.0
    )
    assert (
        Projection.from_figures(figure(0.0), figure(0.1), times=4, further=16, less_is_better=True).hopeful <= 0.1
    )  # no way is known


def test_who_may_overtake_is_who_hopes_for_more_than_the_first_may_doubt():
    small = {"first": figure(0.13), "steep": figure(0.35), "flat": figure(0.23)}
    large = {"first": figure(0.10), "steep": figure(0.195), "flat": figure(0.20), "new": figure(0.5)}
    assert find_possible_overtakers(small, large, "first", times=4, further=1.2, less_is_better=True) == [
        "new"
    ]  # of it no way is known
    assert find_possible_overtakers(small, large, "first", times=4, further=60, less_is_better=True) == [
        "steep",
        "flat",
        "new",
    ]
    assert (
        find_possible_overtakers(small, {"first": large["first"]}, "first", times=4, further=60, less_is_better=True)
        == []
    )


def test_of_one_kind_the_measured_means_decide_who_may_overtake():
    """Mondrian gains as mosaic does, from behind: that more rows may give it more, they may give to mosaic too."""
    small = {"mosaic": figure(0.24, 0.26), "mondrian": figure(0.29, 0.31), "closing": figure(0.5, 0.52)}
    large = {"mosaic": figure(0.16, 0.18), "mondrian": figure(0.19, 0.21), "closing": figure(0.2, 0.22)}
    ways = {"times": 4, "further": 10, "less_is_better": True}
    assert find_possible_overtakers(small, large, "mosaic", **ways) == ["mondrian", "closing"]
    assert find_possible_overtakers(small, large, "mosaic", same_kind=list(large), **ways) == ["closing"]
