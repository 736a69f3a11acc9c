"""The studio in a real browser; `make browser` takes the long way too (BROWSER=all), and keeps pictures in build/screenshots/studio."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("starlette", reason="the studio is an extra: pip install 'reticent[studio]'")

from tests.studio.browsing import WIDTHS, Visit, serve_studio
from tests.studio.conftest import write_files
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


@pytest.fixture(scope="module")
def published_studio(tmp_path_factory, published_project):
    """The studio of a project with a release; what it computes takes no process."""
    folder = write_files(tmp_path_factory.mktemp("browsed"), published_project)
    patch = pytest.MonkeyPatch()
    patch.setenv("RETICENT_LEDGER", str(folder / "ledger"))
    with serve_studio(folder) as studio:
        use_quick_runs(studio.desk)
        yield studio
    patch.undo()


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
                visit.click(button)
                visit.page.wait_for_timeout(300)
                visit.settle(400)
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


@whole
def test_a_newcomer_gets_from_a_messy_file_to_an_audited_release(browser, tmp_path, hospital_file, monkeypatch):
    import time

    folder = tmp_path / "hospital"
    folder.mkdir()
    (folder / "hospital.csv").write_bytes(hospital_file)
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "ledger"))
    with serve_studio(folder) as studio:
        visit = Visit(browser, studio)
        began = time.monotonic()
        def say(step):
            h = visit.page.locator("h1").inner_text()
            o = visit.page.locator("#obstacle")
            print(f"{time.monotonic()-began:6.1f}s {visit.clicks} clicks: {step}: {h} [{o.inner_text() if o.count() else ''}]", flush=True)
            visit.take_picture(f"newcomer-{visit.clicks:02d}")
        visit.enter(); visit.settle(); say("door")
        visit.click("button[aria-label='Open hospital.csv']"); visit.page.wait_for_timeout(300); visit.settle(); say("open")
        visit.click("text=Yes, it was read as I meant"); visit.page.wait_for_timeout(300); visit.settle(); say("yes")
        visit.click("#next"); visit.page.wait_for_selector("#roles"); visit.settle(); say("columns")
        while visit.page.locator("button:has-text('Confirm')").count():
            words = visit.page.locator("button:has-text('Confirm')").first.inner_text()
            visit.click("button:has-text('Confirm')"); visit.page.wait_for_timeout(300); visit.settle(); say(words)
        for _ in range(9):
            if visit.page.locator("#next").count() == 0: break
            visit.click("#next"); visit.page.wait_for_timeout(300); visit.settle(); say("next")
            for b in ("text=Build these", "#check", "#publish"):
                if visit.page.locator(b).count() and visit.page.locator(b).first.is_enabled():
                    visit.click(b); visit.page.wait_for_timeout(500); visit.settle(400); say(b)
        print(visit.list_faults(), visit.page.locator("main").inner_text()[:3000])
        print(studio.desk.job_file.text)
        assert 0
