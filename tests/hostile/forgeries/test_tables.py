"""Every class of forgery for every kind: refused with a sentence, or said that nothing proves the folder; never a crash.

`HOSTILE=all` (`make hostile`) tries every case with every reader; the suite tries a sample of the files that lie.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import reticent as rt
from reticent.errors import BundleDamaged
from reticent.release import bundle
from tests.hostile.forgeries.bombs import BOMBS
from tests.hostile.forgeries.bytes import BYTES, LARGE
from tests.hostile.forgeries.data import DATA
from tests.hostile.forgeries.folders import FOLDERS, data_file
from tests.hostile.forgeries.groups import REGROUPED
from tests.hostile.forgeries.manifests import REFUSED as REWRITTEN
from tests.hostile.forgeries.manifests import SAID as LOOSENED
from tests.hostile.forgeries.parts import SEALED
from tests.hostile.forgeries.readers import COMMANDS, CRASHED, EVERYBODY, KEPT, REFUSED, SAID, outcome
from tests.hostile.forgeries.readmes import READMES
from tests.hostile.forgeries.resource_limits import read_under_limit
from tests.support import honest_releases
from tests.support.release_folders import resealed

ALL = os.environ.get("HOSTILE") == "all"
KINDS = list(honest_releases.PAIRS)
GIVEN = ("reticent attack", "reticent query", "reticent export", "reticent report")
AGREED = {"minus one": {"transformed"}}  # the promise has no number that could be another


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Callable[..., Path]:
    """Honest releases, made once."""
    folder = tmp_path_factory.mktemp("good")
    known = {}

    def of(kind: str, format: str = "parquet") -> Path:
        if (kind, format) not in known:
            known[kind, format] = honest_releases.release(kind, folder / f"{kind}-{format}", format)
        return known[kind, format]

    return of


def copied(release: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    return shutil.copytree(release, target)


@pytest.mark.parametrize("kind", KINDS)
def test_an_honest_release_is_read_by_everybody_and_the_sentence_is_said(kind, made):
    found = {reader: outcome(made(kind), reader) for reader in EVERYBODY}
    assert {found.pop("audit"), found.pop("reticent audit"), found.pop("reticent audit --source")} == {SAID}
    assert set(found.values()) <= {KEPT, REFUSED}, "a kind may have no answer to a question"
    assert {found[reader] for reader in ("open", "reticent query", "reticent export", "reticent report")} == {KEPT}


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_that_is_more_than_listed_files_is_refused_by_every_reader(kind, made, tmp_path):
    wrong = {}
    for name, change in FOLDERS.items():
        folder = copied(made(kind), tmp_path / name / "release")
        try:
            change(folder)
        except PermissionError:  # only an administrator makes devices
            continue
        for reader in EVERYBODY if ALL or kind == KINDS[0] else ("audit", "open"):
            if (told := outcome(folder, reader)) != REFUSED:
                wrong[name, reader] = told
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_a_stranger_s_page_is_never_made_anew_and_never_believed(kind, made, tmp_path, monkeypatch):
    import reticent as rt
    from reticent.report import rendering

    folder = copied(made(kind), tmp_path / "release")
    (folder / "report.html").write_text("<script>steal()</script>")
    monkeypatch.setattr(rendering, "render_html", lambda *_: pytest.fail("a page was made"))
    found = rt.audit(folder)
    assert found.to_dict()["page"]["checked"] is False
    assert "report.html was NOT checked and must not be believed" in found.to_dict()["page"]["says"]
    assert "report.html was NOT checked and must not be believed" in str(found)
    assert "page" not in rt.audit(made(kind)).to_dict()
    for reader in EVERYBODY if ALL else ("audit", "open", "reticent audit", "reticent query", "reticent export"):
        assert outcome(folder, reader) in (SAID, KEPT, REFUSED), reader


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", KINDS)
def test_parts_that_are_not_those_of_their_manifest_are_refused_by_every_reader(kind, format, tmp_path):
    wrong = {}
    whole = honest_releases.release(kind, tmp_path / "good", format, cut=True)
    assert outcome(whole) == SAID
    for name, (change, _) in SEALED.items():
        folder = copied(whole, tmp_path / name / "release")
        resealed(folder, change(folder) or (lambda stated: None))
        for reader in EVERYBODY if ALL else ("audit", "open", "reticent export"):
            if (told := outcome(folder, reader)) != REFUSED:
                wrong[name, reader] = told
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_a_readme_that_the_manifest_does_not_give_is_refused(kind, made, tmp_path):
    wrong = {}
    for name, change in READMES.items() if ALL or kind == KINDS[0] else list(READMES.items())[:3]:
        folder = copied(made(kind), tmp_path / name / "release")
        change(folder)
        for reader in EVERYBODY if ALL else ("audit", "open"):
            if (told := outcome(folder, reader)) != REFUSED:
                wrong[name, reader] = told
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_a_manifest_in_other_bytes_is_refused(kind, made, tmp_path):
    wrong = {}
    for name, change in BYTES.items() if ALL or kind == KINDS[0] else list(BYTES.items())[:6]:
        folder = copied(made(kind), tmp_path / name / "release")
        change(folder)
        for reader in EVERYBODY if ALL else ("audit", "open"):
            if (told := outcome(folder, reader)) != REFUSED:
                wrong[name, reader] = told
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_a_manifest_that_says_what_cannot_be_is_refused(kind, made, tmp_path):
    wrong = {}
    for name, change in REWRITTEN.items():
        folder = copied(made(kind), tmp_path / name / "release")
        resealed(folder, change)
        told = outcome(folder)
        if told != REFUSED and kind not in AGREED.get(name, ()):
            wrong[name] = told
        for reader in [reader for reader in EVERYBODY if reader != "audit"] if ALL else ():
            if (told := outcome(folder, reader)).startswith(CRASHED):
                wrong[name, reader] = told
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_files_cannot_show_is_said(kind, made, tmp_path):
    """Loosened, dropped, called withheld: the files are those of another release, and the audit says what it does not know."""
    wrong = {}
    for name, change in LOOSENED.items():
        folder = copied(made(kind), tmp_path / name / "release")
        resealed(folder, change)
        if (told := outcome(folder)) not in (REFUSED, SAID):
            wrong[name] = told
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_lie_are_refused_or_said_within_2_gb_of_addresses(kind, made, tmp_path):
    folders = []
    for number, (name, change) in enumerate(DATA.items()):
        for format in ("parquet", "csv"):
            if not ALL and (number + KINDS.index(kind) + (format == "csv")) % 12:
                continue
            folder = copied(made(kind, format), tmp_path / f"{name}, {format}" / "release")
            change(folder)
            resealed(folder)
            folders.append(folder)
    readers = ["audit", *(("open", *COMMANDS) if ALL else GIVEN if kind == KINDS[0] else ())]
    found = read_under_limit(folders, readers)
    wrong = {key: told for key, told in found.items() if told not in (REFUSED, SAID, KEPT)}
    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_another_release_are_refused_or_said_and_a_digest_tells_them(kind, made, tmp_path):
    wrong = {}
    for name, change in REGROUPED.items():
        folder = copied(made(kind), tmp_path / name / "release")
        digest = bundle.compute_digest(folder)
        change(folder)
        resealed(folder)
        for reader in EVERYBODY if ALL or kind == KINDS[0] else ("audit", "reticent audit --source", "reticent query"):
            if (told := outcome(folder, reader)) not in (REFUSED, SAID, KEPT):
                wrong[name, reader] = told
        if bundle.compute_digest(folder) != digest:  # exact values have no labels to widen
            with pytest.raises(BundleDamaged):
                rt.audit(folder, expect_digest=digest)
    assert not wrong


@pytest.mark.parametrize("kind", ["generalized", "sampled"])
def test_labels_that_cannot_be_read_are_no_bug_of_any_command(kind, made, tmp_path):
    wrong = {}
    for name in [name for name in DATA if name.startswith("a label")]:
        folder = copied(made(kind), tmp_path / name / "release")
        DATA[name](folder)
        resealed(folder)
        for reader in ("open", *GIVEN):
            if (told := outcome(folder, reader)) not in (REFUSED, KEPT):
                wrong[name, reader] = told
    assert not wrong


@pytest.mark.parametrize("kind", KINDS if ALL else KINDS[:1])
def test_pages_that_open_to_enormous_ones_are_refused_within_2_gb_of_addresses(kind, made, tmp_path):
    folders = []
    for name, change in list(BOMBS.items())[:: 1 if ALL else 3]:
        folders.append(copied(made(kind), tmp_path / name / "release"))
        change(folders[-1])
        assert data_file(folders[-1]).stat().st_size < 12 << 20
        resealed(folders[-1])
    found = read_under_limit(folders, ("audit", "open", *GIVEN))
    assert {key: told for key, told in found.items() if told != REFUSED} == {}


@pytest.mark.skipif(not ALL, reason="takes 100 MB of disk for each case: make hostile")
def test_manifests_of_a_hundred_megabytes_are_refused_within_2_gb_of_addresses(made, tmp_path):
    folders = []
    for name, change in LARGE.items():
        folders.append(copied(made("generalized"), tmp_path / name / "release"))
        change(folders[-1])
    assert set(read_under_limit(folders).values()) == {REFUSED}
