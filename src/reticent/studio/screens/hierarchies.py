"""The screen *Hierarchies*: the tree of each column, edited by hand or built, and what each of its levels costs.

A builder stands in the job as a request.  A tree that was edited by hand stands in the job itself, or, where it is
large, in a file of its own beside it, named by its content; files that a steward made are never changed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from shlex import quote
from typing import Any

import tomlkit
from starlette.datastructures import FormData

from reticent.data.columns import Role
from reticent.data.hierarchy import Hierarchy
from reticent.data.hierarchy_proposal import MAX_FLAT_VALUES, propose_builder
from reticent.drawing import plots
from reticent.errors import DiskError, HierarchyError, RequestError, ReticentError
from reticent.job.job import format_toml_value
from reticent.studio import column_counts, tree_edits, tree_view
from reticent.studio.builder_forms import BUILDER_FORMS
from reticent.studio.column_counts import CountedColumn
from reticent.studio.desk import Desk, sign_file
from reticent.studio.screens.screen import CommandLines, Screen
from reticent.studio.tree_edits import NodeName
from reticent.studio.tree_view import CodedTree, LevelCost

MAX_INLINE_VALUES = 100  # of a tree that stands in the job itself
MAX_KEPT_TREES = 40
MAX_FILES_LISTED = 100
MAX_SEARCH_LETTERS = 100
FOLDER = "hierarchies"
TREES = "coded trees"
_UNUSUAL_LETTERS = re.compile(r"[^0-9A-Za-z_]+")


@dataclass(frozen=True)
class ColumnState:
    """One column on the screen: what the job says of its tree, the tree, and what is proposed."""

    name: str
    counted: CountedColumn
    declared: Any
    coded: CodedTree | None
    error: ReticentError | None
    proposal: Mapping[str, Any]
    reason: str

    @property
    def is_sensitive(self) -> bool:
        return self.counted.column.role is Role.SENSITIVE

    @property
    def kind(self) -> str:
        """What builders suit it: numbers, dates, or categories."""
        declared = self.counted.column.type
        if declared in ("numeric", "date"):
            return declared
        if self.coded is not None:
            return "numeric" if self.coded.domain.kind == "numeric" else _guess_kind(self.proposal)
        return "date" if self.counted.values.dtype.is_temporal() else _guess_kind(self.proposal, "numeric")

    @property
    def levels(self) -> list[LevelCost]:
        return [] if self.coded is None else self.coded.measure_levels()

    @property
    def lacks_tree(self) -> bool:
        """Whether its values would be published as themselves or as `*`, though there are many."""
        return (
            self.declared is None
            and self.coded is not None
            and not self.is_sensitive
            and self.counted.column.type != "ordinal"
            and self.counted.distinct > MAX_FLAT_VALUES
        )

    @property
    def description(self) -> str:
        """What stands instead of a value, in words."""
        if isinstance(self.declared, str):
            return f"a tree from {self.declared}"
        if isinstance(self.declared, Mapping):
            return f"built: {self.declared.get('build')}"
        if self.declared is not None:
            return "a tree in the job"
        if not self.counted.is_counted:
            return "too many values for a tree"
        if self.coded is None:
            return "ranges, cut where the data is"
        return "the value itself, or *"

    @property
    def lacking(self) -> int:
        """How many values of the data the tree has no place for."""
        return len(self.error.values) if isinstance(self.error, HierarchyError) else 0


def show(desk: Desk) -> dict[str, Any]:
    """Return what the template needs."""
    counts = column_counts.find_column_counts(desk)
    states = list_states(desk, counts.columns)
    chosen = _choose_state(desk, states)
    memory = desk.remember("hierarchies")
    facts: dict[str, Any] = {
        "counts": counts,
        "states": states,
        "chosen": chosen,
        "lacking_trees": [state for state in states if state.lacks_tree and state.proposal],
        "forms": BUILDER_FORMS,
        "files": list_files(desk),
        "format_request": lambda request: format_toml_value(dict(request)),
        "draw_bar": plots.draw_bar,
        "root": None,
        "matches": [],
        "match_count": 0,
        "search": memory.get("search", ""),
        "names": [],
    }
    if chosen is None or chosen.coded is None:
        return facts
    facts["root"] = chosen.coded.draw(memory.get("opened", ()))
    facts["names"] = _list_labels(chosen.coded)
    if facts["search"]:
        facts["matches"], facts["match_count"] = chosen.coded.search(facts["search"])
    return facts


def list_states(desk: Desk, columns: Mapping[str, CountedColumn]) -> list[ColumnState]:
    """List the columns that are counted, each with its tree as the job has it now."""
    declared = desk.job_file.read_table().get("columns", {})
    states = []
    for name, counted in columns.items():
        table = declared.get(name)
        hierarchy = table.get("hierarchy") if isinstance(table, Mapping) else None
        states.append(_find_state(desk, counted, hierarchy))
    return states


def choose(desk: Desk, form: FormData) -> None:
    """Choose the column whose tree is shown."""
    states = list_states(desk, column_counts.find_column_counts(desk).columns)
    names = [state.name for state in states]
    name = str(form.get("column", ""))
    if name not in names:
        raise RequestError("The job has no such column now.", attempt="one of those on the screen.")
    desk.remember("hierarchies").update(column=name, opened=set(), search="")


def count(desk: Desk, form: FormData) -> None:
    """Start counting the columns of a large source."""
    column_counts.start_counting(desk)


def build(desk: Desk, form: FormData) -> None:
    """Ask a builder for the tree of a column."""
    state = _read_state(desk, form)
    builder = next((entry for entry in BUILDER_FORMS if entry.name == form.get("builder")), None)
    if builder is None:
        raise RequestError("There is no such builder.", attempt=f"{', '.join(entry.name for entry in BUILDER_FORMS)}.")
    fields = {blank.name: form.get(blank.name, "") for blank in builder.inputs}
    set_hierarchy(desk, state, builder.read(fields))


def accept(desk: Desk, form: FormData) -> None:
    """Take what is proposed: for one column, or for every column that lacks a tree."""
    states = list_states(desk, column_counts.find_column_counts(desk).columns)
    name = form.get("column")
    chosen = [state for state in states if state.proposal and (state.name == name if name else state.lacks_tree)]
    if not chosen:
        raise RequestError("Nothing is proposed.", attempt="a builder of your choice.")
    for state in chosen:
        set_hierarchy(desk, state, dict(state.proposal))


def take_file(desk: Desk, form: FormData) -> None:
    """Take a hierarchy file of the project."""
    state = _read_state(desk, form)
    name = str(form.get("file", ""))
    if name not in list_files(desk):
        raise RequestError("There is no such file in the project.", attempt="one of the list.")
    set_hierarchy(desk, state, name)


def clear(desk: Desk, form: FormData) -> None:
    """Take the tree of a column out of the job; a file stays where it is."""
    state = _read_state(desk, form)
    _write_option(desk, state.name, {"hierarchy": None})


def edit_tree(desk: Desk, form: FormData) -> None:
    """Edit the tree by hand, or show more of it."""
    state = _read_state(desk, form)
    memory = desk.remember("hierarchies")
    if form.get("open"):
        opened = set(memory.get("opened", ()))
        memory["opened"] = opened ^ {str(form["open"])}
        return
    action = str(form.get("do", ""))
    if action == "search":
        memory["search"] = str(form.get("search", "")).strip()[:MAX_SEARCH_LETTERS]
        return
    if action == "complete":
        set_hierarchy(desk, state, tree_edits.add_values(_read_rows(desk, state), _list_lacking(state)))
        return
    if state.coded is None:
        raise RequestError("This column has no tree that could be edited.", attempt="a builder, which makes one.")
    rows = state.coded.tree.rows()
    nodes = [NodeName.parse(str(text)) for text in form.getlist("node")]
    name = str(form.get("name", ""))
    if action == "put":
        rows = tree_edits.put_under(rows, nodes, name)
    elif action == "move":
        rows = tree_edits.put_under(rows, nodes, NodeName.parse(str(form.get("target", ""))).label)
    elif action == "rename":
        rows = tree_edits.rename(rows, _require_single(nodes), name)
    elif action == "dissolve":
        rows = tree_edits.dissolve(rows, _require_single(nodes))
    elif action.startswith("remove-level-") and action.rpartition("-")[2].isdecimal():
        rows = tree_edits.remove_level(rows, int(action.rpartition("-")[2]))
    else:
        raise RequestError("This is no edit of a tree.", attempt="one of the buttons.")
    set_hierarchy(desk, state, rows)


def set_hierarchy(desk: Desk, state: ColumnState, hierarchy: Any) -> None:
    """Write the tree of a column to the job, where it fits the column.

    Raises:
        ReticentError: it does not; nothing is written.
    """
    counted = state.counted
    options: dict[str, Any] = {}
    if isinstance(hierarchy, dict) and state.is_sensitive:  # what is built for it is published whole: it is listed
        hierarchy = tree_view.build_rows(counted, hierarchy)
    if isinstance(hierarchy, list) and counted.column.type is None and _has_number_tree(state):
        options["type"] = "numeric"  # a tree of numbers stays one
        counted = replace(counted, column=replace(counted.column, type="numeric"))
    tree = tree_view.require_tree(counted, _read_file(desk, hierarchy) if isinstance(hierarchy, str) else hierarchy)
    if isinstance(hierarchy, list) and len(hierarchy) > MAX_INLINE_VALUES:
        hierarchy = _save_tree(desk, state.name, tree.tree)
    _write_option(desk, state.name, {"hierarchy": hierarchy, **options})


def list_files(desk: Desk) -> list[str]:
    """List the files of the project that may hold a hierarchy, as the job names them."""
    beside = desk.job_file.path.parent
    source = desk.find_source()
    paths = [*desk.project.folder.glob("*.csv"), *desk.project.folder.glob("*/*.csv")]
    names = []
    for path in sorted(paths):
        is_release = (path.parent / "manifest.json").exists()
        if path == source or is_release or path.name.startswith(".") or path.parent.name.startswith("."):
            continue
        try:
            names.append(str(desk.project.resolve(str(path)).relative_to(beside)))
        except (ReticentError, ValueError):
            continue
    return names[:MAX_FILES_LISTED]


def write_commands(desk: Desk) -> CommandLines:
    """Return the command and the Python lines that do what this screen does."""
    job = desk.job_name
    plain = CommandLines(
        f"reticent check {quote(job)}",
        f"import reticent as rt\n\njob = rt.Job.read({json.dumps(job)})\nprint(rt.check(job))",
    )
    source = desk.find_source()
    state = _choose_state(desk, list_states(desk, column_counts.find_column_counts(desk).columns))
    if source is None or state is None or not source.is_file():
        return plain
    place = f"--data {quote(desk.project.describe(source))} --column {quote(state.name)}"
    if isinstance(state.declared, str) and state.error is None:
        return CommandLines(
            f"reticent hierarchy {quote(state.declared)} {place}",
            f"from reticent.data.hierarchy import Hierarchy\n\nprint(Hierarchy.read({json.dumps(state.declared)}).rows())",
        )
    if isinstance(state.declared, Mapping) and state.error is None:
        options = [
            f"--with {quote(f'{name}={format_toml_value(value)}')}"
            for name, value in state.declared.items()
            if name != "build"
        ]
        words = [f"reticent hierarchy {place}", f"--build {quote(str(state.declared['build']))}", *options]
        return CommandLines(" ".join(words), plain.python)
    return plain


def is_done(desk: Desk) -> bool:
    """Tell whether a column has a tree, or the job is complete without one."""
    columns = desk.job_file.read_table().get("columns", {})
    if not isinstance(columns, Mapping):
        return False
    has_tree = any(isinstance(column, Mapping) and "hierarchy" in column for column in columns.values())
    return has_tree or desk.read_job() is not None


def _find_state(desk: Desk, counted: CountedColumn, declared: Any) -> ColumnState:
    """Return a column with its tree; trees that did not change are kept."""
    kept: dict[Any, ColumnState] = desk.remember(TREES)
    facts = json.dumps(declared, default=str, sort_keys=True)
    if isinstance(declared, str):
        facts += sign_file(desk.job_file.path.parent / declared)
    key = (counted.name, id(counted), hashlib.sha256(facts.encode()).hexdigest())
    if key not in kept:
        kept[key] = _make_state(desk, counted, declared)
        for old in list(kept)[:-MAX_KEPT_TREES]:
            del kept[old]
    return kept[key]


def _make_state(desk: Desk, counted: CountedColumn, declared: Any) -> ColumnState:
    coded = None
    error: ReticentError | None = None
    proposal: dict[str, Any] = {}
    reason = ""
    if counted.is_counted:
        try:
            hierarchy = _read_file(desk, declared) if isinstance(declared, str) else declared
            coded = tree_view.code_column(counted, hierarchy)
        except ReticentError as failure:
            error = failure
        proposal, reason = propose_builder(counted.values, counted.name)
    return ColumnState(counted.name, counted, declared, coded, error, proposal, reason)


def _read_file(desk: Desk, name: str) -> Hierarchy:
    """Read a hierarchy file that the job names; one outside of the project is left alone."""
    path = desk.project.resolve(str(desk.job_file.path.parent / name))
    return Hierarchy.read(path)


def _read_rows(desk: Desk, state: ColumnState) -> list[list[str]]:
    declared = _read_file(desk, state.declared) if isinstance(state.declared, str) else state.declared
    if declared is None or isinstance(declared, Mapping):
        raise RequestError("This column has no tree of its own.", attempt="a builder, which makes one.")
    return Hierarchy.of(declared, state.name).rows()


def _list_lacking(state: ColumnState) -> tuple[str, ...]:
    if not isinstance(state.error, HierarchyError) or not state.error.values:
        raise RequestError("The tree lacks no value.", attempt="looking again.")
    return state.error.values


def _choose_state(desk: Desk, states: list[ColumnState]) -> ColumnState | None:
    """Return the column that was chosen, else the first that needs a decision, else the first with a tree."""
    chosen = desk.remember("hierarchies").get("column")
    for state in states:
        if state.name == chosen:
            return state
    ordered = [
        *(state for state in states if state.error is not None),
        *(state for state in states if state.lacks_tree),
        *(state for state in states if state.declared is not None),
        *states,
    ]
    return ordered[0] if ordered else None


def _read_state(desk: Desk, form: FormData) -> ColumnState:
    name = str(form.get("column", ""))
    for state in list_states(desk, column_counts.find_column_counts(desk).columns):
        if state.name == name:
            desk.remember("hierarchies")["column"] = name
            if not state.counted.is_counted:
                raise RequestError(
                    f"This column has {state.counted.distinct:,} values: too many for a tree.",
                    attempt="leaving it a range, or rounding it.",
                )
            return state
    raise RequestError("The job has no such column now.", attempt="one of those on the screen.")


def _require_single(nodes: list[NodeName]) -> NodeName:
    if len(nodes) != 1:
        raise RequestError(f"{len(nodes)} labels are selected.", attempt="a tick at the one label that is meant.")
    return nodes[0]


def _list_labels(coded: CodedTree) -> list[str]:
    """List the labels above the values, for a choice of names."""
    tree = coded.tree
    leaves = set(tree.leaves)
    above = dict.fromkeys(tree.labels[number] for number in tree.paths[:, 1:].ravel().tolist())
    return [label for label in above if label not in leaves][: tree_view.MAX_NODES_DRAWN]


def _has_number_tree(state: ColumnState) -> bool:
    return state.coded is not None and state.coded.domain.kind == "numeric"


def _guess_kind(proposal: Mapping[str, Any], usual: str = "categorical") -> str:
    """Guess from the builder that is proposed what a column holds."""
    kinds = {"intervals": "numeric", "dates": "date", "prefixes": "categorical", "balanced": "categorical"}
    return kinds.get(str(proposal.get("build")), usual)


def _save_tree(desk: Desk, column: str, tree: Hierarchy) -> str:
    """Save a large tree beside the job, under a name made of its content, so that undo returns to the file before."""
    text = json.dumps(tree.rows(), ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    stem = _UNUSUAL_LETTERS.sub("-", column).strip("-")[:60] or "column"
    path = desk.project.resolve(str(desk.job_file.path.parent / FOLDER / f"{stem}-{digest}.csv"))
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise DiskError(f"The folder {FOLDER} cannot be made: {error.strerror}.") from None
    if not path.exists():
        tree.save(path)
    return str(Path(FOLDER) / path.name)


def _write_option(desk: Desk, name: str, options: Mapping[str, Any]) -> None:
    """Set options of a column in the job; one that is declared by its role alone becomes a table."""
    with desk.job_file.edit() as document:
        columns = document["columns"]
        if isinstance(columns[name], str):
            table = tomlkit.inline_table()
            table["role"] = str(columns[name])
            columns[name] = table
        for option, value in options.items():
            if value is None:
                columns[name].pop(option, None)
            else:
                columns[name][option] = _make_item(value)


def _make_item(value: Any) -> Any:
    """Make of rows an array with a line each, of a request an inline table."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        array = tomlkit.array()
        for row in value:
            array.append(row)
        return array.multiline(True)
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for option, entry in value.items():
            table[option] = _convert_decimals(entry)
        return table
    return value


def _convert_decimals(value: Any) -> Any:
    if isinstance(value, list):
        return [_convert_decimals(entry) for entry in value]
    return float(value) if isinstance(value, Decimal) else value


SCREEN = Screen(
    name="hierarchies",
    title="Hierarchies",
    question="What will a label say instead of a value?",
    why="Where a value says too much, the release says a wider one: 30-39 instead of 34. A hierarchy tells which values belong together, so that a wider label still means something.",
    example="`flu` and `bronchitis` become `respiratory`, not `flu or fracture`.",
    docs="hierarchies",
    show=show,
    write_commands=write_commands,
    actions={
        "choose": choose,
        "count": count,
        "build": build,
        "accept": accept,
        "file": take_file,
        "clear": clear,
        "tree": edit_tree,
    },
    is_done=is_done,
)
