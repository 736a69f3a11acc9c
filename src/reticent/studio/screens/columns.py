"""The screen *Columns*: what each column is to an adversary, whom they single out, and what was found in their values."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from starlette.datastructures import FormData

from reticent.catalogue.job_fields import (
    COLUMN_FIELDS,
    IDENTIFYING,
    INSENSITIVE,
    MISSING_RATE,
    QUASI,
    SENSITIVE,
    UNITS,
)
from reticent.drawing import plots
from reticent.errors import ColumnError, RequestError, pluralize
from reticent.job.job import format_toml_value
from reticent.studio import column_edits, source_evidence
from reticent.studio.column_edits import LEFT_OUT
from reticent.studio.desk import Desk
from reticent.studio.job_file import set_in_document
from reticent.studio.screens.screen import CommandLines, Screen

ROLE_WORDS = {
    QUASI: "describes: may be known",
    SENSITIVE: "sensitive",
    INSENSITIVE: "published as it is",
    IDENTIFYING: "identifies: never published",
    LEFT_OUT: "left out: not published",
}
GROUP_WORDS = {
    "": "Without a role yet",
    QUASI: "Describe a person",
    SENSITIVE: "Sensitive",
    INSENSITIVE: "Published as they are",
    IDENTIFYING: "Identify: never published",
    LEFT_OUT: "Left out: not published",
}
GROUPS = tuple(GROUP_WORDS)
PUBLISHED = (QUASI, SENSITIVE, INSENSITIVE)
FOUND_OPTIONS = ("format", "map", "rates", "round_to")
EDITED_OPTIONS = ("type", "order", "top", "bottom", "round_to", "missing")
NUMBER_WORDS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")
HARMLESS_SHARE = 0.01  # of the people whom a column singles out by itself
MAX_SHOWN_PAIRS = 5
MAX_SHOWN_SPELLINGS = 12
MAX_ORDER_VALUES = 10_000


def show(desk: Desk) -> dict[str, Any]:
    """Return what the template needs."""
    entries = list_entries(desk)
    quasi = [entry["name"] for entry in entries if entry["role"] == QUASI]
    alone = source_evidence.find_singling_out(desk, quasi) if quasi else None
    evidence = source_evidence.find_evidence(desk)
    singles = {} if alone is None else {part["columns"][0]: part["alone"] for part in alone["columns"]}
    for entry in entries:
        entry["alone"] = singles.get(entry["name"])
    return {
        "entries": entries,
        "groups": [group for name in GROUPS if (group := _make_group(name, entries))["entries"]],
        "roles": ROLE_WORDS,
        "quasi": quasi,
        "evidence": evidence,
        "evidence_run": source_evidence.find_evidence_run(desk),
        "alone_run": source_evidence.find_singling_out_run(desk) if quasi else None,
        "alone": None if alone is None else _describe_singling_out(alone, evidence),
        "has_source": source_evidence.find_reading(desk) is not None,
        "has_job": bool(column_edits.list_declared(desk)),
    }


def list_entries(desk: Desk) -> list[dict[str, Any]]:
    """List the columns of the table and those that the job declares, each with its role, evidence and options."""
    declared = column_edits.list_declared(desk)
    evidence = source_evidence.find_evidence(desk)
    facts = {} if evidence is None else {column["name"]: column for column in evidence["columns"]}
    shapes = {} if evidence is None else evidence["shapes"]
    unconfirmed = set(column_edits.list_unconfirmed(desk))
    reading = source_evidence.find_reading(desk)
    missing = [] if reading is None else reading["missing"]
    release = desk.job_file.read_table().get("release", {})
    absent = LEFT_OUT if isinstance(release, Mapping) and release.get("undeclared") == "drop" else ""
    entries = []
    for number, name in enumerate(dict.fromkeys([*facts, *declared])):
        pattern = None if name in declared else column_edits.find_pattern(declared, name)
        table = declared.get(name, declared.get(pattern or "", {}))
        role = table.get("role", absent)
        column = facts.get(name)
        risk = column["risk"] if column is not None and role in PUBLISHED else ""
        entries.append(
            {
                "id": f"column-{number}",
                "name": name,
                "role": role if role in ROLE_WORDS else "",
                "pattern": pattern,
                "facts": _describe_facts(column),
                "shape": plots.draw_spark(shapes[name], "exact-4" if role == QUASI else "exact-3")
                if shapes.get(name)
                else "",
                "why": "" if column is None else column["why"],
                "risk": risk,
                "proposed": "" if column is None else column["role"],
                "waits": name in unconfirmed,
                "findings": [] if name not in declared else _list_findings(column, table, role, missing),
                "rates": _list_rates(table) if name in declared else [],
                "options": _list_options(table, role) if name in declared else [],
                "kept": _describe_kept(table),
            }
        )
    return entries


def confirm(desk: Desk, form: FormData) -> str | None:
    """Confirm the columns of a group that are not risky, or one column by itself."""
    entries = list_entries(desk)
    if "column" in form:
        names = [_find_entry(entries, str(form["column"]))["name"]]
    else:
        group = str(form.get("group", ""))
        names = [entry["name"] for entry in entries if entry["role"] == group and not entry["risk"]]
    column_edits.confirm_columns(desk, names)
    return None


def set_role(desk: Desk, form: FormData) -> str | None:
    """Give a column another role, or leave it out: that is a decision, and is not asked for again."""
    entry = _find_entry(list_entries(desk), str(form.get("column", "")))
    role = str(form.get("role", ""))
    if role not in ROLE_WORDS:
        raise RequestError("There is no such role.", attempt="one of the list.")
    if role == entry["role"] and not entry["pattern"]:
        return None
    if role == LEFT_OUT and entry["pattern"]:
        raise ColumnError(
            f"The pattern {entry['pattern']} of the job declares this column.", attempt="mending the pattern by hand."
        )
    with column_edits.edit_columns(desk) as document:
        column_edits.set_role(document, entry["name"], role)
    return None


def accept_roles(desk: Desk, form: FormData) -> str | None:
    """Give all columns without a role the one that is proposed."""
    entries = [entry for entry in list_entries(desk) if not entry["role"] and entry["proposed"] in ROLE_WORDS]
    with column_edits.edit_columns(desk) as document:
        for entry in entries:
            column_edits.set_role(document, entry["name"], entry["proposed"])
    return None


def accept_finding(desk: Desk, form: FormData) -> str | None:
    """Write what was found in a column's values into the job, or take it out again."""
    name = str(form.get("column", ""))
    option = str(form.get("option", ""))
    entry = _find_entry(list_entries(desk), name)
    finding = next((finding for finding in entry["findings"] if finding["option"] == option), None)
    if finding is None:
        raise RequestError("Nothing of this kind was found in the column.", attempt="looking at it again.")
    value = None if form.get("answer") == "reject" else finding["value"]
    if option == "codes":
        _set_codes(desk, finding["value"], value is not None)
        return None
    with column_edits.edit_columns(desk) as document:
        column_edits.set_option(document, name, option, column_edits.make_toml_value(value))
        if option == "format":  # it says what the values are, and rates are of amounts in a format
            column_edits.set_option(document, name, "type" if value is not None else "rates", None)
    return None


def set_rates(desk: Desk, form: FormData) -> str | None:
    """Set what an amount with each currency sign is worth."""
    name = str(form.get("column", ""))
    entry = _find_entry(list_entries(desk), name)
    with column_edits.edit_columns(desk) as document:
        for unit, _ in entry["rates"]:
            text = str(form.get(f"rate {unit}", "")).strip()
            rate = text if text == MISSING_RATE else parse_number(text, "A rate")
            set_in_document(document, ["columns", name, "rates", unit], rate)
    return None


def set_options(desk: Desk, form: FormData) -> str | None:
    """Set the type, order, bounds, rounding and missing values of a column."""
    name = str(form.get("column", ""))
    entry = _find_entry(list_entries(desk), name)
    values = {
        option["name"]: _parse_option(option["name"], str(form.get(option["name"], ""))) for option in entry["options"]
    }
    with column_edits.edit_columns(desk) as document:
        for option, value in values.items():
            column_edits.set_option(document, name, option, value)
    return None


def count_alone(desk: Desk, form: FormData) -> str | None:
    """Count whom the columns single out that describe people by the job as it is now."""
    source_evidence.start_singling_out(desk)
    return None


def parse_number(text: str, what: str) -> int | float:
    """Parse a number that somebody typed."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise RequestError(f"{what} is a number.", attempt="10, or 0.5.") from None
    if not number.is_finite() or abs(number) > 10**15:
        raise RequestError(f"{what} is a number.", attempt="10, or 0.5.")
    return int(number) if number == number.to_integral_value() else float(number)


def find_obstacle(desk: Desk) -> str:
    """Return why hierarchies cannot be looked at yet."""
    declared = column_edits.list_declared(desk)
    if not declared:
        return "Open a table first"
    waiting = len(column_edits.list_unconfirmed(desk))
    if waiting:
        return "1 column waits for a yes" if waiting == 1 else f"{waiting:,} columns wait for a yes"
    without = sum(not entry["role"] for entry in list_entries(desk))
    if without:
        return "1 column has no role yet" if without == 1 else f"{without:,} columns have no role yet"
    return ""


def write_commands(desk: Desk) -> CommandLines:
    """Return the command and the Python lines that measure whom the columns of the job single out."""
    job = desk.job_name
    shell = shlex.join(["reticent", "risk", "--job", job, "--singling-out"])
    return CommandLines(
        shell, f"import reticent as rt\n\njob = rt.Job.read({job!r})\nprint(rt.risk(job.source, job=job))"
    )


def _find_entry(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    entry = next((entry for entry in entries if entry["name"] == name), None)
    if entry is None:
        raise ColumnError("The table has no such column.", attempt="a column of the list.")
    return entry


def _make_group(role: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    members = [entry for entry in entries if entry["role"] == role]
    waiting = [entry for entry in members if entry["waits"]]
    return {
        "role": role,
        "title": GROUP_WORDS[role],
        "entries": members,
        "waiting": len(waiting),
        "together": sum(not entry["risk"] for entry in waiting),
        "proposed": sum(entry["proposed"] in ROLE_WORDS for entry in members) if role == "" else 0,
    }


def _describe_facts(column: Mapping[str, Any] | None) -> str:
    if column is None:
        return ""
    words = {"numeric": "number", "categorical": "text"}
    parts = [words.get(column["type"], column["type"]), f"{column['distinct']:,} values"]
    if column["missing"]:
        parts.append(f"{column['missing']:,} missing")
    return ", ".join(parts)


def _list_findings(
    column: Mapping[str, Any] | None, table: Mapping[str, Any], role: str, missing: list[str]
) -> list[dict[str, Any]]:
    """List what was found in the values of a column, whether or not the job has it."""
    if column is None or role not in PUBLISHED:
        return []
    findings = []
    for option in FOUND_OPTIONS:
        value = column["declared"].get(option)
        if value is None or not column_edits.fits_role(option, role):
            continue
        findings.append(
            {
                "option": option,
                "value": value,
                "sentence": _describe_finding(option, value),
                "accepted": _make_plain(table.get(option)) == value,
                "differs": option in table and _make_plain(table[option]) != value,
            }
        )
    if column.get("codes"):
        sentence = (
            f"{pluralize(column['code_rows'], 'row', 'holds', 'hold')} {', '.join(column['codes'])}, which files use for "
            "missing; as numbers they stretch the range. In every column."
        )
        codes = list(column["codes"])
        accepted = set(codes) <= set(missing)
        findings.append(
            {"option": "codes", "value": codes, "sentence": sentence, "accepted": accepted, "differs": False}
        )
    return findings


def _describe_finding(option: str, value: Any) -> str:
    if option == "map":
        pairs = [f"{old} → {new}" for old, new in list(value.items())[:MAX_SHOWN_SPELLINGS]]
        more = f" and {len(value) - MAX_SHOWN_SPELLINGS} more" if len(value) > MAX_SHOWN_SPELLINGS else ""
        return f"Spellings of one value: {', '.join(pairs)}{more}"
    if option == "format":
        formats = [value] if isinstance(value, str) else value
        return f"Written as {', then '.join(formats)}"
    if option == "rates":
        rates = [
            f"{unit} counts as missing" if rate == MISSING_RATE else f"1 {unit} is {rate}"
            for unit, rate in value.items()
        ]
        return f"Several currencies: {', '.join(rates)}"
    return f"Rounded to {value}, so that it singles nobody out"


def _list_rates(table: Mapping[str, Any]) -> list[tuple[str, str]]:
    rates = table.get("rates")
    if not isinstance(rates, Mapping):
        return []
    return [(unit, str(rate)) for unit, rate in rates.items() if unit in UNITS]


def _list_options(table: Mapping[str, Any], role: str) -> list[dict[str, Any]]:
    """List the options that a column of this role may have and this screen edits, with their values as texts."""
    options = []
    for name in EDITED_OPTIONS:
        if role not in ROLE_WORDS or not column_edits.fits_role(name, role):
            continue
        value = table.get(name)
        if isinstance(value, Mapping):
            continue
        lines = value if isinstance(value, list) else [value]
        text = "" if value is None else "\n".join(map(str, lines))
        options.append(
            {"name": name, "value": text, "choices": COLUMN_FIELDS[name].choices, "help": COLUMN_FIELDS[name].doc}
        )
    return options


def _describe_kept(table: Mapping[str, Any]) -> list[str]:
    """Describe the options that this screen does not edit, as the job has them."""
    others = {name: value for name, value in table.items() if name not in ("role", *EDITED_OPTIONS)}
    return [f"{name} = {format_toml_value(_make_plain(value))}" for name, value in others.items()]


def _make_plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Mapping):
        return {name: _make_plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(entry) for entry in value]
    return value


def _parse_option(option: str, text: str) -> Any:
    """Parse an option that somebody typed; None where it was left empty."""
    text = text.strip()
    if not text:
        return None
    if option == "order":
        values = [line.strip() for line in text.splitlines() if line.strip()]
        if len(values) > MAX_ORDER_VALUES:
            raise RequestError(f"An order has at most {MAX_ORDER_VALUES:,} values here.", attempt="`order` in the job.")
        return values
    if option in ("type", "missing"):
        return text
    if option in ("top", "bottom"):
        try:
            return datetime.fromisoformat(text) if "T" in text or " " in text else date.fromisoformat(text)
        except ValueError:
            return parse_number(text, f"The {option} of a column")
    return parse_number(text, "The step that values are rounded to")


def _set_codes(desk: Desk, codes: list[str], accepted: bool) -> None:
    """Add codes to the texts that mean missing, or remove them."""
    source = desk.job_file.read_table().get("source", {})
    stated = source.get("missing", []) if isinstance(source, Mapping) else []
    marks = [stated] if isinstance(stated, str) else list(stated)
    marks = (
        [*marks, *(code for code in codes if code not in marks)] if accepted else [m for m in marks if m not in codes]
    )
    desk.job_file.set_field(["source", "missing"], marks or None)


def _describe_singling_out(alone: Mapping[str, Any], evidence: Mapping[str, Any] | None) -> dict[str, Any]:
    """Describe who is singled out: the sentence, a bar for each column that is added, and the pairs that reach most."""
    people = alone["people"]
    count = len(alone["steps"])
    largest = max((entry["alone"] for entry in alone["columns"]), default=0)
    harmless = "harmless " if people and largest <= HARMLESS_SHARE * people else ""
    word = NUMBER_WORDS[count] if count < len(NUMBER_WORDS) else f"{count:,}"
    if alone["alone"]:
        verb = "singles" if count == 1 else "single"
        title = f"{word} {harmless}column{'' if count == 1 else 's'} {verb} out {alone['alone']:,} of {people:,} people"
    else:
        title = f"Nobody of {people:,} people is alone with these columns"
    steps = [
        {
            "name": step["columns"][-1],
            "alone": step["alone"],
            "share": step["alone"] / people if people else 0.0,
            "bar": plots.draw_bar(step["alone"] / people if people else 0.0),
        }
        for step in alone["steps"]
    ]
    rows_seen = None if evidence is None else evidence.get("looked_at")
    return {
        "title": title,
        "steps": steps,
        "pairs": alone["pairs"][:MAX_SHOWN_PAIRS],
        "people": people,
        "rows_seen": rows_seen if rows_seen is not None and people <= rows_seen else None,
    }


SCREEN = Screen(
    name="columns",
    title="Columns",
    question="Which columns could single somebody out?",
    why="Somebody who looks for a person in your table already knows things about them: age, sex, where they work. Those columns *describe*. What must not be learned is *sensitive*. Everything was proposed from the data; you decide.",
    example="Age, sex and a postal code single out most people of a city, though each of them alone says little.",
    docs="columns",
    show=show,
    write_commands=write_commands,
    actions={
        "confirm": confirm,
        "role": set_role,
        "accept-roles": accept_roles,
        "finding": accept_finding,
        "rates": set_rates,
        "options": set_options,
        "count-alone": count_alone,
    },
    find_obstacle=find_obstacle,
    is_done=lambda desk: not find_obstacle(desk),
)
