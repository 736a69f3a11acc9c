"""The screen *Use*: questions by clicking and in SQL, answers with bounds, what is true beside them for the owner alone."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import reticent as rt
from reticent import catalogue
from reticent.errors import RequestError
from reticent.studio import answer_pictures, question_form
from reticent.studio.screens import use
from tests.studio.client import Steward, read_text
from tests.studio.projects import publish_kind, publish_project
from tests.studio.quick_runs import use_quick_runs

COUNT = "SELECT COUNT(*) FROM release WHERE age BETWEEN 30 AND 49"


@pytest.fixture(scope="module")
def asked_folder(tmp_path_factory, census_files) -> Path:
    """The demo's project with a release of its census."""
    return publish_project(tmp_path_factory.mktemp("asked") / "project", census_files, "release")


@pytest.fixture
def asker(asked_folder) -> Steward:
    steward = Steward(asked_folder)
    use_quick_runs(steward.desk)
    return steward


def find_answer(page: str) -> str:
    """The words of the answer, without those that explain the screen."""
    return read_text(page.partition('id="answer-heading"')[2])


def test_without_a_release_the_screen_says_where_one_is_made(newcomer):
    assert "Publish one first" in newcomer.look("use")
    assert "no release yet" in read_text(newcomer.press("use", "ask", status=422, sql=COUNT))


def test_a_question_is_answered_with_bounds_and_the_truth_beside_it(asker):
    text = read_text(asker.press("use", "ask", sql=COUNT, truth="yes"))
    answer = rt.open(asker.desk.project.folder / "release").query(COUNT)
    assert f"{answer.lower:,} to {answer.upper:,} for certain" in text
    assert "truly" in text and "off by" in text
    assert "Certain: the true answer lies from lower to upper ." in text and "Assumed, for the estimate" in text
    page = asker.look("use")
    assert page.count('class="reference-hollow"') == 1 and 'class="bounds-line"' in page
    assert use.is_done(asker.desk)


def test_without_the_tick_nothing_true_is_read(asker):
    page = asker.press("use", "ask", sql=COUNT, truth="")
    assert "truly" not in find_answer(page) and 'class="reference-hollow"' not in page
    assert "--source" not in list(asker.desk.runs._runs.values())[-1].words
    asker.press("use", "ask", sql=COUNT, truth="yes")
    assert "--source" in list(asker.desk.runs._runs.values())[-1].words


def test_a_question_is_a_child_that_the_page_follows(asked_folder):
    steward = Steward(asked_folder)
    page = steward.press("use", "ask", sql="SELECT COUNT(*) FROM release GROUP BY gender", truth="yes")
    assert "sse-connect" in page and "Asking" in page
    run = steward.wait()
    assert run.outcome == "done", run.error
    text = read_text(steward.look("use"))
    assert "2 answers, 2 of them exact" in text and "female" in text and "exactly" in text
    steward.press("use", "ask", sql="SELECT COUNT(*) FROM release GROUP BY gender", truth="yes")
    assert len(steward.desk.runs._runs) == 1, "what was answered is not asked again"


@pytest.mark.parametrize(
    ("fields", "sql"),
    [
        ({"aggregate": "count"}, "SELECT COUNT(*) FROM release"),
        (
            {
                "aggregate": "avg",
                "of": "salary_class",
                "group": "gender",
                "column1": "age",
                "comparison1": "between",
                "value1": "30",
                "to1": "39",
            },
            "SELECT gender, AVG(salary_class) FROM release WHERE age BETWEEN 30 AND 39 GROUP BY gender",
        ),
        (
            {
                "aggregate": "max",
                "of": "age",
                "column1": "marital_status",
                "comparison1": "in",
                "value1": "divorced, it's",
                "column2": "gender",
                "comparison2": "not null",
            },
            "SELECT MAX(age) FROM release WHERE marital_status IN ('divorced', 'it''s') AND gender IS NOT NULL",
        ),
        (
            {"aggregate": "count", "column3": "education", "comparison3": ">=", "value3": "1e1"},
            "SELECT COUNT(*) FROM release WHERE education >= 10",
        ),
    ],
)
def test_clicks_write_the_question(fields, sql, asker):
    page = asker.press("use", "clicks", then="write", **fields)
    assert asker.desk.remember("use")["text"] == sql
    assert "The answer" not in page, "nothing is asked yet"
    for name, value in fields.items():
        if name.startswith(("value", "to")):
            assert f'name="{name}"' in page and f'value="{value}"'.replace("'", "&#39;") in page


def test_clicks_ask_the_question(asker):
    text = read_text(asker.press("use", "clicks", then="ask", aggregate="count", group="gender", truth="yes"))
    assert "2 answers" in text and "female" in text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"aggregate": "median"}, "no such aggregate"),
        ({"aggregate": "sum"}, "one of a column"),
        ({"aggregate": "sum", "of": "shoe"}, "no such column"),
        ({"aggregate": "sum", "of": "gender"}, "SUM"),
        ({"column1": "age", "comparison1": "~", "value1": "3"}, "no such comparison"),
        ({"column1": "age", "comparison1": "=", "value1": ""}, "Condition 1 lacks a value"),
        ({"column2": "age", "comparison2": "<", "value2": "1 OR 1=1"}, "condition 2 has none"),
        ({"column1": "age", "comparison1": "<", "value1": "NaN"}, "condition 1 has none"),
        ({"group": "<script>"}, "no such column"),
    ],
)
def test_a_choice_that_is_none_is_refused_in_place(fields, words, asker):
    text = read_text(asker.press("use", "clicks", status=422, then="ask", **fields))
    assert words in text
    assert not asker.desk.runs._runs, "nothing was asked"


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("", "SELECT"),
        ("SELECT age FROM release", "age"),
        ("SELECT COUNT(*) FROM people", "FROM release"),
        ("SELECT COUNT(*) FROM release WHERE shoe = 3", "no column"),
        ("DROP TABLE release", "not understood"),
        ("SELECT COUNT(*) FROM release; SELECT COUNT(*) FROM release", "2 statements"),
    ],
)
def test_a_question_that_is_not_understood_is_refused_in_words_and_stays_in_the_text(sql, words, asker):
    page = asker.press("use", "ask", status=422, sql=sql)
    assert words in read_text(page) and 'role="alert"' in page
    assert not asker.desk.runs._runs
    assert asker.desk.remember("use")["text"] == sql


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": "nearly sure"}, "no number"),
        ({"level": "2"}, "between 0 and 1"),
        ({"by": "magic"}, "no such reconstruction"),
        ({"density": "magic"}, "density"),
    ],
)
def test_an_option_that_is_none_is_refused(options, words, asker):
    assert words in read_text(asker.press("use", "ask", status=422, sql=COUNT, **options))


def test_options_are_told_to_the_command(asker):
    asker.press("use", "ask", sql=COUNT, level="0.9", density="even", by="inversion")
    words = list(asker.desk.runs._runs.values())[-1].words
    assert words[words.index("--level") + 1] == "0.9" and words[words.index("--density") + 1] == "even"
    assert "--by" not in words, "the usual one is left out"


def test_a_failed_question_says_why(asker):
    use_quick_runs(asker.desk, lambda words: (1, {"error": {"what": "It took <too> long.", "try": "fewer groups."}}))
    page = asker.press("use", "ask", sql=COUNT)
    assert "It took &lt;too&gt; long." in page and "fewer groups." in page
    asker.desk.runs._runs.clear()
    assert "ask once more" in asker.look("use")


def test_the_questions_of_a_session_are_remembered_and_shown_again(asker):
    asker.press("use", "ask", sql=COUNT)
    page = asker.press("use", "ask", sql="SELECT MAX(age) FROM release")
    assert "Asked in this session" in page and COUNT in page
    page = asker.press("use", "recall", number="1")
    assert f'aria-label="The question">{COUNT}' in page
    assert "no longer remembered" in read_text(asker.press("use", "recall", number="77", status=422))
    page = asker.press("use", "forget")
    assert "Asked in this session" not in page and not use.is_done(asker.desk)
    for number in range(use.MAX_QUESTIONS + 2):
        asker.desk.runs.answer = lambda words: (0, {"estimate": 1})
        asker.press("use", "ask", sql=f"SELECT COUNT(*) FROM release WHERE age > {number}")
    assert len(asker.desk.remember("use")["asked"]) == use.MAX_QUESTIONS


def test_the_commands_ask_the_same(asker, monkeypatch, capsys):
    for truth in ("", "yes"):
        asker.press("use", "ask", sql=COUNT, truth=truth, level="0.9")
        commands = use.write_commands(asker.desk)
        words = shlex.split(commands.shell)
        assert words[:4] == ["reticent", "query", "release", COUNT]
        assert words[4:] == ["--level", "0.9", *(["--source", "census.csv"] if truth else [])]
        assert asker.desk.runs._run_here(words[1:])[0] == 0
        monkeypatch.chdir(asker.desk.project.folder)
        exec(compile(commands.python, "commands", "exec"), {})
        assert "estimate" in capsys.readouterr().out


def test_a_question_that_begins_as_an_option_does_is_no_option(asker):
    asker.press("use", "ask", sql="-- how many?\nSELECT COUNT(*) FROM release")
    assert "exactly" in read_text(asker.look("use"))


@pytest.mark.parametrize("kind", catalogue.KINDS)
def test_whoever_received_a_release_of_any_kind_asks_it_and_sees_nothing_true(kind, tmp_path):
    import shutil

    folder = tmp_path / "received"
    shutil.copytree(publish_kind(kind).folder, folder)
    before = sorted(path.name for path in folder.iterdir())
    steward = Steward(folder)
    use_quick_runs(steward.desk)
    page = steward.look("use")
    assert "You received this release" in page and "The true answer beside it" not in page
    assert ("Redrawn values are reconstructed" in page) == (kind in ("perturbed", "sampled"))
    page = steward.press("use", "ask", sql="SELECT COUNT(*) FROM release WHERE age > 30", truth="yes")
    text = find_answer(page)
    run = list(steward.desk.runs._runs.values())[-1]
    assert run.words[:2] == ("query", ".") and "--source" not in run.words and run.succeeded
    assert ("about" in text or "exactly" in text) and "truly" not in text
    sensitive = publish_kind(kind).manifest.find_columns_with_role("sensitive")[0].name
    text = read_text(steward.press("use", "clicks", then="ask", aggregate="count", group=sensitive))
    assert "answers" in text and "job.toml" not in text
    assert sorted(path.name for path in folder.iterdir()) == before, "nothing is written into it"


def test_names_and_values_of_a_column_that_are_markup_are_text(tmp_path):
    import polars as pl

    name = '<b>"shoe" size'
    frame = pl.DataFrame({name: ["<i>a</i>", "b'"] * 6, "order": [1, 2, 3] * 4})
    job = rt.Job(columns={name: rt.quasi(), "order": rt.sensitive()}, promises=[rt.KAnonymity(3)])
    rt.publish(job, frame=frame, to=tmp_path / "-odd")
    steward = Steward(tmp_path)
    use_quick_runs(steward.desk)
    condition = {"column1": name, "comparison1": "=", "value1": "<i>a</i>"}
    steward.press("use", "clicks", then="ask", aggregate="max", of="order", group=name, **condition)
    page = steward.look("use")
    assert "<b>" not in page and "<i>" not in page and "&lt;i&gt;a&lt;/i&gt;" in page
    assert list(steward.desk.runs._runs.values())[-1].succeeded
    assert "a table in memory" in page


def test_a_damaged_release_is_refused_in_place(tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "manifest.json").write_text('{"kind": "odd"}')
    steward = Steward(tmp_path)
    assert 'role="alert"' in steward.look("use")
    steward.press("use", "ask", status=422, sql=COUNT)


def test_dates_open_ends_and_intervals_are_drawn():
    lines = [
        {"day": None, "aggregate": "MIN(seen)", "estimate": "2020-01-05", "lower": "2020-01-01", "true": "2020-01-03"},
        {
            "day": "x",
            "aggregate": "COUNT(*)",
            "estimate": 12.4,
            "lower": 0,
            "upper": 20,
            "std_error": 2.0,
            "interval": [8.5, 16.2],
            "level": 0.95,
            "note": "Random.",
            "published": {"estimate": 11, "lower": 3, "upper": 9},
        },
        {"day": "y", "aggregate": "COUNT(*)", "estimate": None, "true": None},
        {"day": "z", "aggregate": "COUNT(*)", "estimate": 3, "upper": 5, "true": 4, "error": 0.25},
    ]
    dates, counts = answer_pictures.draw_answers(lines, ["day"], ["MIN(seen)", "COUNT(*)"])
    assert dates["rows"][0]["name"] == "missing" and dates["rows"][0]["bounds"] == "at least 2020-01-01"
    assert "2020-01-0" in dates["axis"] and dates["has_truth"]
    first, second, third = counts["rows"]
    assert first["estimate"] == "12" and first["interval"] == "8.5 to 16.2" and first["published"] == "11, 3 to 9"
    assert second["is_null"] and second["truth"] == "nobody" and third["bounds"] == "at most 5"
    assert counts["level"] == "95 %" and "off by 25" in counts["title"]
    assert answer_pictures.list_notes(lines) == ["Random."]
    assert answer_pictures.draw_answers([], [], ["COUNT(*)"])[0]["title"] == "No row is selected"
    nothing = answer_pictures.draw_answers({"estimate": None}, [], ["MAX(age)"])[0]["title"]
    assert nothing.startswith("There is no answer")
    exact = answer_pictures.draw_answers({"estimate": 3, "lower": 3, "upper": 3}, [], ["COUNT(*)"])[0]["title"]
    assert exact == "Exactly 3"


def test_long_answers_are_drawn_in_part_and_say_so():
    lines = [{"age": number, "estimate": number, "lower": 0, "upper": 99} for number in range(100)]
    figure = answer_pictures.draw_answers(lines, ["age"], ["COUNT(*)"])[0]
    assert len(figure["rows"]) == answer_pictures.MAX_DRAWN_LINES and figure["omitted"] == 40
    assert len(figure["table"]) == 100


def test_columns_are_described_with_the_values_that_are_stated(asker):
    manifest = rt.open(asker.desk.project.folder / "release").manifest
    columns = {column.name: column for column in question_form.describe_columns(manifest)}
    assert "divorced" in columns["marital_status"].listed
    assert columns["age"].kind == "numbers" and columns["age"].can_be_added
    assert not columns["gender"].can_be_added
    assert "describes" in columns["age"].role and columns["salary_class"].role == "sensitive"


def test_a_form_without_a_column_of_that_name_is_refused():
    from starlette.datastructures import FormData

    manifest = publish_kind("generalized").manifest
    with pytest.raises(RequestError, match="no such column"):
        question_form.write_question(FormData({"column1": "nothing"}), manifest)
