"""A plain table that another tool made of the source, beside our candidates: measured as they are.

Its people cannot be held back any more: a learner is asked about the people whom the table is of, and the row says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reticent.attacks.plain import laid_over
from reticent.audit.audit import audit
from reticent.compare.measured import asked_of, attacked, audited
from reticent.compare.setting import Setting, spread
from reticent.door import place, table
from reticent.errors import RequestError
from reticent.job import Job
from reticent.utility.answering import of_sight
from reticent.utility.classification import Exam
from reticent.utility.rows import table_loss

TABLE = "table"
ASKED = "learned from the table of all people, and asked about them"
GIVES_UP = "what it says of itself is not known: it has no manifest"


def tables_given(given: Any) -> dict[str, Any]:
    """Tables by name, each a path or a frame."""
    if given is None:
        return {}
    return {str(name): place(one, f"tables[{name!r}]") for name, one in table(given, "tables").items()}


def of_tables(given: Mapping[str, Any], job: Job, setting: Setting, sampled: bool) -> list[dict[str, Any]]:
    if given and sampled:
        raise RequestError(
            "A table of another tool is of all rows, and a part of them is compared.", attempt="leaving rows out."
        )
    return [_of_table(name, one, job, setting) for name, one in given.items()]


def _of_table(name: str, given: Any, job: Job, setting: Setting) -> dict[str, Any]:
    setting.progress(f"{name}: measuring")
    rows, cells, _ = setting.coded(job)
    sight = laid_over(given, cells, job)
    found = audit(given, job=job).to_dict()
    row: dict[str, Any] = {
        "name": name,
        "role": TABLE,
        "gives_up": GIVES_UP,
        "reached": True,
        "why": "",
        **audited(found),
    }
    row |= attacked(given, setting, name, [promise.name for promise in job.promises], job=job)
    row |= asked_of([of_sight(sight)] * setting.runs, cells, setting)
    row["row_loss"] = spread([table_loss(found, cells)])
    if setting.learning:
        learned = Exam(cells, cells, rows).of_groups(sight)
        row |= {
            "classification": {learner: spread([told]) for learner, told in learned.items()},
            "classification_asked": ASKED,
        }
    return row
