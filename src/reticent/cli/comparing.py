"""What `compare` and `advise` print, and where they write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reticent.cli.printing import number, say, say_table
from reticent.errors import OutputExists, RequestError, some

USEFUL = {"loss": "loss", "row_loss": "row loss", "count_error": "count error", "average_error": "average error",
          "average_range": "average range", "accuracy": "accuracy",
          "marginal_error": "marginals", "association_error": "association", "attack_gain": "adversary's gain", "seconds": "CPU s",
          "memory": "memory MB"}  # fmt: skip


def named_files(given: list[str] | None) -> dict[str, str]:
    """`arx=arx.csv` as the table of that name; each file is there."""
    found = {}
    for entry in given or []:
        name, mark, path = entry.partition("=")
        if not (name and mark and path):
            raise RequestError("--beside names a table and its file.", attempt="--beside arx=arx.csv.")
        if not Path(path).is_file():
            raise RequestError(f"There is no file {path}.", attempt="a CSV or Parquet file.")
        found[name] = path
    return found


def refuse_chart(chart: Path | None, privacy: str, attacks: Sequence[str] | None) -> None:
    """Before anything is measured: a chart that could not be drawn afterwards."""
    if chart is None:
        return
    from reticent.charts import altair_loaded
    from reticent.compare.comparison import PRIVACY

    altair_loaded()
    if privacy == PRIVACY and attacks is not None and not attacks:
        raise RequestError(
            "The height of the chart is what adversaries gain, and no attack is to be tried.",
            attempt="--privacy and another figure, such as loss, or --attacks with an attack.",
        )


def refuse_places(places: Mapping[str, Path | None], force: bool) -> None:
    """Before anything is measured: what is found stays out of release folders, and nothing is overwritten unasked."""
    from reticent.report.placing import refuse_existing, release_around

    given = {option: path for option, path in places.items() if path is not None}
    if len(set(given.values())) < len(given):
        raise RequestError("--csv and --chart name one file.", attempt="a file for each.")
    for option, path in given.items():
        if (holder := release_around(path)) is not None:
            raise RequestError(
                f"{path} lies in the release folder {holder}.",
                why="What is compared tells about the source, and a release is handed out whole.",
                attempt=f"another place for {option}.",
            )
        if option == "--chart" and path.suffix.lower() != ".svg":
            raise RequestError(f"A chart is drawn as SVG, not as {path.suffix or 'a file without an ending'}.",
                               attempt="--chart frontier.svg.")  # fmt: skip
        refuse_existing(path, force)


def write(texts: Mapping[Path | None, str | None], force: bool) -> list[Path]:
    from reticent.owner import staging

    written = []
    for path, text in texts.items():
        if path is None or text is None:
            continue
        try:
            with staging.new_file(path, only_new=not force) as staged:
                staged.write_text(text, encoding="utf-8")
        except FileExistsError:
            raise OutputExists(f"{path} exists by now: another process made it.", attempt="another name.") from None
        written.append(path)
    return written


def show(found: Any) -> None:
    """What is reached, what adversaries reach, what is lost and what it costs; then what was left out, and why."""
    frame = found.frame()
    rows = frame.to_dicts()
    say(f"{found.people:,} rows, {some(found.runs, 'run')}; nothing was published.", "")
    _privacy(found.rows)
    _attacks(found.rows)
    useful = [name for name in USEFUL if name in frame.columns]
    say("", "What is lost, and what it costs. Less is better, of accuracy more.")
    say_table(
        ["name", "kind", *(USEFUL[name] for name in useful)],
        [
            [row["name"], row["kind"] or "-", *(_figure(name, row[name]) for name in useful)]
            for row in rows
            if row["reached"]
        ],
    )
    for line in _left_out(found.rows):
        say(line)


def _figure(name: str, value: Any) -> str:
    if value is None:
        return "-"
    return f"{value / 1e6:.0f}" if name == "memory" else f"{value:.4f}" if isinstance(value, float) else number(value)


def _privacy(rows: Sequence[Mapping[str, Any]]) -> None:
    reached = [row for row in rows if row["reached"]]
    names = list(dict.fromkeys(name for row in reached for name in row.get("privacy", {})))
    say("What an audit measures, a line for each measure.")
    say_table(
        ["measure", *(row["name"] for row in reached)],
        [[name, *(_said(row.get("privacy", {}), name) for row in reached)] for name in names],
    )


def _said(held: Mapping[str, Any], name: str) -> str:
    if name not in held:
        return "-"
    return "none holds" if held[name] is None else number(held[name])


def _attacks(rows: Sequence[Mapping[str, Any]]) -> None:
    tried = [row for row in rows if row.get("attacks")]
    names = list(dict.fromkeys(name for row in tried for name in row["attacks"]))
    if not names:
        return
    say("", "What adversaries reach: the share of right guesses, beside always naming the most frequent value.")
    say_table(
        ["attack", *(row["name"] for row in tried)],
        [[name, *(_guessed(row["attacks"].get(name)) for row in tried)] for name in names],
    )


def _guessed(outcome: Mapping[str, Any] | None) -> str:
    return "-" if outcome is None else f"{outcome['success']:.3f} ({outcome['baseline']:.3f})"


def _left_out(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each reason once, with those that it is about."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        left = dict(row.get("attacks_left_out") or {})
        if why := row.get("classification_left_out"):
            left["classification"] = why
        if row["why"]:
            reasons.setdefault(row["why"], {})[row["name"]] = []
        for what, why in left.items():
            reasons.setdefault(why, {}).setdefault(row["name"], []).append(what)
    return ["", "Not measured:", *(f"- {why} ({_about(about)})" for why, about in reasons.items())] if reasons else []


def _about(names: Mapping[str, Sequence[str]]) -> str:
    """Those that a reason is about, and what of them was not measured; said once where it is the same of all."""
    listed = {", ".join(what) for what in names.values()}
    if len(listed) == 1:
        (what,) = listed
        return ", ".join(names) + (f": {what}" if what else "")
    return "; ".join(f"{name}: {', '.join(what)}" if what else name for name, what in names.items())
