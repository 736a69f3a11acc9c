"""A damaged, incomplete or changed release is refused, and the message quotes no value."""

import json
import shutil

import numpy as np
import polars as pl
import pytest

from reticent.audit import audit
from reticent.data.columns import quasi, sensitive
from reticent.errors import BundleDamaged
from reticent.release import bundle
from tests.support.release_folders import resealed, write_release

CANARY = "Wilhelmina-Ottokar"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, 200),
            "town": rng.choice(["Northam", CANARY], 200),
            "pay": rng.integers(1, 9, 200),
            "job": rng.choice(["nurse", "baker"], 200),
        }
    )
    columns = {"age": quasi(numeric=True), "town": quasi(), "pay": sensitive(), "job": sensitive()}
    promises = [{"model": "k-anonymity", "k": 2}, {"model": "distinct-l-diversity", "l": 2, "column": "job"}]
    return write_release(tmp_path_factory.mktemp("made") / "r", frame, columns, promises, groups=5, labels="sets")


@pytest.fixture
def release(made, tmp_path):
    return shutil.copytree(made, tmp_path / "r")


def refused(release, **how):
    with pytest.raises(BundleDamaged) as error:
        audit(release, **how)
    assert CANARY not in str(error.value)
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__ or error.value.__context__ is None
    return str(error.value)


def test_a_whole_release_is_audited(release):
    found = audit(release)
    assert found.kept
    assert found.to_dict() == json.loads(json.dumps(found.to_dict()))


@pytest.mark.parametrize("name", ["data.parquet", "README.md", "manifest.json"])
def test_a_missing_file_is_refused(release, name):
    (release / name).unlink()
    assert name in refused(release)


def test_a_file_that_does_not_belong_is_refused(release):
    (release / "index.csv").write_text("1\n2\n")
    assert "index.csv" in refused(release)


@pytest.mark.parametrize("name", ["data.parquet", "README.md"])
def test_a_flipped_byte_is_refused(release, name):
    raw = bytearray((release / name).read_bytes())
    raw[len(raw) // 2] ^= 1
    (release / name).write_bytes(raw)
    assert name in refused(release)


def test_a_truncated_manifest_is_refused(release):
    path = release / "manifest.json"
    path.write_bytes(path.read_bytes()[:-40])
    refused(release)


def test_a_changed_release_is_refused_given_its_digest(release):
    digest = bundle.compute_digest(release)
    assert audit(release, expect_digest=digest).kept
    resealed(release, lambda manifest: manifest["promises"][0].update(k=3))
    assert audit(release).kept is not None
    refused(release, expect_digest=digest)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop("promises"),
        lambda m: m.pop("rows"),
        lambda m: m.update(rows="200"),
        lambda m: m.update(rows=199),
        lambda m: m.update(rows=True),
        lambda m: m.update(withheld=-1),
        lambda m: m.update(surprise=CANARY),
        lambda m: m.update(kind="crystallized"),
        lambda m: m.update(columns={}),
        lambda m: m["columns"].pop(),
        lambda m: m["columns"].append(dict(m["columns"][0])),
        lambda m: m["columns"][0].pop("type"),
        lambda m: m["columns"][0].update(role="identifying"),
        lambda m: m["columns"][0].update(name=CANARY),
        lambda m: m["columns"][1].update({"values": ["Southam"]}),
        lambda m: m["columns"][1].update({"hierarchy": [["Southam", "*"]]}),
        lambda m: m["columns"][1].update({"hierarchy": [["Northam", "North", "*"], [CANARY, "*"]]}),
        lambda m: m["columns"][1].update({"hierarchy": 7}),
        lambda m: m["columns"][1].update({"type": "numeric"}),
        lambda m: m["columns"][3].update({"order": ["nurse"], "type": "ordinal"}),
        lambda m: m["columns"][3].update({"type": "ordinal"}),
        lambda m: m["columns"][3].update({"hierarchy": [["nurse", "*"]]}),
        lambda m: m["columns"][3].update({"dtype": "Int64"}),
        lambda m: m["promises"].append({"model": "t-closeness", "t": 1, "distance": "hierarchical", "column": "job"}),
        lambda m: m["promises"].append({"model": "beta-likeness", "column": "job"}),
        lambda m: m["promises"].append({"model": "beta-likeness", "beta": CANARY, "column": "job"}),
        lambda m: m["promises"].append({"model": "beta-likeness", "beta": 1}),
        lambda m: m["promises"].append({"model": "beta-likeness", "beta": 1, "column": "age"}),
        lambda m: m["promises"].append({"beta": 1}),
        lambda m: m["promises"].append({"model": "k-anonymity"}),
        lambda m: m["promises"].append({"model": "k-anonymity", "k": CANARY}),
        lambda m: m["promises"].append({"model": "k-anonymity", "k": [2]}),
        lambda m: m.update(rows_per_person=2) or m["promises"].append({"model": "k-anonymity", "k": CANARY}),
        lambda m: m.update(data=["../data.parquet"]),
        lambda m: m.update(data=[]),
    ],
)
def test_a_manifest_that_is_not_as_the_format_has_it_is_refused(release, change):
    resealed(release, change)
    refused(release)


def test_a_format_of_another_version_is_refused(release):
    path = release / "manifest.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 99'))
    assert "99" in refused(release)


def test_a_file_that_is_no_parquet_is_refused(release):
    (release / "data.parquet").write_bytes(b"PAR1" + CANARY.encode() * 10)
    resealed(release)
    refused(release)


def test_a_folder_that_is_no_release_is_refused(tmp_path):
    refused(tmp_path)
    refused(tmp_path / "nowhere")
