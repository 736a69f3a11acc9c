"""What `import reticent` promises to its users, and what it does not load."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import reticent

PUBLIC = [
    "__version__",
    "About",
    "AlphaKAnonymity",
    "Anatomy",
    "Answer",
    "Answers",
    "Audit",
    "AuditFailed",
    "BTPrivacy",
    "BetaLikeness",
    "BetaPerturbation",
    "Burel",
    "Column",
    "DeltaDisclosure",
    "DeltaGrowth",
    "DistinctLDiversity",
    "Distribution",
    "EntropyLDiversity",
    "Hierarchy",
    "Job",
    "KAnonymity",
    "KMap",
    "Kind",
    "LDichotomy",
    "Method",
    "Mondrian",
    "Mosaic",
    "Output",
    "PPrivacy",
    "PerturbedGeneralization",
    "ProbabilisticLDiversity",
    "Promise",
    "PromiseUnreachable",
    "ProximityLikeness",
    "RecursiveLDiversity",
    "Release",
    "RequestError",
    "ReticentError",
    "RhoGuarantee",
    "Sabre",
    "SemanticLikeness",
    "Skyline",
    "Source",
    "Spark",
    "Suppression",
    "TCloseness",
    "Workload",
    "advise",
    "attack",
    "audit",
    "calibrate",
    "check",
    "compare",
    "count",
    "find_people",
    "forget",
    "identifying",
    "insensitive",
    "measure",
    "open",
    "plan",
    "publish",
    "publish_batches",
    "quasi",
    "record_risk",
    "releases",
    "report",
    "risk",
    "sensitive",
    "sweep",
    "withdraw",
]
HEAVY = (
    "polars",
    "numpy",
    "pyarrow",
    "pandas",
    "numba",
    "pyspark",
    "fastapi",
    "starlette",
    "duckdb",
    "typer",
    "rich",
    "sklearn",
)


def test_the_exported_names_are_these():
    """A name that is added here is kept for good; one that goes breaks somebody."""
    assert reticent.__all__ == PUBLIC


def test_type_checkers_are_told_of_every_exported_name():
    text = Path(reticent.__file__).read_text(encoding="utf-8")
    told = set(re.findall(r"import (\w+) as \1$", text[text.index("if TYPE_CHECKING:") :], re.MULTILINE))
    assert told == {*PUBLIC, "datasets"} - {"__version__"}


def test_the_data_sets_are_at_hand():
    assert len(reticent.datasets.load("census", rows=5, seed=1)) == 5


@pytest.mark.parametrize("name", PUBLIC)
def test_every_exported_name_is_there_and_documented(name):
    value = getattr(reticent, name)
    assert name == "__version__" or value.__doc__


def test_a_function_is_not_hidden_by_the_module_of_its_name():
    import reticent.audit
    import reticent.publish

    assert callable(reticent.publish)
    assert callable(reticent.audit)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'pubish'"):
        reticent.pubish  # noqa: B018  looking it up is the test


@pytest.mark.parametrize("module", ["reticent", "reticent.errors", "reticent.cli.main"])
def test_importing_loads_nothing_heavy(module):
    script = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_publishing_loads_no_optional_part(tmp_path):
    """What an extra installs is loaded by the part that needs it, never on the main path."""
    (tmp_path / "t.csv").write_text("a,s\n" + "".join(f"{i % 9},{'xyz'[i % 3]}\n" for i in range(60)))
    script = f"""
import sys
import reticent as rt
rt.publish(rt.Job(source={str(tmp_path / "t.csv")!r}, columns={{"a": rt.quasi(), "s": rt.sensitive()}}, promises=[rt.KAnonymity(5)]))
print(*(name for name in ("pandas", "numba", "pyspark", "fastapi", "starlette", "duckdb", "typer", "rich", "scipy", "sklearn") if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


CALLED_MODULES = {
    "audit": "measure",
    "report": "rendering",
    "compare": "sweep",
    "publish": "require_passed",
    "check": "CheckResult",
    "calibrate": "calibrate",
}
"""Public functions whose module has the same name, each with a part of the module."""


def test_the_functions_whose_module_has_their_name_are_known():
    assert set(CALLED_MODULES) == {name for name, module in reticent._PUBLIC.items() if module == f"reticent.{name}"}


@pytest.mark.parametrize("name", CALLED_MODULES)
@pytest.mark.parametrize("order", ["function first", "module first"])
def test_a_function_is_called_and_its_module_is_entered_by_one_name(name, order):
    part = CALLED_MODULES[name]
    lines = [f"import reticent as rt; rt.{name}", f"import reticent.{name}"]
    if name in ("audit", "report", "compare"):
        lines.append(f"import reticent.{name}.{part}")
    lines = lines if order == "function first" else [*lines[1:], lines[0]]
    checks = [
        "import inspect, pickle, sys",
        f"module = sys.modules['reticent.{name}']",
        f"assert reticent.{name} is rt.{name}",
        f"assert reticent.{name}.{part} is module.{part}",
        f"function = module.{name}",
        f"assert inspect.isfunction(function) and callable(rt.{name})",
        f"assert inspect.signature(rt.{name}) == inspect.signature(function)",
        f"assert rt.{name}.__doc__ == function.__doc__",
        f"assert pickle.loads(pickle.dumps(rt.{name})) is rt.{name}",
        f"from reticent.{name} import {name} as imported; assert imported is function",
    ]
    subprocess.run([sys.executable, "-c", "\n".join([*lines, *checks])], check=True)


def test_a_part_of_the_audit_is_imported_and_read_by_its_whole_name():
    code = "import reticent.audit.measure.likeness as m\nimport reticent.audit.measure\nassert reticent.audit.measure.likeness is m"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_module_that_is_called_does_what_its_function_does():
    with pytest.raises(reticent.AuditFailed):
        reticent.audit("no-such-folder")
    assert reticent.audit.audit is reticent.audit.__wrapped__


def test_every_public_class_is_a_class_whatever_module_it_is_in():
    """A module that is called as its function holds classes too: `rt.Audit` is one of `reticent.audit`."""
    named_like_classes = [name for name in reticent.__all__ if name[0].isupper()]
    assert "Audit" in named_like_classes
    assert [name for name in named_like_classes if not isinstance(getattr(reticent, name), type)] == []
