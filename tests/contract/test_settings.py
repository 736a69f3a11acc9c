"""Every setting away from its default: a release is made, keeps its promises, and passes the audit with its source."""

from __future__ import annotations

import pytest

import reticent as rt
from tests.contract.matrix import assert_sound
from tests.contract.settings import OTHER_VALUES, OWNERS, draft_settings, draft_with

SETTINGS = list(draft_settings())


@pytest.mark.parametrize(("setting", "pair"), SETTINGS, ids=[str(setting) for setting, _ in SETTINGS])
def test_a_setting_is_published_and_passes_the_audit_with_its_source(setting, pair):
    draft = draft_with(setting, pair)
    job = draft.job()
    release = rt.publish(job, frame=draft.frame)
    assert release.audited.kept is not False
    assert_sound(release, draft.frame, pair, job)


def test_values_stand_here_for_parameters_that_exist():
    declared = {(owner, name) for table in OWNERS.values() for owner, row in table.items() for name in row.fields}
    assert set(OTHER_VALUES) <= declared
