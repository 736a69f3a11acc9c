"""Planned points: what a release would keep of a row, for the job and for jobs that differ from it in one promise.

Points are planned by child processes (`planner`), several jobs in one, on a sample of a declared size.  They are
kept by the content of the job that was planned and of its source, so that a figure is never shown for another job; each
knows when it was planned, and on how many rows.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent import catalogue
from reticent.errors import ReticentError
from reticent.job.job import Job, dump_toml
from reticent.job.parse import resolve_field_paths, resolve_path
from reticent.preconditions import require_promises_supported
from reticent.studio.desk import Desk, sign_file

if TYPE_CHECKING:
    from reticent.studio.runs import Run

MEMORY = "plans"
MAX_POINTS_KEPT = 2_000
MAX_POINTS_AT_ONCE = 24
SAMPLES = (2_000, 5_000, 20_000, 0)
"""Rows that plans are made on; 0 for all of them."""
USUAL_SAMPLE = 5_000
_NOT_PLANNED = ("about",)


@dataclass(frozen=True, slots=True)
class PlannedPoint:
    """What planning a job said: whether the promises can be kept, what a row keeps then, and when and on what it was planned."""

    is_reached: bool
    kept: float | None = None
    why: str = ""
    method: str = ""
    smallest: int | None = None
    withheld: int | None = None
    people: int = 0
    of: int = 0
    planned: float = 0.0

    @property
    def age(self) -> float:
        """Seconds since it was planned."""
        return max(time.time() - self.planned, 0.0)

    @property
    def is_sampled(self) -> bool:
        return self.people < self.of


@dataclass(slots=True, weakref_slot=True)
class PlanMemory:
    """What a studio remembers of plans: the points, the runs that are under way, and the last that failed."""

    points: dict[str, PlannedPoint]
    pending: list[tuple[Run, dict[str, str]]]
    failed: Run | None
    folder: Path | None = None  # of the jobs that are being planned; it goes with this memory
    latest: PlannedPoint | None = None
    sample: int = USUAL_SAMPLE
    is_live: bool = False  # plans were asked for: a slider that moves asks again


def open_memory(desk: Desk) -> PlanMemory:
    """Return the memory of plans, with the results of the runs that have ended since it was looked at last."""
    kept = desk.remember(MEMORY)
    if "plans" not in kept:
        kept["plans"] = PlanMemory({}, [], None)
    memory: PlanMemory = kept["plans"]
    for run, keys in list(memory.pending):
        if run.is_running:
            continue
        memory.pending.remove((run, keys))
        for path in _list_paths(memory, keys):
            path.unlink(missing_ok=True)
        if run.succeeded and isinstance(run.result, dict):
            _take_points(memory, run, keys)
        else:
            memory.failed = run
    return memory


def find_point(desk: Desk, memory: PlanMemory, table: Mapping[str, Any]) -> PlannedPoint | None:
    """Return the point of a job, on the sample that is chosen; None where it was not planned."""
    return memory.points.get(make_point_key(desk, table, memory.sample))


def start_plans(desk: Desk, memory: PlanMemory, tables: Sequence[Mapping[str, Any]]) -> None:
    """Start a child that plans those of these jobs that were not planned yet; what is refused needs no child."""
    beside = desk.job_file.path.parent
    on_the_way = {key for _, keys in memory.pending for key in keys.values()}
    keys: dict[str, str] = {}
    for table in tables:
        key = make_point_key(desk, table, memory.sample)
        if key in memory.points or key in on_the_way or key in keys.values() or len(keys) >= MAX_POINTS_AT_ONCE:
            continue
        try:
            require_promises_supported(Job.from_dict(table, beside))
        except ReticentError as refusal:
            _keep(memory, key, PlannedPoint(False, why=refusal.what, planned=time.time()))
            continue
        stem = f"point-{key[:24]}"
        (path,) = _list_paths(memory, [stem])
        path.write_text(dump_toml(resolve_job_paths(table, beside)), encoding="utf-8", newline="\n")
        keys[stem] = key
    if not keys:
        return
    words = [str(memory.sample), *(str(path) for path in _list_paths(memory, keys))]
    memory.failed = None
    run = desk.runs.start(words, f"plans:{':'.join(sorted(keys))}", program=("-m", "reticent.studio.planner"))
    memory.pending.append((run, keys))


def make_point_key(desk: Desk, table: Mapping[str, Any], sample: int) -> str:
    """Make a key of a job's content: what planning reads of it, the files it names as they are now, and the sample."""
    planned = {name: value for name, value in table.items() if name not in _NOT_PLANNED}
    source = desk.find_source()
    facts = [json.dumps(_normalize(planned), sort_keys=True, default=str), str(sample)]
    facts.append("" if source is None else sign_file(source))
    columns = table.get("columns", {})
    for column in columns.values() if isinstance(columns, Mapping) else ():
        if isinstance(column, Mapping) and isinstance(column.get("hierarchy"), str):
            facts.append(sign_file(desk.job_file.path.parent / column["hierarchy"]))
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()


def resolve_job_paths(table: Mapping[str, Any], beside: Path) -> dict[str, Any]:
    """Return a job whose paths are whole, so that it can be read from another folder."""
    resolved = {name: value for name, value in table.items() if name not in _NOT_PLANNED}
    source = table.get("source")
    if isinstance(source, Mapping) and isinstance(source.get("path"), str):
        resolved["source"] = {**source, "path": resolve_path(source["path"], beside)}
    resolved["columns"] = {
        name: {**column, "hierarchy": resolve_path(column["hierarchy"], beside)}
        if isinstance(column, Mapping) and isinstance(column.get("hierarchy"), str)
        else column
        for name, column in table.get("columns", {}).items()
    }
    resolved["promise"] = [
        _resolve_parameters(entry, catalogue.PROMISES[entry["model"]].fields, beside) for entry in table["promise"]
    ]
    method = table.get("method")
    if isinstance(method, Mapping):
        resolved["method"] = _resolve_parameters(method, catalogue.METHODS[method["name"]].fields, beside)
    return resolved


def _resolve_parameters(entry: Mapping[str, Any], fields: Mapping[str, Any], beside: Path) -> dict[str, Any]:
    return {
        name: resolve_field_paths(fields[name], value, beside) if name in fields else value
        for name, value in entry.items()
    }


def _list_paths(memory: PlanMemory, stems: Iterable[str]) -> list[Path]:
    """List the files of jobs that are planned, in a folder that only this user can read."""
    if memory.folder is None:
        memory.folder = Path(tempfile.mkdtemp(prefix="reticent-studio-"))
        weakref.finalize(memory, shutil.rmtree, memory.folder, ignore_errors=True)
    return [memory.folder / f"{stem}.toml" for stem in stems]


def _take_points(memory: PlanMemory, run: Run, keys: Mapping[str, str]) -> None:
    result = run.result
    for row in result["rows"]:
        point = PlannedPoint(
            is_reached=row["reached"],
            kept=row.get("kept"),
            why=row.get("why", ""),
            method=row["method"],
            smallest=row.get("smallest"),
            withheld=row.get("withheld"),
            people=result["people"],
            of=result["of"],
            planned=run.ended or time.time(),
        )
        _keep(memory, keys[row["name"]], point)


def _keep(memory: PlanMemory, key: str, point: PlannedPoint) -> None:
    memory.points[key] = point
    for old in list(memory.points)[:-MAX_POINTS_KEPT]:
        del memory.points[old]


def _normalize(value: Any) -> Any:
    """Write equal numbers alike: 4, 4.0 and a decimal 4."""
    if isinstance(value, Mapping):
        return {str(name): _normalize(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_normalize(entry) for entry in value]
    if isinstance(value, Decimal | float) and math.isfinite(value):
        return int(value) if value == int(value) else float(value)
    return value
