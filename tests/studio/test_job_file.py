"""The job file is the state: comments are kept, every edit can be undone, and what was edited elsewhere is not overwritten."""

from __future__ import annotations

import pytest

from reticent.errors import DiskError, JobError
from reticent.studio.job_file import MAX_HISTORY, JobFile

TEXT = """# A job with comments.
[source]
path = "a.csv"  # the export of May

[columns]
age = { role = "quasi-identifying" }  # CONFIRM: 70 values
pay = "sensitive"

[[promise]]
model = "k-anonymity"
k = 10  # agreed in March
"""


@pytest.fixture
def job_file(tmp_path):
    path = tmp_path / "job.toml"
    path.write_text(TEXT)
    return JobFile(path)


def test_an_edit_keeps_every_comment_and_every_other_line(job_file):
    job_file.set_field(["promise", 0, "k"], 5)
    assert job_file.text == TEXT.replace("k = 10", "k = 5")
    assert job_file.changed_lines == {10}


def test_fields_and_tables_that_are_not_there_are_made_and_removed(job_file):
    job_file.set_field(["method", "name"], "mondrian")
    job_file.set_field(["columns", "zip", "role"], "quasi-identifying")
    assert job_file.read_table()["method"] == {"name": "mondrian"}
    assert job_file.read_table()["columns"]["zip"] == {"role": "quasi-identifying"}
    job_file.set_field(["columns", "zip"], None)
    job_file.set_field(["promise", 0], None)
    job_file.set_field(["nothing", "here"], None)
    table = job_file.read_table()
    assert "zip" not in table["columns"] and not table.get("promise") and "nothing" not in table


def test_a_field_of_a_column_that_is_declared_by_its_role_alone_is_refused(job_file):
    with pytest.raises(JobError, match="no table"):
        job_file.set_field(["columns", "pay", "type"], "numeric")
    assert job_file.text == TEXT


def test_undo_and_redo_return_each_text_and_a_new_edit_ends_redo(job_file):
    job_file.set_field(["promise", 0, "k"], 5)
    job_file.set_field(["promise", 0, "k"], 3)
    job_file.undo()
    job_file.undo()
    assert job_file.text == TEXT and not job_file.can_undo and job_file.can_redo
    job_file.undo()
    job_file.redo()
    assert "k = 5" in job_file.text
    job_file.set_field(["promise", 0, "k"], 7)
    assert not job_file.can_redo


def test_what_an_editor_wrote_meanwhile_is_kept_and_can_be_undone(job_file):
    job_file.set_field(["promise", 0, "k"], 5)
    job_file.path.write_text(TEXT.replace("k = 10", "k = 6") + "# by hand\n")
    job_file.set_field(["source", "path"], "b.csv")
    assert "# by hand" in job_file.text and "k = 6" in job_file.text and "b.csv" in job_file.text
    job_file.undo()
    assert job_file.text.endswith("# by hand\n") and "a.csv" in job_file.text
    job_file.undo()
    assert "k = 5" in job_file.text


def test_a_text_that_is_no_toml_is_kept_and_no_field_of_it_is_changed(job_file):
    job_file.write("[source\n")
    with pytest.raises(JobError, match="not valid TOML"):
        job_file.set_field(["source", "path"], "b.csv")
    assert job_file.text == "[source\n" and job_file.read_table() == {}
    job_file.undo()
    assert job_file.text == TEXT


def test_a_file_that_is_not_there_begins_empty_and_is_made_by_the_first_edit(tmp_path):
    job_file = JobFile(tmp_path / "job.toml")
    assert job_file.text == "" and not job_file.exists()
    job_file.set_field(["source", "path"], "a.csv")
    assert job_file.exists() and job_file.read_table() == {"source": {"path": "a.csv"}}


def test_a_folder_that_cannot_be_written_is_said_and_nothing_is_lost(tmp_path):
    job_file = JobFile(tmp_path / "gone" / "job.toml")
    with pytest.raises(DiskError, match="cannot be written"):
        job_file.set_field(["source", "path"], "a.csv")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(DiskError, match="UTF-8"):
        JobFile(binary)


def test_the_history_is_bounded(job_file):
    for k in range(MAX_HISTORY + 20):
        job_file.set_field(["promise", 0, "k"], k + 2)
    assert len(job_file._history) == MAX_HISTORY and job_file.can_undo
