"""What a type checker says to who uses the package: it ships `py.typed`, and `make lint` checks the package itself."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import get_args

import pytest

from reticent import catalogue
from reticent.attacks import ScoredAttack
from tests.support.repository import PACKAGE, ROOT, module_name

FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IGNORED = re.compile(r"#\s*type:\s*ignore(?!\[[a-z, -]+\]  # \w)")

RIGHT = """
from decimal import Decimal
from fractions import Fraction
import reticent as rt

exact: Fraction = rt.BetaLikeness(1).beta
kept: Fraction = rt.Output(suppress_at_most=0.05).suppress_at_most
job = rt.Job(columns={"age": rt.quasi(), "disease": rt.sensitive()}, promises=[rt.KAnonymity(3)], method=rt.Mosaic())
for method in (rt.Mondrian(), rt.Burel(share=0.9), rt.Sabre(share="3/4"), rt.BetaPerturbation(conditioning=1), rt.Anatomy()):
    job = rt.Job(source="a.csv", columns={"age": rt.Column("quasi", order=["low", "high"])}, method=method,
                 promises=[rt.BetaLikeness(1), rt.BetaLikeness(0.5), rt.BetaLikeness("1/3"), rt.BetaLikeness(Decimal("0.1")),
                           rt.KMap(3, "all.csv"), rt.TCloseness(0.2), rt.DeltaDisclosure(2), rt.AlphaKAnonymity(0.5, 3),
                           rt.DistinctLDiversity(2), rt.EntropyLDiversity(2), rt.ProbabilisticLDiversity("5/2"),
                           rt.RecursiveLDiversity(2, 3), rt.SemanticLikeness(4), rt.ProximityLikeness(4, 2.5), rt.LDichotomy(2)],
                 prepare=[rt.Suppression(l=2)])
promises = [rt.KAnonymity(3), rt.BetaLikeness(1), rt.TCloseness(0.2), rt.RhoGuarantee(0.2, 0.5, 0.1), rt.BTPrivacy(0.3, 0.2)]
job = rt.Job(columns={"age": "quasi-identifying", "d": rt.sensitive(missing="category")}, promises=promises, method="mosaic")
alone = job.at(promises=rt.KAnonymity(3), columns={"zip": rt.quasi(hierarchy="zip.csv", missing="refuse"), "id": rt.identifying()})
strict: rt.Promise = rt.KAnonymity(3)
way: rt.Method = rt.Distribution(fakes=0.05, group_by=["city"])
found: rt.Audit = rt.publish(job).audited
kept_at_publication: bool | None = found.kept
table = rt.publish(job, frame=rt.datasets.load("census", rows=10, seed=1)).to_pandas()
rows: int = len(rt.publish(job).frame())
kept_all: bool | None = rt.audit("release", source="a.csv").kept
release = rt.open("release")
found_answer = release.query("SELECT COUNT(*) FROM release", level=0.9, by="em", density="even")
if isinstance(found_answer, rt.Answer):
    interval: tuple[float, float] | None = found_answer.interval
else:
    keys = [answer.keys for answer in found_answer]
    drawn: str = found_answer.chart("chart.svg").svg
line: str | None = found_answer.note
width: int = found_answer.frame().width
compared: str = release.analyze([{"table": ["town"]}], source="a.csv")[0]["analysis"]
counted: rt.Answer = release.count(values=["flu"])
plain: str = release.sql("SELECT COUNT(*) FROM release", "sqlite")
success: float | None = rt.attack(release, "a.csv").success
hidden = rt.attack(release, "a.csv", "definetti", quasi=["age"]).to_dict()
alone_outcome = rt.attack(release, name="eligibility").to_dict()
"""

WRONG = {
    "rt.BetaLikeness([1])": "arg-type",
    "rt.BetaLikeness(gamma=1)": "call-arg",
    "rt.Job(columns={}, promises=[3])": "list-item",
    "rt.Job(columns={}, promises=[rt.KAnonymity(3)], method=rt.KAnonymity(3))": "arg-type",
    "rt.Job(columns={}, promises=[rt.KAnonymity(3)], prepare=[rt.Mosaic()])": "list-item",
    "rt.publish(3)": "arg-type",
    "rt.quasi(round_to=3)": "call-arg",
    "rt.sensitive(hierachy='a.csv')": "call-arg",
    "rt.publish(rt.Job.read('a.toml'), fram=3)": "call-arg",
    "rt.Job(columns={'age': 3}, promises=[rt.KAnonymity(3)])": "dict-item",
    "rt.open('r').query('SELECT 1', by='newton')": "arg-type",
    "rt.open('r').sql('SELECT 1', 'oracle')": "arg-type",
    "rt.attack('r', 'a.csv', 'naive-bayes').estimate": "attr-defined",
    "rt.open('r').query('SELECT 1').estimat": "union-attr",
    "rt.open('r').to_pandas(bound=True)": "call-arg",
}


def code_of(page: Path) -> str:
    """The Python of a page, as its reader types it: one block after the other."""
    return "\n".join(FENCE.findall(page.read_text(encoding="utf-8")))


def page_name(path: Path) -> str:
    return "page_" + re.sub(r"\W", "_", str(path.relative_to(ROOT / "docs").with_suffix("")))


EXAMPLES = {f"example_{path.stem}": path for path in sorted((ROOT / "examples").glob("*.py"))}
PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if code_of(path)]


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> dict[str, str]:
    """What the checker says of each of these texts, in one run: the greater part of it reads the package."""
    pytest.importorskip("mypy", reason="mypy comes with the extras test and lint")
    folder = tmp_path_factory.mktemp("types")
    texts = {"readme": code_of(ROOT / "README.md"), "right": RIGHT}
    texts |= {
        page_name(path): f"# mypy: no-strict-optional\n{code_of(path)}" for path in PAGES
    }  # an estimate may be NULL
    texts |= {name: path.read_text(encoding="utf-8") for name, path in EXAMPLES.items()}
    texts |= {f"wrong{at}": f"import reticent as rt\n{line}\n" for at, line in enumerate(WRONG)}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    asked = [
        sys.executable,
        "-m",
        "mypy",
        "--no-error-summary",
        "--check-untyped-defs",
        f"--cache-dir={folder / 'cache'}",  # two checkers that share a cache lock each other out of it
        *sorted(map(str, folder.glob("*.py"))),
    ]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not found.stderr, found.stderr
    lines: dict[str, str] = dict.fromkeys(texts, "")
    for line in found.stdout.splitlines():
        name = Path(line.split(":")[0]).stem
        lines[name] = lines.get(name, "") + line + "\n"
    return lines


@pytest.mark.parametrize("name", ["readme", "right", *EXAMPLES, *map(page_name, PAGES)])
def test_right_code_passes_a_type_checker(said, name):
    assert not said[name]


@pytest.mark.parametrize("line", WRONG)
def test_wrong_code_does_not_pass_a_type_checker(said, line):
    assert f"[{WRONG[line]}]" in said[f"wrong{list(WRONG).index(line)}"]


def declared_constructors() -> Iterator[tuple[str, str, ast.arguments]]:
    """(module, class, arguments) of every `__init__` that only type checkers see."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for part in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING":
                    for inner in part.body:
                        assert isinstance(inner, ast.FunctionDef) and inner.name == "__init__"
                        yield module_name(path), node.name, inner.args


CONSTRUCTORS = list(declared_constructors())


@pytest.mark.parametrize(("module", "name", "declared"), CONSTRUCTORS, ids=[name for _, name, _ in CONSTRUCTORS])
def test_a_constructor_takes_what_type_checkers_are_told(module, name, declared):
    """Names, their order, which may be left out, and which are given by name alone."""
    made = signature(getattr(import_module(module), name)).parameters.values()
    assert [p.name for p in made if p.kind is Parameter.POSITIONAL_OR_KEYWORD] == [a.arg for a in declared.args[1:]]
    assert [p.name for p in made if p.kind is Parameter.KEYWORD_ONLY] == [a.arg for a in declared.kwonlyargs]
    optional = {a.arg for a in declared.args[len(declared.args) - len(declared.defaults) :]}
    optional |= {
        a.arg for a, default in zip(declared.kwonlyargs, declared.kw_defaults, strict=True) if default is not None
    }
    assert {p.name for p in made if p.default is not Parameter.empty} == optional


def test_the_attacks_that_a_type_checker_knows_are_those_of_the_catalogue():
    assert {*get_args(ScoredAttack), "eligibility", "algorithm"} == set(catalogue.ATTACKS)


def test_what_is_kept_from_the_type_checker_says_why():
    for path in sorted(PACKAGE.rglob("*.py")):
        for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert not IGNORED.search(line), f"{path.name}, line {at}: `# type: ignore[code]  # reason`"
