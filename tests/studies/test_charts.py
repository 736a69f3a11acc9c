"""Charts of the studies: both axes named, whole titles, round marks; and one command that knows every study."""

from __future__ import annotations

import re

import pytest

from studies import runner
from studies.all import STUDIES, main
from studies.chart import heights, line_chart
from tests.support.repository import ROOT

ROWS = [{"beta": x, "method": name, "ail": x * 0.137 + 0.01} for x in (1, 2, 3) for name in ("one", "two")]


def test_a_chart_names_both_axes():
    assert {">beta<", ">ail<"} <= set(re.findall(r">[^<>]+<", line_chart(ROWS, "beta", "ail", "t")))


def test_a_long_title_is_broken_into_lines_and_not_cut():
    title = "a title of many words " * 12
    shown = re.findall(r'font-size="14">(.*?)<', line_chart(ROWS, "beta", "ail", title))
    assert len(shown) > 1
    assert " ".join(shown) == title.strip()


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
