"""Charts of the studies: each is what its CSV draws, reads without colour, is whole, and is shown in its README."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest

from studies import runner
from studies.all import STUDIES, main
from studies.drawing import (
    DASHES,
    SHAPES,
    average_runs,
    choose_marks,
    draw_categories,
    draw_lines,
    find_lowest,
    say_lowest,
)
from studies.results import DRAWN, fill_galleries, list_charts, read_title
from studies.seeds import say_seeds
from tests.support.repository import ROOT

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"title": 17, "tick": 12}
BOLD = ("title", "head")
NARROW = " iIjlt.,:;'|()[]/-f"
WIDE = "mwMW%"
BOLDER = 1.12  # how much wider bold letters are
WORDS = {"title": "t", "note": "n.", "x_label": "explained", "y_label": "effort"}
ROWS = [{"beta": x, "method": name, "ail": x * 0.137 + len(name)} for x in (1, 2, 3) for name in ("one", "three")]
PLACES = [
    {"table": table, "kind": kind, "method": method, "loss": loss, "least": loss - 0.1, "most": loss + 0.1}
    for table, kind, method, loss in (
        ("adult", "open", "one", 0.5),
        ("adult", "open", "two", 0.5),
        ("adult", "closed", "one", 0.7),
        ("deaths", "open", "two", 0.2),
    )
]


@cache
def draw_study(study: str) -> dict[str, str]:
    return list_charts(study)


def list_texts(chart: str) -> list[tuple[str, str, tuple[float, float, float, float]]]:
    """List the texts of a chart: the words, the class, and about which box they take."""
    texts = []
    for element in ElementTree.fromstring(chart).iter(f"{SVG}text"):
        words, style = element.text or "", element.get("class", "")
        size = SIZES.get(style, 13)
        letters = sum(0.36 if letter in NARROW else 0.9 if letter in WIDE else 0.62 for letter in words)
        width = letters * size * (BOLDER if style in BOLD else 1)
        left = float(element.get("x", "0")) - {"middle": width / 2, "end": width}.get(element.get("text-anchor", ""), 0)
        baseline = float(element.get("y", "0"))
        texts.append((words, style, (left, baseline - 0.75 * size, left + width, baseline + 0.2 * size)))
    return texts


def list_marks(chart: str) -> list[tuple[float, float]]:
    """List where the marks of values are; those beside names are not among them."""
    marks = []
    for element in ElementTree.fromstring(chart).iter(f"{SVG}path"):
        classes = element.get("class", "").split()
        if "mark" in classes and "key" not in classes:
            found = re.fullmatch(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
            assert found is not None
            marks.append((float(found[1]), float(found[2])))
    return marks


@pytest.mark.parametrize("study", DRAWN)
def test_the_charts_of_a_study_are_what_its_results_draw(study):
    saved = {
        path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "studies" / study / "results").glob("*.svg")
    }
    assert draw_study(study) == saved, "python -m studies.all --redraw"


@pytest.mark.parametrize("study", DRAWN)
def test_no_text_of_a_chart_leaves_the_picture_or_lies_on_another(study):
    for name, chart in draw_study(study).items():
        _, _, width, height = map(float, ElementTree.fromstring(chart).get("viewBox", "").split())
        texts = list_texts(chart)
        for words, _, (left, top, right, bottom) in texts:
            assert left >= 0 and right <= width and top >= 0 and bottom <= height, f"{name}: {words}"
        for (words, _, box), (others, _, other) in combinations(texts, 2):
            is_apart = box[2] <= other[0] or other[2] <= box[0] or box[3] <= other[1] or other[3] <= box[1]
            assert is_apart, f"{name}: {words} on {others}"


@pytest.mark.parametrize("study", DRAWN)
def test_no_mark_of_a_chart_hides_another(study):
    for name, chart in draw_study(study).items():
        for first, second in combinations(sorted(list_marks(chart)), 2):
            apart = max(abs(first[0] - second[0]), abs(first[1] - second[1]))
            assert apart >= 3, f"{name}: marks at {first} and {second}"


@pytest.mark.parametrize("study", DRAWN)
def test_a_chart_says_what_is_drawn_and_names_its_axes_in_words(study):
    for name, chart in draw_study(study).items():
        texts = list_texts(chart)
        axes = [words for words, style, _ in texts if style == "axis"]
        assert len(axes) == (2 if "<polyline" in chart else 1), name
        assert all(len(axis) > 10 or axis.startswith("rows") for axis in axes), f"{name}: {axes}"
        assert len(read_title(chart).split()) >= 6, name
        assert any(style == "note" for _, style, _ in texts), f"{name} has no line under its title"


@pytest.mark.parametrize("study", DRAWN)
def test_lines_of_a_chart_differ_in_dash_or_marker_and_each_has_its_name(study):
    for name, chart in draw_study(study).items():
        lines = re.findall(r'<polyline class="([^"]*)"( stroke-dasharray="[^"]*")? ', chart)
        assert len(set(lines)) == len(lines), name
        keys = re.findall(r'<path class="([^"]* mark key[^"]*)" transform="[^"]*" d="([^"]*)"', chart)
        assert len(set(keys)) == len(keys), name
        if lines:
            assert len(keys) == len(lines), name


@pytest.mark.parametrize("study", DRAWN)
def test_every_chart_is_shown_in_the_readme_of_its_study_under_its_title(study):
    readme = (ROOT / "studies" / study / "README.md").read_text(encoding="utf-8")
    for name in draw_study(study):
        assert readme.count(f"](results/{name}.svg)") == 1, name
    assert fill_galleries(readme, draw_study(study)) == readme, "python -m studies.all --redraw"


@pytest.mark.parametrize("study", DRAWN)
def test_colours_of_a_chart_are_classes_of_its_style_for_light_and_dark_screens(study):
    for name, chart in draw_study(study).items():
        style = re.search(r"<style>(.*?)</style>", chart, re.DOTALL)
        assert style is not None and "prefers-color-scheme:dark" in style[1]
        drawn = chart[style.end() :]
        assert not re.search(r' (?:style|fill|stroke)="', drawn) and "#" not in drawn, name
        used = {word for classes in re.findall(r'class="([^"]*)"', drawn) for word in classes.split()} - {"key"}
        assert all(f".{word}" in style[1] for word in used), name


def test_a_chart_of_lines_names_both_axes_and_each_line_once():
    drawn = draw_lines(ROWS, "beta", "ail", **{**WORDS, "title": "a title with <marks>"})
    assert {">explained<", ">effort<"} <= set(re.findall(r">[^<>]+<", drawn))
    assert all(drawn.count(f">{name}<") == 1 for name in ("one", "three"))
    assert drawn.count("<polyline") == 2
    assert "&lt;marks&gt;" in drawn


def test_a_long_title_is_broken_into_lines_and_not_cut():
    title = "a title of many words " * 12
    shown = re.findall(r'class="title">(.*?)<', draw_lines(ROWS, "beta", "ail", **{**WORDS, "title": title}))
    assert len(shown) > 1
    assert " ".join(shown) == title.strip()


def test_runs_are_averaged_with_their_least_and_their_most():
    runs = [{"beta": 1, "method": "one", "seed": seed, "cpu": 0.1 + seed * 0.01} for seed in range(5)]
    assert average_runs(runs, "beta", "cpu") == [
        {"method": "one", "beta": 1, "cpu": pytest.approx(0.12), "least": 0.1, "most": pytest.approx(0.14)}
    ]


def test_a_note_says_of_how_many_seeds_the_means_are_and_of_which_lines_of_fewer():
    rows = [{"method": "one", "seed": str(seed)} for seed in range(5)]
    assert say_seeds(rows) == "Means of five seeds, bands from the least to the greatest."
    assert say_seeds([*rows, {"method": "two", "seed": "1"}], "ranges") == (
        "Means of five seeds, ranges from the least to the greatest; two: one seed."
    )
    assert say_seeds([{"method": "one"}, {"method": "two"}]) == "One seed."


def test_a_chart_of_seeds_draws_a_band_for_each_line():
    rows = [{**row, "least": row["ail"] - 0.1, "most": row["ail"] + 0.1} for row in ROWS]
    drawn = draw_lines(rows, "beta", "ail", ends=("least", "most"), **WORDS)
    assert drawn.count(" band") == 2


def test_lines_that_are_equal_from_end_to_end_are_one_line_with_both_names():
    rows = [{"x": x, "method": name, "y": x} for x in (1, 2, 3) for name in ("one", "two")]
    drawn = draw_lines(rows, "x", "y", **WORDS)
    assert drawn.count("<polyline") == 1
    assert ">one<" in drawn and ">= two<" in drawn


def test_lines_that_are_nearly_equal_say_so():
    rows = [{"x": x, "method": name, "y": x + more} for x in (1, 2, 3) for name, more in (("one", 0), ("two", 0.001))]
    assert ">≈ two<" in draw_lines(rows, "x", "y", **WORDS)


def test_points_of_two_lines_that_meet_are_drawn_beside_each_other_at_one_height():
    rows = [{"x": x, "method": name, "y": y} for x in (1, 2) for name, y in (("one", 1), ("two", x))]
    marks = sorted(list_marks(draw_lines(rows, "x", "y", **WORDS)))
    assert marks[1][0] - marks[0][0] > 5 and marks[0][1] == marks[1][1]


def test_names_beside_a_chart_never_overlap():
    rows = [{"x": x, "method": f"method {number}", "y": 5 + number} for x in (1, 2) for number in range(9)]
    drawn = draw_lines([*rows, {"x": 1, "method": "far", "y": 90}], "x", "y", **WORDS)
    downs = sorted(box[1] for words, _, box in list_texts(drawn) if words.startswith("method"))
    assert len(downs) == 9 and all(after - before > 12 for before, after in pairwise(downs))


def test_every_line_of_ten_has_its_own_dash_and_marker():
    assert len(set(DASHES)) == len(DASHES) == 2 * len(SHAPES)


def test_a_logarithmic_axis_says_so_and_puts_equal_ratios_apart_equally():
    rows = [{"x": x, "method": "one", "y": 10.0**x} for x in (0, 1, 2)]
    drawn = draw_lines(rows, "x", "y", logarithmic=True, **WORDS)
    assert "logarithmic" in drawn
    heights = [height for _, height in sorted(list_marks(drawn))]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.2)


def test_categories_are_never_joined_by_lines_and_stand_in_the_order_of_the_rows():
    drawn = draw_categories(
        PLACES, "kind", "loss", group="table", title="t", note="n.", value_label="loss", ends=("least", "most")
    )
    assert "<polyline" not in drawn
    shown = [words for words, style, _ in list_texts(drawn) if style in ("", "head")]
    assert shown == ["one", "two", "adult", "open", "closed", "deaths", "open"]
    assert len(list_marks(drawn)) == 4 and drawn.count('<path class="line') == 4


def test_equal_values_of_a_category_are_drawn_below_each_other():
    drawn = draw_categories(PLACES[:2], "kind", "loss", title="t", note="n.", value_label="loss")
    first, second = list_marks(drawn)
    assert first[0] == second[0] and second[1] - first[1] >= 8


def test_the_lowest_series_is_named_with_how_often_it_is_lowest():
    rows = [{"x": x, "method": name, "y": y} for x in (1, 2, 3) for name, y in (("one", x), ("two", 2.5))]
    assert find_lowest(rows, "x", "y") == ("one", 2, 3)
    assert say_lowest(rows, "x", "y", "loses least", "x") == "one loses least at 2 of 3 points"
    assert say_lowest(rows[:2], "x", "y", "loses least", "x") == "one loses least at every x"


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
    chosen = choose_marks(values, logarithmic=False)
    assert chosen[: len(marks)] == pytest.approx(marks)
    assert chosen[0] <= min(values) and chosen[-1] >= max(values)


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        ([0.7, 9], [0.5, 1, 2, 5, 10]),
        ([0.7, 590], [0.1, 1, 10, 100, 1000]),
        ([0, 3, 4000], [0, 1, 10, 100, 1000, 10000]),
    ],
)
def test_logarithmic_heights_are_marked_at_round_numbers_and_0_has_a_place(values, marks):
    chosen = choose_marks(values, logarithmic=True)
    assert chosen[-len(marks) :] == pytest.approx(marks)
    assert chosen[0] <= min(values) and chosen[-1] >= max(values)


def test_one_command_knows_every_study(capsys):
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.split() == list(STUDIES)
    assert "beta_likeness" in STUDIES
    assert main(["alchemy"]) == 1
    assert "known are" in capsys.readouterr().err


def test_one_command_redraws_a_study_without_measuring_and_refuses_an_unknown_one(capsys):
    readme = ROOT / "studies" / "density" / "README.md"
    before = readme.read_text(encoding="utf-8")
    assert main(["--redraw", "density"]) == 0
    assert "density: 1 charts" in capsys.readouterr().out
    assert readme.read_text(encoding="utf-8") == before
    assert main(["--redraw", "alchemy"]) == 1
    assert "known are background" in capsys.readouterr().err


def test_a_figure_without_its_data_says_how_to_get_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["run"])
    runner.run("", {"1": list}, tmp_path, needs=tmp_path / "adult.csv", of=["1"], draw_charts=lambda name, rows: {})
    assert "reticent data adult -o" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
