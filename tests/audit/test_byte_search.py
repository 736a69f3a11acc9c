"""Many texts searched at once, against Python's own search."""

import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reticent.audit.byte_search import MAX_HITS, TextSearch, stands_alone

TEXT = st.text("ab", min_size=1, max_size=12) | st.text("aé€", min_size=1, max_size=6)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(TEXT, max_size=12),
    st.binary(max_size=60) | st.text("abé€", max_size=60).map(str.encode),
    st.sampled_from([4, 8]),
)
def test_exactly_the_texts_that_occur_are_found(texts, data, least):
    assert TextSearch(texts).find_in(data, least) == {
        text for text in texts if len(text.encode()) >= least and text.encode() in data
    }


@settings(deadline=None, max_examples=100)
@given(st.lists(TEXT, max_size=12), st.text("abé€", max_size=40), st.text("abé€", max_size=40))
def test_what_is_explained_is_no_longer_looked_for(texts, explained, data):
    needles = TextSearch(texts)
    needles.ignore_found_in(explained.encode())
    assert needles.find_in(data.encode()) == {
        text for text in texts if len(text.encode()) >= 4 and text in data and text not in explained
    }


def test_a_flood_is_cut_short():
    texts = [f"person {i:06d}" for i in range(100 * MAX_HITS)]
    assert MAX_HITS <= len(TextSearch(texts).find_in("\n".join(texts).encode())) < len(texts)


ALIKE = st.builds(lambda head, tail: "ab" * head + tail, st.integers(0, 20), st.text("ab\x00", min_size=1, max_size=9))


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(ALIKE, max_size=20),
    st.lists(ALIKE, max_size=6),
    st.sampled_from([1, 2, 64]),
    st.sampled_from([3, 16, 1 << 20]),
)
def test_texts_that_begin_alike_are_told_apart(texts, held, deep, at_once):
    data = "".join(held).encode()
    assert TextSearch(texts, max_levels=deep, step_places=at_once).find_in(data) == {
        text for text in texts if len(text.encode()) >= 4 and text.encode() in data
    }


def test_a_text_does_not_end_in_the_nothing_behind_the_data():
    assert TextSearch(["abcdefgh\x00", "abcd\x00", "abcdefgh\x00\x00\x00"]).find_in(b"abcdefgh") == set()


@settings(deadline=None, max_examples=300)
@given(st.from_regex(r"\A-?[0-9]{1,2}(\.[0-9]{1,2})?\Z|\A[ab][0-9]\Z"), st.text("01.-, a", max_size=30))
def test_a_number_does_not_stand_in_a_longer_number(text, data):
    begin = r"(?<![0-9])(?<![0-9]\.)" if text[0].isdigit() else ""
    found = re.search(begin + re.escape(text) + r"(?![0-9])(?!\.[0-9])", data)
    if text in data:
        assert stands_alone(text, data.encode()) == bool(found)
