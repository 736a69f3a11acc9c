"""Names that a column can have: any text that can be printed, told apart and asked for; others are refused by their place.

The engine takes `*` and `^...$` for patterns; a name of control characters cannot be shown to anybody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reticent.errors import ColumnError, some

LONGEST = 1_000
_UNPRINTED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def fault(name: str) -> str | None:
    """Why a name cannot be a published column's, or None."""
    if not name.strip():
        return "is empty"
    if len(name) > LONGEST:
        return f"has more than {LONGEST:,} characters"
    if _UNPRINTED.search(name):
        return "holds a control character"
    if name == "*" or (name.startswith("^") and name.endswith("$")):
        return "is a pattern"
    return None


def refuse_unusable(present: Sequence[str], used: Sequence[str]) -> None:
    """Refuse columns of the data that have a role and a name that no release can have; they are told by their place."""
    bad = [(present.index(name) + 1, why) for name in used if (why := fault(name))]
    if bad:
        place, why = bad[0]
        raise ColumnError(
            f"The name of column {place} of the data {why}; so it is with {len(bad)} of {some(len(used), 'column')}.",
            attempt="another name in the source and in the job.",
        )
