"""People's names among the labels that a manifest declares are found, and labels that are also values of dropped columns are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import reticent as rt
from tests.support.release_folders import resealed
from tests.support.value_types import KINDS

TOWNS = [
    ["Ulm", "south", "*"],
    ["Bonn", "west", "*"],
    ["Kiel", "north", "*"],
    ["Bremen", "north", "*"],
    ["Emden", "north", "*"],
]
ILLNESSES = [["flu", "airways", "*"], ["cold", "airways", "*"], ["gout", "other", "*"], ["mumps", "other", "*"]]


def make_people(rows: int = 200) -> pl.DataFrame:
    draw = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "name": [f"Anna Muster{n}" for n in range(rows)],
            "age": draw.integers(20, 60, rows),
            "town": draw.choice(["Ulm", "Bonn", "Kiel"], rows),
            "illness": draw.choice(["flu", "cold", "gout"], rows),
        }
    )


def publish(people: pl.DataFrame, kind: str = "generalized") -> rt.Release:
    method, promise = KINDS[kind]
    columns = {
        "age": rt.quasi(),
        "town": rt.quasi(hierarchy=TOWNS),
        "illness": rt.sensitive(hierarchy=ILLNESSES),
        **{name: rt.identifying() for name in people.columns if name not in ("age", "town", "illness")},
    }
    return rt.publish(rt.Job(columns=columns, promises=[promise], method=method), frame=people, seed=1)


def _column(stated: dict[str, Any], name: str) -> dict[str, Any]:
    return next(column for column in stated["columns"] if column["name"] == name)


def add_leaf(name: str):
    return lambda stated, text: _column(stated, name)["hierarchy"].append(
        [text, *_column(stated, name)["hierarchy"][0][1:]]
    )


def rename_parent(stated: dict[str, Any], text: str) -> None:
    """An inner label, above leaves that people have."""
    rows = _column(stated, "town")["hierarchy"]
    _column(stated, "town")["hierarchy"] = [[row[0], text if row[1] == "north" else row[1], *row[2:]] for row in rows]


PLACES = {"a town": add_leaf("town"), "an illness": add_leaf("illness"), "a parent": rename_parent}
TEXTS = {"a name": "Anna Muster7", "a name and more": "x (Anna Muster7, Ulm)"}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_name_among_the_labels_of_the_manifest_is_found(kind, place, text):
    people = make_people()
    release = publish(people, kind)
    resealed(release.folder, lambda stated: PLACES[place](stated, TEXTS[text]))
    try:
        found = rt.audit(release.folder, source=people)
    except rt.errors.BundleDamaged:  # a label that no row can have
        return
    assert found.kept is False
    assert ("name", "manifest.json") in {(leak.column, leak.file) for leak in found.source.leaks}


def test_a_surname_that_one_person_has_is_found_where_others_repeat():
    people = make_people(400)
    surnames = [f"Family {n % 60}" for n in range(399)] + ["Solitaire"]
    people = people.drop("name").with_columns(surname=pl.Series(surnames))
    release = publish(people)
    resealed(release.folder, lambda stated: PLACES["a town"](stated, "Solitaire"))
    found = rt.audit(release.folder, source=people)
    assert [(leak.column, leak.file, leak.values) for leak in found.source.leaks] == [("surname", "manifest.json", 1)]


def test_a_long_number_that_one_person_has_is_found():
    people = make_people().with_columns(insurance=pl.Series([str(718_000_000 + 977 * n) for n in range(200)]))
    release = publish(people)
    resealed(release.folder, lambda stated: PLACES["a town"](stated, "718000977"))
    assert rt.audit(release.folder, source=people).kept is False


HONEST = {
    "regions": lambda n: ["south", "west", "north"][n % 3],
    "towns of birth, some of them nobody's residence": lambda n: ["Ulm", "Bremen", "Emden", "Bonn"][n % 4],
    "towns of birth, one of them one person's": lambda n: "Emden" if n == 3 else ["Ulm", "Bonn"][n % 2],
    "further illnesses": lambda n: "mumps" if n == 5 else ["flu", "cold", None][n % 3],
    "words for anything": lambda n: "other" if n == 7 else f"occupation {n % 150}",
    "a copy of the towns": lambda n: None,
    "numbers of visits": lambda n: str(1000 + n),
    "letters": lambda n: "MF"[n % 2],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", HONEST)
def test_labels_that_dropped_columns_have_too_are_no_leak(what, kind):
    people = make_people()
    dropped = [HONEST[what](n) for n in range(len(people))]
    people = people.with_columns(beside=people["town"] if what == "a copy of the towns" else pl.Series(dropped))
    release = publish(people, kind)
    found = rt.audit(release.folder, source=people)
    assert found.kept is not False and not found.source.leaks, str(found)


def test_numbers_of_people_are_no_leak_in_a_hierarchy_of_as_many_digits():
    """Every postcode is declared, and people are numbered with as many digits."""
    rows = 300
    draw = np.random.default_rng(2)
    postcodes = [str(code) for code in range(1000, 3000)]
    people = pl.DataFrame(
        {
            "visit": [str(1500 + n) for n in range(rows)],
            "postcode": draw.choice(postcodes[:40], rows),
            "illness": draw.choice(["flu", "cold"], rows),
        }
    )
    columns = {
        "visit": rt.identifying(),
        "postcode": rt.quasi(type="categorical", hierarchy=[[code, code[:2], "*"] for code in postcodes]),
        "illness": rt.sensitive(),
    }
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(3)]), frame=people, seed=1)
    assert rt.audit(release.folder, source=people).kept is True


def test_a_small_table_with_dropped_regions_is_not_condemned():
    people = make_people(8).drop("name").with_columns(region=pl.Series(["south", "west", "north", "south"] * 2))
    release = publish(people)
    assert rt.audit(release.folder, source=people).kept is True
