"""The bill of materials says what the package needs, at the versions that are pinned, and is the same bytes twice."""

from __future__ import annotations

import hashlib
import json
import tomllib

import pytest

from tests.packaging.sbom import read_pins, write_bill
from tests.support.distributions import list_required_distributions
from tests.support.repository import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def dist(tmp_path):
    (tmp_path / "reticent-0.1.0-cp311-abi3-any.whl").write_bytes(b"a wheel")
    (tmp_path / "reticent-0.1.0.tar.gz").write_bytes(b"a source distribution")
    return tmp_path


def test_it_lists_every_distribution_that_an_installation_brings_at_the_pinned_version(dist):
    bill = json.loads(write_bill(dist).read_text(encoding="utf-8"))
    components = {each["name"]: each for each in bill["components"]}
    required = {name for name, each in components.items() if each["scope"] == "required"}
    assert required == list_required_distributions(PROJECT["dependencies"])
    pins = read_pins()
    for name, component in components.items():
        assert component["version"] == pins[name] and component["purl"] == f"pkg:pypi/{name}@{pins[name]}"
    assert {"duckdb", "pyspark"} <= {name for name, each in components.items() if each["scope"] == "optional"}
    assert components["cython"]["scope"] == "excluded"


def test_it_states_the_digest_of_every_archive(dist):
    bill = json.loads(write_bill(dist).read_text(encoding="utf-8"))
    own = bill["metadata"]["component"]
    assert (own["name"], own["version"]) == (PROJECT["name"], PROJECT["version"])
    stated = {each["name"]: each["hashes"][0]["content"] for each in own["components"]}
    assert stated == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in dist.iterdir() if path.suffix != ".json"
    }


def test_every_dependency_leads_to_a_component_and_nothing_is_named_twice(dist):
    bill = json.loads(write_bill(dist).read_text(encoding="utf-8"))
    own = bill["metadata"]["component"]["bom-ref"]
    references = [own, *(each["bom-ref"] for each in bill["components"])]
    assert len(references) == len(set(references))
    for dependency in bill["dependencies"]:
        assert {dependency["ref"], *dependency["dependsOn"]} <= set(references)


def test_the_same_archives_give_the_same_bytes(dist, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    first = write_bill(dist).read_bytes()
    assert write_bill(dist).read_bytes() == first
    (dist / "reticent-0.1.0.tar.gz").write_bytes(b"another source distribution")
    changed = write_bill(dist).read_bytes()
    assert changed != first and json.loads(changed)["serialNumber"] != json.loads(first)["serialNumber"]
