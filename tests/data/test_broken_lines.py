"""Broken lines of a CSV are listed all at once, and set aside where the source says so."""

from __future__ import annotations

import csv
import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.data import broken_lines
from reticent.data.broken_lines import (
    MAX_STORED_LINES,
    find_broken_lines,
    read_broken_lines,
    require_few_broken_lines,
    require_no_broken_lines,
)
from reticent.data.source import Source, collect_frame, list_broken_lines, scan_source
from reticent.errors import SourceError

HEADER = "a,b,c\n"
FAULTS = {
    "two fields": ("1,2\n", "too few fields"),
    "four fields": ("1,2,3,4\n", "too many fields"),
    "nothing": ("\n", "blank"),
    "an open quote": ('1,"2,3\n', "a quote that is not closed"),
    "a stray quote": ('1,2",3\n', "a quote that is not closed"),
    "a stray quote at the end": ('1,2,5" pipe\n', "a quote that is not closed"),
}


def write(path, *lines: str, rows: int = 40):
    """Write a file of so many good rows with the lines spread among them; line numbers of these are returned."""
    text = [HEADER, *(f"{row},x,y\n" for row in range(rows))]
    numbers = []
    for index, line in enumerate(lines):
        place = 3 + 5 * index
        text.insert(place, line)
        numbers.append(place + 1)
    path.write_text("".join(text), newline="")
    return numbers


def read(path, **options):
    return collect_frame(scan_source(Source(path=str(path), **options)), "Reading")


@pytest.mark.parametrize("name", FAULTS)
def test_one_broken_line_is_refused_by_its_number_and_set_aside_alone(tmp_path, name):
    line, fault = FAULTS[name]
    path = tmp_path / "t.csv"
    (number,) = write(path, line)
    with pytest.raises(SourceError, match=rf"[Ll]ine {number}|lines? {number}") as refused:
        read(path)
    assert 'broken = "set-aside"' in str(refused.value)
    assert read(path, broken="set-aside")["a"].to_list() == [str(row) for row in range(40)]
    (broken,) = list_broken_lines(Source(path=str(path), broken="set-aside"))
    assert [(entry.number, entry.fault) for entry in broken.lines] == [(number, fault)]
    assert read_broken_lines([broken], "utf-8").decode() == HEADER + line


def test_all_broken_lines_are_listed_at_once_with_what_is_wrong_and_no_value(tmp_path):
    path = tmp_path / "t.csv"
    numbers = write(path, "secret,2\n", "1,secret,3,4\n", 'secret,"2,3\n', "secret,2\n", "\n", rows=80)
    with pytest.raises(SourceError) as refused:
        read(path)
    message = str(refused.value)
    assert "5 lines are broken in t.csv, where the header has 3 fields" in message
    assert f"too few fields, lines {numbers[0]}, {numbers[3]};" in message
    assert f"too many fields, line {numbers[1]};" in message
    assert f"a quote that is not closed, line {numbers[2]}" in message
    assert f"blank, line {numbers[4]}" in message
    assert "secret" not in message


def test_ten_lines_of_a_fault_are_shown_and_the_others_counted(tmp_path):
    path = tmp_path / "t.csv"
    write(path, *["1,2\n"] * 13, rows=200)
    with pytest.raises(SourceError, match=r"13 lines are broken .* lines 4, 9, .* and 3 more"):
        read(path)


def test_an_open_quote_does_not_swallow_the_people_below_it(tmp_path):
    path = tmp_path / "t.csv"
    write(path, '1,"2,3\n', '"4,5",6,7\n', '8,"9\n9",10\n', rows=60)
    rows = read(path, broken="set-aside")
    assert len(rows) == 62
    assert rows.filter(rows["a"] == "4,5").height == 1
    assert rows.filter(rows["b"] == "9\n9").height == 1


def test_a_record_of_several_lines_with_too_many_fields_is_set_aside_whole(tmp_path):
    path = tmp_path / "t.csv"
    record = '1,"2\n7,8,9\n",3,4\n'
    write(path, record)
    rows = read(path, broken="set-aside")
    assert len(rows) == 40 and "7" not in rows.filter(rows["b"] == "8")["a"].to_list()
    broken = find_broken_lines(path, ",", '"')
    assert read_broken_lines([broken], "utf-8").decode() == HEADER + record


@pytest.mark.parametrize(("lines", "rows"), [(12, 100), (5, 4)])
def test_too_many_broken_lines_are_not_set_aside(tmp_path, lines, rows):
    path = tmp_path / "t.csv"
    text = [HEADER, *(f"{row},x,y\n" for row in range(rows)), *["1\n"] * lines]
    path.write_text("".join(text))
    with pytest.raises(SourceError, match="too many to be set aside"):
        read(path, broken="set-aside")


def test_more_lines_than_are_stored_are_not_set_aside(tmp_path):
    path = tmp_path / "t.csv"
    write(path, *["1,2\n"] * (MAX_STORED_LINES + 5), rows=200)
    broken = find_broken_lines(path, ",", '"')
    assert broken.count == MAX_STORED_LINES + 1 and len(broken.lines) == MAX_STORED_LINES  # it is read no further
    with pytest.raises(SourceError, match=r"More than 100,000 lines are broken .* at most so many are set aside"):
        require_few_broken_lines(broken)
    with pytest.raises(SourceError, match="More than 100,000 lines are broken"):
        require_no_broken_lines(broken)


def test_other_encodings_and_compressed_files_are_set_aside_from_too(tmp_path):
    text = "a;b\nü;1\nß\nö;2\n"
    latin = tmp_path / "latin.csv"
    latin.write_bytes(text.encode("latin-1"))
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    for path, encoding in ((latin, "latin-1"), (packed, "utf-8")):
        assert read(path, encoding=encoding, broken="set-aside").rows() == [("ü", "1"), ("ö", "2")]
        broken = list_broken_lines(Source(path=str(path), encoding=encoding, broken="set-aside"))
        assert read_broken_lines(broken, encoding).decode() == "a;b\nß\n"


def test_a_good_file_is_read_line_by_line_never(tmp_path, monkeypatch):
    monkeypatch.setattr(broken_lines, "_RecordReader", None)
    path = tmp_path / "t.csv"
    write(path)
    assert len(read(path, broken="set-aside")) == 40


def test_a_folder_of_files_sets_aside_from_each(tmp_path):
    for name in ("one", "two"):
        write(tmp_path / f"{name}.csv", "1,2\n", rows=30)
    assert len(read(tmp_path / "*.csv", broken="set-aside")) == 60
    broken = list_broken_lines(Source(path=str(tmp_path / "*.csv"), broken="set-aside"))
    assert read_broken_lines(broken, "utf-8").decode() == HEADER + "1,2\n" * 2


def test_an_unknown_word_for_broken_is_refused():
    with pytest.raises(SourceError, match="broken = 'skip' is not known"):
        Source(path="x.csv", broken="skip")


GOOD_FIELD = st.text('ab1 ,"\n', max_size=5)
BROKEN_LINE = st.one_of(
    st.lists(st.sampled_from("xyz"), min_size=1, max_size=2).map(",".join),
    st.lists(st.sampled_from("xyz"), min_size=4, max_size=6).map(",".join),
    st.just(""),
    st.tuples(st.sampled_from("xyz"), st.sampled_from("xyz")).map(lambda pair: f'{pair[0]},{pair[1]}" ,1'),
)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.one_of(st.lists(GOOD_FIELD, min_size=3, max_size=3), BROKEN_LINE), max_size=12),
    st.integers(1, 40),
    st.booleans(),
)
def test_rows_between_broken_lines_are_those_that_were_written(tmp_path_factory, entries, chunk_bytes, ends):
    """The oracle writes every good row by Python's own writer, and knows which lines it broke."""
    good = [entry for entry in entries if isinstance(entry, list)]
    parts = []
    for entry in entries:
        text = io.StringIO()
        if isinstance(entry, list):
            csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_MINIMAL).writerow(entry)
        parts.append(text.getvalue() if isinstance(entry, list) else entry + "\n")
    body = HEADER + "".join(parts)
    path = tmp_path_factory.mktemp("fuzz") / "t.csv"
    path.write_text(body if ends else body.removesuffix("\n"), newline="")
    broken = find_broken_lines(path, ",", '"', chunk_bytes=chunk_bytes)
    lost_blank = not ends and parts and parts[-1] == "\n"  # a blank line at the end without its line end is none
    assert broken.count == len(entries) - len(good) - bool(lost_blank)
    if broken.count * 2 > broken.records or not good:
        return
    rows = read(path, broken="set-aside", empty="value")
    assert [list(row) for row in rows.rows()] == good
