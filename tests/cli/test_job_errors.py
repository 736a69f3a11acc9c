"""A job with several faults tells all of them at once."""

from __future__ import annotations

from pathlib import Path


def test_every_fault_of_a_job_file_is_told_at_once_and_nothing_is_written(run, place):
    place.job(
        ("k = 5", "kk = 5"),
        (
            'age     = { role = "quasi-identifying", type = "numeric" }',
            'age     = { role = "quasi", type = "nummeric" }',
        ),
        ('illness = "sensitive"', 'illness = "sensitiv"'),
    )
    text = Path("job.toml").read_text()
    assert "nummeric" in text and 'sensitiv"' in text and "kk = 5" in text
    before = place.contents()
    for command in (["check", "job.toml"], ["publish", "job.toml", "-o", "release"]):
        ran = run(*command)
        assert ran.code == 1
        assert "3 faults:" in ran.err
        assert "Column 'age': Unknown column type 'nummeric'" in ran.err
        assert "Column 'illness': Unknown role 'sensitiv'" in ran.err
        assert "no parameter 'kk'" in ran.err
    assert place.contents() == before


def test_all_columns_that_the_data_lacks_are_named_at_once(run, place):
    place.job(("age  ", "aeg  "), ("city ", "ctiy "))
    ran = run("check", "job.toml")
    assert ran.code == 1
    assert "'aeg' is declared but not in the data" in ran.err
    assert "'ctiy' is declared but not in the data" in ran.err


def test_all_columns_whose_values_do_not_read_are_counted_at_once(run, place):
    place.job(
        (
            'age     = { role = "quasi-identifying", type = "numeric" }',
            'age     = { role = "quasi", format = "%m/%d/%Y" }',
        ),
        ('illness = "sensitive"', 'illness = { role = "sensitive", format = "1,234.5" }'),
    )
    ran = run("check", "job.toml")
    assert ran.code == 1
    assert "Column 'age' is declared a date" in ran.err
    assert "Column 'illness' is declared a number" in ran.err


def test_a_group_size_out_of_reach_is_told_in_persons_where_persons_have_several_rows(run, place):
    place.job(
        ('person  = "identifying"', 'person  = { role = "identifying", rows_per_person = 4 }'), ("k = 5", "k = 60")
    )
    ran = run("check", "job.toml")
    assert ran.code == 2
    assert "240 rows (60 persons of up to 4 rows each)" in ran.out
    assert "k = 50 or less" in ran.out
