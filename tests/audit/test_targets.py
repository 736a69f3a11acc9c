"""The targets that a promise of P-privacy names in a file or by group are compared with those that the release states."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import reticent as rt
from tests.support.release_folders import resealed

WEIGHTS = {"10": 1, "20": 2, "30": 3, "40": 4}
OTHERS = {"10": 4, "20": 3, "30": 2, "40": 1}


def make_people() -> pl.DataFrame:
    draw = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "area": draw.choice(["North", "South"], 200),
            "age": draw.integers(20, 60, 200),
            "pay": draw.integers(1, 5, 200) * 10,
        }
    )


PEOPLE = make_people()


def make_job(target, *, exact: bool = True, group_by=("area",), **method) -> rt.Job:
    columns = {"area": rt.quasi(), "age": rt.quasi(), "pay": rt.sensitive()}
    method = rt.Distribution(group_by=list(group_by) if isinstance(group_by, tuple) else group_by, **method)
    return rt.Job(columns=columns, promises=[rt.PPrivacy(target, exact=exact)], method=method)


def write_target(path, weights, delimiter=";", head=False):
    lines = ["value;weight"] if head else []
    lines += [f"{value};{weight}" for value, weight in weights.items()]
    path.write_text("\n".join(lines).replace(";", delimiter) + "\n")
    return path


def state_target(release: rt.Release, target) -> None:
    """A manifest that names another target."""
    resealed(release.folder, lambda stated: stated["promises"][0].update(target=target))


@pytest.mark.parametrize(("delimiter", "head"), [(";", False), (",", True), ("\t", False), ("|", True)])
def test_a_target_s_file_is_compared_where_the_job_is_at_hand(tmp_path, delimiter, head):
    job = make_job({"file": write_target(tmp_path / "target.csv", WEIGHTS, delimiter, head)})
    release = rt.publish(job, frame=PEOPLE)
    audited = rt.audit(release, job=job, source=PEOPLE)
    assert audited.kept
    assert audited.promises[0].achieved["distance"] == 0
    assert "targets_not_compared" not in audited.promises[0].achieved


def test_without_the_job_a_target_s_file_is_said_not_to_be_compared(tmp_path):
    release = rt.publish(make_job({"file": write_target(tmp_path / "target.csv", WEIGHTS)}), frame=PEOPLE)
    achieved = rt.audit(release.folder).promises[0].achieved
    assert achieved["targets_not_compared"] == 1
    assert "distance" not in achieved


def test_a_release_whose_target_is_not_the_file_s_is_not_kept(tmp_path):
    job = make_job({"file": write_target(tmp_path / "target.csv", WEIGHTS)})
    release = rt.publish(job, frame=PEOPLE)
    write_target(tmp_path / "target.csv", OTHERS)
    audited = rt.audit(release, job=job)
    assert audited.kept is False
    assert audited.promises[0].achieved["distance"] > 0


def test_a_file_s_target_may_be_rounded_within_the_distance(tmp_path):
    job = make_job({"file": write_target(tmp_path / "target.csv", WEIGHTS)}, exact=False)
    assert rt.audit(rt.publish(job, frame=PEOPLE), job=job).kept


def test_the_weights_of_a_file_are_not_published(tmp_path):
    """A steward may have counted them: what a release says of them is its target, rounded unless it is to be exact."""
    weights = {value: weight * 1009 + 7 for value, weight in WEIGHTS.items()}
    release = rt.publish(make_job({"file": write_target(tmp_path / "target.csv", weights)}, exact=False), frame=PEOPLE)
    text = (release.folder / "manifest.json").read_text()
    assert not [weight for weight in weights.values() if str(weight) in text]
    assert str(tmp_path) not in text


def test_files_of_groups_are_compared_each_with_its_group(tmp_path):
    north, south = (write_target(tmp_path / f"{name}.csv", w) for name, w in (("n", WEIGHTS), ("s", OTHERS)))
    job = make_job({"groups": {"North": {"file": north}, "South": {"file": south}}})
    release = rt.publish(job, frame=PEOPLE)
    assert rt.audit(release, job=job).kept
    changed = make_job({"groups": {"North": {"file": south}, "South": {"file": north}}})
    state_target(release, {"groups": {"North": {"file": "s.csv"}, "South": {"file": "n.csv"}}})
    assert rt.audit(release.folder, job=changed).kept is False


def test_two_files_of_one_name_are_not_compared(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    north = write_target(tmp_path / "a" / "target.csv", WEIGHTS)
    south = write_target(tmp_path / "b" / "target.csv", OTHERS)
    job = make_job({"groups": {"North": {"file": north}, "South": {"file": south}}})
    audited = rt.audit(rt.publish(job, frame=PEOPLE), job=job)
    assert audited.kept
    assert audited.promises[0].achieved["targets_not_compared"] == 2


@pytest.mark.parametrize("within", ["sa-only", "qi-sa"])
def test_a_group_whose_target_is_said_to_be_its_own_is_compared_with_its_people(within):
    honest = rt.publish(make_job({"groups": {"North": "group", "South": "uniform"}}, within=within), frame=PEOPLE)
    assert rt.audit(honest, source=PEOPLE).kept
    job = make_job({"groups": {"North": {"weights": WEIGHTS}, "South": "uniform"}}, within=within)
    release = rt.publish(job, frame=PEOPLE)
    state_target(release, {"groups": {"North": "group", "South": "uniform"}})
    assert rt.audit(release.folder, source=PEOPLE).kept is False


def test_targets_of_mondrian_s_groups_are_compared_by_their_numbers():
    groups = rt.publish(make_job("uniform", group_by="mondrian", k=60), frame=PEOPLE).tables["quasi"]["group"].max() + 1
    assert groups > 1
    named = {f"group {number}": {"weights": (WEIGHTS, OTHERS)[number % 2]} for number in range(groups)}
    release = rt.publish(make_job({"groups": named}, group_by="mondrian", k=60), frame=PEOPLE)
    audited = rt.audit(release.folder)
    assert audited.kept
    assert audited.promises[0].achieved["distance"] == 0
    turned = {f"group {number}": {"weights": (OTHERS, WEIGHTS)[number % 2]} for number in range(groups)}
    state_target(release, {"groups": turned})
    assert rt.audit(release.folder).kept is False
