"""Sources: files and frames of any common make, and messages without a value of theirs."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from reticent.data.columns import insensitive, quasi, resolve_columns, sensitive
from reticent.data.source import Source, collect_frame, open_source, scan_source
from reticent.errors import ColumnError, ReticentError, SourceError

CANARY = "CANARY-7391"
ROWS = pl.DataFrame({"age": ["20", "31"], "job": ["clerk, senior", None]})


def read(source: Source, frame=None) -> pl.DataFrame:
    return collect_frame(scan_source(source, frame), "Reading")


@pytest.fixture
def put(tmp_path):
    def write(content: bytes | str, name: str = "data.csv") -> str:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_of_a_csv_is_sniffed_and_quotes_are_read(put, mark):
    path = put(f'age{mark}job\n20{mark}"clerk, senior"\n31{mark}\n')
    assert read(Source(path=path)).equals(ROWS) and open_source(Source(path=path)).names == ["age", "job"]


def test_a_tsv_has_tabs_and_other_marks_are_declared(put):
    assert read(Source(path=put("age\tjob\n20\tclerk, senior\n31\t\n", "data.tsv"))).equals(ROWS)
    path = put("age:job\n20:'clerk, senior'\n31:\n")
    assert read(Source(path=path, delimiter=":", quote="'")).equals(ROWS)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "utf-16"])
def test_encodings_are_declared(put, encoding):
    path = put("größe,stadt\n1,Köln\n".encode(encoding))
    source = Source(path=path, encoding=encoding, delimiter=",")
    assert read(source).rows() == [("1", "Köln")]
    if encoding != "utf-16":
        assert open_source(source).names == ["größe", "stadt"]


def test_a_byte_order_mark_is_no_part_of_a_name(put):
    source = Source(path=put("\ufeffage,job\n1,a\n"))
    assert open_source(source).names == ["age", "job"] and read(source).columns == ["age", "job"]


def test_line_ends_of_any_system_are_read(put):
    for end in ("\n", "\r\n"):
        source = Source(path=put(f"age,job{end}1,a{end}2,b"))
        assert read(source).rows() == [("1", "a"), ("2", "b")] and open_source(source).names == ["age", "job"]


def test_numbers_of_a_csv_stay_as_they_are_written(put):
    assert read(Source(path=put("zip,x\n01234,1.50\n"))).rows() == [("01234", "1.50")]


def test_texts_that_mean_missing_are_null_in_every_text_column(put):
    path = put("a,b\n?,NA\nx,?\n")
    assert read(Source(path=path, missing=("?", "NA"))).rows() == [(None, None), ("x", None)]
    assert read(Source(path=path, missing="?")).rows() == [(None, "NA"), ("x", None)]
    frame = pl.DataFrame({"a": ["?", "x"], "n": [1, 2], "c": pl.Series(["?", "y"], dtype=pl.Categorical)})
    assert read(Source(missing=["?"]), frame).rows() == [(None, 1, None), ("x", 2, "y")]


def test_an_empty_field_is_missing_unless_it_is_quoted_or_declared_a_value(put):
    path = put('a,b\n,1\n"",2\n')
    assert read(Source(path=path))["a"].to_list() == [None, ""]
    assert read(Source(path=path, empty="value"))["a"].to_list() == ["", ""]


@pytest.mark.parametrize("suffix", [".parquet", ".pq", ".arrow", ".feather", ".ipc"])
def test_typed_files_keep_their_types(tmp_path, suffix):
    frame = pl.DataFrame(
        {"n": [1, None], "f": [0.5, 1.5], "d": pl.Series([0, 1], dtype=pl.Int32).cast(pl.Date), "s": ["a", None]}
    )
    path = tmp_path / f"data{suffix}"
    frame.write_parquet(path) if suffix in (".parquet", ".pq") else frame.write_ipc(path)
    source = Source(path=str(path))
    assert read(source).equals(frame) and open_source(source).names == frame.columns
    assert read(source).schema == frame.schema


@pytest.mark.parametrize("made", [lambda t: t, lambda t: t.lazy(), lambda t: t.to_arrow(), lambda t: t.to_pandas()])
def test_frames_of_any_make_are_read_alike(made):
    frame = pl.DataFrame({"n": [1, 2], "s": ["a", None], "d": pl.Series([0, 1], dtype=pl.Int32).cast(pl.Date)})
    given = made(frame)
    found = read(Source(), given)
    assert found["n"].to_list() == [1, 2] and found["s"].to_list() == ["a", None]
    assert open_source(Source(), given).names == ["n", "s", "d"]


def test_an_index_of_pandas_is_no_column():
    frame = pd.DataFrame({"a": [1, 2]}, index=["x", "y"])
    assert read(Source(), frame).columns == ["a"]


def test_missing_in_pandas_is_missing():
    frame = pd.DataFrame({"n": [1.0, np.nan], "s": ["a", None], "i": pd.array([1, None], dtype="Int64")})
    assert read(Source(), frame)["s"].to_list() == ["a", None] and read(Source(), frame)["i"].to_list() == [1, None]


def test_a_category_of_pandas_is_its_text():
    frame = pd.DataFrame({"c": pd.Categorical(["b", "a"])})
    assert read(Source(), frame)["c"].cast(pl.String).to_list() == ["b", "a"]


def test_repeated_columns_are_named_and_refused(put):
    source = Source(path=put("age,job,age\n1,a,2\n"))
    assert open_source(source).names == ["age", "job", "age"]
    with pytest.raises(ColumnError, match="'age'"):
        resolve_columns({"age": quasi(), "job": sensitive()}, open_source(source).names)


BAD = [
    ("none", None, {}, "no file"),
    ("empty.csv", b"", {}, "is empty"),
    ("data.xyz", b"a\n1\n", {}, "not known"),
    ("data.parquet", b"PAR1" + CANARY.encode(), {}, "cannot be read"),
    ("data.arrow", CANARY.encode(), {}, "cannot be read"),
    ("data.csv", f"a,b\n1,2\n{CANARY},2,3,4\n".encode(), {}, "Line 3"),
    ("data.csv", f"a,b\n{CANARY}".encode() + b"\xff\xfe,1\n", {}, "not UTF-8"),
    ("data.csv", f"a,b\n{CANARY}".encode() + b"\x81,1\n", {"encoding": "cp1252"}, "is not cp1252"),
    ("data.csv", b"a\n1\n", {"encoding": "klingon"}, "Unknown encoding"),
    ("data.csv", b"a\n1\n", {"missing": 5}, "list of texts"),
    ("data.csv", b"a\n1\n", {"empty": "null"}, "not known"),
]


@pytest.mark.parametrize(("name", "content", "how", "said"), BAD)
def test_what_cannot_be_read_is_refused_without_quoting_it(put, tmp_path, name, content, how, said):
    path = str(tmp_path / name) if content is None else put(content, name)
    with pytest.raises(SourceError, match=said) as caught:
        read(Source(path=path, **how))
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1, CANARY, {}]}),
        pd.DataFrame({"a": [object()]}),
        [1, 2],
        {"a": [CANARY]},
        np.zeros(3),
    ],
)
def test_frames_that_are_none_are_refused_without_quoting_them(frame):
    with pytest.raises(ReticentError) as caught:
        read(Source(), frame)
    assert CANARY not in str(caught.value)


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(SourceError, match="is a folder"):
        scan_source(Source(path=str(tmp_path)))


def test_a_job_without_a_source_says_so():
    with pytest.raises(SourceError, match="names no source"):
        scan_source(Source())


def test_a_header_alone_has_columns_and_no_rows(put):
    source = Source(path=put("a,b\n"))
    assert read(source).shape == (0, 2) and open_source(source).names == ["a", "b"]


def test_undeclared_columns_are_refused_or_dropped_never_kept():
    declared = {"a": quasi(), "x_*": insensitive()}
    with pytest.raises(ColumnError, match="The data has 1 column without a role: 'z'"):
        resolve_columns(declared, ["a", "x_1", "x_2", "z"])
    assert list(resolve_columns(declared, ["a", "x_1", "x_2", "z"], "drop")) == ["a", "x_1", "x_2"]
    with pytest.raises(ColumnError, match="'a' instead"):
        resolve_columns({"aa": quasi(), "b": quasi()}, ["a", "b"])


def test_an_exact_name_is_stronger_than_a_pattern():
    found = resolve_columns({"x_*": insensitive(), "x_1": quasi()}, ["x_1", "x_2"])
    assert found["x_1"].role == "quasi-identifying" and found["x_2"].role == "insensitive"
    assert resolve_columns({"a*b": quasi()}, ["a*b"])["a*b"].role == "quasi-identifying"


def test_a_source_is_a_plain_value():
    source = Source(path="x.csv", missing=["?"])
    assert pickle.loads(pickle.dumps(source)) == source and source.missing == ("?",)


def test_arrow_tables_keep_their_names_and_nulls():
    table = pa.table({"a": pa.array([1, None]), "b": pa.array(["x", None]).dictionary_encode()})
    assert open_source(Source(), table).names == ["a", "b"] and read(Source(), table)["b"].cast(
        pl.String
    ).to_list() == [
        "x",
        None,
    ]


def test_what_of_pyarrow_is_no_table_is_refused_by_its_type():
    table = pa.table({"q": [1, 2], "s": ["a", "b"]})
    for frame in (table.to_reader(), table.column("q"), table.column("q").chunk(0)):
        with pytest.raises(SourceError, match=f"type '{type(frame).__name__}' is not supported"):
            scan_source(Source(), frame)
