"""A table in parts and its plan: it is counted, planned, written and audited in the steps that `publish` calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent import registry
from reticent.audit.kind import auditor_for
from reticent.audit.result import Audit
from reticent.audit.subject import Subject
from reticent.data.cells import Cells, combine_sensitive
from reticent.data.columns import Column, Role, find_columns_with_role
from reticent.data.odd_values import FarValues, find_far_values_in_domain
from reticent.data.source import Source, is_text
from reticent.engines.engine import MULTIPLICITY, PART_NUMBER, EngineContext, Frames, Partitions
from reticent.format.data_files import count_partitions
from reticent.format.data_writer import FileRows
from reticent.job.job import Job
from reticent.job_table import ScannedTable, scan_table
from reticent.labels.label_loss import ReleaseLoss, compute_ail
from reticent.ledger.identifiers import NO_IDENTIFIERS, skip_identifiers
from reticent.methods import regions as methods_regions
from reticent.methods.base import bind_reachable_promises
from reticent.methods.recipe_planning import describe_lone_people, select_method_promises
from reticent.methods.regions import RegionTree, find_fine_nodes
from reticent.models.promise import resolve_totals
from reticent.partitioned import cell_encoding as counting
from reticent.partitioned import region_planning
from reticent.partitioned import writing as writers
from reticent.partitioned.cell_encoding import ColumnCodings
from reticent.partitioned.fingerprint import PartitionedCountedRows
from reticent.preconditions import require_short_texts
from reticent.progress import ProgressCallback, ProgressEvent
from reticent.randomness import Random
from reticent.recipe.planned_loss import describe_label_cost
from reticent.release import bundle
from reticent.release.kind import find_data_files

MAX_READERS = 64  # tasks that read a release
AUDIT_PART_ROWS = 1 << 20  # rows of a release that are judged in one part


def count_audit_parts(rows: int, part_rows: int = AUDIT_PART_ROWS) -> int:
    """Return in how many parts a release of so many rows is judged."""
    return -(-rows // part_rows)


@dataclass(frozen=True, eq=False)
class PartitionedTable:
    """The counted table: combinations in parts, and how their values are coded."""

    job: Job
    engine: Any  # a `PartitionedEngine` that is an `Engine` too
    context: EngineContext
    scanned: ScannedTable
    combinations: Partitions
    marginals: counting.Marginals
    codes: ColumnCodings
    planning_range = (0.3, 0.6)

    @classmethod
    def read(cls, engine: Any, job: Job, frame: Any, context: EngineContext) -> PartitionedTable:
        """Read the job's table, profile its columns and count its combinations, which stay in parts."""
        scanned = scan_table(engine, job, frame, context)
        columns = scanned.columns
        keys = [*find_columns_with_role(columns, Role.QUASI), *find_columns_with_role(columns, Role.SENSITIVE)]
        context.progress("counting")
        combinations = engine.count_combinations(scanned.rows, keys, context.make_temp_dir() / "combinations")
        marginals = counting.count_marginals(combinations, keys)
        codes = marginals.build_codings(columns)
        require_short_texts(job, (codes.get_domains(codes.quasi), codes.get_domains(codes.sensitive)))
        return cls(job, engine, context, scanned, combinations, marginals, codes)

    @property
    def columns(self) -> Mapping[str, Column]:
        return self.scanned.columns

    @cached_property
    def notices(self) -> tuple[str, ...]:
        """Sentences for the owner about the columns and their values."""
        sentences = self.scanned.describe_columns(
            self.codes.get_domains(self.codes.names),
            self.row_count + self.scanned.withheld_before.total,
            self.find_far_values(),
            self.count_values,
        )
        return (*self.scanned.profile.notices, *sentences)

    @property
    def row_count(self) -> int:
        _, multiplicity = self.count_values(self.codes.names[0])
        return int(multiplicity.sum())

    def fingerprint(self, source: Source | None) -> PartitionedCountedRows:
        has_identifiers = find_columns_with_role(self.columns, Role.IDENTIFYING)
        identifiers = skip_identifiers("the table stays in parts") if has_identifiers else NO_IDENTIFIERS
        return PartitionedCountedRows(self.combinations, self.codes.names, source, identifiers=identifiers)

    def find_far_values(self) -> list[FarValues]:
        """Find values that are far from all others in their column."""
        far_values: list[FarValues] = []
        for name in self.codes.names:
            coding = self.codes.codings[name]
            values, multiplicity = self.count_values(name)
            row_counts = np.bincount(coding.encode(values), multiplicity, coding.domain.size)
            far_values += find_far_values_in_domain(coding.domain, row_counts)
        return far_values

    def count_values(self, name: str) -> tuple[pl.Series, np.ndarray]:
        """Return the distinct values of a column, and the number of rows of each."""
        counted = self.marginals.values[name]
        return counted[name], counted[MULTIPLICITY].to_numpy().astype(np.int64)

    @property
    def passthrough_types(self) -> dict[str, pl.DataType]:
        """The types of passthrough columns; texts as texts."""
        schema = self.scanned.rows.collect_schema()
        types = {name: schema[name] for name in find_columns_with_role(self.columns, Role.INSENSITIVE)}
        return {name: pl.String() if is_text(dtype) else dtype for name, dtype in types.items()}

    def plan(self, rng: Random, progress: ProgressCallback) -> PartitionedPlan:
        """Make coarse cuts from a sample, count each side exactly, and plan each region where it is."""
        progress(ProgressEvent("planning", 0))
        job = self.job
        method = job.method
        weights = getattr(method, "weights", None)
        promises = select_method_promises(job.prepare, job.promises)
        folder = self.context.make_temp_dir()
        encoded = counting.encode_partitions(self.combinations, self.codes, rng)
        cells = encoded.persist(folder / "cells", "Coding the cells")
        sample = counting.draw_sample(cells, self.codes, self.marginals.combinations)
        sample = replace(sample, rows_per_person=self.scanned.profile.rows_per_person)
        sample = combine_sensitive(sample) if job.jointly else sample
        totals = self._count_leaves(cells, RegionTree())
        bind_reachable_promises(totals.cells, promises, method.name)
        sample = methods_regions.sample_cells(sample, rng)
        tree = methods_regions.cut_regions(sample, promises, self.engine.regions, weights)
        leaves = self._count_leaves(cells, tree)
        tree = tree.prune(find_fine_nodes(tree, leaves.leaf, leaves.cells, promises))
        region_promises = replace(promises, reference=resolve_totals(totals.cells, None))
        request = region_planning.RegionRequest(method, region_promises, self.codes, totals.cells, rng, folder)
        summaries = region_planning.plan_regions(region_planning.route_cells(cells, self.codes, tree), request)
        return PartitionedPlan(self, totals.cells, tree, tuple(summaries), rng, folder)

    def _count_leaves(self, cells: Partitions, tree: RegionTree) -> counting.LeafTotals:
        totals = counting.count_leaves(cells, self.codes, tree, self.scanned.profile.rows_per_person)
        counted_cells = replace(totals.cells, withheld_before=self.scanned.withheld_before)
        return replace(totals, cells=combine_sensitive(counted_cells) if self.job.jointly else counted_cells)


@dataclass(frozen=True, eq=False)
class PartitionedPlan:
    """A plan in parts: every region's plan is in a file of `folder`; `cells` are the whole table's, without quasi-identifiers."""

    table: PartitionedTable
    cells: Cells
    tree: RegionTree
    summaries: tuple[region_planning.RegionSummary, ...]
    rng: Random
    folder: Path

    @property
    def kind(self) -> str:
        return self.table.job.method.kind

    @property
    def row_count(self) -> int:
        return sum(region.rows for region in self.summaries)

    @cached_property
    def telling_labels(self) -> list[list[str | None]]:
        """The labels of all regions, numbered; for each quasi-identifier those that determine the manifest's entry."""
        arguments = [(self.folder, index, domain, len(self.summaries)) for index, domain in enumerate(self.cells.quasi)]
        return self.table.engine.map(region_planning.number_labels, arguments)

    @property
    def settled_job(self) -> Job:
        """The job as it is: promises whose parameters the table chooses are planned on all rows together."""
        return self.table.job

    @property
    def manifest_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = self.writer.fields()
        return fields

    @property
    def chosen_parameters(self) -> Mapping[str, Any]:
        """No parameter: methods that choose one plan all rows together."""
        return {}

    @property
    def loss(self) -> ReleaseLoss | None:
        """The loss of labels that no machine holds together: the audit measures it."""
        return None

    def describe_wider_labels(self, audited: Mapping[str, Any]) -> list[str]:
        """Describe what wider labels lose beside tight ones; nothing is withheld, so tight ones would span the source's own range."""
        tight = dict(audited["ail_by_column"])
        for column_index, domain in enumerate(self.cells.quasi):
            if domain is not domain.tight:
                tight[domain.name] = fsum(region.tight[column_index] for region in self.summaries) / self.row_count
        weights = getattr(self.table.job.method, "weights", None)
        return describe_label_cost(self.cells.quasi, compute_ail(tight, weights), audited["ail"])

    def describe_lone_people(self) -> list[str]:
        """Describe people who would be alone, for the steward; the promises that regions keep know no priors."""
        return describe_lone_people(sum(region.alone for region in self.summaries))

    @cached_property
    def writer(self) -> Any:
        """The writer of the kind from parts."""
        table = self.table
        kind: Any = registry.load_writer(self.kind)
        return kind.make_partitioned(
            table.columns,
            self.cells,
            len(table.codes.sensitive),
            self.telling_labels,
            partial(region_planning.look_up_labels, self.folder),
            table.passthrough_types,
        )

    def write(self, folder: Path, fields: Mapping[str, Any]) -> None:
        """Write the data files, bucket by bucket; there is no witness."""
        codes = self.table.codes
        buckets = writers.choose_bucket_count(self.row_count, len(codes.names), len(self.table.passthrough_types))
        encoding = writers.RowEncoding(codes, self.writer.numbers, self.rng, self.folder, buckets)
        frames: Mapping[str, FileRows] = self.writer.frames(
            self.row_count, lambda: writers.iterate_batches(self._persist_rows(encoding), self.row_count)
        )
        bundle.write_bundle(folder, frames, fields, self.table.job.release.format)

    def _persist_rows(self, encoding: writers.RowEncoding) -> Partitions:
        """Give each row its entry of its region's plan, move rows into buckets, and persist these."""
        table = self.table
        types = table.passthrough_types
        if types:
            table.context.progress("writing: numbering rows")
            source = table.engine.read_rows(table.scanned.rows, [*table.codes.names, *types])
            located = writers.locate_rows(source, table.codes, self.tree, types, self.rng)
            located = located.persist(self.folder / "rows", "Reading the carried columns")
            by_region = located.repartition(region_planning.REGION_COLUMN, len(self.summaries))
            published = writers.assign_entries(by_region, encoding, types)
        else:
            published = writers.expand_regions(table.engine.number_partitions(len(self.summaries)), encoding)
        table.context.progress("writing: moving rows")
        return writers.sort_buckets(published, encoding, types).persist(self.folder / "done", "Writing the rows")

    def audit(self, subject: Subject) -> Audit:
        """Audit the staged release from its files, with its groups in parts."""
        engine = self.table.engine
        auditor: Any = auditor_for(self.kind)
        auditing = auditor.in_parts()
        assert subject.manifest is not None  # it was just written
        assert subject.path is not None
        files = find_data_files(subject.path, subject.manifest)
        readers = min(count_partitions(files["data"]), MAX_READERS)
        arguments = [(subject, part, readers) for part in range(readers)]
        totals = auditing.SensitiveTotals.from_tallies(subject, engine.map(auditing.count_partition_values, arguments))
        folder = self.folder / "audit"
        folder.mkdir()
        label_rows = engine.number_partitions(readers).map_partitions(
            _read_release, auditing.LABEL_SCHEMA, auditing.count_partition_labels, (subject,), readers
        )
        by_column = label_rows.repartition(auditing.COLUMN_KEY, len(subject.quasi))
        label_parts = by_column.map_collect(auditing.measure_labels, subject, folder, doing="Auditing labels")
        part_count = count_audit_parts(totals.rows)
        rows = engine.number_partitions(readers).map_partitions(
            _read_release,
            auditing.make_scatter_schema(subject),
            auditing.scatter_rows,
            (subject, totals, folder, part_count),
            readers,
        )
        by_part = rows.repartition(auditing.PART_COLUMN, part_count)
        judged = by_part.map_collect(auditing.judge_partition, subject, totals, doing="Auditing")
        labels = [label for part in label_parts for label in part]
        audit: Audit = auditing.combine_partitions(subject, totals, labels, judged)
        return audit


def _read_release(
    frames: Frames, number: int, read: Callable[..., Iterator[pl.DataFrame]], arguments: tuple[Any, ...], readers: int
) -> Iterator[pl.DataFrame]:
    """Yield what each of a number of readers reads of the staged release."""
    for frame in frames:
        for part in frame[PART_NUMBER].to_list():
            yield from read(*arguments, part, readers)
