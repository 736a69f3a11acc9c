"""The screen Promise: a card for every promise of the catalogue, edits of the job, and what stricter costs, from cached plans."""

from __future__ import annotations

import importlib
import re
import shlex
import sys

import pytest

pytest.importorskip("starlette", reason="the studio is an extra: pip install 'reticent[studio]'")

from reticent import catalogue, registry
from reticent.drawing.cost_curves import draw_cost_curve, draw_people
from reticent.errors import ReticentError
from reticent.studio import plan_points
from reticent.studio.pages import read_docs_page
from reticent.studio.promise_controls import make_control, read_control
from reticent.studio.promise_sentences import PROMISE_SENTENCES, Example
from reticent.studio.screens import promise as promise_screen
from tests.studio.client import read_text
from tests.support.repository import ROOT

MODELS = list(catalogue.PROMISES)
BLANK = re.compile(r"\{(\w+)\}")


def make_start(model):
    population = {"population": "people.csv"} if model == "k-map" else {}
    return {"model": model, **PROMISE_SENTENCES[model].start, **population}


def test_no_promise_of_the_catalogue_is_left_out():
    assert set(PROMISE_SENTENCES) == set(catalogue.PROMISES)


@pytest.mark.parametrize("model", MODELS)
def test_a_promise_has_a_sentence_with_its_parameters_a_picture_and_what_it_does_not_say(model):
    entry = PROMISE_SENTENCES[model]
    fields = catalogue.PROMISES[model].fields
    required = {name for name, field in fields.items() if field.required}
    assert required <= set(BLANK.findall(entry.sentence)) <= set(fields), "what must be said is a blank"
    assert set(entry.steps) <= set(fields) and set(entry.start) <= set(fields)
    assert registry.make_promise(make_start(model)).name == model, "what is added is accepted"
    assert entry.not_said.startswith("It ") and read_docs_page(entry.docs) is not None
    assert promise_screen.list_keeping_methods(model), "some method keeps it"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("share", [0.001, 0.05, 0.7])
def test_a_worked_picture_has_shares_and_is_drawn_for_every_step(model, share):
    entry = PROMISE_SENTENCES[model]
    variants = [{name: step} for name, steps in entry.steps.items() for step in steps] or [{}]
    for variant in [*variants, dict.fromkeys(entry.steps, "no number")]:
        picture = entry.draw({**make_start(model), **variant}, Example("a value", share))
        assert picture.words and (picture.people >= 1 or picture.bars)
        assert all(0 <= bar.share <= 1 for bar in picture.bars)


@pytest.mark.parametrize("model", [model for model in MODELS if PROMISE_SENTENCES[model].steps])
def test_the_steps_of_a_slider_go_one_way_and_each_is_accepted(model):
    for name, steps in PROMISE_SENTENCES[model].steps.items():
        assert list(steps) in (sorted(steps), sorted(steps, reverse=True)) and len(set(steps)) == len(steps)
        for step in steps:
            registry.make_promise({**make_start(model), name: step})


def test_the_picture_of_beta_likeness_says_its_inequality():
    picture = PROMISE_SENTENCES["beta-likeness"].draw({"beta": 4}, Example("x", 0.03))
    assert picture.bars[1].share == pytest.approx(0.03 * (1 + 3.5065578973))
    basic = PROMISE_SENTENCES["beta-likeness"].draw({"beta": 4, "enhanced": False}, Example("x", 0.03))
    assert basic.bars[1].share == pytest.approx(0.15)


@pytest.mark.parametrize("model", MODELS)
def test_every_promise_is_offered_added_and_shown_as_a_card(model, newcomer, tmp_path):
    (newcomer.desk.project.folder / "people.csv").write_text("age,zip\n1,2\n")
    newcomer.desk.job_file.write('[columns]\nage = "quasi-identifying"\nillness = "sensitive"\n')
    assert f'value="{model}"' in newcomer.look("promise")
    page = newcomer.press("promise", "add", model=model)
    assert newcomer.job["promise"][0]["model"] == model
    card = page[page.index('id="promise-0"') :]
    for name in catalogue.PROMISES[model].fields:
        assert f'id="p0-{name}"' in card, "every parameter has its control"
    assert PROMISE_SENTENCES[model].not_said.replace("'", "&#39;") in card
    assert newcomer.desk.read_job() is not None
    newcomer.press("promise", "remove", index=0, model=model)
    assert "promise" not in newcomer.job


def test_a_blank_that_is_filled_is_written_to_the_job_and_comments_are_kept(steward):
    before = steward.desk.job_file.text
    steward.press("promise", "change", index=0, model="k-anonymity", k="7")
    assert steward.desk.job_file.text == before.replace("k     = 10", "k     = 7")
    steward.press(
        "promise",
        "change",
        index=1,
        model="beta-likeness",
        beta="2,5",
        enhanced="false",
        two_sided="",
        column="salary_class",
    )
    entry = steward.job["promise"][1]
    assert float(entry["beta"]) == 2.5 and entry["enhanced"] is False and entry["column"] == "salary_class"
    assert "two_sided" not in entry
    steward.press("promise", "change", index=1, model="beta-likeness", beta="1/3", enhanced="", column="")
    assert steward.job["promise"][1] == {"model": "beta-likeness", "beta": "1/3"}
    assert steward.desk.job_file.read().promises is not None


def test_values_that_are_tables_and_lists_are_written_as_the_job_writes_them(newcomer):
    newcomer.desk.job_file.write('[columns]\nage = "quasi-identifying"\nillness = "sensitive"\n')
    newcomer.press("promise", "add", model="bt-privacy")
    newcomer.press("promise", "change", index=0, model="bt-privacy", bandwidth="{ default = 0.3, age = 0.2 }", t="0.1")
    bandwidth = newcomer.job["promise"][0]["bandwidth"]
    assert {name: float(value) for name, value in bandwidth.items()} == {"default": 0.3, "age": 0.2}
    newcomer.press("promise", "change", index=0, model="bt-privacy", bandwidth="whole")
    assert newcomer.job["promise"][0]["bandwidth"] == "whole"
    newcomer.press("promise", "add", model="skyline")
    newcomer.press("promise", "change", index=1, model="skyline", points="[{ bandwidth = 0.1, t = 0.2 }]")
    assert len(newcomer.job["promise"][1]["points"]) == 1


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        ("change", {"index": "0", "model": "k-anonymity", "k": "1"}),
        ("change", {"index": "0", "model": "k-anonymity", "k": "ten"}),
        ("change", {"index": "0", "model": "k-anonymity", "k": ""}),
        ("change", {"index": "0", "model": "beta-likeness", "beta": "1"}),
        ("change", {"index": "9", "model": "k-anonymity", "k": "5"}),
        ("change", {"index": "-1", "model": "k-anonymity", "k": "5"}),
        ("slide", {"index": "0", "model": "k-anonymity", "parameter": "k", "place": "99"}),
        ("slide", {"index": "0", "model": "k-anonymity", "parameter": "model", "place": "0"}),
        ("remove", {"index": "0", "model": "t-closeness"}),
        ("add", {"model": "perfect-privacy"}),
        ("add", {"model": "k-map"}),
        ("method", {"name": "magic"}),
        ("plan", {"sample": "7"}),
        ("plan", {"sample": "-5"}),
    ],
)
def test_what_cannot_be_promised_is_said_in_place_and_the_job_is_left_alone(steward, action, fields):
    before = steward.desk.job_file.text
    page = steward.press("promise", action, status=422, **fields)
    assert 'id="refusal"' in page and steward.desk.job_file.text == before


def test_a_method_that_cannot_keep_a_promise_says_so_and_one_that_can_is_a_click_away(steward):
    steward.press("promise", "add", model="rho-guarantee")
    page = steward.look("promise")
    assert "mondrian cannot keep rho-guarantee" in read_text(page)
    assert promise_screen.find_obstacle(steward.desk).startswith("mondrian cannot keep")
    steward.press("promise", "plan", status=422)
    steward.press("promise", "remove", index=2, model="rho-guarantee")
    assert promise_screen.find_obstacle(steward.desk) == ""
    steward.desk.job_file.set_field(["method", "name"], "sabre")
    page = steward.look("promise")
    assert "sabre cannot keep beta-likeness" in read_text(page) and "Take mosaic" in page
    page = steward.press("promise", "method", name="mosaic")
    assert steward.job["method"] == {"name": "mosaic"} and "Take mosaic" not in page


def test_jobs_made_by_hand_are_shown_and_survive(steward):
    job = steward.desk.job_file
    text = job.text.replace('model = "k-anonymity"\nk     = 10', 'model = "k-anonymity"\nk = "4"  # as text')
    for changed in (
        text,
        text + '\n[[promise]]\nmodel = "of<b>ours"\nx = 1\n',
        text + "\n[[promise]]\nmodel = 3\n",
        text.replace('k = "4"', "k = inf"),
        text.replace('k = "4"', 'k = "abc"'),
        "promise = 3\n",
        '[promise]\nmodel = "k-anonymity"\n',
        "[[promise\n",
        'columns = 3\n[[promise]]\nmodel = "k-anonymity"\nk = 5\n',
    ):
        job.write(changed)
        page = steward.look("promise")
        assert "<b>ours" not in page and job.text == changed
    job.write(text + '\n[[promise]]\nmodel = "of<b>ours"\nx = 1\n')
    assert "left as it is" in read_text(steward.look("promise"))
    steward.press("promise", "change", index=2, model="of<b>ours", status=422)
    steward.press("promise", "remove", index=2, model="of<b>ours")
    assert len(steward.job["promise"]) == 2
    job.write('[promise]\nmodel = "k-anonymity"\n')
    steward.press("promise", "add", model="t-closeness", status=422)


def test_the_screen_says_where_it_stands_without_a_job(newcomer):
    assert "There is no job yet" in read_text(newcomer.look("promise"))
    assert promise_screen.find_obstacle(newcomer.desk) == "Make a promise first."
    assert not promise_screen.is_done(newcomer.desk)
    newcomer.press("promise", "plan", status=422)
    assert promise_screen.write_commands(newcomer.desk).shell == "reticent check job.toml"


def test_stricter_is_planned_by_children_and_shown_with_its_age_for_this_job_alone(steward):
    page = read_text(steward.look("promise"))
    assert "This job was not planned as it is now" in page and "Show what stricter costs" in page
    page = steward.press("promise", "plan", sample="2000")
    assert "Planning what stricter costs" in page
    for run in list(steward.desk.runs._runs.values()):
        assert steward.wait(run).succeeded, run.messages
    page = read_text(steward.look("promise"))
    memory = plan_points.open_memory(steward.desk)
    assert not memory.pending and len(memory.points) >= 12
    here = plan_points.find_point(steward.desk, memory, steward.job)
    assert here.is_reached and here.people == 2000 and here.method == "mondrian" and here.age >= 0
    assert "on all 2,000 rows" in page and "ago" in page
    assert "k-anonymity alone" in page and "all together" in page and "beta-likeness costs most" in page
    alone = plan_points.find_point(steward.desk, memory, {**steward.job, "promise": steward.job["promise"][:1]})
    assert alone.kept > here.kept
    curves = promise_screen._list_curves(steward.desk, memory, steward.job)
    assert all(point is not None for curve in curves for point in curve.points), "every place of every slider"
    beta = [point.kept for point in curves[1].points if point.is_reached]
    assert beta[0] >= beta[-1], "stricter keeps no more"

    runs = len(steward.desk.runs._runs)
    place = curves[1].current - 1
    page = read_text(steward.press("promise", "slide", index=1, model="beta-likeness", parameter="beta", place=place))
    assert float(steward.job["promise"][1]["beta"]) == curves[1].steps[place]
    assert "This job was not planned" not in page, "the neighbours were planned ahead"
    for run in list(steward.desk.runs._runs.values())[runs:]:
        steward.wait(run)
    steward.desk.job_file.set_field(["columns", "age", "type"], None)
    page = read_text(steward.look("promise"))
    assert "This job was not planned as it is now" in page and "Before the last change a row kept" in page
    steward.press("job", "undo", screen="promise")
    assert "This job was not planned" not in read_text(steward.look("promise"))


def test_a_plan_that_fails_is_said_with_its_reason(steward):
    (steward.desk.project.folder / "census.csv").write_text("age,gender\n1,2\n")
    steward.press("promise", "plan")
    for run in list(steward.desk.runs._runs.values()):
        steward.wait(run)
    page = steward.look("promise")
    assert 'role="alert"' in page and "not in the data" in read_text(page)


def test_planned_jobs_name_their_files_wholly_and_leave_what_is_said_about_them_out(steward):
    folder = steward.desk.project.folder
    table = {**steward.job, "about": {"title": "t"}}
    table["promise"] = [{"model": "k-map", "k": 3, "population": "census.csv"}]
    resolved = plan_points.resolve_job_paths(table, folder)
    assert resolved["source"]["path"] == str(folder / "census.csv") and "about" not in resolved
    assert resolved["promise"][0]["population"] == str(folder / "census.csv")
    assert resolved["columns"]["work_class"]["hierarchy"] == str(folder / "hierarchies/work_class.csv")


def test_equal_numbers_are_one_plan_and_another_file_is_another(steward):
    memory = plan_points.open_memory(steward.desk)
    key = plan_points.make_point_key(steward.desk, steward.job, 0)
    steward.press("promise", "change", index=0, model="k-anonymity", k="10.0")
    assert plan_points.make_point_key(steward.desk, steward.job, 0) == key
    assert plan_points.make_point_key(steward.desk, steward.job, 2000) != key
    path = steward.desk.project.folder / "hierarchies/work_class.csv"
    path.write_text(path.read_text() + "\n\n")
    assert plan_points.make_point_key(steward.desk, steward.job, 0) != key
    assert memory.points == {}


def test_the_commands_of_the_screen_run(steward, monkeypatch, capsys):
    from reticent.cli.main import main

    monkeypatch.chdir(steward.desk.project.folder)
    plan_points.open_memory(steward.desk).sample = 2000
    commands = promise_screen.write_commands(steward.desk)
    assert commands.shell.startswith("reticent compare job.toml --sweep k=2,3,5,10,20,50")
    small = commands.shell.replace("k=2,3,5,10,20,50", "k=10")
    assert main(shlex.split(small)[1:]) == 0
    exec(commands.python.replace("[2, 3, 5, 10, 20, 50]", "[10]"), {})
    steward.press("promise", "remove", index=1, model="beta-likeness")
    steward.press("promise", "remove", index=0, model="k-anonymity")
    assert promise_screen.write_commands(steward.desk).shell == "reticent check job.toml"


@pytest.mark.parametrize("text", ["[1, 2", "1\ny = 2", "x" * 30_000, "{"])
def test_a_text_that_is_no_value_is_refused(text):
    with pytest.raises(ReticentError):
        read_control(catalogue.PROMISES["bt-privacy"].fields["bandwidth"], text)


def test_a_control_says_what_is_usual_and_keeps_what_the_job_has():
    fields = catalogue.PROMISES["t-closeness"].fields
    control = make_control("distance", fields["distance"], "odd", ["pay"], [])
    assert control.text == "odd" and ("odd", "odd") in control.choices
    assert control.choices[0] == ("", "as usual (equal)")
    column = make_control("column", fields["column"], None, ["pay"], [])
    assert column.choices[0] == ("", "pay")
    assert (
        make_control("column", fields["column"], None, ["pay", "illness"], []).choices[0][1] == "the sensitive column"
    )


def test_a_curve_marks_what_is_known_what_is_out_of_reach_and_where_the_job_stands():
    svg = draw_cost_curve(["2", "<5>", "10"], [0.1, 0.2, None], [False, False, True], 1, 0.25, "k")
    assert svg.count("<circle") == 3 and "out of reach" in svg and "now: 20" in svg
    assert "&lt;5&gt;" in svg and "<5>" not in svg
    assert "<circle" not in draw_cost_curve(["2"], [None], [False], 0, 0.25, "k")
    assert draw_people(7).count("<circle") == 7 and draw_people(10**9).count("<circle") == 60


@pytest.mark.parametrize(
    ("method", "model"),
    [
        ("anatomy", "probabilistic-l-diversity"),
        ("beta-perturbation", "beta-likeness"),
        ("distribution", "p-privacy"),
        ("sabre", "t-closeness"),
    ],
)
def test_jobs_of_every_kind_are_planned_and_one_out_of_reach_says_why(method, model, demo_folder):
    from reticent.job.job import Job
    from reticent.studio.planner import plan_jobs

    job = Job.read(demo_folder / "job.toml").at(method=method, promises=[registry.make_promise(make_start(model))])
    strict = Job.read(demo_folder / "job.toml").at(
        promises=[registry.make_promise({"model": "k-anonymity", "k": 2000})]
    )
    beyond = strict.at(promises=[registry.make_promise({"model": "probabilistic-l-diversity", "l": 1000})])
    stages = []
    result = plan_jobs({"a": job, "b": beyond}, 1000, lambda stage, done: stages.append(stage))
    assert (result["people"], result["of"]) == (1000, 2000) and stages[0] == "reading"
    assert result["rows"][0]["reached"] and result["rows"][0]["method"] == method
    assert not result["rows"][1]["reached"] and result["rows"][1]["why"]


@pytest.fixture
def acme(tmp_path, monkeypatch):
    """The example of a plugin, as if it were installed."""
    info = tmp_path / "site" / "acme-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[reticent.presets]\nstrict = acme.strict:ROW\n")
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "plugin" / "src"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    importlib.invalidate_caches()
    yield
    catalogue.PRESETS.plugin_rows.clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme"]:
        del sys.modules[name]


def test_a_preset_is_offered_only_where_a_plugin_brings_one(steward):
    assert "Take a preset" not in steward.look("promise")


def test_a_preset_of_a_plugin_is_loaded_when_it_is_taken_and_undone_like_any_edit(acme, steward):
    before = steward.desk.job_file.text
    assert "Brought by acme 1.2." in steward.look("promise") and "acme" not in sys.modules
    steward.press("promise", "preset", name="acme:strict")
    assert [entry["model"] for entry in steward.job["promise"]] == ["k-anonymity", "distinct-l-diversity"]
    assert steward.job["method"] == {"name": "mosaic"} and steward.job["release"]["loss_at_most"] == "0.8"
    assert steward.desk.read_job() is not None
    for line in ("[columns]", "[source]"):
        assert line in steward.desk.job_file.text
    steward.desk.job_file.undo()
    assert steward.desk.job_file.text == before
    page = steward.press("promise", "preset", status=422, name="acme:strikt")
    assert "There is no preset" in read_text(page) and steward.desk.job_file.text == before
