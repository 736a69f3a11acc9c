"""Field specifications of what a manifest holds: the options of a published column, and those of the release.

Options that a job has too are the job's fields, with what a manifest may hold of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reticent.catalogue.about_fields import ABOUT_ENTRY_FIELDS
from reticent.catalogue.fields import WEIGHTS_FIELD, Field
from reticent.catalogue.job_fields import COLUMN_FIELDS, INSENSITIVE, JOB_FIELDS, QUASI, RELEASE_FIELDS, SENSITIVE

README_EDITION = 2
"""The edition of READMEs that is written; those of releases of an earlier one are checked by the text that it had."""

COLUMN_ENTRY_FIELDS: Mapping[str, Field] = {
    "name": Field("text", "the name of the column", required=True),
    "role": replace(COLUMN_FIELDS["role"], choices=(QUASI, SENSITIVE, INSENSITIVE), aliases={}),
    "type": replace(
        COLUMN_FIELDS["type"], required=True, choices=("numeric", "date", "ordinal", "categorical", "carried"), roles=()
    ),
    "dtype": Field("dtype", "the data type that values are read back as", required=True, default="String"),
    "null": Field("flag", "whether values are missing", default=False, roles=(QUASI,)),
    "missing": replace(COLUMN_FIELDS["missing"], default=None),
    "order": COLUMN_FIELDS["order"],
    "hierarchy": Field("rows", "the rows of the hierarchy", roles=(QUASI, SENSITIVE)),
    "built": Field("anything", "how the hierarchy was built", roles=(QUASI,)),
    "domain": Field(
        "ends", "the least and the greatest value; empty where every label is `*`", roles=(QUASI, SENSITIVE)
    ),
    "declared": Field("flag", "whether the domain was declared", default=False, roles=(QUASI, SENSITIVE)),
    "values": Field("list", "the values of the column", each=Field("value"), roles=(QUASI,)),
    "bottom": COLUMN_FIELDS["bottom"],
    "top": COLUMN_FIELDS["top"],
    "round_to": COLUMN_FIELDS["round_to"],
    "format": COLUMN_FIELDS["format"],
    "rates": COLUMN_FIELDS["rates"],
    "labels": COLUMN_FIELDS["labels"],
}
"""The entry of a published column; each field stands in the entries of its `roles`, of all roles if it names none."""

MANIFEST_FIELDS: Mapping[str, Field] = {
    "jointly": replace(JOB_FIELDS["jointly"], required=True),
    "weights": WEIGHTS_FIELD,
    "seeded": Field("flag", "whether a seed was set, which who knows it can repeat", default=False),
    "rows_per_person": replace(
        COLUMN_FIELDS["rows_per_person"],
        default=1,
        least=2,
        refusal="no number of rows that a person may have",
    ),
    "formulas": replace(
        RELEASE_FIELDS["formulas"],
        doc="whether texts that a spreadsheet would take for formulas have an apostrophe before them, or are as they were",
        default=None,
        choices=("quote", "present"),
    ),
    "part_rows": replace(RELEASE_FIELDS["part_rows"], refusal="no number of rows that a part may have"),
    "about": Field("record", "what the publisher says of the release", fields=ABOUT_ENTRY_FIELDS),
    "readme": Field(
        "integer",
        "the edition of the text of README.md, which every version writes anew from the manifest",
        default=1,
        least=2,
        most=README_EDITION,
        refusal=f"no edition of a README that this version knows: {README_EDITION} is the last, and a newer one reads it",
    ),
}
"""Options of the release that its manifest states."""
