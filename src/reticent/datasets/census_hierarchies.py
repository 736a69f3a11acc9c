"""Hierarchies over the census's categorical attributes.

Marital status of height 2 and work class of height 3 are those of table 3 of paper 1; gender, race, birthplace and
occupation are ours. A hierarchy is rows in ARX's layout: the leaf first, then its ancestors, `*` last.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reticent.datasets.census_population import BIRTHPLACES, GENDERS, OCCUPATIONS

HierarchyRows = list[list[str]]

MARITAL_STATUS = {
    "married": ("spouse present", "spouse absent"),
    "formerly married": ("separated", "divorced", "widowed"),
    "single": ("never married",),
}
WORK_CLASS: dict[str, dict[str, tuple[str, ...]]] = {
    "employed": {
        "private sector": ("private company", "private non-profit"),
        "public sector": ("local government", "state government", "federal government", "armed forces"),
    },
    "not employed": {
        "self-employed": ("own company", "own account"),
        "unpaid": ("family worker", "no recent work"),
    },
}
RACE = {
    "one race but not Asian": ("White", "Black", "American Indian", "other race"),
    "Asian or Pacific": ("Chinese", "Japanese", "other Asian or Pacific"),
    "several races": ("two races", "three or more races"),
}
OCCUPATION = {
    "managers and professionals": (
        "management", "business", "science and engineering", "health", "education and law",
    ),
    "service, sales and office": ("protection", "personal service", "sales", "office"),
    "manual work": ("farming and construction", "production and transport"),
}  # fmt: skip


def make_census_hierarchies() -> dict[str, HierarchyRows]:
    """Return the rows of each categorical attribute's hierarchy, in the order of its tree."""
    return {
        "gender": [[leaf, "*"] for leaf in GENDERS],
        "marital_status": [[leaf, group, "*"] for group, leaves in MARITAL_STATUS.items() for leaf in leaves],
        "work_class": [
            [leaf, sector, kind, "*"]
            for kind, sectors in WORK_CLASS.items()
            for sector, leaves in sectors.items()
            for leaf in leaves
        ],
        "race": [[leaf, group, "*"] for group, leaves in RACE.items() for leaf in leaves],
        "birthplace": [
            [place, division, country, "*"] for (country, division), places in BIRTHPLACES.items() for place in places
        ],
        "occupation": [
            [job.name, group, kind, "*"]
            for kind, groups in OCCUPATION.items()
            for group in groups
            for job in OCCUPATIONS
            if job.group == group
        ],
    }


def write_hierarchy_files(hierarchies: Mapping[str, HierarchyRows], folder: str | Path) -> list[Path]:
    """Save each hierarchy as `<attribute>.csv` in ARX's format: no header, `;` between levels."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, rows in hierarchies.items():
        path = folder / f"{name}.csv"
        path.write_text("".join(";".join(row) + "\n" for row in rows), encoding="utf-8", newline="\n")
        paths.append(path)
    return paths
