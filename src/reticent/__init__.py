"""reticent: publish microdata that says no more than you promised.

Public names only; each is loaded when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import reticent.forking  # noqa: F401  # forks are noted from now on

__version__ = "0.1.0"

_PUBLIC = {
    "publish": "reticent.publish",
    "publish_batches": "reticent.batches",
    "audit": "reticent.audit",
    "open": "reticent.opened",
    "Release": "reticent.opened",
    "report": "reticent.report",
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
    "AlphaKAnonymity": "reticent.models.alpha_k_anonymity",
    "KMap": "reticent.models.k_map",
    "DistinctLDiversity": "reticent.models.distinct_l_diversity",
    "EntropyLDiversity": "reticent.models.entropy_l_diversity",
    "RecursiveLDiversity": "reticent.models.recursive_l_diversity",
    "DeltaDisclosure": "reticent.models.delta_disclosure",
    "SemanticLikeness": "reticent.models.semantic_likeness",
    "ProximityLikeness": "reticent.models.proximity_likeness",
    "LDichotomy": "reticent.models.l_dichotomy",
    "BTPrivacy": "reticent.models.bt_privacy",
    "Skyline": "reticent.models.skyline",
    "Mosaic": "reticent.methods.mosaic",
    "Burel": "reticent.methods.burel",
    "Sabre": "reticent.methods.sabre",
    "BetaPerturbation": "reticent.methods.beta_perturbation",
    "Anatomy": "reticent.methods.anatomy",
    "RhoGuarantee": "reticent.models.rho_guarantee",
    "DeltaGrowth": "reticent.models.delta_growth",
    "PerturbedGeneralization": "reticent.methods.perturbed_generalization",
    "Suppression": "reticent.methods.suppression",
    "PPrivacy": "reticent.models.p_privacy",
    "Distribution": "reticent.methods.distribution",
    "Spark": "reticent.engines.spark",
    "check": "reticent.check",
    "count": "reticent.planning",
    "plan": "reticent.planning",
    "measure": "reticent.measuring",
    "Workload": "reticent.utility.workload",
    "calibrate": "reticent.calibrate",
    "risk": "reticent.audit.risk",
    "attack": "reticent.attacks",
    "sweep": "reticent.sweep",
    "compare": "reticent.compare",
    "advise": "reticent.advise",
    "Audit": "reticent.audit",
    "Promise": "reticent.models.shapes",
    "Method": "reticent.methods.protocols",
    "Kind": "reticent.release.kind",
    "ReticentError": "reticent.errors",
    "RequestError": "reticent.errors",
    "PromiseUnreachable": "reticent.errors",
    "AuditFailed": "reticent.errors",
}

_MODULES = ("datasets",)
"""Parts that are used by their own names: `rt.datasets.load("census")`."""

__all__ = ["__version__", *sorted(_PUBLIC)]


class _Package(ModuleType):
    """`rt.publish` and `rt.audit` are functions; importing the submodules of the same names must not hide them."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _PUBLIC and isinstance(value, ModuleType):
            return
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"reticent.{name}")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'reticent' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *_MODULES]


if TYPE_CHECKING:
    from reticent import datasets as datasets
    from reticent.advise import advise as advise
    from reticent.attacks import attack as attack
    from reticent.audit.audit import audit as audit
    from reticent.audit.result import Audit as Audit
    from reticent.audit.risk import risk as risk
    from reticent.batches import publish_batches as publish_batches
    from reticent.calibrate import calibrate as calibrate
    from reticent.check import check as check
    from reticent.compare.compare import compare as compare
    from reticent.engines.spark import Spark as Spark
    from reticent.errors import AuditFailed as AuditFailed
    from reticent.errors import PromiseUnreachable as PromiseUnreachable
    from reticent.errors import RequestError as RequestError
    from reticent.errors import ReticentError as ReticentError
    from reticent.job import Job as Job
    from reticent.job import Output as Output
    from reticent.measuring import measure as measure
    from reticent.methods.anatomy import Anatomy as Anatomy
    from reticent.methods.beta_perturbation import BetaPerturbation as BetaPerturbation
    from reticent.methods.burel import Burel as Burel
    from reticent.methods.distribution import Distribution as Distribution
    from reticent.methods.mondrian import Mondrian as Mondrian
    from reticent.methods.mosaic import Mosaic as Mosaic
    from reticent.methods.perturbed_generalization import PerturbedGeneralization as PerturbedGeneralization
    from reticent.methods.protocols import Method as Method
    from reticent.methods.sabre import Sabre as Sabre
    from reticent.methods.suppression import Suppression as Suppression
    from reticent.models.alpha_k_anonymity import AlphaKAnonymity as AlphaKAnonymity
    from reticent.models.beta_likeness import BetaLikeness as BetaLikeness
    from reticent.models.bt_privacy import BTPrivacy as BTPrivacy
    from reticent.models.delta_disclosure import DeltaDisclosure as DeltaDisclosure
    from reticent.models.delta_growth import DeltaGrowth as DeltaGrowth
    from reticent.models.distinct_l_diversity import DistinctLDiversity as DistinctLDiversity
    from reticent.models.entropy_l_diversity import EntropyLDiversity as EntropyLDiversity
    from reticent.models.k_anonymity import KAnonymity as KAnonymity
    from reticent.models.k_map import KMap as KMap
    from reticent.models.l_dichotomy import LDichotomy as LDichotomy
    from reticent.models.p_privacy import PPrivacy as PPrivacy
    from reticent.models.probabilistic_l_diversity import ProbabilisticLDiversity as ProbabilisticLDiversity
    from reticent.models.proximity_likeness import ProximityLikeness as ProximityLikeness
    from reticent.models.recursive_l_diversity import RecursiveLDiversity as RecursiveLDiversity
    from reticent.models.rho_guarantee import RhoGuarantee as RhoGuarantee
    from reticent.models.semantic_likeness import SemanticLikeness as SemanticLikeness
    from reticent.models.shapes import Promise as Promise
    from reticent.models.skyline import Skyline as Skyline
    from reticent.models.t_closeness import TCloseness as TCloseness
    from reticent.opened import Release as Release
    from reticent.opened import open as open
    from reticent.planning import count as count
    from reticent.planning import plan as plan
    from reticent.publish import publish as publish
    from reticent.release.kind import Kind as Kind
    from reticent.report.report import report as report
    from reticent.sweep import sweep as sweep
    from reticent.table.hierarchy import Hierarchy as Hierarchy
    from reticent.table.roles import Column as Column
    from reticent.table.roles import identifying as identifying
    from reticent.table.roles import insensitive as insensitive
    from reticent.table.roles import quasi as quasi
    from reticent.table.roles import sensitive as sensitive
    from reticent.table.source import Source as Source
    from reticent.utility.workload import Workload as Workload
