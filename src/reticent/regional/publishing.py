"""A table counted, planned, written and audited in parts, in the order in which `publish` asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent import registry
from reticent.audit.kind import eyes
from reticent.audit.result import Audit
from reticent.audit.subject import of_folder
from reticent.engines.engine import Working
from reticent.engines.parts import NUMBER, TIMES, Frames, Parts, Spreading
from reticent.job import Job
from reticent.methods.compose import left_to_method
from reticent.methods.lone_people import describe_lone_people
from reticent.methods.reachable import check_reachable
from reticent.methods.regions import coarse, fine
from reticent.methods.regions.coarse import Tree
from reticent.models.shapes import totals_of
from reticent.randomness import Random
from reticent.recipe.losses import wider_by
from reticent.regional import counted as counting
from reticent.regional import labels
from reticent.regional import planned as planning
from reticent.regional import written as writers
from reticent.regional.counted import Codes
from reticent.regional.fingerprint import SpreadRows
from reticent.release.data import parts_of
from reticent.release.kind import data_files
from reticent.release.rows import Rows
from reticent.table.cells import Cells
from reticent.table.domain import Domain
from reticent.table.joint import jointly
from reticent.table.roles import Column, Role, with_role
from reticent.table.sentinels import FarValues, of_domain
from reticent.table.source import Source, is_text

READERS = 64  # tasks that read a release
AT_ONCE = 1 << 20  # rows of a release that are judged in one part


@dataclass(frozen=True, eq=False)
class Regional:
    """The counted table: combinations in parts, and how their values are coded."""

    worker: Spreading
    rows: Any
    columns: Mapping[str, Column]
    rows_per_person: int
    how: Working
    combined: Parts
    marginals: counting.Marginals
    codes: Codes

    @classmethod
    def counted(
        cls, worker: Spreading, rows: Any, columns: Mapping[str, Column], rows_per_person: int, how: Working
    ) -> Regional:
        keys = [*with_role(columns, Role.QUASI), *with_role(columns, Role.SENSITIVE)]
        combined = worker.combined(rows, keys, how.room() / "combinations")
        marginals = counting.marginals(combined, keys)
        return cls(worker, rows, columns, rows_per_person, how, combined, marginals, marginals.codes(columns))

    def fingerprint(self, source: Source | None) -> SpreadRows:
        return SpreadRows(self.combined, self.codes.names, source)

    @property
    def domains(self) -> tuple[Domain, ...]:
        return self.codes.domains(self.codes.names)

    @property
    def domains_by_role(self) -> tuple[tuple[Domain, ...], tuple[Domain, ...]]:
        """Those of quasi-identifying, and those of sensitive columns."""
        return self.codes.domains(self.codes.quasi), self.codes.domains(self.codes.sensitive)

    def far_values(self) -> list[FarValues]:
        """Values that stand far from all others in their column."""
        found = []
        for name in self.codes.names:
            coding = self.codes.codings[name]
            values, times = self.values_of(name)
            found += of_domain(coding.domain, np.bincount(coding.encode(values), times, coding.domain.size))
        return found

    def values_of(self, name: str) -> tuple[pl.Series, np.ndarray]:
        """The distinct values of a column, and how many rows have each."""
        counted = self.marginals.values[name]
        return counted[name], counted[TIMES].to_numpy().astype(np.int64)

    @property
    def carried(self) -> dict[str, pl.DataType]:
        """The carried columns; texts as texts."""
        schema = self.rows.collect_schema()
        found = {name: schema[name] for name in with_role(self.columns, Role.INSENSITIVE)}
        return {name: pl.String() if is_text(dtype) else dtype for name, dtype in found.items()}

    def planned(self, job: Job, rng: Random, regions: int) -> Planned:
        """Coarse cuts from a sample; each side counted exactly; each region planned where it is."""
        promises, method = left_to_method(job.prepare, job.promises), job.method
        folder = self.how.room()
        cells = counting.coded(self.combined, self.codes, rng).kept(folder / "cells", "Coding the cells")
        drawn = counting.sample(cells, self.codes, self.marginals.combinations)
        drawn = replace(drawn, rows_per_person=self.rows_per_person)
        drawn = jointly(drawn) if job.jointly else drawn
        whole = self._summed(cells, Tree(), job)
        check_reachable(whole.cells, promises, method.name)
        tree = coarse.coarse(coarse.sampled(drawn, rng), promises, regions, getattr(method, "weights", None))
        summed = self._summed(cells, tree, job)
        tree = tree.pruned(fine(tree, summed.leaf, summed.cells, promises))
        known = replace(promises, reference=totals_of(whole.cells, None))
        asked = planning.Asked(method, known, self.codes, whole.cells, rng, folder)
        told = planning.planned(planning.routed(cells, self.codes, tree), asked)
        return Planned(self, method.kind, whole.cells, tree, tuple(told), rng, folder)

    def _summed(self, cells: Parts, tree: Tree, job: Job) -> counting.Summed:
        found = counting.summed(cells, self.codes, tree, self.rows_per_person)
        return replace(found, cells=jointly(found.cells)) if job.jointly else found


@dataclass(frozen=True, eq=False)
class Planned:
    """Every region's plan is in a file of `folder`; `cells` are the whole table's, without quasi-identifiers."""

    table: Regional
    kind: str
    cells: Cells
    tree: Tree
    told: tuple[planning.Told, ...]
    rng: Random
    folder: Path

    @cached_property
    def telling(self) -> list[list[str | None]]:
        """The labels of all regions numbered; of each quasi-identifier, those that tell what the manifest says of it."""
        asked = [(self.folder, at, domain, len(self.told)) for at, domain in enumerate(self.cells.quasi)]
        return self.table.worker.each(labels.numbered, asked)

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.told)

    def wider(self) -> list[str]:
        tight, printed = (sum(getattr(one, name) for one in self.told) / self.rows for name in ("tight", "printed"))
        return wider_by(self.cells.quasi, tight, printed)

    def lone(self) -> list[str]:
        """What the steward should hear of people who would stand alone; the promises that regions keep know no priors."""
        return describe_lone_people(sum(one.alone for one in self.told))

    @cached_property
    def writer(self) -> Any:
        """What writes the kind from parts."""
        sensitive, carried = len(self.table.codes.sensitive), self.table.carried
        kind: Any = registry.writer(self.kind)
        texts = partial(labels.looked_up, self.folder)
        return kind.in_parts(self.table.columns, self.cells, sensitive, self.telling, texts, carried)

    def frames(self) -> Mapping[str, Rows]:
        """The data files, written bucket by bucket."""
        codes = self.table.codes
        many = writers.buckets_for(self.rows, len(codes.names), len(self.table.carried))
        writing = writers.Writing(codes, self.writer.numbers, self.rng, self.folder, many)
        found: Mapping[str, Rows] = self.writer.frames(
            self.rows, lambda: writers.pieces(self._settled(writing), self.rows)
        )
        return found

    def _settled(self, writing: writers.Writing) -> Parts:
        table, carried, folder = self.table, self.table.carried, self.folder
        if carried:
            self.table.how.progress("writing: numbering rows")
            source = table.worker.rows(table.rows, [*table.codes.names, *carried])
            rows = writers.found(source, table.codes, self.tree, carried, self.rng)
            rows = rows.kept(folder / "rows", "Reading the carried columns")
            shown = writers.entered(rows.moved(planning.REGION, len(self.told)), writing, carried)
        else:
            shown = writers.expanded(table.worker.numbers(len(self.told)), writing)
        self.table.how.progress("writing: moving rows")
        return writers.settled(shown, writing, carried).kept(folder / "done", "Writing the rows")

    def audited(self, staged: Path) -> Audit:
        """The staged release recounted from its files, its groups in parts."""
        worker, subject = self.table.worker, of_folder(staged)
        seen: Any = eyes(self.kind)
        in_parts = seen.in_parts()
        assert subject.manifest is not None  # it was just written
        readers = min(parts_of(data_files(staged, subject.manifest)["data"]), READERS)
        tallies = worker.each(in_parts.tallied, [(subject, part, readers) for part in range(readers)])
        whole = in_parts.Whole.of(subject, tallies)
        (folder := self.folder / "audit").mkdir()
        read = worker.numbers(readers).made(_read, in_parts.LABELS, in_parts.labels, (subject,), readers)
        by_column = read.moved(in_parts.COLUMN, len(subject.quasi))
        labelled = by_column.told(in_parts.told_labels, subject, folder, doing="Auditing labels")
        into = -(-whole.rows // AT_ONCE)
        given = subject, whole, folder, into
        rows = worker.numbers(readers).made(
            _read, in_parts.scattered_schema(subject), in_parts.scattered, given, readers
        )
        judged = rows.moved(in_parts.PART, into).told(in_parts.judged, subject, whole, doing="Auditing")
        found: Audit = in_parts.together(subject, whole, [one for some in labelled for one in some], judged)
        return found


def _read(
    frames: Frames, number: int, reading: Callable[..., Iterator[pl.DataFrame]], given: tuple[Any, ...], readers: int
) -> Iterator[pl.DataFrame]:
    """What is read of the staged release by each of so many readers."""
    for frame in frames:
        for part in frame[NUMBER].to_list():
            yield from reading(*given, part, readers)
