"""The studio in a real browser; `make browser` takes the long way too (BROWSER=all), and keeps pictures in build/screenshots/studio."""

from __future__ import annotations

import os
import re
import signal
import time

import pytest

pytest.importorskip("starlette", reason="the studio is an extra: pip install 'reticent[studio]'")

from reticent.cli.main import main
from reticent.studio.method_choice import make_key
from tests.studio.browsing import PICTURES, WIDTHS, Visit, serve_studio
from tests.studio.client import write_files
from tests.studio.quick_runs import use_quick_runs
from tests.support.real_browser import COLLISIONS, examine_with_axe, open_browser

SCREENS = ("data", "columns", "hierarchies", "promise", "compare", "publish", "attack", "use", "handout", "ledger")
WORK = {
    "promise": ["#plan"],
    "compare": ["#check", "#compare"],
    "attack": ["#try-all"],
    "use": ["#ask-clicks"],
    "handout": ["#make-report"],
}
whole = pytest.mark.skipif(os.environ.get("BROWSER") != "all", reason="takes minutes: make browser")


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture(autouse=True)
def _ledger(_module_ledger):
    """One ledger for all tests that look at one studio; a test that publishes names its own."""


@pytest.fixture(scope="module")
def published_studio(tmp_path_factory, census_files, _module_ledger):
    """The studio of a project with a release; what it computes takes no process."""
    folder = write_files(tmp_path_factory.mktemp("browsed"), census_files)
    assert main(["publish", str(folder / "job.toml"), "-o", str(folder / "release"), "--json"]) == 0
    with serve_studio(folder) as studio:
        use_quick_runs(studio.desk)
        yield studio


def test_the_door_and_every_screen_say_nothing_ask_nobody_else_and_are_refused_nothing(browser, published_studio):
    visit = Visit(browser, published_studio)
    visit.enter()
    for name in SCREENS:
        visit.look(name)
        assert visit.page.locator("h1").count() == 1
        assert visit.list_faults() == [], name
        assert visit.list_wide_parts() == [], name
        assert visit.page.evaluate(COLLISIONS) == [], name
        visit.take_picture(name)
    assert visit.list_faults() == []
    visit.close()


@pytest.fixture(scope="module")
def filled_studio(published_studio, browser):
    """The same with everything computed that its screens can show: costs, a check, a comparison, attacks, an answer, a report."""
    visit = Visit(browser, published_studio)
    visit.enter()
    for screen, buttons in WORK.items():
        visit.look(screen)
        for button in buttons:
            if visit.page.locator(button).count():
                visit.press(button)
    visit.close()
    return published_studio


@whole
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", WIDTHS)
def test_axe_finds_nothing_and_nothing_leaves_the_screen(browser, filled_studio, size, scheme):
    visit = Visit(browser, filled_studio, WIDTHS[size], scheme)
    visit.enter()
    faults = {}
    for name in SCREENS:
        visit.look(name)
        visit.take_picture(name)
        said = visit.list_faults()
        wide = visit.list_wide_parts()
        texts = visit.page.evaluate(COLLISIONS)
        visit.take_picture(f"{name}-open")
        if any(problems := (said, wide, texts, examine_with_axe(visit.page))):
            faults[name] = problems
        visit.messages.clear()  # axe is a script of the test's own
    visit.close()
    assert faults == {}


MOST_CLICKS = 25  # of a newcomer, from the door to an audited release


@whole
def test_a_newcomer_gets_from_a_messy_file_through_all_ten_screens(browser, tmp_path, hospital_file, monkeypatch):
    folder = tmp_path / "hospital"
    folder.mkdir()
    (folder / "hospital.csv").write_bytes(hospital_file)
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "ledger"))
    with serve_studio(folder) as studio:
        visit = Visit(browser, studio)
        began = time.monotonic()
        visit.enter()
        visit.press("button[aria-label='Open hospital.csv']")
        visit.press("text=Yes, it was read as I meant")
        visit.press("#next")
        while visit.page.locator("button:has-text('Confirm')").count():
            visit.press("button:has-text('Confirm')")
        for screen in ("hierarchies", "promise", "compare", "publish"):
            visit.press("#next")
            assert visit.page.url.endswith(f"/{screen}")
        visit.press("#publish")
        assert "Both promises are kept." in visit.page.locator(".verdict").first.inner_text()
        PICTURES.mkdir(parents=True, exist_ok=True)
        (PICTURES / "newcomer.txt").write_text(
            f"{visit.clicks} clicks and {time.monotonic() - began:.0f} seconds from the door to an audited release"
        )
        assert visit.clicks <= MOST_CLICKS
        visit.press("#next")
        visit.click("#try-all")
        visit.page.wait_for_selector("td.discs svg", timeout=300_000)  # the first attack has ended
        visit.page.wait_for_selector("#stop")
        visit.press("#stop")
        for button in ("#ask-clicks", "#make-report"):
            visit.press("#next")
            visit.press(button)
        report = visit.page.frame_locator("iframe[title='The public report of the release']")
        report.locator("h1").first.wait_for()
        visit.press("#next")
        assert visit.page.locator("article.release").count() == 1
        visit.take_picture("newcomer-ledger")
        assert visit.list_faults() == []
        visit.close()


HAND_MADE = """# written by hand, and commented
[source]
path = "census.csv"

[columns]
age = "quasi-identifying" # a text, not a table
gender = { role = "quasi-identifying" }
education = { role = "quasi-identifying" }
salary_class = { role = "sensitive" }

[[promise]]
model = "k-anonymity"
k = 5 # our committee's rule

[method]
name = "mondrian"

[release]
undeclared = "drop"
"""


@pytest.fixture
def visit(browser, demo_folder, tmp_path, monkeypatch):
    """A desk-wide visit to the studio of the demo, which computes in processes, with a job that was written by hand."""
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "ledger"))
    (demo_folder / "job.toml").write_text(HAND_MADE, encoding="utf-8")
    with serve_studio(demo_folder) as studio:
        opened = Visit(browser, studio)
        opened.enter()
        yield opened
        assert opened.list_faults() == []
        opened.close()


@whole
def test_a_job_made_by_hand_opens_is_edited_by_a_slider_and_undone_with_its_comments(visit):
    job_file = visit.studio.desk.job_file
    for name in SCREENS:
        visit.look(name)
        assert not visit.page.locator("#refusal").count(), name
    visit.look("promise")
    visit.page.locator("#slide-0-k").focus()
    visit.page.keyboard.press("ArrowRight")
    visit.page.wait_for_selector("#undo:enabled")
    assert "# our committee's rule" in job_file.text and "k = 5 " not in job_file.text
    assert visit.page.locator("pre.job mark").count() == 1
    visit.click("#undo")
    visit.page.wait_for_selector("#redo:enabled")
    assert job_file.text == HAND_MADE
    visit.click("#redo")
    visit.page.wait_for_selector("#undo:enabled")
    assert job_file.text != HAND_MADE


@whole
def test_a_page_that_is_reloaded_and_a_second_tab_follow_the_release_to_its_verdict(visit):
    visit.look("publish")
    visit.click("#publish")
    visit.page.wait_for_selector(".run")
    visit.page.reload()
    tab = visit.open_tab()
    tab.goto(f"{visit.studio.address}/publish")
    for page in (visit.page, tab):
        page.wait_for_selector("#verdict-title", timeout=120_000)
        assert page.locator("#next").count() == 1
    assert (visit.studio.desk.project.folder / "release" / "manifest.json").is_file()
    tab.fill("#about-title", "From the second tab")
    tab.click("#save")
    tab.wait_for_selector("#undo:enabled")
    visit.page.fill("#about-publisher", "From the first tab")
    visit.page.click("#save")
    visit.page.wait_for_selector("pre.job mark >> text=From the first tab")
    assert "From the second tab" in visit.studio.desk.job_file.text


@whole
def test_a_cancelled_release_leaves_nothing(visit, monkeypatch):
    runs = visit.studio.desk.runs
    start = runs.start

    def start_and_stop(*words, **options):
        """Stop the child at once, so that it is not done before the click."""
        run = start(*words, **options)
        run.process.send_signal(signal.SIGSTOP)
        return run

    visit.look("publish")
    monkeypatch.setattr(runs, "start", start_and_stop)
    visit.click("#publish")
    visit.page.wait_for_selector(".run")
    child = runs.list_running()[0].process
    with visit.page.expect_response(re.compile(r"/cancel$")):
        visit.click(".run button:has-text('Cancel')")
    child.send_signal(signal.SIGCONT)
    visit.page.wait_for_selector("#cancelled", timeout=60_000)
    assert not (visit.studio.desk.project.folder / "release").exists()
    assert visit.page.locator("#publish").is_enabled()


@whole
def test_a_release_is_made_by_the_keyboard_alone(browser, visit):
    page = visit.page
    page.goto(visit.studio.make_link())
    page.keyboard.press("Enter")  # the door's button has the focus
    page.wait_for_selector("#app")
    page.goto(f"{visit.studio.address}/data")
    visit.settle()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    walk_to(page, "nav a[href$='/publish']")
    page.keyboard.press("Enter")
    page.wait_for_selector("#publish")
    walk_to(page, "#publish")
    page.keyboard.press("Enter")
    page.wait_for_selector("#verdict-title", timeout=120_000)
    walk_to(page, "#next")
    page.keyboard.press("Enter")
    page.wait_for_selector("#try-all")


def walk_to(page, selector: str, most: int = 200) -> None:
    """Press Tab until a control has the focus, which is seen on every one before it."""
    for _ in range(most):
        page.keyboard.press("Tab")
        place = "document.activeElement === document.body ? null : "
        seen = page.evaluate(f"{place}getComputedStyle(document.activeElement).outlineStyle")
        assert seen != "none", page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        if page.evaluate(f"document.activeElement.matches({selector!r})"):
            return
    raise AssertionError(f"{selector} is not reached by Tab")


@whole
@pytest.mark.parametrize("size", WIDTHS)
def test_a_release_that_was_received_is_audited_reported_and_asked(browser, tmp_path, published_files, size):
    folder = write_files(tmp_path / "received", published_files)
    before = sorted(folder.rglob("*"))
    with serve_studio(folder) as studio:
        visit = Visit(browser, studio, WIDTHS[size])
        visit.enter()
        visit.look("received_release")
        visit.click("#audit")
        visit.page.wait_for_selector(".verdict", timeout=120_000)
        visit.click("#report")
        visit.page.wait_for_selector("iframe[title='The report of the release']", timeout=120_000)
        visit.take_picture("received-release")
        assert visit.list_wide_parts() == []
        visit.click("nav a[href$='/use']")
        visit.click("#ask-clicks")
        visit.page.wait_for_selector("#answer-heading")
        visit.settle()
        visit.take_picture("received-use")
        assert visit.page.evaluate(COLLISIONS) == [] and visit.list_wide_parts() == []
        assert visit.list_faults() == []
        assert not (report := examine_with_axe(visit.page)), report
        visit.close()
    assert sorted(folder.rglob("*")) == before


@whole
def test_what_is_refused_or_not_answered_is_said_below_the_form_and_what_was_typed_stays(
    browser, demo_folder, tmp_path
):
    with serve_studio(demo_folder) as studio:
        visit = Visit(browser, studio)
        visit.enter()
        visit.look("publish")
        visit.page.fill("#about-title", "Typed and not saved")
        visit.page.fill("#keeps-at-least", "a lot")
        visit.click("#save")
        visit.page.wait_for_selector("#refusal")
        assert visit.page.input_value("#about-title") == "Typed and not saved"
        assert visit.page.locator("form:has(#about-title) + #refusal").count() == 1
        assert visit.page.locator("#refusal").is_visible()
        visit.take_picture("refusal")
        demo_folder.rename(tmp_path / "elsewhere")
        visit.click("summary:has-text('Edit the text')")
        visit.page.fill("#job-text", "[source]\n# typed while the folder was away")
        visit.click("text=Save this text")
        visit.page.wait_for_selector("form:has(#job-text) + #refusal")
        assert "while the folder was away" in visit.page.input_value("#job-text")
        (tmp_path / "elsewhere").rename(demo_folder)
        visit.click("text=Save this text")
        visit.page.wait_for_selector("pre.job mark >> text=away")
        visit.messages.clear()  # the browser's own words about answers of 422
    visit.page.fill("#about-title", "Typed when nobody listens")
    visit.click("#save")
    visit.page.wait_for_selector("#refusal >> text=does not answer")
    assert visit.page.input_value("#about-title") == "Typed when nobody listens"
    visit.close()


@whole
def test_ten_tabs_follow_the_same_work_and_none_keeps_another_out(visit):
    desk = visit.studio.desk
    run = desk.runs.start([], make_key(desk, "check"), program=("-c", "import time; time.sleep(600)"))
    tabs = [visit.open_tab() for _ in range(10)]
    for tab in tabs:
        tab.goto(f"{visit.studio.address}/compare", timeout=20_000)
        tab.wait_for_selector(f"#run-{run.id}")
    run.process.kill()
    for tab in tabs:
        tab.wait_for_selector(".run", state="detached", timeout=20_000)
    assert {message.partition(" {")[0] for message in visit.messages} <= {"[object Event]"}
    visit.messages.clear()  # htmx's word for a stream that was ended for another tab, and is asked for again
