"""Releases, jobs and ledgers that an earlier version wrote are still opened, audited, asked and recognised.

`tests/fixtures/formats/` has a folder for each version that wrote some.  What a later version refuses of them stands in
`REFUSED`, and in the changelog.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent import catalogue
from reticent.catalogue.manifest_fields import README_EDITION
from reticent.format.manifest import FORMAT_VERSION
from reticent.ledger.private_files import LEDGER_FILE, LEDGER_FORMAT
from reticent.ledger.withdrawals import WITHDRAWALS_FILE, WITHDRAWALS_FORMAT

FORMATS = Path(__file__).parents[1] / "fixtures" / "formats"
VERSIONS = sorted(path for path in FORMATS.iterdir() if (path / "VERSION").exists())
RELEASES = [path for version in VERSIONS for path in sorted((version / "releases").iterdir())]
BATCHES = [path for version in VERSIONS for path in sorted((version / "batches").iterdir()) if path.is_dir()]
JOBS = [path for version in VERSIONS for path in sorted(version.glob("*.toml"))]
SOURCES = {"visits": "visits", "parts": "crowd", "suppressed": "skewed", "anatomy-suppressed": "skewed"}
"""The source of a release by its job's name, where it is not `people`."""

REFUSED = {
    "perturbed-generalization-undeclared-csv": "needs a declared domain",
    "perturbed-generalization-undeclared-parquet": "needs a declared domain",
    "anatomy-suppressed-csv": "needs its prior in the job",
    "anatomy-suppressed-parquet": "needs its prior in the job",
}
"""Jobs that a later version refuses, by the words of the refusal."""


def name_of(path: Path) -> str:
    return f"{path.parents[1].name if path.parent.name in ('releases', 'batches') else path.parent.name}-{path.stem}"


def source_of(release: Path) -> Path:
    name = release.name.rsplit("-", 1)[0]
    return release.parents[1] / f"{SOURCES.get(name, 'people')}.csv"


@pytest.mark.parametrize("folder", RELEASES, ids=name_of)
def test_a_frozen_release_opens_and_its_files_pass_the_audit(folder):
    release = rt.open(folder)
    assert len(release.frame()) == release.manifest.rows
    population = folder.parents[1] / "population.csv" if folder.name.startswith("k-map") else None
    audit = rt.audit(folder, population=population)
    assert audit.kept is not False, str(audit)


@pytest.mark.parametrize("folder", RELEASES, ids=name_of)
def test_a_frozen_release_agrees_with_its_source(folder):
    population = folder.parents[1] / "population.csv" if folder.name.startswith("k-map") else None
    audit = rt.audit(folder, source=source_of(folder), population=population)
    assert audit.source.passed and audit.kept is not False, str(audit)


@pytest.mark.parametrize("folder", RELEASES, ids=name_of)
def test_a_frozen_release_answers_questions_about_its_rows(folder):
    release = rt.open(folder)
    everybody = release.query("SELECT COUNT(*) FROM release")
    rows = len(pl.read_csv(source_of(folder)))
    assert everybody.estimate in (rows, rows - release.manifest.withheld)
    by_city = release.query("SELECT city, COUNT(*) FROM release GROUP BY city")
    assert by_city and all(answer.estimate is None or answer.estimate >= 0 for answer in by_city)


CHANGED_DEFAULTS = {"posterior": "(B,t)-privacy was judged by omega, and is by balanced inference"}


@pytest.mark.parametrize("folder", BATCHES, ids=name_of)
def test_frozen_batches_open_and_pass_the_audit(folder):
    assert rt.open(folder).manifest.rows
    assert rt.audit(folder).kept is not False


def list_promises(release: rt.Release) -> list[tuple[str, dict]]:
    """The promises of a release without the fields whose default has changed since: a job that leaves them out has the new one."""
    return [
        (promise.name, {name: value for name, value in promise.parameters.items() if name not in CHANGED_DEFAULTS})
        for promise in release.manifest.promises
    ]


@pytest.mark.parametrize("path", JOBS, ids=name_of)
def test_a_frozen_job_still_publishes_what_its_release_promised(path, tmp_path):
    job = rt.Job.read(path)
    if path.stem in REFUSED:
        with pytest.raises(rt.RequestError, match=REFUSED[path.stem]):
            rt.publish(job, to=tmp_path / "release", seed=7)
        return
    release = rt.publish(job, to=tmp_path / "release", seed=7)
    frozen = rt.open(path.parent / "releases" / path.stem)
    assert release.audited.kept is not False
    assert list_promises(release) == list_promises(frozen)
    assert release.manifest.kind == frozen.manifest.kind


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_a_frozen_ledger_is_a_desk(version, tmp_path):
    ledger = tmp_path / "ledger"
    shutil.copytree(version / "ledger", ledger)
    ledger.chmod(0o700)
    known = rt.releases(ledger=ledger)
    assert {"mondrian-parquet", "anatomy-csv"} <= {release.release for release in known}
    withdrawn_before = [release.release for release in known if release.withdrawal]
    assert "mondrian-csv" not in withdrawn_before
    people = rt.find_people(["nobody"], ledger=ledger)
    has_hashes_of_people = version.name != "0.1.0"
    unknown = set() if has_hashes_of_people else {release.digest for release in known}
    assert people.releases == ((),) and {release.digest for release in people.unknown} == unknown
    (withdrawn,) = rt.withdraw("mondrian-csv", reason="a test", ledger=ledger)
    assert withdrawn.withdrawal is not None
    withdrawn_now = {release.release for release in rt.releases(ledger=ledger) if release.withdrawal}
    assert withdrawn_now == {"mondrian-csv", *withdrawn_before}


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_a_frozen_ledger_knows_the_rows_that_were_published(version, tmp_path):
    ledger = tmp_path / "ledger"
    shutil.copytree(version / "ledger", ledger)
    ledger.chmod(0o700)
    job = rt.Job.read(version / "mondrian-parquet.toml")
    with pytest.raises(rt.RequestError, match="same rows were published before"):
        rt.publish(job, to=tmp_path / "release", seed=7, ledger=ledger)
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_each_kind_is_frozen_in_both_formats(version):
    frozen = {
        (rt.open(path).manifest.kind, path.name.rsplit("-", 1)[1]) for path in RELEASES if path.is_relative_to(version)
    }
    assert frozen == {(kind, file_format) for kind in catalogue.KINDS for file_format in ("csv", "parquet")}


def test_every_number_of_a_format_that_this_version_writes_is_frozen():
    manifests = [json.loads((path / "manifest.json").read_text(encoding="utf-8")) for path in RELEASES]
    assert {FORMAT_VERSION} == {manifest["format"] for manifest in manifests}
    assert {1, README_EDITION} == {manifest.get("readme", 1) for manifest in manifests}
    ledgers = [path for version in VERSIONS for path in sorted((version / "ledger").glob("*.jsonl"))]
    for name, number in ((LEDGER_FILE, LEDGER_FORMAT), (WITHDRAWALS_FILE, WITHDRAWALS_FORMAT)):
        lines = [
            line for path in ledgers if path.name == name for line in path.read_text(encoding="utf-8").splitlines()
        ]
        assert number in {json.loads(line).get("format") for line in lines}, name


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_a_frozen_ledger_lists_its_releases_and_what_was_withdrawn(version, tmp_path):
    shutil.copytree(version / "ledger", tmp_path / "ledger")
    known = rt.releases(ledger=tmp_path / "ledger")
    assert {path.name for path in RELEASES if path.is_relative_to(version)} <= {release.release for release in known}
    withdrawn = [release.release for release in known if release.withdrawal is not None]
    assert withdrawn == (["anatomy-csv"] if (version / "ledger" / WITHDRAWALS_FILE).exists() else [])
