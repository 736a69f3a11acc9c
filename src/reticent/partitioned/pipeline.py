"""Counts, plans, writes and audits a table in parts, in the order in which `publish` calls it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent import registry
from reticent.audit.kind import auditor_for
from reticent.audit.result import Audit
from reticent.audit.subject import read_folder_subject
from reticent.data.cells import Cells, combine_sensitive
from reticent.data.columns import Column, Role, find_columns_with_role
from reticent.data.domain import Domain
from reticent.data.sentinels import FarValues, find_far_values_in_domain
from reticent.data.source import Source, is_text
from reticent.engines.engine import MULTIPLICITY, PART_NUMBER, EngineContext, Frames, PartitionedEngine, Partitions
from reticent.format.data_files import count_partitions
from reticent.format.row_batches import FileRows
from reticent.job.job import Job
from reticent.methods import regions as methods_regions
from reticent.methods.base import bind_reachable_promises
from reticent.methods.recipe_planning import describe_lone_people, select_method_promises
from reticent.methods.regions import RegionTree, find_fine_nodes
from reticent.models.promise import resolve_totals
from reticent.partitioned import cell_encoding as counting
from reticent.partitioned import region_planning
from reticent.partitioned import region_planning as partitioned_planning
from reticent.partitioned import writing as writers
from reticent.partitioned.cell_encoding import ColumnCodings
from reticent.partitioned.fingerprint import PartitionedCountedRows
from reticent.randomness import Random
from reticent.recipe.loss import describe_label_cost
from reticent.release.kind import find_data_files

MAX_READERS = 64  # tasks that read a release
AUDIT_PART_ROWS = 1 << 20  # rows of a release that are judged in one part


@dataclass(frozen=True, eq=False)
class PartitionedTable:
    """The counted table: combinations in parts, and how their values are coded."""

    engine: PartitionedEngine
    rows: Any
    columns: Mapping[str, Column]
    rows_per_person: int
    context: EngineContext
    combined: Partitions
    marginals: counting.Marginals
    codes: ColumnCodings

    @classmethod
    def count(
        cls,
        worker: PartitionedEngine,
        rows: Any,
        columns: Mapping[str, Column],
        rows_per_person: int,
        how: EngineContext,
    ) -> PartitionedTable:
        keys = [*find_columns_with_role(columns, Role.QUASI), *find_columns_with_role(columns, Role.SENSITIVE)]
        combined = worker.count_combinations(rows, keys, how.make_temp_dir() / "combinations")
        marginals = counting.count_marginals(combined, keys)
        return cls(worker, rows, columns, rows_per_person, how, combined, marginals, marginals.build_codings(columns))

    def fingerprint(self, source: Source | None) -> PartitionedCountedRows:
        return PartitionedCountedRows(self.combined, self.codes.names, source)

    @property
    def domains(self) -> tuple[Domain, ...]:
        return self.codes.get_domains(self.codes.names)

    @property
    def domains_by_role(self) -> tuple[tuple[Domain, ...], tuple[Domain, ...]]:
        """The domains of quasi-identifying, and those of sensitive columns."""
        return self.codes.get_domains(self.codes.quasi), self.codes.get_domains(self.codes.sensitive)

    def far_values(self) -> list[FarValues]:
        """Find values that are far from all others in their column."""
        found = []
        for name in self.codes.names:
            coding = self.codes.codings[name]
            values, times = self.values_of(name)
            found += find_far_values_in_domain(
                coding.domain, np.bincount(coding.encode(values), times, coding.domain.size)
            )
        return found

    def values_of(self, name: str) -> tuple[pl.Series, np.ndarray]:
        """Return the distinct values of a column, and the number of rows of each."""
        counted = self.marginals.values[name]
        return counted[name], counted[MULTIPLICITY].to_numpy().astype(np.int64)

    @property
    def carried(self) -> dict[str, pl.DataType]:
        """The passthrough columns; texts as texts."""
        schema = self.rows.collect_schema()
        found = {name: schema[name] for name in find_columns_with_role(self.columns, Role.INSENSITIVE)}
        return {name: pl.String() if is_text(dtype) else dtype for name, dtype in found.items()}

    def plan(self, job: Job, rng: Random, regions: int) -> PartitionedPlan:
        """Make coarse cuts from a sample, count each side exactly, and plan each region where it is."""
        promises = select_method_promises(job.prepare, job.promises)
        method = job.method
        folder = self.context.make_temp_dir()
        cells = counting.encode_partitions(self.combined, self.codes, rng).persist(folder / "cells", "Coding the cells")
        drawn = counting.draw_sample(cells, self.codes, self.marginals.combinations)
        drawn = replace(drawn, rows_per_person=self.rows_per_person)
        drawn = combine_sensitive(drawn) if job.jointly else drawn
        whole = self._count_leaves(cells, RegionTree(), job)
        bind_reachable_promises(whole.cells, promises, method.name)
        tree = methods_regions.cut_regions(
            methods_regions.sample_cells(drawn, rng), promises, regions, getattr(method, "weights", None)
        )
        summed = self._count_leaves(cells, tree, job)
        tree = tree.prune(find_fine_nodes(tree, summed.leaf, summed.cells, promises))
        known = replace(promises, reference=resolve_totals(whole.cells, None))
        asked = partitioned_planning.RegionRequest(method, known, self.codes, whole.cells, rng, folder)
        told = partitioned_planning.plan_regions(partitioned_planning.route_cells(cells, self.codes, tree), asked)
        return PartitionedPlan(self, method.kind, whole.cells, tree, tuple(told), rng, folder)

    def _count_leaves(self, cells: Partitions, tree: RegionTree, job: Job) -> counting.LeafTotals:
        found = counting.count_leaves(cells, self.codes, tree, self.rows_per_person)
        return replace(found, cells=combine_sensitive(found.cells)) if job.jointly else found


@dataclass(frozen=True, eq=False)
class PartitionedPlan:
    """A plan in parts: every region's plan is in a file of `folder`; `cells` are the whole table's, without quasi-identifiers."""

    table: PartitionedTable
    kind: str
    cells: Cells
    tree: RegionTree
    summaries: tuple[partitioned_planning.RegionSummary, ...]
    rng: Random
    folder: Path

    @cached_property
    def telling_labels(self) -> list[list[str | None]]:
        """The labels of all regions, numbered; for each quasi-identifier those that determine the manifest's entry."""
        asked = [(self.folder, at, domain, len(self.summaries)) for at, domain in enumerate(self.cells.quasi)]
        return self.table.engine.map(region_planning.number_labels, asked)

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.summaries)

    def describe_wider_labels(self) -> list[str]:
        tight, printed = (
            sum(getattr(one, name) for one in self.summaries) / self.rows for name in ("tight", "printed")
        )
        return describe_label_cost(self.cells.quasi, tight, printed)

    def describe_lone_people(self) -> list[str]:
        """Describe people who would be alone, for the steward; the promises that regions keep know no priors."""
        return describe_lone_people(sum(one.alone for one in self.summaries))

    @cached_property
    def writer(self) -> Any:
        """The writer of the kind from parts."""
        sensitive = len(self.table.codes.sensitive)
        carried = self.table.carried
        kind: Any = registry.load_writer(self.kind)
        texts = partial(region_planning.look_up_labels, self.folder)
        return kind.make_partitioned(self.table.columns, self.cells, sensitive, self.telling_labels, texts, carried)

    def frames(self) -> Mapping[str, FileRows]:
        """Return the data files, written bucket by bucket."""
        codes = self.table.codes
        many = writers.choose_bucket_count(self.rows, len(codes.names), len(self.table.carried))
        writing = writers.RowEncoding(codes, self.writer.numbers, self.rng, self.folder, many)
        found: Mapping[str, FileRows] = self.writer.frames(
            self.rows, lambda: writers.iterate_batches(self._settle_rows(writing), self.rows)
        )
        return found

    def _settle_rows(self, writing: writers.RowEncoding) -> Partitions:
        table, carried, folder = self.table, self.table.carried, self.folder
        if carried:
            self.table.context.progress("writing: numbering rows")
            source = table.engine.read_rows(table.rows, [*table.codes.names, *carried])
            rows = writers.locate_rows(source, table.codes, self.tree, carried, self.rng)
            rows = rows.persist(folder / "rows", "Reading the carried columns")
            shown = writers.assign_entries(
                rows.repartition(partitioned_planning.REGION_COLUMN, len(self.summaries)), writing, carried
            )
        else:
            shown = writers.expand_regions(table.engine.number_partitions(len(self.summaries)), writing)
        self.table.context.progress("writing: moving rows")
        return writers.sort_buckets(shown, writing, carried).persist(folder / "done", "Writing the rows")

    def audit(self, staged: Path) -> Audit:
        """Audit the staged release from its files, with its groups in parts."""
        worker = self.table.engine
        subject = read_folder_subject(staged)
        seen: Any = auditor_for(self.kind)
        in_parts = seen.in_parts()
        assert subject.manifest is not None  # it was just written
        readers = min(count_partitions(find_data_files(staged, subject.manifest)["data"]), MAX_READERS)
        tallies = worker.map(in_parts.count_partition_values, [(subject, part, readers) for part in range(readers)])
        whole = in_parts.SensitiveTotals.from_tallies(subject, tallies)
        (folder := self.folder / "audit").mkdir()
        read = worker.number_partitions(readers).map_partitions(
            _read_release, in_parts.LABEL_SCHEMA, in_parts.count_partition_labels, (subject,), readers
        )
        by_column = read.repartition(in_parts.COLUMN_KEY, len(subject.quasi))
        labelled = by_column.map_collect(in_parts.measure_labels, subject, folder, doing="Auditing labels")
        into = -(-whole.rows // AUDIT_PART_ROWS)
        given = subject, whole, folder, into
        rows = worker.number_partitions(readers).map_partitions(
            _read_release, in_parts.make_scatter_schema(subject), in_parts.scatter_rows, given, readers
        )
        judged = rows.repartition(in_parts.PART_COLUMN, into).map_collect(
            in_parts.judge_partition, subject, whole, doing="Auditing"
        )
        found: Audit = in_parts.combine_partitions(subject, whole, [one for some in labelled for one in some], judged)
        return found


def _read_release(
    frames: Frames, number: int, reading: Callable[..., Iterator[pl.DataFrame]], given: tuple[Any, ...], readers: int
) -> Iterator[pl.DataFrame]:
    """Yield what each of a number of readers reads of the staged release."""
    for frame in frames:
        for part in frame[PART_NUMBER].to_list():
            yield from reading(*given, part, readers)
