"""The screen *Columns*: roles with reasons, who is singled out, what was found, and every option that a column has."""

from __future__ import annotations

import shlex
from pathlib import Path

import polars as pl
import pytest

from reticent.job.job import Job
from reticent.studio.screens.columns import find_obstacle, list_entries, write_commands
from tests.studio.client import Steward, read_text
from tests.studio.drafts import place_draft, place_evidence, write_people

HAND_MADE = """# my job
[source]
path = "census.csv"

[columns]
age = "quasi-identifying"  # years
gender = { role = "qi", hierarchy = { build = "balanced" } }
"m*" = { role = "insensitive" }
salary_class = { role = "sensitive", domain = [0, 49] }

[[promise]]
model = "k-anonymity"
k = 5
"""


@pytest.fixture
def clerk(newcomer, hospital_file) -> Steward:
    """A steward who has opened the messy export."""
    (newcomer.desk.project.folder / "hospital.csv").write_bytes(hospital_file)
    place_draft(newcomer, "hospital.csv")
    return newcomer


@pytest.fixture
def surveyor(steward) -> Steward:
    """A steward with a job made by hand, whose columns were looked at."""
    steward.desk.job_file.write(HAND_MADE)
    place_evidence(steward, "census.csv")
    return steward


def find_entry(user: Steward, name: str) -> dict:
    return next(entry for entry in list_entries(user.desk) if entry["name"] == name)


def test_without_a_job_the_screen_points_to_the_first(newcomer):
    assert "Open a table" in newcomer.look("columns") and find_obstacle(newcomer.desk) == "Open a table first"


def test_a_draft_shows_roles_with_reasons_distributions_and_who_is_singled_out(clerk):
    page = clerk.look("columns")
    text = read_text(page)
    assert "Eight columns single out" in text
    assert "distinct values in 8,000 rows" in text and 'class="spark"' in page
    assert "Two columns that single out most" in text
    assert "columns wait for a yes" in text


def test_harmless_columns_that_single_people_out_together_are_called_so(steward):
    place_evidence(steward, "census.csv")
    assert "Five harmless columns single out 1,409 of 2,000 people" in steward.look("columns")


def test_a_group_is_confirmed_by_one_yes_and_risky_columns_each_by_itself(clerk):
    clerk.press("columns", "confirm", group="quasi-identifying")
    assert not find_entry(clerk, "age")["waits"]
    for name in ("birth_date", "zip", "charges"):
        assert find_entry(clerk, name)["waits"] and find_entry(clerk, name)["risk"]
        clerk.press("columns", "confirm", column=name)
        assert not find_entry(clerk, name)["waits"]
    clerk.press("columns", "confirm", group="sensitive")
    assert "1 column waits for a yes" in clerk.look("columns")
    clerk.press("columns", "confirm", group="identifying")
    assert find_obstacle(clerk.desk) == "" and 'id="next"' in clerk.look("columns")
    clerk.press("job", "undo", screen="columns")
    assert find_obstacle(clerk.desk) == "1 column waits for a yes"
    Job.read(clerk.desk.job_file.path)


def test_an_unknown_column_group_role_or_finding_is_refused(clerk):
    before = clerk.desk.job_file.text
    clerk.press("columns", "confirm", column="nobody", status=422)
    clerk.press("columns", "confirm", group="nothing")
    clerk.press("columns", "role", column="age", role="admin", status=422)
    clerk.press("columns", "role", column="nobody", role="sensitive", status=422)
    clerk.press("columns", "finding", column="age", option="map", status=422)
    clerk.press("columns", "options", column="nobody", status=422)
    assert clerk.desk.job_file.text == before


def test_a_role_changed_by_hand_is_decided_and_drops_what_the_role_refuses(clerk):
    clerk.press("columns", "role", column="diagnosis", role="quasi-identifying")
    assert not find_entry(clerk, "diagnosis")["waits"]
    assert "its name is that of something private" not in clerk.desk.job_file.text
    clerk.press("columns", "role", column="patient_id", role="insensitive")
    table = clerk.job["columns"]["patient_id"]
    assert table == {"role": "insensitive"}, "rows_per_person is for columns that are never published"
    Job.read(clerk.desk.job_file.path)


def test_a_promise_about_a_column_that_is_no_longer_sensitive_goes_with_it(steward):
    steward.desk.job_file.write(
        HAND_MADE + '\n[[promise]]\nmodel = "beta-likeness"\nbeta = 4\ncolumn = "salary_class"\n'
    )
    steward.press("columns", "role", column="salary_class", role="identifying")
    assert [promise["model"] for promise in steward.job["promise"]] == ["k-anonymity"]


def test_a_column_left_out_is_not_published(clerk):
    clerk.press("columns", "role", column="nights", role="left out")
    assert "nights" not in clerk.job["columns"] and clerk.job["release"]["undeclared"] == "drop"
    assert find_entry(clerk, "nights")["role"] == "left out"
    clerk.press("columns", "role", column="nights", role="quasi-identifying")
    assert clerk.job["columns"]["nights"] == "quasi-identifying"


def test_the_last_column_is_not_left_out(newcomer):
    write_people(newcomer.desk.project.folder / "people.csv")
    newcomer.desk.job_file.write('[columns]\nage = "qi"\n')
    newcomer.press("columns", "role", column="age", role="left out", status=422)
    assert newcomer.job["columns"] == {"age": "qi"}


def test_other_columns_that_describe_are_counted_anew(surveyor):
    page = surveyor.look("columns")
    assert "was not counted yet" in page and "columns/count-alone" in page
    surveyor.press("columns", "count-alone")
    assert surveyor.wait().succeeded
    page = surveyor.look("columns")
    assert "Two harmless columns single out 10 of 2,000 people" in page
    surveyor.press("columns", "role", column="gender", role="identifying")
    assert "was not counted yet" in surveyor.look("columns")
    surveyor.press("columns", "count-alone")
    surveyor.wait()
    assert "One harmless column singles out 3 of 2,000 people" in surveyor.look("columns")


def test_counting_that_fails_says_why(surveyor):
    surveyor.desk.job_file.set_field(["columns", "nowhere"], "quasi-identifying")
    surveyor.press("columns", "count-alone")
    assert not surveyor.wait().succeeded
    page = surveyor.look("columns")
    assert "Count again" in page and 'role="alert"' in page


def test_counting_without_a_job_is_refused(newcomer):
    newcomer.press("columns", "count-alone", status=422)


def test_a_database_is_counted_too(newcomer):
    import sqlite3

    with sqlite3.connect(newcomer.desk.project.folder / "people.db") as connection:
        connection.execute("CREATE TABLE people (age INTEGER, city TEXT, illness TEXT)")
        rows = [(n % 40, ("Ulm", "Bonn")[n % 2], ("flu", "mumps")[n % 3 > 0]) for n in range(90)]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    newcomer.press("data", "open-database", url="sqlite:///people.db", table="people")
    assert newcomer.wait().succeeded
    newcomer.press("columns", "role", column="city", role="identifying")
    newcomer.press("columns", "count-alone")
    assert newcomer.wait().succeeded
    assert "of 90 people" in newcomer.look("columns")


def test_a_job_made_by_hand_waits_for_nothing_and_keeps_what_the_screen_cannot_say(surveyor):
    page = surveyor.look("columns")
    assert "domain = [0, 49]" in page and "hierarchy = { build = &#34;balanced&#34; }" in page
    assert "Declared by the pattern" in page
    assert "2 columns have no role yet" in page
    surveyor.press("columns", "options", column="salary_class", order="1\n2\n3", missing="withhold")
    table = surveyor.job["columns"]["salary_class"]
    assert table == {"role": "sensitive", "domain": [0, 49], "order": ["1", "2", "3"], "missing": "withhold"}
    assert "# my job" in surveyor.desk.job_file.text and "# years" in surveyor.desk.job_file.text


def test_columns_without_a_role_take_the_proposed_ones_by_one_click(surveyor):
    page = surveyor.look("columns")
    assert "Give these 2 the proposed roles" in page
    surveyor.press("columns", "accept-roles")
    assert surveyor.job["columns"]["education"] == "quasi-identifying"
    assert find_obstacle(surveyor.desk) == ""


def test_a_column_that_a_pattern_declares_gets_a_line_of_its_own(surveyor):
    surveyor.press("columns", "role", column="marital_status", role="left out", status=422)
    surveyor.press("columns", "role", column="marital_status", role="quasi-identifying")
    assert surveyor.job["columns"]["marital_status"] == "quasi-identifying"
    assert surveyor.job["columns"]["m*"] == {"role": "insensitive"}


def test_options_of_a_column_that_is_a_text_make_a_table_of_it(surveyor):
    surveyor.press("columns", "options", column="age", type="numeric", top="80", bottom="18.5", missing="category")
    assert surveyor.job["columns"]["age"]["role"] == "quasi-identifying"
    column = Job.read(surveyor.desk.job_file.path).columns["age"]
    assert (column.type, float(column.top), float(column.bottom), column.missing) == ("numeric", 80, 18.5, "category")
    surveyor.press("columns", "options", column="age")
    assert surveyor.job["columns"]["age"] == {"role": "quasi-identifying"}


def test_bounds_may_be_days_and_moments(surveyor):
    surveyor.press("columns", "options", column="age", type="date", top="2001-02-03", bottom="1990-01-01")
    assert str(surveyor.job["columns"]["age"]["top"]) == "2001-02-03"
    surveyor.press("columns", "options", column="age", top="2001-02-03 10:00:00")
    assert str(surveyor.job["columns"]["age"]["top"]) == "2001-02-03 10:00:00"


@pytest.mark.parametrize(
    ("column", "options"),
    [
        ("age", {"type": "magic"}),
        ("age", {"top": "many"}),
        ("age", {"top": "nan"}),
        ("age", {"top": "10", "bottom": "20"}),
        ("salary_class", {"round_to": "-5"}),
        ("salary_class", {"missing": "forget"}),
        ("salary_class", {"order": "x\n" * 10_001}),
    ],
)
def test_an_option_that_would_make_the_job_invalid_is_refused_and_nothing_is_written(column, options, surveyor):
    before = surveyor.desk.job_file.text
    page = surveyor.press("columns", "options", column=column, status=422, **options)
    assert 'id="refusal"' in page and surveyor.desk.job_file.text == before


def test_what_was_found_is_accepted_and_left_by_a_click(clerk):
    sex = Job.read(clerk.desk.job_file.path).columns["sex"].map
    assert sex
    clerk.press("columns", "finding", column="sex", option="map", answer="reject")
    assert "map" not in clerk.job["columns"]["sex"] and "Accept map of sex" in clerk.look("columns")
    clerk.press("columns", "finding", column="sex", option="map", answer="accept")
    assert Job.read(clerk.desk.job_file.path).columns["sex"].map == sex
    clerk.press("columns", "finding", column="birth_date", option="format", answer="reject")
    clerk.press("columns", "finding", column="birth_date", option="format", answer="accept")
    assert len(clerk.job["columns"]["birth_date"]["format"]) >= 3
    clerk.press("columns", "finding", column="charges", option="format", answer="reject")
    assert "rates" not in clerk.job["columns"]["charges"], "rates are of amounts in a format"
    Job.read(clerk.desk.job_file.path)


def test_another_value_of_the_job_is_replaced_only_where_asked(clerk):
    clerk.desk.job_file.set_field(["columns", "sex", "map"], {"m": "M"})
    assert "Replace what the job has" in clerk.look("columns")


def test_codes_that_mean_missing_are_accepted_and_left(clerk):
    assert "999" in clerk.job["source"]["missing"]
    clerk.press("columns", "finding", column="age", option="codes", answer="reject")
    assert "999" not in clerk.job["source"]["missing"]
    place_evidence(clerk, "hospital.csv")
    clerk.press("columns", "finding", column="age", option="codes", answer="accept")
    assert "999" in clerk.job["source"]["missing"]


def test_rates_of_currencies_are_set(clerk):
    fields = {"rate $": "1", "rate €": "1.08", "rate EUR": "missing"}
    clerk.press("columns", "rates", column="charges", **fields)
    rates = Job.read(clerk.desk.job_file.path).columns["charges"].rates
    assert {unit: str(rate) for unit, rate in rates.items()} == {"$": "1", "€": "1.08", "EUR": "missing"}
    before = clerk.desk.job_file.text
    clerk.press("columns", "rates", column="charges", **{**fields, "rate €": "much"}, status=422)
    assert clerk.desk.job_file.text == before


@pytest.mark.parametrize(
    "text",
    [
        "[columns",
        'columns = "all"',
        "[columns]\nage = 3\n",
        '[columns]\nage = { role = ["x"] }\n',
        '[columns]\nage = { role = "nothing", format = 3, rates = "x", order = { a = 1 } }\n',
        '[columns.age]\nrole = "quasi-identifying"\n# a comment\ntop = 80\n[columns."b c"]\nrole = "sensitive"\n',
    ],
)
def test_columns_of_any_shape_are_shown_and_kept(text, newcomer):
    newcomer.desk.job_file.write(text)
    newcomer.look("columns")
    assert newcomer.desk.job_file.text == text


def test_a_job_that_is_not_valid_can_still_be_mended_here(newcomer):
    newcomer.desk.job_file.write('[columns]\nage = { role = "nothing" }\n')
    newcomer.press("columns", "role", column="age", role="quasi-identifying")
    assert newcomer.job["columns"]["age"]["role"] == "quasi-identifying"


def test_markup_in_names_and_values_is_shown_as_text(newcomer):
    hostile = "<b onclick=alert(1)>"
    frame = pl.DataFrame(
        {hostile: [f"{hostile}{n % 3}" for n in range(60)], "y": [("yes", "YES")[n % 2] for n in range(60)]}
    )
    frame.write_csv(newcomer.desk.project.folder / "t.csv")
    place_draft(newcomer, "t.csv")
    page = newcomer.look("columns")
    assert "<b onclick" not in page and "&lt;b onclick" in page
    newcomer.press("columns", "role", column=hostile, role="identifying")
    assert (
        newcomer.job["columns"][hostile]["role"] == "identifying" or newcomer.job["columns"][hostile] == "identifying"
    )


def test_the_lines_of_the_screen_run(steward, monkeypatch, capsys):
    from reticent.cli.main import main

    monkeypatch.chdir(steward.desk.project.folder)
    lines = write_commands(steward.desk)
    assert main(shlex.split(lines.shell)[1:]) == 0
    assert "adding one column at a time" in capsys.readouterr().out
    exec(compile(lines.python, "lines", "exec"), {})
    assert "records" in capsys.readouterr().out


def test_the_job_that_the_clicks_made_is_published_by_the_command_line(newcomer, census_files, monkeypatch):
    from reticent.cli.main import main

    folder: Path = newcomer.desk.project.folder
    (folder / "census.csv").write_bytes(census_files["census.csv"])
    place_draft(newcomer, "census.csv")
    newcomer.press("columns", "confirm", group="quasi-identifying")
    newcomer.press("columns", "confirm", group="sensitive")
    assert find_obstacle(newcomer.desk) == ""
    monkeypatch.chdir(folder)
    assert main(["publish", "job.toml", "-o", "release", "--json"]) == 0
