"""What `import reticent` promises to its users, and what it does not load."""

from __future__ import annotations

import subprocess
import sys

import pytest

import reticent

PUBLIC = [
    "__version__",
    "AlphaKAnonymity",
    "Anatomy",
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
    "LDichotomy",
    "Mondrian",
    "Mosaic",
    "Output",
    "PPrivacy",
    "PerturbedGeneralization",
    "ProbabilisticLDiversity",
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
    "Suppression",
    "TCloseness",
    "Workload",
    "attack",
    "audit",
    "calibrate",
    "check",
    "count",
    "identifying",
    "insensitive",
    "measure",
    "open",
    "plan",
    "publish",
    "publish_batches",
    "quasi",
    "risk",
    "sensitive",
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
