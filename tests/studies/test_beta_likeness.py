"""The study of paper 1, on a table small enough for the tests: every figure comes out, and says what it says."""

import csv
import sys

import pytest

from studies.beta_likeness import run
from studies.beta_likeness.figures import FIGURES
from studies.beta_likeness.plans import make
from studies.beta_likeness.tables import cells

QUICK = [name for name in FIGURES if name not in ("4b", "4c", "5", "claim")]  # searches, and mosaic: minutes in all


@pytest.mark.parametrize("name", QUICK)
def test_a_figure_becomes_a_table_and_a_chart(name: str, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["run", name, "--rows", "12000", "--queries", "60", "--out", str(tmp_path)])
    run.main()
    with open(tmp_path / f"census-{name}.csv", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) >= 5
    assert all(value != "" for row in rows for value in row.values())
    assert (tmp_path / f"census-{name}.svg").read_text(encoding="utf-8").startswith("<svg")


def test_measures_of_classes_agree_with_their_promise():
    table = cells("census", 12_000, 3)
    made = make("burel", table, 4)
    assert made.beta <= 4
    assert 0 <= made.ail <= 1
    assert made.diversity.min() >= 1
    assert make("tmondrian", table, 0.2).closeness.max() <= 0.2 + 1e-12
    assert made.plan.boxes.until[:, -1].sum() == 12_000


def test_an_unknown_figure_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run", "99"])
    with pytest.raises(SystemExit):
        run.main()
    assert "known are" in capsys.readouterr().err


def test_methods_measured_again_stand_beside_the_rows_saved_before(tmp_path, monkeypatch):
    argv = ["run", "5", "--rows", "3000", "--out", str(tmp_path), "--only"]
    monkeypatch.setattr(sys, "argv", [*argv, "lmondrian"])
    run.main()
    path = tmp_path / "census-5.csv"
    before = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*before[:2], "1,mosaic,0.5,1,2", *before[2:], ""]), encoding="utf-8")
    run.main()
    rows = [
        row["method"] for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()) if row["beta"] == "1"
    ]
    assert rows == ["lmondrian", "mosaic", "lmondrian, fallback"]
    monkeypatch.setattr(sys, "argv", ["run", "6", "--only", "mosaic"])
    with pytest.raises(SystemExit):
        run.main()
