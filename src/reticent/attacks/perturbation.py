"""Attacks on redrawn values: Bayes' rule with the matrix that the manifest publishes.

    Pr[i | v, x]  ~  Pr[i | x] * M[i][v]        a person of quasi-identifiers x whose row shows v

`matrix` takes the overall distribution for Pr[i | x]: that is the adversary whom beta-likeness by perturbation bounds.
`matrix-learned` learns it from the release as naive Bayes does, Pr[i | x] ~ p_i prod_j Pr[x_j | i], every Pr[x_j | i]
reconstructed by expectation-maximisation from the rows that show x_j; or, with `prior="source"`, knows these shares of
the source beforehand.  No promise is about the second adversary.

Several people may share all quasi-identifiers.  Which of their n rows is whose is unknown, each way being as likely,
and people's values are believed independently: the posterior of each of them is then the mean of the n rows'
posteriors.  The target's own row is among those learned from; with few rows that counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reticent import catalogue
from reticent.attacks.scoring import AttackOutcome, compute_wilson_interval, score_guesses
from reticent.attacks.target import AttackTarget, count_source_cells, make_target
from reticent.data.cells import Cells
from reticent.errors import RequestError, pluralize, suggest
from reticent.estimate.reconstruction import Reconstruction
from reticent.labels.adversary_view import GroupMembers, encode_values
from reticent.release.release import Release

LEARNED_PRIORS = ("release", "source")


@dataclass(frozen=True, eq=False)
class PerturbationOutcome(AttackOutcome):
    """Outcome of an attack with `growth`: the most by which the belief in a value exceeds its overall frequency, relatively."""

    growth: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {**AttackOutcome.to_dict(self), "growth": self.growth}


@dataclass(frozen=True, eq=False)
class PerturbedRows:
    """What rows show at each point of the source, the matrix over all values of the source, and the overall distribution."""

    seen: AttackTarget
    shown: np.ndarray  # (points, shown values): rows
    matrix: np.ndarray  # (values of the source, shown values)
    overall: np.ndarray  # (values of the source,)
    model: Reconstruction
    occurring: np.ndarray  # the codes that the matrix is about

    @classmethod
    def from_release(cls, release: Release, source: Any, missing: tuple[str, ...]) -> PerturbedRows:
        own = release.manifest.own
        if "matrix" not in own:
            raise RequestError(
                "This attack knows the matrix that values were redrawn by; this release has none.",
                attempt="another attack, or a release of beta-perturbation.",
            )
        cells = count_source_cells(release.columns, source, missing)
        model = Reconstruction.from_manifest(release.manifest)
        data = release.tables["data"]
        occurring = encode_values(cells.sensitive[0], model.values)
        target = make_target(cells, _make_empty_members(cells), release.manifest.promises)
        shown_counts = np.zeros((len(target.points), len(model.values)))
        codes = np.column_stack([encode_values(domain, data[domain.name]) for domain in cells.quasi])
        np.add.at(shown_counts, (_locate_rows(target.points, codes), model.find_value_places(data)), 1)
        matrix = np.zeros((cells.sensitive[0].size, len(model.values)))
        matrix[occurring] = model.matrix
        return cls(
            target,
            shown_counts,
            matrix,
            _find_overall_distribution(release, model, shown_counts, matrix, occurring),
            model,
            occurring,
        )

    def posterior(self, prior: np.ndarray) -> np.ndarray:
        """Compute (points, values): the mean over a point's rows of Bayes' rule; the prior where no row is published."""
        shown_chance = prior @ self.matrix
        share = self.shown / np.maximum(self.shown.sum(axis=1, keepdims=True), 1)
        weight = np.divide(share, shown_chance, out=np.zeros_like(share), where=shown_chance > 0)
        belief = prior * (weight @ self.matrix.T)
        total = belief.sum(axis=1, keepdims=True)
        return np.where(total > 0, belief / np.where(total > 0, total, 1), prior)

    def shuffle(self, seed: int) -> PerturbedRows:
        """Return the same rows with shuffled values: a release that is uninformative."""
        value = np.repeat(np.arange(self.shown.shape[1]), self.shown.sum(axis=0).astype(np.int64))
        point = np.repeat(np.arange(len(self.shown)), self.shown.sum(axis=1).astype(np.int64))
        shown_counts = np.zeros_like(self.shown)
        np.add.at(shown_counts, (point, np.random.default_rng(seed).permutation(value)), 1)
        return replace(self, shown=shown_counts)

    def make_outcome(self, name: str, belief: np.ndarray, noise: np.ndarray) -> PerturbationOutcome:
        """Make the outcome; `noise` is what the same adversary believes of shuffled rows, for the control."""
        scored = score_guesses(name, belief, self.seen.truth, self._compute_promised_belief())
        control_outcome = score_guesses(name, noise, self.seen.truth, None)
        control = (
            control_outcome.success,
            *compute_wilson_interval(round(control_outcome.success * control_outcome.targets), control_outcome.targets),
        )
        lifted = belief[self.shown.sum(axis=1) > 0][:, self.overall > 0] / self.overall[self.overall > 0]
        fields = {field: getattr(scored, field) for field in scored.__dataclass_fields__} | {"control": control}
        return PerturbationOutcome(**fields, growth=float(lifted.max(initial=1.0)) - 1)

    def _compute_promised_belief(self) -> float | None:
        """Compute the greatest belief that the promises allow, the overall distribution being known beforehand."""
        known = [promise for promise in self.seen.promises if promise.name in catalogue.PROMISES]  # no plugin's
        rows = [(promise, catalogue.PROMISES[promise.name].belief_bound) for promise in known]
        return min(
            (catalogue.load_object(bound)(declared.parameters, self.overall) for declared, bound in rows if bound),
            default=None,
        )


def attack_by_matrix(release: Any, source: Any, *, missing: tuple[str, ...] = (), seed: int = 1) -> PerturbationOutcome:
    """Attack as the Bayesian who knows the matrix and the overall distribution; `seed` shuffles the control's values."""
    rows = PerturbedRows.from_release(release, source, missing)
    prior = np.repeat(rows.overall[None, :], len(rows.shown), axis=0)
    return rows.make_outcome("matrix", rows.posterior(prior), rows.shuffle(seed).posterior(prior))


def attack_by_learned_matrix(
    release: Any, source: Any, *, missing: tuple[str, ...] = (), prior: str = "release", seed: int = 1
) -> PerturbationOutcome:
    """Attack with a better prior: learned from the release, or known of the source; `seed` shuffles the control's values."""
    if prior not in LEARNED_PRIORS:
        raise RequestError(f"A prior of {prior!r} is not known.", attempt=suggest(str(prior), LEARNED_PRIORS))
    rows = PerturbedRows.from_release(release, source, missing)
    noise = rows.shuffle(seed)
    return rows.make_outcome(
        "matrix-learned", rows.posterior(learn_prior(rows, prior)), noise.posterior(learn_prior(noise, prior))
    )


def learn_prior(rows: PerturbedRows, prior: str) -> np.ndarray:
    """Learn (points, values): naive Bayes of the counts of each value at each code of every quasi-identifier."""
    with np.errstate(divide="ignore"):
        total = np.repeat(np.log(rows.overall)[None, :], len(rows.shown), axis=0)
        for axis, domain in enumerate(rows.seen.quasi):
            codes = rows.seen.points[:, axis]
            point_counts = rows.seen.truth.to_dense() if prior == "source" else rows.shown
            counts = np.zeros((domain.size, point_counts.shape[1]))
            np.add.at(counts, codes, point_counts)
            if prior == "release":
                counts = _spread_counts(rows.model.maximise(counts), rows.occurring, len(rows.overall))
            totals = counts.sum(axis=0)
            total += np.log(np.where(totals > 0, counts / np.where(totals > 0, totals, 1), 1 / domain.size))[codes]
    greatest = total.max(axis=1, keepdims=True)
    likely = np.where(np.isfinite(greatest), np.exp(total - np.where(np.isfinite(greatest), greatest, 0)), rows.overall)
    return likely / likely.sum(axis=1, keepdims=True)


def _make_empty_members(cells: Cells) -> GroupMembers:
    """Make groups with nobody in them: groups are uninformative here."""
    return GroupMembers(cells.codes[:0], np.zeros(0, np.int64), np.zeros(0), np.ones((1, cells.sensitive[0].size)))


def _locate_rows(points: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Find the point of each published row."""
    distinct, number = np.unique(np.concatenate([points, codes]), axis=0, return_inverse=True)
    number = number.reshape(-1)
    point_of_number = np.full(len(distinct), -1, np.int64)
    point_of_number[number[: len(points)]] = np.arange(len(points))
    located = point_of_number[number[len(points) :]]
    if (located < 0).any():
        raise RequestError(
            f"{pluralize(int((located < 0).sum()), 'published row', 'is', 'are')} not in the source.",
            attempt="the data that the release was made from.",
        )
    return located


def _find_overall_distribution(
    release: Release, model: Reconstruction, shown_counts: np.ndarray, matrix: np.ndarray, occurring: np.ndarray
) -> Any:
    """Return the overall distribution that the manifest publishes; if it does not, reconstruct it from all rows."""
    own = release.manifest.own
    if "distribution" in own:
        from fractions import Fraction

        distribution = np.array([float(Fraction(str(share))) for share in own["distribution"]])
    else:
        distribution = model.maximise(shown_counts.sum(axis=0))
    spread = _spread_counts(distribution[None, :], occurring, len(matrix))[0]
    return spread / spread.sum()


def _spread_counts(counts: np.ndarray, occurring: np.ndarray, size: int) -> np.ndarray:
    spread = np.zeros((len(counts), size))
    spread[:, occurring] = counts
    return spread
