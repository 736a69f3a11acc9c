"""The screen Hierarchies: trees drawn with people at each node, edits and builders written to the job, levels measured."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("starlette", reason="the studio is an extra: pip install 'reticent[studio]'")

import numpy as np
import polars as pl

from reticent.data.hierarchy import Hierarchy
from reticent.errors import ReticentError
from reticent.studio import column_counts, tree_edits
from reticent.studio.tree_edits import NodeName
from tests.studio.client import Steward, read_text

TOWNS = [
    ["Ulm", "Swabia", "south", "*"],
    ["Augsburg", "Swabia", "south", "*"],
    ["Munich", "Bavaria", "south", "*"],
    ["Kiel", "Holstein", "north", "*"],
    ["Husum", "Holstein", "north", "*"],
]
HOSTILE = "<script>alert(1)</script>"
JOB = """# agreed in March
[source]
path = "people.csv"

[columns]
"t<b>own" = "quasi-identifying"
born = { role = "quasi-identifying" }  # a date
zip = { role = "quasi-identifying", type = "categorical" }
age = { role = "quasi-identifying", type = "numeric" }
illness = { role = "sensitive" }

[[promise]]
model = "k-anonymity"
k = 5
"""


def list_labels(rows, level):
    return list(dict.fromkeys(row[level] for row in rows))


@pytest.fixture
def hospital(tmp_path):
    """A steward with a table of towns (one of them hostile), births, codes and ages, and a job by hand without trees."""
    random = np.random.default_rng(5)
    towns = np.array(["Kiel", "Husum", "Ulm", "Munich", "Bonn", "Essen", "Fulda", HOSTILE])
    people = pl.DataFrame(
        {
            "t<b>own": towns[random.integers(0, 8, 400)],
            "born": [f"{1950 + number % 50}-0{1 + number % 9}-15" for number in range(400)],
            "zip": [f"{80331 + 7 * (number % 40)}" for number in range(400)],
            "age": random.integers(18, 80, 400),
            "illness": [
                ["flu", "cold", "gout", "J45.1", "J45.9", "A09", "B20", "C50"][number % 8] for number in range(400)
            ],
        }
    )
    folder = tmp_path / "hospital"
    folder.mkdir()
    people.write_csv(folder / "people.csv")
    (folder / "job.toml").write_text(JOB)
    return Steward(folder)


def set_limits(user, **limits):
    user.desk.remember(column_counts.MEMORY_OF_LIMITS)["limits"] = column_counts.CountLimits(**limits)


def choose(user, name):
    return user.press("hierarchies", "choose", column=name)


def test_values_put_under_a_name_get_a_level_where_there_is_none():
    flat = [[row[0], "*"] for row in TOWNS]
    rows = tree_edits.put_under(flat, [NodeName(0, "Kiel"), NodeName(0, "Husum")], "north")
    assert ["Kiel", "north", "*"] in rows and ["Ulm", "Ulm", "*"] in rows
    rows = tree_edits.put_under(rows, [NodeName(0, "Ulm")], "north")
    assert ["Ulm", "north", "*"] in rows and len(rows[0]) == 3, "a name that is there takes them in"


def test_a_label_is_moved_to_another_parent_and_stands_alone_under_the_root():
    rows = tree_edits.put_under(TOWNS, [NodeName(1, "Bavaria")], "north")
    assert ["Munich", "Bavaria", "north", "*"] in rows
    rows = tree_edits.put_under(rows, [NodeName(1, "Bavaria")], "*")
    assert ["Munich", "Bavaria", "Bavaria", "*"] in rows
    rows = tree_edits.put_under(rows, [NodeName(2, "Bavaria"), NodeName(0, "Kiel")], "far")
    assert ["Munich", "Bavaria", "Bavaria", "far", "*"] in rows and ["Kiel", "Kiel", "Kiel", "far", "*"] in rows
    assert ["Husum", "Holstein", "north", "north", "*"] in rows


def test_what_stands_for_itself_takes_its_new_parent_on_every_level():
    rows = [["a", "a", "a", "*"], ["b", "b", "b", "*"], ["c", "d", "e", "*"]]
    rows = tree_edits.put_under(rows, [NodeName(0, "a"), NodeName(0, "b")], "ab")
    assert ["a", "ab", "ab", "*"] in rows and ["b", "ab", "ab", "*"] in rows


def test_labels_are_renamed_and_dissolved_and_levels_removed_and_values_added():
    assert ["Kiel", "Holstein", "coast", "*"] in tree_edits.rename(TOWNS, NodeName(2, "north"), " coast ")
    assert ["Ulm", "Ulm", "south", "*"] in tree_edits.dissolve(TOWNS, NodeName(1, "Swabia"))
    assert ["Ulm", "south", "*"] in tree_edits.remove_level(TOWNS, 1)
    assert ["Bonn", "Bonn", "Bonn", "*"] in tree_edits.add_values(TOWNS, ["Bonn", "Kiel"])


@pytest.mark.parametrize(
    "edit",
    [
        lambda: tree_edits.put_under(TOWNS, [], "north"),
        lambda: tree_edits.put_under(TOWNS, [NodeName(0, "Paris")], "north"),
        lambda: tree_edits.put_under(TOWNS, [NodeName(3, "*")], "all"),
        lambda: tree_edits.put_under(TOWNS, [NodeName(0, "Kiel")], "  "),
        lambda: tree_edits.put_under(TOWNS, [NodeName(0, "Kiel")], "x" * 201),
        lambda: tree_edits.put_under([["a", *map(str, range(29)), "*"]], [NodeName(29, "28")], "x"),
        lambda: tree_edits.rename(TOWNS, NodeName(0, "Kiel"), "Kiew"),
        lambda: tree_edits.rename(TOWNS, NodeName(2, "north"), "south"),
        lambda: tree_edits.dissolve(TOWNS, NodeName(0, "Kiel")),
        lambda: tree_edits.dissolve(TOWNS, NodeName(3, "*")),
        lambda: tree_edits.remove_level(TOWNS, 0),
        lambda: tree_edits.remove_level(TOWNS, 3),
        lambda: NodeName.parse("south"),
        lambda: NodeName.parse("-1:south"),
    ],
)
def test_an_edit_that_makes_no_tree_is_refused(edit):
    with pytest.raises(ReticentError):
        edit()


def test_the_screen_says_where_it_stands_without_a_job_and_with_one_that_cannot_be_read(newcomer, steward):
    assert "declares no columns yet" in read_text(newcomer.look("hierarchies"))
    steward.press("job", "text", screen="hierarchies", text="[source\n")
    assert "not valid" in read_text(steward.look("hierarchies"))
    steward.press("job", "undo", screen="hierarchies")
    (steward.desk.project.folder / "census.csv").unlink()
    page = steward.look("hierarchies")
    assert "Count the values" in page or 'role="alert"' in page


def test_each_column_is_listed_with_what_stands_for_its_values(steward):
    page = read_text(steward.look("hierarchies"))
    assert "marital_status" in page and "a tree from hierarchies/marital_status.csv" in page
    assert "ranges, cut where the data is" in page


def test_a_tree_is_drawn_with_people_at_each_node_and_the_cost_of_each_level(steward):
    page = choose(steward, "marital_status")
    tree = Hierarchy.read(steward.desk.project.folder / "hierarchies/marital_status.csv")
    for label in tree.labels:
        assert f"{label}" in page
    counted = pl.read_csv(steward.desk.project.folder / "census.csv")["marital_status"]
    most = counted.value_counts()["count"].max()
    assert f"{most:,}" in page and "2,000" in page
    state = next(state for state in _list_states(steward) if state.name == "marital_status")
    levels = state.levels
    assert levels[0].kept == 1.0 and levels[-1].kept == pytest.approx(0.0)
    assert levels[-1].smallest == 2000 and [level.labels for level in levels] == sorted(
        (level.labels for level in levels), reverse=True
    )


def test_the_cost_of_a_level_is_what_equation_3_says(hospital):
    column = "t<b>own"
    hospital.press("hierarchies", "tree", column=column, do="put", name="north", node=["0:Kiel", "0:Husum"])
    state = next(state for state in _list_states(hospital) if state.name == column)
    counted = pl.read_csv(hospital.desk.project.folder / "people.csv")[column]
    north = counted.is_in(["Kiel", "Husum"]).mean()
    assert state.levels[1].kept == pytest.approx(1 - north * 2 / 8)


def _list_states(user):
    from reticent.studio.screens.hierarchies import list_states

    return list_states(user.desk, column_counts.find_column_counts(user.desk).columns)


def test_an_edit_by_hand_is_written_to_the_job_and_a_file_that_was_made_by_hand_is_kept(steward):
    path = steward.desk.project.folder / "hierarchies/work_class.csv"
    before = path.read_bytes()
    tree = Hierarchy.read(path)
    leaves = tree.leaves[:2]
    page = steward.press(
        "hierarchies", "tree", column="work_class", do="put", name="chosen", node=[f"0:{leaf}" for leaf in leaves]
    )
    rows = steward.job["columns"]["work_class"]["hierarchy"]
    assert isinstance(rows, list) and "chosen" in list_labels(rows, 1)
    assert path.read_bytes() == before and "chosen" in page
    assert "# Made by `reticent demo`" in steward.desk.job_file.text, "comments are kept"
    assert steward.desk.job_file.read().columns["work_class"].hierarchy == rows
    steward.press("job", "undo", screen="hierarchies")
    assert steward.job["columns"]["work_class"]["hierarchy"] == "hierarchies/work_class.csv"


def test_the_job_with_an_edited_tree_is_published_by_the_command_line(steward):
    from reticent.cli.main import main

    tree = Hierarchy.read(steward.desk.project.folder / "hierarchies/marital_status.csv")
    steward.press(
        "hierarchies", "tree", column="marital_status", do="rename", name="<b>wed", node=f"1:{tree.rows()[0][1]}"
    )
    steward.press("hierarchies", "build", column="age", builder="intervals", width="5, 10, 20", start="")
    job = steward.desk.job_file.path
    assert main(["publish", str(job), "-o", str(job.parent / "out"), "--json"]) == 0
    assert main(["audit", str(job.parent / "out"), "--json"]) == 0


def test_names_of_columns_and_values_with_markup_are_only_text(hospital):
    page = choose(hospital, "t<b>own")
    assert HOSTILE not in page and "&lt;script&gt;" in page and "t<b>own" not in page
    page = hospital.press(
        "hierarchies", "tree", column="t<b>own", do="put", name='"><img src=x>', node=[f"0:{HOSTILE}", "0:Ulm"]
    )
    assert "<img src=x>" not in page and HOSTILE not in page
    rows = hospital.job["columns"]["t<b>own"]["hierarchy"]
    assert [HOSTILE, '"><img src=x>', "*"] in rows
    assert hospital.job["columns"]["t<b>own"]["role"] == "quasi-identifying", "a role alone became a table"
    assert "# agreed in March" in hospital.desk.job_file.text


def test_what_suits_columns_without_a_tree_is_taken_by_one_click(hospital):
    page = read_text(hospital.look("hierarchies"))
    assert "say a value or nothing at all" in page
    hospital.press("hierarchies", "accept")
    columns = hospital.job["columns"]
    assert columns["t<b>own"]["hierarchy"]["build"] == "balanced"
    assert columns["zip"]["hierarchy"] == {"build": "prefixes"}
    assert "hierarchy" not in columns["age"], "numbers need none"
    assert "say a value or nothing at all" not in read_text(hospital.look("hierarchies"))
    hospital.press("hierarchies", "accept", status=200, column="age")
    assert hospital.job["columns"]["age"]["hierarchy"]["build"] == "intervals"


@pytest.mark.parametrize(
    ("column", "builder", "fields", "request_"),
    [
        (
            "age",
            "intervals",
            {"width": "5, 10 20", "start": "1"},
            {"build": "intervals", "width": [5, 10, 20], "start": 1},
        ),
        ("age", "quantiles", {"groups": "8, 2"}, {"build": "quantiles", "groups": [8, 2]}),
        ("age", "edges", {"edges": "30, 40.5, 65; 40.5"}, None),
        ("age", "edges", {"edges": "30, 65"}, {"build": "edges", "edges": [30, 65]}),
        ("born", "dates", {"levels": "decade, Year"}, {"build": "dates", "levels": ["year", "decade"]}),
        ("zip", "prefixes", {"keep": "", "mask": "#"}, {"build": "prefixes", "mask": "#"}),
        ("t<b>own", "balanced", {"fanout": "2"}, {"build": "balanced", "fanout": 2}),
    ],
)
def test_every_builder_writes_its_request_to_the_job(hospital, column, builder, fields, request_):
    hospital.press("hierarchies", "build", column=column, builder=builder, **fields)
    written = hospital.job["columns"][column]["hierarchy"]
    assert request_ is None or written == request_
    assert hospital.desk.job_file.read().columns[column].hierarchy["build"] == written["build"]
    state = next(state for state in _list_states(hospital) if state.name == column)
    assert state.error is None and state.coded is not None


def test_what_is_built_for_a_sensitive_column_is_listed_because_it_is_published_whole(hospital):
    hospital.press("hierarchies", "build", column="illness", builder="icd", keep="3, 1")
    rows = hospital.job["columns"]["illness"]["hierarchy"]
    assert ["J45.1", "J45**", "J****", "*"] in rows
    assert hospital.desk.job_file.read() is not None
    page = choose(hospital, "illness")
    assert "J45**" in page


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        ("build", {"column": "age", "builder": "magic"}),
        ("build", {"column": "age", "builder": "intervals", "width": "ten"}),
        ("build", {"column": "age", "builder": "intervals", "width": ""}),
        ("build", {"column": "age", "builder": "intervals", "width": "1e999999"}),
        ("build", {"column": "age", "builder": "intervals", "width": "nan"}),
        ("build", {"column": "age", "builder": "intervals", "width": "1," * 600}),
        ("build", {"column": "born", "builder": "dates", "levels": "month, week"}),
        ("build", {"column": "zip", "builder": "dates"}),
        ("build", {"column": "nobody", "builder": "intervals"}),
        ("choose", {"column": "nobody"}),
        ("file", {"column": "zip", "file": "../../etc/passwd"}),
        ("file", {"column": "zip", "file": "people.csv"}),
        ("tree", {"column": "zip", "do": "explode"}),
        ("tree", {"column": "zip", "do": "put", "name": "x"}),
        ("tree", {"column": "zip", "do": "put", "name": "x", "node": "0:99999"}),
        ("tree", {"column": "zip", "do": "rename", "name": "x", "node": ["0:80331", "0:80338"]}),
        ("tree", {"column": "zip", "do": "complete"}),
        ("tree", {"column": "born", "do": "complete"}),
        ("tree", {"column": "age", "do": "put", "name": "x", "node": "0:30"}),
    ],
)
def test_what_cannot_be_done_is_said_in_place_and_the_job_is_left_alone(hospital, action, fields):
    before = hospital.desk.job_file.text
    page = hospital.press("hierarchies", action, status=422, **fields)
    assert 'id="refusal"' in page and hospital.desk.job_file.text == before


def test_a_tree_of_numbers_that_is_edited_stays_one_of_numbers(hospital):
    hospital.desk.job_file.set_field(["columns", "age"], "quasi-identifying")
    hospital.press("hierarchies", "build", column="age", builder="intervals", width="10", start="0")
    tree = next(state for state in _list_states(hospital) if state.name == "age").coded.tree
    bands = list_labels(tree.rows(), 1)
    hospital.press(
        "hierarchies", "tree", column="age", do="put", name="young", node=[f"1:{band}" for band in bands[:2]]
    )
    column = hospital.job["columns"]["age"]
    assert column["type"] == "numeric" and "young" in list_labels(column["hierarchy"], 2)
    state = next(state for state in _list_states(hospital) if state.name == "age")
    assert state.coded.domain.kind == "numeric"


def test_values_that_a_file_lacks_are_named_and_added_by_a_click(hospital):
    folder = hospital.desk.project.folder
    Hierarchy.from_rows([["Kiel", "north", "*"], ["Ulm", "south", "*"]]).save(folder / "towns.csv")
    hospital.press("hierarchies", "file", status=422, column="t<b>own", file="towns.csv")
    hospital.desk.job_file.set_field(["columns", "t<b>own"], {"role": "quasi-identifying", "hierarchy": "towns.csv"})
    page = choose(hospital, "t<b>own")
    assert "It lacks" in page and "Munich" in page
    hospital.press("hierarchies", "tree", column="t<b>own", do="complete")
    rows = hospital.job["columns"]["t<b>own"]["hierarchy"]
    assert ["Munich", "Munich", "*"] in rows and ["Kiel", "north", "*"] in rows


def test_a_file_of_the_project_is_taken_and_a_tree_is_taken_out_of_the_job(hospital):
    folder = hospital.desk.project.folder
    towns = ["Kiel", "Husum", "Ulm", "Munich", "Bonn", "Essen", "Fulda", HOSTILE]
    Hierarchy.from_rows([[town, town[0], "*"] for town in towns]).save(folder / "towns.csv")
    hospital.press("hierarchies", "file", column="t<b>own", file="towns.csv")
    assert hospital.job["columns"]["t<b>own"]["hierarchy"] == "towns.csv"
    hospital.press("hierarchies", "clear", column="t<b>own")
    assert "hierarchy" not in hospital.job["columns"]["t<b>own"] and (folder / "towns.csv").exists()


def test_a_hierarchy_outside_of_the_project_is_shown_as_text_and_left_alone(hospital, tmp_path):
    Hierarchy.from_rows([["Kiel", "SECRET", "*"]]).save(tmp_path / "outside.csv")
    hospital.desk.job_file.set_field(["columns", "zip", "hierarchy"], str(tmp_path / "outside.csv"))
    before = hospital.desk.job_file.text
    page = choose(hospital, "zip")
    assert "outside of the project" in page and "SECRET" not in page
    assert hospital.desk.job_file.text == before


@pytest.fixture
def many_codes(tmp_path):
    """A steward with a column of 4,000 codes."""
    codes = [f"C{number:05d}" for number in range(4000)]
    pl.DataFrame({"code": codes * 2, "pay": list(range(8000))}).write_csv(tmp_path / "codes.csv")
    (tmp_path / "job.toml").write_text(
        '[source]\npath = "codes.csv"\n[columns]\ncode = { role = "quasi-identifying", hierarchy = { build = "prefixes" } }\n'
        'pay = "sensitive"\n'
    )
    return Steward(tmp_path)


def test_a_large_tree_is_folded_searched_and_saved_beside_the_job(many_codes):
    page = choose(many_codes, "code")
    assert page.count('class="node"') <= 320, "upper levels, and what is opened"
    label = re.search(r'name="open" value="([^"]+)"', page)[1]
    opened = many_codes.press("hierarchies", "tree", column="code", open=label)
    assert opened.count('class="node"') > page.count('class="node"')
    searched = many_codes.press("hierarchies", "tree", column="code", do="search", search="c0012")
    assert "C00123" in searched and "labels hold" in read_text(searched)
    many_codes.press("hierarchies", "tree", column="code", do="put", name="special", node=["0:C00123", "0:C00124"])
    name = many_codes.job["columns"]["code"]["hierarchy"]
    assert re.fullmatch(r"hierarchies/code-[0-9a-f]{8}\.csv", name)
    folder = many_codes.desk.project.folder
    assert "special" in list_labels(Hierarchy.read(folder / name).rows(), 1)
    many_codes.press("hierarchies", "tree", column="code", do="rename", name="rare", node="1:special")
    assert many_codes.job["columns"]["code"]["hierarchy"] != name
    many_codes.press("job", "undo", screen="hierarchies")
    assert many_codes.job["columns"]["code"]["hierarchy"] == name, "undo returns to the file before"
    assert "special" in choose(many_codes, "code")


def test_a_large_source_is_counted_by_a_child_whose_counts_are_kept(steward):
    set_limits(steward, bytes_at_once=10)
    at_once = column_counts.count_columns(steward.job, steward.desk.project.folder)
    assert "have to be counted first" in steward.look("hierarchies")
    assert "Counting the values" in steward.press("hierarchies", "count")
    assert steward.wait().succeeded
    assert "the job forgets" in choose(steward, "marital_status").casefold()
    counted = column_counts.find_column_counts(steward.desk).columns
    for name, column in counted.items():
        assert column.values.equals(at_once[name].values) and column.rows.equals(at_once[name].rows)
    steward.press("hierarchies", "build", column="age", builder="intervals", width="10", start="")
    assert column_counts.find_column_counts(steward.desk).columns, "an edit of a tree needs no new count"


def test_a_count_that_fails_says_why(steward):
    set_limits(steward, bytes_at_once=10)
    (steward.desk.project.folder / "census.csv").write_bytes(b"age;x\n1;2\n3;4\n5;6\n")
    steward.press("hierarchies", "count")
    assert not steward.wait().succeeded
    page = read_text(steward.look("hierarchies"))
    assert "Count the values" in page and "not in the data" in page


def test_a_column_of_too_many_values_has_no_tree(hospital):
    set_limits(hospital, distinct_values=30)
    page = choose(hospital, "zip")
    assert "Nobody looks through a tree of so many" in page
    hospital.press("hierarchies", "build", status=422, column="zip", builder="prefixes", keep="3", mask="*")


def test_the_commands_of_the_screen_run(steward, capsys, monkeypatch):
    import shlex

    from reticent.cli.main import main
    from reticent.studio.screens.hierarchies import write_commands

    monkeypatch.chdir(steward.desk.project.folder)
    for column in ("marital_status", "gender", "age"):
        if column == "age":
            steward.press("hierarchies", "build", column="age", builder="intervals", width="5, 10", start="")
        choose(steward, column)
        commands = write_commands(steward.desk)
        assert main(shlex.split(commands.shell)[1:]) == 0, commands.shell
        exec(commands.python, {})
    assert steward.look("columns")


def test_the_command_of_a_new_project_can_be_shown(newcomer):
    from reticent.studio.screens.hierarchies import is_done, write_commands

    assert write_commands(newcomer.desk).shell == "reticent check job.toml"
    assert not is_done(newcomer.desk)
    newcomer.press("job", "text", screen="hierarchies", text="columns = 3\n")
    assert not is_done(newcomer.desk)
    newcomer.look("hierarchies")
