"""Every method x every promise it keeps x every feature: it works, or it is refused with a sentence that says why."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import reticent as rt
from reticent import catalogue, registry
from reticent.audit.groups import NEEDS_SOURCE
from reticent.errors import JobError, RequestError
from tests.contract.matrix import FEATURES, Feature, assert_sound, cell
from tests.contract.refusals import REFUSED, TOGETHER, expected
from tests.support import method_promise_pairs
from tests.support.contract_examples import EXAMPLES
from tests.support.method_promise_pairs import Pair, drafted, made_promise, released

PAIRS = method_promise_pairs.pairs()
pytestmark = pytest.mark.usefixtures("small_parts")


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """A pair's releases are kept while its features are looked at, and no longer."""
    yield
    released.cache_clear()


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_every_feature_works_or_is_refused_as_declared(pair, tmp_path):
    wrong = {
        feature.name: said
        for number, feature in enumerate(FEATURES)
        if (said := cell(feature, pair, tmp_path / str(number)))
    }
    assert not wrong, "\n".join(f"{name}: {said}" for name, said in wrong.items())


def refusal(feature: Feature, pair: Pair, folder: Path) -> RequestError:
    """What a cell is refused with, where it was to be written to a folder."""
    if feature.turns is None:
        with pytest.raises(RequestError) as caught:
            feature.run(pair, folder / "unused")
    else:
        draft = drafted(pair, *feature.turns)
        with pytest.raises(RequestError) as caught:
            rt.publish(draft.job(), frame=draft.frame, to=folder / "release")
    return caught.value


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_a_refusal_says_why_names_the_thing_and_writes_nothing(feature, tmp_path):
    """For each sentence one pair that meets it: what is asked names what cannot be had, and nothing was begun."""
    refused = {sentence: pair for pair in PAIRS if (sentence := expected(feature.name, pair)) is not None}
    for number, pair in enumerate(refused.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        error = refusal(feature, pair, folder)
        assert error.what.endswith(".") and error.attempt, "a refusal is a sentence, and says what to try"
        assert any(word in error.what for word in (*feature.words, pair.method, pair.promise, pair.kind))
        assert not any(folder.iterdir())


def test_every_rule_refuses_some_cell_and_names_features_that_exist():
    names = {feature.name for feature in FEATURES}
    for rule in REFUSED:
        assert set(rule.features) <= names, rule.whom
        assert any(rule.of(pair) for pair in PAIRS), rule.whom


OTHERS = [
    (method, promise)
    for method, promise in itertools.product(catalogue.METHODS, catalogue.PROMISES)
    if not any((pair.method, pair.promise) == (method, promise) for pair in PAIRS)
]


@pytest.mark.parametrize("method", catalogue.METHODS)
def test_a_promise_that_a_method_cannot_keep_is_refused_before_data_is_read(method, tmp_path):
    for promise in [promise for name, promise in OTHERS if name == method]:
        job = drafted(Pair(method, promise)).job().at(source=rt.Source(path=str(tmp_path / "nothing.csv")))
        with pytest.raises(JobError, match=f"^{method} cannot keep {promise}[.:]") as caught:
            rt.publish(job, to=tmp_path / "release")
        assert caught.value.attempt
        assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.beside], ids=str)
def test_a_promise_that_is_kept_only_beside_another_is_refused_alone(pair):
    draft = drafted(Pair(pair.method, pair.promise, None, pair.stages))
    with pytest.raises(JobError) as caught:
        rt.publish(draft.job(), frame=draft.frame)
    assert caught.value.attempt


@pytest.mark.parametrize("name", catalogue.PROMISES)
def test_every_promise_is_kept_by_some_method(name):
    assert any(pair.promise == name for pair in PAIRS)
    assert made_promise(name).name == name


@pytest.mark.parametrize("method", catalogue.METHODS)
@pytest.mark.parametrize("about", ["illness", "wage"])
def test_whatever_promise_an_audit_is_asked_for_is_judged_or_it_is_said_why_not(method, about):
    """An intact release is never called damaged because of the question."""
    pair = next((pair for pair in PAIRS if pair.method == method and pair.sensitive == about), None)
    if pair is None:
        return  # no promise of this method is about such a column
    release, _, _ = released(pair)
    for name in catalogue.PROMISES:
        asked = {"model": name, **EXAMPLES[name].parameters}
        refused = None
        try:
            verdict = rt.audit(release.folder, promises=[asked]).promises[-1]
        except RequestError as error:
            refused = error
        if refused is not None:
            assert refused.what.endswith(".") and refused.attempt, name
            continue
        assert verdict.model == name
        assert verdict.kept is not None or verdict.why or verdict.evidence == NEEDS_SOURCE


SWITCHES: list[tuple[method_promise_pairs.Turn | None, ...]] = [
    (None, method_promise_pairs.stage),
    (None, method_promise_pairs.several, method_promise_pairs.together),
    (None, method_promise_pairs.lose_quasi, method_promise_pairs.withhold_quasi),
    (None, method_promise_pairs.lose_sensitive, method_promise_pairs.withhold_sensitive),
    (None, method_promise_pairs.withhold),
    (None, method_promise_pairs.repeat, method_promise_pairs.withhold_surplus),
    (None, method_promise_pairs.carry),
    (None, method_promise_pairs.as_csv),
    (None, method_promise_pairs.cut),
]
"""In the order in which they are turned."""


def covering(switches: Sequence[Sequence], draw: random.Random) -> list[tuple]:
    """Settings such that every two positions of every two switches occur together: the best of some random ones, again and again."""
    wanted = {
        ((i, a), (j, b))
        for i, j in itertools.combinations(range(len(switches)), 2)
        for a, b in itertools.product(range(len(switches[i])), range(len(switches[j])))
    }
    found = []
    while wanted:
        tries = [tuple(draw.randrange(len(switch)) for switch in switches) for _ in range(30)]
        best = max(tries, key=lambda one: len(wanted & set(itertools.combinations(enumerate(one), 2))))
        found.append(best)
        wanted -= set(itertools.combinations(enumerate(best), 2))
    return [tuple(switch[at] for switch, at in zip(switches, one, strict=True)) for one in found]


def allowed(turns: Sequence[method_promise_pairs.Turn], pair: Pair) -> set[str]:
    """The sentences that these turns may be refused with, alone or two together."""
    used = [feature.name for feature in FEATURES if feature.turns and set(feature.turns) <= set(turns)]
    alone = {sentence for name in used if (sentence := expected(name, pair)) is not None}
    both = {sentence.format(column=pair.sensitive) for names, sentence in TOGETHER.items() if set(names) <= set(used)}
    return alone | both


@pytest.mark.parametrize("method", catalogue.METHODS)
def test_features_work_together_two_by_two(method):
    """Formats, stages, missing values, carried columns and the rest, in every pair of settings; promises in turn."""
    promises = itertools.cycle([pair for pair in PAIRS if pair.method == method])
    for setting in covering(SWITCHES, random.Random(7)):
        turns = tuple(turn for turn in setting if turn is not None)
        pair = next(promises)
        draft = drafted(pair, *turns)
        refused = None
        try:
            release = rt.publish(draft.job(), frame=draft.frame)
        except RequestError as error:
            refused = error.what
        if refused is None:
            assert_sound(release, draft.frame, pair)
        else:
            assert refused in allowed(turns, pair), (str(pair), [turn.__name__ for turn in turns])


def test_a_kind_is_made_by_some_method():
    assert {registry.load_method_class(name).kind for name in catalogue.METHODS} == set(catalogue.KINDS)
