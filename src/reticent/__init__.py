"""reticent: publish microdata that says no more than you promised.

Public names only; each is loaded when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if "free-threading" in sys.version:
    raise ImportError(
        "reticent does not run on free-threaded Python: its kernels were written and tested with the global lock. "
        "Use the build of the same Python that has one."
    )

import reticent.fork_safety  # noqa: F401  # forks are noted from now on

__version__ = "0.1.0"

_PUBLIC = {
    "publish": "reticent.publish",
    "publish_batches": "reticent.batches",
    "audit": "reticent.audit",
    "open": "reticent.release.release",
    "Release": "reticent.release.release",
    "Answer": "reticent.estimate.answer",
    "Answers": "reticent.estimate.answers",
    "report": "reticent.report",
    "Job": "reticent.job.job",
    "Output": "reticent.job.job",
    "About": "reticent.job.description",
    "Source": "reticent.data.source",
    "Hierarchy": "reticent.data.hierarchy",
    "Column": "reticent.data.columns",
    "identifying": "reticent.data.columns",
    "quasi": "reticent.data.columns",
    "sensitive": "reticent.data.columns",
    "insensitive": "reticent.data.columns",
    "KAnonymity": "reticent.models.k_anonymity",
    "ProbabilisticLDiversity": "reticent.models.l_diversity",
    "TCloseness": "reticent.models.t_closeness",
    "BetaLikeness": "reticent.models.beta_likeness",
    "Mondrian": "reticent.methods.mondrian",
    "AlphaKAnonymity": "reticent.models.k_anonymity",
    "KMap": "reticent.models.k_anonymity",
    "DistinctLDiversity": "reticent.models.l_diversity",
    "EntropyLDiversity": "reticent.models.l_diversity",
    "RecursiveLDiversity": "reticent.models.l_diversity",
    "DeltaDisclosure": "reticent.models.delta_disclosure",
    "SemanticLikeness": "reticent.models.beta_likeness",
    "ProximityLikeness": "reticent.models.beta_likeness",
    "LDichotomy": "reticent.models.l_dichotomy",
    "BTPrivacy": "reticent.models.background_knowledge.bt_privacy",
    "Skyline": "reticent.models.background_knowledge.bt_privacy",
    "Mosaic": "reticent.methods.mosaic",
    "Burel": "reticent.methods.burel",
    "Sabre": "reticent.methods.sabre",
    "BetaPerturbation": "reticent.methods.beta_perturbation",
    "Anatomy": "reticent.methods.anatomy",
    "RhoGuarantee": "reticent.models.corruption_guarantees",
    "DeltaGrowth": "reticent.models.corruption_guarantees",
    "PerturbedGeneralization": "reticent.methods.perturbed_generalization",
    "Suppression": "reticent.methods.suppression",
    "PPrivacy": "reticent.models.p_privacy",
    "Distribution": "reticent.methods.distribution",
    "Spark": "reticent.engines.spark",
    "check": "reticent.check",
    "count": "reticent.planning",
    "plan": "reticent.planning",
    "measure": "reticent.planning",
    "Workload": "reticent.utility.workload",
    "calibrate": "reticent.calibrate",
    "find_people": "reticent.ledger.release_desk",
    "forget": "reticent.removal",
    "releases": "reticent.ledger.release_desk",
    "withdraw": "reticent.ledger.release_desk",
    "risk": "reticent.audit.risk",
    "record_risk": "reticent.audit.record_risk",
    "attack": "reticent.attacks",
    "sweep": "reticent.compare.sweep",
    "compare": "reticent.compare",
    "advise": "reticent.compare.advise",
    "Audit": "reticent.audit",
    "Promise": "reticent.models.promise",
    "Method": "reticent.methods.base",
    "Kind": "reticent.release.kind",
    "ReticentError": "reticent.errors",
    "RequestError": "reticent.errors",
    "PromiseUnreachable": "reticent.errors",
    "AuditFailed": "reticent.errors",
}

_MODULES = ("datasets",)
"""Parts that are used by their own names: `rt.datasets.load("census")`."""

__all__ = ["__version__", *sorted(_PUBLIC)]


class _CallableModule(ModuleType):
    """A module that is called as its function of the same name.

    `rt.audit(...)` audits, and `rt.audit.measure` is the part of that name, whichever was imported first.
    """

    @property
    def __wrapped__(self) -> Any:
        return getattr(self, self.__name__.rpartition(".")[2])

    @property
    def __signature__(self) -> Any:
        from inspect import signature

        return signature(self.__wrapped__)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]  # a module has a text of its own, this one its function's
        return self.__wrapped__.__doc__

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.__wrapped__(*given, **named)

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)


class _Package(ModuleType):
    """The package: a submodule that has the name of a public function can be called as that function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if _PUBLIC.get(name) == f"reticent.{name}" and type(value) is ModuleType:
            value.__class__ = _CallableModule
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"reticent.{name}")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'reticent' has no attribute {name!r}")
    module = import_module(_PUBLIC[name])
    value = module if _PUBLIC[name] == f"reticent.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *_MODULES]


if TYPE_CHECKING:
    from reticent import datasets as datasets
    from reticent.attacks import attack as attack
    from reticent.audit.audit import audit as audit
    from reticent.audit.record_risk import record_risk as record_risk
    from reticent.audit.result import Audit as Audit
    from reticent.audit.risk import risk as risk
    from reticent.batches import publish_batches as publish_batches
    from reticent.calibrate import calibrate as calibrate
    from reticent.check import check as check
    from reticent.compare.advise import advise as advise
    from reticent.compare.compare import compare as compare
    from reticent.compare.sweep import sweep as sweep
    from reticent.data.columns import Column as Column
    from reticent.data.columns import identifying as identifying
    from reticent.data.columns import insensitive as insensitive
    from reticent.data.columns import quasi as quasi
    from reticent.data.columns import sensitive as sensitive
    from reticent.data.hierarchy import Hierarchy as Hierarchy
    from reticent.data.source import Source as Source
    from reticent.engines.spark import Spark as Spark
    from reticent.errors import AuditFailed as AuditFailed
    from reticent.errors import PromiseUnreachable as PromiseUnreachable
    from reticent.errors import RequestError as RequestError
    from reticent.errors import ReticentError as ReticentError
    from reticent.estimate.answer import Answer as Answer
    from reticent.estimate.answers import Answers as Answers
    from reticent.job.description import About as About
    from reticent.job.job import Job as Job
    from reticent.job.job import Output as Output
    from reticent.ledger.release_desk import find_people as find_people
    from reticent.ledger.release_desk import releases as releases
    from reticent.ledger.release_desk import withdraw as withdraw
    from reticent.methods.anatomy import Anatomy as Anatomy
    from reticent.methods.base import Method as Method
    from reticent.methods.beta_perturbation import BetaPerturbation as BetaPerturbation
    from reticent.methods.burel import Burel as Burel
    from reticent.methods.distribution import Distribution as Distribution
    from reticent.methods.mondrian import Mondrian as Mondrian
    from reticent.methods.mosaic import Mosaic as Mosaic
    from reticent.methods.perturbed_generalization import PerturbedGeneralization as PerturbedGeneralization
    from reticent.methods.sabre import Sabre as Sabre
    from reticent.methods.suppression import Suppression as Suppression
    from reticent.models.background_knowledge.bt_privacy import BTPrivacy as BTPrivacy
    from reticent.models.background_knowledge.bt_privacy import Skyline as Skyline
    from reticent.models.beta_likeness import BetaLikeness as BetaLikeness
    from reticent.models.beta_likeness import ProximityLikeness as ProximityLikeness
    from reticent.models.beta_likeness import SemanticLikeness as SemanticLikeness
    from reticent.models.corruption_guarantees import DeltaGrowth as DeltaGrowth
    from reticent.models.corruption_guarantees import RhoGuarantee as RhoGuarantee
    from reticent.models.delta_disclosure import DeltaDisclosure as DeltaDisclosure
    from reticent.models.k_anonymity import AlphaKAnonymity as AlphaKAnonymity
    from reticent.models.k_anonymity import KAnonymity as KAnonymity
    from reticent.models.k_anonymity import KMap as KMap
    from reticent.models.l_dichotomy import LDichotomy as LDichotomy
    from reticent.models.l_diversity import DistinctLDiversity as DistinctLDiversity
    from reticent.models.l_diversity import EntropyLDiversity as EntropyLDiversity
    from reticent.models.l_diversity import ProbabilisticLDiversity as ProbabilisticLDiversity
    from reticent.models.l_diversity import RecursiveLDiversity as RecursiveLDiversity
    from reticent.models.p_privacy import PPrivacy as PPrivacy
    from reticent.models.promise import Promise as Promise
    from reticent.models.t_closeness import TCloseness as TCloseness
    from reticent.planning import count as count
    from reticent.planning import measure as measure
    from reticent.planning import plan as plan
    from reticent.publish import publish as publish
    from reticent.release.kind import Kind as Kind
    from reticent.release.release import Release as Release
    from reticent.release.release import open as open
    from reticent.removal import forget as forget
    from reticent.report.report import report as report
    from reticent.utility.workload import Workload as Workload
