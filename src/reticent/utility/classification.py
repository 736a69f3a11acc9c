"""Train on a release, score on people who are not in it: the share of them whose class is told, by each learner.  Extra `stats`.

`baseline` is the share that always naming the most frequent class of the source would tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.errors import RequestError
from reticent.release.manifest import Manifest
from reticent.table.cells import Cells
from reticent.utility.classes import Classes, classes_of
from reticent.utility.examples import Encoder, Examples, of_cells, of_sight


@dataclass(frozen=True, eq=False)
class Exam:
    """`known` are the cells of the people that releases are made of, `asked` those of the others, in the same codes."""

    known: Cells
    asked: Cells
    people: pl.DataFrame  # those asked about, as rows

    @cached_property
    def classes(self) -> Classes:
        return classes_of(self.known.sensitive[0], self.known.totals(0))

    @cached_property
    def encoder(self) -> Encoder:
        return Encoder(self.known)

    @cached_property
    def examples(self) -> Examples:
        return of_cells(self.asked, self.encoder, self.classes)

    @property
    def baseline(self) -> float:
        often = int(self.classes.counted(self.known.totals(0)).argmax())
        return float(self.examples.people[:, often].sum() / self.examples.people.sum())

    def ideal(self) -> dict[str, float]:
        """Taught by the people themselves, as they are."""
        return self._scored(of_cells(self.known, self.encoder, self.classes))

    def of_groups(self, sight: Any) -> dict[str, float]:
        """Taught by what groups show."""
        return self._scored(of_sight(sight, self.encoder, self.classes))

    def of_redrawn(self, published: pl.DataFrame, manifest: Manifest) -> dict[str, float]:
        """Taught by rows whose values were redrawn."""
        column, domain = manifest.sensitive.name, self.known.sensitive[0]
        categories = {name: values for name, values in self.classes.values(domain).items() if values}
        of = {text: self.classes.names[self.classes.of[code]] for code, text in enumerate(domain.texts)}
        truth = self.people[column].cast(pl.String).replace_strict(of, default="missing", return_dtype=pl.String)
        found = {}
        for name, row in catalogue.LEARNERS.items():
            if row.reconstructs:
                told = catalogue.load(row.function)(published, manifest, categories, self.people)
                found[name] = float(np.mean(told == truth.to_numpy()))
        return found

    def _scored(self, taught: Examples) -> dict[str, float]:
        asked, found = self.examples, {}
        at = np.arange(len(asked.people))
        for name, row in catalogue.LEARNERS.items():
            if not row.reconstructs:
                told = catalogue.load(row.function)(taught, asked)
                found[name] = float(asked.people[at, told].sum() / asked.people.sum())
        return found


def taught_by(release: Any, exam: Exam) -> dict[str, float]:
    """The accuracy of each learner that can be taught by a release: from its groups, or from redrawn values."""
    own = release.manifest.own
    if "matrix" in own or ("domain" in own and "p" in own):
        return exam.of_redrawn(release.frame(), release.manifest)
    try:
        return exam.of_groups(release.sight(exam.known))
    except RequestError as error:
        raise RequestError(f"Nothing can be learned from the release: {error.what}") from None
