"""reticent: publish microdata that says no more than you promised.

Public names only; each is loaded when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "publish": "reticent.publish",
    "audit": "reticent.audit",
    "open": "reticent.release.release",
    "Release": "reticent.release.release",
    "Job": "reticent.job",
    "Output": "reticent.job",
    "Source": "reticent.table.source",
    "Hierarchy": "reticent.table.hierarchy",
    "Column": "reticent.table.roles",
    "identifying": "reticent.table.roles",
    "quasi": "reticent.table.roles",
    "sensitive": "reticent.table.roles",
    "insensitive": "reticent.table.roles",
    "KAnonymity": "reticent.models.k_anonymity",
    "ProbabilisticLDiversity": "reticent.models.probabilistic_l_diversity",
    "TCloseness": "reticent.models.t_closeness",
    "BetaLikeness": "reticent.models.beta_likeness",
    "Mondrian": "reticent.methods.mondrian",
    "ReticentError": "reticent.errors",
    "RequestError": "reticent.errors",
    "PromiseUnreachable": "reticent.errors",
    "AuditFailed": "reticent.errors",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


class _Package(ModuleType):
    """`rt.publish` and `rt.audit` are functions; importing the submodules of the same names must not hide them."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _PUBLIC and isinstance(value, ModuleType):
            return
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'reticent' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


if TYPE_CHECKING:
    from reticent.audit import audit as audit
    from reticent.errors import AuditFailed as AuditFailed
    from reticent.errors import PromiseUnreachable as PromiseUnreachable
    from reticent.errors import RequestError as RequestError
    from reticent.errors import ReticentError as ReticentError
    from reticent.job import Job as Job
    from reticent.job import Output as Output
    from reticent.methods.mondrian import Mondrian as Mondrian
    from reticent.models.beta_likeness import BetaLikeness as BetaLikeness
    from reticent.models.k_anonymity import KAnonymity as KAnonymity
    from reticent.models.probabilistic_l_diversity import ProbabilisticLDiversity as ProbabilisticLDiversity
    from reticent.models.t_closeness import TCloseness as TCloseness
    from reticent.publish import publish as publish
    from reticent.release.release import Release as Release
    from reticent.release.release import open as open
    from reticent.table.hierarchy import Hierarchy as Hierarchy
    from reticent.table.roles import Column as Column
    from reticent.table.roles import identifying as identifying
    from reticent.table.roles import insensitive as insensitive
    from reticent.table.roles import quasi as quasi
    from reticent.table.roles import sensitive as sensitive
    from reticent.table.source import Source as Source
