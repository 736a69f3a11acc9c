"""What shows that a folder is the one that was published: the digest expected, the owner's note, or nothing, and that is said."""

from __future__ import annotations

import json
import shutil

import polars as pl
import pytest

import reticent as rt
from reticent.audit.provenance import CHANGED_SENTENCE, EXPECTED_SENTENCE, OWNED_SENTENCE, UNPROVEN_SENTENCE
from reticent.release import bundle

FRAME = pl.DataFrame({"age": [20 + i % 7 for i in range(60)], "illness": ["a", "b", "c"] * 20})
JOB = rt.Job(columns={"age": rt.quasi(), "illness": rt.sensitive()}, promises=[rt.KAnonymity(3)])


@pytest.fixture
def release(tmp_path):
    return rt.publish(JOB, frame=FRAME, to=tmp_path / "release").folder


def test_the_owners_note_beside_a_release_is_found_and_compared(release):
    found = rt.audit(release)
    assert found.kept and (found.identity.compared_with, found.identity.same) == ("owner", True)
    assert OWNED_SENTENCE in str(found)


def test_a_release_that_is_not_the_one_the_owner_noted_is_not_kept(release):
    stated = json.loads((release / "manifest.json").read_text())
    stated["method"]["thorough"] = not stated["method"]["thorough"]
    bundle.seal_folder(release, stated)
    found = rt.audit(release)
    assert all(verdict.kept for verdict in found.promises)
    assert found.kept is False and found.identity.sentence == CHANGED_SENTENCE


def test_a_release_without_an_owner_beside_it_is_kept_with_the_sentence(release, tmp_path):
    away = shutil.copytree(release, tmp_path / "elsewhere" / "release")
    found = rt.audit(away)
    assert found.kept
    assert found.to_dict()["identity"] == {
        "digest": bundle.compute_digest(away),
        "compared_with": None,
        "same": None,
        "says": UNPROVEN_SENTENCE,
    }
    assert str(found).endswith(UNPROVEN_SENTENCE)


def test_the_digest_expected_proves_it(release, tmp_path):
    away = shutil.copytree(release, tmp_path / "elsewhere" / "release")
    found = rt.audit(away, expect_digest=bundle.compute_digest(release).upper())
    assert found.identity.to_dict() | {"digest": ""} == {
        "digest": "",
        "compared_with": "expected",
        "same": True,
        "says": EXPECTED_SENTENCE,
    }


@pytest.mark.parametrize(
    "note", ["", "x" * 64, "no digest\n", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")]
)
def test_an_owners_note_that_is_no_digest_proves_nothing(release, note):
    (release.parent / "reticent-owner" / "release" / "digest.txt").write_text(note)
    assert rt.audit(release).identity.sentence == UNPROVEN_SENTENCE


def test_a_plain_table_has_no_identity():
    assert rt.audit(FRAME, quasi=["age"], sensitive=["illness"]).identity is None
