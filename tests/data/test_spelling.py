"""Values that differ in case, spaces or Unicode form alone are named, and their texts stay with the owner."""

from __future__ import annotations

import json

import polars as pl
import pytest

import reticent as rt
from reticent.check import check
from reticent.data.spelling import describe_variants, find_variants, fold_spelling
from reticent.errors import HierarchyError

ALIKE = ["HIV", "hiv", "HIV ", " Hiv", "\uff28\uff29\uff36", "HIV\u00a0", "H\u200bIV"]


@pytest.mark.parametrize("text", ALIKE)
def test_case_spaces_and_unicode_form_do_not_tell_values_apart(text):
    assert fold_spelling(text) == "hiv"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("stra\u00dfe", "STRASSE"),
        ("e\u0301cole", "\u00c9COLE"),
        ("type  2\tdiabetes", "Type 2 diabetes"),
        ("\ufb02u", "FLU"),
        ("caf\u00e9 ", "CAFE\u0301"),
    ],
)
def test_composed_folded_and_spaced_forms_are_one_spelling(one, other):
    assert find_variants([one, other]) == [[one, other]]


def test_values_that_say_something_else_stay_apart():
    assert find_variants(["HIV", "HIV+", "HPV", "H IV", "1", "01", None, "", "-"]) == []


def test_groups_of_spellings_are_in_the_order_they_occur_and_nulls_and_repeats_do_not_count():
    assert find_variants(["a", "B", None, "b", "a", "c", "A", "B "]) == [["a", "A"], ["B", "b", "B "]]


def test_the_notice_names_the_column_and_the_numbers_and_no_value():
    said = describe_variants("illness", ["HIV", "hiv", "flu", "Flu ", "cold"])
    assert "'illness'" in said and "4 values" in said and "2 groups" in said
    assert "hiv" not in said.lower().replace("'illness'", "") and "flu" not in said
    assert describe_variants("illness", ["HIV", "flu", None, 7]) is None


def table() -> pl.DataFrame:
    illness = ["HIV", "hiv", "HIV ", "flu"] * 10
    return pl.DataFrame({"age": [20 + i // 4 for i in range(40)], "town": ["Ulm", "ulm"] * 20, "illness": illness})


def job(**more) -> rt.Job:
    columns = {"age": rt.quasi(numeric=True), "town": rt.quasi(), "illness": rt.sensitive(), **more}
    return rt.Job(source=rt.Source(), columns=columns, promises=[rt.DistinctLDiversity(4)])


def test_publishing_tells_the_owner_which_columns_hold_one_value_in_several_spellings():
    release = rt.publish(job(), frame=table())
    assert [notice.split(":")[0] for notice in release.notices] == ["Column 'town'", "Column 'illness'"]
    assert "3 values are equal up to case" in release.notices[1]
    assert rt.publish(job(), frame=table().with_columns(town=pl.lit("Ulm"), illness="age")).notices == ()


def test_checking_tells_them_too_and_their_texts_only_on_request():
    found = check(job(), frame=table(), methods=[])
    assert sum("spaces or Unicode form" in warning for warning in found.warnings) == 2
    assert "HIV" not in json.dumps(found.to_dict(), default=str)
    shown = found.to_dict(show_values=True)["spellings"]
    assert shown[1]["values"] == [["HIV", "HIV ", "hiv"]] and shown[1]["groups"] == 1


def test_labels_of_a_hierarchy_that_are_spelled_alike_are_named():
    rows = [["Ulm", "south", "*"], ["ulm", "South", "*"], ["Kiel", "north", "*"]]
    found = check(job(town=rt.quasi(hierarchy=rows)), frame=table(), methods=[])
    assert [(one.column, one.what, one.groups) for one in found.spellings[:2]] == [
        ("town", "values", (("Ulm", "ulm"),)),
        ("town", "labels of its hierarchy", (("south", "South"),)),
    ]


def test_a_value_without_a_rule_is_said_to_be_a_leaf_but_for_its_spelling():
    rows = [["Ulm ", "south", "*"], ["Kiel", "north", "*"]]
    with pytest.raises(HierarchyError, match=r"no rule for 2 of .*\n.*2 of them are a leaf up to case, spaces"):
        rt.publish(job(town=rt.quasi(hierarchy=rows)), frame=table())


def test_numbers_and_dates_have_no_spelling():
    frame = table().with_columns(illness=pl.Series([1, 2, 3, 4] * 10))
    release = rt.publish(job(town=rt.insensitive()), frame=frame)
    assert release.notices == ()
