"""The screen *Attack*: every adversary of the catalogue beside its control, one child process after the other."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData

from reticent import catalogue
from reticent.attacks.excess import (
    ATTACKS_DRAWN,
    WHO_GUESSES,
    WHO_KNOWS_MORE,
    describe_excess,
    exceeds_chance,
    find_control,
    find_guessing,
    measure_excess,
)
from reticent.audit.result import format_passthrough
from reticent.drawing import plots
from reticent.errors import RequestError, suggest
from reticent.format.manifest import Manifest
from reticent.studio.attack_queue import AttackQueue, QueuedAttack
from reticent.studio.desk import Desk
from reticent.studio.release_choice import (
    SourceAtHand,
    choose_release,
    find_own_source,
    find_release,
    list_releases,
    name_release,
    read_chosen_manifest,
    require_release,
    sign_release,
)
from reticent.studio.runs import Run
from reticent.studio.screens.screen import CommandLines, Screen

CPU_SECONDS = 300
"""CPU seconds that an attack may take, unless it is tried without a limit."""
MAX_COMBINATIONS = 8  # combinations of columns whose distinction is listed
AUDIT = "audit"
SOURCE_NEEDED = "It needs the data that the release was made from."
ASSUMED_BELIEFS = {"lambda": "--lambda", "rho1": "--rho1"}  # parameters of promises that the attack `corruption` takes


@dataclass(frozen=True, slots=True)
class AttackedRelease:
    """The release that is attacked, with what its commands are told."""

    folder: Path
    name: str
    source: SourceAtHand
    signature: str
    manifest: Manifest

    def make_key(self, attack: str) -> str:
        return f"attack:{attack}:{self.name}:{self.signature}"


@dataclass(frozen=True, slots=True)
class AdversaryLine:
    """What is known of one adversary: its state, its outcome or the reason why there is none."""

    name: str
    state: str  # done, running, waiting, refused, stopped, untried, impossible
    outcome: Mapping[str, Any]
    reason: str = ""
    promises: tuple[str, ...] = ()

    @property
    def row(self) -> catalogue.AttackRow:
        return catalogue.ATTACKS[self.name]

    @property
    def who(self) -> str:
        return f"Who {self.row.adversary}"

    @property
    def remark(self) -> str:
        """What else is to be known of the figures; empty where nothing is."""
        if self.outcome.get("releases") == 1:
            return "Joined with no other release: the project has none of the same data."
        if self.outcome.get("why"):
            return f"Knowing the method adds nothing that could be computed: {self.outcome['why']}."
        return ""

    @property
    def control(self) -> float | None:
        return find_control(self.outcome)

    @property
    def guessing(self) -> float | None:
        return find_guessing(self.outcome)

    @property
    def has_success(self) -> bool:
        return self.outcome.get("success") is not None

    @property
    def exceeds_chance(self) -> bool:
        return exceeds_chance(self.outcome)

    @property
    def excess(self) -> float:
        return measure_excess(self.outcome) if self.has_success else 0.0


def show(desk: Desk) -> dict[str, Any]:
    """Return what the template needs: the releases, and what is known of each adversary of the chosen one."""
    folder = find_release(desk)
    manifest, damage = read_chosen_manifest(folder)
    facts: dict[str, Any] = {
        "releases": [name_release(desk, each) for each in list_releases(desk)],
        "chosen": None if folder is None else name_release(desk, folder),
        "damage": damage,
        "subject": None,
    }
    if folder is None or manifest is None:
        return facts
    subject = _make_subject(desk, folder, manifest)
    queue = _find_queue(desk, subject)
    lines = list_adversaries(desk, subject)
    tried = [line for line in lines if line.state == "done"]
    audit_key = subject.make_key(AUDIT)
    return facts | {
        "subject": subject,
        "pictures": [
            picture
            for picture in (
                _draw_picture([line for line in tried if line.row.guesses], WHO_GUESSES),
                _draw_picture([line for line in tried if not line.row.guesses], WHO_KNOWS_MORE),
            )
            if picture is not None
        ],
        "tried": tried,
        "rest": [line for line in lines if line.state in ("stopped", "untried")],
        "refused": [line for line in lines if line.state in ("refused", "impossible")],
        "waiting": [line for line in lines if line.state == "waiting"],
        "current": queue.current,
        "is_active": queue.is_active,
        "failure": queue.failure,
        "several": manifest.rows_per_person > 1,
        "audit_run": desk.runs.find(audit_key),
        "findings": _list_findings(desk.runs.find_result(audit_key), tried),
    }


def write_commands(desk: Desk) -> CommandLines:
    """Return the command and the Python lines that try every attack."""
    folder = find_release(desk)
    if folder is None:
        return CommandLines("reticent attack release --source data.csv", "import reticent as rt\n")
    name = name_release(desk, folder)
    source = find_own_source(desk, folder)
    shell = shlex.join(["reticent", "attack", name, *(["--source", source.shown] if source.word else [])])
    names = sorted(catalogue.ATTACKS, key=lambda attack: catalogue.ATTACKS[attack].cost)
    first = next(attack for attack in names if source.word or not catalogue.ATTACKS[attack].needs_source)
    python = f"import reticent as rt\n\nrelease = rt.open({name!r})\n"
    if source.word:
        python += f"outcome = rt.attack(release, {source.shown!r}, {first!r})\n"
    else:
        python += f"outcome = rt.attack(release, name={first!r})\n"
    return CommandLines(shell, python + "print(outcome.to_dict())\n")


def try_all(desk: Desk, form: FormData) -> None:
    """Try every attack that was not tried, in the order of cost, after recounting the release."""
    subject = _require_subject(desk)
    lines = list_adversaries(desk, subject)
    queue = _find_queue(desk, subject)
    if desk.runs.find_result(subject.make_key(AUDIT)) is None:
        queue.add([QueuedAttack(AUDIT, ("audit", subject.name, *subject.source.words), subject.make_key(AUDIT))])
    untried = [line.name for line in lines if line.state in ("untried", "stopped")]
    queue.add([_make_step(desk, subject, name, CPU_SECONDS) for name in untried])


def try_one(desk: Desk, form: FormData) -> None:
    """Try one attack, once more where it was tried; without a limit of time where the form says so."""
    subject = _require_subject(desk)
    name = str(form.get("attack", ""))
    if name not in catalogue.ATTACKS:
        raise RequestError("There is no such attack.", attempt=suggest(name, catalogue.ATTACKS))
    seconds = None if form.get("limit") == "none" else CPU_SECONDS
    _find_queue(desk, subject).add([_make_step(desk, subject, name, seconds)])


def skip_current(desk: Desk, form: FormData) -> None:
    """Stop the attack that runs; the next one begins."""
    _find_queue(desk, _require_subject(desk)).skip()


def stop_all(desk: Desk, form: FormData) -> None:
    """Stop the attack that runs and those that wait; what was reached is kept."""
    _find_queue(desk, _require_subject(desk)).stop()


def list_adversaries(desk: Desk, subject: AttackedRelease) -> list[AdversaryLine]:
    """List every adversary of the catalogue in the order of cost, with what is known of each."""
    queue = _find_queue(desk, subject)
    waiting = set(queue.waiting)
    promised = [promise.name for promise in subject.manifest.promises]
    names = sorted(catalogue.ATTACKS, key=lambda name: catalogue.ATTACKS[name].cost)
    return [_describe_adversary(desk, subject, name, waiting, promised) for name in names]


def is_done(desk: Desk) -> bool:
    """Tell whether every attack that can be tried on the release has ended."""
    folder = find_release(desk)
    if folder is None or desk.project.is_release:
        return False
    source = find_own_source(desk, folder)
    prefix = name_release(desk, folder)
    signature = sign_release(folder, source)
    runs = [
        desk.runs.find(f"attack:{name}:{prefix}:{signature}")
        for name, row in catalogue.ATTACKS.items()
        if source.word or not row.needs_source
    ]
    return all(run is not None and not run.is_running and not run.is_cancelled for run in runs)


def _require_subject(desk: Desk) -> AttackedRelease:
    folder = require_release(desk)
    manifest, damage = read_chosen_manifest(folder)
    if manifest is None:
        raise damage or RequestError("The project has no release yet.", attempt="the screen *Publish*.")
    return _make_subject(desk, folder, manifest)


def _make_subject(desk: Desk, folder: Path, manifest: Manifest) -> AttackedRelease:
    source = find_own_source(desk, folder)
    return AttackedRelease(folder, name_release(desk, folder), source, sign_release(folder, source), manifest)


def _find_queue(desk: Desk, subject: AttackedRelease) -> AttackQueue:
    queues = desk.remember("attack").setdefault("queues", {})
    return queues.setdefault(subject.name, AttackQueue(desk.runs))


def _describe_adversary(
    desk: Desk, subject: AttackedRelease, name: str, waiting: set[str], promised: Sequence[str]
) -> AdversaryLine:
    key = subject.make_key(name)
    row = catalogue.ATTACKS[name]
    promises = tuple(row.select_promises(promised))
    run = desk.runs.find(key)
    if run is not None and run.is_running:
        return AdversaryLine(name, "running", {}, "", promises)
    if name in waiting:
        return AdversaryLine(name, "waiting", {}, "", promises)
    outcome = desk.runs.find_result(key)
    if isinstance(outcome, Mapping):
        return AdversaryLine(name, "done", outcome, "", promises)
    if row.needs_source and not subject.source.word:
        return AdversaryLine(name, "impossible", {}, f"{SOURCE_NEEDED} {subject.source.reason}", promises)
    if run is None:
        return AdversaryLine(name, "untried", {}, "", promises)
    if run.outcome == "cancelled":
        return AdversaryLine(name, "stopped", {}, f"Stopped after {run.seconds:,.0f} seconds.", promises)
    return AdversaryLine(name, "refused", {}, _join_error(run), promises)


def _join_error(run: Run) -> str:
    return " ".join(text for text in (run.error.get("what"), run.error.get("why")) if text)


def _make_step(desk: Desk, subject: AttackedRelease, name: str, seconds: int | None) -> QueuedAttack:
    row = catalogue.ATTACKS[name]
    words = ["attack", subject.name, "--as", name]
    if row.needs_source:
        words += subject.source.words
    if seconds is not None:
        words += ["--budget", str(seconds)]
    if name == "composition":
        for other in _list_others(desk, subject):
            words += ["--with", other]
    if name == "corruption":
        for parameter, option in ASSUMED_BELIEFS.items():
            stated = [
                promise.parameters[parameter]
                for promise in subject.manifest.promises
                if parameter in promise.parameters
            ]
            words += [option, str(stated[0])] if stated else []
    return QueuedAttack(name, tuple(words), subject.make_key(name))


def _list_others(desk: Desk, subject: AttackedRelease) -> list[str]:
    """List the project's other releases that were made from the same data."""
    others = [folder for folder in list_releases(desk) if folder != subject.folder]
    return [
        name_release(desk, folder) for folder in others if find_own_source(desk, folder).word == subject.source.word
    ]


def _draw_picture(lines: Sequence[AdversaryLine], who: tuple[str, str]) -> dict[str, Any] | None:
    """Draw what adversaries reach beside their controls; None where none was tried."""
    if not lines:
        return None
    ordered = sorted(lines, key=lambda line: -line.excess)
    reached = [line for line in lines if line.has_success]
    numbers = [
        number
        for line in reached
        for number in (line.outcome["success"], line.outcome.get("high"), line.control, line.guessing)
        if number is not None
    ]
    top = min(max([*numbers, 0.01]) * 1.05, 1.0)
    return {
        "title": describe_excess([line.outcome for line in lines], who),
        "drawn": ATTACKS_DRAWN,
        "axis": plots.draw_attack_axis(top),
        "rows": [_draw_line(line, top) for line in ordered],
    }


def _draw_line(line: AdversaryLine, top: float) -> dict[str, Any]:
    outcome = line.outcome
    interval = None
    if outcome.get("low") is not None and outcome.get("high") is not None:
        interval = (outcome["low"], outcome["high"])
    discs = ""
    if line.has_success:
        discs = plots.draw_attack(outcome["success"], line.control, top, interval, line.guessing)
    return {"line": line, "discs": discs, "interval": interval}


def _list_findings(audit: Any, tried: Sequence[AdversaryLine]) -> dict[str, Any] | None:
    """List what the audit found besides promises, and which adversaries exceed chance that no promise speaks of."""
    if not isinstance(audit, Mapping):
        return None
    risk = audit.get("risk") or {}
    source = audit.get("source") or {}
    measured = [entry for entry in risk.get("columns") or [] if entry.get("distinction") is not None]
    combinations = sorted(measured, key=lambda entry: -entry["distinction"])[:MAX_COMBINATIONS]
    most = combinations[0]["distinction"] if combinations else 0
    return {
        "verdict": audit.get("verdict"),
        "unspoken": [line for line in tried if line.exceeds_chance and not line.promises],
        "sentences": list(source.get("sentences") or []),
        "notes": [*(audit.get("caveats") or []), *(audit.get("disagreements") or []), *(audit.get("notes") or [])],
        "carried": [format_passthrough(entry) for entry in audit.get("carried") or []],
        "prosecutor": risk.get("prosecutor"),
        "uniques": risk.get("sample_uniques"),
        "combinations": [
            {
                "names": ", ".join(entry["columns"]),
                "share": entry["distinction"],
                "bar": plots.draw_bar(entry["distinction"] / (most or 1)),
            }
            for entry in combinations
        ],
    }


SCREEN = Screen(
    name="attack",
    title="Attack",
    question="Who reaches more than chance?",
    why="Each adversary of the literature tries the release, and stands beside its control: what the same adversary reaches without it. The difference is what the release gives away.",
    example="To guess 8 % of the diagnoses right means nothing without the 7 % that anybody guesses.",
    docs="attacks",
    show=show,
    write_commands=write_commands,
    actions={
        "choose": choose_release,
        "all": try_all,
        "one": try_one,
        "skip": skip_current,
        "stop": stop_all,
    },
    is_done=is_done,
)
