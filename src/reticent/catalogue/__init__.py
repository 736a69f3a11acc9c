"""The catalogue: one row for each promise, method, stage, kind, attack, learner, engine and table of a job.

The rest of the package knows each of them by its row.  The catalogue imports nothing of ours, so that every layer may
read it, on either side of the wall between planning and auditing.  A row names classes and functions as
"module:attribute"; layers that may import them load them.  `fields` define what each parameter may be, once for
constructors, job files, the JSON Schema, manifests and docs: tests hold them to all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reticent.catalogue.attack_options import AttackOption
from reticent.catalogue.entries import (
    ATTACKS,
    DEFAULT_ENGINE,
    ENGINES,
    HIERARCHIES,
    JOB_TABLES,
    KINDS,
    LEARNERS,
    METHODS,
    PLAIN_TABLE_KIND,
    PRESETS,
    REPORT_FILE_NAME,
    STAGES,
    AttackRow,
    EngineRow,
    HierarchyRow,
    JobTableRow,
    KindRow,
    LearnerRow,
    MethodRow,
    PresetRow,
    PromiseRow,
    RowTable,
    load_object,
)
from reticent.catalogue.fields import OTHER_COLUMNS, Field, Relation
from reticent.catalogue.promises import PROMISES

__all__ = [
    "ATTACKS",
    "DEFAULT_ENGINE",
    "ENGINES",
    "HIERARCHIES",
    "JOB_TABLES",
    "KINDS",
    "LEARNERS",
    "METHODS",
    "OTHER_COLUMNS",
    "PLAIN_TABLE_KIND",
    "PLUGIN_TABLES",
    "PRESETS",
    "PROMISES",
    "REPORT_FILE_NAME",
    "STAGES",
    "AttackOption",
    "AttackRow",
    "EngineRow",
    "Field",
    "HierarchyRow",
    "JobTableRow",
    "KindRow",
    "LearnerRow",
    "MethodRow",
    "PresetRow",
    "PromiseRow",
    "Relation",
    "RowTable",
    "load_object",
]

PLUGIN_TABLES: Final[Mapping[str, RowTable[Any]]] = {
    "methods": METHODS,
    "attacks": ATTACKS,
    "promises": PROMISES,
    "engines": ENGINES,
    "hierarchies": HIERARCHIES,
    "presets": PRESETS,
}
"""The tables that keep rows of plugins apart from ours, by the group of their entry points."""
