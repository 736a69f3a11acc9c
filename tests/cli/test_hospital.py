"""A hospital's messy export, from `init` to an audited release by the command line alone (fewer rows than the benchmark's)."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.support import hospital

ROWS = 3_000


@pytest.fixture
def drafted(run, place):
    """The export beside the job that `init` drafted, unedited."""
    hospital.write(Path("hospital.csv"), ROWS)
    assert run("init", "hospital.csv").code == 0
    return tomllib.loads(Path("hospital.toml").read_text())


def test_the_drafted_job_runs_as_it_is_to_an_audited_release(run, drafted):
    checked = run("check", "hospital.toml")
    assert checked.code == 0, checked.err
    published = run("publish", "hospital.toml", "-o", "release")
    assert published.code == 0, published.err
    audited = run("audit", "release", "--source", "hospital.csv", "--job", "hospital.toml", "--json")
    assert audited.code == 0, audited.err
    found = json.loads(audited.out)
    assert found["kept"] is True
    assert found["source"]["passed"] is True
    assert found["source"]["unmatched"] == 0


def test_the_draft_reads_the_file_as_it_is_written(drafted):
    assert drafted["source"] == {"path": "hospital.csv", "encoding": "latin-1", "missing": ["NA", "unknown"]}
    columns = drafted["columns"]
    assert columns["birth_date"] == {"role": "quasi-identifying", "format": "%m/%d/%Y"}
    assert columns["discharged"] == {"role": "quasi-identifying", "format": "%d.%m.%Y"}
    assert columns["charges"] == {"role": "quasi-identifying", "format": "1,234.5"}


def test_the_draft_proposes_what_a_steward_would_declare(drafted):
    columns = drafted["columns"]
    assert columns["patient_id"] == {"role": "identifying", "rows_per_person": hospital.MOST_ROWS_PER_PERSON}
    assert columns["note"] == {"role": "identifying"}
    assert columns["weight"]["role"] == "insensitive" and columns["weight"]["round_to"] > 0
    assert columns["zip"]["hierarchy"] == {"build": "prefixes", "keep": [5, 3, 1]}
    assert columns["diagnosis"]["role"] == "sensitive"
    assert {name for name, column in columns.items() if column["role"] == "quasi-identifying"} == set(hospital.QUASI)
    text = Path("hospital.toml").read_text()
    assert (
        "\n#     reticent hierarchy --data hospital.csv --encoding latin-1 --missing NA --missing unknown"
        " --column diagnosis --build prefixes -o diagnosis.csv\n" in text
    )
    assert "# Not looked at: " in text


def test_check_says_what_binds_and_its_advice_can_be_pasted(run, drafted):
    ran = run("check", "hospital.toml", "--methods", "mondrian", "--budget", "60")
    assert "Loss by column: " in ran.out
    assert "have 1 row each, and by beta-likeness a group that holds one must have at least" in ran.out
    pasted = ran.out[ran.out.index("Instead of beta-likeness, to paste:") :].splitlines()[1:]
    command = next(line for line in pasted if "reticent hierarchy" in line).strip("# ").split()[1:]
    assert run(*command).code == 0
    promise = "\n".join(
        line.strip() for line in pasted[: pasted.index("  [[promise]]") + 5] if not line.strip().startswith("#")
    )
    promise = promise.split("\n\n")[0].split("It protects")[0]
    text = Path("hospital.toml").read_text()
    text = text.replace(
        'diagnosis = { role = "sensitive" }', 'diagnosis = { role = "sensitive", hierarchy = "diagnosis.csv" }'
    )
    start = text.index("[[promise]]  # no group lifts")
    Path("better.toml").write_text(text[:start] + promise + "\n\n" + text[text.index("[method]") :])
    before = json.loads(run("check", "hospital.toml", "--methods", "mondrian", "--json").out)
    after = json.loads(run("check", "better.toml", "--methods", "mondrian", "--json").out)
    assert after["methods"][0]["ail"] < before["methods"][0]["ail"]


def test_the_figures_behind_the_explanation_are_in_the_json(run, drafted):
    found = json.loads(run("check", "hospital.toml", "--methods", "mondrian", "--json").out)["explained"]
    assert set(found["by_column"]) == set(hospital.QUASI)
    assert found["rare"][0]["rows"] == 1
    left_out = {one["promise"]: one["ail"] for one in found["changes"] if one["what"] == "left out"}
    assert left_out["beta-likeness"] < max(left_out.values()) <= 1


def test_no_line_of_the_draft_is_too_wide_to_be_read(drafted):
    lines = Path("hospital.toml").read_text().splitlines()
    assert [line for line in lines if len(line) > 120] == [
        line for line in lines if line.startswith("#     reticent hierarchy ")
    ]
    below = lines[next(at for at, line in enumerate(lines) if line.startswith("patient_id = ")) + 1]
    assert below.startswith("#   CONFIRM: ")
