"""A question ends when its time is over, whatever the kind, and says what makes it long."""

from __future__ import annotations

import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.time_limit import check_deadline, limit_cpu_time
from tests.support import repeated_releases
from tests.support.query_methods import METHODS

GROUPED = (
    "SELECT age, town, COUNT(*), SUM(pay) FROM release WHERE age IN (20, 21, 22, 23) OR pay > 10 GROUP BY age, town"
)


@pytest.mark.parametrize("kind", METHODS)
def test_a_question_beyond_its_time_is_refused(kind):
    promises, method = METHODS[kind]
    job = rt.Job(columns=repeated_releases.COLUMNS, promises=promises, method=method)
    release = rt.publish(job, frame=repeated_releases.people(300), seed=1)
    with pytest.raises(rt.RequestError, match="CPU seconds") as refused:
        release.query(GROUPED, time_limit=1e-9)
    assert "time_limit" in str(refused.value)
    with pytest.raises(rt.RequestError, match="CPU seconds"):
        release.measure([GROUPED], time_limit=1e-9)
    assert release.query(GROUPED, time_limit=None)


def test_the_command_line_has_a_time_limit(tmp_path, capsys):
    job = rt.Job(columns=repeated_releases.COLUMNS, promises=[rt.KAnonymity(5)])
    rt.publish(job, frame=repeated_releases.people(300), to=tmp_path / "release", seed=1)
    assert main(["query", str(tmp_path / "release"), GROUPED, "--time-limit", "1e-9"]) == 1
    assert "--time-limit" in capsys.readouterr().err
    assert main(["query", str(tmp_path / "release"), GROUPED, "--time-limit", "0"]) == 1


def test_the_earlier_of_two_limits_is_in_force():
    def outer() -> Exception:
        return RuntimeError("outer")

    def inner() -> Exception:
        return RuntimeError("inner")

    with limit_cpu_time(1e-9, outer), limit_cpu_time(100, inner), pytest.raises(RuntimeError, match="outer"):
        check_deadline()
    with limit_cpu_time(100, outer), limit_cpu_time(1e-9, inner), pytest.raises(RuntimeError, match="inner"):
        check_deadline()
    check_deadline()
