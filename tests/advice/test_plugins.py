"""Advice about plugins is followed: with the example, as if it were installed, and with another version of it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import reticent as rt
from reticent import catalogue
from reticent.cli.attack import parse_plugin_options
from reticent.data.declared_hierarchy import read_declared_hierarchy
from reticent.data.source import Source
from reticent.errors import AuditFailed, JobError, RequestError
from reticent.job.draft import draft_job
from reticent.job.preset import Preset
from reticent.preconditions import require_partitionable
from reticent.testing import make_random_table
from tests.advice.coverage import follows
from tests.support.repository import ROOT

COLUMNS = {"age": "quasi-identifying", "city": "quasi-identifying", "illness": "sensitive"}
ENTRY_POINTS = """\
[reticent.attacks]
shrug = acme.shrug:ROW
[reticent.promises]
crowds = acme.crowds:ROW
[reticent.hierarchies]
regions = acme.regions:ROW
[reticent.presets]
strict = acme.strict:ROW
"""


def forget_plugins() -> None:
    for table in catalogue.PLUGIN_TABLES.values():
        table.plugin_rows.clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme"]:
        del sys.modules[name]


@pytest.fixture(autouse=True)
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example's modules can be imported, and a distribution says that it brings them."""
    info = tmp_path / "acme-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "plugin" / "src"))
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    forget_plugins()
    yield
    forget_plugins()


def make_job() -> rt.Job:
    return rt.Job(columns=COLUMNS, promises=[{"model": "acme:crowds", "least": 4}])


def publish() -> Any:
    return rt.publish(make_job(), frame=make_random_table(5), seed=1)


@follows("cli/attack.py", "`--as NAME`, where NAME is one of theirs.")
def test_an_option_of_a_plugin_for_an_attack_of_ours():
    with pytest.raises(RequestError):
        parse_plugin_options("skewness", ["rank=1"])
    assert parse_plugin_options("acme:shrug", ["rank=1"]) == {"rank": 1}


@follows("cli/attack.py", "{suggest(word, known)}")
def test_an_option_that_an_attack_of_a_plugin_does_not_have():
    with pytest.raises(RequestError) as refused:
        parse_plugin_options("acme:shrug", ["rnak=1"])
    assert "rank" in refused.value.attempt
    assert parse_plugin_options("acme:shrug", ["rank=1"]) == {"rank": 1}


@follows("cli/attack.py", "{option.doc}")
def test_an_option_of_a_plugin_of_another_type():
    with pytest.raises(RequestError):
        parse_plugin_options("acme:shrug", ["rank=first"])
    assert parse_plugin_options("acme:shrug", ["rank=0"]) == {"rank": 0}


@follows("audit/result.py", "another version of …, or reporting this to its authors.")
def test_a_judge_of_a_plugin_that_fails():
    crowds = importlib.import_module("acme.crowds")
    with pytest.MonkeyPatch.context() as faulty_version:
        faulty_version.setattr(crowds, "judge", lambda asked, evidence, column: 1 / 0)
        with pytest.raises(JobError):
            publish()
    publish()


@follows("publish.py", "another version of the plugin, or reporting this to its authors, with the job file.")
def test_a_judge_of_a_plugin_that_disagrees_with_its_class():
    crowds = importlib.import_module("acme.crowds")
    with pytest.MonkeyPatch.context() as faulty_version:
        faulty_version.setattr(crowds, "judge", lambda asked, evidence, column: crowds.Judgement({"least": 1}, False))
        with pytest.raises(AuditFailed):
            publish()
    publish()


@follows("preconditions.py", "an engine that does not plan in regions (--engine local, or no --regions).")
def test_a_promise_of_a_plugin_for_a_plan_in_regions(tmp_path):
    with pytest.raises(JobError):
        require_partitionable(make_job(), tmp_path / "release")
    publish()


@follows("plugins.py", "another version of …, or reporting this to its authors.")
def test_a_judge_of_a_plugin_that_is_not_there():
    crowds = importlib.import_module("acme.crowds")
    with pytest.MonkeyPatch.context() as faulty_version:
        faulty_version.delattr(crowds, "judge")
        with pytest.raises(RequestError, match=r"cannot be loaded \(AttributeError\)"):
            publish()
    publish()


def read_regions(**options: Any) -> Any:
    return read_declared_hierarchy({"build": "acme:regions", **options}, "city")


@follows("data/declared_hierarchy.py", "{suggest(option, row.fields)}")
def test_an_option_that_a_hierarchy_of_a_plugin_does_not_have():
    with pytest.raises(RequestError) as refused:
        read_regions(corse=True)
    assert "coarse" in refused.value.attempt
    assert read_regions(coarse=True).height == 1


@follows("data/declared_hierarchy.py", "a file, or reporting this to the plugin's authors.")
def test_a_hierarchy_of_a_plugin_that_is_no_list_of_rows(tmp_path):
    regions = importlib.import_module("acme.regions")
    with pytest.MonkeyPatch.context() as faulty_version:
        faulty_version.setattr(regions, "list_rows", lambda: "Ulm;south;*")
        with pytest.raises(RequestError):
            read_regions()
    read_regions().save(tmp_path / "city.csv")
    assert read_declared_hierarchy(str(tmp_path / "city.csv")).rows() == read_regions().rows()


@follows("plugins.py", "another version of …, or reporting this to its authors.")
def test_a_hierarchy_of_a_plugin_that_fails():
    regions = importlib.import_module("acme.regions")
    with pytest.MonkeyPatch.context() as faulty_version:
        faulty_version.setattr(regions, "list_rows", lambda: 1 / 0)
        with pytest.raises(RequestError, match=r"fails \(ZeroDivisionError\)"):
            read_regions()
    assert read_regions().height == 2


@follows("job/preset.py", "{suggest(name, names)}")
def test_a_preset_that_no_plugin_brings():
    with pytest.raises(RequestError) as refused:
        Preset.load("strict")
    assert "acme:strict" in refused.value.attempt
    assert Preset.load("acme:strict").tables["method"] == {"name": "mosaic"}


@follows("job/preset.py", "leaving --preset out: no plugin that is installed brings one.")
def test_a_preset_where_no_plugin_brings_any(tmp_path):
    make_random_table(5).write_csv(tmp_path / "people.csv")
    (tmp_path / "acme-1.2.dist-info" / "entry_points.txt").write_text("")
    importlib.invalidate_caches()
    with pytest.raises(RequestError, match="no preset 'strict'"):
        draft_job(Source(path=str(tmp_path / "people.csv")), preset="strict")
    assert draft_job(Source(path=str(tmp_path / "people.csv"))).preset is None


@follows("job/preset.py", "{error.attempt}")
def test_a_preset_that_is_no_part_of_a_job():
    row = catalogue.PresetRow({"method": {"name": "mosiac"}}, "misspelt")
    catalogue.PRESETS.plugin_rows["acme:strict"] = row
    with pytest.raises(RequestError) as refused:
        Preset.load("acme:strict")
    assert "mosaic" in refused.value.attempt
    forget_plugins()
    assert Preset.load("acme:strict").tables["method"] == {"name": "mosaic"}


@follows("plugins.py", "{suggest(namespace, judging)}")
def test_a_judge_that_no_plugin_is():
    release = publish()
    with pytest.raises(RequestError) as refused:
        rt.audit(release, judges=["acne"])
    assert "acme" in refused.value.attempt
    assert rt.audit(release, judges=["acme"]).kept
