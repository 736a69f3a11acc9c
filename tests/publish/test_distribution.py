"""Publishing by distribution: what is refused before anything is written, job files, tampering and the command line."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.errors import BundleDamaged
from reticent.release import bundle

COLUMNS = {"age": rt.quasi(), "region": rt.quasi(), "income": rt.sensitive()}


def people(rows=60, seed=1):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "region": rng.choice(["North", "South"], rows),
            "income": rng.integers(1, 9, rows) * 10,
        }
    )


def job(target="source", columns=COLUMNS, how=None, **promise):
    return rt.Job(columns=columns, promises=[rt.PPrivacy(target, **promise)], method=rt.Distribution(**(how or {})))


@pytest.fixture(scope="module")
def asked():
    return rt.publish(job(), frame=people())


def refused(made, frame=None, error=rt.RequestError):
    """The refusal of a job; nothing is written."""
    with TemporaryDirectory() as place:
        with pytest.raises(error) as found:
            rt.publish(made(), frame=people() if frame is None else frame, to=Path(place) / "release")
        assert not list(Path(place).iterdir())
    return str(found.value)


REFUSED = {
    "no mass": (
        lambda: job({"weights": {"10": 1, "20": 0, "30": 1, "40": 1, "50": 1, "60": 1, "70": 1, "80": 1}}),
        "no mass",
    ),
    "negative": (lambda: job({"weights": {"10": -1, "20": 2}}), "from 0 on"),
    "all zero": (lambda: job({"weights": {"10": 0, "20": 0}}), "0 or more"),
    "outside": (lambda: job(domain=[10, 50, 10]), "outside"),
    "unknown target": (lambda: job("sauce"), "not known"),
    "extra group": (
        lambda: job(
            {"groups": {"North": "uniform", "South": "uniform", "East": "uniform"}}, how={"group_by": ["region"]}
        ),
        "lacks",
    ),
    "lacking group": (lambda: job({"groups": {"North": "uniform"}}, how={"group_by": ["region"]}), "lacks"),
    "no such column": (lambda: job(how={"group_by": ["town"]}), "no quasi-identifying"),
    "bands of texts": (lambda: job(how={"group_by": {"region": [1, 2]}}), "bands are of numbers"),
    "normal without numbers": (lambda: job({"normal": {"mean": 1, "std": 0}}), "above 0"),
    "nearest unknown": (lambda: job({"nearest": {"model": "k-anonymity", "k": 2}}), "t-closeness"),
    "unreachable": (lambda: job({"nearest": {"model": "probabilistic-l-diversity", "l": 40}}), "keeps the promise"),
    "two promises": (
        lambda: rt.Job(columns=COLUMNS, promises=[rt.PPrivacy(), rt.PPrivacy("uniform")], method=rt.Distribution()),
        "one promise",
    ),
    "another promise": (
        lambda: rt.Job(columns=COLUMNS, promises=[rt.PPrivacy(), rt.KAnonymity(2)], method=rt.Distribution()),
        "cannot keep",
    ),
    "another method": (lambda: rt.Job(columns=COLUMNS, promises=[rt.PPrivacy()]), "distribution"),
    "a stage": (
        lambda: rt.Job(
            columns=COLUMNS, promises=[rt.PPrivacy()], method=rt.Distribution(), prepare=[rt.Suppression(l=2)]
        ),
        "preparing stage",
    ),
    "withholding": (
        lambda: rt.Job(
            columns=COLUMNS, promises=[rt.PPrivacy()], method=rt.Distribution(), release=rt.Output(suppress_at_most=0.1)
        ),
        "suppress_at_most",
    ),
    "half a fake": (lambda: job(how={"fakes": 1.5}), "whole number"),
    "one child": (lambda: job(how={"arity": 1}), "2 to 65,536 children"),
    "no distance": (lambda: job(distance=0), "distance"),
    "bad grid": (lambda: job(domain=[0, 25, 10]), "whole steps"),
    "no file": (lambda: job({"file": "nowhere.csv"}), "cannot be read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_request_is_refused_with_the_reason(name):
    made, why = REFUSED[name]
    assert why in refused(made, error=rt.ReticentError)


def test_missing_values_are_refused():
    frame = people().with_columns(
        pl.when(pl.int_range(60) == 3).then(None).otherwise("income").cast(pl.Int64).alias("income")
    )
    columns = {**COLUMNS, "income": rt.sensitive(missing="category")}
    assert "missing in 1 row" in refused(lambda: job(columns=columns), frame)


def test_two_sensitive_columns_are_refused():
    columns = {**COLUMNS, "region": rt.sensitive()}
    assert "one sensitive column" in refused(lambda: job(columns=columns, column="income"))


def test_a_column_named_group_is_refused():
    columns = {"age": rt.quasi(), "group": rt.quasi(), "income": rt.sensitive()}
    assert "named 'group'" in refused(lambda: job(columns=columns), people().rename({"region": "group"}))


def test_a_continuous_column_is_told_to_be_rounded():
    frame = people().with_columns(pl.Series("income", np.random.default_rng(1).random(60)))
    assert "rounding it to a grid" in refused(lambda: job(), frame)


def test_too_many_fakes_are_refused_before_anything_is_read():
    assert "at most 15,000" in refused(lambda: job("uniform", how={"fakes": 20000}), people(30))


def test_dates_are_refused():
    frame = people().with_columns(pl.date_range(pl.date(2000, 1, 1), pl.date(2000, 2, 29)).alias("income"))
    assert "holds dates" in refused(lambda: job(), frame)


@pytest.mark.parametrize(
    "how", [{}, {"within": "qi-sa"}, {"within": "hilbert"}, {"group_by": "mondrian", "k": 5}, {"fakes": 0.1}]
)
def test_categories_are_published_too(how):
    frame = people().with_columns(pl.col("income").replace_strict({v * 10: "abcdefgh"[v - 1] for v in range(1, 9)}))
    release = rt.publish(job("uniform", how=how), frame=frame)
    assert rt.audit(release, source=frame).kept
    found = release.query("SELECT COUNT(*) FROM release WHERE income IN ('a', 'b')")
    assert found.lower <= frame["income"].is_in(["a", "b"]).sum() <= found.upper
    with pytest.raises(rt.RequestError, match="SUM"):
        release.query("SELECT SUM(income) FROM release")


def test_a_stewards_hierarchy_is_used_and_may_be_uneven():
    tree = [["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]]
    frame = people().with_columns(pl.col("income").map_elements(lambda v: "abc"[v // 10 % 3], return_dtype=pl.String))
    columns = {**COLUMNS, "income": rt.sensitive(hierarchy=tree)}
    release = rt.publish(job("uniform", columns=columns), frame=frame)
    assert release.manifest.own["tree"] == [[0, 2], [0, 1], [2, 2], [0, 0], [1, 1]]
    assert rt.audit(release, source=frame).kept


def test_targets_by_group_and_by_file(tmp_path):
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "target.csv").write_text("value;weight\n" + "".join(f"{v};{1 + v // 40}\n" for v in range(10, 90, 10)))
    (tmp_path / "job.toml").write_text(
        """
[source]
path = "people.csv"
[columns]
age = "quasi-identifying"
region = "quasi-identifying"
income = "sensitive"
[[promise]]
model = "p-privacy"
exact = true
target = { groups = { North = "uniform", South = { file = "target.csv" } } }
[method]
name = "distribution"
group_by = ["region"]
"""
    )
    release = rt.publish(rt.Job.read(tmp_path / "job.toml"), to=tmp_path / "release")
    assert len(release.manifest.own["targets"]) == 2
    assert rt.audit(release, source=tmp_path / "people.csv").kept


def test_carried_columns_stay_with_their_row_and_csv_reads_back():
    frame = people().with_columns(pl.Series("note", ["x", "y", "z"] * 20))
    made = job(columns={**COLUMNS, "note": rt.insensitive()}, how={"group_by": ["region"]}).at(
        release=rt.Output(format="csv")
    )
    release = rt.publish(made, frame=frame)
    assert rt.audit(release, source=frame).kept
    assert release.query("SELECT COUNT(*) FROM release WHERE note = 'x'").estimate == 20


@pytest.mark.parametrize("file", ["sensitive", "bounds", "target"])
def test_a_forged_file_is_found(tmp_path, file):
    release = rt.publish(job("uniform", how={"group_by": ["region"]}), frame=people(), to=tmp_path / "release")
    folder = tmp_path / "release"
    fields = json.loads((folder / "manifest.json").read_text())
    if file == "target":
        fields["targets"][0][1] += 1
    else:
        table = release.tables[file]
        column = "count" if file == "sensitive" else "sum_lower"
        changed = table.with_columns(
            pl.when(pl.int_range(pl.len()) == 0).then(pl.col(column) + 1).otherwise(column).alias(column)
        )
        from reticent.format.data_writer import write_data

        write_data(folder / f"{file}.parquet", changed.cast(table.schema), "parquet")
    fields.pop("files")
    bundle.seal_folder(folder, fields)
    with suppress(BundleDamaged):
        assert rt.audit(folder).kept is False


def test_a_forged_value_is_found_against_the_source():
    frame = people()
    release = rt.publish(job("uniform", how={"group_by": ["region"]}), frame=frame)
    moved = frame.with_columns(
        pl.when(pl.col("region") == "North").then(10).otherwise("income").cast(pl.Int64).alias("income")
    )
    found = rt.audit(release, source=moved)
    assert found.kept is False
    assert found.to_dict()["source"]["values_without_node"] > 0


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("SELECT MEDIAN(income) FROM release", "not understood"),
        ("DELETE FROM release", "not understood"),
        ("SELECT SUM(region) FROM release", "no numbers"),
        ("SELECT COUNT(*) FROM release WHERE income > age", "one column with a value"),
        ("SELECT COUNT(*) FROM release WHERE town = 'x'", "no column 'town'"),
        ("SELECT COUNT(*) FROM release WHERE region ILIKE 'n%'", "ILIKE"),
        ("SELECT COUNT(*) FROM release WHERE age > 'old'", "compared with a text"),
        ("SELECT COUNT(*) FROM release, s", "JOIN"),
        ("SELECT COUNT(*) FROM (SELECT * FROM release)", "question within a question"),
        ("SELECT COUNT(*) OVER () FROM release", "window"),
        ("SELECT region FROM release GROUP BY region", "no aggregate"),
        ("SELECT COUNT(DISTINCT income) FROM release", "DISTINCT"),
        ("SELECT age, COUNT(*) FROM release", "GROUP BY"),
        ("SELECT COUNT(*) FROM release ORDER BY age", "ORDER BY"),
        ("what?", "understood"),
    ],
)
def test_sql_that_is_not_understood_is_refused_by_name(asked, question, why):
    with pytest.raises(rt.RequestError) as found:
        asked.query(question)
    assert why in str(found.value)


def test_other_kinds_are_counted_by_the_same_words():
    frame = people()
    made = rt.Job(columns=COLUMNS, promises=[rt.ProbabilisticLDiversity(2)], method=rt.Anatomy())
    found = rt.publish(made, frame=frame).query("SELECT COUNT(*) FROM release WHERE age < 40 AND income >= 50")
    assert found.lower <= len(frame.filter((pl.col("age") < 40) & (pl.col("income") >= 50))) <= found.upper


def test_the_command_asks_prints_and_runs_elsewhere(tmp_path, capsys):
    release = rt.publish(job("uniform"), frame=people(), to=tmp_path / "release")
    question = "SELECT AVG(income) FROM release WHERE age BETWEEN 30 AND 40"
    assert main(["query", str(tmp_path / "release"), question, "--json"]) == 0
    here = json.loads(capsys.readouterr().out)
    assert here == release.query(question).to_dict()
    url = f"sqlite:///{tmp_path}/r.db"
    assert main(["export", str(tmp_path / "release"), url, "--table", "people"]) == 0
    capsys.readouterr()
    assert main(["query", str(tmp_path / "release"), question, "--at", url, "--table", "people", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == pytest.approx(here)
    assert main(["query", str(tmp_path / "release"), question, "--print-sql", "duckdb", "--table", "people"]) == 0
    assert 'FROM "people_quasi"' in capsys.readouterr().out
    assert main(["query", str(tmp_path / "release"), "SELECT region, COUNT(*) FROM release GROUP BY region"]) == 0
    assert "North" in capsys.readouterr().out
    assert main(["query", str(tmp_path / "release"), "SELECT"]) == 1
    assert main(["attack", str(tmp_path / "release"), "--as", "algorithm", "--json"]) == 0


def test_a_workload_decides_the_size_of_subgroups():
    frame = people(2000)
    sizes = {}
    for share in (0.02, 0.9):
        release = rt.publish(job("uniform", how={"within": "hilbert", "workload": {"age": share}}), frame=frame)
        sizes[share] = release.tables["quasi"]["group"].n_unique()
    assert sizes[0.02] > sizes[0.9]
    assert "no quasi-identifying" in refused(lambda: job(how={"within": "hilbert", "workload": {"town": 0.1}}))
    assert "workload" in refused(lambda: job(how={"workload": {"age": 2}}))


def test_a_grid_that_the_columns_type_cannot_hold_is_refused():
    frame = people().cast({"income": pl.UInt8})
    assert "cannot hold" in refused(lambda: job(domain=[0, 1000, 10]), frame)
    assert "cannot hold" in refused(lambda: job(domain=[0, 100, 2.5]), frame)


def test_the_path_of_a_targets_file_is_not_published(tmp_path):
    (tmp_path / "target.csv").write_text("".join(f"{v};1\n" for v in range(10, 90, 10)))
    release = rt.publish(job({"file": str(tmp_path / "target.csv")}), frame=people())
    assert str(tmp_path) not in (release.folder / "manifest.json").read_text()
    assert release.manifest.promises[0].parameters["target"] == {"file": "target.csv"}


def test_a_job_is_compared_with_the_manifest_by_value():
    made = job({"normal": {"mean": 40, "std": 12.5}}, distance=0.1)
    release = rt.publish(made, frame=people())
    assert rt.audit(release, job=made).kept
    assert rt.audit(release, job=job({"normal": {"mean": 40, "std": 13}}, distance=0.1)).kept is False


def test_a_target_that_is_not_the_one_promised_is_found(tmp_path):
    """Relabelled as a promise of another curve, the same files no longer keep it."""
    rt.publish(job("uniform"), frame=people(), to=tmp_path / "release")
    fields = json.loads((tmp_path / "release" / "manifest.json").read_text())
    fields["promises"][0]["target"] = {"zipf": {"s": 2}}
    fields.pop("files")
    bundle.seal_folder(tmp_path / "release", fields)
    assert rt.audit(tmp_path / "release").kept is False


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("numbers", [[-15, -5, 0, 20], [-0.25, 0.1, 0.2, 1.75], [0, 255, 256, 70000]])
def test_negative_decimal_and_large_numbers_keep_their_bounds(format, numbers):
    rng = np.random.default_rng(2)
    frame = people().with_columns(pl.Series("income", rng.choice(numbers, 60)))
    made = job("uniform", how={"group_by": ["region"], "fakes": 0.1}).at(release=rt.Output(format=format))
    release = rt.publish(made, frame=frame)
    assert rt.audit(release, source=frame, job=made).kept
    for name in ("sum", "min", "max", "mean"):
        found = release.query(f"SELECT {name if name != 'mean' else 'avg'}(income) FROM release WHERE age > 30")
        true = getattr(frame.filter(pl.col("age") > 30)["income"], name)()
        assert found.lower <= true <= found.upper


def test_sums_that_do_not_fit_are_refused():
    frame = people().with_columns(pl.col("income") * 10**15)
    assert "64 bits" in refused(lambda: job("uniform"), frame)


def test_the_labels_of_a_generalized_release_are_not_read_by_plain_sql():
    made = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(5)])
    with pytest.raises(rt.RequestError, match="labels"):
        rt.publish(made, frame=people()).sql("SELECT COUNT(*) FROM release", "duckdb")


@pytest.mark.parametrize("within", ["sa-only", "qi-sa", "hilbert"])
def test_each_groups_own_distribution_is_compared_with_its_target(within):
    frame = people(200)
    release = rt.publish(job("group", how={"group_by": ["region"], "within": within}), frame=frame)
    found = rt.audit(release, source=frame)
    assert found.kept
    assert found.to_dict()["source"]["target_distance"] <= 0.05


def test_more_fakes_than_declared_are_found_against_the_source(tmp_path):
    frame = people()
    rt.publish(job("uniform", how={"fakes": 5}), frame=frame, to=tmp_path / "release")
    assert rt.audit(tmp_path / "release", source=frame).kept
    fields = json.loads((tmp_path / "release" / "manifest.json").read_text())
    fields["method"]["fakes"] = 0
    fields.pop("files")
    bundle.seal_folder(tmp_path / "release", fields)
    found = rt.audit(tmp_path / "release", source=frame)
    assert found.kept is False
    assert found.to_dict()["source"]["fakes_beyond_declared"] > 0


def test_fakes_whose_costs_do_not_fit_memory_are_refused():
    assert "GB" in refused(lambda: job("uniform", how={"fakes": 15_000}), people(3000))
