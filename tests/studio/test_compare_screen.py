"""The screen Compare: whether promises are reachable, methods side by side, the cost of columns, before and after."""

from __future__ import annotations

import json
import shlex

import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.errors import JobError
from reticent.job.job import Job
from reticent.studio import coarser_column, method_choice, plan_preview
from reticent.studio.screens import compare as screen
from tests.studio.client import Steward, read_text
from tests.studio.finished_runs import add_finished_run

HOSTILE = "<script>alert(1)</script>"
ORDINARY_METHODS = ["mondrian", "mosaic"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory, census_files):
    """What check, preview and comparison say of the demo's job, measured once."""
    folder = tmp_path_factory.mktemp("measured")
    for name, content in census_files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    job = Job.read(folder / "job.toml")
    compared = rt.compare(
        job, methods=ORDINARY_METHODS, beta=[2, 4, 8], rows=400, attacks=["naive-bayes"], classification=False
    )
    return {
        "check": json.loads(json.dumps(rt.check(job, budget=3).to_dict())),
        "preview": json.loads(json.dumps(plan_preview.preview_job(str(folder / "job.toml"), lambda stage: None))),
        "compare": json.loads(json.dumps(compared.to_dict())),
    }


def put(steward, measured, *names):
    """Put finished measurements of the present job on the desk."""
    for name in names:
        key = method_choice.make_key(steward.desk, name, of_method=name == "preview")
        add_finished_run(steward.desk, key, measured[name])


@pytest.fixture
def looked(steward, measured):
    """A steward who has checked and compared."""
    put(steward, measured, "check", "preview", "compare")
    return steward


@pytest.fixture
def still(monkeypatch):
    """Runs that are asked for are noted and not started."""
    started = []

    def note(runs, words, key, **options):
        started.append((tuple(words), key))

    monkeypatch.setattr("reticent.studio.runs.Runs.start", note)
    return started


def test_one_click_checks_the_job_and_draws_what_its_release_would_look_like(steward):
    assert "Check this job" in steward.look("compare")
    page = steward.press("compare", "check")
    assert "sse-connect" in page, "the run is followed"
    for run in list(steward.desk.runs._runs.values()):
        assert steward.wait(run).succeeded, run.error
    text = read_text(steward.look("compare"))
    assert "The promises can be kept." in text and "binds" in text
    assert "Before and after" in text and "One group, as readers will see it" in text
    assert not screen.find_obstacle(steward.desk) and screen.is_done(steward.desk)
    assert not list(steward.desk.project.folder.glob("*/manifest.json")), "nothing was published"


def test_methods_stand_side_by_side_with_the_job_ringed_and_the_yardsticks(looked):
    page = looked.look("compare")
    text = read_text(page)
    assert page.count('class="ring"') == 1 and "your job" in text
    for name in ("columns apart", "sensitive column dropped", "quasi-identifiers dropped"):
        assert name in text
    assert "answered random counts" in text
    assert "On 400 of 2,000 rows, drawn at random" in text
    assert "style=" not in page.partition("<main")[2].partition("</main>")[0]


def test_a_click_chooses_a_method_and_what_was_measured_stays(looked, still):
    page = looked.press("compare", "choose", method="mosaic")
    assert looked.job["method"] == {"name": "mosaic"}
    assert 'value="mondrian"><button' in page and page.count('class="ring"') == 1
    assert [words for words, _ in still] == [("job.toml",)], "only the picture of the release is drawn anew"
    looked.press("compare", "choose", method="mosaic")
    assert len(still) == 1
    assert looked.desk.read_job().method.name == "mosaic"


def test_options_of_a_method_belong_to_what_was_measured(looked):
    before = method_choice.make_key(looked.desk, "check")
    looked.desk.job_file.set_field(["about"], {"title": "T"})
    assert method_choice.make_key(looked.desk, "check") == before
    looked.desk.job_file.set_field(["method"], {"name": "mosaic", "effort": "quick"})
    assert method_choice.make_key(looked.desk, "check") != before
    assert "Check this job" in looked.look("compare")


def test_the_costliest_column_names_its_part_and_a_click_takes_its_second_level(looked, still):
    text = read_text(looked.look("compare"))
    assert (
        "work_class costs" in text and "of the loss" in text and "Try its second level: 4 values instead of 10" in text
    )
    looked.press("compare", "coarsen", column="work_class")
    column = looked.job["columns"]["work_class"]
    assert column["hierarchy"] == "work_class-level.csv" and len(column["map"]) == 10
    assert [words[0] for words, _ in still] == ["check", "job.toml"]
    job = looked.desk.read_job()
    planned = rt.plan(job.at(source=looked.desk.project.folder / "census.csv"), seed=1)
    domain = next(domain for domain in planned.cells.quasi if domain.name == "work_class")
    assert set(domain.texts) <= set(column["map"].values())
    looked.press("job", "undo", screen="compare")
    assert "map" not in looked.job["columns"]["work_class"]


def test_spellings_that_were_replaced_before_follow_their_value_to_the_second_level(looked, still):
    looked.desk.job_file.set_field(["columns", "work_class", "map"], {"PC": "private company"})
    looked.press("compare", "coarsen", column="work_class")
    column = looked.job["columns"]["work_class"]
    assert column["map"]["PC"] == column["map"]["private company"]
    assert looked.desk.read_job() is not None


def test_the_costliest_column_is_left_out_by_a_click(looked, still):
    looked.press("compare", "coarsen", column="work_class", way="out")
    assert "work_class" not in looked.job["columns"] and looked.job["release"]["undeclared"] == "drop"
    assert looked.desk.read_job() is not None and still
    looked.press("compare", "coarsen", column="salary_class", way="out", status=422)
    assert "salary_class" in looked.job["columns"]


def test_a_column_that_describes_alone_is_not_left_out_and_one_without_a_tree_has_no_second_level(newcomer):
    newcomer.desk.job_file.write('[columns]\nage = "quasi-identifying"\n')
    assert not coarser_column.can_leave_out(newcomer.desk, "age")
    assert coarser_column.find_upper_level(newcomer.desk, "age") is None
    for rows in (["a;*", "b;*"], ["a;x;*", "b;y;*"], ["a;x"]):
        (newcomer.desk.project.folder / "t.csv").write_text("\n".join(rows))
        newcomer.desk.job_file.write('[columns]\nage = { role = "quasi-identifying", hierarchy = "t.csv" }\n')
        assert coarser_column.find_upper_level(newcomer.desk, "age") is None
    newcomer.desk.job_file.write('[columns]\nage = { role = "quasi-identifying", hierarchy = "/etc/passwd" }\n')
    assert coarser_column.find_upper_level(newcomer.desk, "age") is None, "no file from elsewhere is read"
    with pytest.raises(JobError):
        coarser_column.use_upper_level(newcomer.desk, "age")


@pytest.mark.parametrize("way", ["out", ""])
def test_a_coarser_column_that_makes_no_valid_job_changes_nothing(looked, still, monkeypatch, way):
    before = looked.desk.job_file.text

    def read(job_file):
        if job_file.text != before:
            raise JobError("This job is not valid.")
        return Job.read(job_file.path)

    monkeypatch.setattr("reticent.studio.job_file.JobFile.read", read)
    looked.press("compare", "coarsen", column="work_class", way=way, status=422)
    assert looked.desk.job_file.text == before and not still
    assert not (looked.desk.project.folder / "work_class-level.csv").exists()


def test_a_weaker_promise_that_was_measured_is_written_by_a_click(looked, measured, still):
    changes = measured["check"]["explained"]["changes"]
    number = next(place for place, change in enumerate(changes) if change["what"] == "beta = 8")
    assert "Promise beta = 8" in looked.look("compare")
    looked.press("compare", "weaken", change=str(number))
    assert [promise.get("beta") for promise in looked.job["promise"]] == [None, 8]
    assert looked.desk.read_job() is not None and still
    looked.press("compare", "weaken", change="99", status=422)
    looked.press("compare", "weaken", change="x", status=422)


def test_a_change_of_more_than_one_number_is_left_to_the_text(looked):
    assert method_choice.read_change("# a hierarchy\n[[promise]]\nmodel = 'x'") is None
    assert method_choice.read_change("[[promise") is None
    with pytest.raises(JobError):
        method_choice.apply_change(looked.desk, {"paste": ""})
    with pytest.raises(JobError, match="0 promises of t-closeness"):
        method_choice.apply_change(looked.desk, {"paste": '[[promise]]\nmodel = "t-closeness"\nt = 0.5'})


def test_one_column_one_pair_and_one_group_are_chosen_and_remembered(looked, measured):
    looked.press("compare", "look", column="age")
    page = looked.press("compare", "look", pair="0")
    assert "age changes its shape" in page or "age keeps its shape" in page
    assert "Of age and gender together" in page
    page = looked.press("compare", "look", column="gender")
    assert "gender keeps its shape" in page and "female" in page
    first = read_text(looked.look("compare")).partition("people of these rows fit")[0]
    page = looked.press("compare", "look", group="1")
    assert read_text(page).partition("people of these rows fit")[0] != first
    looked.press("compare", "look", column=HOSTILE, pair="99", group="999")
    assert looked.desk.remember("compare")["column"] == "gender", "only what there is"
    for column in measured["preview"]["columns"]:
        assert sum(column["before"]) == pytest.approx(2000) and sum(column["after"]) == pytest.approx(2000)


def test_the_picture_loses_what_the_plan_loses_and_shows_who_fits_a_group(measured):
    preview = measured["preview"]
    assert preview["loss"] == pytest.approx(sum(preview["loss_by_column"].values()) / len(preview["loss_by_column"]))
    assert all(group["fits"] >= group["rows"] for group in preview["groups"])
    assert all(
        sum(count for _, count in values) == group["rows"]
        for group in preview["groups"]
        for _, values in group["values"]
    )


def test_before_there_is_a_check_nothing_is_chosen(steward, newcomer):
    steward.press("compare", "look", column="age")
    steward.press("compare", "weaken", change="0", status=422)
    steward.press("compare", "choose", method="no-method", status=422)
    steward.press("compare", "coarsen", column="gender", status=422)
    newcomer.press("compare", "check", status=422)
    assert "There is nothing to compare yet" in newcomer.look("compare")
    assert screen.find_obstacle(newcomer.desk) and not screen.is_done(newcomer.desk)
    newcomer.desk.job_file.write("[source")
    assert "not valid" in newcomer.press("compare", "check", status=422)


@pytest.mark.parametrize(
    "fields", [{}, {"methods": ["mondrian"], "rows": "3"}, {"methods": ["anatomy"], "rows": "2000"}]
)
def test_a_comparison_of_nothing_or_of_odd_rows_is_refused(steward, fields):
    steward.press("compare", "compare", status=422, **fields)
    assert not steward.desk.runs.list_running()


def test_a_comparison_remembers_what_was_ticked(steward, still):
    steward.press("compare", "compare", methods=["mondrian"], rows="all")
    words, _ = still[0]
    assert words[:4] == ("compare", "job.toml", "--methods", "mondrian") and "--rows" not in words
    page = steward.look("compare")
    assert 'value="mosaic" >' in page and '<option value="all" selected>' in page
    assert "--rows" not in screen.write_commands(steward.desk).shell


def test_the_lines_shown_really_run(looked, demo_folder, monkeypatch, capsys):
    monkeypatch.chdir(demo_folder)
    looked.desk.remember("compare").update(methods=["mondrian"], rows=2000)
    commands = screen.write_commands(looked.desk)
    check, _, compare = commands.shell.partition("\n")
    words = shlex.split(compare.replace("\\\n", " "))[1:]
    words[words.index("--rows") + 1] = "200"
    words[words.index("--attacks") + 1] = "naive-bayes"
    assert main([*words, "--json"]) in (0, None)
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["name"] for row in rows][:3] == ["mondrian beta=2", "mondrian beta=4", "mondrian beta=8"]
    assert shlex.split(check) == ["reticent", "check", "job.toml"]
    called = {}
    monkeypatch.setattr(rt, "check", lambda job: None)
    monkeypatch.setattr(rt, "compare", lambda job, **options: called.update(options) or pytest.importorskip("polars"))
    exec(commands.python.replace("compared.frame()", "1"), {})
    assert called["beta"] == [2, 4, 8] and called["rows"] == 2000


def test_promises_that_cannot_be_kept_are_said_with_the_reason_and_hold_back_the_next_screen(steward, measured):
    own = {
        **measured["check"]["methods"][0],
        "reachable": False,
        "ail": None,
        "why": "The table has one value.",
        "ail_by_column": {},
    }
    explained = {**measured["check"]["explained"], "changes": [], "base": None}
    result = {
        **measured["check"],
        "methods": [own],
        "explained": explained,
        "unplanned": ["mosaic"],
        "warnings": [HOSTILE],
    }
    add_finished_run(steward.desk, method_choice.make_key(steward.desk, "check"), result, exit_code=2)
    page = steward.look("compare")
    text = read_text(page)
    assert "The promises cannot be kept by mondrian." in text and "The table has one value." in text
    assert "No method reaches the promises" in text and "Not planned, for want of time: mosaic" in text
    assert "mondrian does not reach the promises." in text and "<script>alert" not in page
    assert not screen.is_done(steward.desk)


@pytest.mark.parametrize("what", ["check", "preview", "compare"])
def test_failures_and_cancelled_runs_are_said_in_place(steward, what):
    key = method_choice.make_key(steward.desk, what, of_method=what == "preview")
    add_finished_run(steward.desk, key, {"error": {"what": HOSTILE}}, exit_code=1)
    page = steward.look("compare")
    assert "&lt;script&gt;" in page and "<script>alert" not in page
    add_finished_run(steward.desk, key, None, exit_code=130, is_cancelled=True)
    assert HOSTILE not in steward.look("compare")
    add_finished_run(steward.desk, key, None, exit_code=None)
    assert "sse-connect" in steward.look("compare"), "a reload finds it running"


def test_a_method_without_labels_says_why_there_is_no_picture(steward, demo_folder):
    text = (demo_folder / "job.toml").read_text()
    head, _, _ = text.partition("[[promise]]")
    promise = '[[promise]]\nmodel = "probabilistic-l-diversity"\nl = 4\n[method]\nname = "anatomy"\n'
    (demo_folder / "job.toml").write_text(head + promise)
    result = plan_preview.preview_job(str(demo_folder / "job.toml"), lambda stage: None)
    assert "no labels" in result["why"]
    add_finished_run(steward.desk, method_choice.make_key(steward.desk, "preview", of_method=True), result)
    assert "no labels" in read_text(steward.look("compare"))
    steward.press("compare", "look", column="age")


def test_a_preview_that_fails_prints_the_error_of_the_command_line(tmp_path, capsys):
    assert plan_preview.main([str(tmp_path / "none.toml")]) > 0
    assert json.loads(capsys.readouterr().out)["error"]["what"]


def test_markup_missing_values_dates_and_many_values_are_drawn_as_text(newcomer):
    folder = newcomer.desk.project.folder
    rows = [
        f"{HOSTILE if number % 3 else ''},{number * 7 % 997},20{10 + number % 9}-0{1 + number % 9}-11,v{number % 60},s{number % 5}"
        for number in range(600)
    ]
    header = "<b>,amount,day,many,ill"
    (folder / "t.csv").write_text("\n".join([header, *rows]))
    (folder / "job.toml").write_text(
        '[source]\npath = "t.csv"\n[columns]\n"<b>" = "quasi-identifying"\namount = "quasi-identifying"\n'
        'day = { role = "quasi-identifying", type = "date" }\nmany = "quasi-identifying"\nill = "sensitive"\n'
        '[[promise]]\nmodel = "k-anonymity"\nk = 5\n[method]\nname = "mondrian"\n'
    )
    result = json.loads(json.dumps(plan_preview.preview_job(str(folder / "job.toml"), lambda stage: None)))
    steps = {column["name"]: column["steps"] for column in result["columns"]}
    assert plan_preview.MISSING in steps["<b>"] and plan_preview.OTHERS in steps["many"]
    assert len(steps["amount"]) <= plan_preview.MAX_STEPS + 2
    add_finished_run(newcomer.desk, method_choice.make_key(newcomer.desk, "preview", of_method=True), result)
    for name in steps:
        page = newcomer.press("compare", "look", column=name)
        assert "<script>alert" not in page and "<b>" not in page.partition("<main")[2].partition("</main>")[0]


@pytest.mark.parametrize(
    ("promises", "sweep"),
    [
        ([rt.KAnonymity(10)], ("k", ["5", "10", "20"])),
        ([rt.KAnonymity(3)], ("k", ["3", "6"])),
        ([rt.TCloseness(0.8)], ("t", ["0.4", "0.8", "1.6"])),
        ([rt.KAnonymity(10), rt.ProbabilisticLDiversity(3)], ("l", ["3", "6"])),
    ],
)
def test_a_promise_is_tried_at_half_at_itself_and_at_double(promises, sweep):
    job = rt.Job(columns={"a": rt.quasi(), "s": rt.sensitive()}, promises=promises)
    chosen = method_choice.choose_sweep(job)
    assert chosen is not None and chosen[0] == sweep[0]
    assert [value for value in chosen[1] if float(value) <= 1 or sweep[0] != "t"] == [
        value for value in sweep[1] if float(value) <= 1 or sweep[0] != "t"
    ]


def test_where_nothing_is_gained_by_leaving_a_promise_out_no_promise_is_said_to_bind():
    left_out = {"promise": "k-anonymity", "what": "left out", "ail": 0.5, "paste": ""}
    assert "No promise binds alone" in method_choice.find_binding_promise({"base": 0.5, "changes": [left_out]})
    assert method_choice.find_binding_promise({"base": None, "changes": [left_out]}) == ""
    assert "k-anonymity binds" in method_choice.find_binding_promise({"base": 0.9, "changes": [left_out]})


def test_a_job_with_options_that_no_screen_has_opens_and_survives(demo_folder):
    with (demo_folder / "job.toml").open("a") as file:
        file.write('\n[release]\nformat = "csv"\nsuppress_at_most = 0.02\npart_rows = 10000\n')
    steward = Steward(demo_folder)
    before = steward.desk.job_file.text
    steward.look("compare")
    steward.look("publish")
    assert steward.desk.job_file.text == before
