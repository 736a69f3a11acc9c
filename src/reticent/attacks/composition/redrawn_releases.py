"""Several releases that redraw values: what they say of each person together is the product of their likelihood ratios.

Given the table, releases draw independently.  Where everybody else's value is known, so is all that a release depends on
but the victim's value x, and the chance of all releases is the product of L_r(x), the chances of each: a prior P becomes
P(x) L_1(x) L_2(x) ... over its sum (Tao, Xiao, Li & Zhang 2008 leave it to future work).

    sampled     who knows everybody else's value (corruption): L(x) is 1, and more by the lift of a value that a tuple of the
                victim's group shows (`drawn_tuples.py`).  The prior is even over the domain.  Exact for everybody.
    perturbed   who knows the overall distribution, which the manifest states, and nobody else's value: L(x) is the sum of
                share(y) M[x, y] / P(y) over the values y that the n rows of these quasi-identifiers show.  The prior is the
                overall distribution.  Exact where n = 1: all releases are then of this person's row alone.  For others
                their rows' values are the same in all releases, which the product leaves out: an estimate.

Likelihoods are multiplied value by value, so all releases redraw one column, and the same values of it
(`require_same_values`).  The two adversaries differ, and releases of both kinds are not joined: who knows the overall distribution and everybody
else's value knows the last one.  A row of a person with several is a victim of its own, the others being known, and what
is believed of the person is counted as an estimate.

Where beliefs are compared with a limit, an estimate is replaced by what the odds of all releases allow at most
(`release_odds.py`), and what is computed is rounded up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from reticent.attacks.composition.release_odds import ReleaseOdds, bound_release_odds, multiply_odds
from reticent.attacks.corruption import KnownValues, SampledTarget, read_people, require_columns
from reticent.attacks.drawn_tuples import compute_lifts
from reticent.attacks.scoring import compute_wilson_interval
from reticent.attacks.target import declare_columns
from reticent.data.columns import Role
from reticent.data.parsing import parse_texts
from reticent.data.source import collect_frame
from reticent.data.text_formats import parse_declared
from reticent.errors import RequestError, quote_list
from reticent.estimate.reconstruction import Reconstruction
from reticent.models.rational_bounds import parse_fraction

MAX_BELIEFS_AT_ONCE = 4_000_000
BELIEF_SLACK = 1e-9
"""Likelihoods are computed in floating point; who is compared with a limit is believed to be above it by so much earlier."""
REDRAWING_FIELDS = ("p", "matrix")
"""What the manifest of a release that redraws values has: the chance that a value is kept, or a matrix."""


@dataclass(frozen=True, eq=False)
class RedrawnRelease:
    """One release: L of each row of the table is `base` and the sum of weight * column[value] over the row's entries.

    `case_of_row` is the case of each row, whose entries are from `starts` on; `columns` is (shown values, values).
    `alone` are rows whose likelihood does not hang on values that are not known.
    """

    base: float
    columns: np.ndarray
    case_of_row: np.ndarray
    starts: np.ndarray
    shown: np.ndarray
    weights: np.ndarray
    alone: np.ndarray

    def compute_likelihoods(self, rows: np.ndarray) -> np.ndarray:
        """Compute (rows, values)."""
        cases = self.case_of_row[rows]
        lengths = np.diff(self.starts)[cases]
        entry = np.repeat(self.starts[cases] - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
        by_shown = np.zeros((len(rows), len(self.columns)))
        np.add.at(by_shown, (np.repeat(np.arange(len(rows)), lengths), self.shown[entry]), self.weights[entry])
        likelihoods: np.ndarray = self.base + by_shown @ self.columns
        return likelihoods


@dataclass(frozen=True, eq=False)
class JoinedBeliefs:
    """What is believed of each row: the greatest belief and its value, from all releases and from each; and the odds reached."""

    greatest: np.ndarray
    guess: np.ndarray
    greatest_alone: np.ndarray  # (releases, rows)
    guess_alone: np.ndarray
    odds: float
    odds_alone: float


@dataclass(frozen=True, eq=False)
class RedrawnReleases:
    """Several releases of one kind over the rows of a table; `truth` is the place of each row's value among `values`."""

    parts: tuple[RedrawnRelease, ...]
    prior: np.ndarray
    truth: np.ndarray
    odds: ReleaseOdds
    seeded: int

    @classmethod
    def from_releases(cls, releases: Sequence[Any], source: Any, missing: tuple[str, ...] = ()) -> RedrawnReleases:
        """Read releases of one kind that redraw the same values.

        Raise RequestError for others, and for a table that is not the one that they were made from.
        """
        require_same_values(releases)
        people = read_people(source, missing)
        read = _read_sampled if "p" in releases[0].manifest.own else _read_perturbed
        texts = list(dict.fromkeys(text for release in releases for text in _list_values(release)))
        read_parts = [read(release, people, texts) for release in releases]
        odds = [bound_release_odds(release.manifest) for release in releases]
        return cls(
            tuple(part for part, _, _ in read_parts),
            read_parts[0][1],
            read_parts[0][2],
            multiply_odds(odds),
            sum(part.seeded for part in odds),
        )

    @property
    def exact(self) -> np.ndarray:
        """The rows whose joint likelihood is known exactly: one release alone always is."""
        return np.logical_and.reduce([part.alone for part in self.parts]) | (len(self.parts) == 1)

    def believe(self, shuffled: np.random.Generator | None = None) -> JoinedBeliefs:
        """Join all releases; `shuffled` deals what all but the first say to other rows."""
        rows = len(self.truth)
        order = [np.arange(rows)]
        order += [order[0] if shuffled is None else shuffled.permutation(rows) for _ in self.parts[1:]]
        greatest = np.zeros(rows)
        guess = np.zeros(rows, np.int64)
        greatest_alone = np.zeros((len(self.parts), rows))
        guess_alone = np.zeros((len(self.parts), rows), np.int64)
        odds, odds_alone = 1.0, 1.0
        for chunk in self._list_chunks():
            joint = np.ones((len(chunk), len(self.prior)))
            for number, part in enumerate(self.parts):
                likelihood = part.compute_likelihoods(order[number][chunk])
                belief = _normalize(self.prior * likelihood, self.prior)
                greatest_alone[number, chunk] = belief.max(axis=1)
                guess_alone[number, chunk] = belief.argmax(axis=1)
                odds_alone = max(odds_alone, _find_greatest_odds(likelihood, self.prior))
                joint *= likelihood / likelihood.max(axis=1, keepdims=True)
            belief = _normalize(self.prior * joint, self.prior)
            greatest[chunk] = belief.max(axis=1)
            guess[chunk] = belief.argmax(axis=1)
            odds = max(odds, _find_greatest_odds(joint, self.prior))
        return JoinedBeliefs(greatest, guess, greatest_alone, guess_alone, odds, odds_alone)

    def bound_greatest(self, beliefs: JoinedBeliefs) -> np.ndarray:
        """Bound the greatest belief of each row from above: computed ones rounded up, estimates by the odds of all releases."""
        prior = float(self.prior.max())
        odds = self.odds.odds
        allowed = 1.0 if odds is None else prior * float(odds) / (1 + prior * (float(odds) - 1))
        return np.where(self.exact, beliefs.greatest, np.maximum(beliefs.greatest, allowed)) + BELIEF_SLACK

    def _list_chunks(self) -> Iterator[np.ndarray]:
        size = max(1, MAX_BELIEFS_AT_ONCE // len(self.prior))
        for start in range(0, len(self.truth), size):
            yield np.arange(start, min(start + size, len(self.truth)))


def is_redrawn(release: Any) -> bool:
    """Tell whether a release redraws values."""
    return any(field in release.manifest.own for field in REDRAWING_FIELDS)


def can_be_multiplied(releases: Sequence[Any]) -> bool:
    """Tell whether these are several releases of one kind that redraws values."""
    return len({release.manifest.kind for release in releases}) == 1 and is_redrawn(releases[0])


def require_same_values(releases: Sequence[Any]) -> None:
    """Refuse releases that redraw other columns, or other values of one column: a person has one value in each of them.

    Likelihoods are multiplied value by value. Of a wage and the same wage rounded, or of a wage and an illness, the places
    of a value in two releases are not the same, and the product is no likelihood of anything.
    """
    columns = list(dict.fromkeys(release.manifest.sensitive.name for release in releases))
    if len(columns) > 1:
        raise RequestError(
            "Releases of redrawn values are joined where they redraw one column, the same in all of them.",
            why=f"These redraw {len(columns)}: {quote_list(columns)}.",
            attempt="releases of the same sensitive column, or each of them alone.",
        )
    sizes = [len(set(_list_values(release))) for release in releases]
    if len({frozenset(_list_values(release)) for release in releases}) > 1:
        raise RequestError(
            f"The releases redraw other values of {columns[0]!r}.",
            why=f"They have {', '.join(f'{size:,}' for size in sizes)} possible values, and not the same ones.",
            attempt="releases whose sensitive column has the same domain, type and rounding, or each of them alone.",
        )


def describe_joined_beliefs(joined: RedrawnReleases, beliefs: JoinedBeliefs, seed: int) -> dict[str, Any]:
    """Describe the beliefs as the attack's answer has them, the control among them."""
    rows = len(joined.truth)
    half = int((beliefs.greatest >= 0.5).sum())
    half_low, half_high = compute_wilson_interval(half, rows)
    shuffled = joined.believe(np.random.default_rng(seed))
    control = int((shuffled.guess == joined.truth).sum())
    control_low, control_high = compute_wilson_interval(control, rows)
    return {
        "half": half / rows,
        "half_low": half_low,
        "half_high": half_high,
        "half_alone": float((beliefs.greatest_alone >= 0.5).mean(axis=1).max()),
        "worst_alone": float(beliefs.greatest_alone.max()),
        "exceeds": None,
        "exceeds_all": None,
        "alone": float((beliefs.guess_alone == joined.truth).mean(axis=1).max()),
        "believed": float(beliefs.greatest.mean()),
        "control": control / rows,
        "control_low": control_low,
        "control_high": control_high,
        "releases": len(joined.parts),
        "exact": int(joined.exact.sum()),
        "product_worst": float(beliefs.greatest.max()),
        "moved": 0.0,
        "rule": "product of likelihood ratios",
        "departed": 0,
        "odds": beliefs.odds,
        "odds_alone": beliefs.odds_alone,
        "odds_bound": None if joined.odds.odds is None else float(joined.odds.odds),
        "seeded": joined.seeded,
    }


def _list_values(release: Any) -> list[str | None]:
    """List the values that a release may show, as texts of its type."""
    if "p" in release.manifest.own:
        return (
            parse_texts(list(release.manifest.own["domain"]), release.manifest.sensitive.dtype)
            .cast(pl.String)
            .to_list()
        )
    return Reconstruction.from_manifest(release.manifest).values.cast(pl.String).to_list()


def _read_sampled(
    release: Any, people: pl.DataFrame, texts: Sequence[str | None]
) -> tuple[RedrawnRelease, np.ndarray, np.ndarray]:
    """Read a sampled release: the lifts of each value of each group, for who knows everybody else in it."""
    sampled = SampledTarget(release, people, None, None, None)
    owner = sampled.find_crucial_groups(people, "source")
    if (owner < 0).any() or (sampled.count(owner) != sampled.size).any():
        raise _make_other_data_error()
    place = {text: number for number, text in enumerate(texts)}
    place_of_code = np.array([place[text] for text in sampled.domain], np.int64)
    true_codes = sampled.codes(people[sampled.sensitive.name])
    known = KnownValues.count(owner, true_codes, len(sampled.domain), leaves_out_victim=True)
    pairs, case_of_row = np.unique(owner * len(sampled.domain) + true_codes, return_inverse=True)
    p = float(sampled.p)
    lengths, shown_parts, weight_parts = [0], [], []
    for pair in pairs.tolist():
        group, value = divmod(pair, len(sampled.domain))
        shown = sampled.shown.list_of_group(group)
        others = known.list_of_group(group)
        others[value] -= 1
        holders = np.array([others.get(shown_value, 0) for shown_value in shown])
        lifts = compute_lifts(
            np.array(list(shown.values())), holders, int(sampled.size[group]), 0, p, len(sampled.domain)
        )
        lengths.append(len(shown))
        shown_parts.append(place_of_code[np.array(list(shown), np.int64)])
        weight_parts.append(lifts)
    part = RedrawnRelease(
        1.0,
        np.eye(len(texts)),
        case_of_row.reshape(-1),
        np.cumsum(lengths),
        np.concatenate(shown_parts),
        np.concatenate(weight_parts),
        np.full(len(owner), release.manifest.rows_per_person == 1),
    )
    return part, _make_even_prior(place_of_code, len(texts)), place_of_code[true_codes]


def _read_perturbed(
    release: Any, people: pl.DataFrame, texts: Sequence[str | None]
) -> tuple[RedrawnRelease, np.ndarray, np.ndarray]:
    """Read a perturbed release: the values that the rows of each combination of quasi-identifiers show."""
    manifest = release.manifest
    model = Reconstruction.from_manifest(manifest)
    data = release.tables["data"]
    declared = declare_columns(release.columns)
    require_columns(people, list(declared), "source")
    typed = collect_frame(parse_declared(people.select(*declared).lazy(), declared), "Reading the people")
    quasi = [entry.name for entry in manifest.find_columns_with_role(Role.QUASI)]
    combinations = pl.concat([frame.select(pl.col(name).cast(pl.String) for name in quasi) for frame in (typed, data)])
    point = combinations.select(pl.struct(quasi).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    point_of_row, point_of_shown = point[: len(typed)], point[len(typed) :]
    points = int(point.max()) + 1
    held = np.bincount(point_of_row, minlength=points)
    rows = np.bincount(point_of_shown, minlength=points)
    if (held != rows).any():
        raise _make_other_data_error()
    place = {text: number for number, text in enumerate(texts)}
    place_of_value = np.array([place[text] for text in model.values.cast(pl.String).to_list()], np.int64)
    prior = np.zeros(len(texts))
    prior[place_of_value] = _read_distribution(manifest, model, data)
    columns = np.zeros((len(texts), len(texts)))
    columns[np.ix_(place_of_value, place_of_value)] = model.matrix.T
    shown_chance = prior @ columns.T
    shown, entries = np.unique(
        point_of_shown * len(texts) + place_of_value[model.find_value_places(data)], return_counts=True
    )
    weights = entries / held[shown // len(texts)] / shown_chance[shown % len(texts)]
    truth = np.array(
        [place.get(text, -1) for text in typed[manifest.sensitive.name].cast(pl.String).to_list()], np.int64
    )
    part = RedrawnRelease(
        0.0,
        columns,
        point_of_row,
        np.searchsorted(shown // len(texts), np.arange(points + 1)),
        shown % len(texts),
        weights,
        (held == 1)[point_of_row] & (manifest.rows_per_person == 1),
    )
    return part, prior, truth


def _read_distribution(manifest: Any, model: Reconstruction, data: pl.DataFrame) -> np.ndarray:
    """Read the overall distribution; reconstruct it from all rows if the manifest has none."""
    if "distribution" in manifest.own:
        distribution = np.array([float(parse_fraction(share)) for share in manifest.own["distribution"]])
    else:
        shown = np.bincount(model.find_value_places(data), minlength=len(model.values))
        distribution = model.maximise(shown)[0]
    normalized: np.ndarray = distribution / distribution.sum()
    return normalized


def _make_even_prior(values: np.ndarray, size: int) -> np.ndarray:
    prior = np.zeros(size)
    prior[values] = 1 / len(values)
    return prior


def _normalize(belief: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Scale beliefs to add up to 1; releases that contradict each other are not of the same people, and say nothing."""
    total = belief.sum(axis=1, keepdims=True)
    scaled: np.ndarray = np.where(total > 0, belief / np.where(total > 0, total, 1), prior)
    return scaled


def _find_greatest_odds(likelihood: np.ndarray, prior: np.ndarray) -> float:
    """Find by how much the odds of two possible values grow at most."""
    possible = likelihood[:, prior > 0]
    least = possible.min(axis=1)
    return float(
        np.divide(possible.max(axis=1), least, out=np.full(len(least), np.inf), where=least > 0).max(initial=1.0)
    )


def _make_other_data_error() -> RequestError:
    return RequestError(
        "A release of redrawn values is joined over the data that it was made from, and this source has other people.",
        attempt="the data that was published.",
    )
