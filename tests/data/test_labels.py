"""Labels that do not end at people's values: where ends are put, what is refused, and that no value is left outside."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.data.columns import LabelOptions
from reticent.data.label_styles import choose_round_step
from reticent.errors import BundleDamaged, ColumnError, JobError, PromiseUnreachable
from reticent.methods.recipe_planning import relabel_recipe
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import draw_padded_ends, merge_equal_labels
from reticent.recipe.recipe import Recipe
from tests.support.release_folders import resealed

ROWS = 300


def table() -> pl.DataFrame:
    rng = np.random.default_rng(2)
    born = [date(1931, 3, 7) + timedelta(days=int(days)) for days in rng.integers(0, 27_000, ROWS)]
    return pl.DataFrame(
        {
            "age": rng.integers(17, 90, ROWS),
            "born": born,
            "seen": [datetime(2019, 5, 4, 3, 2, 1, 7) + timedelta(seconds=int(s)) for s in rng.integers(0, 9e7, ROWS)],
            "weight": rng.normal(70, 12, ROWS),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], ROWS),
            "s": rng.choice(list("xyz"), ROWS),
        }
    )


def published(frame: pl.DataFrame | None = None, method: object = None, k: int = 5, **declared: object) -> rt.Release:
    columns = {**declared, "s": rt.sensitive()}
    promises = [rt.KAnonymity(k)]
    job = rt.Job(columns=columns, promises=promises, method=method, release=rt.Output(undeclared="drop"))
    return rt.publish(job, frame=table() if frame is None else frame, seed=4)


def ends(release: rt.Release, name: str) -> list:
    bounds = release.frame(bounds=True)
    return [*bounds[f"{name}_lower"], *bounds[f"{name}_upper"]]


def test_dates_end_on_calendar_steps_unless_tight_ones_are_asked_for():
    bounds = published(born=rt.quasi()).frame(bounds=True)
    quarters = {(1, 1), (4, 1), (7, 1), (10, 1)}
    assert {(day.month, day.day) for day in bounds["born_lower"]} <= quarters
    assert {
        ((day + timedelta(days=1)).month, (day + timedelta(days=1)).day) for day in bounds["born_upper"]
    } <= quarters
    people = set(table()["born"])
    assert set(ends(published(born=rt.quasi(labels="tight")), "born")) <= people


def test_fractions_print_few_digits_unless_tight_ones_are_asked_for():
    labels = published(weight=rt.quasi()).frame()["weight"].unique().to_list()
    assert all(len(end) <= 5 for label in labels for end in label.strip("[]").split(", "))
    assert max(len(label) for label in published(weight=rt.quasi(labels="tight")).frame()["weight"]) > 30


def test_numbers_that_are_whole_stay_tight_however_their_type_is_named():
    frame = table().with_columns(age=pl.col("age").cast(pl.Float64))
    assert published(frame, age=rt.quasi()).columns[0].labels is None
    assert set(ends(published(age=rt.quasi()), "age")) <= set(table()["age"])


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("age", {"style": "snapped", "step": 5}),
        ("age", {"style": "padded", "width": 3}),
        ("age", {"style": "padded", "width": 3, "share": 0.5}),
        ("born", {"style": "padded", "width": 400, "share": 0.1}),
        ("born", {"style": "snapped", "step": "month"}),
        ("born", {"style": "padded", "width": 30}),
        ("seen", {"style": "snapped", "step": "week"}),
        ("seen", {"style": "padded", "width": 2}),
        ("seen", "snapped"),
        ("weight", {"style": "snapped", "step": 0.25}),
        ("weight", {"style": "padded", "width": 1.5}),
    ],
)
@pytest.mark.parametrize("method", [rt.Mondrian(), rt.Mosaic(effort="quick")], ids=["mondrian", "mosaic"])
def test_every_row_lies_inside_its_label(name, labels, method):
    frame = table().with_columns(pl.when(pl.int_range(pl.len()) % 30 != 4).then(name).alias(name))
    release = published(frame, method, **{name: rt.quasi(labels=labels), "town": rt.quasi()})
    found = rt.audit(release.folder, source=frame)
    assert found.kept and found.source.passed
    assert release.manifest.columns[0].labels == LabelOptions.parse(labels).to_plain()


def test_snapped_ends_are_multiples_of_the_step():
    bounds = published(age=rt.quasi(labels={"style": "snapped", "step": 5})).frame(bounds=True)
    ranges = bounds.filter(pl.col("age_lower") != pl.col("age_upper"))
    assert (ranges["age_lower"] % 5 == 0).all() and (ranges["age_upper"] % 5 == 4).all()


def test_a_pad_is_drawn_for_each_end_and_never_exceeds_its_width():
    job = rt.Job(
        columns={"age": rt.quasi(labels={"style": "padded", "width": 3}), "s": rt.sensitive()},
        promises=[rt.KAnonymity(5)],
        release=rt.Output(undeclared="drop"),
    )
    tight = rt.plan(job.at(columns={**job.columns, "age": rt.quasi(labels="tight")}), frame=table(), seed=4).groups
    moved = [rt.plan(job, frame=table(), seed=seed, merged=False) for seed in (4, 4, 5)]
    labels = [plan.groups["age"].to_list() for plan in moved]
    assert labels[0] == labels[1] != labels[2]
    amounts = set()
    for was, now in zip(tight["age"], labels[0], strict=True):
        if was.startswith("["):
            (low, high), (least, most) = json.loads(was), json.loads(now)
            amounts |= {low - least, most - high}
    assert amounts == {0, 1, 2, 3}


def test_no_end_goes_past_the_domain_the_top_or_the_bottom():
    for labels in ({"style": "snapped", "step": 50}, {"style": "padded", "width": 20}):
        declared = {"labels": labels, "numeric": True}
        assert published(age=rt.quasi(domain=[10, 95], **declared)).columns[0].domain == [10, 95]
        shown = ends(published(age=rt.quasi(domain=[10, 95], **declared)), "age")
        assert min(shown) >= 10 and max(shown) <= 95
        release = published(age=rt.quasi(top=60, bottom=30, **declared), town=rt.quasi())
        assert release.columns[0].domain == [30, 60]
        assert rt.audit(release.folder, source=table()).kept
        small = published(table().with_columns(pl.col("age").cast(pl.UInt8) + 160), age=rt.quasi(**declared))
        assert max(ends(small, "age")) <= 255


def test_a_group_of_one_value_prints_it():
    frame = pl.DataFrame({"age": [37] * 6 + [50, 52, 54, 57, 58, 59], "s": list("xyz") * 4})
    for labels in ({"style": "snapped", "step": 10}, {"style": "padded", "width": 1}):
        release = published(frame, age=rt.quasi(labels=labels))
        assert "37" in release.frame()["age"].to_list()


def test_labels_that_coincide_are_one_group():
    frame = pl.DataFrame({"age": [20, 21, 22, 23, 25, 26, 27, 28, 40, 41] * 3, "s": list("xyz") * 10})
    release = published(frame, k=6, age=rt.quasi(labels={"style": "snapped", "step": 10}))
    sizes = release.frame().group_by("age").len()
    assert {"[20, 29]"} <= set(sizes["age"]) and sizes["len"].min() >= 6
    assert rt.audit(release.folder, source=frame).achieved["k-anonymity"] == sizes["len"].min()


def test_a_promise_that_a_union_breaks_is_checked_again():
    """Delta-disclosure with absent values ignored: four groups keep it, and two that would read the same break it as one."""
    rows = [(20, "x"), (21, "x")] * 49 + [(22, "y"), (23, "y")] + [(30, "y"), (31, "y")] * 49 + [(32, "x"), (33, "x")]
    frame = pl.DataFrame(rows, schema=["age", "s"], orient="row")
    columns = {"age": rt.quasi(labels={"style": "snapped", "step": 10}), "s": rt.sensitive()}
    promises = Promises.from_iterable([rt.DeltaDisclosure(1, absent="ignore")])
    cells = rt.count(rt.Job(columns=columns, promises=promises), frame=frame)
    recipe = Recipe.of_groups(cells, cells.codes[:, 0] // 2)
    assert promises.bind(cells).allow(recipe.as_groups()).all()
    assert merge_equal_labels(recipe)[1].texts[0] == ["[20, 29]", "[30, 39]"] and not promises.union_closed
    with pytest.raises(PromiseUnreachable, match="2 of them read the same as another, and 2 of the groups"):
        relabel_recipe(promises, cells, recipe)
    unasked = tuple(replace(domain, column=replace(domain.column, labels=None)) for domain in cells.quasi)
    tight = relabel_recipe(promises, cells, replace(recipe, cells=replace(cells, quasi=unasked)))
    assert merge_equal_labels(tight)[1].texts[0] == ["[20, 21]", "[22, 23]", "[30, 31]", "[32, 33]"]


@pytest.mark.parametrize("labels", [None, {"style": "padded", "width": 3}], ids=["snapped", "padded"])
def test_what_is_withheld_leaves_no_trace_in_a_step_or_a_limit(labels):
    """With an outlier withheld, the labels are those of the table without it."""
    rng = np.random.default_rng(3)
    usual = pl.DataFrame({"weight": [*rng.normal(70, 9, 199), 70.5], "s": list("xyzv") * 50})
    frame = usual.vstack(pl.DataFrame({"weight": [9e6], "s": ["x"]}))
    columns = {"weight": rt.quasi(labels=labels), "s": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(5)], release=rt.Output(suppress_at_most=0.01))
    release = rt.publish(job, frame=frame, seed=1)
    assert release.manifest.withheld >= 1
    kept = usual["weight"].sort()
    low, high = release.columns[0].domain
    assert kept[0] - 4 < low < kept[3] + 1 and kept[-4] - 1 < high < kept[-1] + 4
    assert max(len(label) for label in release.frame()["weight"]) <= len("[100.25, 100.25]")


def test_loss_is_measured_on_what_is_printed():
    columns = {"age": rt.quasi(labels={"style": "padded", "width": 5}, domain=[10, 95]), "s": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(5)], release=rt.Output(undeclared="drop"))
    release = rt.publish(job, frame=table(), seed=4)
    plan = rt.plan(job, frame=table(), seed=4)
    bounds = release.frame(bounds=True)
    mean = (bounds["age_upper"] - bounds["age_lower"]).mean() / 85
    assert plan.loss == pytest.approx(mean) == pytest.approx(rt.audit(release.folder).to_dict()["utility"]["ail"])
    tight = rt.plan(job.at(columns={**columns, "age": rt.quasi(domain=[10, 95])}), frame=table(), seed=4)
    assert plan.loss > tight.loss


def test_sets_and_nodes_are_asked_for_by_column():
    tree = [["Ulm", "south", "*"], ["Bonn", "west", "*"], ["Kiel", "west", "*"]]
    by_column = {
        style: set(published(town=rt.quasi(hierarchy=tree, labels=style), k=150).frame()["town"])
        for style in ("nodes", "sets")
    }
    assert by_column == {"nodes": {"*"}, "sets": {"{Ulm, Bonn, Kiel}"}}


def test_the_recipient_reads_what_an_end_tells():
    release = published(age=rt.quasi(), born=rt.quasi(), weight=rt.quasi(labels={"style": "padded", "width": 2}))
    readme = (release.folder / "README.md").read_text()
    assert "The ends of a range of `age` are values that people have" in readme
    assert "`born`: the ends of a range were rounded outwards" in readme
    assert "`weight`: each end of a range was moved outwards by a secret amount of at most 2" in readme


def test_the_owner_is_told_the_tight_loss_and_the_recipient_is_not():
    release = published(age=rt.quasi(labels={"style": "padded", "width": 3}))
    said = [line for line in release.notices if "tight" in line]
    assert len(said) == 1 and "AIL" in said[0]
    assert "tight" not in (release.folder / "manifest.json").read_text()


@pytest.mark.parametrize(
    ("name", "labels", "step"),
    [
        ("age", {"style": "snapped", "step": 5}, 3),
        ("born", {"style": "snapped", "step": "month"}, "year"),
        ("weight", {"style": "snapped", "step": 0.25}, 0.4),
    ],
)
def test_a_step_that_the_labels_do_not_end_on_is_found(tmp_path, name, labels, step):
    release = published(**{name: rt.quasi(labels=labels), "town": rt.quasi()})
    release.save(tmp_path / "out", again=True)
    assert rt.audit(tmp_path / "out").kept
    resealed(tmp_path / "out", lambda stated: stated["columns"][0]["labels"].update(step=step))
    with pytest.raises(BundleDamaged, match="not end on the step that the manifest says"):
        rt.audit(tmp_path / "out")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("loose", "There is no label style 'loose'."),
        ("padded", "Padded labels need a width"),
        (3, "labels is the name of a style"),
        ({"style": "padded", "width": 0}, "width must be a number above 0"),
        ({"style": "tight", "step": 2}, "step is for snapped labels"),
        ({"style": "snapped", "steps": 2}, "'steps' is not known"),
        ({"style": "snapped", "step": "fortnight"}, "no calendar step"),
        ({"style": "snapped", "step": True}, "step must be a number above 0"),
        ({"style": "padded", "width": float("inf")}, "a number above 0"),
    ],
)
def test_what_a_job_says_wrong_is_refused_before_data_is_read(labels, said):
    with pytest.raises(JobError, match=said):
        rt.quasi(labels=labels)


@pytest.mark.parametrize(
    ("name", "labels", "said"),
    [
        ("age", {"style": "padded", "width": 500}, "padded by more than its whole domain is wide"),
        ("age", {"style": "snapped", "step": 500}, "distinct values lie in one step of the grid"),
        ("age", {"style": "snapped", "step": "month"}, "its step is a number"),
        ("age", {"style": "snapped", "step": 2.5}, "its step is a whole number"),
        ("age", {"style": "padded", "width": 2.5}, "its pads are whole numbers"),
        ("born", {"style": "padded", "width": 2.5}, "its pads are whole days"),
        ("born", {"style": "snapped", "step": 5}, "its step is a calendar step"),
        ("age", "sets", "is for categories"),
        ("town", "snapped", "has categories, and its labels cannot be snapped"),
    ],
)
def test_a_style_that_does_not_fit_the_column_is_refused_and_nothing_is_written(tmp_path, name, labels, said):
    job = rt.Job(
        columns={name: rt.quasi(labels=labels), "s": rt.sensitive()},
        promises=[rt.KAnonymity(2)],
        release=rt.Output(undeclared="drop"),
    )
    with pytest.raises(ColumnError, match=said):
        rt.publish(job, frame=table(), to=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_job_with_labels_is_read_back_from_its_toml(tmp_path):
    columns = {
        "a": rt.quasi(labels={"style": "snapped", "step": 5}),
        "b": rt.quasi(labels="tight"),
        "s": rt.sensitive(),
    }
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(2)])
    (tmp_path / "job.toml").write_text(job.to_toml())
    assert rt.Job.read(tmp_path / "job.toml").columns == job.columns


def test_a_round_step_has_a_hundred_of_itself_in_the_range():
    for low, high, step in (
        (0, 100, 1),
        (0, 99, "0.5"),
        (0, 1000, 10),
        (0, 2500, 20),
        (0, "0.7", "0.005"),
        (5, 5, "0.05"),
    ):
        assert choose_round_step(Decimal(low), Decimal(high)) == Decimal(step)


def test_a_pad_is_at_most_a_share_of_its_range():
    """A range of one year is not moved, one of two or three by one at most, from six years on by the whole width."""
    spans = [span for span in range(1, 9) for _ in range(40)]
    group = np.repeat(np.arange(len(spans)), np.array(spans) + 1)
    frame = pl.DataFrame({"age": np.arange(len(group)) + 17, "s": ["x"] * len(group)})
    columns = {"age": rt.quasi(labels={"style": "padded", "width": 3, "share": 0.5}), "s": rt.sensitive()}
    cells = rt.count(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame)
    padded = draw_padded_ends(Recipe.of_groups(cells, group), Random.from_seed(1)).padded[0].labels
    first = np.cumsum([0, *np.array(spans) + 1])[:-1] + 17
    amounts: dict[int, set[int]] = {}
    for span, low, label in zip(spans, first.tolist(), padded, strict=True):
        least, most = json.loads(str(label))
        if low > 20 and low + span < frame["age"].max() - 3:
            amounts.setdefault(span, set()).update({low - least, most - low - span})
    assert amounts == {span: set(range(min(span // 2, 3) + 1)) for span in range(1, 9)}


def test_the_share_of_a_pad_is_checked_and_said():
    for labels, why in (
        ({"style": "padded", "width": 2, "share": 1.5}, "share is at most 1"),
        ({"style": "padded", "width": 2, "share": 0}, "share must be a number above 0"),
        ({"style": "snapped", "share": 0.5}, "share is for padded labels"),
        ({"style": "padded", "share": 0.5}, "need a width"),
    ):
        with pytest.raises(JobError, match=why):
            rt.quasi(labels=labels)
    half = {"style": "padded", "width": 2, "share": 0.5}
    for name in ("weight", "seen"):
        with pytest.raises(ColumnError, match="as good as a name"):
            published(**{name: rt.quasi(labels=half)})
    release = published(age=rt.quasi(labels=half), born=rt.quasi(labels=half))
    assert [column.labels for column in release.manifest.columns[:2]] == [half, half]
    assert rt.audit(release.folder, source=table()).kept
    said = " ".join((release.folder / "README.md").read_text().split())
    assert "of at most 2, and of at most 0.5 of the range: the ends of the narrowest ranges were not moved" in said


@pytest.mark.parametrize("measure", ["step", "width", "share"])
@pytest.mark.parametrize("number", [10**500, Decimal("1e999999999"), "1e999999999", "1e-999999999"], ids=str)
def test_a_measure_with_a_billion_digits_is_refused_at_once(measure, number):
    """As a text such a number is ten characters in a job, and in the manifest of a stranger."""
    style = {"style": "snapped"} if measure == "step" else {"style": "padded", "width": 1}
    with pytest.raises(JobError, match="labels: "):
        LabelOptions.parse({**style, measure: number})


def test_a_domain_that_no_double_holds_is_refused():
    with pytest.raises(JobError, match="domain is two numbers"):
        rt.quasi(domain=[0, 10**350])
