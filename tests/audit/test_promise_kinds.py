"""A promise that another kind keeps is a wrong question, with the reason; nothing is called broken that could not be judged."""

from __future__ import annotations

import pytest

import reticent as rt
from reticent.errors import JobError
from tests.support import honest_releases

OF_ONE_KIND = {
    "p-privacy": (rt.PPrivacy(), {"transformed"}, "kept by a transformed release alone"),
    "rho-guarantee": (rt.RhoGuarantee("0.2", "0.6", "0.4"), {"sampled"}, "kept by a sampled release alone"),
    "delta-growth": (rt.DeltaGrowth("0.4", "0.4"), {"sampled"}, "kept by a sampled release alone"),
    "bt-privacy": (rt.BTPrivacy("0.3", "0.6"), {"generalized", "anatomized"}, "generalized and anatomized rows alone"),
    "distinct-l-diversity": (
        rt.DistinctLDiversity(2),
        {"generalized", "anatomized", "transformed"},
        "cannot be judged",
    ),
    "t-closeness": (rt.TCloseness("0.4"), {"generalized", "anatomized", "transformed"}, "cannot be judged"),
}


@pytest.mark.parametrize("kind", honest_releases.PAIRS)
def test_a_promise_asked_of_another_kind_is_refused_with_the_reason(kind, tmp_path):
    folder = honest_releases.release(kind, tmp_path / "release")
    for promise, kinds, said in OF_ONE_KIND.values():
        if kind in kinds:
            assert rt.audit(folder, promises=[promise]).promises[-1].model == promise.name
            continue
        with pytest.raises(JobError, match=said):
            rt.audit(folder, promises=[promise])


def test_p_privacy_of_a_plain_table_is_refused_with_the_reason():
    with pytest.raises(JobError, match="kept by a transformed release alone"):
        rt.audit(honest_releases.source("generalized"), quasi=["age"], sensitive=["illness"], promises=[rt.PPrivacy()])
