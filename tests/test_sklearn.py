"""The transformer: scikit-learn's conventions, the promise on what was fitted, refusal of what was not seen."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas
import polars as pl
import pytest

import reticent as rt
from reticent.errors import ColumnError, JobError

sklearn = pytest.importorskip("sklearn", reason="scikit-learn comes with the extra stats")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder  # noqa: E402

from reticent.sklearn import Anonymizer  # noqa: E402

QUASI = {"age": "quasi", "city": "quasi"}


def people(rows: int = 400, seed: int = 1) -> pandas.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, rows)
    city = rng.choice(["Kiel", "Ulm", "Jena"], rows)
    ill = np.where(rng.random(rows) < (age - 10) / 90, "ill", "well")
    return pandas.DataFrame({"age": age, "city": city, "ward": rng.choice(list("NS"), rows), "d": ill})


def test_the_labels_of_the_fitted_rows_keep_the_promise_in_their_own_order():
    table = people()
    labels = Anonymizer(QUASI, rt.KAnonymity(10)).fit_transform(table)
    assert labels.groupby(["age", "city"]).size().min() >= 10
    found = rt.audit(labels, quasi=["age", "city"], promises=rt.KAnonymity(10))
    assert found.kept is True
    for age, label in zip(table["age"], labels["age"], strict=True):
        ends = [int(end) for end in re.findall(r"\d+", label)] or [0, 99]
        assert ends[0] <= age <= ends[-1]


def test_a_promise_about_the_target_is_kept_on_the_fitted_rows():
    table = people()
    model = Anonymizer(QUASI, [rt.KAnonymity(5), rt.DistinctLDiversity(2)], target="d")
    labels = model.fit(table[["age", "city"]], table["d"]).transform(table[["age", "city"]])
    assert table["d"].groupby([labels["age"], labels["city"]]).nunique().min() >= 2
    assert "d" not in labels


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
def test_rows_go_out_in_the_form_in_which_they_came(form):
    table = people()
    given = {"pandas": table, "polars": pl.from_pandas(table), "arrow": pl.from_pandas(table).to_arrow()}[form]
    found = Anonymizer({**QUASI, "ward": "insensitive"}, rt.KAnonymity(10)).fit_transform(given)
    assert type(found) is type(given)
    assert list(getattr(found, "column_names", None) or found.columns) == ["age", "city", "ward"]


def test_an_index_is_kept():
    table = people().set_index(np.arange(400) * 7)
    assert Anonymizer(QUASI, rt.KAnonymity(10)).fit_transform(table).index.equals(table.index)


def test_new_rows_are_labelled_like_fitted_ones_that_have_their_values():
    table = people()
    model = Anonymizer(QUASI, rt.KAnonymity(10)).fit(table)
    labels = model.transform(table)
    again = model.transform(table.sample(frac=1.0, random_state=3))
    assert again.loc[table.index].equals(labels)
    assert model.transform(table.head(1)).equals(labels.head(1))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"city": ["Bonn"]}, "'city' has 1 value"),
        ({"age": [150]}, "'age' has 1 value"),
        ({"age": [-1]}, "'age' has 1 value"),
        ({"city": [None]}, "'city' has 1 value"),
    ],
    ids=str,
)
def test_values_that_were_never_seen_are_refused_and_not_quoted(wrong, said):
    model = Anonymizer(QUASI, rt.KAnonymity(10)).fit(people())
    row = pandas.DataFrame({"age": [30], "city": ["Kiel"], **wrong})
    with pytest.raises(ColumnError, match=said) as refused:
        model.transform(row)
    assert "Bonn" not in str(refused.value) and "150" not in str(refused.value)


def test_a_row_that_no_group_covers_is_refused():
    table = pandas.DataFrame({"age": [20, 21, 22, 60, 61, 62]})
    model = Anonymizer({"age": "quasi"}, rt.KAnonymity(3)).fit(table)
    with pytest.raises(rt.RequestError, match="1 of 1 rows lie in no fitted group"):
        model.transform(pandas.DataFrame({"age": [40]}))


def test_the_conventions_of_scikit_learn_are_kept():
    model = Anonymizer(QUASI, rt.KAnonymity(10), seed=1)
    assert model.get_params() == {
        "columns": QUASI,
        "promises": rt.KAnonymity(10),
        "method": None,
        "target": None,
        "seed": 1,
    }
    copy = clone(model).set_params(promises=rt.KAnonymity(20))
    assert model.promises == rt.KAnonymity(10)
    with pytest.raises(NotFittedError):
        copy.transform(people())
    fitted = copy.fit(people())
    assert fitted is copy
    assert list(fitted.feature_names_in_) == ["age", "city", "ward", "d"]
    assert fitted.n_features_in_ == 4
    assert list(fitted.get_feature_names_out()) == ["age", "city"]
    assert "Anonymizer" in repr(model)


def test_it_stands_in_a_pipeline():
    table = people()
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(Anonymizer(QUASI, rt.KAnonymity(10)), encoder, LogisticRegression(max_iter=1_000))
    model.fit(table[["age", "city"]], table["d"])
    assert model.score(table[["age", "city"]], table["d"]) > 0.5
    assert len(model.predict(table[["age", "city"]].head(3))) == 3
    output = Anonymizer(QUASI, rt.KAnonymity(10)).set_output(transform="pandas").fit_transform(pl.from_pandas(table))
    assert isinstance(output, pandas.DataFrame)


def test_a_fitted_transformer_holds_labels_and_no_record():
    """Ends of ranges are labels; what lies between them, and the sensitive values, are nowhere in it."""
    wages = [71_003 + 100 * at for at in range(40)]
    ends = {71_003, 74_903}
    table = pandas.DataFrame({"wage": wages, "d": ["secret-disease", "other"] * 20})
    model = Anonymizer({"wage": rt.quasi(labels="tight"), "d": "sensitive"}, rt.KAnonymity(20)).fit(table)
    held = repr(vars(model)) + str(model.groups_.rows())
    shown = set(map(int, re.findall(r"7\d{4}", str(model.groups_.rows()))))
    assert ends <= shown
    assert not [wage for wage in wages if wage not in shown and str(wage) in held]
    assert "secret-disease" not in held and b"secret-disease" not in pickle.dumps(model)
    assert pickle.loads(pickle.dumps(model)).transform(table).equals(model.transform(table))


def test_groups_that_overlap_are_refused_with_what_to_take_instead():
    with pytest.raises(JobError, match="overlap") as refused:
        Anonymizer(QUASI, [rt.BetaLikeness(1)], method="burel", target="d").fit(people(), people()["d"])
    assert 'labels="sets"' in str(refused.value)


@pytest.mark.parametrize(
    ("how", "given"),
    [
        ({"columns": None}, people()),
        ({"promises": None}, people()),
        ({"promises": "k"}, people()),
        ({"columns": {"age": "quasi", "height": "quasi"}}, people()),
        ({"target": "d", "columns": {"age": "quasi"}}, people()[["age"]]),
        ({}, np.zeros((3, 2))),
        ({}, 3),
    ],
    ids=str,
)
def test_a_wrong_request_is_refused(how, given):
    with pytest.raises(rt.RequestError):
        Anonymizer(**{"columns": QUASI, "promises": rt.KAnonymity(3), **how}).fit(given)
