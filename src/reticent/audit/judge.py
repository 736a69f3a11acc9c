"""Each promise of a manifest against the evidence: its own judge, looked up in the catalogue, compared with the parameter exactly.

A promise that the catalogue names without a judge that can be loaded is a bug of ours, never a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reticent import catalogue
from reticent.audit.evidence import Evidence
from reticent.errors import BundleDamaged, InternalError
from reticent.release.manifest import Described


@dataclass(frozen=True, slots=True)
class Verdict:
    """One promise: what was asked, what is achieved, whether it is kept, by what evidence, and why no file could show it."""

    model: str
    column: str | None
    asked: Mapping[str, Any]
    achieved: Mapping[str, Any]
    kept: bool | None
    evidence: str
    why: str = ""


def judge(promise: Described, evidence: Evidence) -> Verdict:
    asked = {name: value for name, value in promise.parameters.items() if name != "column"}
    found = _judge(promise.name)
    try:
        judged = found(asked, evidence, promise.column)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise BundleDamaged(f"The promise {promise.name} has parameters that cannot be read.",
                            attempt="the parameters that the model takes.") from None  # fmt: skip
    column = promise.column
    if "column" in catalogue.PROMISES[promise.name].parameters and evidence.sensitive:
        column = evidence.column(column).name
    return Verdict(promise.name, column, asked, judged.achieved, judged.kept, judged.evidence, judged.why)


def _judge(model: str) -> Any:
    try:
        return catalogue.load(catalogue.PROMISES[model].judge)
    except (KeyError, ImportError, AttributeError):
        raise InternalError(
            f"The promise {model} has no judge: nothing is published on its word.",
            attempt="a function in audit/measure/ that the promise's row in the catalogue names.",
        ) from None
