"""Advice of refused audits, damaged release folders and measured risks: provoked and followed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import polars as pl

import reticent as rt
from reticent.audit import result as audit_result
from reticent.audit.generalized import GeneralizedAuditor
from reticent.audit.transformed import TooFineCounts
from reticent.format import data_files
from tests.advice.cases import CaseTable, Desk, Steps
from tests.advice.kind_releases import publish_kind
from tests.support import contract_examples, tampering
from tests.support.contract_examples import CITIES, people, population
from tests.support.method_promise_pairs import made_promise
from tests.support.release_folders import resealed

TABLE = CaseTable()
follows = TABLE.follows
QUASI = ["age", "city"]


def copy_release(desk: Desk, kind: str = "generalized", name: str = "copy") -> Path:
    """Copy a release of a kind: what somebody was handed."""
    return shutil.copytree(publish_kind(kind).folder, desk / name)


def audit_kind(kind: str, *models: str) -> rt.Audit:
    """Judge further promises of a release of a kind."""
    return rt.audit(publish_kind(kind).folder, promises=[made_promise(model) for model in models])


def audit_table(**options: Any) -> rt.Audit:
    """Audit a table of another tool."""
    return rt.audit(people().select("age", "city", "illness"), **{"quasi": QUASI, "sensitive": ["illness"], **options})


# Promises that a release cannot be judged by.


@follows("audit/audit.py", "{error.attempt}")
@follows("audit/groups.py", "{self.suggest_promise()}")
def judge_groups_of_redrawn_values(desk: Desk) -> Steps:
    yield lambda: audit_kind("perturbed", "t-closeness")
    yield lambda: audit_kind("perturbed", "beta-likeness")


@follows("audit/groups.py", "{self.suggest_promise()}")
def judge_groups_of_one_value(desk: Desk) -> Steps:
    yield lambda: audit_kind("sampled", "t-closeness")
    yield lambda: audit_kind("sampled", "rho-guarantee")


@follows("audit/groups.py", "{self.suggest_promise()}")
def judge_values_where_none_is_sensitive(desk: Desk) -> Steps:
    yield lambda: audit_table(sensitive=None, promises=[rt.BetaLikeness(2)])
    yield lambda: audit_table(sensitive=None, promises=[rt.KAnonymity(2)])


@follows("audit/groups.py", "column = one of ….")
def judge_values_of_no_sensitive_column(desk: Desk) -> Steps:
    yield lambda: audit_table(promises=[rt.BetaLikeness(2, column="city")])
    yield lambda: audit_table(promises=[rt.BetaLikeness(2, column="illness")])


@follows("audit/audit.py", "{evidence.suggest_promise()}")
def judge_windows_of_words(desk: Desk) -> Steps:
    yield lambda: audit_kind("generalized", "proximity-beta-likeness")
    yield lambda: audit_kind("generalized", "beta-likeness")


@follows("audit/row_matching.py", "a hierarchy with its labels, or the audit without the source.")
def compare_labels_that_the_hierarchy_lacks(desk: Desk) -> Steps:
    source = people().select("age", "city", "illness")
    table = source.with_columns(pl.lit("N").alias("city"))

    def audit_with(label: str, **options: Any) -> rt.Audit:
        hierarchy = {"city": [[city, label, "*"] for city in CITIES]}
        return rt.audit(table, quasi=QUASI, sensitive=["illness"], hierarchy=hierarchy, **options)

    yield lambda: audit_with("north", source=source)
    yield lambda: audit_with("N", source=source)
    yield lambda: audit_with("north")


def list_judged(kind: str) -> str:
    return {"perturbed": "beta-likeness", "sampled": "rho-guarantee"}.get(kind, "beta-likeness")


@follows("audit/measure/background.py", "{evidence.suggest_promise()}")
def judge_background_knowledge_of_other_kinds(desk: Desk) -> Steps:
    yield lambda: audit_kind("sampled", "bt-privacy")
    for kind in ("anatomized", "perturbed", "transformed", "sampled"):
        yield lambda kind=kind: audit_kind(kind, list_judged(kind))


@follows("audit/measure/background.py", "the promise with these numbers.")
def judge_bandwidth_that_nobody_chose(desk: Desk) -> Steps:
    columns = contract_examples.columns("illness")
    release = rt.publish(rt.Job(columns=columns, promises=[rt.BTPrivacy("auto", 0.6)]), frame=people())
    chosen = release.manifest.promises[0].parameters["bandwidth"]
    assert chosen != "auto"
    yield lambda: rt.audit(release.folder, source=people(), promises=[rt.BTPrivacy("auto", 0.6)])
    yield lambda: rt.audit(release.folder, source=people(), promises=[rt.BTPrivacy(chosen, 0.6)])


@follows("audit/measure/p_privacy.py", "{evidence.suggest_promise()}")
def judge_targets_of_other_kinds(desk: Desk) -> Steps:
    yield lambda: audit_kind("perturbed", "p-privacy")
    for kind in ("generalized", "anatomized", "perturbed", "sampled"):
        yield lambda kind=kind: audit_kind(kind, list_judged(kind))


@follows("audit/measure/corruption.py", "{evidence.suggest_promise()}")
def judge_corruption_of_other_kinds(desk: Desk) -> Steps:
    yield lambda: audit_kind("perturbed", "delta-growth")
    for kind in ("generalized", "anatomized", "perturbed", "transformed"):
        yield lambda kind=kind: audit_kind(kind, list_judged(kind))


@follows("audit/transformed.py", "its own p-privacy.")
def judge_targets_that_are_too_fine(desk: Desk) -> Steps:
    yield lambda: list(TooFineCounts())
    yield lambda: audit_kind("transformed", "p-privacy")


@follows("audit/subject.py", "rt.KAnonymity(5), or its table.")
def judge_something_else(desk: Desk) -> Steps:
    yield lambda: audit_table(promises=[{"model": "k-anonymity", "k": "many"}])
    yield lambda: audit_table(promises=[rt.KAnonymity(5)])
    yield lambda: audit_table(promises=[{"model": "k-anonymity", "k": 5}])


@follows("audit/result.py", "the parameters that the model takes.")
def judge_by_unreadable_parameters(desk: Desk) -> Steps:
    def judge_without_k(parameters: Any, evidence: Any, column: Any) -> Any:
        return parameters["another"]

    audit = lambda: audit_table(promises=[rt.KAnonymity(2)])  # noqa: E731
    yield desk.with_setting(audit_result, "_load_judge", lambda model: judge_without_k, audit)
    yield lambda: audit_table(promises=[rt.KAnonymity(2)])


# What is audited.


@follows("audit/audit.py", "leaving them out.")
def audit_release_with_roles(desk: Desk) -> Steps:
    yield lambda: rt.audit(publish_kind("generalized").folder, quasi=["age"])
    yield lambda: rt.audit(publish_kind("generalized").folder)


@follows("audit/audit.py", "leaving expect_digest out.")
def expect_digest_of_a_table(desk: Desk) -> Steps:
    yield lambda: audit_table(expect_digest="0" * 64)
    yield lambda: audit_table()


@follows("audit/audit.py", "quasi=[...] or sensitive=[...] with it.")
def audit_table_with_hierarchy_of_no_role(desk: Desk) -> Steps:
    yield lambda: audit_table(quasi=["age"], hierarchy={"city": CITIES})
    yield lambda: audit_table(hierarchy={"city": CITIES})


@follows("audit/subject.py", "a table with rows.")
def audit_nothing(desk: Desk) -> Steps:
    yield lambda: rt.audit(people().select(QUASI).head(0), quasi=QUASI)
    yield lambda: rt.audit(people().select(QUASI), quasi=QUASI)


@follows("audit/subject.py", "quasi=[...], or a job that declares them.")
def audit_table_without_roles(desk: Desk) -> Steps:
    job = rt.Job(columns=contract_examples.columns("illness"), promises=[rt.KAnonymity(2)])
    yield lambda: audit_table(quasi=None)
    yield lambda: audit_table()
    yield lambda: audit_table(quasi=None, sensitive=None, job=job)


@follows("audit/person_counts.py", "a table with the same columns.")
def count_population_without_columns(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    yield lambda: rt.audit(folder, population=population().drop("city"))
    yield lambda: rt.audit(folder, population=population())


@follows("audit/source_comparison.py", "the source it was made from, read as it was (--job).")
def compare_with_source_that_lacks_a_column(desk: Desk) -> Steps:
    yield lambda: rt.audit(publish_kind("generalized").folder, source=people().drop("city"))
    yield lambda: rt.audit(publish_kind("generalized").folder, source=people())
    people().write_csv(desk / "people.csv", separator=";")
    (desk / "job.toml").write_text(
        '[source]\npath = "people.csv"\ndelimiter = ";"\n[columns]\nname = "identifying"\nage = "quasi-identifying"\n'
        f'city = {{ role = "quasi-identifying", hierarchy = {CITIES} }}\nillness = {{ role = "sensitive", hierarchy = '
        f'{contract_examples.ILLNESS} }}\nwage = "identifying"\n[[promise]]\nmodel = "k-anonymity"\nk = 3\n'
    )
    yield desk.command("audit", publish_kind("generalized").folder, "--source", "people.csv", "--job", "job.toml")


# Damaged and changed release folders.


@follows("audit/anatomized.py", "the publisher: somebody changed the release after it was published.")
def list_values_of_groups_in_another_order(desk: Desk) -> Steps:
    release = publish_kind("anatomized")
    tables = dict(release.tables) | {"sensitive": release.tables["sensitive"].reverse()}
    yield lambda: rt.audit(tampering.resealed(release, desk / "changed", tables))
    yield lambda: rt.audit(copy_release(desk, "anatomized"))


@follows("audit/order.py", "the publisher: somebody changed the release after it was published.")
def publish_rows_in_another_order(desk: Desk) -> Steps:
    release = publish_kind("anatomized")
    tables = dict(release.tables) | {"quasi": release.tables["quasi"].reverse()}
    yield lambda: rt.audit(tampering.resealed(release, desk / "changed", tables))
    yield lambda: rt.audit(copy_release(desk, "anatomized"))


@follows("release/bundle.py", "the publisher: somebody changed it after it was published.")
def expect_another_digest(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    yield lambda: rt.audit(folder, expect_digest="0" * 64)
    yield lambda: rt.audit(folder, expect_digest=publish_kind("generalized").digest)


@follows("audit/manifest_checks.py", "getting the folder again from its publisher.")
def list_value_that_no_row_shows(desk: Desk) -> Steps:
    columns = {"city": rt.quasi(), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(3)])
    rt.publish(job, frame=people().select(*columns), to=desk / "release")
    folder = shutil.copytree(desk / "release", desk / "changed")
    resealed(folder, lambda stated: stated["columns"][0]["values"].append("Rom"))
    yield lambda: rt.audit(folder)
    yield lambda: rt.audit(desk / "release")


@follows("audit/manifest_checks.py", "getting the folder again from its publisher.")
def write_header_in_another_spelling(desk: Desk) -> Steps:
    job = rt.Job(
        columns=contract_examples.columns("illness"),
        promises=[rt.KAnonymity(3)],
        release=rt.Output(format="csv"),
    )
    rt.publish(job, frame=people(), to=desk / "release")
    folder = shutil.copytree(desk / "release", desk / "changed")
    raw = (folder / "data.csv").read_bytes()
    (folder / "data.csv").write_bytes(b'"age"' + raw[3:])
    resealed(folder)
    yield lambda: rt.audit(folder)
    yield lambda: rt.audit(desk / "release")


@follows("audit/subject.py", "getting the folder again from its publisher; if it is as published, reporting this.")
def count_files_that_no_release_has(desk: Desk) -> Steps:
    def fail(*arguments: Any, **named: Any) -> Any:
        raise ValueError("no such label")

    folder = copy_release(desk)
    yield desk.with_setting(GeneralizedAuditor, "recount", fail, lambda: rt.audit(folder))
    yield lambda: rt.audit(copy_release(desk, name="again"))


@follows("audit/transformed_groups.py", "getting the folder again from its publisher.")
def move_rows_to_other_groups(desk: Desk) -> Steps:
    folder = copy_release(desk, "transformed", "changed")
    resealed(folder, lambda stated: stated["method"].update(group_by=["city"]))
    yield lambda: rt.audit(folder)
    yield lambda: rt.audit(copy_release(desk, "transformed"))


@follows("format/data_files.py", "getting the folder again from its publisher.")
def state_parts_that_are_not_there(desk: Desk) -> Steps:
    folder = copy_release(desk, name="changed")
    resealed(folder, lambda stated: stated.update(part_rows=1000))
    yield lambda: rt.open(folder)
    yield lambda: rt.open(copy_release(desk))


@follows("format/data_files.py", "getting the folder again from its publisher.")
def put_another_table_into_a_file(desk: Desk) -> Steps:
    folder = copy_release(desk, name="changed")
    people().head(3).write_parquet(folder / "data.parquet")
    resealed(folder)
    yield lambda: rt.open(folder)
    yield lambda: rt.open(copy_release(desk))


@follows("format/data_files.py", "part_rows = … or more.")
def cut_into_too_many_parts(desk: Desk) -> Steps:
    yield lambda: data_files.list_part_names("data", "csv", 2_000_000, 1000, max_parts=100)
    yield lambda: data_files.list_part_names("data", "csv", 2_000_000, 20_000, max_parts=100)


@follows("format/folder.py", "the folder that publish made.")
def open_folder_that_is_not_there(desk: Desk) -> Steps:
    yield lambda: rt.open(desk / "nowhere")
    yield lambda: rt.open(publish_kind("generalized").folder)


@follows("format/folder.py", "the folder itself that publish made.")
def open_link_to_a_folder(desk: Desk) -> Steps:
    folder = copy_release(desk)
    (desk / "link").symlink_to(folder)
    yield lambda: rt.open(desk / "link")
    yield lambda: rt.open(folder)


@follows("format/folder.py", "getting the folder again from its publisher.")
def open_damaged_folder(desk: Desk) -> Steps:
    folder = copy_release(desk, name="changed")
    (folder / "data.parquet").unlink()
    yield lambda: rt.open(folder)
    yield lambda: rt.open(copy_release(desk))


@follows("format/folder.py", "more room, a folder you may write to, or another disk.")
def write_to_full_disk(desk: Desk) -> Steps:
    def fail(*arguments: Any, **named: Any) -> Any:
        raise OSError(28, "No space left on device")

    release = publish_kind("generalized")
    yield desk.with_setting(Path, "mkdir", fail, lambda: release.save(desk / "full" / "copy"))
    yield lambda: release.save(desk / "elsewhere")


# The risk of records.


def measure_records(table: Any = None, **options: Any) -> Any:
    return rt.record_risk(people() if table is None else table, **{"quasi": QUASI, **options})


@follows("audit/record_risk.py", "one of them.")
def weigh_beside_a_population(desk: Desk) -> Steps:
    yield lambda: measure_records(weights="wage", population=population())
    yield lambda: measure_records(weights="wage")
    yield lambda: measure_records(population=population())


@follows("audit/record_risk.py", "that data as the source.")
def measure_records_of_a_release(desk: Desk) -> Steps:
    yield lambda: rt.record_risk(publish_kind("generalized"))
    yield lambda: rt.record_risk(publish_kind("generalized"), source=people())


@follows("audit/record_risk.py", "the table alone.")
def measure_records_of_a_table_with_source(desk: Desk) -> Steps:
    yield lambda: measure_records(source=people())
    yield lambda: measure_records()


@follows("audit/record_risk.py", "the source that the release was made from, read as it was (--job).")
def measure_records_of_strangers(desk: Desk) -> Steps:
    strangers = people().with_columns(age=pl.col("age") + 100)
    yield lambda: rt.record_risk(publish_kind("generalized"), source=strangers)
    yield lambda: rt.record_risk(publish_kind("generalized"), source=people())


@follows("audit/record_risk.py", "the source that the release was made from.")
def measure_records_without_a_column(desk: Desk) -> Steps:
    yield lambda: rt.record_risk(publish_kind("generalized"), source=people().drop("city"))
    yield lambda: rt.record_risk(publish_kind("generalized"), source=people())


@follows("audit/record_risk.py", "{suggest(name, sorted(present))}")
def weigh_by_unknown_column(desk: Desk) -> Steps:
    yield lambda: measure_records(weights="wages")
    yield lambda: measure_records(weights="wage")


@follows("audit/record_risk.py", "a weight for every record.")
def weigh_with_nothing(desk: Desk) -> Steps:
    yield lambda: measure_records(people().with_columns(wage=pl.lit(0)), weights="wage")
    yield lambda: measure_records(weights="wage")


@follows("audit/risk.py", "{suggest(absent[0], sorted(present))}")
def count_persons_by_unknown_column(desk: Desk) -> Steps:
    yield lambda: rt.risk(people(), quasi=QUASI, person=["nane"])
    yield lambda: rt.risk(people(), quasi=QUASI, person=["name"])


@follows("audit/record_risk.py", "records.csv.")
def write_records_as_something_else(desk: Desk) -> Steps:
    yield lambda: measure_records().save(desk / "records.xml")
    yield lambda: measure_records().save(desk / "records.csv")


@follows("audit/record_risk.py", "a file elsewhere.")
def write_records_into_a_release(desk: Desk) -> Steps:
    folder = copy_release(desk)
    yield lambda: measure_records().save(folder / "records.csv")
    yield lambda: measure_records().save(desk / "records.csv")


@follows("audit/record_risk.py", "a folder that exists.")
def write_records_to_no_folder(desk: Desk) -> Steps:
    yield lambda: measure_records().save(desk / "nowhere" / "records.csv")
    yield lambda: measure_records().save(desk / "records.csv")


@follows("audit/record_risk.py", "the name of a file.")
def write_records_as_a_folder(desk: Desk) -> Steps:
    (desk / "records.csv").mkdir()
    yield lambda: measure_records().save(desk / "records.csv")
    yield lambda: measure_records().save(desk / "others.csv")


@follows("audit/record_risk.py", "another name, or --force (force=True).")
def write_records_again(desk: Desk) -> Steps:
    people().write_csv(desk / "people.csv")
    measure_records().save(desk / "records.csv")
    words = ("risk", "people.csv", "--quasi", "age,city", "--records")
    yield desk.command(*words, "records.csv")
    yield desk.command(*words, "others.csv")
    yield desk.command(*words, "records.csv", "--force")
    yield lambda: measure_records().save(desk / "records.csv", force=True)


# What publish writes and reads back.


@follows("release/bundle.py", "a promise, method, stage and kind of the catalogue, with the parameters that it lists.")
def publish_what_nobody_reads(desk: Desk) -> Steps:
    release = publish_kind("generalized")
    yield lambda: tampering.resealed(release, desk / "other", method={"name": "guesswork"})
    yield lambda: tampering.resealed(release, desk / "copy")
