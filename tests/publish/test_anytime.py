"""A method that improves as long as it may: it says its loss on the way, and a first Ctrl-C means "stop improving"."""

from __future__ import annotations

import pytest

import reticent as rt
from reticent.progress import get_finding
from tests.support.two_sensitive_columns import people

COLUMNS = {"age": rt.quasi(), "city": rt.quasi(), "illness": rt.sensitive(), "wage": rt.insensitive()}


def job(effort: str = "balanced") -> rt.Job:
    return rt.Job(columns=COLUMNS, promises=[rt.BetaLikeness(1)], method=rt.Mosaic(effort=effort))


def losses(said: list[str]) -> list[float]:
    return [float(get_finding(stage).removeprefix("search objective ")) for stage in said if get_finding(stage)]


def test_progress_tells_a_loss_that_never_rises():
    said: list[str] = []
    rt.publish(job(), frame=people(), seed=1, progress=said.append)
    found = losses(said)
    assert len(found) > 3
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("after", [1, 5, 20])
def test_a_first_interrupt_while_improving_publishes_the_best_so_far(after):
    said: list[str] = []

    def progress(stage: str) -> None:
        said.append(stage)
        if len(losses(said)) == after and "writing" not in said:
            raise KeyboardInterrupt

    release = rt.publish(job("thorough"), frame=people(), seed=1, progress=progress)
    assert release.audited.kept is True
    assert len(losses(said)) == after


def test_an_interrupt_elsewhere_writes_nothing(tmp_path):
    def progress(stage: str) -> None:
        if stage == "writing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rt.publish(job("quick"), frame=people(), to=tmp_path / "release", progress=progress)
    assert list(tmp_path.iterdir()) == []
