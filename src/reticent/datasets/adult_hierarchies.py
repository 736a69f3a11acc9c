"""Small hierarchies over Adult's categorical columns, written for this project; rows in ARX's layout.

The text `?` has no row: read it as missing.
"""

from __future__ import annotations

from collections.abc import Mapping

Rows = list[list[str]]
Tree = Mapping[str, "Tree | str"]

WORKCLASS: Tree = {
    "employee": {"private": "Private", "government": "Federal-gov State-gov Local-gov"},
    "other": {"self-employed": "Self-emp-inc Self-emp-not-inc", "unpaid": "Without-pay Never-worked"},
}
EDUCATION: Tree = {
    "below high school diploma": {
        "primary": "Preschool 1st-4th 5th-6th 7th-8th",
        "some high school": "9th 10th 11th 12th",
    },
    "high school and college": {
        "high school diploma": "HS-grad",
        "some college or associate": "Some-college Assoc-voc Assoc-acdm",
    },
    "academic degree": {"first degree": "Bachelors", "higher degree": "Masters Prof-school Doctorate"},
}
MARITAL_STATUS: Tree = {
    "has a spouse": "Married-civ-spouse Married-AF-spouse Married-spouse-absent",
    "had a spouse": "Separated Divorced Widowed",
    "had no spouse": "Never-married",
}
OCCUPATION: Tree = {
    "white collar": "Exec-managerial Prof-specialty Tech-support Adm-clerical Sales",
    "blue collar": "Craft-repair Machine-op-inspct Transport-moving Handlers-cleaners Farming-fishing",
    "services": "Other-service Protective-serv Priv-house-serv Armed-Forces",
}
NATIVE_COUNTRY: Tree = {
    "the Americas": {
        "North America": "United-States Canada Outlying-US(Guam-USVI-etc)",
        "Mexico and Central America": "Mexico El-Salvador Guatemala Honduras Nicaragua",
        "the Caribbean": "Puerto-Rico Cuba Jamaica Dominican-Republic Haiti Trinadad&Tobago",
        "South America": "Columbia Ecuador Peru",
    },
    "Europe": {
        "western Europe": "England Scotland Ireland France Germany Holand-Netherlands",
        "southern and eastern Europe": "Italy Greece Portugal Poland Hungary Yugoslavia",
    },
    # The original abbreviates South Korea to `South` and Hong Kong to `Hong`.
    "Asia": {
        "east Asia": "China Taiwan Hong Japan South",
        "south-east Asia": "Philippines Vietnam Thailand Cambodia Laos",
        "south and west Asia": "India Iran",
    },
}


def rows(tree: Tree | str, *ancestors: str) -> Rows:
    """A tree whose last level is names with blanks between, as rows with the leaf first."""
    if isinstance(tree, str):
        return [[leaf, *ancestors] for leaf in tree.split()]
    return [row for label, below in tree.items() for row in rows(below, label, *ancestors)]


def adult_hierarchies() -> dict[str, Rows]:
    """For each categorical quasi-identifier its rows, in the order of its tree."""
    return {
        "workclass": rows(WORKCLASS, "*"),
        "education": rows(EDUCATION, "*"),
        "marital-status": rows(MARITAL_STATUS, "*"),
        "occupation": rows(OCCUPATION, "*"),
        "race": rows("White Black Asian-Pac-Islander Amer-Indian-Eskimo Other", "*"),
        "sex": rows("Female Male", "*"),
        "native-country": rows(NATIVE_COUNTRY, "*"),
    }
