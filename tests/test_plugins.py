"""Plugins: the example package is installed outside the tree and used; whoever did not ask for it never runs it."""

from __future__ import annotations

import copy
import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType, SimpleNamespace

import jsonschema
import pytest

import reticent as rt
from reticent import catalogue, plugins, registry
from reticent.cli.main import main
from reticent.data.hierarchy_builders import build
from reticent.errors import BundleDamaged, RequestError
from reticent.job.schema import build_job_schema
from reticent.release.bundle import verify_bundle
from reticent.testing import make_random_table
from tests.support.plugin_job import JOB
from tests.support.repository import ROOT

COLUMNS = {"age": "quasi-identifying", "city": "quasi-identifying", "illness": "sensitive"}


def is_installed(name: str) -> bool:
    """Tell whether a package can be imported, on the path alone.

    A finder of setuptools that `importlib.util.find_spec` asks warns where another test has imported distutils before.
    """
    return PathFinder.find_spec(name) is not None


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example package, installed into a folder outside the tree."""
    if not (is_installed("pip") and is_installed("setuptools")):
        pytest.skip("pip and setuptools install the example")
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(ROOT / "examples" / "plugin", folder / "source")
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    words += ["--disable-pip-version-check", "--target", str(folder / "site"), str(folder / "source")]
    subprocess.run(words, check=True, capture_output=True)
    return folder / "site"


def forget_plugins() -> None:
    for table in catalogue.PLUGIN_TABLES.values():
        table.plugin_rows.clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme"]:
        del sys.modules[name]


@pytest.fixture
def acme(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The example package can be imported in this process, and is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(installed))
    importlib.invalidate_caches()
    forget_plugins()
    yield installed
    forget_plugins()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "ledger"))
    make_random_table(5, 120).write_csv("people.csv")
    Path("job.toml").write_text(JOB)
    return tmp_path


@pytest.fixture
def release(acme: Path, place: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A release of a plugin's method that promises a plugin's promise, whose reader has not asked for the plugin."""
    assert main(["publish", "job.toml", "-o", "release"]) == 0
    assert "acme:crowds: judged by acme 1.2, not by reticent." in capsys.readouterr().out
    forget_plugins()
    return place / "release"


def distribution(folder: Path, name: str, version: str, entry_points: str) -> None:
    """Write what a stranger's installed distribution says of itself."""
    info = folder / f"stranger{len(list(folder.iterdir()))}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(entry_points)


@pytest.fixture
def strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "strangers"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    forget_plugins()
    yield folder
    forget_plugins()


def test_pip_is_found_without_a_warning_where_another_test_has_imported_distutils(monkeypatch):
    monkeypatch.setitem(sys.modules, "distutils", ModuleType("distutils"))
    assert is_installed("pip") in (True, False) and not is_installed("no_such_package_of_anybody")


def test_the_example_keeps_its_own_tests_and_is_used_by_the_command_line(installed, place):
    """In processes of its own, as somebody who installed it has it."""
    path = os.pathsep.join([str(installed), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path}
    tests = ROOT / "examples" / "plugin" / "tests"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tests), str(tests)]
    ran = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    script = "from reticent.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"
    for words in (
        ["check", "job.toml", "--budget", "1"],
        ["publish", "job.toml", "-o", "out"],
        ["audit", "out", "--source", "people.csv"],
    ):
        ran = subprocess.run([sys.executable, "-c", script, *words], env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr


def test_plugins_are_listed_without_being_loaded(acme, capsys):
    assert main(["plugins", "--json"]) == 0
    listed = [plugin for plugin in json.loads(capsys.readouterr().out)["plugins"] if plugin["distribution"] == "acme"]
    assert [(plugin["kind"], plugin["name"], plugin["version"]) for plugin in listed] == [
        ("method", "acme:slices", "1.2"),
        ("attack", "acme:shrug", "1.2"),
        ("promise", "acme:crowds", "1.2"),
        ("hierarchy", "acme:regions", "1.2"),
        ("preset", "acme:strict", "1.2"),
    ]
    assert all(plugin["usable"] for plugin in listed)
    assert main(["plugins"]) == 0
    assert "acme:slices" in capsys.readouterr().out
    assert "acme" not in sys.modules


def test_no_entry_point_is_read_for_names_of_ours(place, monkeypatch, capsys):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("entry points were read")

    monkeypatch.setattr(metadata, "entry_points", refuse)
    Path("job.toml").write_text(
        JOB.replace("acme:slices", "mondrian").replace('model = "acme:crowds"\nleast', 'model = "k-anonymity"\nk')
    )
    assert main(["publish", "job.toml", "-o", "release"]) == 0
    assert main(["audit", "release"]) == 0
    assert main(["attack", "release", "--source", "people.csv", "--as", "skewness"]) == 0
    with pytest.raises(RequestError, match="Unknown method 'mondrain'"):
        rt.Job(columns=COLUMNS, promises=rt.KAnonymity(2), method="mondrain")


def test_a_plugin_is_used_from_python_and_recorded(acme):
    frame = make_random_table(5, 120)
    job = rt.Job(
        columns=COLUMNS, promises=[{"model": "acme:crowds", "least": 4}], method={"name": "acme:slices", "most": 5}
    )
    made = rt.publish(job, frame=frame)
    assert made.manifest.plugins == {"acme": "1.2"}
    assert made.manifest.method.to_dict() == {"name": "acme:slices", "most": 5}
    assert made.audited.kept
    (verdict,) = made.audited.promises
    assert (verdict.judged_by, verdict.evidence) == ("acme 1.2", "judged by acme 1.2, not by reticent")
    assert rt.Job.from_dict(job.to_dict()).method == job.method
    assert 0 <= rt.attack(made, frame, "acme:shrug").success <= 1
    from acme.slices import Slices

    assert rt.Job(columns=COLUMNS, promises=rt.KAnonymity(2), method=Slices(most=2)).method.most == 2
    with pytest.raises(RequestError, match="most"):
        rt.Job(columns=COLUMNS, promises=rt.KAnonymity(2), method={"name": "acme:slices", "most": 0})
    checked = rt.check(rt.Job(columns=COLUMNS, promises=rt.KAnonymity(4)), frame=frame, methods=["acme:slices"])
    assert {summary.method for summary in checked.methods} == {"mondrian", "acme:slices"}


def test_a_release_of_an_outside_method_is_judged_by_us_without_the_plugin(release):
    shutil.rmtree(release)
    Path("job.toml").write_text(
        JOB.replace('model = "acme:crowds"\nleast = 4', 'model = "distinct-l-diversity"\nl = 2')
    )
    assert main(["publish", "job.toml", "-o", "release", "--again"]) == 0
    forget_plugins()
    found = rt.audit(release, source="people.csv")
    assert found.kept is True and not found.caveats
    assert "acme" not in sys.modules


def test_whoever_reads_a_release_that_names_a_plugin_never_loads_it(release, capsys):
    opened = rt.open(release)
    assert opened.query("SELECT COUNT(*) FROM release").estimate == 120
    found = rt.audit(release)
    assert found.kept is None and [verdict.kept for verdict in found.promises] == [None, True]
    assert "--judges acme" in found.not_shown[0]
    commands = [
        ["audit", "release", "--source", "people.csv"],
        ["risk", "release"],
        ["query", "release", "SELECT COUNT(*) FROM release WHERE age > 30"],
        ["attack", "release", "--source", "people.csv", "--budget", "60"],
        ["attack", "release", "--source", "people.csv", "--as", "minimality"],
        ["report", "release", "-o", "page.html"],
        ["report", "release", "--internal", "--source", "people.csv", "--format", "json"],
        ["export", "release", "exported"],
        ["releases"],
    ]
    for words in commands:
        assert main(words) == 0, (words, capsys.readouterr().err)
    assert "which no release may make its reader run" in capsys.readouterr().out
    assert "acme" not in sys.modules
    readme = (release / "README.md").read_text()
    assert "a promise that the plugin acme brings and judges, not reticent" in " ".join(readme.split())


def test_a_release_is_read_where_its_plugin_is_not_installed(release, installed, monkeypatch):
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != str(installed)])
    importlib.invalidate_caches()
    assert rt.audit(release).kept is None
    assert rt.open(release).query("SELECT COUNT(*) FROM release").estimate == 120
    with pytest.raises(RequestError, match="No installed distribution brings it"):
        rt.audit(release, judges=["acme"])


def test_the_plugin_judges_its_promise_for_whoever_names_it(release, capsys):
    assert main(["audit", "release", "--strict"]) == 7
    capsys.readouterr()
    assert main(["audit", "release", "--strict", "--judges", "acme", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["caveats"] == ["acme:crowds: judged by acme 1.2, not by reticent."]
    assert [promise.get("judged_by") for promise in said["promises"]] == ["acme 1.2", None]
    assert rt.audit(release, job=rt.Job.read("job.toml")).kept is True


HIERARCHY_JOB = """\
[source]
path = "people.csv"

[columns]
age     = "quasi-identifying"
city    = { role = "quasi-identifying", hierarchy = { build = "acme:regions" } }
illness = "sensitive"

[[promise]]
model = "k-anonymity"
k = 5

[method]
name = "mondrian"
"""
ROWS = [["Bonn", "south", "*"], ["Jena", "north", "*"], ["Kiel", "north", "*"], ["Ulm", "south", "*"]]


def test_a_hierarchy_of_a_plugin_is_published_as_rows_that_need_no_plugin(acme, place, capsys):
    Path("job.toml").write_text(HIERARCHY_JOB)
    assert main(["check", "job.toml", "--budget", "1"]) == 0
    assert main(["publish", "job.toml", "-o", "release", "--seed", "1"]) == 0
    forget_plugins()
    manifest = json.loads(Path("release/manifest.json").read_text())
    assert manifest["plugins"] == {"acme": "1.2"}
    (city,) = [column for column in manifest["columns"] if column["name"] == "city"]
    assert sorted(city["hierarchy"]) == ROWS and "built" not in city
    assert "acme:regions" not in Path("release/manifest.json").read_text()
    assert main(["audit", "release", "--source", "people.csv"]) == 0
    assert main(["attack", "release", "--source", "people.csv", "--budget", "60"]) == 0
    assert main(["query", "release", "SELECT COUNT(*) FROM release WHERE city = 'Ulm'"]) == 0
    assert main(["report", "release", "--internal", "--source", "people.csv"]) == 0
    assert main(["report", "release", "-o", "public.html"]) == 0
    assert "acme" not in sys.modules, "whoever reads the release, with the owner's notes beside it, loads nothing"
    assert main(["audit", "release", "--source", "people.csv", "--job", "job.toml"]) == 0
    assert "acme" in sys.modules, "the caller's own job names it"
    capsys.readouterr()
    Path("job.toml").write_text(HIERARCHY_JOB.replace('"acme:regions"', '"acme:regions", coarse = true'))
    assert main(["audit", "release", "--job", "job.toml"]) == 4
    assert "the hierarchy of 'city' is not the job's" in capsys.readouterr().out


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_a_hierarchy_of_a_plugin_gives_the_bytes_that_its_rows_give(acme, engine):
    frame = make_random_table(5, 120)
    releases = []
    for hierarchy in ({"build": "acme:regions"}, ROWS):
        columns = {**COLUMNS, "city": {"role": "quasi-identifying", "hierarchy": hierarchy}}
        job = rt.Job.from_dict({"columns": columns, "promise": [{"model": "k-anonymity", "k": 5}]})
        assert rt.Job.from_dict(job.to_dict()).to_dict() == job.to_dict()
        releases.append(rt.publish(job, frame=frame, seed=1, engine=engine))
    assert releases[0].frame().equals(releases[1].frame())
    assert [release.manifest.plugins for release in releases] == [{"acme": "1.2"}, {}]


def test_a_sensitive_column_takes_a_hierarchy_of_a_plugin(acme):
    columns = {"age": "quasi-identifying", "city": {"role": "sensitive", "hierarchy": {"build": "acme:regions"}}}
    promise = {"model": "semantic-beta-likeness", "beta": 4}
    release = rt.publish(
        rt.Job.from_dict({"columns": columns, "promise": [promise]}), frame=make_random_table(5, 120).drop("illness")
    )
    assert release.audited.kept


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"corse": True}, "no option 'corse'"),
        ({"coarse": "yes"}, "coarse"),
        ({"build": "acme:regoins"}, "no hierarchy 'acme:regoins'"),
        ({"build": "nobody:regions"}, "No installed distribution brings it"),
    ],
)
def test_a_hierarchy_of_a_plugin_that_is_asked_for_wrongly_is_refused(acme, place, capsys, options, why):
    columns = {**COLUMNS, "city": {"role": "quasi-identifying", "hierarchy": {"build": "acme:regions", **options}}}
    job = rt.Job.from_dict({"columns": columns, "promise": [{"model": "k-anonymity", "k": 5}]})
    Path("job.toml").write_text(job.at(source="people.csv").to_toml())
    assert main(["publish", "job.toml", "-o", "release"]) == 1
    assert why in " ".join(capsys.readouterr().err.split())
    assert not Path("release").exists()


def test_a_hierarchy_of_a_plugin_that_fails_is_its_authors_fault(acme):
    regions = importlib.import_module("acme.regions")
    columns = {**COLUMNS, "city": {"role": "quasi-identifying", "hierarchy": {"build": "acme:regions"}}}
    job = rt.Job.from_dict({"columns": columns, "promise": [{"model": "k-anonymity", "k": 5}]})
    for rows, why in (
        (None, r"fails \(ZeroDivisionError\)"),
        ("Bonn", "no list of rows"),
        ([["Bonn", 3]], "fault|no rule|lacks"),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(regions, "list_rows", (lambda: 1 / 0) if rows is None else lambda rows=rows: rows)
            with pytest.raises(RequestError, match=why):
                rt.publish(job, frame=make_random_table(5, 120))


def test_what_a_manifest_says_of_a_hierarchy_loads_nothing(acme):
    with pytest.raises(RequestError, match="to be built by 'acme:regions'"):
        build({"build": "acme:regions"}, ["Ulm"])
    with pytest.raises(RequestError, match="neither a file nor rows"):
        rt.Hierarchy.of({"build": "acme:regions"})
    assert "acme" not in sys.modules


def test_the_command_hierarchy_shows_and_saves_one_of_a_plugin(acme, place, capsys):
    words = ["hierarchy", "--data", "people.csv", "--column", "city", "--build", "acme:regions"]
    assert main([*words, "-o", "city.csv"]) == 0
    assert 'In a job:  hierarchy = { build = "acme:regions" }' in capsys.readouterr().out
    assert Path("city.csv").read_text().splitlines() == [";".join(ROWS[number]) for number in (0, 3, 1, 2)]
    assert main([*words, "--with", "coarse=true", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["height"] == 1
    assert main([*words[:-1], "acme:regoins"]) == 1


def test_a_preset_of_a_plugin_stands_in_the_draft_and_is_the_jobs_own(acme, place, capsys):
    assert main(["init", "people.csv", "-o", "new.toml", "--preset", "acme:strict", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["preset"] == {"name": "acme:strict", "brought_by": "acme 1.2"}
    text = Path("new.toml").read_text()
    assert "the preset acme:strict of acme 1.2, not reticent's advice" in " ".join(text.replace("# ", "").split())
    job = rt.Job.read("new.toml")
    assert [promise.name for promise in job.promises] == ["k-anonymity", "distinct-l-diversity"]
    assert (job.method.name, job.release.undeclared, str(job.release.loss_at_most)) == ("mosaic", "drop", "4/5")
    forget_plugins()
    assert main(["publish", "new.toml", "-o", "release"]) == 0
    assert "acme" not in sys.modules and "plugins" not in json.loads(Path("release/manifest.json").read_text())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("strict", "There is no preset 'strict'"),
        ("acme:strikt", "There is no preset 'acme:strikt'"),
        ("nobody:strict", "No installed distribution brings it"),
    ],
)
def test_a_preset_that_nobody_brings_is_refused_and_nothing_is_written(acme, place, capsys, name, why):
    assert main(["init", "people.csv", "-o", "new.toml", "--preset", name]) == 1
    assert why in " ".join(capsys.readouterr().err.split())
    assert not Path("new.toml").exists()


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ({"columns": {"a": "sensitive"}}, "'columns' is not known"),
        ({"promise": [{"model": "k-anonymity"}]}, "is no part of a job"),
        ({"method": {"name": "mondrain"}}, "is no part of a job"),
        ([], "Its tables are no table"),
    ],
)
def test_a_preset_that_is_no_part_of_a_job_is_refused(strangers, place, capsys, tables, why):
    distribution(strangers, "useless", "1", "[reticent.presets]\nstrict = useless_preset:ROW\n")
    text = f"from reticent.catalogue import PresetRow\nROW = PresetRow({tables!r}, 'of no use')\n"
    (strangers / "useless_preset.py").write_text(text)
    sys.modules.pop("useless_preset", None)
    assert main(["init", "people.csv", "-o", "new.toml", "--preset", "useless:strict"]) == 1
    assert why in " ".join(capsys.readouterr().err.split())
    assert not Path("new.toml").exists()


def test_an_engine_of_a_plugin_is_recorded(acme, monkeypatch):
    row = catalogue.EngineRow("acme.rows:ENGINE", "rows, as ours reads them")
    monkeypatch.setitem(catalogue.ENGINES.plugin_rows, "acme:slices", row)
    monkeypatch.setitem(sys.modules, "acme.rows", SimpleNamespace(ENGINE=copy.copy(registry.load_engine("stream"))))
    job = rt.Job(columns=COLUMNS, promises=rt.KAnonymity(4))
    for engine in ("acme:slices", registry.load_engine("acme:slices")):
        assert rt.publish(job, frame=make_random_table(5, 120), engine=engine).manifest.plugins == {"acme": "1.2"}
    assert rt.publish(job, frame=make_random_table(5, 120), engine="stream").manifest.plugins == {}


def test_an_attack_of_a_plugin_takes_its_options(release, capsys):
    words = ["attack", "release", "--source", "people.csv", "--json"]
    success = []
    for rank in ("0", "3"):
        assert main([*words, "--as", "acme:shrug", "--plugin-option", f"rank={rank}"]) == 0
        success.append(json.loads(capsys.readouterr().out)["success"])
    assert success[0] > success[1]
    for wrong in (
        ["--as", "acme:shrug", "--plugin-option", "rnak=1"],
        ["--as", "acme:shrug", "--plugin-option", "rank=x"],
        ["--as", "skewness", "--plugin-option", "rank=1"],
        ["--as", "acme:shurg"],
    ):
        assert main([*words, *wrong]) == 1


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("plugins", None),
        ("plugins", {}),
        ("plugins", {"other": "1"}),
        ("columns", [{"name": "city", "hierarchy": {"build": "acme:regions"}}]),
        ("plugins", {"acme": "1.2\n# ruined"}),
        ("plugins", {"acme": "9" * 1000}),
        ("plugins", {"acme": 1}),
        ("method", {"name": "acme:<script>"}),
        ("method", {"name": "acme:slices", "a b": 1}),
        ("method", {"name": "other:slices"}),
        ("method", {"name": "acme:slices", "deep": [[[[[[[[[[1]]]]]]]]]]}),
        ("promises", [{"model": "acme:crowds", "column": 3}]),
        ("promises", [{"model": "acme:crowds", "column": "nobody"}]),
        ("promises", [{"model": "acme:crowds" + "s" * 5000}]),
    ],
)
def test_a_forged_manifest_that_names_a_plugin_is_refused(release, entry, value):
    path = release / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest[entry] = value
    path.write_text(json.dumps({name: part for name, part in manifest.items() if part is not None}, indent=1))
    with pytest.raises(BundleDamaged, match="not as format"):
        verify_bundle(release)
    assert "acme" not in sys.modules


@pytest.mark.parametrize("name", ["reticent", "Reticent", "RETICENT"])
def test_a_plugin_of_a_distribution_that_calls_itself_reticent_is_refused(strangers, name, capsys):
    distribution(strangers, name, "1", "[reticent.methods]\nfast = reticent_fast:ROW\n")
    (listed,) = [plugin for plugin in plugins.list_plugins() if plugin.name == "reticent:fast"]
    assert "would pass for ours" in listed.fault
    with pytest.raises(RequestError, match="would pass for ours"):
        rt.Job(columns=COLUMNS, promises=rt.KAnonymity(2), method={"name": "reticent:fast"})
    assert main(["plugins"]) == 0
    assert "would pass for ours" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("judges", ["nobody", ["acme", "nobody"], [""], "x" * 5000, "acme:crowds"])
def test_a_judge_that_nobody_brings_is_refused_whatever_is_audited(acme, judges):
    frame = make_random_table(5, 60)
    for release in (frame, rt.publish(rt.Job(columns=COLUMNS, promises=rt.KAnonymity(2)), frame=frame)):
        roles = {"quasi": ["age", "city"], "sensitive": ["illness"]} if release is frame else {}
        with pytest.raises(RequestError, match="No installed distribution brings it"):
            rt.audit(release, judges=judges, **roles)
        assert rt.audit(release, judges=["acme"], **roles).kept is not False
    assert "acme" not in sys.modules


def test_what_strangers_say_of_their_plugins_is_not_shown_as_it_is(strangers, capsys):
    long = "x" * 5000
    distribution(strangers, "evil<script>", "1", "[reticent.methods]\nfast = evil:ROW\n")
    distribution(strangers, "evil", "1\u202e[red]", "[reticent.attacks]\n<b>bold</b> = evil:ROW\n\x1b[31m = evil:ROW\n")
    distribution(strangers, "longer", "1", f"[reticent.methods]\n{long} = longer:ROW\nfine = os:system(1)\n")
    distribution(strangers, "kinder", "1", "[reticent.kinds]\nours = kinder:ROW\n")
    distribution(strangers, "mondrian", "1", "[reticent.methods]\nmondrian = absent_module:ROW\n")
    assert main(["plugins"]) == 0
    printed = capsys.readouterr().out
    assert main(["plugins", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["plugins"]
    assert len([plugin for plugin in listed if plugin["distribution"] != "acme"]) == 7
    for text in ("<script>", "<b>", "\x1b", "\u202e", long, "system"):
        assert text not in printed + json.dumps(listed, ensure_ascii=False)
    usable = [plugin["name"] for plugin in listed if plugin["usable"]]
    assert usable == ["mondrian:mondrian"]
    assert "no release may make its reader load a plugin" in printed
    with pytest.raises(RequestError, match=r"cannot be loaded \(ModuleNotFoundError\)"):
        plugins.load_plugin("methods", "mondrian:mondrian")
    assert catalogue.METHODS["mondrian"].made_by.startswith("reticent.")


BROKEN = """
from dataclasses import dataclass
from typing import ClassVar
from reticent.catalogue import MethodRow, PromiseRow
from reticent.methods.mondrian import Mondrian

@dataclass(frozen=True)
class Other(Mondrian):
    name: ClassVar[str] = "broken:another"

no_row = {"made_by": "os:system"}
other_name = MethodRow("broken_rows:Other", {}, "generalized")
promise = PromiseRow("a:B", "a:b", {}, "", "")
raising = property()
"""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no_row", "is no MethodRow"),
        ("other_name", "must have name"),
        ("promise", "is no MethodRow"),
        ("absent", "AttributeError"),
    ],
)
def test_a_row_that_is_none_is_refused(strangers, name, why):
    (strangers / "broken_rows.py").write_text(BROKEN)
    distribution(strangers, "broken", "1", f"[reticent.methods]\nmade = broken_rows:{name}\n")
    with pytest.raises(RequestError) as refused:
        rt.Job(columns=COLUMNS, promises=rt.KAnonymity(2), method="broken:made")
    assert why in str(refused.value)
    assert not catalogue.METHODS.plugin_rows


def test_a_judge_that_disagrees_or_fails_publishes_nothing(acme, place, monkeypatch, capsys):
    from acme import crowds

    monkeypatch.setattr(crowds, "judge", lambda asked, evidence, column: crowds.Judgement({"least": 1}, False))
    assert main(["publish", "job.toml", "-o", "release"]) == 3
    assert "code of the plugin acme" in " ".join(capsys.readouterr().err.split())
    monkeypatch.setattr(crowds, "judge", lambda asked, evidence, column: 1 / 0)
    assert main(["publish", "job.toml", "-o", "release"]) == 1
    assert "(ZeroDivisionError)" in capsys.readouterr().err
    assert not Path("release").exists()


def test_a_job_file_of_a_plugin_fits_the_schema():
    schema = build_job_schema()
    job = {"columns": COLUMNS, "promise": [{"model": "acme:crowds", "least": 4}], "method": {"name": "acme:slices"}}
    jsonschema.validate(job, schema)
    jsonschema.validate({**job, "method": "acme:slices"}, schema)
    for name in ("acme:<b>", "mondrain", "acme:", ":slices"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**job, "method": name}, schema)


def test_iterating_the_catalogue_never_lists_a_plugin(acme):
    plugins.load_plugin("methods", "acme:slices")
    assert "acme:slices" not in catalogue.METHODS and "acme:slices" not in list(catalogue.METHODS)
    assert catalogue.METHODS["acme:slices"].kind == "generalized"
    with pytest.raises(KeyError):
        catalogue.METHODS["acme:other"]
