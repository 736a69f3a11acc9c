"""What a publisher says of a release stands in everything that is handed out, as text and never as markup, and old releases say nothing."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent.catalogue.about_fields import ABOUT_FIELDS
from reticent.cli.main import main
from reticent.errors import BundleDamaged
from reticent.release.bundle import seal_folder
from reticent.release.kind import reader_for

FROZEN = Path(__file__).parents[1] / "fixtures" / "formats" / "0.1.0"
ABOUT = {
    "title": "Visits to the clinic, 2024",
    "publisher": "St. Mary's Hospital, Ulm",
    "period": "2024-01-01 to 2024-12-31",
    "contact": "data_office@example.org",
    "licence": "For research; not to be passed on",
    "citation": "St. Mary's Hospital (2025). Visits.",
    "purpose": "Studies of how long patients stay",
    "recipients": ["University of Ulm", "Ministry of Health"],
    "earlier": ["Visits to the clinic, 2023"],
}
PEOPLE = pl.DataFrame(
    {
        "name": [f"Person Number{number}" for number in range(120)],
        "number": [10_000 + 7 * number for number in range(120)],
        "clinic": ["St. Mary's Hospital", "Ulm"] * 60,
        "admitted": [f"2024-{1 + number % 12:02}-{1 + number % 28:02}" for number in range(120)],
        "age": [20 + number % 60 for number in range(120)],
        "illness": ["flu", "cold", "gout", "acne"] * 30,
    }
)
COLUMNS = {
    "name": "identifying",
    "number": "identifying",
    "clinic": "identifying",
    "admitted": "identifying",
    "age": "quasi",
    "illness": "sensitive",
}


def make_job(about=ABOUT, **options):
    return rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(3)], about=about, **options)


def publish(about=ABOUT, **options):
    return rt.publish(make_job(about, **options), frame=PEOPLE, seed=1)


def test_a_job_file_and_python_say_the_same_and_the_job_is_written_back():
    job = make_job()
    assert job == make_job(rt.About(**ABOUT))
    table = job.to_dict()
    assert table["about"] == ABOUT
    assert rt.Job.from_dict({**table, "source": {}}).about == job.about
    assert "about" not in make_job(None).to_dict() and "[about]" not in make_job(None).to_toml()
    assert make_job({}).about is None


def test_a_list_may_be_one_text_and_line_ends_become_blanks():
    about = rt.About(recipients="Everybody", purpose="To see\n   how\tit goes ")
    assert about.recipients == ("Everybody",) and about.purpose == "To see how it goes"


@pytest.mark.parametrize("name", ABOUT_FIELDS)
@pytest.mark.parametrize(
    "value", ["", "  \n", "a\x1b[31mb", "a\u202eb", "a\x00b", "a\u200bb", "x" * 2_001, 3, None, ["a", 3], {}]
)
def test_a_text_that_cannot_be_published_is_refused_by_its_name_and_is_not_repeated(name, value):
    if value is None:
        assert getattr(rt.About(**{name: value}), name) is None
        return
    with pytest.raises(rt.RequestError) as refused:
        make_job({name: value})
    assert name in str(refused.value) and "\x1b" not in str(refused.value) and "x" * 100 not in str(refused.value)


def test_a_name_that_is_none_is_refused_with_those_that_are():
    with pytest.raises(rt.RequestError, match="'title'"):
        make_job({"titel": "x"})
    with pytest.raises(rt.RequestError, match="about must be"):
        make_job("Visits")


def test_manifest_readme_report_audit_and_repr_say_it():
    release = publish()
    assert release.about == ABOUT == release.manifest.about == rt.open(release.folder).about
    readme = " ".join((release.folder / "README.md").read_text(encoding="utf-8").split())
    assert readme.startswith("# Visits to the clinic, 2024 ")
    report = rt.report(release)
    assert report.facts["title"] == ABOUT["title"]
    internal = rt.report(release, source=PEOPLE, budget=0)
    audit = rt.audit(release.folder)
    assert audit.to_dict()["about"] == ABOUT and str(audit).startswith(ABOUT["title"])
    assert repr(release).startswith("<Visits to the clinic, 2024: generalized release of 120 rows")
    pages = [
        readme.replace("&#95;", "_"),
        *(r.html().replace("&#x27;", "'") for r in (report, internal)),
        report.json(),
    ]
    pages += [report.markdown().replace("&#95;", "_"), release._repr_html_().replace("&#x27;", "'")]
    for page in pages:
        for said in ABOUT.values():
            for line in [said] if isinstance(said, str) else said:
                assert line in page, line
    assert ABOUT["title"] in audit._repr_html_()


def test_a_release_that_says_nothing_has_no_word_of_it():
    release = publish(None)
    assert release.about == {} and "about" not in json.loads((release.folder / "manifest.json").read_text())
    assert "about" not in rt.audit(release.folder).to_dict()
    assert (release.folder / "README.md").read_text().startswith("# A generalized release of 120 rows")
    assert repr(release).startswith("<generalized release")


def test_rows_and_columns_do_not_depend_on_what_is_said():
    assert publish().frame().equals(publish(None).frame())


@pytest.mark.parametrize("folder", sorted((FROZEN / "releases").iterdir()), ids=lambda path: path.name)
def test_a_release_of_an_earlier_version_says_nothing_and_its_readme_is_of_the_first_edition(folder):
    release = rt.open(folder)
    assert release.about == {} and release.manifest.readme == 1
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert reader_for(release.kind).readme(release.manifest) == text


class TagCollector(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


HOSTILE = {
    "title": "<script>alert(1)</script> [x](javascript:alert(1)) # `code` *bold* __b__ | a ~~s~~ $m$ &lt; \\* ![i](http://x)",
    "publisher": "--- - # Head | cell | <img src=x onerror=alert(1)>",
    "contact": "1. one <a href='javascript:x'>y</a> ```sh rm -rf ~ ```",
    "recipients": ["=cmd|'/c calc'!A1", "## What is promised", "</style><b>"],
    "earlier": ["- a", "> quote", "+ b <i>"],
}


def test_markup_in_what_is_said_is_text_in_readme_and_pages():
    plain, release = publish(None), publish(HOSTILE)
    readme = (release.folder / "README.md").read_text(encoding="utf-8")
    outside_code = re.sub(r"```.*?```", "", readme, flags=re.DOTALL)
    assert "<" not in outside_code.replace("<-", "") and "](" not in readme and "**bold" not in readme
    heads = [line for line in readme.splitlines() if line.startswith("#")]
    assert len([line for line in heads if line.startswith("# ")]) == 2 - 1, heads
    assert [line for line in heads if line == "## What is promised"] == ["## What is promised"]
    assert readme.count("```") == (plain.folder / "README.md").read_text(encoding="utf-8").count("```")
    pages = {}
    for name, opened in (("plain", plain), ("hostile", release)):
        collector = TagCollector()
        collector.feed(rt.report(opened).html() + opened._repr_html_())
        pages[name] = collector
    assert pages["hostile"].tags <= pages["plain"].tags | {"ul", "li"}
    assert pages["hostile"].attributes <= pages["plain"].attributes
    for said in ("alert(1)", "calc"):
        assert said in rt.report(release).html(), "it is shown, as text"


def forge(folder: Path, about) -> None:
    """Make the folder of a stranger who has this software: manifest, README and checksums agree."""
    fields = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    fields.pop("files")
    fields.pop("about", None)
    seal_folder(folder, {**fields, "about": about})


@pytest.mark.parametrize(
    "about",
    [
        {},
        [],
        "title",
        {"title": ""},
        {"title": " a"},
        {"title": "a  b"},
        {"title": "a\nb"},
        {"title": "\x1b]0;owned\x07"},
        {"title": "\x9b31m"},
        {"title": "a\u202eb"},
        {"title": "a\u2028b"},
        {"title": "\ufeffa"},
        {"title": "a\U000e0041b"},
        {"title": "x" * 201},
        {"purpose": "x" * 2_001},
        {"title": 3},
        {"title": None},
        {"title": ["a"]},
        {"recipients": "a"},
        {"recipients": []},
        {"recipients": ["a"] * 51},
        {"recipients": [["a"]]},
        {"earlier": {"a": "b"}},
        {"homepage": "x"},
    ],
)
def test_a_forged_manifest_with_another_text_is_refused_and_nothing_of_it_is_shown(about, tmp_path):
    release = publish(None)
    release.save(tmp_path / "release", ledger=tmp_path / "ledger")
    forge(tmp_path / "release", about)
    with pytest.raises(BundleDamaged) as refused:
        rt.open(tmp_path / "release")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]|owned", str(refused.value))


def test_a_readme_of_another_edition_than_this_version_knows_is_refused(tmp_path):
    release = publish(None)
    release.save(tmp_path / "release", ledger=tmp_path / "ledger")
    fields = json.loads((tmp_path / "release" / "manifest.json").read_text(encoding="utf-8"))
    assert fields["readme"] == 2
    for edition in (0, 1, 3, "2", True, None):
        seal_folder(tmp_path / "release", {**fields, "readme": edition})
        with pytest.raises(BundleDamaged):
            rt.open(tmp_path / "release")


def test_a_title_that_somebody_exchanged_disagrees_with_readme_and_job(tmp_path):
    release = publish()
    release.save(tmp_path / "release", ledger=tmp_path / "ledger")
    forge(tmp_path / "release", {"title": "Another"})
    with pytest.raises(BundleDamaged, match="README"):
        rt.open(tmp_path / "release")
    audit = rt.audit(release.folder, job=make_job({"title": "Another"}))
    assert audit.verdict == "differs" and "about the release" in audit.disagreements[0]
    assert rt.audit(release.folder, job=make_job()).kept


@pytest.mark.parametrize(
    ("said", "column"),
    [
        ("The case of Person Number17", "name"),
        ("PERSON NUMBER17, and others", "name"),
        ("Write to (Person Number17)", "name"),
        ("Record 10119, discharged", "number"),
        ("From 2024-05-13 on", "admitted"),
        ("From 2024-05-01 on, 10001 records", None),
    ],
)
def test_a_text_that_names_a_person_is_a_leak_that_the_audit_with_the_source_finds(said, column):
    for name in ("title", "contact", "recipients", "earlier"):
        audit = rt.audit(publish({name: said}), source=PEOPLE)
        places = [(leak.column, leak.file, leak.values) for leak in audit.source.leaks]
        if column is None:
            assert places == []
        else:
            assert places == [(column, "[about] of manifest.json", 1)]
            assert audit.verdict == "differs" and "Number17" not in str(audit.source)


def test_what_publishers_say_is_no_leak_where_columns_that_are_not_published_hold_it_too():
    audit = rt.audit(publish(), source=PEOPLE)
    assert audit.source.leaks == () and audit.kept, str(audit)


def test_a_value_that_only_withheld_rows_have_is_a_leak():
    frame = PEOPLE.with_columns(
        illness=pl.when(pl.arange(0, 120) == 5).then(pl.lit("leprosy")).otherwise(pl.col("illness")),
        age=pl.when(pl.arange(0, 120) == 5).then(pl.lit(110)).otherwise(pl.col("age")),
    )
    job = make_job({"title": "Patients with leprosy and others"}, release=rt.Output(suppress_at_most=0.05))
    release = rt.publish(job, frame=frame, seed=1)
    leaks = rt.audit(release.folder, source=frame).source.leaks
    published = release.frame()["illness"].to_list()
    assert [(leak.column, leak.values) for leak in leaks] == ([] if "leprosy" in published else [("illness", 1)])


@pytest.mark.parametrize(
    "name", ["anatomy-csv", "beta-perturbation-parquet", "distribution-csv", "perturbed-generalization-csv"]
)
def test_every_kind_says_it_and_no_kind_takes_it_for_a_leak(name, tmp_path):
    job = rt.Job.read(FROZEN / f"{name}.toml").at(about={**ABOUT, "title": "People and their illnesses"})
    release = rt.publish(job, to=tmp_path / "release", seed=7, ledger=tmp_path / "ledger")
    audit = rt.audit(release.folder, source=FROZEN / "people.csv", job=job)
    assert audit.source.leaks == () and audit.kept is not False, str(audit)
    assert "# People and their illnesses" in (release.folder / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.write_csv("people.csv")
    Path("job.toml").write_text(make_job().at(source="people.csv").to_toml(), encoding="utf-8")
    return tmp_path


def run_json(capsys, *words: str) -> dict:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_json_of_publish_and_audit_has_it_and_people_read_the_title(clinic, capsys):
    assert run_json(capsys, "publish", "job.toml", "-o", "release")["about"] == ABOUT
    assert run_json(capsys, "audit", "release")["about"] == ABOUT
    assert main(["audit", "release"]) == 0
    assert ABOUT["title"] in capsys.readouterr().out


def test_a_draft_has_it_in_comments_that_may_be_taken_away(clinic, capsys):
    assert main(["init", "people.csv", "-o", "draft.toml"]) == 0
    draft = Path("draft.toml").read_text(encoding="utf-8")
    assert rt.Job.read("draft.toml").about is None
    head, _, about = draft.partition("# [about]")
    Path("draft.toml").write_text(head + "[about]" + about.replace("\n# ", "\n"), encoding="utf-8")
    said = rt.Job.read("draft.toml").about
    assert said is not None and set(said.to_plain()) == set(ABOUT_FIELDS)


def test_faults_of_a_job_file_are_refused_with_exit_code_1_and_nothing_is_written(clinic, capsys):
    text = Path("job.toml").read_text(encoding="utf-8")
    for fault in ("title = 3", 'titel = "x"', 'title = "a\\u001bb"', 'recipients = [""]', 'title = ""'):
        Path("bad.toml").write_text(f"{text.partition('[about]')[0]}[about]\n{fault}\n", encoding="utf-8")
        assert main(["publish", "bad.toml", "-o", "bad"]) == 1
        message = capsys.readouterr().err
        assert "about" in message and "\x1b" not in message
        assert not Path("bad").exists()


def test_batches_say_it_too(clinic):
    frame = PEOPLE.with_columns(site=pl.Series(["north", "south"] * 60))
    job = rt.Job(columns={**COLUMNS, "site": "insensitive"}, promises=[rt.KAnonymity(3)], about=ABOUT)
    rt.publish_batches(job, "site", "batches", frame=frame, seed=1)
    assert [rt.open(folder).about for folder in sorted(Path("batches").iterdir()) if folder.is_dir()] == [ABOUT, ABOUT]
