"""Every promise as a sentence with blanks, a worked picture of what it says, and a line of what it does not say.

A sentence names parameters of the catalogue in braces: they are its blanks.  Parameters that it does not name are
options.  Steps of a slider go from loose to strict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Steps = Sequence[int | float]


@dataclass(frozen=True, slots=True)
class Bar:
    """A share in a worked picture: of everybody, or of what the promise allows."""

    name: str
    share: float
    is_release: bool = True


@dataclass(frozen=True, slots=True)
class Picture:
    """A worked picture: how many people read the same, or bars; with a sentence that says what is seen."""

    words: str
    people: int = 0
    bars: tuple[Bar, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """The value that pictures are worked with: its words, and its share of everybody."""

    words: str = "a value that 5 % of all people have"
    share: float = 0.05


@dataclass(frozen=True, slots=True)
class PromiseSentence:
    """A promise for people: `about` says whom it is about, `steps` the places of its sliders, `start` what is added."""

    about: str
    sentence: str
    not_said: str
    draw: Callable[[Mapping[str, Any], Example], Picture]
    start: Mapping[str, Any]
    steps: Mapping[str, Steps]
    docs: str


def _to_number(value: Any, usual: float = 1.0) -> float:
    try:
        return float(Fraction(str(value)))
    except (ValueError, ZeroDivisionError, OverflowError):
        return usual


def _draw_same(values: Mapping[str, Any], example: Example) -> Picture:
    k = max(int(_to_number(values.get("k"), 10)), 1)
    return Picture(f"Who knows how a person is described finds {k:,} rows, and not which of them.", people=k)


def _draw_population(values: Mapping[str, Any], example: Example) -> Picture:
    k = max(int(_to_number(values.get("k"), 10)), 1)
    return Picture(f"A description fits {k:,} people out there; fewer of them may be in the release.", people=k)


def _draw_share(values: Mapping[str, Any], example: Example) -> Picture:
    alpha = _to_number(values.get("alpha"), 0.5)
    return _compare(example, min(alpha, 1.0), "A group may hold more of it, up to a fixed share, however rare it is.")


def _draw_values(values: Mapping[str, Any], example: Example) -> Picture:
    count = max(int(_to_number(values.get("l"), 2)), 1)
    share = 1 - 0.02 * (count - 1)
    return Picture(
        f"{count:,} values are in the group, and this is enough: one may have nearly everybody.",
        bars=tuple(
            Bar(f"value {number + 1}", max(share, 0.02) if number == 0 else 0.02) for number in range(min(count, 8))
        ),
    )


def _draw_one_in(values: Mapping[str, Any], example: Example) -> Picture:
    share = 1 / max(_to_number(values.get("l"), 2), 1.0)
    return _compare(example, share, "Nobody's value can be guessed with more confidence than this from the group.")


def _draw_entropy(values: Mapping[str, Any], example: Example) -> Picture:
    count = max(int(_to_number(values.get("l"), 2)), 1)
    bars = tuple(Bar(f"value {number + 1}", 1 / count) for number in range(min(count, 8)))
    return Picture("At least as mixed as this; more values may be mixed less evenly.", bars=bars)


def _draw_recursive(values: Mapping[str, Any], example: Example) -> Picture:
    c = _to_number(values.get("c"), 2)
    bars = (Bar("the most frequent value", c / (1 + c)), Bar("all the rare ones together", 1 / (1 + c)))
    return Picture("The most frequent value may lead the rare ones by this much, and not by more.", bars=bars)


def _draw_leading(values: Mapping[str, Any], example: Example) -> Picture:
    count = max(int(_to_number(values.get("l"), 2)), 1)
    bars = tuple(Bar(f"value {number + 1}", 1 / count) for number in range(min(count, 8)))
    return Picture("Each of these could have been the one that led before rows were withheld.", bars=bars)


def _draw_distance(values: Mapping[str, Any], example: Example) -> Picture:
    t = _to_number(values.get("t"), 0.2)
    words = "The distance is absolute: by moving all of it to one value, a group may hold this much."
    return _compare(example, min(example.share + t, 1.0), words)


def _draw_factor(values: Mapping[str, Any], example: Example) -> Picture:
    base = 2.0 if values.get("base") == 2 else math.e
    delta = min(_to_number(values.get("delta")), 100.0)
    share = min(example.share * base**delta, 1.0)
    return _compare(example, share, "It may be rarer in a group by the same factor, too.")


def _draw_gain(values: Mapping[str, Any], example: Example) -> Picture:
    beta = _to_number(values.get("beta"), 4)
    limit = beta if values.get("enhanced") is False else min(beta, -math.log(example.share))
    share = min(example.share * (1 + limit), 1.0)
    return _compare(example, share, "Frequent values may grow less than rare ones.")


def _draw_belief(values: Mapping[str, Any], example: Example) -> Picture:
    before, after = _to_number(values.get("rho1"), 0.2), _to_number(values.get("rho2"), 0.45)
    bars = (Bar("believed before", before, is_release=False), Bar("believed after, at most", after))
    return Picture("Whoever else told them what they have.", bars=bars)


def _draw_growth(values: Mapping[str, Any], example: Example) -> Picture:
    before = min(_to_number(values.get("lambda"), 0.1), 1.0)
    after = min(before + _to_number(values.get("delta"), 0.2), 1.0)
    bars = (Bar("believed before", before, is_release=False), Bar("believed after, at most", after))
    return Picture("Whoever else told them what they have.", bars=bars)


def _draw_target(values: Mapping[str, Any], example: Example) -> Picture:
    bars = (Bar("the target", example.share, is_release=False), Bar("what the release says", example.share))
    return Picture(f"Of {example.words}: in every group the same, whoever is in it.", bars=bars)


def _draw_divergence(values: Mapping[str, Any], example: Example) -> Picture:
    return _draw_even_odds(_to_number(values.get("t"), 0.2))


def _draw_divergences(values: Mapping[str, Any], example: Example) -> Picture:
    points = values.get("points")
    points = points if isinstance(points, list) else []
    limits = [_to_number(point.get("t"), 0.2) for point in points if isinstance(point, Mapping)]
    return _draw_even_odds(max(limits, default=0.2))


def _draw_even_odds(t: float) -> Picture:
    """Draw how far an even belief in one of two values may move within a Jensen-Shannon divergence of t (base 2)."""
    low, high = 0.5, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _measure_divergence(middle) <= t else (low, middle)
    bars = (Bar("believed before", 0.5, is_release=False), Bar("believed after, at most", low))
    return Picture("Of two values that were equally likely to them, to base 2.", bars=bars)


def _measure_divergence(belief: float) -> float:
    def entropy(*shares: float) -> float:
        return -sum(share * math.log2(share) for share in shares if share > 0)

    mixed = (belief + 0.5) / 2
    return entropy(mixed, 1 - mixed) - (1.0 + entropy(belief, 1 - belief)) / 2


def _compare(example: Example, limit: float, words: str) -> Picture:
    bars = (Bar("everybody", example.share, is_release=False), Bar("a group, at most", max(limit, 0.0)))
    return Picture(f"Of {example.words}. {words}", bars=bars)


_K_STEPS = (2, 3, 5, 10, 20, 50)
_L_STEPS = (2, 3, 4, 6, 8)
_BETA_STEPS = (8, 6, 4, 3, 2, 1)
_T_STEPS = (0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
_FOUND = "Who is who"
_VALUE = "What a group says of a value"
_KNOWING = "Those who know more"

PROMISE_SENTENCES: Mapping[str, PromiseSentence] = {
    "k-anonymity": PromiseSentence(
        _FOUND,
        "Everybody shares their description with at least {k} people.",
        "It does not say that these people differ in what is sensitive: all of them may have the same value.",
        _draw_same,
        {"k": 10},
        {"k": _K_STEPS},
        "promises/k-anonymity",
    ),
    "alpha-k-anonymity": PromiseSentence(
        _FOUND,
        "Everybody shares their description with at least {k} people, and no value of {column} is held by more than the "
        "share {alpha} of them.",
        "It does not say that rare values stay rare: the share is the same for all of them.",
        _draw_share,
        {"alpha": 0.5, "k": 10},
        {"k": _K_STEPS, "alpha": (0.9, 0.7, 0.5, 0.3, 0.2)},
        "promises/alpha-k-anonymity",
    ),
    "k-map": PromiseSentence(
        _FOUND,
        "Every description in the release fits at least {k} people of the population in {population}.",
        "It does not protect from who knows that a person is in the release: few people there may share a description.",
        _draw_population,
        {"k": 10},
        {"k": _K_STEPS},
        "promises/k-map",
    ),
    "distinct-l-diversity": PromiseSentence(
        _VALUE,
        "Every group shows at least {l} different values of {column}.",
        "It does not say how often each occurs: one of them may be nearly certain.",
        _draw_values,
        {"l": 3},
        {"l": _L_STEPS},
        "promises/distinct-l-diversity",
    ),
    "probabilistic-l-diversity": PromiseSentence(
        _VALUE,
        "In every group a value of {column} is held by at most one person in {l}.",
        "It does not say that a rare value stays rare: it may rise to this share.",
        _draw_one_in,
        {"l": 3},
        {"l": _L_STEPS},
        "promises/probabilistic-l-diversity",
    ),
    "entropy-l-diversity": PromiseSentence(
        _VALUE,
        "In every group the values of {column} are at least as mixed as {l} equally frequent ones.",
        "It does not bound a single value: it is a statement about all of them on average.",
        _draw_entropy,
        {"l": 3},
        {"l": _L_STEPS},
        "promises/entropy-l-diversity",
    ),
    "recursive-l-diversity": PromiseSentence(
        _VALUE,
        "In every group the most frequent value of {column} is at most {c} times as frequent as all from the {l}. on "
        "together.",
        "It does not say anything of which values these are.",
        _draw_recursive,
        {"c": 3, "l": 2},
        {"c": (8, 5, 3, 2, 1), "l": _L_STEPS},
        "promises/recursive-l-diversity",
    ),
    "l-dichotomy": PromiseSentence(
        _VALUE,
        "Nobody can tell among {l} values of {column} which one was the most frequent before rows were withheld.",
        "It is about the table as a whole: of groups it says nothing, so that another promise stands beside it.",
        _draw_leading,
        {"l": 3},
        {"l": _L_STEPS},
        "promises/l-dichotomy",
    ),
    "t-closeness": PromiseSentence(
        _VALUE,
        "In every group {column} is distributed as among everybody, to within a distance of {t}.",
        "It does not protect rare values: from 1 % to 11 % is a distance of 0.1 only.",
        _draw_distance,
        {"t": 0.2},
        {"t": _T_STEPS},
        "promises/t-closeness",
    ),
    "delta-disclosure": PromiseSentence(
        _VALUE,
        "In every group the share of each value of {column} differs from everybody's by a factor whose logarithm is "
        "below {delta}.",
        "It does not say that nothing is learned; and unless absent values are ignored, every group needs all values.",
        _draw_factor,
        {"delta": 2, "absent": "ignore"},
        {"delta": (3, 2.5, 2, 1.5, 1)},
        "promises/delta-disclosure",
    ),
    "beta-likeness": PromiseSentence(
        _VALUE,
        "In no group is a value of {column} more than 1 + {beta} times as frequent as among everybody.",
        "It does not say that nothing is learned: a group may still tell more of a value than the table does.",
        _draw_gain,
        {"beta": 4},
        {"beta": _BETA_STEPS},
        "promises/beta-likeness",
    ),
    "semantic-beta-likeness": PromiseSentence(
        _VALUE,
        "In no group is a family of values of {column}, at level {level} of its tree, more than 1 + {beta} times as "
        "frequent as among everybody.",
        "It says nothing of the single values of a family: beta-likeness does.",
        _draw_gain,
        {"beta": 4, "level": 1},
        {"beta": _BETA_STEPS},
        "promises/semantic-beta-likeness",
    ),
    "proximity-beta-likeness": PromiseSentence(
        _VALUE,
        "In no group are values of {column} within {width} of each other more than 1 + {beta} times as frequent as among "
        "everybody.",
        "It says nothing of wider ranges than this.",
        _draw_gain,
        {"beta": 4, "width": 1},
        {"beta": _BETA_STEPS},
        "promises/proximity-beta-likeness",
    ),
    "rho-guarantee": PromiseSentence(
        _KNOWING,
        "Who believes something of a person's {column} with at most {rho1} beforehand believes it with at most {rho2} "
        "afterwards, even knowing everybody else's, as long as no single value was believed with more than {lambda}.",
        "It does not hold for who was nearly sure of a value before.",
        _draw_belief,
        {"rho1": 0.2, "rho2": 0.45, "lambda": 0.1},
        {"rho2": (0.7, 0.6, 0.5, 0.45, 0.4, 0.3)},
        "promises/rho-guarantee",
    ),
    "delta-growth": PromiseSentence(
        _KNOWING,
        "No belief about a person's {column} grows by more than {delta}, even in who knows everybody else's, as long as "
        "no single value was believed with more than {lambda}.",
        "It does not hold for who was nearly sure of a value before.",
        _draw_growth,
        {"delta": 0.2, "lambda": 0.1},
        {"delta": (0.5, 0.4, 0.3, 0.2, 0.1)},
        "promises/delta-growth",
    ),
    "p-privacy": PromiseSentence(
        _KNOWING,
        "Of a person's {column} the release says that it follows the target {target}, and no more.",
        "It does not hide how a person is described: that is published as it is.",
        _draw_target,
        {"target": "source"},
        {},
        "promises/p-privacy",
    ),
    "bt-privacy": PromiseSentence(
        _KNOWING,
        "Who already knows how {column} goes with the rest, as closely as a bandwidth of {bandwidth} shows it, changes "
        "their belief about nobody by more than {t}.",
        "It does not speak of who knows other things, such as the values of certain people.",
        _draw_divergence,
        {"bandwidth": 0.3, "t": 0.2},
        {"t": _T_STEPS},
        "promises/bt-privacy",
    ),
    "skyline": PromiseSentence(
        _KNOWING,
        "Who already knows how {column} goes with the rest changes their belief about nobody by more than t, whichever of "
        "these they are: {points}.",
        "It does not speak of who knows other things, such as the values of certain people.",
        _draw_divergences,
        {"points": [{"bandwidth": 0.2, "t": 0.25}, {"bandwidth": 0.5, "t": 0.2}]},
        {},
        "promises/skyline",
    ),
}
