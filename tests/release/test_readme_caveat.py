"""A recipient's README says who else reads a release, whatever its kind, and links to nothing that the recipient lacks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt

PAGE = "docs/what-else-it-says.md"
KINDS = {
    "generalized": (rt.Mondrian(), rt.KAnonymity(3)),
    "anatomized": (rt.Anatomy(), rt.ProbabilisticLDiversity(2)),
    "perturbed": (rt.BetaPerturbation(), rt.BetaLikeness(2)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_recipient_s_readme_says_who_else_reads_it_and_calls_no_release_safe(kind, tmp_path):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"age": rng.integers(20, 60, 90), "illness": rng.choice(list("abcd"), 90)})
    method, promise = KINDS[kind]
    job = rt.Job(columns={"age": rt.quasi(), "illness": rt.sensitive()}, promises=[promise], method=method)
    rt.publish(job, frame=frame, to=tmp_path / "out", seed=1)
    text = " ".join((tmp_path / "out" / "README.md").read_text(encoding="utf-8").split())
    assert "No release is safe because an attack on it failed." in text
    assert "Who holds two releases of the same people" in text and "Who knows the method" in text
    assert "docs/" not in text and ".md" not in text, "the recipient has no docs"


def test_the_page_is_there_and_the_project_s_readme_points_to_it():
    root = Path(__file__).resolve().parents[2]
    assert (root / PAGE).is_file() and PAGE in (root / "README.md").read_text(encoding="utf-8")
