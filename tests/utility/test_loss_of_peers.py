"""Our AIL against the one judge of all peers, `../shared/bench/loss.py`, on real data and on other tools' labels."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from reticent.audit import audit
from reticent.data.columns import quasi, sensitive
from reticent.data.hierarchy import Hierarchy
from tests.support.release_folders import write_release

SHARED = Path(__file__).resolve().parents[3] / "shared"
pytest.importorskip("pandas")
pytestmark = pytest.mark.skipif(
    not (SHARED / "bench" / "loss.py").exists(), reason="no ../shared/bench/loss.py beside the project"
)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """3,000 complete rows of Adult in the judge's layout."""
    folder = tmp_path_factory.mktemp("judge")
    names = ["age", "education", "sex", "occupation"]
    frame = (
        pl.read_csv(SHARED / "data" / "adult.csv", infer_schema=False)
        .select(names)
        .filter(~pl.any_horizontal(pl.all() == "?"))[:3000]
    )
    trees = {
        "education": Hierarchy.read(SHARED / "data" / "hierarchies" / "adult_hierarchy_education.csv"),
        "sex": Hierarchy.flat(["Female", "Male"]),
        "age": Hierarchy.from_rows(
            [
                [str(a), f"{a // 5 * 5}-{a // 5 * 5 + 4}", f"{a // 20 * 20}-{a // 20 * 20 + 19}", "*"]
                for a in range(17, 91)
            ]
        ),
    }
    (folder / "w.h").mkdir()
    for name, tree in trees.items():
        tree.save(folder / "w.h" / f"{name}.csv")
    frame.with_row_index("rid").write_csv(folder / "w.csv")
    (folder / "w.json").write_text(
        json.dumps({"qi": ["age", "education", "sex"], "numeric": ["age"], "sensitive": "occupation"})
    )
    return folder, frame, trees


def judged(folder, frame):
    """Run as its own process: it leaves files open, which our tests hold to be an error."""
    frame.write_csv(folder / "out.csv")
    said = subprocess.run(
        [sys.executable, SHARED / "bench" / "loss.py", folder, "w", folder / "out.csv", "--keepstar"],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(said.stdout)


def agree(ours, theirs):
    assert ours.utility["ail"] == pytest.approx(theirs["AIL_published"], abs=5e-5)
    assert ours.exact["k-anonymity"] == theirs["k"]
    assert ours.groups == theirs["classes"]
    assert ours.exact["distinct-l-diversity"] == theirs["l"]
    assert ours.achieved["t-closeness-equal"] == pytest.approx(theirs["t_equal"], abs=5e-5)
    assert ours.achieved["beta-likeness-basic"] == pytest.approx(theirs["beta_basic"], abs=5e-5)


def test_a_release_of_ours_has_the_judges_loss(work, tmp_path):
    folder, frame, trees = work
    columns = {
        "age": quasi(numeric=True),
        "education": quasi(hierarchy=trees["education"]),
        "sex": quasi(),
        "occupation": sensitive(),
    }
    release = write_release(tmp_path / "r", frame, columns, groups=600)
    agree(audit(release), judged(folder, pl.read_parquet(release / "data.parquet")))


@pytest.mark.parametrize(("levels", "format"), [((1, 1, 0), "csv"), ((2, 2, 1), "parquet")])
def test_a_full_domain_recoding_by_another_tool_has_the_judges_loss(work, tmp_path, levels, format):
    folder, frame, trees = work
    for name, level in zip(("age", "education", "sex"), levels, strict=True):
        rows = trees[name].rows()
        frame = frame.with_columns(pl.col(name).replace_strict({row[0]: row[level] for row in rows}))
    path = tmp_path / f"t.{format}"
    (frame.write_csv if format == "csv" else frame.write_parquet)(path)
    source = pl.read_csv(folder / "w.csv")["age"]
    columns = {
        "age": quasi(numeric=True, hierarchy=trees["age"], domain=(source.min(), source.max())),
        "education": quasi(hierarchy=trees["education"]),
        "sex": quasi(hierarchy=trees["sex"]),
        "occupation": sensitive(),
    }
    agree(audit(path, columns=columns), judged(folder, frame))
