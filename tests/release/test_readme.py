"""README.md says of rows and persons what the job declares, in every kind of release."""

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.methods.anatomy import Anatomy
from reticent.methods.beta_perturbation import BetaPerturbation
from reticent.methods.mondrian import Mondrian
from reticent.release.readme import render_page

KINDS = {
    "generalized": (Mondrian(), rt.KAnonymity(2)),
    "anatomized": (Anatomy(), rt.ProbabilisticLDiversity(2)),
    "perturbed": (BetaPerturbation(), rt.BetaLikeness(1)),
}


def said(kind: str, rows_per_person: int | None) -> str:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "person": [at // 2 for at in range(120)] if rows_per_person else range(120),
            "age": rng.integers(20, 60, 120),
            "illness": rng.choice(["flu", "cold", "gout", "acne"], 120),
        }
    )
    columns = {
        "person": rt.identifying(rows_per_person=rows_per_person),
        "age": rt.quasi(),
        "illness": rt.sensitive(),
    }
    method, promise = KINDS[kind]
    release = rt.publish(rt.Job(columns=columns, promises=[promise], method=method), frame=frame, seed=1)
    assert release.kind == kind
    return (release.folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_how_many_rows_a_person_may_have(kind):
    text = said(kind, 2)
    assert "one row per person" not in text
    assert text.count("at most 2 rows per person") == 2, "what the data holds, and what the promise assumes"


@pytest.mark.parametrize("kind", ["anatomized", "perturbed"])
def test_it_says_that_several_rows_of_a_person_are_protected_each_alone(kind):
    assert "A person with several rows is protected in each row alone" in said(kind, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_one_row_per_person_where_nothing_else_is_declared(kind):
    text = said(kind, None)
    assert text.count("one row per person") == 2
    assert "several rows" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_its_lines_outside_tables_end_before_column_120(kind):
    for line in said(kind, 2).splitlines():
        assert len(line) <= 120 or line.startswith("|"), line


def test_a_long_line_is_divided_between_words_and_never_in_code():
    named = "`" + " - ".join(["a name"] * 12) + "`"
    text = render_page([f"- Of {named} " + "much is said in a few words here, and more " * 3])
    assert named in text
    assert all(line.startswith(("- ", "  ")) for line in text.splitlines())
    assert all(len(line) <= 120 for line in text.splitlines())
    code = ["```", "x" * 50 + " " + "y" * 90, "```"]
    assert render_page(code) == "\n".join(code) + "\n"


def test_the_ends_of_ranges_are_told_of_columns_by_names_that_are_no_markup():
    frame = pl.DataFrame({"a`b": [30.5, 31.5] * 40, "<b>x": range(80), "illness": ["flu", "cold"] * 40})
    columns = {"a`b": rt.quasi(numeric=True), "<b>x": rt.quasi(numeric=True, labels="tight"), "illness": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(5)], method=Mondrian()), frame=frame, seed=1)
    text = (release.folder / "README.md").read_text(encoding="utf-8")
    told = [line for line in text.splitlines() if "ends of a range" in line]
    assert len(told) == 2
    assert not any("<b>" in line or "`" in line for line in told)
