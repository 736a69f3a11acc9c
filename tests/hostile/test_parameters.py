"""Manifests with parameters that no job may have, sealed again: the audit refuses each of them, and so does whoever opens them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import reticent as rt
from reticent import catalogue
from reticent.audit.subject import UNCOUNTED_MESSAGE
from reticent.errors import BundleDamaged
from tests.hostile.parameters import EVERYWHERE
from tests.support import honest_releases, method_promise_pairs
from tests.support.release_folders import resealed

OWNERS = list(EVERYWHERE)


def test_every_promise_method_and_stage_has_bad_parameters_here():
    assert set(EVERYWHERE) == {*catalogue.PROMISES, *catalogue.METHODS, *catalogue.STAGES}
    for owner, bad in EVERYWHERE.items():
        row = catalogue.PROMISES.get(owner) or catalogue.METHODS.get(owner) or catalogue.STAGES[owner]
        assert set(bad) <= set(row.fields)


def placed(stated: dict, owner: str, name: str, value: object) -> None:
    """The manifest with the parameter, of the promise, method or stage that it has or else of one put in."""
    if owner in catalogue.PROMISES:
        entry = next((one for one in stated["promises"] if one["model"] == owner), None)
        if entry is None:
            entry = {"model": owner, **method_promise_pairs.EXAMPLES[owner].parameters}
            if owner == "k-map":
                entry["population"] = "people.csv"
            stated["promises"].append(entry)
        entry[name] = value
    elif owner in catalogue.STAGES:
        stated["prepare"] = [{"name": owner, "l": 2, name: value}]
    else:
        keep = stated["method"] if stated["method"]["name"] == owner else {}
        stated["method"] = {**keep, "name": owner, name: value}


def refusal(folder: Path) -> str:
    """Why the audit refuses a folder; empty where it does not."""
    try:
        rt.audit(folder)
    except BundleDamaged as error:
        return str(error)
    return ""


KIND_OF = {
    **dict.fromkeys((*catalogue.PROMISES, *catalogue.STAGES), "generalized"),
    "p-privacy": "transformed",
    "rho-guarantee": "sampled",
    "delta-growth": "sampled",
    **{name: row.kind for name, row in catalogue.METHODS.items()},
}


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("good")
    return {kind: honest_releases.release(kind, folder / kind) for kind in honest_releases.PAIRS}


@pytest.mark.parametrize("owner", OWNERS)
def test_a_manifest_with_a_parameter_that_no_job_may_have_is_refused(owner, releases, tmp_path):
    passed = {}
    for name, values in EVERYWHERE[owner].items():
        for number, value in enumerate(values):
            folder = tmp_path / f"{name} {number}" / "release"
            shutil.copytree(releases[KIND_OF[owner]], folder)
            resealed(folder, lambda stated, name=name, value=value: placed(stated, owner, name, value))
            reason = refusal(folder)
            if (
                (owner not in reason and "groups that are not" not in reason)
                or UNCOUNTED_MESSAGE in reason
                or len(reason) > 2_000
            ):
                passed[name, str(value)[:80]] = reason
            shutil.rmtree(folder.parent)
    assert not passed


@pytest.mark.parametrize("kind", honest_releases.PAIRS)
def test_in_every_kind_a_bad_parameter_is_refused_by_its_name(kind, releases, tmp_path):
    """The promise and the method that the kind's own release has."""
    method, promise = honest_releases.PAIRS[kind]
    for owner in (method, promise):
        for name, values in EVERYWHERE[owner].items():
            folder = tmp_path / owner / name
            shutil.copytree(releases[kind], folder)
            resealed(folder, lambda stated, name=name, value=values[0], owner=owner: placed(stated, owner, name, value))
            with pytest.raises(BundleDamaged):
                rt.open(folder).frame()


def test_the_reason_names_the_parameter_and_what_it_may_be(releases, tmp_path):
    folder = shutil.copytree(releases["generalized"], tmp_path / "release")
    resealed(folder, lambda stated: placed(stated, "bt-privacy", "bandwidth", -0.5))
    with pytest.raises(BundleDamaged, match=r"'bandwidth' of the promise bt-privacy is not a number from 0 on"):
        rt.audit(folder)
    stated = json.loads((folder / "manifest.json").read_text())
    assert stated["promises"][-1]["bandwidth"] == -0.5


@pytest.mark.parametrize("group_by", [["city"], {"age": [30, 50]}])
def test_targets_of_groups_are_those_of_the_release(group_by, tmp_path):
    frame = honest_releases.source("transformed")
    names = (
        sorted(frame["city"].unique().to_list()) if group_by == ["city"] else ["below 30", "30 to 50", "50 and above"]
    )
    target = {"groups": {name: "uniform" if at % 2 else {"zipf": {"s": 1}} for at, name in enumerate(names)}}
    job = rt.Job(
        columns={"age": "quasi-identifying", "city": "quasi-identifying", "illness": "sensitive"},
        promises=[rt.PPrivacy(target=target)],
        method=rt.Distribution(group_by=group_by),
    )
    rt.publish(job, frame=frame.select("age", "city", "illness"), to=tmp_path / "out", seed=1)
    assert rt.audit(tmp_path / "out").kept

    def other(stated: dict) -> None:
        listed = stated["promises"][0]["target"]["groups"]
        listed["Atlantis"] = listed.pop(names[0])

    def swapped(stated: dict) -> None:
        listed = stated["promises"][0]["target"]["groups"]
        listed[names[0]], listed[names[1]] = listed[names[1]], listed[names[0]]

    renamed = shutil.copytree(tmp_path / "out", tmp_path / "renamed")
    resealed(renamed, other)
    with pytest.raises(BundleDamaged, match="groups that are not those of the release"):
        rt.audit(renamed)
    turned = shutil.copytree(tmp_path / "out", tmp_path / "turned")
    resealed(turned, swapped)
    assert rt.audit(turned).kept is False
