"""The screen *Attack*: adversaries beside their controls, one after the other, stopped, skipped, refused, and kept."""

from __future__ import annotations

import errno
import shlex
import time
from pathlib import Path

import pytest

from reticent import catalogue
from reticent.studio.attack_queue import AttackQueue, QueuedAttack
from reticent.studio.runs import Runs
from reticent.studio.screens import attack
from tests.studio.client import Steward, read_text
from tests.studio.projects import publish_project
from tests.studio.quick_runs import use_quick_runs

SLEEP = ("-c", "import time; time.sleep(60)")
REFUSAL = {"error": {"what": "It does not <apply> here.", "why": "This release has no groups.", "try": "another."}}


@pytest.fixture(scope="module")
def published_folder(tmp_path_factory, census_files) -> Path:
    """The demo's project with two releases of its census, `first` and the newer `second`."""
    return publish_project(tmp_path_factory.mktemp("attacked") / "project", census_files, "first", "second")


@pytest.fixture
def attacker(published_folder) -> Steward:
    return Steward(published_folder)


def outcome(name: str, success: float | None = 0.5, **facts: object) -> dict[str, object]:
    return {
        "attack": name,
        "targets": 100,
        "success": success,
        "low": 0.4,
        "high": 0.6,
        "baseline": 0.2,
        "control": 0.1,
        "worst_posterior": 0.75,
        "promised": 0.3,
        **facts,
    }


def answer(words):
    """Every attack reaches a half, but two that do not apply; the audit finds a carried column."""
    if words[0] == "audit":
        carried = {"column": "<i>shoe</i>", "distinct": 40, "unique": 0.01, "association": {"salary_class": 0.3}}
        columns = [{"columns": ["age", "<b>x"], "distinction": 0.4, "separation": 0.9}]
        risk = {"prosecutor": {"highest": 0.1}, "sample_uniques": 3, "columns": columns}
        return 0, {"verdict": "kept", "risk": risk, "carried": [carried], "source": {"sentences": ["All is there."]}}
    name = words[words.index("--as") + 1]
    if name in ("matrix", "algorithm"):
        return 1, REFUSAL
    if name == "eligibility":
        return 0, outcome(name, None, low=None, high=None, control=None, baseline=None)
    if name == "minimality":
        return 0, outcome(name, why="there are too many tables")
    if name == "composition":
        return 0, outcome(name, releases=1)
    if name == "skewness":
        return 0, outcome(name, 0.05, low=0.01, high=0.1)
    return 0, outcome(name)


def settle(steward: Steward) -> None:
    """Wait until no queue of the desk is active."""
    until = time.monotonic() + 60
    queues = steward.desk.remember("attack").get("queues", {}).values()
    while any(queue.is_active for queue in queues) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(queue.is_active for queue in queues)


def test_without_a_release_the_screen_says_where_one_is_made(newcomer):
    assert "Publish one first" in newcomer.look("attack")
    assert "no release yet" in read_text(newcomer.press("attack", "all", status=422))
    assert "reticent attack" in newcomer.look("attack")


def test_every_attack_is_listed_before_it_is_tried_with_what_it_means_and_what_lowers_it(attacker):
    text = read_text(attacker.look("attack")).replace("&#39;", "'")
    for row in catalogue.ATTACKS.values():
        assert row.adversary in text and row.meaning in text and f"Lowers it: {row.lowers}." in text
    assert f"Try {len(catalogue.ATTACKS)} attacks" in text
    assert "second" in text, "the newest release is attacked unless another is chosen"


def test_all_attacks_are_tried_and_stand_beside_their_controls(attacker):
    use_quick_runs(attacker.desk, answer)
    attacker.press("attack", "all")
    settle(attacker)
    page = attacker.look("attack")
    text = read_text(page)
    guessing = [name for name, row in catalogue.ATTACKS.items() if row.guesses and name not in ("matrix", "algorithm")]
    assert f"{len(guessing) - 1} of {len(guessing)} adversaries who know the describing columns alone" in text
    assert page.count('class="reference-hollow"') >= len(guessing), "a control beside each"
    assert "control 10 %" in text.replace("\u00a0", " ")
    assert "2 adversaries that do not apply, and why" in text
    assert "It does not &lt;apply&gt; here. This release has no groups." in page
    assert "guesses nobody; surest belief" in text
    assert "Knowing the method adds nothing that could be computed: there are too many tables." in text
    assert "Joined with no other release" in text
    assert "Every adversary that applies was tried" in text
    assert attack.is_done(attacker.desk)
    assert "&lt;i&gt;shoe&lt;/i&gt; has 40 distinct values" in page and "<i>shoe" not in page
    assert "age, &lt;b&gt;x tell people apart the most" in page
    assert "3 rows are alone" in text and "No promise of this release speaks of" in text


def test_attacks_run_in_the_order_of_cost_after_the_release_is_recounted(attacker):
    runs = use_quick_runs(attacker.desk, answer)
    attacker.press("attack", "all")
    settle(attacker)
    words = [run.words for run in runs._runs.values()]
    assert words[0][0] == "audit"
    costs = [catalogue.ATTACKS[each[each.index("--as") + 1]].cost for each in words[1:]]
    assert costs == sorted(costs) and len(costs) == len(catalogue.ATTACKS)
    joined = next(each for each in words if "composition" in each)
    assert joined[joined.index("--with") + 1] == "first", "other releases of the same data are joined"
    attacker.press("attack", "all")
    settle(attacker)
    assert len(runs._runs) == len(words), "what was reached is kept"


@pytest.mark.parametrize("name", ["skewness", "composition", "corruption"])
def test_the_words_of_an_attack_are_those_of_the_command(name, attacker):
    use_quick_runs(attacker.desk)
    attacker.press("attack", "one", attack=name)
    settle(attacker)
    lines = {line.name: line for line in attack.show(attacker.desk)["tried"]}
    assert lines[name].outcome["attack"] == name
    assert lines[name].outcome["targets"] == 2000
    if name == "composition":
        assert lines[name].outcome["releases"] == 2 and not lines[name].remark


def test_an_attack_is_a_child_that_the_page_follows(attacker):
    page = attacker.press("attack", "one", attack="eligibility")
    assert "Attacking as eligibility" in page or "not apply" in page
    settle(attacker)
    assert "no such stage" in read_text(attacker.look("attack"))


def test_results_stay_when_a_report_is_put_into_the_release_and_go_when_its_data_changes(attacker):
    use_quick_runs(attacker.desk, answer)
    attacker.press("attack", "one", attack="skewness")
    settle(attacker)
    folder = attacker.desk.project.folder / attack.show(attacker.desk)["chosen"]
    (folder / "report.html").write_text("<!doctype html><title>A report</title>", encoding="utf-8")
    assert [line.name for line in attack.show(attacker.desk)["tried"]] == ["skewness"]
    (folder / "data.parquet").touch()
    assert not attack.show(attacker.desk)["tried"]


def test_a_chosen_release_has_results_of_its_own(attacker):
    use_quick_runs(attacker.desk, answer)
    attacker.press("attack", "one", attack="skewness")
    settle(attacker)
    assert attack.show(attacker.desk)["tried"]
    assert "The release <strong>first" in attacker.press("attack", "choose", release="first")
    assert not attack.show(attacker.desk)["tried"]
    attacker.press("attack", "choose", release="second")
    assert attack.show(attacker.desk)["tried"]
    assert "no such release" in read_text(attacker.press("attack", "choose", release="../elsewhere", status=422))


def test_a_release_whose_source_is_gone_is_attacked_by_its_files_alone(tmp_path, published_folder):
    import shutil

    folder = tmp_path / "copy"
    shutil.copytree(published_folder, folder)
    steward = Steward(folder)
    (folder / "census.csv").unlink()
    runs = use_quick_runs(steward.desk, answer)
    text = read_text(steward.look("attack"))
    assert "Most attacks cannot be tried." in text and "no longer where it was" in text
    steward.press("attack", "all")
    settle(steward)
    assert all("--source" not in run.words for run in runs._runs.values())
    assert len(runs._runs) == 1 + sum(not row.needs_source for row in catalogue.ATTACKS.values())
    shutil.rmtree(folder / "reticent-owner")
    assert "no owner&#39;s notes" in steward.look("attack"), (
        "a release that somebody sent is not compared with our data"
    )
    (folder / "second" / "manifest.json").write_text("{}")
    assert 'role="alert"' in steward.look("attack")
    steward.press("attack", "all", status=422)


def test_a_hostile_name_is_refused(attacker):
    page = attacker.press("attack", "one", attack="<script>", status=422)
    assert "There is no such attack." in page and "<script>" not in page.replace('<script src="/static', "")


def test_the_commands_parse_and_name_the_release_and_its_source(attacker):
    commands = attack.write_commands(attacker.desk)
    assert shlex.split(commands.shell) == ["reticent", "attack", "second", "--source", "census.csv"]
    compile(commands.python, "commands", "exec")
    assert "rt.attack(release, 'census.csv'" in commands.python


def make_queue(runs: Runs, *names: str) -> AttackQueue:
    class SleepingRuns(Runs):
        def start(self, words, key, *, program=SLEEP):
            return super().start(words, key, program=SLEEP)

    runs.__class__ = SleepingRuns
    queue = AttackQueue(runs)
    queue.add([QueuedAttack(name, (), name) for name in names])
    return queue


def wait_for(condition) -> None:
    until = time.monotonic() + 30
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    assert condition()


def test_a_skipped_attack_gives_way_to_the_next_and_a_stop_ends_all(tmp_path):
    runs = Runs(tmp_path)
    queue = make_queue(runs, "first", "second", "third")
    wait_for(lambda: queue.current is not None)
    assert queue.current[0] == "first" and queue.waiting == ["second", "third"]
    queue.add([QueuedAttack("first", (), "first"), QueuedAttack("third", (), "third")])
    assert queue.waiting == ["second", "third"], "what runs or waits is not added again"
    queue.skip()
    wait_for(lambda: queue.current is not None and queue.current[0] == "second")
    queue.stop()
    wait_for(lambda: not queue.is_active)
    assert queue.waiting == [] and queue.current is None
    assert [run.outcome for run in runs._runs.values()] == ["cancelled", "cancelled"]


def test_a_run_that_is_cancelled_ends_the_queue(tmp_path):
    runs = Runs(tmp_path)
    queue = make_queue(runs, "first", "second")
    wait_for(lambda: queue.current is not None)
    queue.current[1].cancel()
    wait_for(lambda: not queue.is_active)
    assert len(runs._runs) == 1, "so the studio's end starts nothing more"


def test_the_screen_skips_and_stops(attacker):
    name = attack.show(attacker.desk)["subject"].name
    attacker.desk.remember("attack")["queues"] = {name: make_queue(attacker.desk.runs, "skewness", "similarity")}
    queue = attacker.desk.remember("attack")["queues"][name]
    wait_for(lambda: queue.current is not None)
    page = attacker.look("attack")
    assert "Attacking as skewness" in page and "Skip this one" in page and "sse-connect" in page
    attacker.press("attack", "skip")
    wait_for(lambda: queue.current is not None and queue.current[0] == "similarity")
    attacker.press("attack", "stop")
    settle(attacker)


def test_attacks_that_cannot_be_started_say_why_on_the_screen(attacker, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("reticent.studio.runs.subprocess.Popen", refuse)
    attacker.press("attack", "all")
    settle(attacker)
    page = read_text(attacker.look("attack"))
    assert "could not be started" in page and "Try again" in page
