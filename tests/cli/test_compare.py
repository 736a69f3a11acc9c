"""`reticent compare` and `reticent advise`: what they print, what they write, what they refuse."""

from __future__ import annotations

import json
import os
import sys

import polars as pl
import pytest

from reticent.cli.compare import parse_sweeps
from reticent.errors import RequestError
from tests.support.command_line import CANARY

FAST = ("--attacks", "naive-bayes", "--no-classification")


def test_a_comparison_is_printed_and_nothing_is_written(run, place):
    before = sorted(os.listdir("."))
    ran = run("compare", "job.toml", "--methods", "mondrian,burel,anatomy", "--sweep", "beta=2..3", *FAST)
    assert ran.code == 0
    for word in (
        "mondrian beta=2",
        "burel beta=3",
        "columns apart",
        "k-anonymity",
        "naive-bayes",
        "count error",
        "nothing was published",
        "anatomy cannot keep k-anonymity.",
    ):
        assert word in ran.out
    assert CANARY not in ran.out + ran.err
    assert sorted(os.listdir(".")) == before


def test_a_comparison_is_one_object_a_csv_and_a_chart(run, place):
    pytest.importorskip("vl_convert", reason="needs the extra `charts`")
    ran = run("compare", "job.toml", *FAST, "--csv", "all.csv", "--chart", "all.svg", "--json")
    found = json.loads(ran.out)
    assert found["published"] is False
    assert pl.read_csv("all.csv")["name"].to_list() == [row["name"] for row in found["rows"]]
    assert (place / "all.svg").read_text().startswith("<svg")
    again = run("compare", "job.toml", *FAST, "--csv", "all.csv")
    assert again.code == 1 and "exists" in again.err
    assert run("compare", "job.toml", *FAST, "--csv", "all.csv", "--force").code == 0


def test_a_file_of_another_tool_stands_beside(run, place):
    run("publish", "job.toml", "-o", "release")
    pl.read_parquet("release/data.parquet").write_csv("theirs.csv")
    found = json.loads(run("compare", "job.toml", *FAST, "--beside", "theirs=theirs.csv", "--json").out)
    assert (found["rows"][0]["name"], found["rows"][0]["role"]) == ("theirs", "table")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--sweep", "gamma=1..3"), "gamma"),
        (("--sweep", "beta"), "names a parameter"),
        (("--sweep", "beta=5..1"), "goes up"),
        (("--sweep", "beta=1..x"), "first and a last"),
        (("--methods", "mondrian,bruel"), "bruel"),
        (("--attacks", "witchcraft"), "witchcraft"),
        (("--runs", "0"), "1 run"),
        (("--csv", "release/all.csv"), "release folder"),
        (("--chart", "all.png"), "SVG"),
        (("--chart", "all.svg", "--attacks", "none"), "no attack is to be tried"),
        (("--csv", "one.svg", "--chart", "one.svg"), "one file"),
        (("--beside", "theirs"), "a table and its file"),
        (("--beside", "theirs=absent.csv"), "no file"),
    ],
)
def test_bad_input_writes_nothing(run, place, words, says):
    run("publish", "job.toml", "-o", "release")
    before = sorted(os.listdir("."))
    ran = run("compare", "job.toml", *FAST, *words)
    assert ran.code == 1 and says in ran.err and "Traceback" not in ran.err
    assert sorted(os.listdir(".")) == before and not (place / "release" / "all.csv").exists()


def test_a_chart_that_cannot_be_drawn_is_refused_before_anything_is_measured(run, place, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    ran = run("compare", "job.toml", *FAST, "--chart", "all.svg")
    assert ran.code == 1 and "reticent[charts]" in ran.err and "reading" not in ran.err


def test_advice_is_given_with_its_measurements(run, place):
    ran = run("advise", "job.toml", "--for", "counts", "--runs", "2", "--methods", "mondrian,burel")
    assert ran.code == 0
    for word in ("For counts take mondrian", "columns apart", "gives up"):
        assert word in ran.out
    assert CANARY not in ran.out + ran.err
    words = ("advise", "job.toml", "--for", "sharing-rows", "--runs", "1", "--methods", "mondrian", "--json")
    found = json.loads(run(*words).out)
    assert found["best"] == "mondrian" and found["purpose"] == "sharing-rows"
    assert run("advise", "job.toml", "--for", "fame").code == 1


def test_values_of_a_sweep_are_exact():
    found = parse_sweeps(["t=0.1..0.3..0.1", "k=2,5", "cuts=loss,median", "enhanced=true,false"])
    assert [str(one) for one in found["t"]] == ["1/10", "1/5", "3/10"]
    assert found["k"] == [2, 5] and found["cuts"] == ["loss", "median"] and found["enhanced"] == [True, False]
    with pytest.raises(RequestError, match="swept twice"):
        parse_sweeps(["k=1", "k=2"])
