"""No source, hierarchy or column name ends in a bug of ours; what is published all the same opens and passes its audit."""

from __future__ import annotations

import re

import pytest

import reticent as rt
from reticent.errors import RequestError
from tests.hostile.sources import CASES
from tests.support.hostile_cases import faults, run

MARKUP = re.compile(r"<script|!\[x\]|\]\(http|\x1b|^\|---\|$\n\|---\||\n\|---\|\n.*\|---\|", re.IGNORECASE)


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_source_is_refused_or_published_whole(name, tmp_path):
    case = CASES[name]
    ran = run(tmp_path, case)
    assert not faults(ran, case.expected), ran.err[:2_000]
    for words in case.says:
        assert words in ran.out + ran.err
    if ran.code == 0:
        release = rt.open(tmp_path / "out")
        if "lower end" not in name:
            release.frame(bounds=True)
        assert rt.audit(release.folder, source=str(tmp_path / "people.csv")).kept is not False
        assert not MARKUP.search((release.folder / "README.md").read_text())


def test_a_label_that_is_a_number_has_the_ends_of_its_node(tmp_path):
    assert run(tmp_path, CASES["a hierarchy of numbers whose labels are other numbers"]).code == 0
    held = rt.open(tmp_path / "out").frame(bounds=True)
    decades = held.filter(held["age"].str.contains(r"^\d$"))
    assert len(decades)
    assert (decades["age_lower"] == decades["age"].cast(int) * 10).all()
    assert (decades["age_upper"] == decades["age"].cast(int) * 10 + 9).all()


def test_bounds_beside_a_column_of_their_name_are_refused(tmp_path):
    assert run(tmp_path, CASES["a column called our own lower end, sensitive"]).code == 0
    with pytest.raises(RequestError, match="'age_lower'"):
        rt.open(tmp_path / "out").frame(bounds=True)
