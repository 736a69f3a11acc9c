"""Formulas in CSV releases: said in the README, quoted on request, read back as they were, and understood by the audit."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.errors import JobError
from reticent.format.data_files import quote_formula_name, quote_formulas, unquote_formula_text
from reticent.release import bundle

ROWS = 24
TEXTS = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\tx", "\rx", "'=x", "''-y", "-5", "plain"]
KINDS = {
    "generalized": (None, rt.KAnonymity(2)),
    "anatomized": (rt.Anatomy(), rt.ProbabilisticLDiversity(2)),
    "perturbed": (rt.BetaPerturbation(), rt.BetaLikeness(4)),
    "transformed": (rt.Distribution(), rt.PPrivacy("uniform")),
    "sampled": (rt.PerturbedGeneralization(k=2), rt.DeltaGrowth(delta="0.9", lambda_="0.5")),
}


def table(texts=tuple(TEXTS)) -> pl.DataFrame:
    values = [texts[i % len(texts)] for i in range(ROWS)]
    return pl.DataFrame({"q": [i % 6 for i in range(ROWS)], "=s": values, "+q": values[::-1]})


def published(kind: str, people: pl.DataFrame, **how) -> rt.Release:
    method, promise = KINDS[kind]
    columns = {"q": rt.quasi(numeric=True), "=s": rt.sensitive(domain=[*TEXTS, "=another"]), "+q": rt.quasi()}
    job = rt.Job(columns=columns, promises=[promise], method=method, release=rt.Output(format="csv", **how))
    return rt.publish(job, frame=people)


def fields(release: rt.Release) -> list[str]:
    """Every field of every CSV, as a spreadsheet would read it."""
    found = []
    for name in release.manifest.data:
        raw = pl.read_csv(release.folder / name, has_header=False, infer_schema=False)
        found += [text for column in raw for text in column.drop_nulls().to_list()]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_quoted_formulas_are_text_to_a_spreadsheet_and_themselves_to_us(kind):
    people = table()
    release = published(kind, people, formulas="quote")
    for text in fields(release):
        assert text[0] not in "=+@\t\r" and (text[0] != "-" or text == "-5")
    assert "apostrophe" in (release.folder / "README.md").read_text()
    published_texts = [frame["=s"] for frame in release.tables.values() if "=s" in frame.columns]
    assert all(set(texts) <= set(TEXTS) for texts in published_texts)
    assert rt.audit(release.folder, source=people).kept is not False
    assert rt.open(release.folder).frame().columns[:1] == ["q"]


@pytest.mark.parametrize("kind", KINDS)
def test_formulas_that_are_published_as_they_are_are_said_and_never_quoted_in_the_readme(kind):
    release = published(kind, table())
    said = (release.folder / "README.md").read_text()
    assert "may\nrun them" in said
    assert "cmd" not in said and "SUM(" not in said.replace("_", "")
    assert rt.audit(release.folder, source=table()).kept is not False


def test_where_nothing_looks_like_a_formula_nothing_is_said():
    people = table(("-5", "a", "b", "c")).rename({"=s": "s", "+q": "r"})
    columns = {"q": rt.quasi(numeric=True), "s": rt.sensitive(), "r": rt.quasi()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(2)], release=rt.Output(format="csv"))
    release = rt.publish(job, frame=people)
    assert release.manifest.formulas is None
    assert "formulas" not in (release.folder / "README.md").read_text()


def test_a_warning_about_formulas_that_was_taken_away_is_found():
    release = published("generalized", table())
    stated = {name: value for name, value in release.manifest.to_dict().items() if name not in ("formulas", "files")}
    manifest = bundle.parse_manifest({**stated, "files": release.manifest.to_dict()["files"]})
    (release.folder / "README.md").write_text(bundle.reader_for("generalized").readme(manifest), encoding="utf-8")
    bundle.seal_folder(release.folder, stated)
    assert rt.audit(release.folder, source=table()).kept is False


def test_quoting_is_for_csv():
    with pytest.raises(JobError, match="for CSV files"):
        rt.Output(formulas="quote")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(alphabet="'=+-@\t\r1a. ", max_size=5), min_size=1))
def test_what_was_quoted_reads_back_and_is_no_formula(texts):
    held = pl.DataFrame({"=a": texts})
    written = quote_formulas(held)
    assert not any(text[:1] in list("=@\t\r") for text in written.to_series())
    assert all(math.isfinite(float(text)) for text in written.to_series() if text[:1] in ("+", "-"))  # -5 is a number
    assert written.columns == [quote_formula_name("=a")] == ["'=a"]
    back = written.select(unquote_formula_text(pl.col("'=a")))
    assert back.to_series().to_list() == texts
