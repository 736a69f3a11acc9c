"""CSV rows of another width than the header are refused with their line, wherever quotes and line ends stand."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.data.broken_lines import find_broken_lines
from reticent.data.source import Source, collect_frame, scan_source
from reticent.errors import SourceError

HEAD = "a,b,c\n"
REFUSED = {
    "short": (HEAD + "1,2,3\n1,2\n4,5,6\n", 3, 2),
    "long": (HEAD + "1,2,3\n1,2,3,4\n", 3, 4),
    "a blank line": (HEAD + "1,2,3\n\n4,5,6\n", 3, 0),
    "a blank line at the end": (HEAD + "1,2,3\n\n", 3, 0),
    "short after a quoted line end": (HEAD + '1,"2\n2",3\n1,2\n', 4, 2),
    "short without a line end": (HEAD + "1,2,3\n1,2", 3, 2),
    "short under Windows' line ends": ("a,b,c\r\n1,2,3\r\n1,2\r\n", 3, 2),
    "short beside a quoted mark": (HEAD + '"1,1",2\n', 2, 2),
}
READ = {
    "empty last fields": (HEAD + "1,2,\n,,\n", 2),
    "quoted marks and line ends": (HEAD + '"1,1","2\n2","3""3"\n', 1),
    "one column with an empty line": ("a\n1\n\n2\n", 3),
    "no line end at the end": (HEAD + "1,2,3", 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_row_of_another_width_is_refused_with_its_line(tmp_path, name):
    text, line, fields = REFUSED[name]
    (tmp_path / "t.csv").write_bytes(text.encode())
    with pytest.raises(SourceError, match=rf"Line {line} of t.csv has {fields} fields?, the header has 3"):
        collect_frame(scan_source(Source(path=str(tmp_path / "t.csv"))), "Reading")


@pytest.mark.parametrize("name", READ)
def test_a_row_of_the_headers_width_is_read(tmp_path, name):
    text, rows = READ[name]
    (tmp_path / "t.csv").write_bytes(text.encode())
    assert len(collect_frame(scan_source(Source(path=str(tmp_path / "t.csv"))), "Reading")) == rows


def test_other_encodings_delimiters_and_quotes_are_counted_too(tmp_path):
    (tmp_path / "t.csv").write_bytes("a|b\n'ü|ü'|2\nü\n".encode("latin-1"))
    with pytest.raises(SourceError, match="Line 3"):
        scan_source(Source(path=str(tmp_path / "t.csv"), delimiter="|", quote="'", encoding="latin-1"))


FIELD = st.text('ab,\n" ', max_size=4)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.lists(FIELD, min_size=2, max_size=3), min_size=1, max_size=6), st.integers(1, 9))
def test_exactly_the_files_whose_records_are_equally_wide_pass(tmp_path_factory, rows, at_once):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_MINIMAL).writerows([["x", "y"], *rows])
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text(text.getvalue(), newline="")
    broken = find_broken_lines(path, ",", '"', chunk_bytes=at_once)
    assert broken.count == sum(len(row) != 2 for row in rows)
