"""(B,t)-privacy and its skyline (Li, Li & Zhang, ICDE 2009, definitions 1 and 2): nobody's belief moves by more than t.

    max over people of  D[P_pri(B, q), P_pos(B, q, T*)] <= t

The adversary Adv(B) has prior beliefs by kernel estimation from the table itself, knows who is in which group, and
infers by `posterior`.  D is the Jensen-Shannon divergence in bits (`base` 2) of beliefs smoothed over the sensitive
values.  The promise is not closed under union (errata 3.7): every cut and every merge is judged again.  Membership must
be known, so labels are exact sets.

`Skyline` promises (B,t)-privacy for several adversaries at once.  The steward sets a t for each bandwidth, so an
adversary who knows more may be allowed to learn less, or more.  The risk changes continuously with the bandwidth
(section V-C), so a few points stand for all; `reticent check` tries one t at every bandwidth of `BANDWIDTH_GRID`.

The module also parses the parameters of both promises (exact, as the authors write them), binds the promises to cells
(`bind_background_promise`), explains why a table is out of reach, and lists warnings.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from reticent.catalogue import PROMISES
from reticent.data.cells import Cells
from reticent.errors import JobError
from reticent.limits import read_text_file
from reticent.models.background_knowledge.adversary import BackgroundAdversary, BackgroundKnowledge
from reticent.models.background_knowledge.bandwidth_choice import BandwidthChoice, choose_bandwidths
from reticent.models.background_knowledge.distances import WHOLE_BANDWIDTH, Bandwidth, compute_distances
from reticent.models.background_knowledge.posteriors import compute_js_divergence, smooth_beliefs
from reticent.models.promise import NO_VALUE, CandidateGroups, GroupCheck, Promise, Totals, list_excluded_values
from reticent.models.rational_bounds import Number, parse_fraction
from reticent.validation import accept_parameter, check_parameters, document_parameters

LN2 = 0.6931471805599453
_CERTAIN_PRIORS_CACHE: WeakKeyDictionary[Cells, dict[str, list[int]]] = WeakKeyDictionary()
_CHOICES_CACHE: WeakKeyDictionary[Cells, dict[str, BandwidthChoice]] = WeakKeyDictionary()
AUTO_BANDWIDTH = "auto"
HELD_OUT = "held-out"
BANDWIDTH_GRID: tuple[Bandwidth, ...] = (*(Fraction(b, 10) for b in (1, 2, 3, 4, 5, 6, 8, 10, 12)), WHOLE_BANDWIDTH)


class BackgroundPromise(Protocol):
    """Protocol of the attributes that (B,t)-privacy and its skyline share."""

    @property
    def smoothing(self) -> Fraction: ...

    @property
    def posterior(self) -> str: ...

    @property
    def kernel(self) -> str: ...

    @property
    def base(self) -> str | int: ...

    @property
    def distances(self) -> Mapping[str, Any] | None: ...

    @property
    def column(self) -> str | None: ...

    @property
    def skyline(self) -> list[tuple[Any, Fraction]]: ...


def bind_adversaries(promise: BackgroundPromise, cells: Cells) -> list[tuple[int, BackgroundAdversary]]:
    """Bind each adversary of the promise to each view of the table; return them with their number in the skyline."""
    column = cells.find_sensitive(promise.column)
    adversaries = []
    for number, (bandwidth, _) in enumerate(promise.skyline):
        knowledge = BackgroundKnowledge(bandwidth, promise.kernel, promise.smoothing, promise.distances or {})
        knowledge.check(cells, column)
        for excluded in list_excluded_values(cells.totals(column), cells.sensitive[column].null_code):
            if excluded == NO_VALUE or cells.totals(column).sum() > cells.totals(column)[excluded]:
                adversaries.append((number, BackgroundAdversary(cells, column, knowledge, excluded)))
    return adversaries


def require_whole_table(name: str, totals: Totals | None) -> None:
    """Refuse totals of a larger table: a prior is estimated over all rows, and totals do not determine it for a part."""
    if totals is not None:
        raise JobError(
            f"{name} cannot be kept on a part of a table.",
            why="Its adversary's prior is an estimate over all rows, and not a function of how frequent values are.",
            attempt="planning the whole table at once.",
        )


def bind_background_promise(promise: BackgroundPromise, cells: Cells) -> GroupCheck:
    allowed = [t for _, t in promise.skyline]
    everyone = bind_adversaries(promise, cells)
    judges = [adversary.judge(promise.posterior, allowed[number], promise.base) for number, adversary in everyone]
    _CERTAIN_PRIORS_CACHE.setdefault(cells, {})[_make_cache_key(promise)] = _count_certain(promise, everyone)

    def keeps(groups: CandidateGroups) -> np.ndarray:
        kept = np.ones(len(groups), bool)
        for judge in judges:
            kept &= judge.keeps(groups)
        return kept

    return keeps


def count_certain_priors(promise: BackgroundPromise, cells: Cells) -> list[int]:
    """Count the people of whom each adversary of the skyline is certain before the release: one value alone has a prior above 0.

    The numbers are cached where the promise was bound to these cells, as every plan binds it; otherwise the priors are
    estimated.
    """
    cached = _CERTAIN_PRIORS_CACHE.get(cells, {}).get(_make_cache_key(promise))
    return _count_certain(promise, bind_adversaries(promise, cells)) if cached is None else cached


def compute_worst_risks(promise: BackgroundPromise, cells: Cells, groups: CandidateGroups) -> list[float]:
    """Compute the greatest risk at each point of the skyline, in the promise's own units."""
    worst = [0.0] * len(promise.skyline)
    for number, adversary in bind_adversaries(promise, cells):
        risk = float(adversary.risks(groups, promise.posterior).max(initial=0.0)) * (1 if promise.base == 2 else LN2)
        worst[number] = max(risk, worst[number])
    return worst


def explain_unreachable(promise: BackgroundPromise, cells: Cells) -> tuple[str, str]:
    """Explain why all rows in one group break the promise, and which t would do."""
    one_group = CandidateGroups(cells, np.arange(len(cells)), cells.counts, np.array([0, len(cells)]))
    risks = compute_worst_risks(promise, cells, one_group)
    broken = [(risk, t) for risk, (_, t) in zip(risks, promise.skyline, strict=True) if risk >= float(t)]
    risk, t = max(broken or list(zip(risks, (t for _, t in promise.skyline), strict=True)))
    least_t = min(int(risk * 10_000) + 1, 10_000) / 10_000
    why = f"All rows in one group leave a risk of {risk:.6f}, and t = {float(t):g} is allowed."
    return why, f"t = {least_t:g} or more, or a larger bandwidth: who knows less learns less of what all rows say."


def list_smoothing_warnings(promise: BackgroundPromise, cells: Cells) -> list[str]:
    """Warn of a smoothing that smooths nothing (errata 3.3), or so much that certain beliefs are alike (errata 3.5)."""
    if not promise.smoothing:
        return []
    column = cells.find_sensitive(promise.column)
    domain = cells.sensitive[column]
    totals = cells.totals(column)
    occurring = np.flatnonzero(totals)
    if len(occurring) < 2:
        return []
    distances = compute_distances(domain, occurring, (promise.distances or {}).get(domain.name))
    nearest = Fraction(int(distances.parts[~np.eye(len(occurring), dtype=bool)].min()), distances.unit)
    if nearest >= promise.smoothing:
        return [
            f"smoothing = {float(promise.smoothing):g} reaches no neighbour: the nearest two values of {domain.name!r} are "
            f"{float(nearest):g} apart, and the kernel is 0 from its bandwidth on. Nothing is smoothed."
        ]
    adversary = bind_adversaries(promise, cells)[0][1]
    certain = smooth_beliefs(np.eye(domain.size)[occurring], adversary.smooth)
    pairs = compute_js_divergence(certain[:, None, :], certain[None, :, :])[np.triu_indices(len(occurring), 1)]
    pairs = pairs if promise.base == 2 else pairs * LN2
    t = float(min(t for _, t in promise.skyline))
    near = int((pairs <= t).sum())
    if not near:
        return []
    empty = ": the promise is empty" if near == len(pairs) else ""
    return [
        f"With smoothing = {float(promise.smoothing):g}, {near} of {len(pairs)} pairs of values of {domain.name!r} are within t = {t:g} "
        f"of each other even where both beliefs are certain (the nearest at {pairs.min():.2g}, the farthest at {pairs.max():.2g})"
        f"{empty}."
    ]


def parse_bandwidths(value: Any) -> Bandwidth | dict[str, Bandwidth]:
    """Parse a bandwidth, a number >= 0, "whole" or "auto", for every column; numbers and "whole" also in a table of columns."""
    return _accept_parameter(value, "bandwidth")


def parse_threshold(value: Any) -> Fraction:
    """Parse t: how far a belief may move."""
    return _accept_parameter(value, "t")


def parse_smoothing(value: Any) -> Fraction:
    """Parse the distance over which beliefs are smoothed."""
    return _accept_parameter(value, "smoothing")


def parse_kernel(value: Any) -> str:
    """Parse the name of a kernel."""
    return _accept_parameter(value, "kernel")


def parse_inference(value: Any) -> str:
    """Parse how an attack infers: a posterior that a promise may name, or the exact one."""
    field = PROMISES["bt-privacy"].fields["posterior"]
    return accept_parameter(replace(field, choices=(*field.choices, "exact")), value, "posterior", "background")


def parse_distance_matrices(value: Any) -> dict[str, dict[str, Any]] | None:
    """Parse a matrix of distances for each column: a CSV with the values in its first row and column, or {values, rows}."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise JobError("distances is a table of columns.", attempt='distances = { disease = "disease-distances.csv" }.')
    return {str(column): _parse_distance_matrix(str(column), matrix) for column, matrix in value.items()} or None


def to_json_bandwidth(bandwidth: Bandwidth | Mapping[str, Bandwidth]) -> Any:
    """Convert a bandwidth to what JSON can represent."""
    if isinstance(bandwidth, Mapping):
        return {column: to_json_bandwidth(value) for column, value in bandwidth.items()}
    return bandwidth if isinstance(bandwidth, str) else float(bandwidth)


def list_prior_routes(promise: BackgroundPromise, cells: Cells) -> list[str]:
    """List how the priors of each adversary of the promise are computed: by `contraction` or over `pairs`."""
    return [adversary.priors.route.name for _, adversary in bind_adversaries(promise, cells)]


@document_parameters(PROMISES["bt-privacy"])
@dataclass(frozen=True, slots=True)
class BTPrivacy(Promise):
    """An adversary of this bandwidth moves no belief by more than t."""

    bandwidth: Any
    t: Fraction
    smoothing: Fraction = Fraction(0)
    posterior: str = "balanced"
    kernel: str = "epanechnikov"
    base: str | int = 2
    distances: Mapping[str, Any] | None = None
    column: str | None = None
    bandwidth_by: str | None = None
    name: ClassVar[str] = "bt-privacy"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = False
    labels: ClassVar[str] = "sets"
    whole_table: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            bandwidth: Any,
            t: Number,
            smoothing: Number = 0,
            posterior: str = "balanced",
            kernel: str = "epanechnikov",
            base: str | int = 2,
            distances: Mapping[str, Any] | None = None,
            column: str | None = None,
            bandwidth_by: str | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self, as_given=("distances",))
        object.__setattr__(self, "distances", parse_distance_matrices(self.distances))

    @property
    def skyline(self) -> list[tuple[Any, Fraction]]:
        """The one adversary of the promise, as (bandwidth, t); of `"auto"` the table's is that of `settle`."""
        return [(self.bandwidth, self.t)]

    def settle(self, cells: Cells) -> BTPrivacy:
        """Return the promise with the bandwidths that this table chooses, if it is to choose them.

        Raises `JobError` where the promise states that the table chose its bandwidths, and this one chooses others.
        """
        if self.bandwidth != AUTO_BANDWIDTH:
            return self if self.bandwidth_by is None else self._require_chosen(cells)
        chosen = self.choose_bandwidths(cells).bandwidths
        return replace(self, bandwidth=dict(chosen), bandwidth_by=HELD_OUT)

    def choose_bandwidths(self, cells: Cells) -> BandwidthChoice:
        """Choose the bandwidths by which the other people predict the sensitive column best; cached for the cells."""
        column = cells.find_sensitive(self.column)
        cache = _CHOICES_CACHE.setdefault(cells, {})
        key = f"{column} {self.kernel} {self.distances}"
        if key not in cache:
            cache[key] = choose_bandwidths(cells, column, self.kernel, self.distances)
        return cache[key]

    def _require_chosen(self, cells: Cells) -> BTPrivacy:
        chosen = dict(self.choose_bandwidths(cells).bandwidths)
        if self.bandwidth != chosen:
            raise JobError(
                'bandwidth_by = "held-out" says that the table chose these bandwidths, and it chooses others.',
                why=f"It chooses {to_json_bandwidth(chosen)}.",
                attempt='bandwidth = "auto", or numbers without bandwidth_by.',
            )
        return self

    def bind(self, cells: Cells, totals: Totals | None = None) -> GroupCheck:
        require_whole_table(self.name, totals)
        return bind_background_promise(self._with_numbers(cells), cells)

    def reason(self, cells: Cells) -> tuple[str, str]:
        return explain_unreachable(self._with_numbers(cells), cells)

    def count_certain_priors(self, cells: Cells) -> list[int]:
        """Count the people of whom each adversary of the promise is certain before anything is published."""
        return count_certain_priors(self._with_numbers(cells), cells)

    def warnings(self, cells: Cells) -> list[str]:
        return list_smoothing_warnings(self._with_numbers(cells), cells)

    def _with_numbers(self, cells: Cells) -> BTPrivacy:
        return self.settle(cells) if self.bandwidth == AUTO_BANDWIDTH else self


@document_parameters(PROMISES["skyline"])
@dataclass(frozen=True, slots=True)
class Skyline(Promise):
    """Each point { bandwidth, t } is a promise of (B,t)-privacy."""

    points: Sequence[Mapping[str, Any]]
    smoothing: Fraction = Fraction(0)
    posterior: str = "balanced"
    kernel: str = "epanechnikov"
    base: str | int = 2
    distances: Mapping[str, Any] | None = None
    column: str | None = None
    name: ClassVar[str] = "skyline"
    needs_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = False
    labels: ClassVar[str] = "sets"
    whole_table: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            points: Sequence[Mapping[str, Any]],
            smoothing: Number = 0,
            posterior: str = "balanced",
            kernel: str = "epanechnikov",
            base: str | int = 2,
            distances: Mapping[str, Any] | None = None,
            column: str | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self, as_given=("distances",))
        object.__setattr__(self, "distances", parse_distance_matrices(self.distances))

    @property
    def skyline(self) -> list[tuple[Any, Fraction]]:
        return [(point["bandwidth"], point["t"]) for point in self.points]

    def bind(self, cells: Cells, totals: Totals | None = None) -> GroupCheck:
        require_whole_table(self.name, totals)
        return bind_background_promise(self, cells)

    def reason(self, cells: Cells) -> tuple[str, str]:
        return explain_unreachable(self, cells)

    def count_certain_priors(self, cells: Cells) -> list[int]:
        """Count the people of whom each adversary of the promise is certain before anything is published."""
        return count_certain_priors(self, cells)

    def warnings(self, cells: Cells) -> list[str]:
        return list_smoothing_warnings(self, cells)


def _make_cache_key(promise: BackgroundPromise) -> str:
    return f"{promise.column} {promise.kernel} {promise.distances} {promise.skyline}"


def _count_certain(promise: BackgroundPromise, everyone: Sequence[tuple[int, BackgroundAdversary]]) -> list[int]:
    counts = [0] * len(promise.skyline)
    for number, adversary in everyone:
        certain = ((adversary.prior > 0).sum(axis=1) == 1) & (adversary.people > 0)
        counts[number] = max(counts[number], int(adversary.people[certain].sum()))
    return counts


def _accept_parameter(value: Any, name: str) -> Any:
    return accept_parameter(PROMISES["bt-privacy"].fields[name], value, name, "bt-privacy")


def _parse_distance_matrix(column: str, matrix: Any) -> dict[str, Any]:
    if isinstance(matrix, str | Path):
        values, rows = _read_matrix_file(column, Path(matrix))
    elif isinstance(matrix, Mapping) and set(matrix) == {"values", "rows"}:
        values = [str(value) for value in matrix["values"]]
        rows = [list(row) for row in matrix["rows"]]
    else:
        raise JobError(f"The distances of {column!r} are neither a file nor {{ values, rows }}.")
    numbers = [[parse_fraction(cell, f"A distance of {column!r}") for cell in row] for row in rows]
    size = len(values)
    if not size:
        raise JobError(f"The distances of {column!r} name no value.", attempt="values in the first row and column.")
    if len(set(values)) != size or len(numbers) != size or any(len(row) != size for row in numbers):
        raise JobError(f"The distances of {column!r} are not a square with every value once.")
    if any(numbers[i][i] for i in range(size)):
        raise JobError(f"The distances of {column!r} are not 0 on the diagonal.", why="A value is where it is.")
    if any(numbers[i][j] != numbers[j][i] for i in range(size) for j in range(i)):
        raise JobError(f"The distances of {column!r} are not symmetric.", attempt="the same distance both ways.")
    if any(d < 0 for row in numbers for d in row):
        raise JobError(f"The distances of {column!r} hold a negative number.")
    return {"values": values, "rows": [[str(d) for d in row] for row in numbers]}


def _read_matrix_file(column: str, path: Path) -> tuple[list[str], list[list[str]]]:
    try:
        table = [row for row in csv.reader(io.StringIO(read_text_file(path))) if row]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise JobError(f"The distances of {column!r} cannot be read.", why=f"Looked for {path}.") from None
    if not table or any(len(row) != len(table) for row in table):
        raise JobError(f"The distances of {column!r} are not a square.", attempt="values in the first row and column.")
    names = [row[0] for row in table[1:]]
    if names != table[0][1:]:
        raise JobError(
            f"The distances of {column!r} name other values in the first row than in the first column.",
            attempt="the same values in the same order.",
        )
    return names, [row[1:] for row in table[1:]]
