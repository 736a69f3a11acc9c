"""What commands say, in sentences that stand alone: plain order, named subjects, no type where a switch takes none."""

from __future__ import annotations

import re

import polars as pl
import pytest

import reticent as rt
from reticent.audit.order import CANONICAL_ORDER, RowOrder
from reticent.cli.commands import COMMANDS, build_parser
from reticent.cli.main import main
from reticent.cli.output import say_findings
from reticent.data.passthrough import PassthroughColumn


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_names_no_type_of_python(name, capsys):
    assert main([*([name] if name else []), "-h"]) == 0
    said = capsys.readouterr().out
    assert not re.search(r"<[\w\[\]]+>", said)
    assert re.search(r"--help +-h", said)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_paragraph_of_help_is_broken_by_the_terminal_alone(name):
    told = build_parser([name]).commands[name].help
    assert told and not [part for part in told.split("\n\n") if "\n" in part]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("publish", "release"),
        ("init", "job file"),
        ("hierarchy", "file"),
        ("data", "file"),
        ("report", "file"),
    ],
)
def test_the_help_says_what_force_overwrites(name, what, capsys):
    main([name, "--help"])
    assert f"Overwrite an existing {what}." in capsys.readouterr().out


def people() -> pl.DataFrame:
    return pl.DataFrame({"age": [20, 21, 22, 41, 42, 43] * 20, "d": list("xyz") * 40, "e": list("pqrs") * 30})


def published(columns, **how) -> rt.Release:
    return rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(3)], **how), frame=people().select(list(columns)))


def test_what_the_source_shows_is_said_in_sentences(capsys):
    release = published({"age": rt.quasi(), "d": rt.sensitive()})
    say_findings(rt.audit(release, source=people()).to_dict())
    said = capsys.readouterr().out
    assert "The comparison with the source passed." in said
    assert "All 120 source rows are published." in said
    assert "Every published row stands for a source row of its own." in said
    assert re.search(r"Rows are in random order \(.* p = .*\)\.", said)
    assert "Nothing else of the source was found in the release." in said
    assert "correlation =" not in said and "unmatched" not in said


def test_rows_that_are_missing_or_foreign_are_said_in_sentences():
    release = published({"age": rt.quasi(), "d": rt.sensitive()})
    more = pl.concat([people(), people().head(5)])
    said = rt.audit(release, source=more).source.sentences
    assert said[0] == "The comparison with the source FAILED."
    assert "5 of 125 source rows are not published, and the release states 0." in said
    other = people().with_columns(pl.lit("z").alias("d"))
    assert any(
        line.endswith("published rows stand for no source row of their own.")
        for line in rt.audit(release, source=other).source.sentences
    )


def test_the_order_of_rows_is_said_in_words():
    assert str(RowOrder(0.9, 1e-9)).startswith("Rows are NOT in random order (")
    assert str(RowOrder(0.01, 0.5)).startswith("Rows are in random order (")
    assert str(CANONICAL_ORDER).startswith("Rows are sorted by all that they show")


def test_every_finding_of_every_kind_is_a_sentence():
    columns = {"age": rt.quasi(), "d": rt.sensitive()}
    source = people().select("age", "d")
    for promise, method in (
        (rt.KAnonymity(3), rt.Mondrian()),
        (rt.ProbabilisticLDiversity(2), rt.Anatomy()),
        (rt.BetaLikeness(2), rt.BetaPerturbation()),
        (rt.PPrivacy("uniform"), rt.Distribution()),
        (rt.RhoGuarantee(0.4, 0.9, 0.4), rt.PerturbedGeneralization(k=3, domain=["x", "y", "z"])),
    ):
        release = rt.publish(rt.Job(columns=columns, promises=[promise], method=method), frame=source)
        for sentence in rt.audit(release, source=source).source.sentences:
            assert re.match(r"[A-Z0-9`]", sentence), sentence
            assert sentence.endswith("."), sentence
            assert "\n" not in sentence and "  " not in sentence


def test_a_near_unique_column_is_told_by_how_many_values_occur_once():
    told = str(PassthroughColumn("ward", 100, 60, 40, {}))
    assert told == "The insensitive column 'ward' has 60 distinct values in 100 rows; 40 values occur only once."


def test_where_several_columns_are_sensitive_each_measure_says_whose_it_is(capsys):
    say_findings(published({"age": rt.quasi(), "d": rt.sensitive(), "e": rt.sensitive()}).audited.to_dict())
    head = next(line for line in capsys.readouterr().out.splitlines() if "measure" in line)
    assert head.split() == ["measure", "achieved,", "at", "worst", "d", "e"]


def test_a_column_without_a_hierarchy_is_not_called_a_node():
    tree = [["Kiel", "north", "*"], ["Ulm", "south", "*"]]
    frame = pl.DataFrame({"sex": ["f", "m"] * 10, "city": ["Kiel", "Ulm"] * 10, "d": list("xyxyx") * 4})
    columns = {"sex": rt.quasi(), "city": rt.quasi(hierarchy=tree), "d": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=rt.KAnonymity(3)), frame=frame)
    lines = (release.folder / "README.md").read_text(encoding="utf-8").splitlines()
    assert "node" not in next(line for line in lines if line.startswith("| sex |"))
    assert "node of the hierarchy" in next(line for line in lines if line.startswith("| city |"))
