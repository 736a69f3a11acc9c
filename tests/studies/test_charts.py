"""Charts of the studies: both axes named, whole titles, round marks; and one command that knows every study."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from studies import runner
from studies.all import STUDIES, main
from studies.chart import heights, line_chart
from studies.labelled_chart import DASHES, average_runs, draw_labelled_lines
from tests.support.repository import ROOT

ROWS = [{"beta": x, "method": name, "ail": x * 0.137 + 0.01} for x in (1, 2, 3) for name in ("one", "two")]


def test_a_chart_names_both_axes():
    assert {">beta<", ">ail<"} <= set(re.findall(r">[^<>]+<", line_chart(ROWS, "beta", "ail", "t")))


def test_a_long_title_is_broken_into_lines_and_not_cut():
    title = "a title of many words " * 12
    shown = re.findall(r'font-size="14">(.*?)<', line_chart(ROWS, "beta", "ail", title))
    assert len(shown) > 1
    assert " ".join(shown) == title.strip()


SEEDED = [
    {"beta": x, "method": name, "seed": seed, "cpu": x * 0.1 + seed * 0.01 + 0.2 * len(name)}
    for x in (1, 2, 3)
    for name in ("one", "three", "eleven")
    for seed in (1, 2, 3, 4, 5)
]


def draw_seeds(rows, x, y):
    averaged = average_runs(rows, x, y)
    return draw_labelled_lines(averaged, x, y, "t", x_label="explained", y_label="effort", ends=("least", "most"))


def test_runs_are_averaged_with_their_least_and_their_most():
    (first, *_) = average_runs(SEEDED, "beta", "cpu")
    values = [row["cpu"] for row in SEEDED if row["beta"] == 1 and row["method"] == "one"]
    assert first == {"method": "one", "beta": 1, "cpu": sum(values) / 5, "least": min(values), "most": max(values)}


def test_a_chart_of_seeds_draws_a_band_and_a_line_of_each_method_and_names_it_once():
    drawn = draw_seeds(SEEDED, "beta", "cpu")
    assert drawn.count("<polyline") == drawn.count('fill-opacity="0.18"') == 3
    assert {">explained<", ">effort<"} <= set(re.findall(r">[^<>]+<", drawn))
    assert all(drawn.count(f">{name}<") == 1 for name in ("one", "three", "eleven"))


def test_lines_of_a_chart_of_seeds_differ_in_dash_besides_colour():
    drawn = draw_seeds(SEEDED, "beta", "cpu")
    assert len(set(re.findall(r'stroke-dasharray="([^"]*)"', drawn))) == 2, "the first line has no dash"
    assert len(set(DASHES)) == len(DASHES)


def test_a_logarithmic_axis_says_so_and_puts_equal_ratios_apart_equally():
    rows = [{"x": x, "method": "one", "y": 10.0**x} for x in (0, 1, 2)]
    drawn = draw_labelled_lines(rows, "x", "y", "t", x_label="a", y_label="b", logarithmic=True)
    assert ">b (logarithmic)<" in drawn
    heights_drawn = [float(place) for place in re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)"', drawn)]
    assert heights_drawn[0] - heights_drawn[1] == pytest.approx(heights_drawn[1] - heights_drawn[2], abs=0.2)


def test_names_beside_a_chart_of_seeds_never_overlap():
    rows = [{"x": 1, "method": str(number), "y": 5.0, "seed": 1} for number in range(6)]
    drawn = draw_seeds(rows, "x", "y")
    downs = sorted(float(place) for place in re.findall(r'<text x="582" y="([0-9.]+)"', drawn))
    assert len(downs) == 6 and all(after - before > 13.8 for before, after in pairwise(downs))


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        ([0.03, 0.83], [0, 0.25, 0.5, 0.75, 1]),
        ([230, 459], [0, 200, 400, 600]),
        ([-1, 2.9], [-1, 0, 1, 2, 3]),
        ([0, 0], [0, 0.25]),
    ],
)
def test_heights_are_marked_at_round_numbers_that_hold_every_value(values, marks):
    found = heights(values, logarithmic=False)
    assert found[: len(marks)] == pytest.approx(marks)
    assert found[0] <= min(values) and found[-1] >= max(values)


def test_logarithmic_heights_are_marked_at_powers_of_ten():
    assert heights([0.7, 59], logarithmic=True) == pytest.approx([0.1, 1, 10, 100])


def test_every_colour_in_a_chart_is_written_out():
    for chart in (ROOT / "studies").glob("*/results/*.svg"):
        colours = re.findall(r'(?:fill|stroke)="([^"]+)"', chart.read_text(encoding="utf-8"))
        assert all(colour == "none" or re.fullmatch(r"#[0-9a-f]{6}", colour) for colour in colours), chart.name


def test_one_command_knows_every_study(capsys):
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.split() == list(STUDIES)
    assert "beta_likeness" in STUDIES
    assert main(["alchemy"]) == 1
    assert "known are" in capsys.readouterr().err


def test_a_figure_without_its_data_says_how_to_get_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["run"])
    runner.run("", {"1": list}, tmp_path, needs=tmp_path / "adult.csv", of=["1"])
    assert "reticent data adult -o" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
