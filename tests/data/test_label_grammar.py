"""The grammar of labels: whatever prints reads back as what it was, also by the oracle's own reader."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from reticent.data.label_grammar import ANY_LABEL, format_range_label, format_set_label, format_value_label, parse_label
from tests.oracle import labels as oracle
from tests.support.strategies import AWKWARD

texts = st.one_of(st.text(max_size=6), st.sampled_from(AWKWARD), st.text('[]{}",* \\\n', max_size=6))


@given(texts)
@example('"')
@example("*")
@settings(max_examples=400, deadline=None)
def test_a_value_reads_back_as_itself_and_never_as_anything(text):
    label = format_value_label(text)
    assert label != ANY_LABEL and parse_label(label) == ("value", (text,))


@given(texts, texts)
@example("a, b", "c")
@example(" a", "a ")
@settings(max_examples=400, deadline=None)
def test_a_range_reads_back_as_its_ends(lower, upper):
    label = format_range_label(lower, upper)
    assert parse_label(label) == (("value", (lower,)) if lower == upper else ("range", (lower, upper)))


@given(st.lists(texts, min_size=1, max_size=5, unique=True))
@example(["a", "", " ", '"', ","])
@settings(max_examples=400, deadline=None)
def test_a_set_reads_back_as_its_members(members):
    assert parse_label(format_set_label(members)) == (("value" if len(members) == 1 else "set"), tuple(members))


@given(st.lists(texts, min_size=2, max_size=5, unique=True))
@settings(max_examples=300, deadline=None)
def test_the_oracle_reads_the_same_members(members):
    assert oracle.split_parts(format_set_label(members)[1:-1]) == members
    column = oracle.describe(oracle.CATEGORICAL, members)
    assert oracle.covered(format_set_label(members), column) == frozenset(members)
    assert all(oracle.covered(format_value_label(text), column) == {text} for text in members)


def test_labels_are_plain_where_they_can_be():
    assert (
        format_value_label("Private") == "Private"
        and format_value_label("[20, 29]") == '"[20, 29]"'
        and format_value_label("") == '""'
    )
    assert format_range_label("20", "29") == "[20, 29]" and format_range_label("20", "20") == "20"
    assert format_set_label(["Private", "State-gov"]) == "{Private, State-gov}"
    assert format_set_label(["a, b", "c"]) == '{"a, b", c}'
    assert format_range_label("é", "ü") == "[é, ü]"
