"""What is shipped: the Dockerfile, the extras, the targets of make, and a package that runs uncompiled."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib

import numpy as np
import pytest

from reticent.kernels import cython_names
from tests.support.command_line import place as place
from tests.support.command_line import run as run
from tests.support.distributions import list_required_distributions
from tests.support.repository import PACKAGE, ROOT

WORDS = {"FROM", "RUN", "COPY", "WORKDIR", "ENV", "USER", "ENTRYPOINT", "CMD"}
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    joined = re.sub(r"\\\n", " ", "\n".join(line for line in DOCKERFILE.splitlines() if not line.startswith("#")))
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


def test_the_dockerfile_is_made_of_instructions_that_docker_knows():
    found = instructions()
    assert found[0][0] == "FROM"
    assert {word for word, _ in found} <= WORDS


def test_what_the_dockerfile_copies_is_there():
    for word, rest in instructions():
        if word == "COPY" and not rest.startswith("--from"):
            for name in rest.split()[:-1]:
                assert (ROOT / name).exists(), name


def test_what_the_dockerfile_runs_is_valid_shell_and_asks_for_extras_there_are():
    for word, rest in instructions():
        if word == "RUN":
            subprocess.run(["bash", "-n", "-c", rest], check=True)
    asked = re.search(r"\.\[([\w,]+)\]", DOCKERFILE)[1].split(",")
    assert set(asked) <= set(PROJECT["optional-dependencies"])
    assert {"charts", "stats"} <= set(asked), "the image makes the default report, and measures mining"


def test_the_image_keeps_the_ledger_out_of_the_folder_that_is_handed_out_and_of_the_container():
    settings = dict(rest.split("=", 1) for word, rest in instructions() if word == "ENV" and "=" in rest)
    work_folders = [rest for word, rest in instructions() if word == "WORKDIR"]
    ledger = settings["RETICENT_LEDGER"]
    assert not ledger.startswith(work_folders[-1])
    assert not any(ledger in rest for word, rest in instructions() if word in ("RUN", "COPY")), (
        "no folder without a mount"
    )
    assert [rest for word, rest in instructions() if word == "USER"] == ["steward"]
    example = next(line for line in DOCKERFILE.splitlines() if "docker run" in line)
    assert "--user" in example and f":{ledger} " in example and f":{work_folders[-1]}" in example


def test_a_ledger_that_cannot_be_made_stops_publishing_and_no_reading_command(run, place, monkeypatch):
    """As in a container whose ledger was not mounted."""
    assert run("publish", "job.toml", "-o", "release").code == 0
    monkeypatch.setenv("RETICENT_LEDGER", "/proc/ledger")
    for words in (("check", "job.toml"), ("audit", "release"), ("report", "release", "--format", "md")):
        assert run(*words).code == 0, words
    before = place.contents()
    ran = run("publish", "job.toml", "-o", "second")
    assert ran.code in (1, 74) and "ledger" in ran.err
    assert place.contents() == before


def test_the_page_on_installing_names_every_extra_in_a_line():
    text = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", text, re.MULTILINE)
    listed = {extra for names in named for extra in re.findall(r"`(\w+)`", names)}
    assert set(PROJECT["optional-dependencies"]) <= listed


def test_every_version_that_a_package_needs_is_pinned():
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE))
    needed = [
        *PROJECT["dependencies"],
        *(name for extra in PROJECT["optional-dependencies"].values() for name in extra),
        *(name for group in SETTINGS["dependency-groups"].values() for name in group if isinstance(name, str)),
    ]
    for requirement in needed:
        assert re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-") in pinned, requirement


def test_every_target_of_make_says_what_it_does():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split()
    assert set(named) == set(re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE))


@pytest.fixture
def uncompiled(tmp_path):
    """The package as it is installed where there is no compiler, and no Cython."""
    shutil.copytree(PACKAGE, tmp_path / "reticent", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    (tmp_path / "cython.py").write_text("raise ImportError('No Cython is installed here.')\n", encoding="utf-8")
    return tmp_path


def test_an_uncompiled_package_runs_and_says_so_once(uncompiled):
    ran = subprocess.run(
        [sys.executable, "-m", "reticent", "demo", "--rows", "400", "--to", str(uncompiled / "demo")],
        env={**os.environ, "PYTHONPATH": str(uncompiled)},
        cwd=uncompiled,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Every promise is kept." in ran.stdout
    assert ran.stderr.count("reticent runs uncompiled") == 1
    assert ".py:" not in ran.stderr


def test_an_uncompiled_package_says_so_in_its_version(uncompiled):
    ran = subprocess.run(
        [sys.executable, "-m", "reticent", "--version"],
        env={**os.environ, "PYTHONPATH": str(uncompiled)},
        cwd=uncompiled,
        capture_output=True,
        text=True,
    )
    assert "not compiled" in ran.stdout
    assert ran.stderr == ""


def test_every_kernel_can_be_loaded_without_a_compiler_and_without_cython(uncompiled):
    program = """
import warnings; warnings.simplefilter("ignore")
from importlib import import_module
from reticent.kernels import list_uncompiled_kernels
for name in list_uncompiled_kernels():
    assert import_module(f"reticent.kernels.{name}").cython.__name__ == "reticent.kernels.cython_names"
"""
    environment = {**os.environ, "PYTHONPATH": str(uncompiled)}
    subprocess.run([sys.executable, "-c", program], env=environment, cwd=uncompiled, check=True)


def test_cython_s_names_convert_as_cython_s_own_module_does():
    cython = pytest.importorskip("cython")
    for type_name in ("bint", "char", "double", "int", "longlong", "Py_ssize_t", "uchar", "ulonglong"):
        for value in (0, 1, -7, 2.75, True, np.float64(0.5), np.int32(9), 2**70):
            ours = cython_names.cast(getattr(cython_names, type_name), value)
            theirs = cython.cast(getattr(cython, type_name), value)
            assert (type(ours), ours) == (type(theirs), theirs), (type_name, value)


def test_cython_is_needed_to_build_and_not_to_run():
    assert any(each.startswith("Cython") for each in SETTINGS["build-system"]["requires"])
    assert not any("cython" in each.lower() for each in PROJECT["dependencies"])


def test_free_threaded_python_is_refused_before_anything_is_loaded():
    program = "import sys; sys.version = '3.14.0 free-threading build'; import reticent"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 1
    assert "ImportError: reticent does not run on free-threaded Python" in ran.stderr


def test_the_page_names_every_distribution_that_is_installed():
    page = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")
    listed = re.search(r"^(\d+) distributions without extras: (.*?)\.$", page, re.MULTILINE | re.DOTALL)
    names = set(re.findall(r"`([\w-]+)`", listed[2]))
    assert names == {"reticent", *list_required_distributions(PROJECT["dependencies"])}
    assert int(listed[1]) == len(names)
