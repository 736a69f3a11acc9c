"""All advice of the source is followed by a test, or stands in a short list with the reason why none can."""

from __future__ import annotations

import pytest

from reticent.errors import JobError
from reticent.limits import require_moderate_number
from tests.advice.coverage import Trial, list_followed, note_advice, require_given
from tests.advice.inventory import list_advice
from tests.advice.unfollowed import UNFOLLOWED

COVERED: tuple[str, ...] = (
    "attacks/",
    "audit/",
    "batches.py",
    "calibrate.py",
    "charts.py",
    "check.py",
    "cli/",
    "compare/",
    "composition_check.py",
    "data/",
    "datasets/",
    "engines/",
    "errors.py",
    "estimate/",
    "fork_safety.py",
    "format/",
    "job",
    "labels/",
    "ledger/",
    "limits.py",
    "loss_limit.py",
    "memory.py",
    "methods/",
    "models/",
    "partitioned/",
    "planning.py",
    "preconditions.py",
    "publish.py",
    "query/",
    "recipe/",
    "registry.py",
    "release/",
    "removal.py",
    "report/",
    "sklearn.py",
    "utility/",
    "validation.py",
)
"""Modules and folders whose advice must all be followed. That of methods and promises is followed by whole tables of jobs
too (`test_jobs.py`), that of the catalogue's fields by `test_fields.py`."""

ADVISED = {(advice.module, advice.text) for advice in list_advice() if advice.module.startswith(COVERED)}
EXCUSED = {(module, text) for module, texts in UNFOLLOWED.items() for text in texts}


@pytest.mark.parametrize("part", COVERED)
def test_all_advice_is_followed_by_a_test(part):
    advised = {(module, text) for module, text in ADVISED if module.startswith(part)}
    assert sorted(advised - list_followed() - EXCUSED) == []


def test_what_is_excused_is_advised_and_followed_by_no_test():
    assert sorted(EXCUSED - ADVISED) == []
    assert sorted(EXCUSED & list_followed()) == []


def test_what_tests_follow_is_advised():
    assert sorted(list_followed() - {(advice.module, advice.text) for advice in list_advice()}) == []


def refuse_a_number() -> None:
    require_moderate_number("1e999999")


def test_advice_is_noted_with_the_line_that_gave_it():
    trial = Trial(
        "limits.py", 'a number such as 4, 0.5 or "1/3".', refuse_a_number, lambda: require_moderate_number("1/3")
    )
    trial.run()


def test_a_test_that_is_not_given_the_advice_that_it_follows_fails():
    with note_advice() as given, pytest.raises(JobError):
        refuse_a_number()
    with pytest.raises(AssertionError, match="did not advise 'a smaller file"):
        require_given("limits.py", "a smaller file.", given)
