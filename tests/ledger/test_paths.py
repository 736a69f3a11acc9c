"""Where the owner's things lie: no release among them, none of them in a release, no two releases' notes in one place."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent.errors import OutputExists, RequestError
from reticent.ledger.ledger import Ledger
from tests.support.ledger_tables import job, people


@pytest.fixture
def vault(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("RETICENT_OWNER", str(tmp_path / "vault"))
    return tmp_path / "vault"


def everything(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


@pytest.mark.parametrize(
    "place",
    [
        "vault",
        "vault/inner",
        "vault/a/b",
        "ledger",
        "ledger/ledger.jsonl",
        "ledger/x",
        "a/../vault",
        "reticent-owner",
        "reticent-owner/x",
    ],
)
@pytest.mark.parametrize("made", [False, True])
def test_a_release_lies_in_nothing_of_the_owner_s(tmp_path, vault, place, made):
    if made:
        rt.publish(job(), frame=people(), to=tmp_path / "first", ledger=tmp_path / "ledger")
    before = everything(tmp_path)
    with pytest.raises(OutputExists, match="lies in"):
        rt.publish(job(), frame=people(seed=2), to=tmp_path / place, ledger=tmp_path / "ledger", force=True)
    assert everything(tmp_path) == before


def test_the_owner_s_folder_beside_a_release_is_no_place_for_one_either(tmp_path, monkeypatch):
    monkeypatch.delenv("RETICENT_OWNER", raising=False)
    with pytest.raises(OutputExists, match="lies in"):
        rt.publish(job(), frame=people(), to=tmp_path / "reticent-owner")
    assert everything(tmp_path) == []


@pytest.mark.parametrize("setting", ["RETICENT_OWNER", "RETICENT_LEDGER"])
@pytest.mark.parametrize("inside", ["mine", "a/b"])
def test_nothing_of_the_owner_s_lies_in_a_release(tmp_path, monkeypatch, setting, inside):
    monkeypatch.setenv(setting, str(tmp_path / "release" / inside))
    release = rt.publish(job(), frame=people())
    for keep in (
        lambda: rt.publish(job(), frame=people(), to=tmp_path / "release"),
        lambda: release.save(tmp_path / "release"),
    ):
        with pytest.raises(RequestError, match="lies inside the release"):
            keep()
    batched = people().with_columns(day=pl.lit("monday"))
    with pytest.raises(RequestError, match="lies inside the release"):
        rt.publish_batches(job().at(release=rt.Output(undeclared="drop")), "day", tmp_path / "release", frame=batched)
    assert everything(tmp_path) == []


@pytest.mark.parametrize("setting", ["RETICENT_OWNER", "RETICENT_LEDGER"])
@pytest.mark.parametrize("inside", ["", "mine", "a/b"])
def test_nor_does_it_lie_in_another_release(tmp_path, monkeypatch, setting, inside):
    monkeypatch.delenv("RETICENT_OWNER", raising=False)
    rt.publish(job(), frame=people(), to=tmp_path / "first", ledger=tmp_path / "ledger")
    before = everything(tmp_path)
    monkeypatch.setenv(setting, str(tmp_path / "first" / inside))
    with pytest.raises(RequestError, match="lies in the release"):
        rt.publish(job(), frame=people(seed=2), to=tmp_path / "second")
    assert everything(tmp_path) == before


def test_a_release_does_not_lie_in_another(tmp_path, monkeypatch):
    monkeypatch.delenv("RETICENT_OWNER", raising=False)
    release = rt.publish(job(), frame=people(), to=tmp_path / "first")
    before = everything(tmp_path)
    for keep in (
        lambda: rt.publish(job(), frame=people(seed=2), to=tmp_path / "first" / "second"),
        lambda: release.save(tmp_path / "first" / "a" / "b"),
    ):
        with pytest.raises(OutputExists, match="lies in the release"):
            keep()
    assert everything(tmp_path) == before


def test_a_manifest_of_another_program_is_no_release(tmp_path, monkeypatch):
    monkeypatch.delenv("RETICENT_OWNER", raising=False)
    (tmp_path / "manifest.json").write_text('{"name": "a web application"}')
    assert rt.publish(job(), frame=people(), to=tmp_path / "release").digest


def test_a_link_to_the_owner_s_folder_is_the_owner_s_folder(tmp_path, vault):
    vault.mkdir()
    (tmp_path / "link").symlink_to(vault)
    with pytest.raises(OutputExists, match="lies in the owner's folder"):
        rt.publish(job(), frame=people(), to=tmp_path / "link" / "release")


@pytest.mark.parametrize("setting", ["RETICENT_OWNER", "RETICENT_LEDGER"])
def test_a_file_is_no_folder_of_the_owner_s(tmp_path, monkeypatch, setting):
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv(setting, str(tmp_path / "file"))
    with pytest.raises(RequestError, match="is no folder"):
        rt.publish(job(), frame=people(), to=tmp_path / "release")
    assert (tmp_path / "file").read_text() == "mine"
    assert not (tmp_path / "release").exists()


def test_releases_of_one_name_have_their_own_notes(tmp_path, vault):
    first = rt.publish(job(), frame=people(), to=tmp_path / "a" / "release")
    second = rt.publish(job(), frame=people(seed=2), to=tmp_path / "b" / "release")
    noted = {
        path.parent.joinpath("place.txt").read_text().strip(): path.read_text().strip()
        for path in vault.glob("*/digest.txt")
    }
    assert noted == {str(tmp_path / "a" / "release"): first.digest, str(tmp_path / "b" / "release"): second.digest}
    assert (vault / "release" / "digest.txt").read_text().strip() == first.digest


def test_a_release_that_is_replaced_keeps_its_place_among_the_notes(tmp_path, vault):
    for folder in ("a", "b"):
        rt.publish(job(), frame=people(seed=ord(folder)), to=tmp_path / folder / "release")
    for folder in ("a", "b"):
        release = rt.publish(
            job(), frame=people(seed=ord(folder)), to=tmp_path / folder / "release", force=True, again=True
        )
        (noted,) = (path for path in vault.glob("*/digest.txt") if path.read_text().strip() == release.digest)
        assert noted.with_name("place.txt").read_text().strip() == str(tmp_path / folder / "release")
    assert len(list(vault.iterdir())) == 2


def test_batches_of_one_name_have_their_own_notes(tmp_path, vault):
    wanted = job().at(release=rt.Output(undeclared="drop"))
    for folder in ("a", "b"):
        frame = people(seed=ord(folder)).with_columns(day=pl.lit("monday"))
        found = rt.publish_batches(wanted, "day", tmp_path / folder / "out", frame=frame)
        (batch,) = found["batches"]
        (noted,) = (path for path in vault.glob("*/monday/digest.txt") if path.read_text().strip() == batch["digest"])
        assert noted.parents[1].joinpath("place.txt").read_text().strip() == str(tmp_path / folder / "out")
        assert noted.parents[1].joinpath("batches.json").exists()


def test_notes_of_an_earlier_version_are_known_by_their_digest(tmp_path, vault):
    rt.publish(job(), frame=people(), to=tmp_path / "release")
    (vault / "release" / "place.txt").unlink()
    rt.publish(job(), frame=people(), to=tmp_path / "release", force=True, again=True)
    assert [path.name for path in vault.iterdir()] == ["release"]
    assert (vault / "release" / "place.txt").read_text().strip() == str(tmp_path / "release")


def test_batches_are_not_put_into_a_release(tmp_path):
    release = rt.publish(job(), frame=people(), to=tmp_path / "release")
    with pytest.raises(OutputExists, match="is a release"):
        rt.publish_batches(
            job().at(release=rt.Output(undeclared="drop")),
            "day",
            tmp_path / "release",
            again=True,
            force=True,
            frame=people(seed=2).with_columns(day=pl.lit("monday")),
        )
    assert rt.audit(tmp_path / "release", expect_digest=release.digest).kept


LINE = '{"release": "a", "folder": "/", "digest": "0", "at": "2026", "content": "0", "promises": [], "repeats": [], "columns": []'


@pytest.mark.parametrize(
    "damage",
    [
        "3\n",
        "[]\n",
        "null\n",
        "{}\n",
        "[" * 10**5,
        "\0",
        LINE + ", \n",
        LINE.replace('"0"', "0") + "}\n",
        LINE.replace("[]", "1") + "}\n",
    ],
)
def test_a_ledger_that_is_damaged_anyhow_stops_a_publication_and_stays_as_it_is(tmp_path, damage):
    rt.publish(job(), frame=people(), to=tmp_path / "one")
    path = Ledger.open().folder / "ledger.jsonl"
    with open(path, "a") as handle:
        handle.write(damage)
    before = path.read_bytes()
    for again in (False, True):
        with pytest.raises(RequestError, match="cannot be read"):
            rt.publish(job(), frame=people(seed=2), to=tmp_path / "two", again=again)
    assert path.read_bytes() == before
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize("damage", [b"", b"ab", b"zz" * 32, b"\xff" * 32, b"00" * 31])
def test_a_key_that_is_damaged_anyhow_stops_a_publication(tmp_path, damage):
    rt.publish(job(), frame=people(), to=tmp_path / "one")
    (Ledger.open().folder / "ledger.key").write_bytes(damage)
    with pytest.raises(RequestError, match="cannot be read"):
        rt.publish(job(), frame=people(seed=2), to=tmp_path / "two", again=True)


@pytest.mark.parametrize(
    "head",
    [
        "[]",
        "{}",
        '{"columns": [], "rows": 1, "rate": null, "sizes": [1], "times": [1]}',
        '{"columns": ["a"], "rows": 3, "rate": 0, "sizes": [1], "times": [3]}',
        '{"columns": ["a"], "rows": "x", "rate": null, "sizes": {}, "times": 1}',
    ],
)
def test_a_sketch_that_is_damaged_anyhow_stops_a_publication(tmp_path, head):
    rt.publish(job(), frame=people(), to=tmp_path / "one")
    (sketch,) = (Ledger.open().folder / "ledger-sketches").iterdir()
    sketch.write_bytes(head.encode() + b"\n" + b"\1\0\0\0\0\0\0\0" * 4)
    with pytest.raises(RequestError, match="cannot be read"):
        rt.publish(job(), frame=people(seed=2), to=tmp_path / "two")


@pytest.mark.parametrize("damage", ["", "{}", "[]", '{"target": 3}', "\0"])
def test_a_journal_that_is_damaged_stops_a_publication_and_no_reader(tmp_path, damage, monkeypatch, capsys):
    from reticent.cli.main import main

    rt.publish(job(), frame=people(), to=tmp_path / "one")
    (Ledger.open().folder / "ledger.journal").mkdir()
    (Ledger.open().folder / "ledger.journal" / "intent.json").write_text(damage)
    with pytest.raises(RequestError, match=r"journal .* cannot be read"):
        rt.publish(job(), frame=people(seed=2), to=tmp_path / "two")
    assert main(["audit", str(tmp_path / "one")]) == 0
    assert "could not be settled" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives a link away")
@pytest.mark.parametrize("name", ["reticent-owner", "ledger"])
def test_a_link_that_another_user_planted_for_the_owner_s_things_is_refused(tmp_path, name):
    """It would have notes written to, and old ones removed from, a folder of the owner's that they chose."""
    theirs = tmp_path / "project" / "release"
    theirs.mkdir(parents=True)
    (theirs / "data").write_text("mine\n")
    (tmp_path / "shared").mkdir()
    link = tmp_path / "shared" / name
    link.symlink_to(tmp_path / "project", target_is_directory=True)
    os.lchown(link, 65_534, 65_534)
    with pytest.raises(RequestError, match="a link that another user made"):
        rt.publish(job(), frame=people(), to=tmp_path / "shared" / "release", ledger=tmp_path / "shared" / "ledger")
    assert (theirs / "data").read_text() == "mine\n"
    assert sorted(path.name for path in (tmp_path / "project").iterdir()) == ["release"]
    os.lchown(link, os.geteuid(), os.getegid())
    rt.publish(job(), frame=people(), to=tmp_path / "shared" / "other", ledger=tmp_path / "shared" / "ledger")


def test_a_copy_of_an_opened_release_makes_no_ledger(tmp_path, monkeypatch):
    rt.publish(job(), frame=people(), to=tmp_path / "one")
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "none"))
    rt.open(tmp_path / "one").save(tmp_path / "copy")
    assert not (tmp_path / "none").exists()
